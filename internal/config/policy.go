package config

import (
	"cmp"
	"fmt"
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

// setters name the sources of settings.
var setters = [layers]workflow.Setter{user: workflow.SetByPerson, own: workflow.SetByProject, environment: workflow.SetByEnvironment}

// rules are the settings of stages.
type rules struct {
	layers  [layers]layer
	engines map[workflow.StageID][]workflow.Engine
	scoring workflow.ScoringMode // of [Source]
}

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
	p.Gate = cmp.Or(p.Gate, l.all.Gate)
	p.Scoring = cmp.Or(p.Scoring, l.all.Scoring)
	p.Pause = cmp.Or(p.Pause, l.all.Pause)
	p.Verdict = cmp.Or(p.Verdict, l.all.Verdict)
	p.Proved = cmp.Or(p.Proved, l.all.Proved)
	p.AuditFloor = cmp.Or(p.AuditFloor, l.all.AuditFloor)
	return p
}

// inForce returns the policy of a stage, and the one that the project's file asks for. The
// person configures it in their own file and in the environment; if both set a rule, the
// stricter one holds, because a program that starts ours can set a variable more easily than
// change the person's file. The other rules have their defaults. The project's file can only
// tighten the result.
func (r *rules) inForce(st workflow.Stage) (force, project workflow.Policy) {
	person := r.layers[user].policy(st.ID).Stricter(r.layers[environment].policy(st.ID))
	defaults := st.Policy()
	person.Gate = cmp.Or(person.Gate, defaults.Gate)
	person.Scoring = cmp.Or(person.Scoring, r.scoring, defaults.Scoring)
	person.GateScore = cmp.Or(person.GateScore, defaults.GateScore)
	person.Pause = cmp.Or(person.Pause, workflow.PauseGates)
	person.Verdict = cmp.Or(person.Verdict, workflow.VerdictRows)
	person.Proved = cmp.Or(person.Proved, workflow.ProvedNone)
	person.AuditFloor = cmp.Or(person.AuditFloor, defaults.AuditFloor)
	project = r.layers[own].policy(st.ID)
	if !st.Floored() { // a floor for all stages is for those that have one
		person.AuditFloor, project.AuditFloor = nil, nil
	}
	return person.Stricter(project), project
}

// policyRule is a rule of a policy, by the name of its setting.
type policyRule struct {
	name string
	// isFor reports whether the gate of a stage has the rule.
	isFor func(st workflow.Stage) bool
	// value returns the rule of a policy; "" if it sets none.
	value func(p workflow.Policy) string
	// set reads the value v of the setting with the key.
	set func(p *workflow.Policy, key, v string) error
}

var policyRules = []policyRule{
	{
		"gate", isGated, func(p workflow.Policy) string { return string(p.Gate) },
		func(p *workflow.Policy, key, v string) error { return pick(&p.Gate, key, v, workflow.GateModes()) },
	},
	{
		"gate_score", isScored, func(p workflow.Policy) string { return showPoints(p.GateScore) },
		func(p *workflow.Policy, key, v string) error { return setPoints(&p.GateScore, key, v) },
	},
	{
		"scoring", isScored, func(p workflow.Policy) string { return string(p.Scoring) },
		func(p *workflow.Policy, key, v string) error {
			return pick(&p.Scoring, key, v, workflow.ScoringModes())
		},
	},
	{
		"verdict", isJudged, func(p workflow.Policy) string { return string(p.Verdict) },
		func(p *workflow.Policy, key, v string) error {
			return pick(&p.Verdict, key, v, workflow.VerdictModes())
		},
	},
	{
		"proved", isJudged, func(p workflow.Policy) string { return string(p.Proved) },
		func(p *workflow.Policy, key, v string) error { return pick(&p.Proved, key, v, workflow.Proofs()) },
	},
	{
		"audit_floor", workflow.Stage.Floored, func(p workflow.Policy) string { return showPoints(p.AuditFloor) },
		func(p *workflow.Policy, key, v string) error { return setPoints(&p.AuditFloor, key, v) },
	},
	{
		"pause", func(workflow.Stage) bool { return true }, func(p workflow.Policy) string { return string(p.Pause) },
		func(p *workflow.Policy, key, v string) error { return pick(&p.Pause, key, v, workflow.PauseModes()) },
	},
}

func isGated(st workflow.Stage) bool  { return st.Gate != workflow.GateNone }
func isScored(st workflow.Stage) bool { return st.Gate == workflow.GateScore }
func isJudged(st workflow.Stage) bool { return st.Gate == workflow.GateVerdict }

func showPoints(points *float64) string {
	if points == nil {
		return ""
	}
	return fmt.Sprint(*points)
}

// listIgnored describes the rules of a project that did not take effect at a stage.
func listIgnored(st workflow.Stage, project, force workflow.Policy) []lang.Text {
	var out []lang.Text
	for _, r := range policyRules {
		asked, holds := r.value(project), r.value(force)
		if r.isFor(st) && asked != "" && asked != holds {
			out = append(out, lang.T("%s: %s %v of %s does not count, %v holds: the project's file can only tighten",
				st.ID, r.name, asked, ProjectFile, holds))
		}
	}
	return out
}

// setRule sets the rule of a name, whose setting has a key.
func setRule(p *workflow.Policy, name, key, v string) error {
	i := slices.IndexFunc(policyRules, func(r policyRule) bool { return r.name == name })
	return policyRules[i].set(p, key, v)
}

// setPoints sets a score.
func setPoints(to **float64, key, v string) error {
	n, err := strconv.ParseFloat(v, 64)
	// Written so that NaN is rejected too.
	if err != nil || !(n >= 0 && n <= 100) {
		return lang.Errorf("%s %q is not a number from 0 to 100", key, v)
	}
	*to = &n
	return nil
}
