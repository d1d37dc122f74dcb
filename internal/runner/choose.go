package runner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Auto lets the run choose the engine of each stage.
const Auto = "auto"

// choice is the engine of a stage, and the reason.
type choice struct {
	Engine string
	Why    lang.Text
}

// choose returns the engine for a stage. available are those that there are, the likeliest first;
// builder is the engine of the stage whose work st judges, "" if it is none or not known.
func choose(st workflow.Stage, objective string, f Flags, available []string, builder string) (choice, error) {
	if name := cmp.Or(f.EngineFor[st.ID], f.Engine, Auto); name != Auto {
		why := lang.T("--engine asks for it")
		if f.EngineFor[st.ID] != "" {
			why = lang.T("--engine-for asks for it")
		}
		if !slices.Contains(available, name) {
			err := fault.New(fault.InvalidArgument, "the engine %q cannot be used: it is not here", name)
			switch name {
			case "api":
				return choice{}, err.WithHint("set ANTHROPIC_API_KEY")
			case "openai":
				return choice{}, err.WithHint("set OPENAI_API_KEY, or name a server of your own with the setting base_url")
			}
			return choice{}, err.WithHint("the engines here are: %s", strings.Join(append(slices.Clone(available), Auto), ", "))
		}
		return choice{name, why}, nil
	}
	if len(available) == 0 {
		return choice{}, noEngine()
	}
	var named []string
	for _, e := range st.EnginesFor(objective) {
		named = append(named, string(e))
	}
	here := func(name string) bool { return slices.Contains(available, name) }
	if other := slices.DeleteFunc(slices.Concat(named, available), func(name string) bool { return name == builder || !here(name) }); builder != "" && len(other) > 0 {
		return choice{other[0], lang.T("the work that it judges is by %s", builder)}, nil
	}
	if i := slices.IndexFunc(named, here); i >= 0 {
		return choice{named[i], lang.T("the workflow names it for this stage")}, nil
	}
	return choice{available[0], lang.T("the workflow names %s, which is not here", strings.Join(named, ", "))}, nil
}

func noEngine() error {
	return fault.New(fault.InvalidArgument, "there is no engine to work with: neither claude nor codex is on the PATH, and no API key is set").
		WithHint("install Claude Code (https://claude.com/claude-code) and log in; or install Codex and log in; or set ANTHROPIC_API_KEY, or OPENAI_API_KEY, for --engine api or openai. bmad-mcp demo --run shows a run without any")
}

// author is the engine under whose name a worker's text is handed in: its own, where the
// workflow has one of the name, else the first that the stage asks for.
func author(worker string, st workflow.Stage, objective string) workflow.Engine {
	if e := workflow.Engine(worker); slices.Contains(workflow.Engines(), e) {
		return e
	}
	return st.EnginesFor(objective)[0]
}
