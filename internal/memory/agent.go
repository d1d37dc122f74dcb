package memory

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// AgentMemory is what an agent has learned in a project.
type AgentMemory struct {
	Agent string `json:"agent"`
	// Aliases are the other names under which its notes are kept.
	Aliases   []string   `json:"aliases"`
	Learnings []Learning `json:"learnings"`
	Total     int        `json:"total"`
	// Files are those that have its notes.
	Files    []string  `json:"files"`
	Note     string    `json:"note"`
	Problems []Problem `json:"problems,omitempty"`
}

// Learning is one thing that an agent has learned.
type Learning struct {
	ID         string   `json:"id"`
	Date       string   `json:"date,omitempty"`
	Text       string   `json:"text"`
	Tags       []string `json:"tags,omitempty"`
	Suspicious bool     `json:"suspicious,omitempty"`
	Source     string   `json:"source"`
}

// Agent returns what an agent has learned, under any of its names: the newest first or, with a
// query, the closest first. lastN is from 1 to 50; 0 is 10.
func (b *Book) Agent(ctx context.Context, agent, query string, lastN int) (AgentMemory, error) {
	if err := CheckAgent(agent); err != nil {
		return AgentMemory{}, err
	}
	v, err := b.view(ctx, query, lastN)
	if err != nil {
		return AgentMemory{}, err
	}
	defer v.close()
	names, known := v.kit.Aliases(agent)
	found := v.ranked(func(n placed) bool {
		return n.Type == AgentLearnings && slices.Contains(names, strings.ToLower(n.Agent))
	})
	if !known && v.total == 0 && !slices.ContainsFunc(v.agents(), func(name string) bool { return strings.EqualFold(name, agent) }) {
		return AgentMemory{}, v.unknown(agent)
	}
	out := AgentMemory{Agent: names[0], Aliases: append([]string{}, names[1:]...), Total: v.total, Files: []string{}, Note: Warning, Problems: v.problems}
	for _, n := range found {
		if file, _, _ := strings.Cut(n.source, ":"); !slices.Contains(out.Files, file) {
			out.Files = append(out.Files, file)
		}
	}
	return fit(len(found), func(items, text int) AgentMemory {
		out.Learnings = []Learning{}
		for _, n := range found[:items] {
			out.Learnings = append(out.Learnings, Learning{n.ID, date(n.UpdatedAt), shown(n.Text, text), shownAll(n.Tags[:min(len(n.Tags), maxTags)]), n.Suspicious(), n.source})
		}
		return out
	}), nil
}

// agents lists the agents that have notes or are installed, and the stages of the project's
// workflows, which are agents too.
func (v *view) agents() []string {
	var out []string
	add := func(name string) {
		if name = strings.ToLower(name); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, a := range v.kit.Agents {
		add(a.ID)
		add(a.Tag)
	}
	for _, n := range v.all {
		if _, alias := v.kit.Aliases(n.Agent); n.Type == AgentLearnings && !alias {
			add(n.Agent)
		}
	}
	for _, w := range v.book.p.Config.Workflows {
		if w.Definition != nil && w.Name == v.book.p.Config.Workflow {
			for _, st := range w.Definition.Stages {
				add(string(st.ID))
			}
		}
	}
	slices.Sort(out)
	return out
}

// maxNamed is how many names an error lists.
const maxNamed = 20

func (v *view) unknown(agent string) error {
	there := v.agents()
	e := fault.New(fault.NotFound, "the project knows no agent %q", agent)
	if len(there) == 0 {
		return e.WithHint("nobody has learned anything in this project yet; remember_structured keeps the first note")
	}
	return e.WithHint("there are: %s", strings.Join(there[:min(len(there), maxNamed)], ", ")).Suggest(agent, there)
}

// placed is a note with its place.
type placed struct {
	*Note
	key, source string
	failure     *grimoire.Failure
}

// view is the notes of a project while one call reads them.
type view struct {
	book     *Book
	kit      grimoire.Content
	all      []placed // the newest first
	problems []Problem
	query    string
	count    int // how many are wanted
	total    int // how many there were
}

// Limits of the lists of notes.
const (
	defaultCount = 10
	maxCount     = 50
)

// view reads the notes for a call, which closes it.
func (b *Book) view(ctx context.Context, query string, count int) (*view, error) {
	v := &view{book: b, query: strings.TrimSpace(query), count: count}
	switch {
	case count == 0:
		v.count = defaultCount
	case count < 1 || count > maxCount:
		return nil, fault.New(fault.InvalidArgument, "%d notes are wanted; it can be from 1 to %d", count, maxCount).WithHint("leave it out for %d", defaultCount)
	}
	if len(query) > maxQuery {
		return nil, fault.New(fault.InvalidArgument, "query has %d bytes; at most %d are looked for", len(query), maxQuery).WithHint("say in a few words what you look for")
	}
	if err := b.allowed(); err != nil {
		return nil, err
	}
	s := b.notes
	s.mu.Lock()
	if err := b.current(ctx); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	if v.query != "" {
		b.indexed()
	}
	v.kit, v.problems = s.kit, b.problems()
	v.problems = v.problems[:min(len(v.problems), maxProblems)]
	now := b.m.Now()
	for key, e := range s.entries {
		if n := e.live(); n != nil && !n.Expired(now) {
			v.all = append(v.all, placed{Note: n, key: key.name(), source: b.source(key.name(), e)})
		}
	}
	slices.SortFunc(v.all, func(a, b placed) int { return newest(*a.Note, *b.Note) })
	for i := range slices.Backward(s.cabinet.notes) { // later lines are newer
		f := &s.cabinet.notes[i]
		v.all = append(v.all, placed{&f.Note, foreignName(f.ID), f.Source, f.Failure})
	}
	slices.SortStableFunc(v.all, func(a, b placed) int { return b.UpdatedAt.Compare(a.UpdatedAt.Time) })
	return v, nil
}

func (v *view) close() { v.book.notes.mu.Unlock() }

// ranked returns those notes that are wanted, as many as are: the newest first, or those that fit
// the query, the best first. It counts all in total.
func (v *view) ranked(wanted func(placed) bool) (out []placed) {
	byKey := map[string]placed{}
	for _, n := range v.all {
		if wanted(n) {
			out = append(out, n)
			byKey[n.key] = n
		}
	}
	if v.total = len(out); v.query != "" {
		out = nil
		for _, h := range v.book.notes.index.Search(v.query, v.count, func(key string) bool { return byKey[key].Note != nil }) {
			out = append(out, byKey[h.Key])
		}
	}
	return out[:min(len(out), v.count)]
}

// maxReply is how many bytes the JSON of a reply may have.
const maxReply = 14_000

// fit returns a reply with as many items and as much of their texts as it can hold; form makes it
// of numbers of them.
func fit[T any](items int, form func(items, text int) T) (out T) {
	for _, most := range []struct{ items, text int }{{maxCount, maxShownText}, {maxCount, 300}, {maxCount, 120}, {20, 120}, {10, 120}, {3, 120}} {
		out = form(min(items, most.items), most.text)
		if data, err := json.Marshal(out); err != nil || len(data) <= maxReply {
			break
		}
	}
	return out
}

// label is a text as it is shown in one line.
func label(text string, most int) string { return shown(visible.Line(text), most) }
