package trust

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

var ties = list[Tie]{"ties.json", "ties", lang.T("it is not known which projects folders show"), lang.T("each folder shows what it names first")}

// Tie is the memory that a folder shows a project of a store that is shared. A folder names its project by files in it,
// which a stranger can have written, or an assistant can change: the name that came first counts.
type Tie struct {
	// Folder has no links. Of a git repository it is the Home of its origin.
	Folder  string `json:"folder"`
	Project string `json:"project"`
}

// Claim is what a folder names as its project.
type Claim struct {
	Tie
	// Path is that of the project's folder, without links, and Home that of its repository; "" if it is in none.
	Path, Home string
}

// Untied is why a folder does not show the project that it names.
type Untied struct {
	Claim
	// Before is the project that the folder has shown, Other a folder that shows the project; "" if that is not the
	// reason. If neither is, the project has sessions of which this folder knows nothing.
	Before, Other string
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
	case u.Other != "":
		e = fault.New(fault.NotAllowed, "the folder %s names the project %q of the store, which another folder shows: %s", u.Path, u.Project, u.Other)
	default:
		e = fault.New(fault.NotAllowed, "the folder %s names the project %q of the store, whose runs it has not shown before", u.Path, u.Project)
	}
	e.Err = u
	return e.WithHint("files of a folder can name the project of others, so the person says which one it is: by bmad-mcp allow in that folder, at a terminal, " +
		"or by project: NAME in their own settings; nothing was shown or changed")
}

// isOf reports whether a memory is of the folder of a claim.
func (c Claim) isOf(t Tie) bool { return t.Folder == c.Path || t.Folder == c.Home }

// Before returns the project that the folder of a claim has shown; "" if it has shown none.
func (c Claim) Before(list []Tie) string {
	if at := slices.IndexFunc(list, c.isOf); at >= 0 {
		return list[at].Project
	}
	return ""
}

// Judge reports whether a claim is what is remembered, and returns an error if it is not and something else is.
func (c Claim) Judge(list []Tie) (known bool, err error) {
	switch before := c.Before(list); {
	case slices.Contains(list, Tie{c.Folder, c.Project}):
		return true, nil
	case before != "":
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
	return ties.get(u)
}

// Tie remembers a claim, unless something else is remembered. Folders that are gone are forgotten.
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
