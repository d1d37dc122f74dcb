package workflow

import (
	"maps"
	"slices"
	"time"
)

// Setter says where a setting comes from.
type Setter string

// The setters. A variable has one of its own: the person may have set it, and so may a
// file of the project that tells a host how to start the server.
const (
	SetByPerson      Setter = "person"
	SetByProject     Setter = "project"
	SetByEnvironment Setter = "environment"
)

// VerifyCommand is the command that a session checks the submissions of a stage with. It
// is kept with the session, so that an edit of the configuration cannot take it away.
type VerifyCommand struct {
	// Command is "" where the person has ended it.
	Command string    `json:"command"`
	SetBy   Setter    `json:"set_by"`
	At      time.Time `json:"at"`
	// Instead is what the configuration names now, where that does not count: "" if nothing.
	// It is nil where the configuration names the command.
	Instead *string `json:"instead,omitempty"`
	// Accepted is true once the person has decided at a gate knowing of Instead.
	Accepted bool  `json:"accepted,omitempty"`
	Extra    Extra `json:",unknown"`
}

// Same reports whether two are the same, apart from unknown keys.
func (c VerifyCommand) Same(other VerifyCommand) bool {
	instead := c.Instead == other.Instead || c.Instead != nil && other.Instead != nil && *c.Instead == *other.Instead
	return c.Command == other.Command && c.SetBy == other.SetBy && c.At.Equal(other.At) && instead && c.Accepted == other.Accepted
}

// SameVerifyCommands reports whether two sets of commands are the same.
func SameVerifyCommands(a, b map[StageID]VerifyCommand) bool {
	return maps.EqualFunc(a, b, VerifyCommand.Same)
}

// KeptVerify returns the verify commands of the session. Those of the newest entry that
// has any count before the session's own: entries are linked, and a key is taken out of a
// file more easily.
func (s *Session) KeptVerify() map[StageID]VerifyCommand {
	for _, e := range slices.Backward(s.History) {
		if e.VerifyCommands != nil {
			return maps.Clone(e.VerifyCommands)
		}
	}
	return maps.Clone(s.VerifyCommands)
}

// KeepVerify sets the verify commands of the session, and returns them for the entry of the
// history that records the change.
func (s *Session) KeepVerify(commands map[StageID]VerifyCommand) map[StageID]VerifyCommand {
	s.VerifyCommands = commands
	return maps.Clone(commands)
}
