package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/gitsource"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Guard limits the say in a setting that a project's file has, which an assistant can write.
type Guard string

// The guards of settings. A setting with none is the project's to change.
const (
	// Tighten: it can only make the setting stricter.
	Tighten Guard = "tighten"
	// PersonOnly: it has no say.
	PersonOnly Guard = "person"
	// PersonFirst: it counts if the person has set nothing.
	PersonFirst Guard = "first"
)

var guards = map[string]Guard{
	"gate": Tighten, "gate_score": Tighten, "audit_floor": Tighten, "scoring": Tighten, "pause": Tighten, "verdict": Tighten, "proved": Tighten,
	"max_rework": Tighten, "max_iterations": Tighten, "form_timeout": Tighten, "host_confirm": Tighten, "memory": Tighten,
	"checks": PersonOnly, "provider": PersonOnly, "model": PersonOnly, "base_url": PersonOnly, "cost_limit": PersonOnly, "projects": PersonOnly, "toolsets": PersonOnly,
	"memory_dir": PersonOnly, "memory_embeddings": PersonOnly, "memory_embedding_model": PersonOnly, "memory_qdrant": PersonOnly,
	"verify": PersonFirst, "rubrics": PersonFirst, "workflow": PersonFirst, "language": PersonFirst,
}

// Setting is a setting in force.
type Setting struct {
	Key, Value string
	// By is its setter; "" for a default.
	By    workflow.Setter
	Guard Guard
}

// setters name the sources of settings.
var setters = [layers]workflow.Setter{user: workflow.SetByPerson, own: workflow.SetByProject, environment: workflow.SetByEnvironment}

// apply is set, and notes whose value holds.
func (c *Config) apply(key string, values []string, base string) error {
	if strings.Contains(key, ".") { // of a stage: its layers say whose it is
		return c.set(key, values, base)
	}
	before := c.value(key)
	if err := c.set(key, values, base); err != nil {
		return err
	}
	if after := c.value(key); after != before || c.setBy[key] == "" && !c.isRefused(key) {
		c.setBy[key] = setters[c.from]
	}
	return nil
}

// isRefused reports whether the source that is being read has no say in a setting.
func (c *Config) isRefused(key string) bool { return c.from == own && guards[key] == PersonOnly }

// value returns the value of a setting that is not of one stage; "" for any other.
func (c *Config) value(key string) string {
	all := map[string]any{
		"workflow": c.Workflow, "language": c.Language, "document_language": c.DocumentLanguage, "personas": c.Personas, "memory": c.Memory, "memory_dir": c.MemoryDir,
		"memory_embeddings": c.MemoryEmbeddings, "memory_embedding_model": c.MemoryEmbeddingModel, "memory_qdrant": c.MemoryQdrant,
		"max_rework": c.MaxRework, "max_iterations": c.MaxIterations, "form_timeout": c.FormTimeout, "lock_timeout": c.LockTimeout, "verify_timeout": c.VerifyTimeout,
		"verify_output_bytes": c.VerifyOutput, "max_submission_bytes": c.MaxSubmission, "log_level": strings.ToLower(c.LogLevel.String()), "host_confirm": c.HostConfirm,
		"prompts": c.Prompts, "rubrics": c.Rubrics, "provider": c.Model.Provider, "model": c.Model.Name, "base_url": c.Model.BaseURL, "projects": strings.Join(c.Projects, ", "),
	}
	switch key {
	case "toolsets":
		return strings.Trim(fmt.Sprint(c.Toolsets), "[]")
	case "checks":
		return strings.Join(c.Checks, "; ")
	case "cost_limit":
		if c.Model.CostLimit > 0 {
			return c.Model.CostLimit.String()
		}
	case "sources":
		var out []string
		for _, address := range slices.Concat(c.Sources, c.OwnSources) {
			if spec, err := gitsource.Parse(address); err == nil {
				out = append(out, spec.String())
			}
		}
		return strings.Join(out, ", ")
	}
	if v, ok := all[key]; ok {
		return fmt.Sprint(v)
	}
	return ""
}

// Effective lists the settings in force, each with its setter: those of all stages, and those of the stages of
// the workflow for runs that name none. Empty ones are left out.
func (c *Config) Effective() []Setting {
	var out []Setting
	for _, key := range topKeys {
		if v := c.value(key); v != "" {
			out = append(out, Setting{key, v, c.setBy[key], c.guard(key)})
		}
	}
	w, err := c.Find(c.Workflow)
	if err != nil {
		return out // the settings name it, and the person is told elsewhere
	}
	for _, st := range c.Under(w.Definition).Stages {
		out = append(out, c.ofStage(st)...)
	}
	return out
}

// guard returns the guard of a setting. The project may choose the rounds and the time of forms if the person
// has not.
func (c *Config) guard(key string) Guard {
	if slices.Contains([]string{"max_rework", "max_iterations", "form_timeout"}, key) && !c.byPerson[key] {
		return ""
	}
	return guards[key]
}

// ofStage lists the settings of a stage that has its policy applied.
func (c *Config) ofStage(st workflow.Stage) (out []Setting) {
	add := func(key, value string, by func(workflow.Policy) string) {
		s := Setting{Key: "stages." + string(st.ID) + "." + key, Value: value, Guard: guards[key]}
		for _, from := range []source{user, environment, own} {
			if s.By == "" && by(c.layers[from].policy(st.ID)) == value {
				s.By = setters[from]
			}
		}
		if value != "" {
			out = append(out, s)
		}
	}
	text := func(score *float64) string {
		if score == nil {
			return ""
		}
		return fmt.Sprint(*score)
	}
	if st.Gate != workflow.GateNone {
		add("gate", string(st.Mode), func(p workflow.Policy) string { return string(p.Gate) })
	}
	if st.Gate == workflow.GateScore {
		add("gate_score", fmt.Sprint(st.GateScore), func(p workflow.Policy) string { return text(p.GateScore) })
		add("scoring", string(st.Scoring), func(p workflow.Policy) string { return string(p.Scoring) })
	}
	if st.Gate == workflow.GateVerdict {
		add("verdict", string(st.Verdict), func(p workflow.Policy) string { return string(p.Verdict) })
		add("proved", string(st.Proved), func(p workflow.Policy) string { return string(p.Proved) })
	}
	add("audit_floor", text(st.AuditFloor), func(p workflow.Policy) string { return text(p.AuditFloor) })
	add("pause", string(st.Pause), func(p workflow.Policy) string { return string(p.Pause) })
	if command := c.Verify[st.ID]; command != "" {
		out = append(out, Setting{"stages." + string(st.ID) + ".verify", command, c.VerifyBy[st.ID], PersonFirst})
	}
	return out
}
