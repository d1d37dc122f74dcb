package memory

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/untrusted"
)

// ProjectContext describes a project as a whole, as far as its files do.
type ProjectContext struct {
	// Status is "empty" if nothing is known; Hint has the next step then.
	Status       string            `json:"status,omitempty"`
	Hint         string            `json:"hint,omitempty"`
	Project      *grimoire.Project `json:"project,omitempty"`
	User         *UserFacts        `json:"user,omitempty"`
	Agents       []AgentFacts      `json:"agents,omitempty"`
	Decisions    []DecisionFacts   `json:"decisions,omitempty"`
	Architecture *ArchitectureRef  `json:"architecture,omitempty"`
	Sources      []string          `json:"sources,omitempty"`
	Problems     []notes.Problem   `json:"problems,omitempty"`
}

// UserFacts describe the person.
type UserFacts struct {
	Name     string `json:"name,omitempty"`
	Language string `json:"language,omitempty"`
}

// DecisionFacts are one decision.
type DecisionFacts struct {
	Date       string `json:"date,omitempty"`
	Text       string `json:"text"`
	Suspicious bool   `json:"suspicious,omitempty"`
	Source     string `json:"source"`
}

// ArchitectureRef is the project's architecture, or the beginning of the document that has it.
type ArchitectureRef struct {
	Text   string `json:"text"`
	Source string `json:"source"`
}

// sections are those of a project's context.
var sections = []string{"all", "stack", "agents", "decisions", "architecture"}

// maxArchitecture bounds the text of the architecture, in bytes.
const maxArchitecture = 3000

// Context returns a section of the project's description, or all of it.
func (b *Book) Context(ctx context.Context, section string) (ProjectContext, error) {
	section = cmp.Or(section, sections[0])
	if !slices.Contains(sections, section) {
		return ProjectContext{}, fault.New(fault.InvalidArgument, "%q is not a section of the project's context", label(section)).
			WithHint("use one of %s", strings.Join(sections, ", ")).Suggest(section, sections)
	}
	v, err := b.view(ctx, "", 0)
	if err != nil {
		return ProjectContext{}, err
	}
	defer v.close()
	wanted := func(s string) bool { return section == sections[0] || section == s }
	decisions := v.rank(func(n placed) bool { return n.Type == notes.Decisions })
	kit, agents := v.files.content, v.agents()
	design := architecture(b.p.Dir, kit)
	out := fit(maxCount, func(items, text int) ProjectContext {
		out := ProjectContext{Problems: v.amiss()}
		if wanted("stack") {
			out.Project = projectFacts(kit.Project, items, text)
		}
		if wanted("agents") {
			out.Agents = agents[:min(len(agents), items)]
		}
		if wanted("decisions") {
			for _, n := range decisions[:min(len(decisions), items)] {
				out.Decisions = append(out.Decisions, DecisionFacts{date(n.UpdatedAt), untrusted.Shown(n.Text, text), n.Suspicious(), v.source(n)})
			}
		}
		if wanted("architecture") && design != nil {
			out.Architecture = &ArchitectureRef{untrusted.Shown(design.Text, 5*text), design.Source}
		}
		if section == sections[0] {
			if kit.User+kit.Language != "" {
				out.User = &UserFacts{label(kit.User), label(kit.Language)}
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
	p.Name, p.Type, p.Description = label(p.Name), label(p.Type), untrusted.Label(p.Description, text)
	stack, repos := p.Stack, p.Repos
	p.Stack, p.Repos = []string{}, nil
	for _, s := range stack[:min(len(stack), items)] {
		p.Stack = append(p.Stack, untrusted.Label(s, notes.MaxTag*2))
	}
	for _, r := range repos[:min(len(repos), items)] {
		p.Repos = append(p.Repos, grimoire.Repo{Name: label(r.Name), Path: label(r.Path), Branch: label(r.Branch)})
	}
	return &p
}

// architecture returns the section of the shared context, or else the newest document of a run.
func architecture(dir *durable.Dir, kit grimoire.Content) *ArchitectureRef {
	if a := kit.Architecture; a.Text != "" {
		return &ArchitectureRef{a.Text, grimoire.Place(a.Path, a.Line)}
	}
	names, err := fs.Glob(dir.Tree(), ".claude/specs/*/02-system-architecture.md")
	if err != nil {
		return nil
	}
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
