package request

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/codediff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Limits of the comments of one decision; texts in bytes. MaxComments bounds all their texts together, without the
// quotes.
const (
	MaxComment      = 500
	MaxQuote        = 200
	MaxComments     = 8000
	MaxCommentCount = 40
)

// commentID reports whether an id has a form that models repeat as it is.
func commentID(id string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	}
	return id != "" && len(id) <= 32 && !strings.ContainsFunc(id, other)
}

// CheckComments returns the comments on a text of the given number of lines, or on the files of a change, in the form of
// the record, or refuses them. An id may be empty.
func CheckComments(comments []workflow.Comment, lines int, code codediff.Changes) ([]workflow.Comment, error) {
	if len(comments) > MaxCommentCount {
		return nil, fault.New(fault.InvalidArgument, "there are %d comments; at most %d are accepted with one decision", len(comments), MaxCommentCount).
			WithHint("join some of them, or say what they have in common in the feedback; nothing was changed")
	}
	out := slices.Clone(comments)
	seen, size := map[string]bool{}, 0
	for i := range out {
		c := &out[i]
		name := lang.T("comment %d", i+1)
		if commentID(c.ID) {
			name = lang.T("comment %s", c.ID)
		}
		lines := lines
		file, known := code.Find(c.File)
		if c.File != "" {
			lines = len(file.Lines())
		}
		switch {
		case c.File != visible.Line(c.File):
			return nil, fault.New(fault.InvalidArgument, "%s: the name of the file %s has hidden characters", name, visible.Line(visible.Fit(c.File, 200))).
				WithHint("say in the feedback what to change in it; nothing was changed")
		case c.File != "" && !known:
			return nil, fault.New(fault.InvalidArgument, "%s: the file %s is not among the changed ones", name, visible.Line(visible.Fit(c.File, 200))).
				WithHint("load the page again: the code may have changed since; nothing was changed")
		}
		if err := checkComment(c, name, lines); err != nil {
			return nil, err
		}
		if err := quoteCode(c, name, file); err != nil {
			return nil, err
		}
		if c.ID != "" && seen[c.ID] {
			return nil, fault.New(fault.InvalidArgument, "two comments have the id %q", c.ID).WithHint("give each an id of its own, or none")
		}
		seen[c.ID], size = true, size+len(c.Text)+len(c.Replace)
	}
	if size > MaxComments {
		return nil, fault.New(fault.InvalidArgument, "the comments have %d bytes together; at most %d are accepted with one decision", size, MaxComments).
			WithHint("shorten some of them, or put the details into a file of the project and name the file; nothing was changed")
	}
	return out, nil
}

// shownQuote is the number of bytes of a quote by which the page's lines are compared with the file: a page
// shortens long ones.
const shownQuote = 60

// quoteCode puts the lines of the file into a comment on code, from which they are found again when they have moved. It
// refuses a comment whose lines are not as the person saw them.
func quoteCode(c *workflow.Comment, name lang.Text, file codediff.File) error {
	if c.File == "" || c.From == 0 {
		return nil
	}
	text, _ := file.Quote(c.From, c.To)
	joined := func(text string) string { return strings.Join(strings.Fields(visible.Text(text)), " ") }
	if seen := joined(strings.TrimSuffix(c.Quote, "…")); !strings.Contains(joined(text), seen[:min(len(seen), shownQuote)]) {
		return fault.New(fault.Conflict, "%s: line %d of %s is not as the page showed it", name, c.From, visible.Line(c.File)).
			WithHint("load the page again: the file was changed since; nothing was changed")
	}
	c.Quote = visible.Fit(text, MaxQuote)
	return nil
}

// checkComment trims one comment and refuses it without its words or its place.
func checkComment(c *workflow.Comment, name lang.Text, lines int) error {
	c.Text, c.Replace = strings.TrimSpace(c.Text), strings.TrimRight(c.Replace, " \t\r\n")
	if err := CheckText(name, c.Text, MaxComment); err != nil {
		return err
	}
	if err := CheckText(name, c.Replace, MaxComment); err != nil {
		return err
	}
	if err := CheckText(name, c.Quote, len(c.Quote)); err != nil {
		return err
	}
	c.Quote = visible.Fit(c.Quote, MaxQuote)
	if c.To == 0 {
		c.To = c.From
	}
	problem, hint := findMistake(*c, lines)
	if problem.Empty() {
		return nil
	}
	return fault.New(fault.InvalidArgument, "%s: %s", name, problem).WithHint("%s", hint)
}

// isWithin reports whether the lines of a comment are among those of a text.
func isWithin(c workflow.Comment, lines int) bool {
	return c.From >= 0 && c.To >= c.From && c.To <= lines
}

// findMistake returns the reason why a comment cannot be found again by its id and lines, or asks for nothing.
func findMistake(c workflow.Comment, lines int) (problem, hint lang.Text) {
	switch {
	case c.ID != "" && !commentID(c.ID):
		return lang.T("its id has other characters than letters, digits, dots and hyphens, or too many"), lang.T("leave the id out: the comment then gets one")
	case !isWithin(c, lines) && c.File != "":
		return lang.T("lines %d to %d are not in the file, which has %s", c.From, c.To, lang.Count(lines, "line")),
			lang.T("load the page again: the code may have changed since")
	case !isWithin(c, lines):
		return lang.T("lines %d to %d are not in the document, which has %s", c.From, c.To, lang.Count(lines, "line")),
			lang.T("count lines from 1, the first one first; 0 means the whole document")
	case c.From == 0 && (c.Kind == workflow.CommentRemove || c.Kind == workflow.CommentEdit):
		return lang.T("it does not say which lines it is for"), lang.T("name the lines, or use the kind change")
	case !slices.Contains(workflow.CommentKinds(), c.Kind):
		return lang.T("the kind %q is not known", visible.Fit(string(c.Kind), 40)), lang.T("use one of: change, question, remove, edit")
	case c.Kind == workflow.CommentEdit && c.Replace == "":
		return lang.T("an edit needs the text to put there"), lang.T("put it into replace; to take the lines out, use the kind remove")
	case c.Kind != workflow.CommentEdit && c.Replace != "":
		return lang.T("it has a text to put there, and is not an edit"), lang.T("use the kind edit, or leave replace out")
	case c.Text == "" && c.Kind != workflow.CommentRemove && c.Kind != workflow.CommentEdit:
		return lang.T("it is empty"), lang.T("say what to change, or leave the comment out")
	}
	return problem, hint
}
