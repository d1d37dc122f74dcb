package trust

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

var ties = list[Tie]{"ties.json", "ties", lang.T("it is not known which projects folders show"), lang.T("each folder shows what it names first")}

// Tie records that a folder shows a project of a shared store. A folder names the project by files in it, and
// hosts take variables from such files. A stranger can have written the files, and an assistant can change them:
// the first tie counts.
type Tie struct {
	// Folder has no links. Of a git repository it is the Home of the origin.
	Folder  string `json:"folder"`
	Project string `json:"project"`
	// Store is the address of the store, without account and password; "" if an older program has remembered it.
	Store string `json:"store,omitempty"`
}

// Claim is the project named by a folder.
type Claim struct {
	Tie
	// Path is the path of the project's folder, without links, and Home the path of the repository; "" if it is in
	// none.
	Path, Home string
	// OwnProject and OwnStore are true if the settings of the person, in a file of theirs, name the project or the store.
	OwnProject, OwnStore bool
}

// Untied is the reason why a folder does not show the project it names.
type Untied struct {
	Claim
	// Before is the project shown by the folder so far, BeforeStore the store of its runs so far, Other another
	// folder that shows the project; each is "" if it is not the reason. If all are, the project has sessions
	// unknown to this folder.
	Before, BeforeStore, Other string
}

func (u *Untied) Error() string { return "the folder " + u.Path + " is not tied to " + u.Project }

// Refuse returns the error for a claim.
func (u *Untied) Refuse() *fault.Error {
	var e *fault.Error
	switch {
	case u.Before != "" && u.Project == "":
		e = fault.New(fault.NotAllowed, "the folder %s names no project of the store any more, and has shown %q", u.Path, u.Before)
	case u.Before != "":
		e = fault.New(fault.NotAllowed, "the folder %s names the project %q of the store, and has shown %q", u.Path, u.Project, u.Before)
	case u.BeforeStore != "":
		e = fault.New(fault.NotAllowed, "a variable has the runs of the folder %s in the store %s, and they were in %s", u.Path, u.Store, u.BeforeStore)
	case u.Other != "":
		e = fault.New(fault.NotAllowed, "the folder %s names the project %q of the store, which another folder shows: %s", u.Path, u.Project, u.Other)
	default:
		e = fault.New(fault.NotAllowed, "the folder %s names the project %q of the store, whose runs it has not shown before", u.Path, u.Project)
	}
	e.Err = u
	return e.WithHint("files of a folder can name the project or the store of others, so the person says which one it is: by bmad-mcp allow in that folder, " +
		"at a terminal, or by project and store in their own settings; nothing was shown or changed")
}

// isOf reports whether a memory is of the folder of a claim.
func (c Claim) isOf(t Tie) bool { return t.Folder == c.Path || t.Folder == c.Home }

// Before returns the project shown so far by the folder of a claim; "" if there is none.
func (c Claim) Before(list []Tie) string {
	if at := slices.IndexFunc(list, c.isOf); at >= 0 {
		return list[at].Project
	}
	return ""
}

// Judge reports whether a claim is what is remembered, and returns an error if it is not and something else is.
func (c Claim) Judge(list []Tie) (known bool, err error) {
	if at := slices.IndexFunc(list, func(t Tie) bool { return t.Folder == c.Folder && t.Project == c.Project }); at >= 0 {
		if store := list[at].Store; store != "" && store != c.Store && !c.OwnStore {
			return false, (&Untied{Claim: c, BeforeStore: store}).Refuse()
		}
		return list[at] == c.Tie, nil
	}
	if c.OwnProject {
		return false, nil
	}
	if before := c.Before(list); before != "" {
		return false, (&Untied{Claim: c, Before: before}).Refuse()
	}
	for _, t := range list {
		if t.Project == c.Project && !isGone(t) {
			return false, (&Untied{Claim: c, Other: t.Folder}).Refuse()
		}
	}
	return false, nil
}

// isGone reports whether the folder of a memory certainly does not exist.
func isGone(t Tie) bool {
	_, err := os.Stat(t.Folder)
	return errors.Is(err, fs.ErrNotExist)
}

// Ties returns what is remembered of folders. It is an error if nothing can be.
func (u UserState) Ties() ([]Tie, error) {
	if u == "" {
		return nil, u.withFolder(nil)
	}
	return ties.readList(u)
}

// StoreOf returns the store in which this machine has seen the runs of a folder, without the account; "" if in none.
func (u UserState) StoreOf(folder string) string {
	list, _ := u.Ties() // what cannot be read is told where it is needed
	real := PathOf(folder)
	for _, t := range list {
		home := strings.TrimSuffix(t.Folder, string(filepath.Separator)+".git")
		if rel, err := filepath.Rel(home, real); err == nil && t.Store != "" && filepath.IsLocal(rel) {
			return t.Store
		}
	}
	return ""
}

// Tie remembers a claim, unless another one is remembered. Folders that are gone are forgotten.
func (u UserState) Tie(ctx context.Context, c Claim) error {
	return u.changeTies(ctx, c, func(list []Tie) (bool, error) { return c.Judge(list) })
}

// Retie remembers what the person has said of a folder in place of what it has shown before. Without a project the folder
// is free to name one.
func (u UserState) Retie(ctx context.Context, c Claim) error {
	return u.changeTies(ctx, c, func([]Tie) (bool, error) { return false, nil })
}

func (u UserState) changeTies(ctx context.Context, c Claim, judge func([]Tie) (bool, error)) error {
	return u.withFolder(func(d dir) error {
		return ties.change(ctx, d, func(list []Tie) ([]Tie, error) {
			if known, err := judge(list); known || err != nil {
				return list, err
			}
			list = slices.DeleteFunc(list, func(t Tie) bool { return c.isOf(t) || isGone(t) })
			if c.Project == "" {
				return list, nil
			}
			return append(list, c.Tie), nil
		})
	})
}
