package toolserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
)

// grace is a program's time to end by itself, then after a request to.
const grace = time.Second

// BasicEnv returns the part of this program's environment needed by any server: no keys, no tokens. Add what
// the server needs.
func BasicEnv() []string {
	names := []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"}
	if runtime.GOOS == "windows" {
		names = append(names, "APPDATA", "LOCALAPPDATA", "PATHEXT", "ProgramFiles", "SystemDrive", "SystemRoot", "TEMP", "TMP", "USERNAME", "USERPROFILE")
	}
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !slices.ContainsFunc(names, func(n string) bool {
			return n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)
		})
	})
}

// startProgram starts the server's program. The end of the connection closes the program's input, then ends a
// program still running with all programs started by it.
func (s *Server) startProgram() (wire transport.Interface, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	cmd := exec.CommandContext(ctx, s.o.Command[0], s.o.Command[1:]...) //nolint:gosec // the caller names it
	if cmd.Dir, cmd.Env = s.o.Dir, s.o.Env; cmd.Env == nil {
		cmd.Env = BasicEnv()
	}
	group := process.Own(cmd, grace)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// The pipe is ours: Wait would close one of the command's before all is read.
	out, outSide, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = outSide, &s.complaint
	err = group.Start()
	_ = outSide.Close() // the program has a copy
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("it cannot be started: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = group.Wait() // the exit code says no more than the silence
		group.End()
	}()
	s.end = func() {
		_ = in.Close()
		select {
		case <-ended:
		case <-time.After(grace):
		}
		cancel()
		<-ended
		_ = out.Close()
	}
	s.lines = &lines{from: out}
	return transport.NewIO(s.lines, in, io.NopCloser(strings.NewReader(""))), nil
}

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	data []byte
}

// maxComplaint bounds the repeated end of a program's standard error, in bytes.
const maxComplaint = 500

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	t.data = t.data[max(0, len(t.data)-maxComplaint):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.data), ""))
}

// lines ends a stream at a line longer than MaxMessage.
type lines struct {
	from io.Reader
	// read counts the bytes of the line at hand.
	read    int
	tooLong atomic.Bool
}

func (l *lines) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if at := bytes.LastIndexByte(p[:n], '\n'); at >= 0 {
		l.read = n - at - 1
	} else {
		l.read += n
	}
	if l.read > MaxMessage {
		l.tooLong.Store(true)
		return 0, io.EOF
	}
	return n, err
}
