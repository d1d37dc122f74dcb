package workflow

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Every signed history names a project: the first entry that is signed there has the project's id. So a session
// file does not count if it was put into another project, or put back after the machine has forgotten it.

// Known has a machine's facts about a session besides the file.
type Known struct {
	// Checkpoint is the machine's record of the session in this folder; nil if there is none.
	Checkpoint *Checkpoint
	// Project is the id of the project in this folder; "" if it has none.
	Project string
	// Shared is true if Project is the project's name in a store of a team.
	Shared bool
	// Elsewhere are the machine's records of the session in other folders, as far as they matter:
	// if this folder has none, or the session is ahead of it.
	Elsewhere []Elsewhere
	// Members are the people whose keys count beside this machine's, each for their subject: the person has said
	// whose they are.
	Members []Member
	// Rules are the policies of the stages, by the settings here. If it matters at a gate who says yes, steps of
	// others have to keep them, and somebody else's adoption accepts nothing here.
	Rules map[StageID]Policy
	// MayFollow reports whether runs of others may follow a workflow here; nil takes every one.
	MayFollow func(*Definition) bool
}

// Elsewhere is a machine's record of a session in another folder.
type Elsewhere struct {
	// Folder is the real path of the other project.
	Folder string
	Checkpoint
	// Holds is true if the session is still in Folder; Same is true if Folder is this folder, by
	// another path.
	Holds, Same bool
}

// isRuled reports whether it matters at any gate who says yes.
func (k *Known) isRuled() bool { return isRuled(k.Rules) }

// Strict reports whether the session was under a strict policy by any of the records.
func (k *Known) Strict() bool {
	return k.Checkpoint != nil && k.Checkpoint.Strict || slices.ContainsFunc(k.Elsewhere, func(e Elsewhere) bool { return e.Strict })
}

// Project returns the id of the project in the history; "" if there is none.
func (s *Session) Project() string { return s.projectAt(len(s.History)) }

// projectAt returns the project in the first n entries.
func (s *Session) projectAt(n int) string {
	for i := min(n, len(s.History)) - 1; i >= 0; i-- {
		if id := s.History[i].Project; id != "" {
			return id
		}
	}
	return ""
}

// whereabouts is the relation of a session to the folder it is in.
type whereabouts struct {
	// record is the checkpoint that the session is compared with; nil if there is none.
	record *Checkpoint
	// copyOf is the folder that still holds the session, if this one is a copy; movedFrom is the
	// folder that it was recorded in, if that no longer holds it. At most one is not empty.
	copyOf, movedFrom string
}

// findWhereabouts compares the machine's records of a session with the session's folder.
func (s *Session) findWhereabouts(k *Known) (w whereabouts) {
	w.record = k.Checkpoint
	recorded := k.Checkpoint != nil
	for _, e := range k.Elsewhere {
		newer := w.record == nil || e.Revision > w.record.Revision
		switch {
		case e.Holds:
			if !recorded || s.contains(e.Checkpoint) {
				return whereabouts{record: k.Checkpoint, copyOf: e.Folder}
			}
		case !recorded && newer:
			w.record, w.movedFrom = &e.Checkpoint, e.Folder
		}
	}
	return w
}

// contains reports whether a history has the entries of a checkpoint.
func (s *Session) contains(c Checkpoint) bool {
	return 1 <= c.Entries && c.Entries <= len(s.History) && s.History[c.Entries-1].hash() == c.Head
}

// describeDisplacement describes why a session does not belong to the folder; it is empty if it does.
//
// A record of this folder is stronger than the id in it, which anybody can edit or remove: the record vouches for the
// project that the recorded entries name.
func (s *Session) describeDisplacement(k *Known, w whereabouts, named string) lang.Text {
	recorded := k.Checkpoint != nil && s.projectAt(k.Checkpoint.Entries) == named
	known := recorded || named == "" || named == k.Project
	switch {
	case w.copyOf != "":
		return lang.T("it is a copy of the run in %s, which is still there", w.copyOf)
	case named == "" && w.record == nil && s.Last().Signature != "": // a copy of a run of any folder would look the same
		return lang.T("it names no project, and this machine has no record of it")
	case known:
		return lang.Text{}
	case k.Shared:
		return lang.T("it belongs to another project (%s), and this one is %s in the store", named, k.Project)
	case k.Project == "":
		return lang.T("it belongs to another project (%s), and this folder has no readable id in %s", named, ProjectFile)
	}
	return lang.T("it belongs to another project (%s), and this folder is %s by its %s", named, k.Project, ProjectFile)
}

// ProjectFile holds the id of a project, relative to the project's folder.
const ProjectFile = ".bmad-task/project"
