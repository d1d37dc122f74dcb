package words

import (
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
)

// ChangedNote says in one line that a session was changed by other hands.
func ChangedNote(s *standing.Standing) string {
	return s.Say("**Changed by other hands:** %s. `%s log %s` shows what stands there now; `%s adopt %s`, typed at a terminal, accepts it.",
		s.Integrity.Problem, s.Names.Program, s.TaskName, s.Names.Program, s.TaskName)
}

// Stopped is the message of a session that goes on only once the person has accepted it.
func Stopped(s *standing.Standing) string {
	return Headline(s) + "\n\n" + ChangedNote(s) + "\n\n" + s.Say("The policy is strict, so nothing goes on before that.") + "\n\n" +
		s.Say("**You can now** type `%s adopt %s` at a terminal, or put the session file back as it was.", s.Names.Program, s.TaskName)
}

// AdoptQuestion describes to the person the session that they are to accept.
func AdoptQuestion(s *standing.Standing) string {
	return s.Say("The session was changed by other hands.\nFound: %s.\nFrom entry %d of %d on it is not known to be what happened.\nIt is at %s, revision %d.\n%s log %s shows all of it. Adopting it makes it the session to go on from; the history keeps what was found.",
		s.Integrity.Problem, s.Integrity.Broken, len(s.History), s.Place(), s.Revision, s.Names.Program, s.TaskName)
}

// Adopted says that the person has accepted a session.
func Adopted(s *standing.Standing) string {
	return s.Say("Adopted as it is, in entry %d of the history, which records the finding.\n\n", len(s.History))
}
