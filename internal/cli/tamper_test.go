package cli_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/cli"
)

// desk is a project and a person's state folder that can be put back to any step of a run.
type desk struct {
	t              *testing.T
	project, state string
	// steps are the files of both after each action.
	steps []map[string]string
	task  string
}

// newDesk does a run on a fresh project: questions and answers, a document that is sent
// back, one that is approved, one that waits.
func newDesk(t *testing.T, env ...string) *desk {
	t.Helper()
	top := t.TempDir()
	d := &desk{t: t, project: filepath.Join(top, "project"), state: filepath.Join(top, "state"), task: "build-a-relay"}
	t.Setenv("HOME", top)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(top, "config"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(top, "cache"))
	t.Setenv("XDG_STATE_HOME", d.state)
	t.Setenv("CLAUDE_PROJECT_DIR", "")
	t.Setenv("BMAD_LANGUAGE", "en") // one attack changes the objective into Chinese
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	if err := os.Mkdir(d.project, 0o750); err != nil {
		t.Fatal(err)
	}
	d.write("drafts/po1.md", "# P\n\nQuality Score: 70\n\n## Questions\n")
	d.write("drafts/po1.json", `{"prd_draft":"# P","quality_score":70,"questions":["Who?","When?"]}`)
	d.write("drafts/po2.json", `{"prd_updated":"# P long","quality_score":95}`)
	d.write("drafts/po3.json", `{"prd_updated":"# P short","quality_score":96}`)
	d.write("drafts/arch.json", `{"architecture_draft":"# A","quality_score":93}`)
	for _, args := range [][]string{
		{"task", "start", "Build a relay"},
		{"task", "submit", "--stage", "po", "--claude-result-path", "drafts/po1.json"},
		{"task", "answer", "q1=us", "q2=soon"},
		{"task", "submit", "--stage", "po", "--claude-result-path", "drafts/po2.json"},
		{"task", "confirm", "--confirmed=false", "--feedback", "shorter"},
		{"task", "submit", "--stage", "po", "--claude-result-path", "drafts/po3.json"},
		{"task", "confirm"},
		{"task", "submit", "--stage", "architect", "--claude-result-path", "drafts/arch.json"},
	} {
		d.run(0, args...)
		d.steps = append(d.steps, d.files())
	}
	return d
}

// The steps of the run that tables go back to.
const (
	waits    = 3 // the first document waits at its gate
	refused  = 4 // the person has said no
	approved = 6 // and then yes
	newest   = 7 // the architecture waits
)

func (d *desk) write(name, text string) {
	d.t.Helper()
	full := filepath.Join(d.project, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// call runs the program and returns its exit code and all its output.
func (d *desk) call(args ...string) (code int, out string) {
	d.t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Main(append([]string{"--cwd", d.project}, args...), strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String() + stderr.String()
}

// run is call for a known exit code.
func (d *desk) run(code int, args ...string) string {
	d.t.Helper()
	got, out := d.call(args...)
	if got != code {
		d.t.Fatalf("%v: exit code %d, want %d\n%s", args, got, code, out)
	}
	return out
}

// files returns the project's and the person's files.
func (d *desk) files() map[string]string {
	d.t.Helper()
	out := map[string]string{}
	for _, root := range []string{d.project, d.state} {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(name)
			out[name] = string(data)
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			d.t.Fatal(err)
		}
	}
	return out
}

// back puts everything back to a step.
func (d *desk) back(step int) {
	d.t.Helper()
	for _, root := range []string{d.project, d.state, d.state + "-2", d.state + "-kept", d.project + "-copy", d.project + "-away", d.project + "-moved"} {
		if err := os.RemoveAll(root); err != nil {
			d.t.Fatal(err)
		}
	}
	d.put(d.steps[step], func(string) bool { return true })
}

func (d *desk) put(files map[string]string, which func(name string) bool) {
	d.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !which(name) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[name]), 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
}

// file returns the path of the only session.
func (d *desk) file() string {
	d.t.Helper()
	found, err := filepath.Glob(filepath.Join(d.project, ".bmad-task", "session-*.json"))
	if err != nil || len(found) != 1 {
		d.t.Fatal(found, err)
	}
	return found[0]
}

// was returns the session file of a step.
func (d *desk) was(step int) object { return d.parse(d.steps[step][d.file()]) }

// object is JSON as an editor sees it.
type object = map[string]any

func (d *desk) parse(text string) object {
	d.t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var s object
	if err := dec.Decode(&s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *desk) session() object {
	d.t.Helper()
	data, err := os.ReadFile(d.file())
	if err != nil {
		d.t.Fatal(err)
	}
	return d.parse(string(data))
}

func (d *desk) store(s object) {
	d.t.Helper()
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(d.file(), append(data, '\n'), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// at returns a value inside a session: keys by name, list items by number, from the end if it is
// negative.
func at(s any, path ...any) object {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			s = s.(object)[p]
		case int:
			list := s.([]any)
			if p < 0 {
				p += len(list)
			}
			s = list[p]
		}
	}
	return s.(object)
}

func history(s object) []any { return s["history"].([]any) }

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
	// says is in the output of log --verify.
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
			at(s, "stages", "po", "final_result_ref")["file_path"] = "drafts/arch.json"
		}, notLeft},
		{"the saved artifact's path", newest, func(_ *desk, s object) { at(s, "stages", "po", "artifact")["path"] = "drafts/arch.json" }, notLeft},
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

// checkpoint returns the record of the only session; overwrite replaces it.
func (d *desk) checkpoint() string { return string(d.recordedFile("")) }

func (d *desk) overwrite(text string) { d.recordedFile(text + "\n") }

func (d *desk) recordedFile(text string) []byte {
	d.t.Helper()
	found, err := filepath.Glob(filepath.Join(d.state, "bmad-mcp", "checkpoints", "*", "*.json"))
	if err != nil || len(found) != 1 {
		d.t.Fatal(found, err)
	}
	if text != "" {
		if err := os.WriteFile(found[0], []byte(text), 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		d.t.Fatal(err)
	}
	return data
}

// action is an action that a session accepts in every state.
func (d *desk) action() []string {
	if d.session()["current_state"] == "completed" {
		return []string{"task", "reopen", d.task, "--stage", "po", "--json"}
	}
	return []string{"task", "cancel", d.task, "--json"}
}

var bareGrant = regexp.MustCompile(`elicited \((high|medium)\)|script \(low\)`)

// TestEveryTamperingShows changes a session in every way that an editor can, and looks at
// it by every face: as it is found, after the next action, and under a strict policy.
func TestEveryTamperingShows(t *testing.T) {
	rows := tamperings()
	if len(rows) < 30 {
		t.Fatalf("%d rows", len(rows))
	}
	d := newDesk(t)
	for _, row := range rows {
		t.Run(strings.ReplaceAll(row.name, " ", "_"), func(t *testing.T) {
			d.t = t
			tamper := func() {
				d.back(row.from)
				s := d.session()
				row.edit(d, s)
				d.store(s)
			}
			tamper()
			d.showsChanged(row.says)

			// The next action goes on, and says so; it makes nothing sound.
			var reply struct {
				Integrity string `json:"integrity"`
				Message   string `json:"user_message"`
			}
			out := d.run(0, d.action()...)
			if err := json.Unmarshal([]byte(out), &reply); err != nil || reply.Integrity != "changed" || !strings.Contains(reply.Message, "Changed by other hands:") {
				t.Errorf("the next action says %s", out)
			}
			if out := d.run(1, "log", d.task, "--verify"); !strings.Contains(out, "does not hold") || !strings.Contains(out, row.says) {
				t.Errorf("after the next action: %s", out)
			}

			// Under a strict policy nothing goes on, and nothing is changed by asking.
			tamper()
			t.Setenv("BMAD_GATE", "strict")
			before := d.files()
			out = d.run(4, d.action()...)
			if !strings.Contains(out, `"conflict"`) || !strings.Contains(out, "bmad-mcp adopt "+d.task) || !strings.Contains(out, row.says) {
				t.Errorf("strict: %s", out)
			}
			status := d.run(0, "task", "status", d.task, "--json")
			if !strings.Contains(status, `"pending_user_actions":["adopt"]`) || strings.Contains(status, `"next_call"`) || !strings.Contains(status, `"allowed_actions":["status"`) {
				t.Errorf("strict: status says %s", status)
			}
			if after := d.files(); !sameFiles(before, after) {
				t.Errorf("a refused action changed files")
			}
		})
	}
}

// sameFiles compares files without the locks, which name who held them.
func sameFiles(a, b map[string]string) bool {
	return maps.EqualFunc(withoutLocks(a), withoutLocks(b), func(x, y string) bool { return x == y })
}

func withoutLocks(files map[string]string) map[string]string {
	out := maps.Clone(files)
	maps.DeleteFunc(out, func(name, _ string) bool { return strings.HasSuffix(name, ".lock") })
	return out
}

// showsChanged looks at a changed session by all faces that only read.
func (d *desk) showsChanged(says string) {
	d.t.Helper()
	for _, face := range []struct {
		code int
		args []string
		want []string
	}{
		{1, []string{"log", d.task, "--verify"}, []string{"does not hold from entry", says}},
		{1, []string{"log", d.task, "--verify", "--json"}, []string{`"status":"changed"`}},
		{0, []string{"log", d.task, "--json"}, []string{`"integrity":"changed"`, `"problem":`}},
		{0, []string{"show", d.task}, []string{"Changed by other hands: ", says}},
		{0, []string{"show", d.task, "--json"}, []string{`"integrity":"changed"`}},
		{0, []string{"sessions"}, []string{"changed by other hands: " + d.task, says}},
		{0, []string{"sessions", "--json"}, []string{`"integrity":"changed"`}},
		{0, []string{"task", "status", d.task}, []string{"Changed by other hands: ", says}},
		{0, []string{"task", "status", d.task, "--json"}, []string{`"integrity":"changed"`}},
		{1, []string{"doctor"}, []string{"✗ histories", "1 of 1 were changed by other hands", "bmad-mcp adopt " + d.task}},
	} {
		out := d.run(face.code, face.args...)
		for _, want := range face.want {
			if !strings.Contains(out, want) {
				d.t.Errorf("%v does not say %q:\n%s", face.args, want, out)
			}
		}
		if strings.Contains(out, "is as it was written") {
			d.t.Errorf("%v says that it holds:\n%s", face.args, out)
		}
		if strings.Contains(out, "elicited (high)") {
			d.t.Errorf("%v repeats a forged grant:\n%s", face.args, out)
		}
	}
	out := d.run(0, "log", d.task)
	if len(history(d.session())) > 0 && (!strings.Contains(out, "Changed by other hands: ") || strings.Contains(out, "elicited (high)")) {
		d.t.Errorf("log: %s", out)
	}
}

// TestForgedSession is a file that was written by hand under a new id: nothing was recorded
// that it could differ from, and nothing vouches for it.
func TestForgedSession(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	const id = "99999999-2222-4333-8444-555555555555"
	unseal(s)
	s["session_id"], s["task_name"] = id, "build-a-forgery"
	stand(s, "sm", "generating")
	s["history"] = append(history(s), entry("confirmed", "architect/awaiting_confirmation", "sm/generating", grant("architect")))
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	d.write(".bmad-task/session-"+id+".json", string(data))
	out := d.run(3, "log", id, "--verify")
	if !strings.Contains(out, "nothing shows a change, but this machine's key does not vouch for entries 1 to 9") {
		t.Error(out)
	}
	for _, args := range [][]string{{"log", id}, {"show", id}, {"task", "status", id}} {
		out := d.run(0, args...)
		if bareGrant.MatchString(out) || !strings.Contains(out, "unvouched: says elicited") {
			t.Errorf("%v: %s", args, out)
		}
	}
	for _, args := range [][]string{{"log", id, "--json"}, {"task", "status", id, "--json"}, {"task", "status", id, "--view", "history"}} {
		if out := d.run(0, args...); strings.Count(strings.ReplaceAll(out, `\"`, `"`), `"unvouched":true`) == 0 && !strings.Contains(out, `"unvouched": true`) {
			t.Errorf("%v: %s", args, out)
		}
	}
	if out := d.run(0, "show", id); !strings.Contains(out, "→ us (unvouched: says script)") {
		t.Error(out)
	}
	// The other session is as it was.
	d.run(0, "log", d.task, "--verify")
}

// TestTamperedStrictSession: the policy that was in force counts, not the one that an
// edit left.
func TestTamperedStrictSession(t *testing.T) {
	d := newDesk(t)
	d.back(approved)
	t.Setenv("BMAD_GATE", "strict")
	d.run(0, "task", "submit", "--stage", "architect", "--claude-result-path", "drafts/arch.json")
	t.Setenv("BMAD_GATE", "auto")
	s := d.session()
	for _, stage := range []string{"po", "architect", "sm", "dev", "review", "qa"} {
		at(s, "policy", stage)["gate"] = "relay"
		delete(at(s, "stages", stage), "policy")
	}
	d.store(s)
	for _, args := range [][]string{{"task", "confirm"}, {"task", "cancel"}, {"task", "reopen", "--stage", "po"}} {
		if out := d.run(4, args...); !strings.Contains(out, "bmad-mcp adopt "+d.task) {
			t.Errorf("%v: %s", args, out)
		}
	}
}
