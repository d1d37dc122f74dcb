package pgstore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

// TestHostileRows: what a colleague writes into a row is a name only if it is one. A list shows what the run itself
// says, and a body with another's id, or a name that leads elsewhere, does not open.
func TestHostileRows(t *testing.T) {
	address := migrated(t)
	b, ctx := open(t, address).Store(at), context.Background()
	s := newSession()
	if err := b.Create(ctx, s, storetest.Numbered("task")); err != nil {
		t.Fatal(err)
	}
	const tenant = `select set_config('bmad.tenant', '0', false)`
	for column, value := range map[string]string{"task_name": `'../..'`, "stage": `E'x\nFAKE LINE'`, "state": `'done'`, "revision": "-1"} {
		pgtest.Do(t, address, tenant, `update session set `+column+` = `+value)
		if all, err := b.All(ctx); err != nil || len(all.Sessions) != 1 || all.Sessions[0] != s.Summary() {
			t.Errorf("%s: the list has %+v, %v", column, all.Sessions, err)
		}
	}
	if names, err := b.TaskNames(ctx); err != nil || len(names) != 0 {
		t.Errorf("names %q, %v", names, err)
	}
	data, err := b.Stored(ctx, s.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	const other = "99999999-2222-4333-8444-555555555555"
	for _, replace := range [][2]string{{s.SessionID, other}, {`"task_name": "`, `"task_name": "../`}} {
		body := strings.ReplaceAll(string(data), replace[0], replace[1])
		pgtest.Do(t, address, tenant, fmt.Sprintf(`update session set body = decode('%x', 'hex')`, body))
		if _, err := b.Get(ctx, s.SessionID); !fault.Is(err, fault.Storage) {
			t.Errorf("with %s it opens: %v", replace[1], err)
		}
		if _, err := b.Update(ctx, s.SessionID, step("x")); !fault.Is(err, fault.Storage) {
			t.Errorf("with %s it changes: %v", replace[1], err)
		}
	}
}
