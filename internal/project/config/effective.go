package config

import (
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Setting is a setting in force.
type Setting struct {
	Key, Value string
	// By is its setter; "" for a default.
	By    workflow.Setter
	Guard Guard
}

// Effective lists the settings in force, each with its setter: those of all stages, and those of the stages of
// the workflow for runs that name none. Empty ones are left out.
func (c *Config) Effective() []Setting {
	var out []Setting
	for _, s := range settings {
		if v := s.show(c); v != "" {
			out = append(out, Setting{s.key, v, c.setBy[s.key], c.guard(s)})
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

// guard returns the guard of a setting. The project may choose the rounds if the person has not.
func (c *Config) guard(s setting) Guard {
	if s.key == "max_rounds" && !c.byPerson[s.key] {
		return ""
	}
	return s.guard
}

// ofStage lists the settings of a stage that has its policy applied.
func (c *Config) ofStage(st workflow.Stage) (out []Setting) {
	force, _ := c.rules.inForce(st)
	for _, r := range policyRules {
		value := r.value(force)
		if !r.isFor(st) || value == "" {
			continue
		}
		s := Setting{Key: "stages." + string(st.ID) + "." + r.name, Value: value, Guard: Tighten}
		for _, from := range []source{user, environment, own} {
			if s.By == "" && r.value(c.rules.layers[from].policy(st.ID)) == value {
				s.By = setters[from]
			}
		}
		out = append(out, s)
	}
	if command := c.Verify[st.ID]; command != "" {
		out = append(out, Setting{"stages." + string(st.ID) + ".verify", command, c.VerifyBy[st.ID], PersonFirst})
	}
	return out
}

// SetBy returns who has set a setting that is not of one stage; "" if nobody has.
func (c Config) SetBy(key string) workflow.Setter { return c.setBy[key] }
