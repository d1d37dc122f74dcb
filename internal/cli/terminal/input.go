package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// maxInput bounds standard input, in bytes, at the largest configurable submission.
const maxInput = 1 << 30

// ReadAll reads standard input until its end or the end of ctx.
func (t *Terminal) ReadAll(ctx context.Context) ([]byte, error) {
	data, err := readStream(ctx, t.In, "standard input", maxInput)
	if err != nil && ctx.Err() == nil {
		return nil, fault.New(fault.Storage, "standard input cannot be read: %w", err)
	}
	return data, err
}

// ReadNamed reads a file named by the person at the terminal, - for standard input.
func (t *Terminal) ReadNamed(ctx context.Context, name string, limit int64) ([]byte, error) {
	if name == "-" {
		return readStream(ctx, t.In, "standard input", limit)
	}
	return ReadPath(ctx, name, limit)
}

// ReadPath reads a file named by the person. A file of /dev, as the shell makes for <(command), is read as a
// stream. Any other has to be a regular file, because a pipe in a project could be a trap to wait at forever.
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
	return awaitRead(ctx, func() ([]byte, error) { return durable.ReadStream(r, name, limit) })
}

// awaitRead returns the result of a read, or the error of ctx: a signal has to end the program even during a
// read.
func awaitRead[T any](ctx context.Context, read func() (T, error)) (out T, err error) {
	done := make(chan struct{})
	var got T
	var failed error
	go func() {
		got, failed = read()
		close(done)
	}()
	select {
	case <-done:
		return got, failed
	case <-ctx.Done():
		return out, ctx.Err()
	}
}

// ReadAnswers reads a JSON object of answers from a file named by the person, - for standard input.
func (t *Terminal) ReadAnswers(ctx context.Context, name string, into map[string]string) error {
	data, err := t.ReadNamed(ctx, name, maxInput)
	if err != nil {
		return fault.New(fault.NotFound, "the answers cannot be read: %w", err)
	}
	if err := json.Unmarshal(data, &into); err != nil {
		return fault.New(fault.InvalidArgument, "the answers in %s are not a JSON object of texts: %w", name, err).
			WithHint(`write {"q1": "text", "q2": "text"}`)
	}
	return nil
}

// NoSuchFile returns the fault for a file named by the person that cannot be read.
func NoSuchFile(what lang.Text, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.NotFound, "there is no %s %s", what, name).WithHint("check the path; it is relative to the current folder")
	}
	return fault.New(fault.InvalidArgument, "the %s %s cannot be read: %w", what, name, err).WithHint("pass a readable %s", what)
}
