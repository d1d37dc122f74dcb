package trust

import (
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The kinds of things a person can allow.
const (
	// KindVerify is a command for the server to verify work with; the content is the command itself.
	KindVerify = "verify"
	// KindRubric is a file with rules for audits of documents; the content is the file's.
	KindRubric = "rubric"
	// KindSource is a git repository with agents and workflows of the BMAD method for the server to use; the
	// content is the address.
	KindSource = "source"
	// KindOwnVerify is the person's own verify command, which may run in a project; the content is the permission
	// alone, so that they are free to change the command.
	KindOwnVerify = "own_verify"
	// KindScript is a file of the project that an allowed command runs; the content is the file's. A newer one
	// replaces an older one.
	KindScript = "script"
	// KindWorkflow is a project's own workflow, which could leave gates out; the content is the file's.
	KindWorkflow = "workflow"
	// KindContract is a script of the project that says whether work is finished, and that the server runs by
	// itself; the content is the file's. A newer one replaces an older one.
	KindContract = "contract"
	// KindMember is the public key of somebody at work on the project, whose signatures then count for histories;
	// the content is the key.
	KindMember = "member"
	// KindProgram is a program of the machine for agents to use on their documents; the content is the program's
	// file. A newer one replaces an older one.
	KindProgram = "program"
	// KindCard is the card of an agent on another server, to which tasks may be given; the content is the card's. The text
	// is the address, behind the variable with the token for it if there is one, as $NAME. A newer one replaces an older one.
	KindCard = "card"
)

// Kinds returns the kinds of things a person can allow.
func Kinds() []string {
	return []string{KindVerify, KindRubric, KindSource, KindOwnVerify, KindScript, KindWorkflow, KindContract, KindMember, KindProgram, KindCard}
}

// Allowance is one thing allowed by a person in one project.
type Allowance struct {
	// Project is the path of the project's folder.
	Project string `json:"project"`
	// Kind is one of Kinds.
	Kind string `json:"kind"`
	// Text describes it to people: the command, the path of the rubric or script, or the address.
	Text string `json:"text"`
	// SHA256 is the hash of the content, which alone decides what is allowed. For a command or an address it is
	// computed here, whatever a caller passes.
	SHA256 string    `json:"sha256"`
	At     time.Time `json:"at"`
	// ProjectID is the mark of the project, for kinds that run files of the project; "" if an older version
	// recorded the allowance. It is set here.
	ProjectID string `json:"project_id,omitempty"`
	// Files is true if the files named in a command were recorded with it, as KindScript: a file without a record
	// is then newer than the allowance.
	Files bool `json:"files,omitempty"`
}

// normalize returns the allowance as it is kept and compared.
func (a Allowance) normalize() Allowance {
	a.Project = PathOf(a.Project)
	a.SHA256 = strings.ToLower(a.SHA256)
	switch a.Kind {
	case KindVerify, KindSource:
		a.SHA256 = workflow.Hash([]byte(a.Text))
	case KindOwnVerify:
		a.SHA256 = workflow.Hash([]byte(KindOwnVerify))
	}
	return a
}

// check returns an error if an allowance is not valid.
func (a Allowance) check() error {
	digest, err := hex.DecodeString(a.SHA256)
	switch {
	case a.Project == "":
		return fault.New(fault.InvalidArgument, "nothing can be allowed without a project").
			WithHint("pass the path of the project's folder")
	case !slices.Contains(Kinds(), a.Kind):
		return unknownKind(a.Kind)
	case strings.TrimSpace(a.Text) == "":
		return fault.New(fault.InvalidArgument, "there is nothing to allow: the %s is empty", a.Kind).
			WithHint("pass the command, or the path of the rubric")
	case err != nil || len(digest)*8 != 256:
		return fault.New(fault.InvalidArgument, "%q is not the SHA-256 of a %s", a.SHA256, a.Kind).
			WithHint("pass the hash of the content in 64 hexadecimal digits")
	}
	return nil
}

func unknownKind(kind string) error {
	return fault.New(fault.InvalidArgument, "there is no kind %q of what can be allowed", kind).
		WithHint("the kinds are %s", strings.Join(Kinds(), ", "))
}

// allowsSame reports whether two allowances, as they are kept, allow the same.
func (a Allowance) allowsSame(b Allowance) bool {
	return a.Project == b.Project && a.Kind == b.Kind && a.SHA256 == b.SHA256
}

// isShared reports whether a place is a project's name in a store, and not the path of a folder.
func isShared(place string) bool { return !filepath.IsAbs(place) }

// placeOf returns a place as it is recorded.
func placeOf(project string) string {
	if isShared(project) {
		return project
	}
	return PathOf(project)
}

// PathOf returns the path without links by which a project is known here. A missing end of the path is kept: the
// allowances of a deleted project can still be taken back.
func PathOf(path string) string {
	if path == "" {
		return ""
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	missing := ""
	for above := path; ; above = filepath.Dir(above) {
		if found, err := filepath.EvalSymlinks(above); err == nil {
			return filepath.Join(found, missing)
		}
		if above == filepath.Dir(above) {
			return path
		}
		missing = filepath.Join(filepath.Base(above), missing)
	}
}
