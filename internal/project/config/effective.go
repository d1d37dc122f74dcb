package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Setting is a setting in force.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin Origin `json:"origin"`
	// Overrides are the other values that are set for it.
	Overrides []Mention `json:"overrides"`
	Guard     Guard     `json:"-"`
	// Changed is true if the value is not the default.
	Changed bool `json:"-"`
}

// Effective lists the settings in force: those of all stages, and of the stages of the workflow for runs that name none
// those that only stages have or that somebody has set for one.
func (c *Config) Effective() []Setting {
	plain := Default()
	var out []Setting
	for _, s := range settings {
		switch {
		case s.value != nil:
			value := s.show(c)
			out = append(out, c.withOverrides(Setting{Key: s.key, Value: value, Origin: c.origins[s.key], Guard: c.guard(s), Changed: value != s.show(&plain)}, s.key))
		case s.key == "verify":
			out = append(out, c.verifySettings()...)
		case s.set != nil:
			out = append(out, c.stageRule(s.key, allStages, s.key))
		}
	}
	w, err := c.Find(c.Workflow)
	if err != nil {
		return out // the settings name it, and the person is told elsewhere
	}
	for _, st := range w.Definition.Stages {
		for _, name := range stageKeys() {
			key := "stages." + string(st.ID) + "." + name
			_, said := c.findMention(key)
			rule := slices.ContainsFunc(policyRules, func(r policyRule) bool { return r.name == name && r.isFor(st) })
			switch {
			case rule && (said || name == "gate_score"):
				out = append(out, c.stageRule(name, st, key, name))
			case name == "engines" && said:
				value := strings.Join(workflow.Names(c.rules.engines[st.ID]), ", ")
				out = append(out, c.withOverrides(Setting{Key: key, Value: value, Origin: c.origins[key], Changed: true}, key))
			}
		}
	}
	return out
}

// allStages stands for any stage, to ask for the rules of all.
var allStages = workflow.Stage{Kind: workflow.KindDocument, Gate: workflow.GateScore}

// guard returns the guard of a setting. The project may choose the rounds if the person has not.
func (c *Config) guard(s setting) Guard {
	if s.key == "max_rounds" && !c.byPerson[s.key] {
		return ""
	}
	return s.guard
}

// stageRule returns the policy rule in force for a stage. keys are the keys which set the rule, the most specific one first;
// of several values the strictest one counts.
func (c *Config) stageRule(name string, st workflow.Stage, keys ...string) Setting {
	r := policyRules[slices.IndexFunc(policyRules, func(r policyRule) bool { return r.name == name })]
	force, _ := c.rules.inForce(st)
	plain, _ := (&rules{scoring: c.rules.scoring}).inForce(st)
	s := Setting{Key: keys[0], Value: r.value(force), Guard: Tighten}
	s.Changed = s.Value != r.value(plain)
	for _, from := range []source{user, environment, own} {
		if value := r.value(c.rules.layers[from].policy(st.ID)); value == "" || s.Origin.Kind != "" || value != s.Value {
			continue
		}
		for _, key := range slices.Backward(keys) {
			if m, said := c.findMention(key, kinds[from]); said {
				s.Origin = m.Origin
			}
		}
	}
	return c.withOverrides(s, keys...)
}

// verifySettings returns the commands that check the work: one for all stages, or one for each if they differ.
func (c *Config) verifySettings() (out []Setting) {
	for _, id := range c.Verified() {
		key := "stages." + string(id) + ".verify"
		s := Setting{Key: key, Value: c.Verify[id], Origin: c.origins[key], Guard: PersonFirst, Changed: c.Verify[id] != ""}
		out = append(out, c.withOverrides(s, key, "verify"))
	}
	alike := func(s Setting) bool {
		_, said := c.findMention(s.Key)
		return !said && s.Value == out[0].Value
	}
	if len(out) == 0 || slices.ContainsFunc(out, func(s Setting) bool { return !alike(s) }) {
		return out
	}
	out[0].Key = "verify"
	return out[:1]
}

// findMention returns the value of a key in the first source of some kinds, or of any kind.
func (c *Config) findMention(key string, kinds ...string) (Mention, bool) {
	at := slices.IndexFunc(c.mentions, func(m Mention) bool {
		return m.Key == key && (len(kinds) == 0 || slices.Contains(kinds, m.Origin.Kind))
	})
	if at < 0 {
		return Mention{}, false
	}
	return c.mentions[at], true
}

// withOverrides returns the setting with the values it overrides, set for one of keys elsewhere.
func (c *Config) withOverrides(s Setting, keys ...string) Setting {
	s.Origin.Kind, s.Overrides = cmp.Or(s.Origin.Kind, FromDefault), []Mention{}
	for _, m := range c.mentions {
		if slices.Contains(keys, m.Key) && m.Origin != s.Origin {
			s.Overrides = append(s.Overrides, m)
		}
	}
	return s
}

// Origin returns the place of a setting's value.
func (c *Config) Origin(key string) Origin { return c.origins[key] }
