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

// memories reads a list of notes in one JSON document. If it has a fault, the notes before it are kept.
func (r *reader) memories(text string) {
	d := json.NewDecoder(strings.NewReader(text))
	first, err := d.Token()
	if err == nil && first != json.Delim('[') {
		r.problem(1, "the file is not a list of notes")
		return
	}
	for n, from := 1, 0; err == nil && d.More(); {
		at := int(d.InputOffset())
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], ", \t\n"))
		n, from = n+strings.Count(text[from:at], "\n"), at
		var value any
		if err = d.Decode(&value); err == nil {
			r.record(n, value)
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	if err != nil {
		r.problem(faultAt(text, err), "this is not JSON, so the rest of the file is not read: %v", err)
	}
}

// lines reads a note or a failure from each line.
func (r *reader) lines(text string) {
	for n, l := range strings.Split(text, "\n") {
		var value any
		if err := json.Unmarshal([]byte(l), &value); err == nil {
			r.record(n+1, value)
		} else if strings.TrimSpace(l) != "" {
			r.problem(n+1, "the line is not JSON: %v", err)
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

// record reads one note or failure, with the fields of any of the kits.
func (r *reader) record(n int, value any) {
	m, ok := value.(map[string]any)
	if !ok {
		r.problem(n, "this is not a note")
		return
	}
	about := part(m, "metadata")
	e := Entry{
		Type: cmp.Or(field(m, "type"), field(about, "type")), Agent: cmp.Or(field(m, "agent"), field(about, "agent")), Text: field(m, "text", "memory", "content"), Line: n,
		Tags: append(texts(m["tags"]), texts(about["tags"])...), Date: readDate(field(m, "created_at", "date", "timestamp")),
	}
	switch {
	case m["deleted_at"] != nil:
		return
	case field(m, "failure_id", "root_cause", "rule_added") != "":
		f := &Failure{
			ID: field(m, "failure_id"), Title: field(m, "title"), Category: strings.ToUpper(field(m, "category")), Status: field(m, "status"),
			Severity: SeverityIn(field(m, "severity")), Lesson: field(m, "lesson", "fix"), Rule: field(m, "rule_added", "rule"),
		}
		e.Type, e.Failure = lesson.Failures, f
		e.Text = strings.Join(slices.DeleteFunc([]string{f.Title, field(m, "description"), field(m, "root_cause"), f.Lesson, f.Rule}, func(s string) bool { return s == "" }), "\n")
		if agents := texts(m["agents"]); len(agents) > 0 {
			e.Agent = agents[0]
		}
	case e.Text == "":
		r.problem(n, "the note has no text")
	case !slices.Contains(lesson.Types(), e.Type) && e.Agent != "":
		e.Type = lesson.AgentLearnings
	case !slices.Contains(lesson.Types(), e.Type):
		e.Type = lesson.SharedContext
	}
	r.add(e)
}

// settings reads project-context.yaml.
func (r *reader) settings(file string) {
	var all map[string]any
	if err := yaml.Unmarshal([]byte(placeholder.ReplaceAllString(file, "")), &all); err != nil {
		r.problem(0, "the file is not read: %v", err)
	}
	p := part(all, "project")
	r.Project = Project{Name: field(p, "name"), Type: field(p, "type"), Description: field(p, "description"), Stack: texts(p["stack"])}
	for _, v := range list(p["repos"]) {
		repo := object(v, "path")
		r.Project.Repos = append(r.Project.Repos, Repo{field(repo, "name"), strings.ReplaceAll(field(repo, "path"), `\`, "/"), field(repo, "default_branch")})
	}
	r.User = User{field(part(all, "user"), "name"), field(part(all, "user"), "language")}
	for _, v := range list(part(all, "agents")["custom_agents"]) {
		a := object(v, "id")
		r.agent(Agent{ID: field(a, "id", "name"), Name: field(a, "name"), Icon: field(a, "icon"), Domain: field(a, "domain")})
	}
}

// part returns an object inside another, list the values of a list, object one that may be written
// as its main field alone.
func part(m map[string]any, name string) map[string]any { p, _ := m[name].(map[string]any); return p }
func list(v any) []any                                  { l, _ := v.([]any); return l }
func object(v any, main string) map[string]any {
	if m, ok := v.(map[string]any); ok {
		return m
	}
	return map[string]any{main: v}
}

// field returns the first field of an object that has a plain value.
func field[V any](m map[string]V, names ...string) string {
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

// texts returns the texts in a list, or in one text with commas.
func texts(v any) (out []string) {
	if s, ok := v.(string); ok {
		return words(s)
	}
	for _, one := range list(v) {
		if s := field(object(one, "name"), "name"); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// manifest reads the table of the installed agents.
func (r *reader) manifest(file string) {
	rows, err := csvtable.Read(file)
	for _, row := range rows {
		r.agent(Agent{ID: field(row, "name"), Name: field(row, "displayName"), Icon: field(row, "icon"), Domain: field(row, "title", "role")})
	}
	if err != nil {
		r.problem(0, "the rest of the file is not read: %v", err)
	}
}

var (
	// wiring matches the names of an agent in the steps of its persona.
	wiring = pattern.New(`(AGENT_TAG|AGENT_NAME|LEARNINGS_FILE)[ \t]*=[ \t]*["']?([^"'|\n<{}]+)`)
	// opening matches the tag that the persona begins with, attribute one of its attributes.
	opening   = pattern.New(`<agent[ \t][^>]*>`)
	attribute = pattern.New(`(name|title|icon)="([^"]*)"`)
)

// persona reads the names of an agent from the file that describes it.
func (r *reader) persona(file string) {
	found := map[string]string{}
	for _, m := range append(attribute.FindAllStringSubmatch(opening.FindString(file), 3), wiring.FindAllStringSubmatch(file, 20)...) {
		if found[m[1]] == "" {
			found[m[1]] = strings.Trim(m[2], "` \t\r")
		}
	}
	r.agent(Agent{
		ID: stem(r.path), Tag: agentName(found["AGENT_TAG"]), Learnings: agentName(strings.TrimSuffix(found["LEARNINGS_FILE"], ".md")),
		Name: cmp.Or(found["name"], found["AGENT_NAME"]), Icon: found["icon"], Domain: found["title"],
	})
}

// meet adds an agent to the known ones, or its names to the agent if it is one of them.
func meet(known []Agent, a Agent) []Agent {
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

// Aliases returns the names under which the notes of an agent may be kept: those of every agent
// that has the name, and the name itself. known is false if no agent has it.
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

// Branch is a line of work with runs of its own. Its name is that of its folder: the file in it
// may be a copy of another branch's.
type Branch struct {
	Name, Purpose, Parent string
	Created               time.Time
	Over                  bool // it was merged or archived
	Path                  string
}

// Run is one execution of a workflow of a kit. ID and Branch are the names of its folders.
type Run struct {
	ID, Branch, Status string
	Updated            time.Time
	// State has those fields of the file that describe the run.
	State map[string]any
	Path  string
}

// Stage names the current step, for example 4/8, or "" if the file has none.
func (r Run) Stage() string {
	step, steps := field(r.State, "current_step"), field(r.State, "total_steps")
	if step != "" && steps != "" {
		return step + "/" + steps
	}
	return step
}

// Status returns the status of a branch, which is that of its runs unless it is over.
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

// place returns the names of the folders that a file lies in, below .runs.
func (r *reader) place() (folders []string, over bool) {
	_, below, _ := strings.Cut(path.Dir(r.path), "/.runs/")
	if folders = strings.Split(below, "/"); len(folders) > 1 && folders[0] == "archive" {
		folders[1] = archived.ReplaceAllString(folders[1], "")
		return folders[1:], true
	}
	return folders, false
}

// json reads a file with one JSON object.
func (r *reader) json(file string) map[string]any {
	var value any
	if err := json.Unmarshal([]byte(file), &value); err != nil {
		r.problem(faultAt(file, err), "the file is not JSON: %v", err)
		return nil
	}
	m, ok := value.(map[string]any)
	if !ok {
		r.problem(1, "the file is not a JSON object")
	}
	return m
}

// branch reads branch.json.
func (r *reader) branch(file string) {
	folders, over := r.place()
	b := Branch{Name: path.Join(folders...), Over: over, Path: r.path}
	if m := r.json(file); field(m, "branch") == b.Name {
		b.Purpose, b.Parent, b.Created = field(m, "purpose"), field(m, "parent_branch"), readDate(field(m, "created_at"))
		b.Over = over || field(m, "status") == "merged"
	}
	r.Branches = []Branch{b}
}

// stateFields are the fields of a run that people ask for.
var stateFields = []string{
	"workflow_path", "status", "started_at", "last_checkpoint", "checkpoint_id",
	"steps_completed", "current_step", "total_steps", "resume_from_step",
	"artefacts_produced", "issues", "agent_notes",
}

// run reads state.json. A run is active if it is paused or its status is unknown.
func (r *reader) run(file string) {
	folders, over := r.place()
	m := r.json(file)
	if m == nil {
		return
	}
	last := len(folders) - 1
	run := Run{ID: folders[last], Branch: path.Join(folders[:last]...), Status: Active, State: map[string]any{}, Path: r.path}
	if s := strings.ToLower(field(m, "status")); s == Completed || s == Failed {
		run.Status = s
	} else if over {
		run.Status = Completed
	}
	run.Updated = readDate(field(m, "last_checkpoint", "started_at"))
	run.Branch = cmp.Or(run.Branch, field(m, "session_branch"), "main") // older kits have no folder for it
	for _, name := range stateFields {
		if m[name] != nil {
			run.State[name] = m[name]
		}
	}
	r.Runs = []Run{run}
}
