// Package notify tells the person that a run waits or has ended: by a command of theirs, by a webhook, or by a service
// that shows messages on a telephone.
//
// A notice has facts alone: the event, the names of the run, the project and the stage, the time, and the address of the
// run in a dashboard on this machine. No text of a document is in it. A target is the place that the person has named for
// notices, in their own settings.
//
// # Invariants
//
//   - Names in a notice have only letters and digits of any script, hyphens and underscores, and none begins like an option,
//     so nothing that carries them on can take a part for markup, an option, a link or code (TestPlain, FuzzPlain).
//   - A command gets a fixed list of arguments, without a shell (TestCommand).
//   - A secret of a target is never shown, not even in an error (TestParse, TestNothingSecretIsShown).
//   - Redirects are not followed, answers not read, and plain HTTP goes to private addresses only (TestAnswers).
package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Event is the reason for a notice.
type Event string

// The events. The first three are waits for the person, the next ones ends.
const (
	Decision   Event = "decision"
	Questions  Event = "questions"
	FailedWork Event = "failed_work"
	Ended      Event = "ended"
	Failed     Event = "failed"
	Budget     Event = "budget"
	// Test is sent by the person to see whether notices arrive.
	Test Event = "test"
)

// Notice has the facts of one event. The JSON form is a contract: keys are added, never changed.
type Notice struct {
	// ID is the same for each try of one notice.
	ID      string `json:"id"`
	Event   Event  `json:"event"`
	Run     string `json:"run,omitempty"`
	Project string `json:"project,omitempty"`
	Stage   string `json:"stage,omitempty"`
	// Link is the address of the run in a dashboard, if one is running.
	Link string    `json:"link,omitempty"`
	At   time.Time `json:"at"`
}

// IDOf returns the id of the notice about an event at a point of a session.
func IDOf(point string, event Event) string {
	sum := sha256.Sum256([]byte(point + " " + string(event)))
	return "msg_" + hex.EncodeToString(sum[:12])
}

// Plain returns the notice as it is sent: with plain names.
func (n Notice) Plain() Notice {
	n.Event = Event(PlainName(string(n.Event)))
	n.Run, n.Project, n.Stage, n.ID = PlainName(n.Run), PlainName(n.Project), PlainName(n.Stage), PlainName(n.ID)
	return n
}

// maxName is the number of characters of the longest name, maxMarks of the vowel signs and accents of one letter.
const (
	maxName  = 60
	maxMarks = 3
)

// PlainName returns a name in which nothing is an option, markup, code or a link, wherever it is carried: the author of a
// folder or of a run must not speak to the person's programs, and telephones make a link of each name with a dot.
func PlainName(name string) string {
	marks := maxMarks // of the letter before; at the beginning there is none
	letters := []rune(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			marks = 0
			return r
		case unicode.In(r, unicode.Mn, unicode.Mc) && marks < maxMarks:
			marks++
			return r
		}
		marks = maxMarks
		if r == '-' {
			return r
		}
		return '_'
	}, visible.Line(name)))
	return strings.TrimLeft(string(letters[:min(len(letters), maxName)]), "-")
}

// Text returns a plain notice in words: one line that begins with the name of this program.
func (n Notice) Text(l lang.Language) string {
	switch n.Event {
	case Decision:
		return l.Say("bmad-mcp: %s in %s waits for your decision at %s", n.Run, n.Project, n.Stage)
	case Questions:
		return l.Say("bmad-mcp: %s in %s waits for your answers at %s", n.Run, n.Project, n.Stage)
	case FailedWork:
		return l.Say("bmad-mcp: the work of %s in %s failed at %s and waits for your decision", n.Run, n.Project, n.Stage)
	case Ended:
		return l.Say("bmad-mcp: %s in %s is complete", n.Run, n.Project)
	case Failed:
		return l.Say("bmad-mcp: %s in %s has stopped at %s by an error", n.Run, n.Project, n.Stage)
	case Budget:
		return l.Say("bmad-mcp: %s in %s has stopped at %s because its budget or its time is used up", n.Run, n.Project, n.Stage)
	}
	return l.Say("bmad-mcp: a test of notices")
}
