package config

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// source is the origin of a setting.
type source int

const (
	user source = iota
	own         // the project's file
	environment
	layers
)

// layer has the policies that one source sets. Empty fields set nothing.
type layer struct {
	all    workflow.Policy
	stages map[workflow.StageID]*workflow.Policy
}

func (l *layer) stage(id workflow.StageID) *workflow.Policy {
	if l.stages == nil {
		l.stages = map[workflow.StageID]*workflow.Policy{}
	}
	if l.stages[id] == nil {
		l.stages[id] = &workflow.Policy{}
	}
	return l.stages[id]
}

// policy returns the rules that the source sets for one stage: its own settings take precedence over
// those for all stages.
func (l *layer) policy(id workflow.StageID) workflow.Policy {
	p := *l.stage(id)
	if p.Gate == "" {
		p.Gate = l.all.Gate
	}
	if p.Scoring == "" {
		p.Scoring = l.all.Scoring
	}
	if p.Pause == "" {
		p.Pause = l.all.Pause
	}
	p.Verdict = cmp.Or(p.Verdict, l.all.Verdict)
	p.Proved = cmp.Or(p.Proved, l.all.Proved)
	if p.AuditFloor == nil {
		p.AuditFloor = l.all.AuditFloor
	}
	return p
}

// inForce returns the policy of a stage, and the one that the project's file asks for. The
// person configures it in their own file and in the environment; if both set a rule, the
// stricter one holds, because a program that starts ours can set a variable more easily than
// change the person's file. The other rules have their defaults. The project's file can only
// tighten the result.
func (c *Config) inForce(st workflow.Stage) (force, project workflow.Policy) {
	person := c.layers[user].policy(st.ID).Stricter(c.layers[environment].policy(st.ID))
	defaults := st.Policy()
	if person.Gate == "" {
		person.Gate = defaults.Gate
	}
	if person.Scoring == "" {
		person.Scoring = cmp.Or(c.scoring, defaults.Scoring)
	}
	if person.GateScore == nil {
		person.GateScore = defaults.GateScore
	}
	if person.Pause == "" {
		person.Pause = workflow.PauseGates
	}
	person.Verdict = cmp.Or(person.Verdict, workflow.VerdictRows)
	person.Proved = cmp.Or(person.Proved, workflow.ProvedNone)
	if person.AuditFloor == nil {
		person.AuditFloor = defaults.AuditFloor
	}
	project = c.layers[own].policy(st.ID)
	if !st.Floored() { // a floor for all stages is for those that have one
		person.AuditFloor, project.AuditFloor = nil, nil
	}
	return person.Stricter(project), project
}

// settle notes the settings of the project's file that do not take effect.
func (c *Config) settle() {
	for _, st := range c.stages() {
		force, project := c.inForce(st)
		for _, text := range listIgnored(st, project, force) {
			c.note(text)
		}
	}
}

// listIgnored describes the settings of a project that did not take effect.
func listIgnored(st workflow.Stage, project, force workflow.Policy) []lang.Text {
	var out []lang.Text
	skip := func(key string, given, holds any) {
		out = append(out, lang.T("%s: %s %v of %s does not count, %v holds: the project's file can only tighten",
			st.ID, key, given, ProjectFile, holds))
	}
	if st.Gate != workflow.GateNone && project.Gate != "" && project.Gate != force.Gate {
		skip("gate", project.Gate, force.Gate)
	}
	if st.Gate == workflow.GateScore && project.Scoring != "" && project.Scoring != force.Scoring {
		skip("scoring", project.Scoring, force.Scoring)
	}
	if project.Pause != "" && project.Pause != force.Pause {
		skip("pause", project.Pause, force.Pause)
	}
	if st.Gate == workflow.GateVerdict && project.Verdict != "" && project.Verdict != force.Verdict {
		skip("verdict", project.Verdict, force.Verdict)
	}
	if st.Gate == workflow.GateVerdict && project.Proved != "" && project.Proved != force.Proved {
		skip("proved", project.Proved, force.Proved)
	}
	if st.Gate == workflow.GateScore && project.GateScore != nil && *project.GateScore != *force.GateScore {
		skip("gate_score", *project.GateScore, *force.GateScore)
	}
	if project.AuditFloor != nil && *project.AuditFloor != *force.AuditFloor {
		skip("audit_floor", *project.AuditFloor, *force.AuditFloor)
	}
	return out
}

// ignore notes that a setting of the project's file does not count.
func (c *Config) ignore(what lang.Text) { c.ignoreBecause(what, lang.T("yours holds")) }

func (c *Config) ignoreBecause(what, why lang.Text) {
	c.note(lang.T("%s of %s does not count: %s", what, ProjectFile, why))
}

// note notes a text once.
func (c *Config) note(text lang.Text) {
	if !slices.ContainsFunc(c.Ignored, func(known lang.Text) bool { return known.String() == text.String() }) {
		c.Ignored = append(c.Ignored, text)
	}
}

// setPolicy applies a setting that holds for every stage.
func (c *Config) setPolicy(key, v string) error {
	if key == "host_confirm" {
		return c.setHostConfirm(v)
	}
	return setPolicy(&c.layers[c.from].all, key, key, v)
}

// setPolicy sets the rule of a name, whose setting has a key.
func setPolicy(p *workflow.Policy, name, key, v string) error {
	switch name {
	case "gate":
		return pick(&p.Gate, key, v, workflow.GateModes())
	case "scoring":
		return pick(&p.Scoring, key, v, workflow.ScoringModes())
	case "verdict":
		return pick(&p.Verdict, key, v, workflow.VerdictModes())
	case "proved":
		return pick(&p.Proved, key, v, workflow.Proofs())
	case "gate_score":
		return points(&p.GateScore, key, v)
	case "audit_floor":
		return points(&p.AuditFloor, key, v)
	default:
		return pick(&p.Pause, key, v, workflow.PauseModes())
	}
}

// points sets a score.
func points(to **float64, key, v string) error {
	n, err := strconv.ParseFloat(v, 64)
	// Written so that NaN is rejected too.
	if err != nil || !(n >= 0 && n <= 100) {
		return lang.Errorf("%s %q is not a number from 0 to 100", key, v)
	}
	*to = &n
	return nil
}

// setHostConfirm accepts a project's value only if it tightens: a tool whose calls count as a
// person's must not be listed because a repository asks for it.
func (c *Config) setHostConfirm(v string) error {
	given := c.HostConfirm
	if err := pick(&given, "host_confirm", v, []HostConfirm{HostConfirmAuto, HostConfirmAlways, HostConfirmNever}); err != nil {
		return err
	}
	if c.from == own && given != HostConfirmNever {
		if given != c.HostConfirm {
			c.Ignored = append(c.Ignored, lang.T("host_confirm %s of %s does not count: set it in your own file", given, ProjectFile))
		}
		return nil
	}
	c.HostConfirm = given
	return nil
}
