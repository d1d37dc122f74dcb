package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
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

// kinds are the kinds of origins of their values.
var kinds = [layers]string{user: FromUser, own: FromProject, environment: FromVariable}

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
	var p workflow.Policy
	if set := l.stages[id]; set != nil {
		p = *set
	}
	return completePolicy(p, l.all)
}

// completePolicy returns a policy with the rules of another where it sets none.
func completePolicy(p, other workflow.Policy) workflow.Policy {
	p.Gate = cmp.Or(p.Gate, other.Gate)
	p.Scoring = cmp.Or(p.Scoring, other.Scoring)
	p.GateScore = cmp.Or(p.GateScore, other.GateScore)
	p.Pause = cmp.Or(p.Pause, other.Pause)
	p.Proved = cmp.Or(p.Proved, other.Proved)
	p.AuditFloor = cmp.Or(p.AuditFloor, other.AuditFloor)
	p.FourEyes, p.Quorum = cmp.Or(p.FourEyes, other.FourEyes), cmp.Or(p.Quorum, other.Quorum)
	if p.Approvers == nil {
		p.Approvers = other.Approvers
	}
	return p
}

// unset are the rules of a gate if nobody sets others.
var unset = workflow.Policy{Pause: workflow.PauseGates, Proved: workflow.ProvedNone}

// inForce returns the policy of a stage, and the one that the project's file asks for. The
// person configures it in their own file and in the environment; if both set a rule, the
// stricter one holds, because a program that starts ours can set a variable more easily than
// change the person's file. The other rules have their defaults. The project's file can only
// tighten the result.
func (r *rules) inForce(st workflow.Stage) (force, project workflow.Policy) {
	person := r.layers[user].policy(st.ID).Stricter(r.layers[environment].policy(st.ID))
	defaults := st.Policy()
	defaults.Approvers, defaults.FourEyes, defaults.Quorum = nil, nil, 0
	defaults.Pause, defaults.Proved = "", "" // the settings decide them, whatever a session has
	person.Scoring = r.scoring
	person = completePolicy(completePolicy(person, defaults), unset)
	project = r.layers[own].policy(st.ID)
	if !st.Floored() { // a floor for all stages is for those that have one
		person.AuditFloor, project.AuditFloor = nil, nil
	}
	return person.Stricter(project), project
}

// policyRule is a rule of a policy, by the name of its setting. All other settings are of no weight for the decision at a
// gate, or the project's file has no say in them.
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
	wordRule("gate", isGated, workflow.GateModes, func(p *workflow.Policy) *workflow.GateMode { return &p.Gate }),
	pointsRule("gate_score", isScored, func(p *workflow.Policy) **float64 { return &p.GateScore }),
	wordRule("ran", isJudged, workflow.Proofs, func(p *workflow.Policy) *workflow.Proof { return &p.Proved }),
	pointsRule("audit_floor", workflow.Stage.Floored, func(p *workflow.Policy) **float64 { return &p.AuditFloor }),
	{"approvers", isGated, func(p workflow.Policy) string { return strings.Join(p.Approvers, ", ") }, setApprovers},
	{"four_eyes", isGated, fourEyes, setFourEyes},
	{"quorum", isGated, quorumRule, setQuorum},
	wordRule("pause", func(workflow.Stage) bool { return true }, workflow.PauseModes, func(p *workflow.Policy) *workflow.PauseMode { return &p.Pause }),
}

// wordRule returns a rule that is one of a few words.
func wordRule[T ~string](name string, isFor func(workflow.Stage) bool, valid func() []T, field func(*workflow.Policy) *T) policyRule {
	return policyRule{
		name, isFor,
		func(p workflow.Policy) string { return string(*field(&p)) },
		func(p *workflow.Policy, key, v string) error { return pick(field(p), key, v, valid()) },
	}
}

// pointsRule returns a rule that is a score.
func pointsRule(name string, isFor func(workflow.Stage) bool, field func(*workflow.Policy) **float64) policyRule {
	value := func(p workflow.Policy) string {
		if n := *field(&p); n != nil {
			return fmt.Sprint(*n)
		}
		return ""
	}
	set := func(p *workflow.Policy, key, v string) error {
		n, err := strconv.ParseFloat(v, 64)
		// Written so that NaN is rejected too.
		if err != nil || !(n >= 0 && n <= 100) {
			return lang.Errorf("%s %q is not a number from 0 to 100", key, v)
		}
		*field(p) = &n
		return nil
	}
	return policyRule{name, isFor, value, set}
}

func isGated(st workflow.Stage) bool  { return st.Gate != workflow.GateNone }
func isScored(st workflow.Stage) bool { return st.Gate == workflow.GateScore }
func isJudged(st workflow.Stage) bool { return st.Gate == workflow.GateVerdict }

// setApprovers sets the accounts whose yes counts, given with commas between.
func setApprovers(p *workflow.Policy, key, v string) error {
	p.Approvers = nil
	for name := range strings.SplitSeq(v, ",") {
		if name = strings.TrimSpace(name); name == "" || len(name) > 100 || slices.Contains(p.Approvers, name) {
			return lang.Errorf("%s %q does not name accounts of this system, each once", key, visible.Cut(v, 80, "…"))
		}
		p.Approvers = append(p.Approvers, name)
	}
	return nil
}

func fourEyes(p workflow.Policy) string {
	if p.FourEyes == nil {
		return ""
	}
	return strconv.FormatBool(*p.FourEyes)
}

func setFourEyes(p *workflow.Policy, key, v string) error {
	var word string
	err := pick(&word, key, v, []string{"true", "false"})
	p.FourEyes = new(word == "true")
	return err
}

func quorumRule(p workflow.Policy) string {
	if p.Quorum == 0 {
		return ""
	}
	return strconv.Itoa(p.Quorum)
}

// maxQuorum bounds the people whose yes a gate wants.
const maxQuorum = 20

func setQuorum(p *workflow.Policy, key, v string) (err error) {
	if p.Quorum, err = strconv.Atoi(v); err != nil || p.Quorum < 1 || p.Quorum > maxQuorum {
		return lang.Errorf("%s %q is not a whole number from %d to %d", key, v, 1, maxQuorum)
	}
	return nil
}

// checkApprovers refuses rules by which nobody could let a stage pass.
func (r *rules) checkApprovers(st workflow.Stage, force workflow.Policy) error {
	if force.Approvers == nil || len(force.Approvers) > 0 {
		return nil
	}
	var lists []string
	for from, name := range []string{user: UserFile, own: ProjectFile, environment: "BMAD_*"} {
		if accounts := r.layers[from].policy(st.ID).Approvers; accounts != nil {
			lists = append(lists, fmt.Sprintf("%s (%s)", strings.Join(accounts, ", "), name))
		}
	}
	return fault.New(fault.InvalidArgument, "nobody could let %s pass: no account is among all of its approvers, %s", st.ID, strings.Join(lists, "; ")).
		WithHint("name one account that is in each of them; nothing was changed")
}

// Unmet names the stages that nothing of an approver can ever pass. never is true if nothing at all can pass one.
func (c *Config) Unmet() (out []Notice, never bool) {
	w, err := c.Find(c.Workflow)
	if err != nil {
		return nil, false // it is told elsewhere
	}
	for _, st := range w.Definition.Stages {
		force, _ := c.rules.inForce(st)
		if !w.Definition.Gated(st) || force.Approvers == nil || !force.TooFew(force.Approvers[:1]...) { // all of them are alike
			continue
		}
		what := lang.T("it can never be passed: %d approvers have to say yes, and there are %d", max(force.Quorum, 1), len(force.Approvers))
		if force.TooFew() {
			never = true
		} else {
			what = lang.T("what one of %s hands in can never pass (four_eyes): %d approvers have to say yes, and %d are left",
				strings.Join(force.Approvers, ", "), max(force.Quorum, 1), len(force.Approvers)-1)
		}
		out = append(out, Notice{lang.T("%s", st.ID), what})
	}
	return out, never
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
