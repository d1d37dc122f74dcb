package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Checked are the rules by which a check of a repository takes decisions: those of one project's file alone, in
// which nothing of the person or of this machine has a say.
type Checked struct {
	// Assurance is the least of a decision.
	Assurance workflow.Assurance
	rules     layer
}

// checkedRules are the rules of gates that a check can follow by a statement.
var checkedRules = []string{"approvers", "four_eyes", "gate", "quorum"}

// ReadChecked reads the rules from the text of a project's file. Its other settings do not matter, and are not
// looked at.
func ReadChecked(text []byte) (Checked, error) {
	c := Checked{}
	least := ""
	err := eachSetting(ProjectFile, text, func(e entry) error {
		key, values, parts := e.key, e.values, strings.Split(e.key, ".")
		name, of := parts[len(parts)-1], &c.rules.all
		switch {
		case key != "check_assurance" && !slices.Contains(checkedRules, name):
			return nil
		case e.err != nil:
			return e.err
		case key == "check_assurance":
			return pick(&least, key, strings.Join(values, ","), assurances())
		case len(parts) == 3 && parts[0] == "stages":
			of = c.rules.stage(workflow.StageID(parts[1]))
		case len(parts) != 1:
			return nil
		}
		return setRule(of, name, key, strings.Join(values, ","))
	})
	c.Assurance = workflow.Assurance(cmp.Or(least, string(workflow.AssuranceLow)))
	return c, err
}

// Policy returns the rules for a stage.
func (c Checked) Policy(stage workflow.StageID) workflow.Policy { return c.rules.policy(stage) }

// assurances are the values of check_assurance, the loosest first.
func assurances() []string {
	return workflow.Names([]workflow.Assurance{workflow.AssuranceLow, workflow.AssuranceMedium, workflow.AssuranceHigh})
}
