package project

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
)

// Address says which project, and which session in it, a call is for.
type Address struct {
	// Cwd is the project folder, absolute; empty means the first of Places that fits.
	Cwd string
	// Places are the folders to search when Cwd is empty, the likeliest first.
	Places []string
	// Session is an id or a task name; empty means the project's only active session, or the only one that the
	// caller has started.
	Session string
	// Optional is true if the call can do without a session.
	Optional bool
}

// openPlace opens the folder that a call is for, by open: without Cwd, the first place that can be opened.
func (f *Finder) openPlace(a Address, open func(name string) (*durable.Dir, error)) (*durable.Dir, error) {
	if a.Cwd != "" {
		return f.open(a.Cwd, open)
	}
	var above error // the project that a place belongs to may not be used
	for _, place := range a.Places {
		if !filepath.IsAbs(place) {
			continue
		}
		place = filepath.Clean(place)
		dir, err := open(place)
		if err == nil {
			return dir, nil
		}
		var refused *reach.Refusal
		if errors.As(err, &refused) && refused.Folder != place {
			above = cmp.Or(above, outOfReach(refused))
		}
	}
	if above != nil {
		return nil, above
	}
	unclear := fault.New(fault.InvalidArgument, "it is not clear which project this is for").
		WithHint("pass cwd: the absolute path of the project folder")
	switch {
	case f.reach != nil:
		unclear.AddHint("; the home folder and what holds it are never one")
	case len(f.within) > 0:
		unclear.AddHint(", in %s", either(f.within))
		if projects := f.Some(); len(projects) > 0 {
			unclear.AddHint("; projects there: %s", strings.Join(projects, ", "))
		}
	}
	return nil, unclear
}

// either names the folders one of which is meant.
func either(folders []string) lang.Text {
	out := lang.T("%s", folders[0])
	for _, folder := range folders[1:] {
		out = lang.T("%s or %s", out, folder)
	}
	return out
}

// Where returns the folder that a call is for, even if it lies inside a project or its settings are invalid.
func (f *Finder) Where(a Address) (string, error) {
	dir, err := f.openPlace(a, f.OpenFolder)
	if err != nil {
		return "", err
	}
	defer func() { _ = dir.Close() }() // nothing was written
	return dir.Path(), nil
}

// At opens the project that a call is for.
func (f *Finder) At(a Address) (*Project, error) {
	dir, err := f.openPlace(a, f.openNearest)
	if err != nil {
		return nil, err
	}
	return f.read(dir)
}

// Ready opens the project that a call is for and returns the first problem of its settings,
// prompt files and rubrics that would make an action fail.
func (f *Finder) Ready(a Address) error {
	p, err := f.At(a)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.check()
}

// Find opens the project of the session that a call is for, in the worktree of its run if it has one. The id is empty if
// the call names no session, can do without one, and none of the active ones is the one meant.
func (f *Finder) Find(ctx context.Context, a Address) (*Project, string, error) {
	p, id, err := f.find(ctx, a)
	if err != nil {
		return nil, "", err
	}
	return f.follow(ctx, p, id)
}

// find is Find without the worktree.
func (f *Finder) find(ctx context.Context, a Address) (*Project, string, error) {
	if a.Session == "" {
		return f.only(ctx, a)
	}
	if a.Cwd != "" {
		p, err := f.Open(a.Cwd)
		if err != nil {
			return nil, "", err
		}
		id, err := p.Backend.Find(ctx, a.Session)
		if err != nil {
			p.Close()
			return nil, "", err
		}
		return p, id, nil
	}
	p, id, trouble := f.search(ctx, a.Places, a.Session, false)
	if p != nil || fails(trouble) {
		return p, id, trouble
	}
	// A known project that no longer exists does not concern this call.
	if p, id, err := f.search(ctx, f.listKnown(), a.Session, true); p != nil || fails(err) {
		return p, id, err
	}
	missing := fault.New(fault.NotFound, "no run has the id or task name %q", a.Session).
		WithHint("status without a run lists those of this project (in a terminal: bmad-mcp status --all); for another project pass its cwd")
	switch {
	case fault.Is(trouble, fault.Storage):
		return nil, "", trouble
	case trouble != nil:
		missing = missing.Offer(fault.From(trouble).Suggestions)
	}
	return nil, "", missing
}

// fails reports whether an error ends a search: a session that is missing here may be elsewhere, and also one
// whose folder cannot be read.
func fails(err error) bool {
	return err != nil && !fault.Is(err, fault.Storage) && !fault.Is(err, fault.NotFound)
}

// search looks for a session in several folders. With unique, only one may have it: a
// second one is an error. If none has it, a project whose sessions could not be read is a
// Storage error, else one without it a NotFound error.
func (f *Finder) search(ctx context.Context, places []string, ref string, unique bool) (*Project, string, error) {
	var found *Project
	var foundID string
	var trouble, missing error
	var untied *trust.Untied
	for i, place := range places {
		if slices.Contains(places[:i], place) || !filepath.IsAbs(place) {
			continue
		}
		p, id, err := f.lookIn(ctx, place, ref)
		switch {
		case p == nil && fault.Is(err, fault.Storage) && ctx.Err() == nil:
			trouble = cmp.Or(trouble, err)
			continue
		case p == nil && fault.Is(err, fault.NotFound):
			missing = cmp.Or(missing, err)
			continue
		case p == nil && errors.As(err, &untied): // of a folder that names the project of others, nothing is known
			if !unique {
				missing = cmp.Or(missing, err)
			}
			continue
		case err != nil:
			if found != nil {
				found.Close()
			}
			return nil, "", err
		case p == nil:
			continue
		case found == nil:
			found, foundID = p, id
		case foundID == id: // the same folder under another path
			p.Close()
		default:
			first, second := found.Dir.Path(), p.Dir.Path()
			p.Close()
			found.Close()
			return nil, "", fault.New(fault.Conflict, "the run %q exists in several projects: %s and %s", ref, first, second).
				WithHint("pass cwd, or the session id")
		}
		if !unique {
			break
		}
	}
	if found == nil {
		return nil, "", cmp.Or(trouble, missing)
	}
	return found, foundID, nil
}

// lookIn opens the project in a folder if it has the session. A missing folder is skipped; one that has the
// session and cannot be opened, for example because of its settings, is an error.
func (f *Finder) lookIn(ctx context.Context, place, ref string) (*Project, string, error) {
	dir, err := f.openNearest(filepath.Clean(place))
	if err != nil {
		return nil, "", nil
	}
	id, err := f.findIn(ctx, dir, ref)
	if err != nil {
		_ = dir.Close() // nothing was written
		return nil, "", cmp.Or(ctx.Err(), err)
	}
	p, err := f.read(dir)
	return p, id, err
}

// findIn looks for a session in an open folder, whose own settings have no say in where it is kept.
func (f *Finder) findIn(ctx context.Context, dir *durable.Dir, ref string) (string, error) {
	cfg, err := f.settings.Load(nil)
	if err != nil {
		return "", err
	}
	_, backend, err := Locate(dir, cfg, f.state, f.backend)
	if err != nil {
		return "", err
	}
	return backend.Find(ctx, ref)
}

// maxNames bounds the task names that an answer lists, the newest.
const maxNames = 10

// only finds the only active session of the project that a call is for, or the only one of the caller's own.
func (f *Finder) only(ctx context.Context, a Address) (*Project, string, error) {
	p, err := f.At(a)
	if err != nil {
		return nil, "", err
	}
	page, err := p.candidates(ctx, a.Optional)
	if err != nil {
		p.Close()
		return nil, "", err
	}
	if page.Total == 1 {
		return p, page.Sessions[0].SessionID, nil
	}
	if i := slices.IndexFunc(page.Sessions, p.isWorktreeOf); i >= 0 {
		return p, page.Sessions[i].SessionID, nil
	}
	own, err := f.ownOf(ctx, p, page)
	switch {
	case err != nil:
		p.Close()
		return nil, "", err
	case own != "":
		for _, s := range page.Sessions {
			if s.SessionID != own {
				p.Others = append(p.Others, s.TaskName)
			}
		}
		return p, own, nil
	case a.Optional:
		return p, "", nil
	}
	path := p.Dir.Path()
	p.Close()
	if broken := store.CannotBeRead(page.Broken); page.Active == 0 && len(broken) > 0 { // one of them may be meant
		return nil, "", fault.New(fault.Storage, "the project %s has no active run that can be read: %s", path, broken[0].Err).
			WithHint("doctor names the remedy; until then, name the run that is meant")
	}
	if page.Active == 0 {
		return nil, "", fault.New(fault.NotFound, "the project %s has no active run", path).
			WithHint("start one, or pass session_id to reopen a completed one")
	}
	store.SortByAge(page.Sessions)
	names := make([]string, len(page.Sessions))
	for i, s := range page.Sessions {
		names[i] = s.TaskName
	}
	more := ""
	if page.Next != "" {
		more = ", …"
	}
	return nil, "", fault.New(fault.Conflict, "the project %s has %d active runs", path, page.Active).
		WithHint("pass session_id; the task names are: %s%s", strings.Join(names, ", "), more)
}

// maxOwn bounds the active sessions that are read to find whose they are.
const maxOwn = 100

// ownOf returns the one of several active sessions that the caller has started; "" if there is none, or if it is one
// of several. A page that is not whole leaves out too many.
func (f *Finder) ownOf(ctx context.Context, p *Project, page store.Page) (own string, err error) {
	if f.who == nil || page.Active < 2 || page.Active > maxOwn {
		return "", nil
	}
	who, key := f.who(p.Dir.Path()), signature.Key("")
	if f.state != "" {
		signer, err := f.state.ReadSigner()
		if signer == nil { // who has no key has signed no start
			return "", err
		}
		key = signer.Public()
	}
	if page.Next != "" {
		if page, err = p.page(ctx, store.Active()); err != nil {
			return "", err
		}
	}
	for _, known := range page.Sessions {
		s, err := p.Backend.Get(ctx, known.SessionID)
		switch {
		case fault.Is(err, fault.NotFound): // gone since
		case err != nil:
			return "", err
		case !s.BegunBy(who, key):
		case own != "":
			return "", nil
		default:
			own = s.SessionID
		}
	}
	return own, nil
}

// candidates returns the active sessions of a project, at most maxNames. If it has none, and the call needs a
// session, any two: the state of an only one decides about the action.
func (p *Project) candidates(ctx context.Context, optional bool) (store.Page, error) {
	q := store.Active()
	q.Limit = maxNames
	find := p.page
	if p.IsShared() && !optional { // columns beside the sessions must not choose the one that a decision goes to
		find = func(ctx context.Context, q store.Query) (store.Page, error) {
			all, err := p.Sessions(ctx)
			if err != nil {
				return store.Page{}, err
			}
			return all.Page(q)
		}
	}
	page, err := find(ctx, q)
	if err == nil && page.Total == 0 && !optional {
		return find(ctx, store.Query{Limit: 2})
	}
	return page, err
}
