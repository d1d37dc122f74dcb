package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

func TestFromKeepsCodeAndCause(t *testing.T) {
	cause := fs.ErrPermission
	made := fault.New(fault.NotFound, "reading %q: %w", "x", cause).WithHint("look for %s", "y")
	if made.Error() != `reading "x": permission denied` || made.Hint != "look for y" {
		t.Errorf("message %q, hint %q", made.Error(), made.Hint)
	}
	wrapped := fmt.Errorf("outer: %w", made)
	if got := fault.From(wrapped); got != made {
		t.Errorf("From lost the coded error: %v", got)
	}
	if !errors.Is(wrapped, cause) {
		t.Error("the cause is not reachable")
	}
}

func TestFromCallsErrorsOfTheDiskStorage(t *testing.T) {
	got := fault.From(&fs.PathError{Op: "write", Path: "x", Err: errors.New("disk on fire")})
	if got.Code != fault.Storage || got.Hint == "" {
		t.Errorf("got %+v", got)
	}
	if fault.From(nil) != nil || fault.Is(nil, fault.Storage) {
		t.Error("nil is not an error")
	}
	if !fault.Is(got, fault.Storage) || fault.Is(got, fault.Conflict) {
		t.Error("Is does not compare codes")
	}
}

// TestFromTellsTheDiskFromBugs: free space and permissions are looked at if they can help.
func TestFromTellsTheDiskFromBugs(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want fault.Code
	}{
		"path error":         {&fs.PathError{Op: "open", Path: "x", Err: errors.New("escapes")}, fault.Storage},
		"wrapped path error": {fmt.Errorf("reading: %w", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}), fault.Storage},
		"link error":         {&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EXDEV}, fault.Storage},
		"system call":        {os.NewSyscallError("fsync", syscall.EIO), fault.Storage},
		"number":             {syscall.ENOSPC, fault.Storage},
		"joined":             {errors.Join(errors.New("closing"), syscall.EIO), fault.Storage},
		"short write":        {io.ErrShortWrite, fault.Storage},
		"no such file":       {fs.ErrNotExist, fault.Storage},
		"deadline":           {context.DeadlineExceeded, fault.Conflict},
		"cancelled":          {fmt.Errorf("waiting: %w", context.Canceled), fault.Conflict},
		"bare":               {errors.New("no stage after qa"), fault.Internal},
		"of JSON":            {json.Unmarshal([]byte("{"), new(int)), fault.Internal},
		"of a number":        {func() error { _, err := strconv.Atoi("x"); return err }(), fault.Internal},
		"of the runtime": {func() (err error) {
			defer func() { err = recover().(error) }()
			var m map[string]int
			m["x"]++ //nolint:staticcheck // it is to panic
			return nil
		}(), fault.Internal},
	} {
		got := fault.From(c.err)
		if got.Code != c.want || got.Hint == "" || !errors.Is(got, c.err) {
			t.Errorf("%s: %+v", name, got)
		}
		if c.want != fault.Storage && (strings.Contains(got.Hint, "nothing was changed") || strings.Contains(got.Hint, "free space")) {
			t.Errorf("%s: promises what it cannot know: %s", name, got.Hint)
		}
	}
	if got := fault.Unexpected("index out of range"); got.Code != fault.Internal || got.Message != "internal error: index out of range" || got.Err != nil {
		t.Errorf("%+v", got)
	}
}
