package workflow

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

var (
	nameForm     = pattern.New(`^[a-z][a-z0-9-]{0,31}$`)
	artifactForm = pattern.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.md$`)
	// reserved are words with another meaning in arguments and settings, so they cannot be ids of
	// stages.
	reserved = []string{"session", "history", "sessions", "workflow", "all", "task"}
)

// checkDefinition completes a definition with the defaults and finds the mistakes that no single
// value shows. All values of the definition have been read before.
func (r *reader) checkDefinition(name string) {
	d := r.d
	if d.Name == "" {
		r.addMistake(1, "name is missing; it is %q, as the file's name says", name)
	} else if d.Name != name {
		r.addMistake(r.top["name"], "the name is %q, but the file is %s.yaml; they have to agree", d.Name, name)
	}
	if !nameForm.MatchString(name) {
		r.addMistake(r.top["name"], "%q cannot be a name; use small letters, digits and hyphens", name)
	}
	if len(d.Stages) == 0 {
		r.addMistake(1, "stages is missing")
		return
	}
	for i := range d.Stages {
		r.checkStage(i)
	}
	r.checkOrder()
}

// Check reports the first mistake of a definition from a session file.
func (d *Definition) Check() error {
	if n := len(d.Stages); n > maxStages {
		return lang.Errorf("%d stages; at most %d are accepted", n, maxStages)
	}
	r := reader{d: d.Clone(), lines: make([]map[string]int, len(d.Stages))}
	if r.checkDefinition(d.Name); len(r.problems) > 0 {
		return lang.Errorf("%s", r.problems[0].said)
	}
	return nil
}

// checkStage checks one stage alone, and fills in the values implied by the kind.
func (r *reader) checkStage(i int) {
	st, at := &r.d.Stages[i], r.lineFinder(i)
	switch {
	case st.ID == "":
		r.addMistake(at(""), "the stage has no id")
		return
	case !nameForm.MatchString(string(st.ID)) || len(st.ID) > 20:
		r.addMistake(at("id"), "%q cannot be an id; use small letters, digits and hyphens, at most 20", st.ID)
	case slices.Contains(reserved, string(st.ID)):
		r.addMistake(at("id"), "%q cannot be an id: it has another meaning in commands", st.ID)
	case r.d.Index(st.ID) < i:
		r.addMistake(at("id"), "the stage %q is unreachable: an earlier one has the same id", st.ID)
	}
	if !slices.Contains(Kinds(), st.Kind) {
		r.addMistake(at("kind"), "stage %q: kind %q is not one of %s", st.ID, st.Kind, joinNames(Kinds()))
		return
	}
	if st.Gate == "" {
		st.Gate = gates[st.Kind][0]
	}
	if !slices.Contains(gates[st.Kind], st.Gate) {
		r.addMistake(at("gate"), "stage %q: gate %q is not possible for a stage of kind %s; possible: %s", st.ID, st.Gate, st.Kind, joinNames(gates[st.Kind]))
	}
	switch {
	case st.Gate == GateScore && at("gate_score") == at(""):
		st.GateScore = DefaultGateScore
	case st.Gate != GateScore && at("gate_score") != at(""):
		r.addMistake(at("gate_score"), "stage %q has no score gate, so it has no gate_score", st.ID)
	}
	st.fillDefaults()
	for n, e := range st.Engines {
		if !slices.Contains(Engines(), e) || slices.Contains(st.Engines[:n], e) {
			r.addMistake(at("engines"), "stage %q: worker %q is not one of %s, each at most once", st.ID, e, joinNames(Engines()))
		}
	}
	r.checkFiles(i)
	r.checkOwes(i)
	if st.Verify && st.Kind != KindBuild && st.Kind != KindVerdict {
		r.addMistake(at("verify"), "stage %q: only a build or a verdict can be verified by a command", st.ID)
	}
}

func (r *reader) checkOwes(i int) {
	st, at := r.d.Stages[i], r.lineFinder(i)
	switch owed := []Owes{OwesCriteria, OwesFindings}; {
	case st.Owes == "":
	case st.Kind != KindVerdict:
		r.addMistake(at("owes"), "stage %q: only the report of a verdict has rows", st.ID)
	case !slices.Contains(owed, st.Owes):
		r.addMistake(at("owes"), "stage %q: owes %q is not one of %s", st.ID, st.Owes, joinNames(owed))
	}
}

// fillDefaults fills in the missing words and engines of a stage.
func (st *Stage) fillDefaults() {
	if st.Role == "" {
		st.Role = strings.ToUpper(string(st.ID[0])) + string(st.ID[1:])
	}
	st.Label = nameOrID(st.Label, StageID(st.Role))
	st.DocumentName = nameOrID(st.DocumentName, StageID(st.defaultDocument(lang.English)))
	st.Description = nameOrID(st.Description, StageID(st.defaultDescription(lang.English)))
	if len(st.Engines) == 0 {
		st.Engines = []Engine{Claude}
	}
}

// defaultDocument and defaultDescription are the words for a stage that names no document or
// description.
func (s Stage) defaultDocument(l lang.Language) string { return l.Say("%s report", s.ID) }
func (s Stage) defaultDescription(l lang.Language) string {
	return l.Say("writes the %s", s.DocumentIn(l))
}

// DocumentIn returns the name of the deliverable in a language.
func (s Stage) DocumentIn(l lang.Language) string {
	if s.DocumentName == s.defaultDocument(lang.English) {
		return s.defaultDocument(l)
	}
	return l.Word(s.DocumentName)
}

// DescriptionIn returns the description in a language.
func (s Stage) DescriptionIn(l lang.Language) string {
	if s.Description == s.defaultDescription(lang.English) {
		return s.defaultDescription(l)
	}
	return l.Word(s.Description)
}

// checkFiles checks the names of the files of a stage.
func (r *reader) checkFiles(i int) {
	st, at := r.d.Stages[i], r.lineFinder(i)
	for key, name := range map[string]string{"prompt": st.Prompt, "rubric": st.Rubric} {
		if name != "" && !nameForm.MatchString(name) {
			r.addMistake(at(key), "stage %q: %s %q is not a name; give it without folder and ending", st.ID, key, name)
		}
	}
	if st.Artifact != "" && !artifactForm.MatchString(st.Artifact) {
		r.addMistake(at("artifact"), "stage %q: artifact %q is not a file name such as 01-report.md", st.ID, st.Artifact)
	}
}

// checkOrder checks how the stages lead to each other.
func (r *reader) checkOrder() {
	plans, decided := 0, false
	files := map[string]StageID{}
	for i, st := range r.d.Stages {
		at := r.lineFinder(i)
		if st.Kind == KindVerdict {
			r.checkTarget(i, "sends_back_to", st.SendsBackTo, lang.T("failed work has to return to an earlier stage"))
		} else if st.SendsBackTo != "" {
			r.addMistake(at("sends_back_to"), "stage %q: only a verdict sends work back", st.ID)
		}
		if st.Appends != "" {
			r.checkTarget(i, "appends", st.Appends, lang.T("it appends the document of an earlier stage"))
		}
		if st.Kind == KindPlan {
			if plans++; plans > 1 {
				r.addMistake(at("kind"), "stage %q is a second plan; the sprints of a run come from one", st.ID)
			}
		}
		if st.Kind == KindBuild && i > 0 && !decided {
			r.addMistake(at(""), "no gate before the build stage %q: give an earlier stage the gate score or approval, or let the workflow begin with the build, which then stops for its scope", st.ID)
		}
		// A verdict asks a person only after a failure.
		scoped := i == 0 && st.Kind == KindBuild
		decided = decided || scoped || st.Gate == GateScore || st.Gate == GateApproval
		if other := files[strings.ToLower(st.Artifact)]; st.Artifact != "" && other != "" {
			r.addMistake(at("artifact"), "the stages %q and %q would save the same file %s", other, st.ID, st.Artifact)
		}
		files[strings.ToLower(st.Artifact)] = st.ID
	}
}

func (r *reader) checkTarget(i int, key string, target StageID, why lang.Text) {
	st, to := r.d.Stages[i], r.d.Index(target)
	if to >= 0 && to < i {
		return
	}
	switch {
	case target == "":
		r.addMistake(r.lineFinder(i)(""), "stage %q has no %s: %s", st.ID, key, why)
	case to < 0:
		r.addMistake(r.lineFinder(i)(key), "stage %q: %s names %q, which is not a stage; %s", st.ID, key, target, why)
	default:
		r.addMistake(r.lineFinder(i)(key), "stage %q: %s names %q, which is not earlier; %s", st.ID, key, target, why)
	}
}

// lineFinder returns a function that finds the line of a key of stage i; if the key is missing, the
// line of the stage.
func (r *reader) lineFinder(i int) func(key string) int {
	return func(key string) int {
		if line := r.lines[i][key]; line > 0 {
			return line
		}
		return r.lines[i][""]
	}
}

func joinNames[T ~string](values []T) string { return strings.Join(Names(values), ", ") }
