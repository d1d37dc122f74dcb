package proof

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The bounds of files to read, in bytes.
const (
	maxStatementRead = 256 << 10
	maxSignature     = 32 << 10
	maxSigners       = 1 << 20
	maxDocuments     = 32 << 20 // of all documents of a run
)

// Input is what a check goes by.
type Input struct {
	// Project is the tree of the project's folder: the files under check.
	Project fs.FS
	// Base is what counts: the base branch.
	Base Base
	// Committed are the files of the runs in the checked-out commit, by their paths; nil if nothing is.
	Committed map[string][]byte
	// Roots are the first commits of the repository; nil if it has none yet.
	Roots []string
	// Changed returns the differing files between a commit and the one under check; ok is false if the clone lacks
	// it.
	Changed func(commit string) (files []string, ok bool)
	Now     time.Time
}

// Base is the branch into which a change goes, whose list of signers, rules and workflows count.
type Base struct {
	// Name is the name of the branch.
	Name string
	// Files are the files of the branch, by their paths: the list of signers, and the statements.
	Files map[string][]byte
	// Rules returns the branch's rules for a stage.
	Rules func(workflow.StageID) Rules
	// Workflow returns the branch's workflow of a name; nil if there is none.
	Workflow func(name string) *workflow.Definition
}

// Rules are the rules for the decisions at a gate.
type Rules struct {
	workflow.Policy
	// Assurance is the least assurance of a decision.
	Assurance workflow.Assurance
}

// Check judges the runs of a project. An error is the reason why it cannot.
func Check(in Input) (Result, error) {
	signers, problems := signature.ParseSigners(string(in.Base.Files[SignersFile]))
	var out Result
	for _, p := range problems {
		out.Notes = append(out.Notes, Finding{"signers", SignersFile, lang.T("a line of %s on %s does not count: %s", SignersFile, in.Base.Name, p),
			lang.T("correct the line there")})
	}
	for _, folder := range []string{path.Dir(artifact.Folder), artifact.Folder} {
		if isLink(in.Project, folder) {
			return out, lang.Errorf("%s is a link; a check reads only what is in the project", folder)
		}
	}
	own, err := durable.ReadFile(in.Project, SignersFile, maxSigners)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		out.Notes = append(out.Notes, Finding{"signers", SignersFile, lang.T("it cannot be read: %v", err), lang.T("make it a regular file")})
	} else if !bytes.Equal(withUnixLines(own), withUnixLines(in.Base.Files[SignersFile])) {
		out.Notes = append(out.Notes, Finding{"signers", SignersFile, lang.T("this change edits the list of signers; until it is merged, the list on %s counts", in.Base.Name),
			lang.T("review each line: every listed key can sign decisions")})
	}
	entries, err := fs.ReadDir(in.Project, artifact.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, lang.Errorf("%s cannot be read: %v", artifact.Folder, err)
	}
	sessions := map[string]string{}
	for _, e := range entries {
		j := judge{Input: in, signers: signers, Run: Run{Task: e.Name(), Path: Path(e.Name(), StatementFile)}}
		if e.Type().IsRegular() {
			out.Notes = append(out.Notes, Finding{"other", artifact.Folder + "/" + e.Name(), notOfRun, moveElsewhere})
			continue
		}
		if !j.judgeRun() {
			continue
		}
		if s := j.st; s != nil {
			if other := sessions[s.Predicate.Session]; other != "" {
				j.addFinding("replayed", j.Path, lang.T("%s is about the same run", other), lang.T("remove the copy"))
			}
			sessions[s.Predicate.Session] = j.Path
		}
		out.Runs = append(out.Runs, j.Run)
	}
	for name := range in.Base.Files {
		if _, err := fs.Stat(in.Project, path.Dir(name)); path.Base(name) == StatementFile && err != nil {
			out.Notes = append(out.Notes, Finding{"removed", name, lang.T("this change removes the run, which is on %s", in.Base.Name),
				lang.T("keep it if its decisions should remain verifiable")})
		}
	}
	if names := in.uncommittedFiles(); len(names) > 0 {
		out.Notes = append(out.Notes, Finding{"uncommitted", names[0],
			lang.T("%s differ from the commit that is checked out, which is what a push sends", lang.Count(len(names), "file")),
			lang.T("commit them, or restore them, and check again")})
	}
	slices.SortStableFunc(out.Notes, func(a, b Finding) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// uncommittedFiles lists the files of the runs that differ from the checked-out commit.
func (in Input) uncommittedFiles() (names []string) {
	for name, text := range in.Committed {
		if now, err := durable.ReadFile(in.Project, name, maxDocuments); err != nil || !bytes.Equal(withUnixLines(now), withUnixLines(text)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

var (
	notOfRun      = lang.T("it is not a document of a run, and nobody has approved it")
	moveElsewhere = lang.T("move it elsewhere if readers could mistake it for one")
)

// rewrite is what to do about a statement that does not hold.
var rewrite = lang.T("restore the last valid version, or have a listed person's program write it again with the next step of the run")

// isLink reports whether a name of the project is a symbolic link.
func isLink(project fs.FS, name string) bool {
	info, err := fs.Lstat(project, name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// withUnixLines returns a text with the line ends of Unix: git may have checked it out with others.
func withUnixLines(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// judge judges one run.
type judge struct {
	Input
	Run
	signers []signature.Listed
	st      *Statement
	// onBase is true if the base branch has the same statement.
	onBase bool
	// keys are the keys of the valid signatures of the decisions, "" for the others.
	keys []signature.Key
	// texts are the artifacts that are as stated, by their paths.
	texts map[string][]byte
}

func (j *judge) addFinding(rule, path string, what, do lang.Text) {
	j.Findings = append(j.Findings, Finding{rule, path, what, do})
}

func (j *judge) addNote(rule, path string, what, do lang.Text) {
	j.Notes = append(j.Notes, Finding{rule, path, what, do})
}

// readFile reads a regular file of the run; ok is false if it is not there, or after a finding.
func (j *judge) readFile(name string, most int64) (text []byte, ok bool) {
	if isLink(j.Project, name) {
		j.addFinding("unreadable", name, lang.T("it is a link; a check reads only what is in the project"), lang.T("replace it by the file"))
		return nil, false
	}
	text, err := durable.ReadFile(j.Project, name, most)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		j.addFinding("unreadable", name, lang.T("it cannot be read: %v", err), lang.T("restore the last valid version"))
	}
	return text, err == nil
}

// judgeRun judges the run; false if the folder has none.
func (j *judge) judgeRun() bool {
	folder := artifact.TaskFolder(j.Task)
	if isLink(j.Project, folder) {
		j.addFinding("unreadable", folder, lang.T("it is a link; a check reads only what is in the project"), lang.T("replace it by the folder"))
		return true
	}
	text, ok := j.readFile(j.Path, maxStatementRead)
	if !ok {
		return len(j.Findings) > 0 || j.judgeUnstated(folder)
	}
	text = withUnixLines(text)
	var err error
	if j.st, err = Parse(text); err != nil {
		j.addFinding("statement", j.Path, lang.T("%v", err), rewrite)
		return true
	}
	p := &j.st.Predicate
	j.Finished, j.onBase = p.Finished, bytes.Equal(text, withUnixLines(j.Base.Files[j.Path]))
	j.judgeSignature(text)
	j.judgePlace()
	j.judgeSubjects(folder)
	j.judgeWorkflow()
	for _, i := range p.Invalid {
		j.judgeInvalid(i)
	}
	j.judgeDecisions()
	for i := range p.Stages {
		j.judgeStage(&p.Stages[i])
	}
	j.judgeWork()
	return true
}

// judgeUnstated judges a folder without a statement.
func (j *judge) judgeUnstated(folder string) bool {
	entries, err := fs.ReadDir(j.Project, folder)
	switch {
	case err != nil || len(entries) == 0:
		return false
	case j.Base.Files[j.Path] != nil:
		j.addFinding("statement", j.Path, lang.T("it is missing, but its documents are still there"), lang.T("restore it, or remove the folder"))
	default:
		j.addNote("statement", folder, lang.T("it has documents but no %s that states who approved them", StatementFile), rewrite)
	}
	return true
}

// judgeSignature judges the signature of the statement.
func (j *judge) judgeSignature(text []byte) {
	name, by := j.Path+".sig", j.st.Predicate.Written
	file, ok := j.readFile(name, maxSignature)
	if !ok {
		if len(j.Findings) == 0 {
			j.addFinding("signature", name, lang.T("the statement has no signature"), rewrite)
		}
		return
	}
	made, err := signature.Unarmor(withUnixLines(file))
	if err != nil {
		j.addFinding("signature", name, lang.T("it is not a signature for the namespace of this program"), rewrite)
		return
	}
	key, err := signature.Verify(text, made)
	if err != nil {
		j.addFinding("signature", name, lang.T("the statement was changed since it was signed"), rewrite)
		return
	}
	if why := j.doubtKey(key, by.Subject, by.At); !why.Empty() {
		j.addFinding("signer", j.Path, lang.T("the signer of the statement is unknown: %s", why), j.askToList(key, by.Subject))
	}
	if by.At.After(j.Now.Add(24 * time.Hour)) {
		j.addFinding("time", j.Path, lang.T("its time is in the future: %s", by.At.Format(time.RFC3339)), rewrite)
	}
}

// doubtKey returns why a key does not count for an account at a time; empty if it does.
func (j *judge) doubtKey(key signature.Key, subject string, at time.Time) lang.Text {
	if signature.Counts(j.signers, key, subject, at) {
		return lang.Text{}
	}
	switch i := slices.IndexFunc(j.signers, func(l signature.Listed) bool { return l.Key == key }); {
	case len(j.signers) == 0:
		return lang.T("%s has no valid line in %s", j.Base.Name, SignersFile)
	case i < 0:
		return lang.T("the key %s is not in %s on %s", key.Fingerprint(), SignersFile, j.Base.Name)
	case !slices.Contains(j.signers[i].Subjects, subject):
		return lang.T("the key %s is listed for %s, not for %q", key.Fingerprint(), strings.Join(j.signers[i].Subjects, ", "), subject)
	}
	return lang.T("the key %s of %q was not valid at %s", key.Fingerprint(), subject, at.Format(time.RFC3339))
}

// askToList says how a key is listed.
func (j *judge) askToList(key signature.Key, subject string) lang.Text {
	line, ok := SignerLine(subject, key)
	if !ok {
		return lang.T("have the person decide in an account whose name has no spaces, commas, quotes or any of * ? !")
	}
	return lang.T("if the key is theirs, add this line to %s on %s: %s", SignersFile, j.Base.Name, line)
}

// SignerLine returns the line of a list of signers for an account and its key; ok is false if the name of the
// account is not possible in a list.
func SignerLine(subject string, key signature.Key) (line string, ok bool) {
	line = signature.Line(subject, key, "")
	list, _ := signature.ParseSigners(line)
	return line, len(list) == 1 && slices.Equal(list[0].Subjects, []string{subject})
}

// judgePlace judges whether the statement is of this folder and this repository, and the newest of the run.
func (j *judge) judgePlace() {
	p := &j.st.Predicate
	elsewhere := lang.T("use the statement that the run wrote in this folder")
	if p.Task != j.Task || !artifact.IsName(p.Task) {
		j.addFinding("folder", j.Path, lang.T("it is about another run, %q", p.Task), elsewhere)
	}
	switch root := p.Repository.Root; {
	case root == "":
		j.addNote("repository", j.Path, lang.T("it names no repository, because there was no commit when it was written"), rewrite)
	case !slices.Contains(j.Roots, root):
		j.addFinding("repository", j.Path, lang.T("it belongs to another repository, whose first commit is %s (%s)", root, p.Repository.Remote), elsewhere)
	}
	before, err := Parse(withUnixLines(j.Base.Files[j.Path]))
	switch {
	case err != nil: // there is none, or it is none
	case before.Predicate.Session != p.Session:
		j.addNote("replaced", j.Path, lang.T("%s has a different run under this name", j.Base.Name), lang.T("confirm that the replacement is intended"))
	case p.Chain.Length < before.Predicate.Chain.Length:
		j.addFinding("older", j.Path, lang.T("it is older than the one on %s: %d history entries instead of %d", j.Base.Name, p.Chain.Length, before.Predicate.Chain.Length),
			lang.T("take the newer one"))
	}
}

// judgeSubjects judges the artifacts.
func (j *judge) judgeSubjects(folder string) {
	j.texts = map[string][]byte{}
	room := int64(maxDocuments)
	for _, s := range j.st.Subject {
		stated := slices.ContainsFunc(j.st.Predicate.Stages, func(st Stage) bool { return st.Artifact == s.Name })
		_, twice := j.texts[s.Name]
		if path.Dir(s.Name) != folder || !fs.ValidPath(s.Name) || !stated || twice {
			j.addFinding("statement", j.Path, lang.T("it names %q, which is not a document of this run", s.Name), rewrite)
			continue
		}
		before := len(j.Findings)
		text, ok := j.readFile(s.Name, room)
		switch {
		case len(j.Findings) > before:
		case !ok:
			j.addFinding("artifact", s.Name, lang.T("it is missing since it was approved"), lang.T("restore it: bmad-mcp adopt %s --restore", j.Task))
		case !artifact.Same(text, s.Digest.SHA256):
			j.addFinding("artifact", s.Name, lang.T("it differs from the approved text"), j.restoreRemedy())
		default:
			j.texts[s.Name] = text
			j.Documents++
		}
		room -= int64(len(text))
	}
	j.judgeOthers(folder)
}

// judgeOthers judges the other files of the folder, which the statement does not name as approved or as once
// approved.
func (j *judge) judgeOthers(folder string) {
	p := &j.st.Predicate
	entries, _ := fs.ReadDir(j.Project, folder) // it was read before
	for _, e := range entries {
		name := folder + "/" + e.Name()
		isNamed := slices.ContainsFunc(j.st.Subject, func(s Subject) bool { return s.Name == name }) ||
			slices.ContainsFunc(p.Invalid, func(i Invalid) bool { return i.Path == name })
		isArtifact := slices.ContainsFunc(p.Stages, func(st Stage) bool { return st.Artifact == name })
		if known := j.Base.Workflow(p.Workflow.Name); known != nil {
			isArtifact = isArtifact || slices.ContainsFunc(known.Stages, func(st workflow.Stage) bool { return st.Artifact == e.Name() })
		}
		switch {
		case isNamed, e.Name() == StatementFile, e.Name() == SignatureFile:
		case isArtifact:
			j.addFinding("unapproved", name, lang.T("nobody has approved it: the statement does not list it"), lang.T("let its stage write it, or remove it"))
		default:
			j.addNote("other", name, notOfRun, moveElsewhere)
		}
	}
}

// restoreRemedy returns the remedy for a document that is not as it was approved.
func (j *judge) restoreRemedy() lang.Text {
	return lang.T("restore it: bmad-mcp adopt %s --restore; or reopen its stage and approve it again", j.Task)
}

// judgeInvalid names an artifact whose approval does not count any more.
func (j *judge) judgeInvalid(i Invalid) {
	name := cmp.Or(i.Path, j.Path)
	switch i.Reason {
	case becauseReopened:
		j.addFinding("reopened", name, lang.T("%q has reopened the stage %s or an earlier one, so the approval no longer counts", i.Subject, i.Stage),
			lang.T("finish the stage again"))
	case becauseSentBack:
		j.addNote("sent-back", name, lang.T("the work was sent back, so the earlier report on it no longer counts"), lang.T("finish the stage again"))
	case becauseGone:
		j.addFinding("edited", name, lang.T("it is missing since it was approved"), lang.T("restore it: bmad-mcp adopt %s --restore", j.Task))
	default:
		j.addFinding("edited", name, lang.T("it was edited after its approval, and nobody has approved this text"), j.restoreRemedy())
	}
}

// judgeWork notes what has happened since the work was tested.
func (j *judge) judgeWork() {
	p := &j.st.Predicate
	if !p.Finished {
		j.addNote("unfinished", j.Path, lang.T("the run is not finished: it is at %s", p.State), lang.T("finish it before you merge, or explain why not"))
	}
	w := p.Work
	if w == nil {
		return
	}
	changed, more := w.Changed, w.More
	if j.Changed != nil && w.TestedClean && !j.onBase {
		if files, ok := j.Changed(w.TestedCommit); ok {
			changed, more = slices.DeleteFunc(files, IsOurs), 0
		}
	}
	if n := len(changed) + more; n > 0 {
		j.addNote("after-qa", append(changed, j.Path)[0], lang.T("%s changed since the work was tested", lang.Count(n, "file")),
			lang.T("if they matter, test the work again: bmad-mcp reopen %s", j.Task))
	}
}

// IsOurs reports whether a file is written while a run goes on.
func IsOurs(name string) bool {
	return strings.HasPrefix(name, ".claude/") || strings.HasPrefix(name, ".bmad-task/")
}
