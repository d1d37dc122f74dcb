package engine_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// grant is a decision as somebody would forge it.
func grant(stage string) object {
	return object{"channel": "elicited", "assurance": "high", "decision": "approve", "at": "2026-01-02T03:04:05Z", "took_ms": 42000, "stage": stage, "revision": 5}
}

func entry(event, from, to string, g object) object {
	e := object{"at": "2026-01-02T03:04:05Z", "action": "confirm", "event": event, "from": from, "to": to, "by": "claude-code"}
	if g != nil {
		e["grant"] = g
	}
	return e
}

// stand writes the stage and state of a session.
func stand(s object, stage, state string) { s["current_stage"], s["current_state"] = stage, state }

// unsign takes off all signatures and links.
func unsign(s object) {
	for i := range history(s) {
		for _, key := range []string{"prev", "standing", "signature"} {
			delete(at(s, "history", i), key)
		}
	}
}

// link gives the newest entry the hash of the one before it, which everybody can compute.
func link(d *desk, s object) {
	d.t.Helper()
	data, err := json.Marshal(at(s, "history", -2))
	if err != nil {
		d.t.Fatal(err)
	}
	text := jsontext.Value(data)
	if err := text.Canonicalize(); err != nil {
		d.t.Fatal(err)
	}
	at(s, "history", -1)["prev"] = workflow.Hash(text)
}

// tampering is one way to change a session by editing its file, and nothing else.
type tampering struct {
	name string
	from int // the step that it begins with
	edit func(d *desk, s object)
	// says is in the problem that is reported.
	says string
}

const (
	notLeft  = "were changed after its newest entry"
	older    = "it is an older copy, or the newest were removed"
	recorded = "is not what this machine recorded"
	unfit    = "does not fit its signature, or its place"
	unsigned = "has no signature"
)

func tamperings() []tampering {
	yes := func() object {
		return entry("confirmed", "architect/awaiting_confirmation", "sm/generating", grant("architect"))
	}
	return []tampering{
		{"moved to the last stage", approved, func(_ *desk, s object) { stand(s, "qa", "generating") }, "but its newest entry led to"},
		{"taken past its gate", newest, func(_ *desk, s object) { stand(s, "sm", "generating") }, "but its newest entry led to"},
		{"taken back to a gate", approved, func(_ *desk, s object) { stand(s, "po", "awaiting_confirmation") }, "but its newest entry led to"},
		{"completed by hand, with an entry", newest, func(_ *desk, s object) {
			stand(s, "qa", "completed")
			s["history"] = append(history(s), entry("finished", "architect/awaiting_confirmation", "qa/completed", nil))
		}, "its revision is 8 with 9 entries"},
		{"a forged grant added", newest, func(_ *desk, s object) {
			stand(s, "sm", "generating")
			s["history"], s["revision"] = append(history(s), yes()), 9
		}, unsigned},
		{"a forged grant, linked", newest, func(d *desk, s object) {
			stand(s, "sm", "generating")
			s["history"], s["revision"] = append(history(s), yes()), 9
			link(d, s)
		}, unsigned},
		{"two forged grants added", newest, func(_ *desk, s object) {
			stand(s, "dev", "generating")
			s["history"], s["revision"] = append(history(s), yes(), entry("approved", "sm/generating", "dev/generating", grant("sm"))), 10
		}, unsigned},
		{"a forged grant with the signature of another entry", newest, func(d *desk, s object) {
			stand(s, "sm", "generating")
			e := yes()
			e["signature"] = at(s, "history", 6)["signature"]
			s["history"], s["revision"] = append(history(s), e), 9
			link(d, s)
		}, unfit},
		{"a forged grant with a signature that is none", newest, func(d *desk, s object) {
			stand(s, "sm", "generating")
			e := yes()
			e["signature"] = "U1NIU0lH"
			s["history"], s["revision"] = append(history(s), e), 9
			link(d, s)
		}, unfit},
		{"a real grant given once more", newest, func(d *desk, s object) {
			stand(s, "architect", "generating")
			s["history"], s["revision"] = append(history(s), maps.Clone(at(s, "history", 6))), 9
			link(d, s)
		}, unfit},
		{"a forged adoption", newest, func(d *desk, s object) {
			s["objective"] = "something else"
			e := entry("adopted", "architect/awaiting_confirmation", "architect/awaiting_confirmation", grant("architect"))
			e["adoption"] = object{"problem": "nothing", "from": 1, "revision": 99, "past": ""}
			s["history"], s["revision"] = append(history(s), e), 9
			link(d, s)
		}, unsigned},
		{"signatures and links taken off", newest, func(_ *desk, s object) { unsign(s) }, recorded},
		{"the newest signature taken off", newest, func(_ *desk, s object) { delete(at(s, "history", -1), "signature") }, recorded},
		{"signatures taken off, a forged grant added", newest, func(_ *desk, s object) {
			unsign(s)
			stand(s, "sm", "generating")
			s["history"] = append(history(s), yes())
		}, recorded},
		{"sealed as older programs do", newest, func(_ *desk, s object) {
			unsign(s)
			s["seals"] = []any{object{"key": "00112233445566ff", "entries": 8, "signature": strings.Repeat("ab", 32)}}
		}, recorded},
		{"put back to before the no", newest, func(d *desk, s object) { maps.Copy(s, d.was(waits)) }, older},
		{"put back to before the yes", newest, func(d *desk, s object) { maps.Copy(s, d.was(5)) }, older},
		{"put back to before the no, with its revision raised", refused, func(d *desk, s object) {
			maps.Copy(s, d.was(waits))
			s["revision"] = 40
		}, older},
		{"put back, and the no replaced by a yes", refused, func(d *desk, s object) {
			maps.Copy(s, d.was(waits))
			stand(s, "architect", "generating")
			s["history"] = append(history(s), entry("confirmed", "po/awaiting_confirmation", "architect/generating", grant("po")))
		}, recorded},
		{"all of the history taken out", newest, func(_ *desk, s object) { s["history"] = []any{} }, older},
		{"the newest entry taken out", newest, func(_ *desk, s object) { s["history"] = history(s)[:7] }, "the newest were removed"},
		{"the newest entry taken out, and the place before it", newest, func(_ *desk, s object) {
			s["history"] = history(s)[:7]
			stand(s, "architect", "generating")
		}, older},
		{"the no taken out", newest, func(_ *desk, s object) { s["history"] = slices.Delete(history(s), 4, 5) }, unfit},
		{"two entries changed about", newest, func(_ *desk, s object) { h := history(s); h[3], h[4] = h[4], h[3] }, unfit},
		{"a no made a yes", refused, func(_ *desk, s object) {
			e := at(s, "history", 4)
			e["event"], e["to"] = "confirmed", "architect/generating"
			at(s, "history", 4, "grant")["decision"] = "approve"
			stand(s, "architect", "generating")
		}, unfit},
		{"a channel made better", newest, func(_ *desk, s object) {
			at(s, "history", 6, "grant")["channel"], at(s, "history", 6, "grant")["assurance"] = "elicited", "high"
		}, unfit},
		{"who decided", newest, func(_ *desk, s object) {
			at(s, "history", 6)["subject"], at(s, "history", 6, "grant")["subject"] = "eve", "eve"
		}, unfit},
		{"the newest entry's words", refused, func(_ *desk, s object) { at(s, "history", 4)["feedback"] = "approved" }, unfit},
		{"the name", newest, func(_ *desk, s object) { s["task_name"] = "fix-a-typo" }, notLeft},
		{"the answers", newest, func(_ *desk, s object) { at(s, "stages", "po", "answers")["q1"] = "everybody" }, notLeft},
		{"an answer taken out", newest, func(_ *desk, s object) { delete(at(s, "stages", "po", "answers"), "q2") }, notLeft},
		{"the channels of answers", newest, func(_ *desk, s object) {
			at(s, "stages", "po", "answer_channels")["q1"] = "elicited"
			at(s, "stages", "po", "answer_channels")["q2"] = "elicited"
		}, notLeft},
		{"the questions that were asked", newest, func(_ *desk, s object) { at(s, "stages", "po", "questions", 0)["question"] = "May we deploy?" }, notLeft},
		{"the status of a question", newest, func(_ *desk, s object) { at(s, "stages", "po", "questions", 0)["status"] = "skipped" }, notLeft},
		{"the objective", newest, func(_ *desk, s object) { s["objective"] = "Build something else" }, notLeft},
		{"the objective, in Chinese", newest, func(_ *desk, s object) { s["objective"] = "构建另一个系统" }, notLeft},
		{"sprints put in", newest, func(_ *desk, s object) { s["sprints"] = []any{object{"number": 1, "title": "one", "status": "done"}} }, notLeft},
		{"an approval", newest, func(_ *desk, s object) { at(s, "stages", "architect")["approved"] = true }, notLeft},
		{"an approval of a later stage", newest, func(_ *desk, s object) { at(s, "stages", "review")["approved"] = true }, notLeft},
		{"an approval taken back", newest, func(_ *desk, s object) { at(s, "stages", "po")["approved"] = false }, notLeft},
		{"the policy of the pending gate", newest, func(_ *desk, s object) { at(s, "stages", "architect", "policy")["gate"] = "relay" }, "policy of stage architect"},
		{"the policy of the run", newest, func(_ *desk, s object) { at(s, "policy", "architect")["gate"] = "relay" }, notLeft},
		{"the policy of the run taken out", newest, func(_ *desk, s object) { delete(s, "policy") }, notLeft},
		{"the claimed score", newest, func(_ *desk, s object) { at(s, "stages", "architect")["claimed_score"] = 100 }, "the score"},
		{"the audit", newest, func(_ *desk, s object) { at(s, "stages", "architect", "audit")["score"] = 100 }, "the score"},
		{"the document of a done stage", newest, func(_ *desk, s object) {
			at(s, "stages", "po", "final_result_ref")["file_path"] = ".bmad-task/temp/other/README.md"
		}, notLeft},
		{"the saved artifact's path", newest, func(_ *desk, s object) { at(s, "stages", "po", "artifact")["path"] = ".claude/specs/other/README.md" }, notLeft},
		{"the rounds of a stage", newest, func(_ *desk, s object) { at(s, "stages", "architect")["iteration"] = 0 }, notLeft},
		{"the reworks", newest, func(_ *desk, s object) { s["rework_count"] = 3 }, notLeft},
		{"the feedback", refused, func(_ *desk, s object) { at(s, "stages", "po")["feedback"] = "make it longer" }, notLeft},
		{"open questions put in", newest, func(_ *desk, s object) {
			stand(s, "architect", "clarifying")
			at(s, "stages", "architect")["questions"] = []any{object{"id": "q1", "question": "OK?"}}
		}, "but its newest entry led to"},
		{"the revision lowered", newest, func(_ *desk, s object) { s["revision"] = 2 }, "its revision is 2"},
		{"the revision raised", newest, func(_ *desk, s object) { s["revision"] = 90 }, "its revision is 90"},
		{"what is recorded written over", newest, func(d *desk, s object) { d.overwrite(`{"entries": 1}`); s["objective"] = "x" }, "was overwritten without the key"},
		{"what is recorded replaced by nothing", newest, func(d *desk, s object) { d.overwrite(""); maps.Copy(s, d.was(waits)) }, "was overwritten without the key"},
		{"what is recorded put back too, by hand", newest, func(d *desk, s object) {
			maps.Copy(s, d.was(waits))
			d.overwrite(strings.Replace(d.checkpoint(), `"entries": 8`, `"entries": 4`, 1))
		}, "was overwritten without the key"},
	}
}

// checkpoint returns the record of the run; overwrite replaces it.
func (d *desk) checkpoint() string {
	d.t.Helper()
	data, err := os.ReadFile(d.recordedName())
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

func (d *desk) overwrite(text string) { put(d.t, d.recordedName(), text+"\n") }

// action is an action that a session accepts in every state.
func (d *desk) action() request.Request {
	if d.edited()["current_state"] == "completed" {
		return request.Request{Action: workflow.ActionReopen, Stage: "po"}
	}
	return request.Request{Action: workflow.ActionCancel}
}

// TestEveryTamperingShows changes a session in every way that an editor can, and looks at it as it is
// found, after the next action, and under a strict policy.
func TestEveryTamperingShows(t *testing.T) {
	t.Parallel()
	rows := tamperings()
	if len(rows) < 30 {
		t.Fatalf("%d rows", len(rows))
	}
	d := newDesk(t)
	for _, row := range rows {
		t.Run(strings.ReplaceAll(row.name, " ", "_"), func(t *testing.T) {
			tamper := func() {
				d.back(t, row.from)
				s := d.edited()
				row.edit(d, s)
				d.save(s)
			}
			tamper()
			d.checkChanged(row.says)

			// The next action goes on, and says so; it makes nothing sound.
			if r := d.do(d.action()); r.Integrity == "" || !strings.HasPrefix(r.UserMessage, "**Changed by other hands:**") && !strings.HasPrefix(r.UserMessage, "**Not confirmed:**") {
				t.Errorf("the next action says %q\n%s", r.Integrity, r.UserMessage)
			}
			if _, v := d.inspect(); v.Sound() || !strings.Contains(v.Problem, row.says) {
				t.Errorf("after the next action: %+v", v)
			}

			// Under a strict policy nothing goes on, and nothing is changed by asking.
			tamper()
			d.checkStopped(d.action(), row.says)
		})
	}
}

// checkChanged looks at a changed session by everything that only reads.
func (d *desk) checkChanged(says string) {
	d.t.Helper()
	s, v := d.inspect()
	if v.Sound() || v.Broken == 0 || !strings.Contains(v.Problem, says) {
		d.t.Errorf("it is %+v, want %q", v, says)
	}
	for _, step := range s.Steps(v) {
		if step.Grant != nil && step.Grant.Assurance == workflow.AssuranceHigh && !step.Unvouched {
			d.t.Errorf("a forged grant is repeated: %+v", step)
		}
	}
	listed, found := d.reported()
	if len(listed) != 1 || len(found) != 1 || !strings.Contains(listed[0]+found[0], says) {
		d.t.Errorf("listed %q, found %q", listed, found)
	}
	r := d.do(status(""))
	first, _, _ := strings.Cut(r.UserMessage, "\n")
	told := strings.HasPrefix(first, "**Changed by other hands:** ") || strings.HasPrefix(first, "**Not confirmed:** ")
	if r.Integrity != string(v.Status) || !told || !strings.Contains(first, says) {
		d.t.Errorf("status says %q\n%s", r.Integrity, r.UserMessage)
	}
	for _, st := range r.Stages {
		if g := st.Grant; g != nil && g.Assurance == workflow.AssuranceHigh && !g.Unvouched {
			d.t.Errorf("status repeats a forged grant of %s: %+v", st.Stage, g)
		}
	}
}

// checkStopped tries an action under a strict policy, and says how to go on.
func (d *desk) checkStopped(req request.Request, says string) {
	d.t.Helper()
	d.under(workflow.GateStrict)
	d.unmoved("a refused action", func() {
		if hint := d.refused(req, fault.Conflict, says); !strings.Contains(hint, "bmad-mcp adopt "+d.edited()["task_name"].(string)) {
			d.t.Errorf("strict: hint %q", hint)
		}
		r := d.do(status(""))
		if !slices.Equal(r.PendingUserActions, []string{"adopt"}) || r.NextCall != nil || len(r.Allowed) == 0 || r.Allowed[0] != "status" {
			d.t.Errorf("strict: pending %v, next call %v, allowed %v", r.PendingUserActions, r.NextCall, r.Allowed)
		}
	})
}

// TestForgedSession is a file that was written by hand under a new id: nothing was recorded
// that it could differ from, and nothing vouches for it.
func TestForgedSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.edited()
	real := d.session
	d.session = "99999999-2222-4333-8444-555555555555"
	unsign(s)
	s["session_id"], s["task_name"] = d.session, "build-a-forgery"
	stand(s, "sm", "generating")
	s["history"] = append(history(s), entry("confirmed", "architect/awaiting_confirmation", "sm/generating", grant("architect")))
	d.save(s)
	stored, v := d.inspect()
	if v.Status != workflow.ChainPartly || v.Broken != 1 || !strings.Contains(v.Problem, unsigned) {
		t.Errorf("%+v", v)
	}
	for _, step := range stored.Steps(v) {
		if step.Grant != nil && !step.Unvouched {
			t.Errorf("it vouches for %+v", step)
		}
	}
	decided := 0
	for _, st := range d.do(status("")).Stages {
		if st.Grant != nil {
			if decided++; !st.Grant.Unvouched {
				t.Errorf("status vouches for %+v", st.Grant)
			}
		}
	}
	if text := d.do(status("history")).Resource.Text; decided == 0 || !strings.Contains(text, `"unvouched": true`) {
		t.Errorf("%d decisions, history %s", decided, text)
	}
	d.session = real
	if _, v := d.inspect(); v.Status != workflow.ChainHolds {
		t.Errorf("the other session: %+v", v)
	}
}

// TestTamperedStrictSession checks that the policy which was in force counts, not the one that an
// edit left.
func TestTamperedStrictSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.back(t, approved)
	d.under(workflow.GateStrict)
	d.do(nextDraft)
	d.under(workflow.GateAuto)
	s := d.edited()
	for _, stage := range []string{"po", "architect", "sm", "dev", "review", "qa"} {
		at(s, "policy", stage)["gate"] = "relay"
		delete(at(s, "stages", stage), "policy")
	}
	d.save(s)
	for _, req := range []request.Request{confirm(true), {Action: workflow.ActionCancel}, {Action: workflow.ActionReopen, Stage: "po"}} {
		if hint := d.refused(req, fault.Conflict, ""); !strings.Contains(hint, "bmad-mcp adopt "+d.edited()["task_name"].(string)) {
			t.Errorf("%s: hint %q", req.Action, hint)
		}
	}
}
