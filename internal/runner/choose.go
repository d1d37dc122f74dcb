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

// choose returns the engine for a stage. available is ordered, the likeliest first; builder is the
// engine whose work st judges, "" if there is none or it is not known.
func choose(st workflow.Stage, objective string, f Flags, available []string, builder string) (choice, error) {
	if name := cmp.Or(f.EngineFor[st.ID], f.Engine, Auto); name != Auto {
		why := lang.T("--engine asks for it")
		if f.EngineFor[st.ID] != "" {
			why = lang.T("--engine-for asks for it")
		}
		if !slices.Contains(available, name) {
			return choice{}, notHere(name, available)
		}
		return choice{name, why}, nil
	}
	if len(available) == 0 {
		return choice{}, fault.New(fault.InvalidArgument, "there is no engine to work with: neither claude nor codex is on the PATH, and no API key is set").
			WithHint("install Claude Code (https://claude.com/claude-code) and log in; or install Codex and log in; or set ANTHROPIC_API_KEY, or OPENAI_API_KEY, for --engine api or openai. bmad-mcp demo --run shows a run without any")
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

// engines lists the engines that a run can have, and how to get each.
var engines = []struct {
	name string
	get  lang.Text
}{
	{"claude", lang.T("install Claude Code")}, {"codex", lang.T("install Codex")}, {"api", lang.T("set ANTHROPIC_API_KEY")},
	{"openai", lang.T("set OPENAI_API_KEY, or name a server of your own with the setting base_url")},
}

// notHere returns the refusal of an engine that is not available.
func notHere(name string, available []string) error {
	names, list := []string{Auto}, []lang.Text{lang.T("%s", Auto)}
	for _, known := range available {
		names, list = append(names, known), append(list, lang.T("%s", known))
	}
	why := lang.T("there is none of this name")
	for _, e := range engines {
		if slices.Contains(available, e.name) {
			continue
		}
		names, list = append(names, e.name), append(list, lang.T("%s (not here: %s)", e.name, e.get))
		if e.name == name {
			why = lang.T("it is not here")
		}
	}
	err := fault.New(fault.InvalidArgument, "the engine %q cannot be used: %s", name, why).WithHint("the engines are: %s", lang.Join(list, ", "))
	if slices.Contains(names, name) {
		return err
	}
	return err.Suggest(name, names)
}

// author returns the engine under whose name a worker's text is handed in: the worker's own if the
// workflow knows it, else the first that the stage asks for.
func author(worker string, st workflow.Stage, objective string) workflow.Engine {
	if e := workflow.Engine(worker); slices.Contains(workflow.Engines(), e) {
		return e
	}
	return st.EnginesFor(objective)[0]
}
