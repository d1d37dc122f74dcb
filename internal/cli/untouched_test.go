package cli_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// honest is an act of people and machines that does not change a session.
type honest struct {
	name string
	do   func(d *desk)
	// partly names the entries that the key does not vouch for then; "" if all holds.
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

// edit changes the session's file in a way that changes nothing.
func (d *desk) edit(to func(text string) string) {
	d.t.Helper()
	data, err := os.ReadFile(d.file())
	if err == nil {
		err = os.WriteFile(d.file(), []byte(to(string(data))), 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) remove(name string) {
	d.t.Helper()
	if err := os.RemoveAll(name); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) rename(from, to string) {
	d.t.Helper()
	if err := os.Rename(from, to); err != nil {
		d.t.Fatal(err)
	}
}

// elsewhere does something with another state folder, as another machine has one.
func (d *desk) elsewhere(folder string, do func()) {
	d.t.Helper()
	before := os.Getenv("XDG_STATE_HOME")
	d.t.Setenv("XDG_STATE_HOME", folder)
	do()
	d.t.Setenv("XDG_STATE_HOME", before)
}

// submitArchitecture is the next action of the run.
func (d *desk) submitArchitecture() {
	d.t.Helper()
	d.run(0, "task", "submit", d.task, "--stage", "architect", "--claude-result-path", "drafts/arch.json")
}

// back and forth: the architecture is handed in and sent back, two entries.
func (d *desk) round() {
	d.t.Helper()
	d.submitArchitecture()
	d.run(0, "task", "confirm", d.task, "--confirmed=false", "--feedback", "again")
}

func honestRows() []honest {
	return []honest{
		{"nothing", func(*desk) {}, ""},
		{"a crash before the last step was recorded", func(d *desk) { d.rerecord(approved - 1) }, ""},
		{"a crash after the first", func(d *desk) { d.rerecord(0) }, ""},
		{"a program that recorded nothing", func(d *desk) { d.remove(filepath.Join(d.state, "bmad-mcp", "checkpoints")) }, ""},
		{"the state folder restored from a backup", func(d *desk) {
			d.round()
			d.remove(d.state)
			d.put(d.steps[refused], func(name string) bool { return strings.HasPrefix(name, d.state) })
		}, ""},
		{"the project moved", func(d *desk) { d.rename(d.project, d.project+"-moved"); d.project += "-moved" }, ""},
		{"the project moved away, worked on, and moved back", func(d *desk) {
			here := d.project
			d.rename(here, here+"-away")
			d.project = here + "-away"
			d.round()
			d.rename(d.project, here)
			d.project = here
		}, ""},
		{"the project by a link", func(d *desk) {
			if err := os.Symlink(d.project, d.project+"-link"); err != nil {
				d.t.Skip(err)
			}
			d.project += "-link"
		}, ""},
		{"another machine that only looks", func(d *desk) {
			d.elsewhere(d.state+"-2", func() {
				d.checkUntouched("entries 1 to 7")
				d.run(0, "task", "status", d.task)
			})
		}, ""},
		{"another machine, and back", func(d *desk) {
			d.elsewhere(d.state+"-2", func() { d.round(); d.checkUntouched("entries 1 to 7") })
		}, "entries 8 to 9"},
		{"another machine, back, and there again", func(d *desk) {
			d.elsewhere(d.state+"-2", d.round)
			d.round()
			d.elsewhere(d.state+"-2", func() { d.checkUntouched("entries 1 to 7, entries 10 to 11"); d.round() })
		}, "entries 8 to 9, entries 12 to 13"},
		{"a state folder that cannot be used for a while", func(d *desk) {
			d.rename(d.state, d.state+"-kept")
			if err := os.WriteFile(d.state, nil, 0o600); err != nil {
				d.t.Fatal(err)
			}
			d.round()
			d.remove(d.state)
			d.rename(d.state+"-kept", d.state)
		}, "entries 8 to 9"},
		{"no state folder for a while", func(d *desk) {
			d.rename(d.state, d.state+"-kept")
			d.round()
			d.remove(d.state)
			d.rename(d.state+"-kept", d.state)
		}, "entries 8 to 9"},
		{"the state folder deleted", func(d *desk) { d.remove(d.state) }, "entries 1 to 7"},
		{"the state folder deleted, and gone on", func(d *desk) { d.remove(d.state); d.round() }, "entries 1 to 7"},
		{"nothing can be recorded", func(d *desk) {
			folder := filepath.Join(d.state, "bmad-mcp", "checkpoints")
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
			data, err := os.ReadFile(filepath.Join(d.project, filepath.FromSlash(name)))
			if err != nil {
				d.t.Fatal(err)
			}
			d.write(name, strings.ReplaceAll(string(data), "\n", "\r\n")) // core.autocrlf
			d.write("README.md", "# as it was last year\n")
		}, ""},
		{"two windows at once", func(d *desk) {
			d.submitArchitecture()
			var wg sync.WaitGroup
			codes := make([]int, 4)
			for i := range codes {
				wg.Go(func() {
					codes[i], _ = d.call("task", "confirm", d.task, "--confirmed=false", "--feedback", "once more")
				})
			}
			wg.Wait()
			done := 0
			for _, code := range codes {
				if code == 0 {
					done++
				}
			}
			if done != 1 {
				d.t.Errorf("exit codes %v", codes)
			}
		}, ""},
		{"gc and doctor --fix", func(d *desk) {
			d.run(0, "gc", "--older-than", "0d", "--apply")
			_, _ = d.call("doctor", "--fix")
		}, ""},
		{"unknown keys put in by hand", func(d *desk) {
			s := d.session()
			s["note"], s["团队"] = "ours", []any{1, "二"}
			at(s, "stages", "po")["reviewed_by"] = "ada"
			at(s, "stages", "po", "artifact")["url"] = "https://example.org"
			at(s, "policy", "po")["why"] = object{"ticket": 7}
			d.store(s)
			d.round()
			if now := d.session(); now["note"] != "ours" || at(now, "stages", "po")["reviewed_by"] != "ada" {
				d.t.Error("the keys are gone")
			}
		}, ""},
		{"the file written with other blanks", func(d *desk) {
			s, err := json.Marshal(d.session())
			if err != nil {
				d.t.Fatal(err)
			}
			d.edit(func(string) string { return string(s) })
		}, ""},
		{"line ends of Windows and a byte order mark", func(d *desk) {
			d.edit(func(text string) string { return "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n") })
		}, ""},
		{"renamed, as doctor says", func(d *desk) {
			s := d.session()
			s["task_name"] = "build-it"
			d.store(s)
			d.task = "build-it"
			_, _ = d.call("doctor", "--fix")
		}, ""},
		{"the folder it says it is in", func(d *desk) {
			s := d.session()
			s["cwd"] = "/somewhere/else"
			d.store(s)
		}, ""},
		{"a stricter policy, and a looser one again", func(d *desk) {
			d.write(".claude/bmad-task.yaml", "stages: {po: {gate_score: 95}}\n")
			d.round()
			d.remove(filepath.Join(d.project, ".claude", "bmad-task.yaml"))
			d.round()
		}, ""},
	}
}

// recordedName returns the file with the record of the only session.
func (d *desk) recordedName() string {
	d.t.Helper()
	found, err := filepath.Glob(filepath.Join(d.state, "bmad-mcp", "checkpoints", "*", "*.json"))
	if err != nil || len(found) != 1 {
		d.t.Fatal(found, err)
	}
	return found[0]
}

// checkUntouched checks that nothing says that the session was changed, in the words that a check of
// it has always had.
func (d *desk) checkUntouched(partly string) {
	d.t.Helper()
	code, words := 0, "the history is as it was written, and sealed ("
	if partly != "" {
		code, words = 3, "nothing shows a change, but this machine's key does not vouch for "+partly+". They come from another machine"
	}
	if out := d.run(code, "log", d.task, "--verify"); !strings.Contains(out, words) {
		d.t.Errorf("log --verify: %s", out)
	}
	for _, args := range [][]string{{"log", d.task}, {"show", d.task}, {"show", d.task, "--json"}, {"sessions"}, {"sessions", "--json"}, {"task", "status", d.task, "--json"}, {"task", "resume", d.task, "--json"}} {
		if out := d.run(0, args...); strings.Contains(out, "hanged by other hands") || strings.Contains(out, `"integrity"`) {
			d.t.Errorf("%v: %s", args, out)
		}
	}
	if _, out := d.call("doctor"); !strings.Contains(out, "✓ histories") || !strings.Contains(out, "none shows a change by other hands") {
		d.t.Errorf("doctor: %s", out)
	}
}

// TestHonestUseShowsNothing does the acts of people, crashes and other machines.
func TestHonestUseShowsNothing(t *testing.T) {
	rows := honestRows()
	if len(rows) < 15 {
		t.Fatalf("%d rows", len(rows))
	}
	d := newDesk(t)
	task, project := d.task, d.project
	for _, row := range rows {
		t.Run(strings.ReplaceAll(row.name, " ", "_"), func(t *testing.T) {
			d.t, d.task, d.project = t, task, project
			d.back(approved)
			row.do(d)
			d.checkUntouched(row.partly)
			// And the run goes on, under a strict policy too.
			t.Setenv("BMAD_GATE", "strict")
			out := d.run(0, "task", "submit", d.task, "--stage", "architect", "--claude-result-path", "drafts/arch.json", "--json")
			if strings.Contains(out, `"integrity"`) {
				t.Errorf("the next action says %s", out)
			}
		})
	}
}

// TestOlderFormatsShowNothing: sessions of older versions keep their words.
func TestOlderFormatsShowNothing(t *testing.T) {
	for _, format := range []string{"v0", "v1"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "testdata", "sessions", format, "session-*.json"))
		if err != nil || len(found) == 0 {
			t.Fatal(found, err)
		}
		for _, name := range found {
			t.Run(format+"/"+filepath.Base(name), func(t *testing.T) {
				d := newDesk(t)
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				d.remove(d.file())
				d.write(".bmad-task/"+filepath.Base(name), string(data))
				id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "session-"), ".json")
				code, out := d.call("log", id, "--verify")
				if code != 3 || !strings.Contains(out, "nothing shows a change, but ") {
					t.Errorf("exit code %d: %s", code, out)
				}
				if out := d.run(0, "sessions"); strings.Contains(out, "hanged by other hands") {
					t.Error(out)
				}
				if _, out := d.call("doctor"); !strings.Contains(out, "✓ histories") {
					t.Error(out)
				}
				t.Setenv("BMAD_GATE", "strict")
				if code, out := d.call("task", "reopen", id, "--stage", "po"); code == 4 {
					t.Errorf("strict: %s", out)
				}
			})
		}
	}
}

// TestRecordsAreForgotten: gc takes away the records of sessions that are gone, and nothing else.
func TestRecordsAreForgotten(t *testing.T) {
	d := newDesk(t)
	record := d.recordedName()
	d.run(0, "gc", "--older-than", "0d", "--apply")
	if _, err := os.Stat(record); err != nil {
		t.Fatal("what is recorded of a session that is there was removed:", err)
	}
	d.remove(d.file())
	if out := d.run(0, "gc", "--older-than", "0d"); !strings.Contains(out, filepath.Base(record)) || !strings.Contains(out, "is gone") {
		t.Error(out)
	}
	if _, err := os.Stat(record); err != nil {
		t.Fatal("removed without --apply:", err)
	}
	d.run(0, "gc", "--older-than", "1h", "--apply")
	if _, err := os.Stat(record); err != nil {
		t.Fatal("removed before its time:", err)
	}
	d.run(0, "gc", "--older-than", "0d", "--apply")
	if _, err := os.Stat(record); err == nil {
		t.Error("it is still there")
	}
	if files := d.files(); !strings.Contains(strings.Join(keys(files), " "), "bmad-mcp/key") {
		t.Error("the key is gone")
	}
}

func keys(m map[string]string) []string {
	var out []string
	for name := range maps.Keys(m) {
		out = append(out, filepath.ToSlash(name))
	}
	return out
}
