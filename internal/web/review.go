package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// review is the pending decision on a document; the zero value if there is none.
type review struct {
	Question *gate.Question
	// Asks and Reasons are the two parts of the line of the question.
	Asks, Reasons string
	// Facts are the lines of the question's text.
	Facts   []fact
	Choices []choice
	// ReadOnly reports whether the dashboard takes no decisions.
	ReadOnly bool
	// Nonce marks this showing of the document, and is good for one decision.
	Nonce string
	// Draft has the unsent words of an earlier visit.
	Draft draft
	// Signs reports whether a passkey can sign the decision; Recent are the passkeys added in the last day.
	Signs  bool
	Recent []passkey.Key
	// Drafts, Source, Decide, Sign, RunHref and Next are addresses; Terminal is the command for a decision at a terminal.
	Drafts, Source, Decide, Sign, RunHref, Next, Terminal string
}

// fact is a line of the question; Under marks an item of a list.
type fact struct {
	Text  string
	Under bool
}

// choice is a decision offered to the person.
type choice struct {
	gate.Choice
	// Effect names the result of the decision.
	Effect string
	// Needs asks for the person's words; "" if the decision requires none.
	Needs string
	// Quiet marks a decision other than the usual one, for example to accept a risk.
	Quiet bool
}

// Weight returns the class of the button: one solid green or blue button a page.
func (c choice) Weight() string {
	switch {
	case c.Quiet:
		return ""
	case c.Decision == workflow.DecisionApprove:
		return "yes"
	}
	return "primary"
}

// addReview adds the pending decision to the page of a document.
func (d *Dashboard) addReview(a *asked, out *documentPage, q gate.Question) error {
	if q.SHA256 != "" && q.SHA256 != workflow.Hash([]byte(out.Round.Text)) {
		return fault.New(fault.Conflict, "the run moved on while the page was put together").WithHint("load the page again")
	}
	s, p := out.Session, out.Project
	doc := p.Document(s.TaskName, out.Stage.ID)
	// Drafts and Draft are set already.
	out.Question, out.ReadOnly = &q, d.door.readOnly
	out.Asks, out.Reasons = splitLead(q.Lead)
	out.Decide, out.Sign, out.RunHref = doc+"/decide", doc+"/sign", p.Run(s.TaskName)
	out.Source = doc + "/source?sha256=" + workflow.Hash([]byte(out.Round.Text))
	out.Next = "/next?" + url.Values{"after": {p.ID + "/" + s.TaskName}}.Encode()
	out.Nonce = d.nonces.add(shownFor{s.SessionID, q.Stage, q.Revision, q.SHA256}, d.door.now())
	out.Terminal = "bmad-mcp decide " + quoteWord(s.TaskName) + " --cwd " + quoteWord(p.Path)
	for line := range strings.SplitSeq(q.Text, "\n") {
		text := strings.TrimLeft(strings.TrimSpace(line), "-• ")
		if text != "" && strings.TrimRight(text, ".。") != q.Lead {
			out.Facts = append(out.Facts, fact{text, text != strings.TrimSpace(line)})
		}
	}
	for _, c := range q.Choices {
		out.Choices = append(out.Choices, d.describeChoice(a, out, q, c))
	}
	if d.o.Passkeys != nil && !d.door.readOnly {
		keys, err := d.o.Passkeys.List()
		if err != nil {
			return err
		}
		out.Signs = len(keys) > 0
		out.Recent, err = d.o.Passkeys.Recent()
		return err
	}
	return nil
}

// quoteWord quotes a text as one word of a command line.
func quoteWord(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// describeChoice returns a choice with a sentence about its effect.
func (d *Dashboard) describeChoice(a *asked, out *documentPage, q gate.Question, c gate.Choice) choice {
	w, st := out.Session.Definition(), out.Stage
	next := ""
	if i := w.Index(st.ID); i+1 < len(w.Stages) {
		next = w.Stages[i+1].Label
	}
	failed := slices.ContainsFunc(q.Choices, func(c gate.Choice) bool { return c.Decision == workflow.DecisionOverride })
	row := choice{Choice: c, Quiet: (c.Decision == workflow.DecisionChanges) != failed}
	switch {
	case c.Decision == workflow.DecisionChanges && st.SendsBackTo != "":
		row.Effect = a.lang.Say("The work goes back to %s with your words and comments.", labelOf(w.Stages, st.SendsBackTo))
	case c.Decision == workflow.DecisionChanges:
		row.Effect = a.lang.Say("The assistant takes up your words and comments, and you are asked again.")
		row.Needs = a.lang.Say("Say what to change, or comment on a line.")
		row.Label = a.lang.Say("Request changes")
	case next == "":
		row.Effect = a.lang.Say("The run is complete.")
	case c.Decision == workflow.DecisionOverride:
		row.Effect = a.lang.Say("The work goes on to %s although it did not pass, on your word; comments go with it.", next)
	default:
		row.Label, _ = splitLead(row.Label) // the effect says the rest
		row.Effect = a.lang.Say("The stage %s begins; comments go to it as notes.", next)
	}
	if c.Reason {
		row.Needs = a.lang.Say("Say why: your reason is recorded.")
	}
	if len(q.Questions) > 0 || c.Offer != nil {
		row.Quiet = true
	}
	return row
}
