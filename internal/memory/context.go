package memory

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// ProjectContext describes a project as a whole, as far as the files do.
type ProjectContext struct {
	// Status is "empty" if nothing is known; Hint has the next step then.
	Status       string            `json:"status,omitempty"`
	Hint         string            `json:"hint,omitempty"`
	Project      *grimoire.Project `json:"project,omitempty"`
	User         *grimoire.User    `json:"user,omitempty"`
	Agents       []AgentFacts      `json:"agents,omitempty"`
	Decisions    []DecisionFacts   `json:"decisions,omitempty"`
	Architecture *ArchitectureRef  `json:"architecture,omitempty"`
	Sources      []string          `json:"sources,omitempty"`
	Problems     []notes.Problem   `json:"problems,omitempty"`
}

// DecisionFacts are one decision.
type DecisionFacts struct {
	Date       string `json:"date,omitempty"`
	Text       string `json:"text"`
	Suspicious bool   `json:"suspicious,omitempty"`
	Source     string `json:"source"`
}

// ArchitectureRef is the project's architecture, or the beginning of the document with it.
type ArchitectureRef struct {
	Text   string `json:"text"`
	Source string `json:"source"`
}

// sections are the sections of a project's context.
var sections = []string{"all", "stack", "agents", "decisions", "architecture"}

// maxArchitecture bounds the text of the architecture, in bytes.
const maxArchitecture = 3000

// Context returns a section of the project's description, or all of it.
func (b *Book) Context(ctx context.Context, section string) (ProjectContext, error) {
	section = cmp.Or(section, sections[0])
	if !slices.Contains(sections, section) {
		return ProjectContext{}, fault.New(fault.InvalidArgument, "%q is not a section of the project's context", shownName(section)).
			WithHint("use one of %s", strings.Join(sections, ", ")).Suggest(section, sections)
	}
	v, err := b.newView(ctx, "", 0)
	if err != nil {
		return ProjectContext{}, err
	}
	defer v.close()
	wanted := func(s string) bool { return section == sections[0] || section == s }
	decisions := holdingFirst(v.rankNotes(func(n placed) bool { return n.Type == notes.Decisions }))
	kit, agents := v.files.content, v.listAgents()
	design := findArchitecture(b.p.Dir, kit)
	out := fitReply(maxCount, func(items, text int) ProjectContext {
		out := ProjectContext{Problems: v.firstProblems()}
		if wanted("stack") {
			out.Project = projectFacts(kit.Project, items, text)
		}
		if wanted("agents") {
			out.Agents = agents[:min(len(agents), items)]
		}
		if wanted("decisions") {
			for _, n := range decisions[:min(len(decisions), items)] {
				out.Decisions = append(out.Decisions, DecisionFacts{formatDay(n.UpdatedAt), untrusted.Shown(n.Text, text), n.Suspicious(), v.sourceOf(n)})
			}
		}
		if wanted("architecture") && design != nil {
			out.Architecture = &ArchitectureRef{untrusted.Shown(design.Text, 5*text), design.Source}
		}
		if section == sections[0] {
			if kit.User != (grimoire.User{}) {
				out.User = &grimoire.User{Name: shownName(kit.User.Name), Language: shownName(kit.User.Language)}
			}
			out.Sources = v.files.sources[:min(len(v.files.sources), items, maxNamed)]
		}
		return out
	})
	if out.Project == nil && out.User == nil && len(out.Agents) == 0 && out.Decisions == nil && out.Architecture == nil {
		out.Status, out.Hint = "empty", b.p.Language("").Say("nothing is known about this yet: describe the project in project-context.yaml, or keep decisions with remember_structured")
	}
	return out, nil
}

// projectFacts returns a description as it is shown; nil if nothing is known.
func projectFacts(p grimoire.Project, items, text int) *grimoire.Project {
	if p.Name+p.Type+p.Description == "" && len(p.Stack)+len(p.Repos) == 0 {
		return nil
	}
	p.Name, p.Type, p.Description = shownName(p.Name), shownName(p.Type), untrusted.Label(p.Description, text)
	stack, repos := p.Stack, p.Repos
	p.Stack, p.Repos = []string{}, nil
	for _, s := range stack[:min(len(stack), items)] {
		p.Stack = append(p.Stack, untrusted.Label(s, notes.MaxTag*2))
	}
	for _, r := range repos[:min(len(repos), items)] {
		p.Repos = append(p.Repos, grimoire.Repo{Name: shownName(r.Name), Path: shownName(r.Path), Branch: shownName(r.Branch)})
	}
	return &p
}

// findArchitecture returns the section of the shared context, or else the newest document of a run.
func findArchitecture(dir *durable.Dir, kit grimoire.Content) *ArchitectureRef {
	if a := kit.Architecture; a.Text != "" {
		return &ArchitectureRef{a.Text, grimoire.Place(a.Path, a.Line)}
	}
	names, _ := fs.Glob(dir.Tree(), ".claude/specs/*/02-system-architecture.md") // the pattern is a good one
	newest, at := "", int64(0)
	for _, name := range names {
		if info, err := dir.Stat(name); err == nil && info.ModTime().UnixNano() > at {
			newest, at = name, info.ModTime().UnixNano()
		}
	}
	data, _, err := durable.ReadHead(dir.Tree(), newest, maxArchitecture)
	if newest == "" || err != nil {
		return nil
	}
	return &ArchitectureRef{string(data), newest}
}

// AgentMemory has the learnings of an agent in a project.
type AgentMemory struct {
	Agent string `json:"agent"`
	// Aliases are the agent's other names among the notes.
	Aliases   []string   `json:"aliases"`
	Learnings []Learning `json:"learnings"`
	Total     int        `json:"total"`
	// NothingClose is true if none of them fits the query.
	NothingClose bool `json:"nothing_close,omitempty"`
	// Files are the files with the notes, at most 20.
	Files    []string        `json:"files"`
	Note     string          `json:"note"`
	Problems []notes.Problem `json:"problems,omitempty"`
}

// AgentFacts describe an agent.
type AgentFacts struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Icon   string `json:"icon,omitempty"`
	Domain string `json:"domain,omitempty"`
	// Learnings is how many notes the agent has.
	Learnings int `json:"learnings,omitempty"`
}

// Learning is one note of an agent.
type Learning struct {
	ID         string   `json:"id"`
	Date       string   `json:"date,omitempty"`
	Text       string   `json:"text"`
	Tags       []string `json:"tags,omitempty"`
	Suspicious bool     `json:"suspicious,omitempty"`
	Source     string   `json:"source"`
}

// Agent returns the notes of an agent, under any of its names: the newest first or, with a
// query, those close to it, the closest first. lastN is from 1 to 50; 0 is 10.
func (b *Book) Agent(ctx context.Context, agent, query string, lastN int) (AgentMemory, error) {
	if err := notes.CheckAgent(agent); err != nil {
		return AgentMemory{}, err
	}
	v, err := b.newView(ctx, query, lastN)
	if err != nil {
		return AgentMemory{}, err
	}
	defer v.close()
	names, known := v.files.content.Aliases(agent)
	files := []string{}
	found := v.rankNotes(func(n placed) bool {
		if n.Type != notes.AgentLearnings || !slices.Contains(names, strings.ToLower(n.Agent)) {
			return false
		}
		source := v.sourceOf(n)
		if file := source[:strings.LastIndexByte(source, ':')]; !slices.Contains(files, file) && len(files) < maxNamed {
			files = append(files, file)
		}
		return true
	})
	writes := func(n placed) bool { return slices.Contains(names, strings.ToLower(n.Agent)) }
	if there := v.agentNames(); !known && !slices.Contains(there, names[0]) && !slices.ContainsFunc(v.sorted, writes) {
		return AgentMemory{}, unknownAgent(agent, there)
	}
	out := AgentMemory{Agent: names[0], Aliases: append([]string{}, names[1:]...), Total: v.matched, NothingClose: v.nothingClose,
		Files: files, Note: Warning, Problems: v.firstProblems()}
	return fitReply(len(found), func(items, text int) AgentMemory {
		out.Learnings = []Learning{}
		for _, n := range found[:items] {
			out.Learnings = append(out.Learnings, Learning{
				n.ID, formatDay(n.UpdatedAt), untrusted.Shown(n.Text, text), shownAll(n.Tags), n.Suspicious(), v.sourceOf(n),
			})
		}
		return out
	}), nil
}

// Known returns the agent of a name, as [Book.Context] lists it.
func (b *Book) Known(ctx context.Context, name string) (AgentFacts, error) {
	v, err := b.newView(ctx, "", 0)
	if err != nil {
		return AgentFacts{}, err
	}
	defer v.close()
	agents := v.listAgents()
	names, _ := v.files.content.Aliases(name)
	for _, alias := range names {
		if i := slices.IndexFunc(agents, func(f AgentFacts) bool { return strings.EqualFold(f.ID, alias) }); i >= 0 {
			return agents[i], nil
		}
	}
	return AgentFacts{}, unknownAgent(name, v.agentNames())
}

// listAgents lists the agents of the kit, and other ones with learnings.
func (v *view) listAgents() (out []AgentFacts) {
	learned := map[string]int{}
	for _, n := range v.sorted {
		if n.Type == notes.AgentLearnings {
			learned[strings.ToLower(n.Agent)]++
		}
	}
	add := func(a grimoire.Agent) {
		f := AgentFacts{ID: shownName(a.ID), Name: shownName(a.Name), Icon: untrusted.Label(a.Icon, notes.MaxTag), Domain: shownName(a.Domain)}
		for _, name := range a.Names() {
			f.Learnings += learned[name]
		}
		out = append(out, f)
	}
	alias := map[string]bool{"": true}
	for _, a := range v.files.content.Agents {
		add(a)
		for _, name := range a.Names() {
			alias[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(learned)) {
		if !alias[name] {
			add(grimoire.Agent{ID: name})
		}
	}
	return out
}

// agentNames lists the names of agents: the names of agents themselves, and the stages of the project's
// workflow, whose notes have the stage for an agent.
func (v *view) agentNames() (out []string) {
	for _, a := range v.listAgents() {
		out = append(out, a.ID)
	}
	for _, a := range v.files.content.Agents {
		out = append(out, a.Tag)
	}
	for _, w := range v.p.Config.Workflows() {
		if w.Definition != nil && w.Name == v.p.Config.Workflow {
			for _, st := range w.Definition.Stages {
				out = append(out, string(st.ID))
			}
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(name string) bool { return name == "" })
}

// maxNamed is how many names an error lists.
const maxNamed = 20

// unknownAgent returns the error for an unknown agent; there are the names of the others.
func unknownAgent(agent string, there []string) error {
	e := fault.New(fault.NotFound, "the project knows no agent %q", agent)
	if len(there) == 0 {
		return e.WithHint("nobody has learned anything in this project yet; remember_structured keeps the first note")
	}
	return e.WithHint("there are: %s", strings.Join(there[:min(len(there), maxNamed)], ", ")).Suggest(agent, there)
}
