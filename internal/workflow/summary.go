package workflow

import "time"

// Summary is an entry of a list of sessions. Its fields are those of [Session].
type Summary struct {
	SessionID    string
	TaskName     string
	Objective    string
	CurrentStage StageID
	CurrentState State
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Revision     int
}

// Summary returns the summary of a session.
func (s *Session) Summary() Summary {
	return Summary{s.SessionID, s.TaskName, s.Objective, s.CurrentStage, s.CurrentState, s.CreatedAt, s.UpdatedAt, s.Revision}
}
