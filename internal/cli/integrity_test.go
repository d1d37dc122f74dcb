package cli_test

import (
	"os"
	"strings"
	"testing"
)

// face is a command that shows a session, with the words that it has to say.
type face struct {
	code int
	args []string
	want []string
}

// check runs the commands, whose output must not have the other words.
func (d *desk) check(faces []face, never ...string) {
	d.t.Helper()
	for _, f := range faces {
		out := d.run(f.code, f.args...)
		for _, want := range f.want {
			if !strings.Contains(out, want) {
				d.t.Errorf("%v does not say %q:\n%s", f.args, want, out)
			}
		}
		for _, word := range never {
			if strings.Contains(out, word) {
				d.t.Errorf("%v says %q:\n%s", f.args, word, out)
			}
		}
	}
}

// forge adds a decision that nobody took to the run, and moves it on.
func (d *desk) forge() {
	d.t.Helper()
	s := d.session()
	s["current_stage"], s["current_state"] = "sm", "generating"
	s["history"] = append(s["history"].([]any), object{
		"at": "2026-01-02T03:04:05Z", "action": "confirm", "event": "confirmed", "by": "claude-code",
		"from": "architect/awaiting_confirmation", "to": "sm/generating", "grant": object{
			"channel": "elicited", "assurance": "high", "decision": "approve", "at": "2026-01-02T03:04:05Z", "took_ms": 42000, "stage": "architect", "revision": 5,
		},
	})
	d.store(s)
}

// TestChangedSession shows a session with a forged decision by every command. The engine's TestEveryTamperingShows has
// the other ways to change one.
func TestChangedSession(t *testing.T) {
	d := newDesk(t)
	d.forge()
	const says = "this machine recorded revision 8 with 8"
	d.check([]face{
		{1, []string{"log", d.task, "--verify"}, []string{"does not hold from entry", says}},
		{1, []string{"log", d.task, "--verify", "--json"}, []string{`"status":"changed"`}},
		{0, []string{"log", d.task}, []string{"Changed by other hands: ", says}},
		{0, []string{"log", d.task, "--json"}, []string{`"integrity":"changed"`, `"problem":`}},
		{0, []string{"show", d.task}, []string{"Changed by other hands: ", says}},
		{0, []string{"show", d.task, "--json"}, []string{`"integrity":"changed"`}},
		{0, []string{"status", "--all"}, []string{"changed by other hands: " + d.task, says}},
		{0, []string{"status", "--all", "--json"}, []string{`"integrity":"changed"`}},
		{0, []string{"task", "status", d.task}, []string{"Changed by other hands: ", says}},
		{0, []string{"task", "status", d.task, "--json"}, []string{`"integrity":"changed"`}},
		{0, []string{"report", d.task}, []string{"**it does not hold**"}},
		{1, []string{"doctor"}, []string{"✗ histories", "1 of 1 were changed by other hands", "bmad-mcp adopt " + d.task}},
	}, "is as it was written", "elicited (high)")
	t.Setenv("BMAD_GATE", "strict")
	d.check([]face{
		{4, []string{"task", "cancel", d.task, "--json"}, []string{`"conflict"`, "bmad-mcp adopt " + d.task, says}},
		{0, []string{"task", "status", d.task, "--json"}, []string{`"pending_user_actions":["adopt"]`, `"allowed_actions":["status"`}},
	}, `"next_call"`)
	t.Setenv("BMAD_GATE", "auto")
	d.check([]face{{0, []string{"task", "cancel", d.task, "--json"}, []string{`"integrity":"changed"`, "Changed by other hands:"}}})
}

// TestUnvouchedSession shows one for whose entries this machine's key does not vouch, as after work elsewhere: no
// command repeats its decisions as facts.
func TestUnvouchedSession(t *testing.T) {
	d := newDesk(t)
	d.forge()
	s := d.session()
	for _, e := range s["history"].([]any) {
		delete(e.(object), "prev")
		delete(e.(object), "standing")
		delete(e.(object), "signature")
	}
	d.store(s)
	if err := os.RemoveAll(d.state); err != nil {
		t.Fatal(err)
	}
	d.check([]face{
		{3, []string{"log", d.task, "--verify"}, []string{"nothing shows a change, but entry 1 has no signature: an older program has written it, or somebody without a key."}},
		{0, []string{"log", d.task}, []string{"unconfirmed, the file says: form"}},
		{0, []string{"log", d.task, "--json"}, []string{`"unvouched":true`}},
		{0, []string{"show", d.task}, []string{"unconfirmed, the file says: form", "→ us (unconfirmed, the file says: script)"}},
		{0, []string{"task", "status", d.task}, []string{"unconfirmed, the file says: form"}},
		{0, []string{"task", "status", d.task, "--json"}, []string{`"unvouched":true`}},
		{0, []string{"status", "--all"}, nil},
	}, "elicited (high)", "script (low)", "hanged by other hands")
}

// TestUntouchedSession is a session that nobody has changed, after the repairs of doctor too.
func TestUntouchedSession(t *testing.T) {
	d := newDesk(t)
	_, _ = d.call("doctor", "--fix")
	d.check([]face{
		{0, []string{"log", d.task, "--verify"}, []string{"the history is as it was written, and every entry is signed (8)"}},
		{0, []string{"log", d.task}, nil},
		{0, []string{"show", d.task}, nil},
		{0, []string{"show", d.task, "--json"}, nil},
		{0, []string{"status", "--all"}, nil},
		{0, []string{"status", "--all", "--json"}, nil},
		{0, []string{"task", "status", d.task, "--json"}, nil},
		{0, []string{"task", "resume", d.task, "--json"}, nil},
	}, "hanged by other hands", `"integrity"`, `"altered"`)
	if _, out := d.call("doctor"); !strings.Contains(out, "✓ histories") || !strings.Contains(out, "none shows a change by other hands") {
		t.Errorf("doctor: %s", out)
	}
}

// TestAlteredText shows an approved document that was edited by every command. The engine's
// TestApprovedTextsThatWereAltered has the other ways to alter one.
func TestAlteredText(t *testing.T) {
	d := newDesk(t)
	d.back(approved)
	const document = ".claude/specs/build-a-relay/01-product-requirements.md"
	const says = document + " was edited after it was approved"
	d.write(document, "# Something else\n")
	d.check([]face{
		{1, []string{"log", d.task, "--verify"}, []string{says}},
		{1, []string{"log", d.task, "--verify", "--json"}, []string{`"altered":[{"stage":"po"`}},
		{0, []string{"log", d.task}, []string{says}},
		{0, []string{"log", d.task, "--json"}, []string{`"altered":[{"stage":"po"`}},
		{0, []string{"show", d.task}, []string{says}},
		{0, []string{"show", d.task, "--json"}, []string{`"altered":[{"stage":"po"`}},
		{0, []string{"report", d.task}, []string{"**Not as approved**"}},
	}, "hanged by other hands")
	if _, out := d.call("doctor"); !strings.Contains(out, "not as approved: ") || !strings.Contains(out, "bmad-mcp adopt "+d.task+" --restore") {
		t.Errorf("doctor: %s", out)
	}
	t.Setenv("BMAD_LANGUAGE", "zh")
	d.check([]face{{1, []string{"log", d.task, "--verify"}, []string{"与批准时不同："}}}, "approved")
	t.Setenv("BMAD_LANGUAGE", "en")
	t.Setenv("BMAD_GATE", "strict")
	d.check([]face{{4, []string{"task", "submit", d.task, "--stage", "architect", "--claude-result-path", "drafts/arch.json"}, []string{says, "--restore"}}})
	d.run(0, "adopt", d.task, "--restore")
	d.check([]face{{5, []string{"adopt", d.task, "--restore"}, []string{"there is nothing to restore"}}})
	// A run that has ended is free to change, and tells so only if it is looked at.
	t.Setenv("BMAD_GATE", "auto")
	d.write(document, "# Something else\n")
	d.run(0, "task", "cancel", d.task)
	d.check([]face{{0, []string{"log", d.task, "--verify"}, []string{says}}})
	if _, out := d.call("doctor"); strings.Contains(out, "not as approved") {
		t.Error(out)
	}
}

// TestCopiedAndMovedSession shows a run in a copy of its project, where it does not count, and in a folder to which
// the project was moved, where it does.
func TestCopiedAndMovedSession(t *testing.T) {
	d := newDesk(t)
	here, there := d.project, d.project+"-elsewhere"
	if err := os.CopyFS(there, os.DirFS(here)); err != nil {
		t.Fatal(err)
	}
	d.project = there
	const says = "it is a copy of the run in "
	d.check([]face{
		{1, []string{"log", d.task, "--verify"}, []string{says}},
		{0, []string{"log", d.task}, []string{"Changed by other hands: "}},
		{0, []string{"show", d.task}, []string{says}},
		{0, []string{"status", "--all"}, []string{says}},
		{1, []string{"doctor"}, []string{says}},
		{0, []string{"report", d.task}, []string{"**it does not hold**"}},
	}, "script (low)")
	if err := os.RemoveAll(here); err != nil {
		t.Fatal(err)
	}
	moved := "Moved here from " + here + ", which no longer has it"
	d.check([]face{
		{0, []string{"show", d.task}, []string{moved}},
		{0, []string{"log", d.task, "--verify"}, []string{moved}},
	}, says)
}
