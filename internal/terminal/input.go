package terminal

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// MaxInput bounds standard input, in bytes, at the largest submission that can be configured.
const MaxInput = 1 << 30

// ReadAll reads standard input until it ends or ctx does.
func (t *Terminal) ReadAll(ctx context.Context) ([]byte, error) {
	data, err := readStream(ctx, t.In, "standard input", MaxInput)
	if err != nil && ctx.Err() == nil {
		return nil, fault.New(fault.Storage, "standard input cannot be read: %w", err)
	}
	return data, err
}

// ReadNamed reads a file that the person at the terminal names, - for standard input.
func (t *Terminal) ReadNamed(ctx context.Context, name string, limit int64) ([]byte, error) {
	if name == "-" {
		return readStream(ctx, t.In, "standard input", limit)
	}
	return ReadPath(ctx, name, limit)
}

// ReadPath reads a file that the person names. One of /dev, as the shell makes for
// <(command), is read as it comes; any other has to be a regular file: a pipe that lies in
// a project may be there to be waited for.
func ReadPath(ctx context.Context, name string, limit int64) ([]byte, error) {
	if !strings.HasPrefix(filepath.ToSlash(name), "/dev/") {
		return durable.ReadPath(name, limit)
	}
	f, err := os.Open(name) //nolint:gosec // the person's own pipe
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return readStream(ctx, f, name, limit)
}

func readStream(ctx context.Context, r io.Reader, name string, limit int64) ([]byte, error) {
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := durable.ReadStream(r, name, limit)
		done <- read{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
