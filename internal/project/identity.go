package project

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// A project has an id, which histories name. It lies in the run state, which is never committed:
// clones and worktrees of a repository are projects of their own, and a moved folder keeps its id.
// In a shared store its key takes the place of the id, so that they are one project there.

const (
	identityLock = store.Folder + "/locks/identity.lock"
	// localKind begins an id that was made for one folder.
	localKind = "local:"
	// maxIdentity is the length of the longest id, in bytes.
	maxIdentity = 200
)

// ID returns the id of the project; "" if it has none that can be read. A link does not count: it
// could lead to a file of the repository.
func (p *Project) ID() string {
	if p.IsShared() {
		return p.key
	}
	if known := p.id.Load(); known != nil {
		return *known
	}
	id := readID(p.Home)
	if id != "" {
		p.id.Store(&id)
	}
	return id
}

// Place names the place of the sessions for what is noted outside of it: the folder with their files, or the
// project in a shared store, from whichever clone it is looked at. A copy of a folder is another place.
func (p *Project) Place() string {
	if p.IsShared() {
		return "store:" + p.key
	}
	return p.Home.Path()
}

// IsShared reports whether the sessions are in a store that clones share.
func (p *Project) IsShared() bool { return p.key != "" }

// IsLocal reports whether the project has neither a remote of git nor a name in the settings: it is one folder, and other
// clones and worktrees are projects of their own.
func (p *Project) IsLocal() bool { return isLocal(p.ID()) }

func readID(dir *durable.Dir) string {
	if info, err := dir.Lstat(workflow.ProjectFile); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	data, err := dir.ReadFile(workflow.ProjectFile, maxIdentity+1)
	id, ended := strings.CutSuffix(string(data), "\n")
	if err != nil || !ended || id == "" || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return id
}

// EnsureID returns the id of the project, and gives it one if it has none that can be read: the
// known one, by which the caller knows the project already, or a new one if that is empty. Of
// several processes that do this at once, all return the same. An existing id is never replaced.
func (p *Project) EnsureID(ctx context.Context, known string) (string, error) {
	if id := p.ID(); id != "" {
		return id, nil
	}
	return ensureID(ctx, p.Home, known)
}

func ensureID(ctx context.Context, dir *durable.Dir, known string) (string, error) {
	if _, err := dir.MkdirAll(store.Folder + "/locks"); err != nil {
		return "", err
	}
	lock, err := dir.Lock(ctx, identityLock)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Unlock() }()
	if id := readID(dir); id != "" { // of another process
		return id, nil
	}
	if known == "" {
		known = localKind + uuid.NewString()
	}
	if err := dir.Ignore(store.Folder); err != nil { // a committed id would be that of every clone
		return "", err
	}
	return known, dir.Replace(workflow.ProjectFile, []byte(known+"\n"))
}
