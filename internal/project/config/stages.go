package config

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// stageSetting is a setting of one stage.
type stageSetting struct {
	name string
	// isFor reports whether a stage has it; nil if each has. refuse is the error for one that has
	// not, with the list of those that have.
	isFor  func(*workflow.Definition, workflow.Stage) bool
	refuse func(stage string, have lang.Text) error
}

// stageSettings are those of one stage, sorted by name.
var stageSettings = []stageSetting{
	{"approvers", (*workflow.Definition).Gated, noGate},
	{name: "engines"},
	{"four_eyes", (*workflow.Definition).Gated, noGate},
	{"gate", (*workflow.Definition).Gated, noGate},
	{"gate_score", func(_ *workflow.Definition, st workflow.Stage) bool { return isScored(st) }, func(stage string, have lang.Text) error {
		return lang.Errorf("stage %q has no score gate; gate_score is for %s", stage, have)
	}},
	{name: "pause"},
	{"quorum", (*workflow.Definition).Gated, noGate},
	{"verify", isVerified, func(stage string, have lang.Text) error {
		return lang.Errorf("stage %q is not verified; verify is for %s", stage, have)
	}},
}

func noGate(stage string, _ lang.Text) error { return lang.Errorf("stage %q has no gate", stage) }

// stageKeys lists the names of the settings of a stage.
func stageKeys() []string {
	out := make([]string, len(stageSettings))
	for i, s := range stageSettings {
		out[i] = s.name
	}
	return out
}

// applyToStage applies a setting of one stage.
func (l *loader) applyToStage(stage, name string, e entry) error {
	if !slices.Contains(l.StageIDs(), stage) {
		return unknownName(lang.T("unknown stage %q", stage), stage, l.StageIDs(), lang.T("valid stages: %s", strings.Join(l.StageIDs(), ", ")))
	}
	at := slices.Index(stageKeys(), name)
	if at < 0 {
		return unknownName(lang.T("unknown key %q", name), name, stageKeys(), lang.T("valid keys of a stage: %s", strings.Join(stageKeys(), ", ")))
	}
	if e.err != nil {
		return e.err
	}
	id, s, key, values := workflow.StageID(stage), stageSettings[at], e.key, e.values
	if s.isFor != nil {
		if have := l.stagesWith(s.isFor); !slices.Contains(have, id) {
			return s.refuse(stage, listStages(have))
		}
	}
	switch {
	case name == "engines":
		return l.setEngines(id, key, values)
	case len(values) != 1 && name != "approvers":
		return lang.Errorf("%s takes one value, not %d", key, len(values))
	case name == "verify":
		setVerify(l, id, values[0])
		return nil
	}
	return setRule(l.rules.layers[l.from].stage(id), name, key, strings.Join(values, ","))
}

// listStages lists stages as "a, b and c".
func listStages(ids []workflow.StageID) lang.Text {
	texts := make([]lang.Text, len(ids))
	for i, id := range ids {
		texts[i] = lang.T("%s", id)
	}
	if last := len(texts) - 1; last > 0 {
		return lang.T("%s and %s", lang.Join(texts[:last], ", "), texts[last])
	}
	return lang.Join(texts, ", ")
}

func (l *loader) setEngines(stage workflow.StageID, key string, values []string) error {
	var engines []workflow.Engine
	for _, v := range values {
		e := workflow.Engine(v)
		if !slices.Contains(workflow.Engines(), e) || slices.Contains(engines, e) {
			return lang.Errorf("%s: %q is not one of claude, codex, each at most once", key, v)
		}
		engines = append(engines, e)
	}
	if len(engines) == 0 {
		return lang.Errorf("%s names no worker; valid workers: claude, codex", key)
	}
	l.rules.engines[stage], l.origins[key] = engines, l.at
	return nil
}
