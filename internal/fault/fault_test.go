package fault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"bmad-mcp/internal/fault"
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

func TestFromCallsUncodedErrorsStorage(t *testing.T) {
	got := fault.From(errors.New("disk on fire"))
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
