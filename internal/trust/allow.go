package trust

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const allowedFile = "allowed.json"

// The kinds of what can be allowed.
const (
	// KindVerify is a command that the server may run to verify work; its content is
	// the command itself.
	KindVerify = "verify"
	// KindRubric is a file by whose rules the server may audit documents; its content
	// is the file's.
	KindRubric = "rubric"
	// KindSource is a git repository from which the server may take agents and workflows of
	// the BMAD method; its content is its address.
	KindSource = "source"
	// KindOwnVerify is the person's own verify command, which may run in a project; its
	// content is the permission alone, so that they can change the command as they like.
	KindOwnVerify = "own_verify"
	// KindScript is a file of the project that something allowed runs; its content is the
	// file's. A newer one takes the place of the one before.
	KindScript = "script"
	// KindWorkflow is a workflow that a project brings, which could leave gates out; its content
	// is the file's.
	KindWorkflow = "workflow"
)

// Kinds returns the kinds of what can be allowed.
func Kinds() []string {
	return []string{KindVerify, KindRubric, KindSource, KindOwnVerify, KindScript, KindWorkflow}
}

// Allowance is one thing that a person has allowed in one project.
type Allowance struct {
	// Project is the path of the project's folder.
	Project string `json:"project"`
	// Kind is one of Kinds.
	Kind string `json:"kind"`
	// Text tells people what it is: the command, the path of the rubric or script, or the address.
	Text string `json:"text"`
	// SHA256 is the hash of the content, and alone says what is allowed. That of a
	// command or an address is made here, whatever a caller gives.
	SHA256 string    `json:"sha256"`
	At     time.Time `json:"at"`
	// ProjectID is that of the project where it was allowed, for kinds that run what lies in
	// the project; "" if an older version has recorded it. It is set here.
	ProjectID string `json:"project_id,omitempty"`
	// Files is true where the files that a command names were recorded with it, as KindScript:
	// one without a record has come since.
	Files bool `json:"files,omitempty"`
}

// normal returns the allowance as it is kept and compared.
func (a Allowance) normal() Allowance {
	a.Project = resolve(a.Project)
	a.SHA256 = strings.ToLower(a.SHA256)
	switch a.Kind {
	case KindVerify, KindSource:
		a.SHA256 = workflow.Hash([]byte(a.Text))
	case KindOwnVerify:
		a.SHA256 = workflow.Hash([]byte(KindOwnVerify))
	}
	return a
}

// check says what keeps an allowance from meaning something.
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

// same reports whether two allowances, as they are kept, allow the same.
func (a Allowance) same(b Allowance) bool {
	return a.Project == b.Project && a.Kind == b.Kind && a.SHA256 == b.SHA256
}

// Allowed reports whether a person has allowed it. A list that cannot be read allows
// nothing; Allowances says what is wrong with it.
func (f Folder) Allowed(a Allowance) bool {
	a = a.normal()
	if a.check() != nil {
		return false
	}
	return slices.ContainsFunc(f.InForce(a.Project), a.same)
}

// Allow records that a person allows it. What was allowed before is recorded anew.
func (f Folder) Allow(ctx context.Context, a Allowance) error {
	a = a.normal()
	if err := a.check(); err != nil {
		return err
	}
	d, err := f.make()
	if err != nil {
		return f.trouble(err)
	}
	defer func() { _ = d.Close() }()
	return f.trouble(d.allow(ctx, a))
}

func (d dir) allow(ctx context.Context, a Allowance) error {
	var unbound error
	err := d.changeAllowances(ctx, func(list []Allowance) []Allowance {
		if a, unbound = a.bind(list); unbound != nil {
			return list
		}
		return append(slices.DeleteFunc(list, a.replaces), a)
	})
	return cmp.Or(unbound, err)
}

// Disallow takes back all of a kind that was allowed in a project, and returns how many
// there were.
func (f Folder) Disallow(ctx context.Context, project, kind string) (int, error) {
	if !slices.Contains(Kinds(), kind) {
		return 0, unknownKind(kind)
	}
	d, err := f.open()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, f.trouble(err)
	}
	defer func() { _ = d.Close() }()
	n, err := d.disallow(ctx, resolve(project), kind)
	return n, f.trouble(err)
}

func (d dir) disallow(ctx context.Context, project, kind string) (n int, err error) {
	err = d.changeAllowances(ctx, func(list []Allowance) []Allowance {
		rest := slices.DeleteFunc(slices.Clone(list), func(a Allowance) bool { return a.Project == project && a.Kind == kind })
		n = len(list) - len(rest)
		return rest
	})
	return n, err
}

// Allowances returns all that the person has allowed, in every project, the oldest first.
func (f Folder) Allowances() ([]Allowance, error) {
	d, err := f.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, f.trouble(err)
	}
	defer func() { _ = d.Close() }()
	list, err := d.allowances()
	return list, f.trouble(err)
}

// allowed is the file's form.
type allowed struct {
	Allowed []Allowance `json:"allowed"`
}

// allowances reads the list; where there is no file it is empty.
func (d dir) allowances() ([]Allowance, error) {
	var list allowed
	if err := d.readJSON(allowedFile, &list); err != nil {
		return nil, fault.New(fault.Storage, "%s cannot be read, so nothing is allowed: %w", d.Join(allowedFile), err).
			WithHint("correct it, or move it away and allow again what you want")
	}
	return list.Allowed, nil
}

func (d dir) changeAllowances(ctx context.Context, to func([]Allowance) []Allowance) error {
	return change(ctx, d, allowedFile, d.allowances, to, func(list []Allowance) any { return allowed{list} })
}

// resolve returns the one path by which a folder is known, so that a link to a project is
// the project. What is missing at the end stays as it is: of a project that is gone its
// allowances can still be taken back.
func resolve(path string) string {
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
