package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// Kind is the kind of an item.
type Kind string

// The kinds of items.
const (
	Agent    Kind = "agent"
	Workflow Kind = "workflow"
	Task     Kind = "task"
)

// kinds are all of them, in the order of lists.
var kinds = []Kind{Agent, Workflow, Task}

// kindWords name one item of a kind in a sentence, and several.
var kindWords = map[Kind][2]lang.Text{
	Agent: {lang.T("agent"), lang.T("agents")}, Workflow: {lang.T("workflow"), lang.T("workflows")}, Task: {lang.T("task"), lang.T("tasks")},
}

// Text names the kind in a sentence.
func (k Kind) Text() lang.Text { return kindWords[k][0] }

// plural names several items of the kind in a sentence.
func (k Kind) plural() lang.Text { return kindWords[k][1] }

// Project is the name of the caller's project as a source. Addresses of files in it do not name the source.
const Project = "project"

// Item is an agent, a workflow or a task.
type Item struct {
	Kind Kind `json:"kind,omitempty"`
	// Name is the item's name in the method, for example "analyst" or "bmad-agent-analyst".
	Name   string `json:"name"`
	Module string `json:"module,omitempty"`
	// Title is a role ("Business Analyst") or a name for people; DisplayName is the name of an agent's
	// person ("Mary").
	Title       string `json:"title,omitempty"`
	DisplayName string `json:"display_name,omitempty"`
	Icon        string `json:"icon,omitempty"`
	Description string `json:"description,omitempty"`
	// Phase is the item's phase of the method: analysis, planning, solutioning, implementation, anytime; ""
	// if unknown.
	Phase string `json:"phase,omitempty"`
	// Category is the phase, or [OtherCategory].
	Category string `json:"category"`
	// Codes are the item's codes in the method's menus, for example CP.
	Codes []string `json:"codes,omitempty"`
	// Aliases are other names it is known by: ids, commands, names of earlier versions.
	Aliases []string `json:"aliases,omitempty"`
	// Author is the author of a workflow, if the file names one and a list asked for it.
	Author string `json:"author,omitempty"`
	// OfferedBy names the agents whose menus have a workflow or task, if a list asked for them.
	OfferedBy []string `json:"offered_by,omitempty"`
	// Source names the source.
	Source string `json:"source,omitempty"`
	// URI is the address of the entry file; "" for an agent defined only in a configuration.
	URI string `json:"uri,omitempty"`

	// Path is the entry file in the source, and Dir the item's folder.
	Path string `json:"path,omitempty"`
	Dir  string `json:"-"`
	// Skill is true for a folder with SKILL.md.
	Skill bool `json:"-"`
	// listed reports whether a manifest of the installation lists the item.
	listed bool
	// thin reports whether only a workflow.md makes the skill a workflow: in 6.2 tasks have one too.
	thin bool

	// Origin and Installation hold the item.
	Origin       *Origin       `json:"-"`
	Installation *Installation `json:"-"`
	// others are names for want of another item with them: the name in the text of an agent renamed by the
	// project, and the parts of an item.
	others []string
	// intents maps codes and names, also earlier ones, to the part of the item meant by them.
	intents map[string]string
}

// Intent returns the part of the item meant by a name, for example "create intent"; "" means all of it.
func (i Item) Intent(name string) string {
	for old, intent := range i.intents {
		if normalName(name) == normalName(old) || normalName(name) == withoutPrefix(old) {
			return intent
		}
	}
	return ""
}

func (i *Item) setIntent(name, part string) {
	if i.intents == nil {
		i.intents = map[string]string{}
	}
	i.intents[name] = part
}

// Short returns the name without the prefix of the method.
func (i Item) Short() string { return withoutPrefix(i.Name) }

// Full returns the name with the module in front.
func (i Item) Full() string {
	if i.Module == "" {
		return i.Name
	}
	return i.Module + "/" + i.Name
}

// enrich adds the details of another description of the same item.
func (i *Item) enrich(other *Item) {
	i.Title, i.DisplayName, i.Icon = cmp.Or(i.Title, other.Title), cmp.Or(i.DisplayName, other.DisplayName), cmp.Or(i.Icon, other.Icon)
	i.Description, i.Phase = cmp.Or(i.Description, other.Description), cmp.Or(i.Phase, other.Phase)
	for _, code := range other.Codes {
		i.Codes = format.AppendNew(i.Codes, code)
	}
	for _, name := range append(slices.Clone(other.Aliases), other.Name) {
		if name != i.Name {
			i.Aliases = format.AppendNew(i.Aliases, name)
		}
	}
}

// applyRow adds the details of a row of the agents' manifest.
func (i *Item) applyRow(r format.Row) {
	i.DisplayName, i.Title, i.Icon = r.Plain("displayName"), r.Plain("title"), r.Plain("icon")
	i.Description = cmp.Or(r.Plain("capabilities", "description"), r.Plain("role"))
	i.Aliases = format.AppendNew(i.Aliases, r["canonicalId"])
	if file := format.Stem(i.Path); i.Path != "" && file != i.Name && file != "SKILL" {
		i.Aliases = format.AppendNew(i.Aliases, file)
	}
}

// applyRoster adds the details of an agent with a skill from a configuration. The name in the skill remains
// one of the agent's names: the person may use either.
func (i *Item) applyRoster(a roster) {
	if a.Name != "" && i.DisplayName != "" && a.Name != i.DisplayName {
		i.others = format.AppendNew(i.others, i.DisplayName)
	}
	i.DisplayName, i.Title, i.Icon = cmp.Or(a.Name, i.DisplayName), cmp.Or(a.Title, i.Title), cmp.Or(a.Icon, i.Icon)
	i.Description = cmp.Or(a.says, i.Description)
}

// applyParts adds the parts of an item. The item gets the title of the main purpose, and is found by the
// names of the other parts too, for example the status of a sprint.
func (i *Item) applyParts(parts []helpPart) {
	title := parts[0].name
	for _, p := range parts {
		if p.mode == "" {
			title = p.name
			break
		}
	}
	i.Title = cmp.Or(title, i.Title)
	for _, p := range parts {
		if len(parts) == 1 || p.mode == "" {
			continue
		}
		i.setIntent(p.code, p.mode)
		if p.name != i.Title {
			i.setIntent(p.name, p.mode)
			i.others = format.AppendNew(i.others, p.name)
		}
	}
}

// helpPart is one purpose of an item, with a code and a name. mode names the purpose; "" is the main one.
type helpPart struct{ code, name, mode string }

func kindRank(k Kind) int { return slices.Index(kinds, k) }

// withoutPrefix returns a name without the prefix of the method.
func withoutPrefix(name string) string {
	s := strings.ToLower(strings.TrimSpace(name))
	for _, prefix := range []string{"bmad-agent-", "bmad-"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok && rest != "" {
			return rest
		}
	}
	return s
}

// phaseIn returns the phase named in a text of the method, for example "2-plan-workflows".
func phaseIn(texts ...string) string {
	for _, t := range texts {
		switch t = strings.ToLower(t); t { // as the help of 6.12 has them
		case "plan":
			return "planning"
		case "ship":
			return "implementation"
		}
		for _, p := range []struct{ mark, phase string }{
			{"1-analysis", "analysis"}, {"2-plan", "planning"}, {"3-solution", "solutioning"}, {"4-implement", "implementation"},
			{"analysis", "analysis"}, {"planning", "planning"}, {"solutioning", "solutioning"}, {"implementation", "implementation"}, {"anytime", "anytime"},
			{"/plan/", "planning"}, {"/ship/", "implementation"},
		} {
			if strings.Contains(t, p.mark) {
				return p.phase
			}
		}
	}
	return ""
}

// OtherCategory is the category of items without a phase.
const OtherCategory = "other"

// setStableKind gives a skill the same kind in every version of the method: the skills of a phase are
// workflows. The files of a skill change from version to version, its place in the method does not.
func (i *Item) setStableKind() {
	switch {
	case !i.Skill || i.Kind == Agent:
	case slices.Contains([]string{"analysis", "planning", "solutioning", "implementation"}, i.Phase), slices.Contains(sessions, withoutPrefix(i.Name)):
		i.Kind = Workflow
	case i.thin && i.Module == "core":
		i.Kind = Task
	}
}

// sessions are the method's workflows for any phase that lack a workflow's files in some versions.
var sessions = []string{"advanced-elicitation", "brainstorming", "party-mode"}

// roster is an agent as a configuration describes it.
type roster struct {
	Module, Name, Title, Icon, Description string
	// file is the first file with a description of the agent.
	file string
	// own reports whether the user added or changed the agent; says is the user's description of the agent,
	// or "".
	own  bool
	says string
}

// normalName returns a name in the form for comparisons: people write names with spaces, capitals and the mark
// of a command, menus with the mark of a skill, and texts as file names.
func normalName(name string) string {
	name = strings.TrimPrefix(strings.Trim(dashes.Replace(strings.ToLower(format.OneLine(name))), "*/-"), "skill:")
	for _, ext := range []string{".md", ".xml", ".yaml"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

var dashes = strings.NewReplacer(" ", "-", "_", "-")

func shorten(name string) string { return visible.Fit(format.OneLine(name), 100) }
