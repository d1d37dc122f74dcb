package words

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// AlteredNote names the approved texts that are not as they were approved, and the person's choices;
// "" if all are.
func AlteredNote(s *standing.Standing) string {
	if len(s.Altered) == 0 {
		return ""
	}
	return s.Say("**Not as you approved it:** %s. `%s adopt %s`, typed at a terminal, accepts it as it is; with `--restore` it puts the approved text back.",
		workflow.AlterationsText(s.Altered), s.Names.Program, s.Session.TaskName)
}

// PendingNote names the documents that are not in this folder yet; "" if all are.
func PendingNote(s *standing.Standing) string {
	var names []string
	for _, st := range s.Workflow.Stages {
		if name := s.ArtifactPath(st); s.Saved[name].Pending && !slices.Contains(s.Unwritten, name) {
			names = append(names, name)
		}
	}
	if s.Draft.Pending {
		names = append(names, s.Draft.Work)
	}
	if len(names) == 0 {
		return ""
	}
	return s.Say("**Not in this folder yet:** `%s`. The next step of the run writes it; `%s sync` does it now.", strings.Join(names, "`, `"), s.Names.Program)
}

// HomelessNote says that the worktree of the run is gone; "" if it is there.
func HomelessNote(s *standing.Standing) string {
	if s.Homeless == "" {
		return ""
	}
	return s.Say("**The worktree of the run is gone:** `%s`. `%s run --resume %s` makes it anew.", s.Homeless, s.Names.Program, s.Session.TaskName)
}

// DoubtNote says in one line that a session was changed by other hands, or rests on entries that do not count.
func DoubtNote(s *standing.Standing) string {
	name, task := s.Names.Program, s.Session.TaskName
	switch {
	case s.Integrity.Changed():
	case len(s.Integrity.Strangers) > 0:
		return s.Say("**Not confirmed:** %s. If you know whose it is, type `%s allow` at a terminal; else `%s log %s` shows what stands there, and `%s adopt %s` accepts it.",
			s.Integrity.Problem, name, name, task, name, task)
	default:
		return s.Say("**Not confirmed:** %s. `%s log %s` shows what stands there; `%s adopt %s`, typed at a terminal, accepts it.",
			s.Integrity.Problem, name, task, name, task)
	}
	return s.Say("**Changed by other hands:** %s. `%s log %s` shows what stands there now; `%s adopt %s`, typed at a terminal, accepts it.",
		s.Integrity.Problem, s.Names.Program, s.Session.TaskName, s.Names.Program, s.Session.TaskName)
}

// Stopped returns the message of a session that goes on only once the person has accepted it.
func Stopped(s *standing.Standing) string {
	notes, now := AlteredNote(s), s.Say("**You can now** type `%s adopt %s` at a terminal, or put the approved texts back.", s.Names.Program, s.Session.TaskName)
	if s.Doubtful() {
		notes, now = DoubtNote(s), s.Say("**You can now** type `%s adopt %s` at a terminal, or put the session file back as it was.", s.Names.Program, s.Session.TaskName)
		if len(s.Integrity.Strangers) > 0 && !s.Integrity.Changed() {
			now = s.Say("**You can now** type `%s allow` at a terminal, which asks whose the key is, or `%s adopt %s`.", s.Names.Program, s.Names.Program, s.Session.TaskName)
		}
		notes += addLabel("\n\n", AlteredNote(s))
	}
	return Headline(s) + "\n\n" + notes + "\n\n" + s.Say("The policy is strict, so nothing goes on before that.") + "\n\n" + now
}

// MovedNote says in one line that the project of a session was moved; "" if it was not.
func MovedNote(s *standing.Standing) string {
	if s.Integrity.MovedFrom == "" {
		return ""
	}
	return s.Say("**Moved:** this run was in `%s`, which no longer has it; it goes on here.", s.Integrity.MovedFrom)
}

// KeptNote says in one line that the settings ask for less than the run keeps; "" if they do not.
func KeptNote(s *standing.Standing) string {
	kept := s.Loosened()
	if len(kept) == 0 {
		return ""
	}
	return s.Say("**Rules kept:** the settings ask for less than this run has had (%s). `%s adopt %s`, typed at a terminal, accepts that.",
		looserRules(s, kept), s.Names.Program, s.Session.TaskName)
}

// LooseNote says in one line which gate was passed with less than the rules ask for now; "" if none was.
func LooseNote(s *standing.Standing) string {
	if s.Integrity.Loose.Empty() || !s.Trusting {
		return ""
	}
	return s.Say("**Passed before these rules:** %s. If that is not right: `%s reopen %s`.", s.Integrity.Loose, s.Names.Program, s.Session.TaskName)
}

// looserRules names the rules of stages, and what the settings ask for instead.
func looserRules(s *standing.Standing, kept []workflow.Stage) lang.Text {
	before, after := map[workflow.StageID]workflow.Policy{}, map[workflow.StageID]workflow.Policy{}
	for _, st := range kept {
		settings, _ := s.Settings.Stage(st.ID)
		before[st.ID], after[st.ID] = st.Policy(), settings.Policy()
	}
	return lang.Join(PolicyChanges(s.Settings, before, after), "; ")
}

// AdoptQuestion describes to the person the session that they are to accept.
func AdoptQuestion(s *standing.Standing) string {
	texts := ""
	for _, a := range s.Altered { // each with the text that was approved, if that is another file
		line := a.Text()
		if ref := s.Session.Record(a.Stage).FinalResultRef; ref != nil && !a.Record {
			line = lang.T("%s (approved: %s)", line, ref.FilePath)
		}
		texts += "- " + line.In(s.Language) + "\n"
	}
	rules := ""
	if kept := s.Loosened(); len(kept) > 0 {
		rules = s.Say("The settings ask for less than this run has had: %s. Adopting it lets it go on under them; a gate that waits keeps its rules.\n", looserRules(s, kept))
	}
	switch {
	case s.Doubtful():
	case texts == "":
		return strings.TrimSpace(rules)
	default:
		texts = s.Say("Its history holds; texts that were approved differ since:\n%sAdopting accepts them as they are now; the history keeps which. %s adopt %s --restore puts the approved ones back instead.",
			texts, s.Names.Program, s.Session.TaskName)
		return rules + texts
	}
	if rules != "" {
		rules = "\n" + rules
	}
	if texts != "" {
		texts = s.Say("\nTexts that were approved differ since, and are accepted with it:\n%s", texts)
	}
	meaning := s.Say("From entry %d of %d on it is not known to be what happened.", s.Integrity.Broken, len(s.Session.History))
	if s.Integrity.Displaced {
		meaning = s.Say("Its history shows no change, but its decisions were made elsewhere: here they stay unconfirmed.")
	}
	if !s.Integrity.Changed() {
		return s.Say("Not all of the run is confirmed.\nFound: %s.\nIt is at %s, revision %d.\n%s log %s shows all of it. Adopting it makes it the run to go on from; the history keeps what was found.",
			s.Integrity.Problem, s.Session.Place(), s.Session.Revision, s.Names.Program, s.Session.TaskName) + texts + rules
	}
	return s.Say("The run was changed by other hands.\nFound: %s.\n%s\nIt is at %s, revision %d.\n%s log %s shows all of it. Adopting it makes it the run to go on from; the history keeps what was found.",
		s.Integrity.Problem, meaning, s.Session.Place(), s.Session.Revision, s.Names.Program, s.Session.TaskName) + texts + rules
}
