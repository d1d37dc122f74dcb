package workflow

import (
	"maps"
	"time"
)

// Setter is the origin of a setting.
type Setter string

// The setters. An environment variable is a setter of its own: the person may have set it, and
// so may a file of the project that configures how a host starts the server.
const (
	SetByPerson      Setter = "person"
	SetByProject     Setter = "project"
	SetByEnvironment Setter = "environment"
)

// VerifyCommand is the command that checks the submissions of a stage. It is kept in the
// session, so that an edit of the configuration cannot remove it.
type VerifyCommand struct {
	// Command is "" if the person has removed it.
	Command string    `json:"command"`
	SetBy   Setter    `json:"set_by"`
	At      time.Time `json:"at"`
	// Instead is the configured command if it differs and does not count, "" if none is
	// configured; nil if the configuration names Command.
	Instead *string `json:"instead,omitempty"`
	// Accepted is true once the person has decided at a gate that showed Instead.
	Accepted bool  `json:"accepted,omitempty"`
	Extra    Extra `json:",unknown"`
}

// Same reports whether two commands are equal, apart from unknown keys.
func (c VerifyCommand) Same(other VerifyCommand) bool {
	instead := same(c.Instead, other.Instead)
	return c.Command == other.Command && c.SetBy == other.SetBy && c.At.Equal(other.At) && instead && c.Accepted == other.Accepted
}

// SameVerifyCommands reports whether two sets of commands are equal.
func SameVerifyCommands(a, b map[StageID]VerifyCommand) bool {
	return maps.EqualFunc(a, b, VerifyCommand.Same)
}
