package doctor_test

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

// TestFixAtEveryCut cuts a repair at every step: no file is lost, and it can be repeated.
func TestFixAtEveryCut(t *testing.T) {
	disk := durabletest.New()
	at := func(d *durabletest.Disk) *durable.Dir { return d.Dir("/simulated/fix") }
	project(t, at(disk))
	d := at(disk)
	for _, err := range []error{
		d.Remove(".bmad-task/names/task-1"), d.Replace(".bmad-task/names/task-9", []byte(gone)), d.Replace(".bmad-task/task-mapping.json", []byte("[]\n")),
		d.CreateUnsynced(".bmad-task/.session-"+two+".json.tmp-0011223344556677", []byte("{")), d.Remove(".bmad-task/.gitignore"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	steps, outcomes := durabletest.Sweep(t, disk, func(d *durabletest.Disk) error {
		_, err := doctor.New(at(d), storetest.Files(at(d))).Fix(ctx, day)
		return err
	}, func(o durabletest.Outcome) {
		p := doctor.New(at(o.Disk), storetest.Files(at(o.Disk)))
		if _, err := p.Fix(ctx, day); err != nil {
			t.Fatalf("%v: repeated: %v", o, err)
		}
		if r := check(t, p); !r.OK || said(r, "leftovers", doctor.Warning, "") {
			t.Fatalf("%v: %+v", o, r)
		}
		all, err := storetest.Files(at(o.Disk)).All(ctx)
		if err != nil || len(all.Sessions) != 2 || len(all.Broken) != 0 {
			t.Fatalf("%v: %v, %v", o, all, err)
		}
	})
	t.Logf("%d steps, %d different outcomes", len(steps), outcomes)
}

// TestTrimRuns checks that the output of engines goes with a finished session, and the rest of a run
