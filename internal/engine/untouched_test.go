package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// honest is an act of people and machines that does not change a session.
type honest struct {
	name string
	do   func(d *desk)
	// partly is in the reason why the run rests on entries that do not count then; "" if all count.
	partly string
}

// isCheckpoint reports whether a file is a record of sessions.
func isCheckpoint(name string) bool {
	return strings.Contains(filepath.ToSlash(name), "/checkpoints/")
}

// rerecord puts the records back to a step.
func (d *desk) rerecord(step int) {
	d.t.Helper()
	d.put(d.steps[step], isCheckpoint)
}

// edit changes the run's file in a way that changes nothing.
func (d *desk) edit(to func(text string) string) {
	d.t.Helper()
	data, err := os.ReadFile(d.file())
	if err != nil {
		d.t.Fatal(err)
	}
	put(d.t, d.file(), to(string(data)))
}

func honestRows() []honest {
	return []honest{
		{"nothing", func(*desk) {}, ""},
		{"a crash before the last step was recorded", func(d *desk) { d.rerecord(approved - 1) }, ""},
		{"a crash after the first", func(d *desk) { d.rerecord(0) }, ""},
		{"a program that recorded nothing", func(d *desk) { d.remove(filepath.Join(d.state, "checkpoints")) }, ""},
		{"the state folder restored from a backup", func(d *desk) {
			d.round()
			d.remove(d.state)
			d.put(d.steps[refused], func(name string) bool { return strings.HasPrefix(name, d.state) })
		}, ""},
		{"the project moved", func(d *desk) { d.rename(d.dir, d.dir+"-moved"); d.dir += "-moved" }, ""},
		{"the project moved away, worked on, and moved back", func(d *desk) {
			here := d.dir
			d.rename(here, here+"-away")
			d.dir = here + "-away"
			d.round()
			d.rename(d.dir, here)
			d.dir = here
		}, ""},
		{"the project by a link", func(d *desk) {
			if err := os.Symlink(d.dir, d.dir+"-link"); err != nil {
				d.t.Skip(err)
			}
			d.dir += "-link"
		}, ""},
		{"another machine that only looks", func(d *desk) {
			d.elsewhere(d.state+"-2", func() {
				d.checkUntouched("the key of entry 1 ")
				d.do(status(""))
			})
		}, ""},
		{"another machine, and back", func(d *desk) {
			d.elsewhere(d.state+"-2", func() { d.round(); d.checkUntouched("the key of entry 1 ") })
		}, "the key of entry 8 "},
		{"another machine, back, and there again", func(d *desk) {
			d.elsewhere(d.state+"-2", d.round)
			d.round()
			d.elsewhere(d.state+"-2", func() { d.checkUntouched("the key of entry 1 "); d.round() })
		}, "the key of entry 8 "},
		{"a state folder that cannot be used for a while", func(d *desk) {
			d.rename(d.state, d.state+"-kept")
			if err := os.WriteFile(d.state, nil, 0o600); err != nil {
				d.t.Fatal(err)
			}
			d.round()
			d.remove(d.state)
			d.rename(d.state+"-kept", d.state)
		}, "entry 8 has no signature"},
		{"no state folder for a while", func(d *desk) {
			d.rename(d.state, d.state+"-kept")
			d.round()
			d.remove(d.state)
			d.rename(d.state+"-kept", d.state)
		}, "the key of entry 8 "},
		{"the state folder deleted", func(d *desk) { d.remove(d.state) }, "the key of entry 1 "},
		{"the state folder deleted, and gone on", func(d *desk) { d.remove(d.state); d.round() }, "the key of entry 1 "},
		{"nothing can be recorded", func(d *desk) {
			folder := filepath.Join(d.state, "checkpoints")
			d.remove(folder)
			if err := os.WriteFile(folder, nil, 0o600); err != nil {
				d.t.Fatal(err)
			}
			d.round()
		}, ""},
		{"the checkpoints are read-only", func(d *desk) {
			if os.Geteuid() == 0 {
				return // root may write everywhere
			}
			folder := filepath.Dir(d.recordedName())
			if err := os.Chmod(folder, 0o500); err != nil {
				d.t.Fatal(err)
			}
			d.round()
			if err := os.Chmod(folder, 0o700); err != nil {
				d.t.Fatal(err)
			}
		}, ""},
		{"a worktree that git has restored", func(d *desk) {
			name := ".claude/specs/build-a-relay/01-product-requirements.md"
			data, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(name)))
			if err != nil {
				d.t.Fatal(err)
			}
			d.write(name, strings.ReplaceAll(string(data), "\n", "\r\n")) // core.autocrlf
			d.write("README.md", "# as it was last year\n")
		}, ""},
		{"two windows at once", func(d *desk) {
			d.do(nextDraft)
			var wg sync.WaitGroup
			var done atomic.Int32
			for range 4 {
				wg.Go(func() {
					again := no("once more")
					again.Cwd, again.Session, again.By = d.dir, d.session, "test"
					if _, err := d.engine.Do(ctx, again); err == nil {
						done.Add(1)
					}
				})
			}
			wg.Wait()
			if done.Load() != 1 {
				d.t.Errorf("%d decisions count", done.Load())
			}
		}, ""},
		{"unknown keys put in by hand", func(d *desk) {
			s := d.edited()
			s["note"], s["团队"] = "ours", []any{1, "二"}
			at(s, "stages", "po")["reviewed_by"] = "ada"
			at(s, "stages", "po", "artifact")["url"] = "https://example.org"
			at(s, "policy", "po")["why"] = object{"ticket": 7}
			d.save(s)
			d.round()
			if now := d.edited(); now["note"] != "ours" || at(now, "stages", "po")["reviewed_by"] != "ada" {
				d.t.Error("the keys are gone")
			}
		}, ""},
		{"the file written with other blanks", func(d *desk) {
			s, err := json.Marshal(d.edited())
			if err != nil {
				d.t.Fatal(err)
			}
			d.edit(func(string) string { return string(s) })
		}, ""},
		{"line ends of Windows and a byte order mark", func(d *desk) {
			d.edit(func(text string) string { return "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n") })
		}, ""},
		{"the folder it says it is in", func(d *desk) {
			s := d.edited()
			s["cwd"] = "/somewhere/else"
			d.save(s)
		}, ""},
		{"a stricter policy, and a looser one again", func(d *desk) {
			d.settings("stages: {po: {gate_score: 95}}\n")
			d.round()
			d.remove(filepath.Join(d.dir, ".claude", "bmad-task.yaml"))
			d.round()
		}, ""},
	}
}

// checkUntouched checks that nothing says that the run was changed.
func (d *desk) checkUntouched(partly string) {
	d.t.Helper()
	want := workflow.ChainHolds
	if partly != "" {
		want = workflow.ChainPartly
	}
	_, v := d.inspect()
	if v.Status != want || len(v.Altered) > 0 || !strings.Contains(v.Problem, partly) {
		d.t.Errorf("it is %+v, want %s, %q", v, want, partly)
	}
	integrity, n := "", 0
	if partly != "" {
		integrity, n = string(workflow.ChainPartly), 1
	}
	if listed, found := d.reported(); len(listed) != n || len(found) != n {
		d.t.Errorf("listed %q, found %q", listed, found)
	}
	for _, req := range []request.Request{status(""), {Action: workflow.ActionResume}} {
		if r := d.do(req); r.Integrity != integrity || strings.Contains(r.UserMessage, "hanged by other hands") {
			d.t.Errorf("%s says %q\n%s", req.Action, r.Integrity, r.UserMessage)
		}
	}
}

// TestHonestUse does the acts of people, crashes and other machines.
func TestHonestUse(t *testing.T) {
	t.Parallel()
	rows := honestRows()
	if len(rows) < 15 {
		t.Fatalf("%d rows", len(rows))
	}
	d := newDesk(t)
	for _, row := range rows {
		t.Run(strings.ReplaceAll(row.name, " ", "_"), func(t *testing.T) {
			d.back(t, approved)
			row.do(d)
			d.restart()
			d.checkUntouched(row.partly)
			// And the run goes on, under a strict policy too, if its person accepts what does not count.
			d.under(workflow.GateStrict)
			if row.partly != "" {
				d.refused(nextDraft, fault.Conflict, row.partly)
				d.adopted()
			}
			if r := d.do(nextDraft); r.Integrity != "" {
				t.Errorf("the next action says %q\n%s", r.Integrity, r.UserMessage)
			}
		})
	}
}

// TestOlderFormatsShowNothing checks that sessions of older versions keep their words.
func TestOlderFormatsShowNothing(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"v0", "v1"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "testdata", "sessions", format, "session-*.json"))
		if err != nil || len(found) == 0 {
			t.Fatal(found, err)
		}
		for _, name := range found {
			t.Run(format+"/"+filepath.Base(name), func(t *testing.T) {
				d := &desk{bench: newBench(t)}
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				d.write(".bmad-task/"+filepath.Base(name), string(data))
				d.session = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "session-"), ".json")
				if _, v := d.inspect(); v.Status != workflow.ChainPartly {
					t.Errorf("%+v", v)
				}
				if listed, found := d.reported(); len(listed) != 1 || len(found) != 1 {
					t.Errorf("listed %q, found %q", listed, found)
				}
				again := request.Request{Action: workflow.ActionReopen, Stage: "po"}
				d.under(workflow.GateStrict)
				if _, err := d.try(again); !fault.Is(err, fault.Conflict) {
					t.Errorf("strict: %v", err)
				}
				d.adopted()
				if _, err := d.try(again); fault.Is(err, fault.Conflict) {
					t.Errorf("strict, adopted: %v", err)
				}
			})
		}
	}
}

// adopted has the person accept the run as it is.
func (d *desk) adopted() {
	d.t.Helper()
	_, err := d.engine.Adopt(ctx, request.Request{
		Address: project.Address{Cwd: d.dir, Session: d.session}, Caller: request.Caller{Ask: personal(workflow.ChannelTerminal, workflow.DecisionAdopt, "")},
	})
	if err != nil {
		d.t.Fatal(err)
	}
}
