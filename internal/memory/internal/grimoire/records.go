package grimoire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/csvtable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// readNotes reads a list of notes in one JSON document. If it has a fault, the notes before it are kept.
func (r *reader) readNotes(text string) {
	d := json.NewDecoder(strings.NewReader(text))
	first, err := d.Token()
	if err == nil && first != json.Delim('[') {
		r.addProblem(1, "the file is not a list of notes")
		return
	}
	for n, from := 1, 0; err == nil && d.More(); {
		at := int(d.InputOffset())
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], ", \t\n"))
		n, from = n+strings.Count(text[from:at], "\n"), at
		var value any
		if err = d.Decode(&value); err == nil {
			r.readRecord(n, value)
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	if err != nil {
		r.addProblem(faultAt(text, err), "this is not JSON, so the rest of the file is not read: %v", err)
	}
}

// readJSONLines reads a note or a failure from each line.
func (r *reader) readJSONLines(text string) {
	for n, l := range strings.Split(text, "\n") {
		var value any
		if err := json.Unmarshal([]byte(l), &value); err == nil {
			r.readRecord(n+1, value)
		} else if strings.TrimSpace(l) != "" {
			r.addProblem(n+1, "the line is not JSON: %v", err)
		}
	}
}

// faultAt returns the number of the line of a fault in JSON.
func faultAt(text string, err error) int {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		text = text[:min(int(syntax.Offset), len(text))]
	}
	return 1 + strings.Count(text, "\n")
}

// readRecord reads one note or failure, with the fields of any of the kits.
func (r *reader) readRecord(n int, value any) {
	m, ok := value.(map[string]any)
	if !ok {
		r.addProblem(n, "this is not a note")
		return
	}
	about := objectIn(m, "metadata")
	e := Entry{
		Type: cmp.Or(firstField(m, "type"), firstField(about, "type")), Agent: cmp.Or(firstField(m, "agent"), firstField(about, "agent")), Text: firstField(m, "text", "memory", "content"), Line: n,
		Tags: append(textsOf(m["tags"]), textsOf(about["tags"])...), Date: readDate(firstField(m, "created_at", "date", "timestamp")),
	}
	switch {
	case m["deleted_at"] != nil:
		return
	case firstField(m, "failure_id", "root_cause", "rule_added") != "":
		f := &Failure{
			ID: firstField(m, "failure_id"), Title: firstField(m, "title"), Category: strings.ToUpper(firstField(m, "category")), Status: firstField(m, "status"),
			Severity: SeverityIn(firstField(m, "severity")), Lesson: firstField(m, "lesson", "fix"), Rule: firstField(m, "rule_added", "rule"),
		}
		e.Type, e.Failure = lesson.Failures, f
		e.Text = strings.Join(slices.DeleteFunc([]string{f.Title, firstField(m, "description"), firstField(m, "root_cause"), f.Lesson, f.Rule}, func(s string) bool { return s == "" }), "\n")
		if agents := textsOf(m["agents"]); len(agents) > 0 {
			e.Agent = agents[0]
		}
	case e.Text == "":
		r.addProblem(n, "the note has no text")
	case !slices.Contains(lesson.Types(), e.Type) && e.Agent != "":
		e.Type = lesson.AgentLearnings
	case !slices.Contains(lesson.Types(), e.Type):
		e.Type = lesson.SharedContext
	}
	r.add(e)
}

// readSettings reads project-context.yaml.
func (r *reader) readSettings(file string) {
	var all map[string]any
	if err := yaml.Unmarshal([]byte(placeholder.ReplaceAllString(file, "")), &all); err != nil {
		r.addProblem(0, "the file is not read: %v", err)
	}
	p := objectIn(all, "project")
	r.Project = Project{Name: firstField(p, "name"), Type: firstField(p, "type"), Description: firstField(p, "description"), Stack: textsOf(p["stack"])}
	for _, v := range listOf(p["repos"]) {
		repo := objectOf(v, "path")
		r.Project.Repos = append(r.Project.Repos, Repo{firstField(repo, "name"), strings.ReplaceAll(firstField(repo, "path"), `\`, "/"), firstField(repo, "default_branch")})
	}
	r.User = User{firstField(objectIn(all, "user"), "name"), firstField(objectIn(all, "user"), "language")}
	for _, v := range listOf(objectIn(all, "agents")["custom_agents"]) {
		a := objectOf(v, "id")
		r.addAgent(Agent{ID: firstField(a, "id", "name"), Name: firstField(a, "name"), Icon: firstField(a, "icon"), Domain: firstField(a, "domain")})
	}
}

// objectIn returns an object inside another, listOf the values of a list, objectOf an object that may be
// written as the main field alone.
func objectIn(m map[string]any, name string) map[string]any {
	p, _ := m[name].(map[string]any)
	return p
}
func listOf(v any) []any { l, _ := v.([]any); return l }
func objectOf(v any, main string) map[string]any {
	if m, ok := v.(map[string]any); ok {
		return m
	}
	return map[string]any{main: v}
}

// firstField returns the first field of an object with a plain value.
func firstField[V any](m map[string]V, names ...string) string {
	for _, name := range names {
		switch v := any(m[name]).(type) {
		case nil, []any, map[string]any:
		case string:
			if v = strings.TrimSpace(v); v != "" && !isRemark(v) {
				return v
			}
		default:
			return fmt.Sprint(v)
		}
	}
	return ""
}

// textsOf returns the texts in a list, or in one text with commas.
func textsOf(v any) (out []string) {
	if s, ok := v.(string); ok {
		return splitWords(s)
	}
	for _, one := range listOf(v) {
		if s := firstField(objectOf(one, "name"), "name"); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// readManifest reads the table of the installed agents.
func (r *reader) readManifest(file string) {
	rows, err := csvtable.Read(file)
	for _, row := range rows {
		r.addAgent(Agent{ID: firstField(row, "name"), Name: firstField(row, "displayName"), Icon: firstField(row, "icon"), Domain: firstField(row, "title", "role")})
	}
	if err != nil {
		r.addProblem(0, "the rest of the file is not read: %v", err)
	}
}

var (
	// wiring matches the names of an agent in the steps of the persona.
	wiring = pattern.New(`(AGENT_TAG|AGENT_NAME|LEARNINGS_FILE)[ \t]*=[ \t]*["']?([^"'|\n<{}]+)`)
	// opening matches the tag that the persona begins with, attribute one of its attributes.
	opening   = pattern.New(`<agent[ \t][^>]*>`)
	attribute = pattern.New(`(name|title|icon)="([^"]*)"`)
)

// readPersona reads the names of an agent from the agent's own file.
func (r *reader) readPersona(file string) {
	found := map[string]string{}
	for _, m := range append(attribute.FindAllStringSubmatch(opening.FindString(file), 3), wiring.FindAllStringSubmatch(file, 20)...) {
		if found[m[1]] == "" {
			found[m[1]] = strings.Trim(m[2], "` \t\r")
		}
	}
	r.addAgent(Agent{
		ID: trimEnding(r.path), Tag: agentName(found["AGENT_TAG"]), Learnings: agentName(strings.TrimSuffix(found["LEARNINGS_FILE"], ".md")),
		Name: cmp.Or(found["name"], found["AGENT_NAME"]), Icon: found["icon"], Domain: found["title"],
	})
}

// mergeAgent adds an agent to the known ones, or the names to the agent if it is one of them.
func mergeAgent(known []Agent, a Agent) []Agent {
	for i := range known {
		k := &known[i]
		byOtherName := a.Tag == "" && (a.ID == k.Learnings || a.ID == k.Tag)
		if byOtherName || a.ID == k.ID {
			k.Tag, k.Learnings, k.Name = cmp.Or(k.Tag, a.Tag), cmp.Or(k.Learnings, a.Learnings), cmp.Or(k.Name, a.Name)
			k.Icon, k.Domain = cmp.Or(k.Icon, a.Icon), cmp.Or(k.Domain, a.Domain)
			return known
		}
	}
	return append(known, a)
}

// Names returns the names under which the notes of the agent are kept, in lower case.
func (a Agent) Names() (out []string) {
	for _, name := range []string{a.ID, a.Tag, a.Learnings, agentName(a.Name)} {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Aliases returns the names of an agent among notes: all names of every agent that has the name, and the name
// itself. known is false if no agent has it.
func (c Content) Aliases(name string) (names []string, known bool) {
	name = agentName(name)
	names = []string{name}
	for _, a := range c.Agents {
		own := a.Names()
		if !slices.Contains(own, name) {
			continue
		}
		known = true
		for _, n := range own {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names, known
}

// The statuses of branches and runs.
const (
	Active    = "active"
	Completed = "completed"
	Failed    = "failed"
)

// Branch is a line of work with runs. The name is the folder's: the file in it may be a copy of another
// branch's.
type Branch struct {
	Name, Purpose, Parent string
	Created               time.Time
	Over                  bool // it was merged or archived
	Path                  string
}

// Run is one execution of a workflow of a kit. ID and Branch are names of folders.
type Run struct {
	ID, Branch, Status string
	Updated            time.Time
	// State has the descriptive fields of the file.
	State map[string]any
	Path  string
}

// Stage names the current step, for example 4/8, or "" if the file has none.
func (r Run) Stage() string {
	step, steps := firstField(r.State, "current_step"), firstField(r.State, "total_steps")
	if step != "" && steps != "" {
		return step + "/" + steps
	}
	return step
}

// Status returns the status of a branch, which is the status of its runs unless it is over.
func (b Branch) Status(runs []Run) string {
	var last Run
	done := true
	for _, r := range runs {
		if r.Branch == b.Name {
			done = done && r.Status == Completed
			if last.ID == "" || r.Updated.After(last.Updated) {
				last = r
			}
		}
	}
	switch {
	case last.Status == Failed:
		return Failed
	case b.Over, last.ID != "" && done:
		return Completed
	}
	return Active
}

// archived matches the date at the end of an archived branch's name.
var archived = pattern.New(`-\d{8}$`)

// runFolders returns the names of the folders above a file, below .runs.
func (r *reader) runFolders() (folders []string, over bool) {
	_, below, _ := strings.Cut(path.Dir(r.path), "/.runs/")
	if folders = strings.Split(below, "/"); len(folders) > 1 && folders[0] == "archive" {
		folders[1] = archived.ReplaceAllString(folders[1], "")
		return folders[1:], true
	}
	return folders, false
}

// readJSON reads a file with one JSON object.
func (r *reader) readJSON(file string) map[string]any {
	var value any
	if err := json.Unmarshal([]byte(file), &value); err != nil {
		r.addProblem(faultAt(file, err), "the file is not JSON: %v", err)
		return nil
	}
	m, ok := value.(map[string]any)
	if !ok {
		r.addProblem(1, "the file is not a JSON object")
	}
	return m
}

// readBranch reads branch.json.
func (r *reader) readBranch(file string) {
	folders, over := r.runFolders()
	b := Branch{Name: path.Join(folders...), Over: over, Path: r.path}
	if m := r.readJSON(file); firstField(m, "branch") == b.Name {
		b.Purpose, b.Parent, b.Created = firstField(m, "purpose"), firstField(m, "parent_branch"), readDate(firstField(m, "created_at"))
		b.Over = over || firstField(m, "status") == "merged"
	}
	r.Branches = []Branch{b}
}

// stateFields are the fields of a run shown to people.
var stateFields = []string{
	"workflow_path", "status", "started_at", "last_checkpoint", "checkpoint_id",
	"steps_completed", "current_step", "total_steps", "resume_from_step",
	"artefacts_produced", "issues", "agent_notes",
}

// readRun reads state.json. A run is active if it is paused or of unknown status.
func (r *reader) readRun(file string) {
	folders, over := r.runFolders()
	m := r.readJSON(file)
	if m == nil {
		return
	}
	last := len(folders) - 1
	run := Run{ID: folders[last], Branch: path.Join(folders[:last]...), Status: Active, State: map[string]any{}, Path: r.path}
	if s := strings.ToLower(firstField(m, "status")); s == Completed || s == Failed {
		run.Status = s
	} else if over {
		run.Status = Completed
	}
	run.Updated = readDate(firstField(m, "last_checkpoint", "started_at"))
	run.Branch = cmp.Or(run.Branch, firstField(m, "session_branch"), "main") // older kits have no folder for it
	for _, name := range stateFields {
		if m[name] != nil {
			run.State[name] = m[name]
		}
	}
	r.Runs = []Run{run}
}
