package engine_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

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

// unseal takes off the seals and all links.
func unseal(s object) {
	delete(s, "seals")
	for i := range history(s) {
		delete(at(s, "history", i), "prev")
		delete(at(s, "history", i), "standing")
	}
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
)

func tamperings() []tampering {
	return []tampering{
		{"moved to the last stage", approved, func(_ *desk, s object) { stand(s, "qa", "generating") }, "but its newest entry led to"},
		{"taken past its gate", newest, func(_ *desk, s object) { stand(s, "sm", "generating") }, "but its newest entry led to"},
		{"taken back to a gate", approved, func(_ *desk, s object) { stand(s, "po", "awaiting_confirmation") }, "but its newest entry led to"},
		{"completed by hand, with an entry", newest, func(_ *desk, s object) {
			stand(s, "qa", "completed")
			s["history"] = append(history(s), entry("finished", "architect/awaiting_confirmation", "qa/completed", nil))
		}, "is not linked to them"},
		{"a forged grant added", newest, func(_ *desk, s object) {
			stand(s, "sm", "generating")
			s["history"] = append(history(s), entry("confirmed", "architect/awaiting_confirmation", "sm/generating", grant("architect")))
		}, "entry 9 was added after the 8 that this machine recorded"},
		{"two forged grants added", newest, func(_ *desk, s object) {
			stand(s, "dev", "generating")
			s["history"] = append(history(s), entry("confirmed", "architect/awaiting_confirmation", "sm/generating", grant("architect")), entry("approved", "sm/generating", "dev/generating", grant("sm")))
		}, "entry 9 was added after the 8 that this machine recorded"},
		{"a forged grant with another machine's seal", newest, func(_ *desk, s object) {
			stand(s, "sm", "generating")
			s["history"] = append(history(s), entry("confirmed", "architect/awaiting_confirmation", "sm/generating", grant("architect")))
			s["seals"] = append(s["seals"].([]any), object{"key": "00112233445566ff", "entries": 9, "signature": strings.Repeat("ab", 32)})
			s["revision"] = 9
		}, "entry 9 was added after the 8 that this machine recorded"},
		{"a forged grant linked to what can be read", newest, func(d *desk, s object) {
			stand(s, "sm", "generating")
			e := entry("confirmed", "architect/awaiting_confirmation", "sm/generating", grant("architect"))
			e["prev"] = d.parse(d.checkpoint())["entry"]
			s["history"], s["revision"] = append(history(s), e), 9
		}, "does not match the link in the entry after it"},
		{"a forged adoption", newest, func(_ *desk, s object) {
			s["objective"] = "something else"
			e := entry("adopted", "architect/awaiting_confirmation", "architect/awaiting_confirmation", grant("architect"))
			e["adoption"] = object{"problem": "nothing", "from": 1, "revision": 99, "past": ""}
			s["history"], s["revision"] = append(history(s), e), 9
			at(s, "seals", 0)["adopted"] = 9
		}, "the seal does not fit"},
		{"seals and links taken off", newest, func(_ *desk, s object) { unseal(s) }, recorded},
		{"seals taken off", newest, func(_ *desk, s object) { delete(s, "seals") }, "its seal was removed"},
		{"seals taken off, a forged grant added", newest, func(_ *desk, s object) {
			unseal(s)
			stand(s, "sm", "generating")
			s["history"] = append(history(s), entry("confirmed", "architect/awaiting_confirmation", "sm/generating", grant("architect")))
		}, recorded},
		{"sealed by a key that nobody has", newest, func(_ *desk, s object) {
			s["seals"] = []any{object{"key": "00112233445566ff", "entries": 8, "signature": strings.Repeat("ab", 32)}}
		}, "its seal was removed"},
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
		{"put back, with the newest seal", newest, func(d *desk, s object) {
			seals := s["seals"]
			maps.Copy(s, d.was(waits))
			s["seals"] = seals
		}, "the newest were removed"},
		{"an older seal", newest, func(d *desk, s object) { s["seals"] = d.was(refused)["seals"] }, "it is an older seal"},
		{"all of the history taken out", newest, func(_ *desk, s object) { s["history"] = []any{}; delete(s, "seals") }, older},
		{"the newest entry taken out", newest, func(_ *desk, s object) { s["history"] = history(s)[:7] }, "the newest were removed"},
		{"the newest entry and the seals taken out", newest, func(_ *desk, s object) {
			s["history"] = history(s)[:7]
			stand(s, "architect", "generating")
			delete(s, "seals")
		}, older},
		{"the no taken out", newest, func(_ *desk, s object) { s["history"] = slices.Delete(history(s), 4, 5) }, "does not match the link in the entry after it"},
		{"two entries changed about", newest, func(_ *desk, s object) { h := history(s); h[3], h[4] = h[4], h[3] }, "does not match the link in the entry after it"},
		{"a no made a yes", refused, func(_ *desk, s object) {
			e := at(s, "history", 4)
			e["event"], e["to"] = "confirmed", "architect/generating"
			at(s, "history", 4, "grant")["decision"] = "approve"
			stand(s, "architect", "generating")
		}, "the seal does not fit entry 5"},
		{"a channel made better", newest, func(_ *desk, s object) {
			at(s, "history", 6, "grant")["channel"], at(s, "history", 6, "grant")["assurance"] = "elicited", "high"
		}, "entry 7 does not match the link"},
		{"the newest entry's words", refused, func(_ *desk, s object) { at(s, "history", 4)["feedback"] = "approved" }, "the seal does not fit entry 5"},
		{"the seal of two keys alike", newest, func(_ *desk, s object) { s["seals"] = append(s["seals"].([]any), s["seals"].([]any)[0]) }, "there are 2 seals of one key"},
		{"a broken mark taken off", newest, func(_ *desk, s object) { at(s, "seals", 0)["signature"] = strings.Repeat("0", 64) }, "the seal does not fit"},
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
		{"the policy of the session", newest, func(_ *desk, s object) { at(s, "policy", "architect")["gate"] = "relay" }, notLeft},
		{"the policy of the session taken out", newest, func(_ *desk, s object) { delete(s, "policy") }, notLeft},
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

// checkpoint returns the record of the session; overwrite replaces it.
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
			if r := d.do(d.action()); r.Integrity != "changed" || !strings.Contains(r.UserMessage, "Changed by other hands:") {
				t.Errorf("the next action says %q\n%s", r.Integrity, r.UserMessage)
			}
			if _, v := d.inspect(); !v.Changed() || !strings.Contains(v.Problem, row.says) {
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
	if !v.Changed() || v.Broken == 0 || !strings.Contains(v.Problem, says) {
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
	if r.Integrity != "changed" || !strings.Contains(r.UserMessage, "Changed by other hands: ") && !strings.Contains(r.UserMessage, "**Changed by other hands:** ") || !strings.Contains(r.UserMessage, says) {
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
		if hint := d.refused(req, fault.Conflict, says); !strings.Contains(hint, "bmad-mcp adopt build-a-relay") {
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
	unseal(s)
	s["session_id"], s["task_name"] = d.session, "build-a-forgery"
	stand(s, "sm", "generating")
	s["history"] = append(history(s), entry("confirmed", "architect/awaiting_confirmation", "sm/generating", grant("architect")))
	d.save(s)
	stored, v := d.inspect()
	if v.Status != workflow.ChainPartly || !strings.Contains(v.Problem, "this machine's key does not vouch for entries 1 to 9") {
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
		if hint := d.refused(req, fault.Conflict, ""); !strings.Contains(hint, "bmad-mcp adopt build-a-relay") {
			t.Errorf("%s: hint %q", req.Action, hint)
		}
	}
}
