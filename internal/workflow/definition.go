package workflow

import (
	"maps"
	"slices"
)

// Definition is a workflow as data: an ordered list of stages under a name.
type Definition struct {
	Name string `json:"name"`
	// Hash identifies the content: two definitions with one hash are the same.
	Hash string `json:"hash"`
	// Description describes the workflow, and When the work that it fits, in one line each.
	Description string  `json:"description,omitempty"`
	When        string  `json:"when,omitempty"`
	Stages      []Stage `json:"stages"`
	Extra       Extra   `json:",unknown"`
}

// DefaultGateScore is the score of 100 that a score gate asks for unless the definition or the
// configuration has another.
const DefaultGateScore = 90

// Clone returns a copy that shares nothing changeable with the definition.
func (d *Definition) Clone() *Definition {
	out := *d
	out.Stages = slices.Clone(d.Stages)
	return &out
}

// contentHash identifies the name and the stages of a definition.
func (d *Definition) contentHash() string {
	plain := *d
	plain.Hash = ""
	data, err := encodeForHash(plain)
	if err != nil {
		return ""
	}
	return Hash(data)
}

// Same reports whether two definitions have the same name and stages, by their content.
func (d *Definition) Same(other *Definition) bool { return d.contentHash() == other.contentHash() }

// First returns the stage a session begins with.
func (d *Definition) First() Stage { return d.Stages[0] }

// Stage returns the stage with the given id.
func (d *Definition) Stage(id StageID) (Stage, bool) {
	if i := d.Index(id); i >= 0 {
		return d.Stages[i], true
	}
	return Stage{}, false
}

// Index returns the position of a stage, counted from 0, or -1.
func (d *Definition) Index(id StageID) int {
	return slices.IndexFunc(d.Stages, func(s Stage) bool { return s.ID == id })
}

// Next returns the stage after id; ok is false after the last.
func (d *Definition) Next(id StageID) (next Stage, ok bool) {
	i := d.Index(id)
	if i < 0 || i+1 >= len(d.Stages) {
		return Stage{}, false
	}
	return d.Stages[i+1], true
}

// IDs lists the stage ids in order, as strings for messages and schemas.
func (d *Definition) IDs() []string { return IDsOf(d.Stages) }

// OfKind returns the first stage of a kind; ok is false if there is none.
func (d *Definition) OfKind(k Kind) (st Stage, ok bool) {
	i := slices.IndexFunc(d.Stages, func(s Stage) bool { return s.Kind == k })
	if i < 0 {
		return Stage{}, false
	}
	return d.Stages[i], true
}

// JudgesOf returns the stages whose failed work goes back to a stage, in order.
func (d *Definition) JudgesOf(id StageID) []Stage {
	var out []Stage
	for _, s := range d.Stages {
		if s.SendsBackTo == id && id != "" {
			out = append(out, s)
		}
	}
	return out
}

// StartsByBuilding reports whether st is a build stage with no person's decision before it. The
// stage begins with a scope, which the person approves.
func (d *Definition) StartsByBuilding(st Stage) bool {
	return st.Kind == KindBuild && d.First().ID == st.ID
}

// StagesOf lists the stages of several definitions, each id once, from the first definition with
// it. A nil definition has none.
func StagesOf(definitions ...*Definition) []Stage {
	var out []Stage
	for _, d := range definitions {
		if d == nil {
			continue
		}
		for _, st := range d.Stages {
			if !slices.ContainsFunc(out, func(have Stage) bool { return have.ID == st.ID }) {
				out = append(out, st)
			}
		}
	}
	return out
}

// Keeping returns a definition whose stages have at least some rules, by their ids. The settings loosen no gate of
// a started run: a file of the project, or a variable, can change around one step. Pauses are a comfort and follow
// the settings.
func (w *Definition) Keeping(rules map[StageID]Policy) *Definition {
	out := w.Clone()
	for i, st := range w.Stages {
		if least, ok := rules[st.ID]; ok {
			p := st.Policy()
			least.Pause = p.Pause
			out.Stages[i] = st.Under(p.Stricter(least))
		}
	}
	return out
}

// Loosened lists the stages of a definition whose rules ask for less than some others, by their ids.
func (w *Definition) Loosened(rules map[StageID]Policy) (out []Stage) {
	for i, st := range w.Keeping(rules).Stages {
		if !st.Policy().Same(w.Stages[i].Policy()) {
			out = append(out, st)
		}
	}
	return out
}

// stricterRules returns the stricter rules of two sets, stage by stage.
func stricterRules(a, b map[StageID]Policy) map[StageID]Policy {
	if len(b) == 0 {
		return a
	}
	out := maps.Clone(b)
	for id, p := range a {
		if other, ok := b[id]; ok {
			p = p.Stricter(other)
		}
		out[id] = p
	}
	return out
}

// PromisesPerson reports whether a gate takes only a person's own act, or the yes of certain people.
func PromisesPerson(rules map[StageID]Policy) bool {
	for _, p := range rules {
		if p.PromisesPerson() {
			return true
		}
	}
	return false
}

// isRuled reports whether it matters at any gate who says yes.
func isRuled(rules map[StageID]Policy) bool {
	for _, p := range rules {
		if p.Ruled() {
			return true
		}
	}
	return false
}
