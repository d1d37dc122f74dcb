package workflow

import (
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// A session has parts that can change apart from each other: the run itself, which never changes after the start,
// the rules of the gates, the sprints, the rest, and the record of each stage. Each entry has the hashes of the
// parts that the step changed. So it shows if a step of somebody else touches anything that the step is not about,
// for example the document of an approved stage.

// The names of the parts outside the stages, none of them a possible id of a stage. ofRun never
// changes.
const (
	ofRun     = "run"
	ofPolicy  = "+policy"
	ofSprints = "+sprints"
	ofRest    = "+rest"
)

// partDigits is the length of the hash of a part, in hexadecimal digits.
const partDigits = 32

// partHashes returns the hashes of a session's parts.
func (s *Session) partHashes() map[string]string {
	out := map[string]string{}
	add := func(name string, v any) { out[name] = partHash(v) }
	add(ofRun, Session{SessionID: s.SessionID, TaskName: s.TaskName, Objective: s.Objective, Workflow: s.Workflow, CreatedAt: s.CreatedAt, CriteriaReader: s.CriteriaReader})
	add(ofPolicy, Session{Policy: s.Policy})
	add(ofSprints, Session{Sprints: s.Sprints})
	add(ofRest, Session{Artifacts: s.Artifacts, ReworkCount: s.ReworkCount, VerifyCommands: s.VerifyCommands})
	for id, r := range s.Stages {
		if r != nil {
			add(string(id), *r)
		}
	}
	return out
}

func partHash(v any) string { return Hash(canonicalJSON(v, known))[:partDigits] }

// recordedParts returns the newest hash of each part in a history, and the shape of the program that wrote it.
func recordedParts(history []Transition) (parts, shapes map[string]string) {
	parts, shapes = map[string]string{}, map[string]string{}
	for _, e := range history {
		shape, _, _ := strings.Cut(e.Standing, ":")
		for name, hash := range e.Parts {
			parts[name], shapes[name] = hash, shape
		}
	}
	return parts, shapes
}

// changedParts returns the parts whose hashes differ from a history.
func (s *Session) changedParts(history []Transition) map[string]string {
	recorded, shapes := recordedParts(history)
	out := s.partHashes()
	for name := range recorded {
		out[name] += "" // a removed part
	}
	maps.DeleteFunc(out, func(name, hash string) bool { return recorded[name] == hash && shapes[name] == standingShape() })
	return out
}

// describeChangedParts names the parts that differ from the history. If none does, it names everything else that an
// entry covers.
func (s *Session) describeChangedParts() lang.Text {
	var out []lang.Text
	for _, name := range slices.Sorted(maps.Keys(s.changedParts(s.History))) {
		out = append(out, partText(name))
	}
	if len(out) == 0 {
		return lang.T("its sprints, policy or counters")
	}
	return lang.Join(out, ", ")
}

// silentlyChangedPart names a part changed in a step that does not say so; "" if there is none.
func (s *Session) silentlyChangedPart() string {
	recorded, shapes := recordedParts(s.History)
	now := s.partHashes()
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		if shapes[name] == standingShape() && now[name] != recorded[name] {
			return name
		}
	}
	return ""
}

// partsOfStep returns the parts that a step may change: the stages at both ends of the step, and the one whose work
// they judge; if the step goes back, all from the target on.
func (w *Definition) partsOfStep(e Transition) (out []string) {
	switch {
	case e.Event == EventPolicyChanged:
		return []string{ofPolicy, ofRest}
	case e.Event == EventAdopted: // of looser rules, which count for the reader only if the reader adopts them
		return []string{ofPolicy}
	case e.Event == EventReopened || e.Event == EventSentBack:
		out = w.IDs()[max(w.Index(e.ToStage()), 0):]
	case isMove(e) || e.Event == EventEdited:
		for _, id := range []StageID{e.FromStage(), e.ToStage()} {
			st, _ := w.Stage(id)
			out = append(out, string(id), string(st.SendsBackTo), string(st.VerifiedBy()))
		}
	default:
		return nil
	}
	return append(out, ofSprints, ofRest)
}

// partText names a part for people.
func partText(name string) lang.Text {
	switch name {
	case ofRun:
		return lang.T("its name, objective or workflow")
	case ofPolicy:
		return lang.T("its rules")
	case ofSprints:
		return lang.T("its sprints")
	case ofRest:
		return lang.T("its list of artifacts, counters or commands")
	}
	return lang.T("what stage %s has", name)
}
