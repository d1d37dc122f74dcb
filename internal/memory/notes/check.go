package notes

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// Checked returns a note to keep as it is stored, or why it is not taken.
func (n Note) Checked() (Note, error) {
	if err := n.Type.Check(); err != nil {
		return n, err
	}
	if err := CheckAgent(n.Agent); err != nil {
		return n, err
	}
	var err error
	if n.Text, err = CleanText(n.Text); err != nil {
		return n, err
	}
	if n.Tags, err = cleanTags(n.Tags); err != nil {
		return n, err
	}
	if err := untrusted.Check("text", n.Text); err != nil {
		return n, err
	}
	for _, tag := range n.Tags {
		if err := untrusted.Check("tags", tag); err != nil {
			return n, err
		}
	}
	for _, name := range []*string{&n.By, &n.Session, &n.Finding} {
		*name = visible.Cut(visible.Line(*name), MaxName, "…")
	}
	return n, nil
}

// CheckAgent refuses a name that is not one of an agent, before any path is made of it.
func CheckAgent(name string) error {
	switch {
	case name == "":
		return fault.New(fault.InvalidArgument, "agent is missing").
			WithHint("name who the note is from or for, such as dev or architect")
	case len(name) > MaxAgent, !utf8.ValidString(name), name == ".", name == "..",
		strings.ContainsFunc(name, func(r rune) bool { return !InName(r) }):
		return fault.New(fault.InvalidArgument, "%q is not the name of an agent", visible.Cut(visible.Line(name), MaxAgent, "…")).
			WithHint("use letters, digits, dots, hyphens and underscores, at most %d bytes, such as dev or architect", MaxAgent)
	}
	return nil
}

// InName reports whether the name of an agent can have a character.
func InName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("._-", r)
}

// CleanText returns a text without characters that steer a terminal or the direction of
// writing, and without white space around it.
func CleanText(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", fault.New(fault.InvalidArgument, "text is not valid UTF-8").WithHint("pass it as UTF-8")
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if visible.Steers(string(r)) {
			return -1
		}
		return r
	}, text))
	switch {
	case text == "":
		return "", fault.New(fault.InvalidArgument, "text is empty").WithHint("say in one or two sentences what is to be remembered")
	case len(text) > MaxText:
		return "", fault.New(fault.InvalidArgument, "text has %d bytes; a note has at most %d", len(text), MaxText).
			WithHint("remember the lesson, not the document; name the document's path instead")
	}
	return text, nil
}

// cleanTags returns tags, each once; nil if tags is nil.
func cleanTags(tags []string) ([]string, error) {
	if tags == nil {
		return nil, nil
	}
	out := []string{}
	for _, tag := range tags {
		tag = visible.Line(tag)
		switch {
		case tag == "" || slices.Contains(out, tag):
			continue
		case len(tag) > MaxTag:
			return nil, fault.New(fault.InvalidArgument, "the tag %q has %d bytes; a tag has at most %d", visible.Cut(tag, MaxTag, "…"), len(tag), MaxTag).
				WithHint("shorten it, or say it in the text")
		}
		if day, ok := strings.CutPrefix(tag, expiryTag); ok {
			if _, err := time.Parse(time.DateOnly, day); err != nil {
				return nil, fault.New(fault.InvalidArgument, "the tag %q names no day", tag).WithHint("write it as expires:2026-12-31")
			}
		}
		out = append(out, tag)
	}
	if len(out) > MaxTags {
		return nil, fault.New(fault.InvalidArgument, "the note has %d tags; at most %d are kept", len(out), MaxTags).WithHint("keep those by which somebody will look for it")
	}
	return out, nil
}
