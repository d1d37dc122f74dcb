package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// settings are those that are not of one stage, sorted by key.
var settings = []setting{
	rule("approvers"),
	rule("audit_floor"),
	address("base_url", func(c *Config) *string { return &c.Model.BaseURL }).personOnly(modelIsTheirs),
	choice("check_assurance", func(c *Config) *string { return &c.CheckAssurance }, assurances),
	{key: "checks", list: true, guard: PersonOnly, set: setChecks, value: func(c *Config) any { return strings.Join(c.Checks, "; ") }},
	setting{key: "cost_limit", set: setCostLimit, value: costLimit}.personOnly(modelIsTheirs),
	choice("document_language", func(c *Config) *string { return &c.DocumentLanguage }, lang.Settings),
	rule("four_eyes"),
	rule("gate"),
	setting{key: "host_confirm", set: setHostConfirm, value: func(c *Config) any { return c.HostConfirm }}.
		personOnly(lang.T("only the person decides whether their host asks them")), // neither value is the tighter one everywhere
	{key: "language", guard: PersonFirst, set: setLanguage, value: func(c *Config) any { return c.Language }},
	setting{key: "max_cost_per_day", set: setMaxCostPerDay, value: maxCostPerDay}.personOnly(fleetIsTheirs),
	{key: "max_rounds", guard: Tighten, set: setMaxRounds, value: maxRounds},
	setting{key: "max_workers", set: setMaxWorkers, value: maxWorkers}.personOnly(fleetIsTheirs),
	{key: "memory", guard: Tighten, set: setMemory, value: func(c *Config) any { return c.Memory }},
	setting{key: "memory_embeddings", set: setEmbeddings, value: embeddings}.personOnly(memoryIsTheirs),
	setting{key: "model", set: setModel, value: func(c *Config) any { return c.Model.Name }}.personOnly(modelIsTheirs),
	{key: "notify", list: true, guard: PersonOnly, set: setNotify, value: func(c *Config) any { return c.Notify.String() }},
	rule("pause"),
	choice("personas", func(c *Config) *string { return &c.Personas }, func() []string { return []string{PersonasOwn, PersonasBMAD} }),
	setting{key: "project", set: setProject, value: func(c *Config) any { return c.Store.Project }}.personOnly(storeIsTheirs),
	setting{key: "projects", list: true, set: setProjects, value: func(c *Config) any { return strings.Join(c.Projects, ", ") }}.
		personOnly(lang.T("only the person decides which folders may be used")),
	choice("proof", func(c *Config) *string { return &c.Proof }, func() []string { return []string{"true", ProofOff, ProofWords} }),
	rule("quorum"),
	rule("ran"),
	choice("replies", func(c *Config) *string { return &c.Replies }, replyForms).personFirst(),
	setting{key: "sign_with", set: setSignWith, value: func(c *Config) any { return c.SignWith }}.personOnly(lang.T("only the person decides which key signs for them")),
	{key: "sources", list: true, set: setSources, value: sources},
	{key: "stages"}, // a block, with the settings of each stage
	{key: "store", guard: Tighten, set: setStore, value: func(c *Config) any { return c.Store.show() }},
	{key: "tool_servers", list: true, guard: PersonOnly, set: setToolServers, value: toolServerNames},
	{key: "toolsets", list: true, guard: PersonOnly, set: setToolsets, value: func(c *Config) any { return strings.Trim(fmt.Sprint(c.Toolsets), "[]") }},
	{key: "verify", guard: PersonFirst, set: setVerifies},
	setting{key: "verify_timeout", set: setVerifyTimeout, value: func(c *Config) any { return c.VerifyTimeout }}.personFirst(),
	{key: "workflow", guard: PersonFirst, set: setWorkflow, value: func(c *Config) any { return c.Workflow }},
}

// fileFirst are the settings of which a variable, which a file of the project can set for a host, does not count beside the
// person's own file: by whom their documents are kept, and what signs and decides in their name.
var fileFirst = []string{"host_confirm", "project", "sign_with", "store"}

// keys lists the keys of the settings.
func keys() []string {
	out := make([]string, len(settings))
	for i, s := range settings {
		out[i] = s.key
	}
	return out
}

// apply applies a setting, and notes whose value holds.
func (l *loader) apply(e entry) error {
	l.at.Line = e.line
	if text, is := replacementOf(e.key); is {
		l.gone = append(l.gone, Notice{l.at.Place(), lang.T("%s is gone: %s", e.key, text)})
		return nil
	}
	key, values := e.key, e.values
	l.mentions = append(l.mentions, Mention{key, withoutSecrets(key, values), l.at})
	if parts := strings.Split(key, "."); parts[0] == "stages" && len(parts) == 3 {
		return l.applyToStage(parts[1], parts[2], e)
	}
	at := slices.IndexFunc(settings, func(s setting) bool { return s.key == key && s.set != nil })
	if at < 0 {
		return unknownKey(key, values)
	}
	if e.err != nil {
		return e.err
	}
	s := settings[at]
	if !s.list && len(values) != 1 {
		return lang.Errorf("%s takes one value, not %d", key, len(values))
	}
	if l.from == environment && slices.Contains(fileFirst, key) && l.origins[key].Kind == FromUser {
		l.note(lang.T("%s of a variable does not count: your own file sets it", key))
		return nil
	}
	before := s.show(l.Config)
	l.refused = false
	if err := s.set(l, values); err != nil {
		return err
	}
	if _, known := l.origins[key]; !l.refused && (!known || s.show(l.Config) != before) {
		l.origins[key] = l.at
	}
	return nil
}

func unknownKey(key string, values []string) error {
	if slices.Contains(stageKeys(), key) {
		return lang.Errorf("%s is a setting of a stage: write it below stages, such as stages: {po: {%s: %s}}", key, key, strings.Join(values, ", "))
	}
	return unknownName(lang.T("unknown key %q", key), key, keys(), lang.T("valid keys: %s", strings.Join(keys(), ", ")))
}
