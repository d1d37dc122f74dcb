package grimoire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/lesson"
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
	r.User, r.Language = field(part(all, "user"), "name"), field(part(all, "user"), "language")
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
func field(m map[string]any, names ...string) string {
	for _, name := range names {
		switch v := m[name].(type) {
		case nil, []any, map[string]any:
		case string:
			if v = strings.TrimSpace(v); v != "" && !placeholder.MatchString(v) {
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
