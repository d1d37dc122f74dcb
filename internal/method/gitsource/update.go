package gitsource

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/method/internal/npm"
)

// updateRemote asks the remote under a lock, if wanted still agrees after the wait for the lock.
func (c *Cache) updateRemote(ctx context.Context, s Spec, wait time.Duration, wanted func(record) bool) (Copy, bool, error) {
	e, err := c.openEntry(s, true)
	if err != nil {
		return Copy{}, false, c.explainError(err)
	}
	defer func() { _ = e.Close() }()
	served := func() Copy {
		out, _ := e.copyOf(e.currentRecord()) // another error is returned
		return out
	}
	e.LockTimeout = wait
	lock, err := e.Lock(ctx, e.lockName())
	if err != nil {
		return served(), false, c.explainError(err)
	}
	defer func() { _ = lock.Unlock() }() // the system does it when the process ends
	before := e.currentRecord()
	if !wanted(before) {
		return served(), false, nil
	}
	after, err := c.tryUpdate(ctx, e, before)
	if err != nil {
		return served(), false, c.explainError(err)
	}
	out, err := e.copyOf(after)
	return out, after.Commit != before.Commit || !after.FetchedAt.Equal(before.FetchedAt), err
}

// tryUpdate makes one try and records first the start, then the result.
func (c *Cache) tryUpdate(ctx context.Context, e *cacheEntry, before record) (record, error) {
	if _, err := e.MkdirAll(e.key); err != nil {
		return before, err
	}
	if err := e.removeLeftovers(); err != nil {
		return before, err
	}
	after := before
	after.TriedAt = c.Now().UTC()
	if err := e.saveRecord(after); err != nil {
		return before, err
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	commit, made, err := c.newUpdate(limited, e).fetchCommit(limited, before)
	switch {
	case err != nil && ctx.Err() != nil:
		// Cancelled, which says nothing about the remote. If this fails, it counts as a try.
		return before, errors.Join(ctx.Err(), e.saveRecord(before))
	case err != nil:
		if errors.Is(err, context.DeadlineExceeded) {
			err = timeoutError(lang.T("fetching or writing the files"), c.timeout())
		}
		problem := fault.From(c.explainError(err))
		after.Problem = e.spec.login().cleanLine(problem.Message)
		failed := fault.New(problem.Code, "%s cannot be fetched: %w", e.spec, problem).WithHint("%s", problem.Advice())
		if before.Commit != "" {
			failed.AddHint("; until then its copy of commit %s is used", ShortCommit(before.Commit))
		}
		if err := e.saveRecord(after); err != nil {
			return before, err
		}
		return before, failed
	}
	after.CheckedAt, after.Problem = after.TriedAt, ""
	if commit != before.Commit {
		after.Commit, after.Previous = commit, before.Commit
	}
	if made || commit != before.Commit {
		after.FetchedAt = after.TriedAt
	}
	after.Held = map[string]contentSize{}
	for _, commit := range []string{after.Commit, after.Previous} {
		size, known := before.Held[commit]
		if !known || made && commit == after.Commit {
			size, known = e.measureCopy(commit)
		}
		if known {
			after.Held[commit] = size
		}
	}
	if err := e.saveRecord(after); err != nil {
		return before, err
	}
	e.removeUnserved(after)
	return after, nil
}

// update is an update in progress.
type update struct {
	entry    *cacheEntry
	timeout  time.Duration
	call     git.Call // the common part of all calls
	registry string   // the address of the registry of packages, "" for the public one
}

// fetchCommit returns the wanted commit, with a copy in place, and whether the copy is new.
func (u *update) fetchCommit(ctx context.Context, before record) (commit string, made bool, err error) {
	if u.entry.spec.scheme == schemeNPM {
		return u.fetchRelease(ctx, before)
	}
	ref, commit, err := u.resolveRef(ctx)
	if err != nil {
		return "", false, err
	}
	if ref == "" && strings.HasPrefix(before.Commit, commit) {
		commit = before.Commit
	}
	if u.entry.isWhole(before, commit) {
		return commit, false, u.entry.makeNewest(commit)
	}
	temp, discard, err := u.makeTemp("git", "tree")
	defer discard()
	if err != nil {
		return "", false, err
	}
	u.call.Dir, u.call.Repository, u.call.Tree = u.entry.Join(temp+"/tree"), u.entry.Join(temp+"/git"), u.entry.Join(temp+"/tree")
	if commit, err = u.downloadCommit(ctx, ref, commit); err != nil {
		return "", false, err
	}
	if u.entry.isWhole(before, commit) { // the ref was moved meanwhile
		return commit, false, u.entry.makeNewest(commit)
	}
	if err := u.checkOut(ctx, temp, commit); err != nil {
		return "", false, err
	}
	return commit, true, u.publishCheckout(temp, commit)
}

// makeTemp makes a folder for a copy under way, with folders in it, and returns a function that removes all of it.
func (u *update) makeTemp(folders ...string) (temp string, discard func(), err error) {
	temp = u.entry.pathOf(durable.TempName("checkout"))
	err = u.entry.Mkdir(temp)
	for _, name := range folders {
		if err == nil {
			err = u.entry.Mkdir(temp + "/" + name)
		}
	}
	return temp, func() { _ = os.RemoveAll(u.entry.Join(temp)) }, err // else the next update does
}

// fetchRelease returns the ID of the wanted release of a package, with a copy in place, and whether the copy is new. A
// version never changes, so that a whole copy of the only one wanted asks nobody.
func (u *update) fetchRelease(ctx context.Context, before record) (id string, made bool, err error) {
	s, known := u.entry.spec, npm.VersionIn(before.Commit)
	if known != "" && known == s.ref && u.entry.isWhole(before, before.Commit) {
		return before.Commit, false, nil
	}
	registry, err := npm.Open(u.registry)
	if err != nil {
		return "", false, err
	}
	release, err := registry.Find(ctx, s.path, cmp.Or(s.ref, "latest"))
	if err != nil {
		return "", false, err
	}
	switch id = release.ID(); {
	case known == release.Version && id != before.Commit:
		return "", false, fault.New(fault.NotFound, "the registry has another hash of version %s than before", known).
			WithHint("a version never changes: ask the author of the package; if the new one is right, remove the source and add it again")
	case u.entry.isWhole(before, id):
		return id, false, u.entry.makeNewest(id)
	}
	archive, err := registry.Download(ctx, release)
	if err != nil {
		return "", false, err
	}
	temp, discard, err := u.makeTemp("tree")
	defer discard()
	if err != nil {
		return "", false, err
	}
	tree, err := durable.OpenDir(u.entry.Join(temp + "/tree"))
	if err != nil {
		return "", false, err
	}
	defer func() { _ = tree.Close() }()
	if err := npm.Unpack(ctx, archive, tree, MaxFiles); err != nil {
		return "", false, err
	}
	if err := u.syncFolder(ctx, temp+"/tree"); err != nil {
		return "", false, err
	}
	return id, true, u.publishCheckout(temp, id)
}

// hashForm is a ref with the form of a commit's hash, or of the beginning of one.
var hashForm = pattern.New(`^[0-9a-fA-F]{7,64}$`)

// resolveRef asks the remote for the wanted ref, and returns the full name there and the commit. For a
// commit the name is empty, and the commit possibly abbreviated. A branch takes precedence over a tag of
// the same name, as it does for git clone; a name counts before a commit.
func (u *update) resolveRef(ctx context.Context) (ref, commit string, err error) {
	ref = u.entry.spec.ref
	if full := strings.ToLower(ref); commitForm.MatchString(full) {
		return "", full, nil
	}
	names := []string{"refs/heads/" + ref, "refs/tags/" + ref + "^{}", "refs/tags/" + ref}
	switch {
	case ref == "" || ref == "HEAD":
		names = []string{"HEAD"}
	case strings.HasPrefix(ref, "refs/"):
		names = []string{ref + "^{}", ref}
	}
	answer, err := u.askGit(ctx, slices.Concat([]string{"ls-remote", "--quiet"}, u.serverArgs(), []string{"--", u.entry.spec.url()}, names)...)
	if err != nil {
		return "", "", err
	}
	found := map[string]string{}
	for line := range strings.Lines(answer) {
		hash, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		if !ok || !commitForm.MatchString(hash) {
			return "", "", fault.New(fault.NotFound, "git ls-remote printed something else than refs").WithHint("see that the program is git, and newer than 2.20")
		}
		found[name] = hash
	}
	for _, name := range names {
		if hash := found[name]; hash != "" {
			return strings.TrimSuffix(name, "^{}"), hash, nil
		}
	}
	switch {
	case names[0] == "HEAD":
		return "", "", fault.New(fault.NotFound, "the remote is empty or has no default branch").WithHint("name a branch, tag or commit after # in the address")
	case hashForm.MatchString(ref):
		return "", strings.ToLower(ref), nil
	}
	return "", "", fault.New(fault.NotFound, "the remote has no branch or tag %s", ref).WithHint("name a branch, tag or commit that is there after # in the address")
}

// wholeRepository matches git's message if a server does not send single commits, or parts of a
// history.
var wholeRepository = pattern.New(`not our ref|unadvertised|shallow|remote ref|not valid`)

// downloadCommit fetches a ref, or without one a commit, into a new repository and returns the commit.
func (u *update) downloadCommit(ctx context.Context, ref, want string) (string, error) {
	if len(want) == 64 {
		u.call.Env = append(u.call.Env, "GIT_DEFAULT_HASH=sha256") // a variable: an old git ignores it
	}
	if _, err := u.askGit(ctx, "init", "--quiet", "--template="); err != nil {
		return "", err
	}
	url := u.entry.spec.url()
	everything := []string{"--", url, "+refs/heads/*:refs/remotes/all/*", "+refs/tags/*:refs/tags/*"}
	ways := [][]string{{"--depth=1", "--", url, want}, everything}
	switch {
	case ref != "":
		ways = [][]string{{"--depth=1", "--", url, ref}, {"--", url, ref}}
	case !commitForm.MatchString(want):
		ways = ways[1:] // only the full history shows which one is meant
	}
	var err error
	for _, way := range ways {
		_, err = u.askGit(ctx, slices.Concat([]string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules"}, u.serverArgs(), way)...)
		if err == nil || !wholeRepository.MatchString(err.Error()) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	found := "FETCH_HEAD"
	if ref == "" {
		found = want
	}
	commit, err := u.askGit(ctx, "rev-parse", "--verify", "--quiet", found+"^{commit}")
	switch {
	case err != nil && ctx.Err() != nil:
		return "", err
	case err != nil && ref == "":
		return "", fault.New(fault.NotFound, "the remote has no commit %s, or several that begin so", want).
			WithHint("name a branch, tag or full commit that is there after # in the address")
	case err != nil || !commitForm.MatchString(commit):
		return "", fault.New(fault.NotFound, "the remote did not send a commit").WithHint("name a branch, tag or commit after # in the address")
	}
	return commit, nil
}

// attributes keeps the files of a copy byte for byte as they are in the repository, and runs no
// program for them. It takes precedence over the repository's attributes.
const attributes = "* -text -ident !filter !working-tree-encoding\n"

// checkOut puts the files of a commit into the folder tree of temp, durably.
func (u *update) checkOut(ctx context.Context, temp, commit string) error {
	if err := u.checkSize(ctx, commit); err != nil {
		return err
	}
	info := u.entry.Join(temp + "/git/info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(info, "attributes"), []byte(attributes), 0o600); err != nil {
		return err
	}
	if _, err := u.askGit(ctx, "read-tree", "-m", "-u", commit); err != nil {
		return err
	}
	entries, err := u.entry.ReadDir(temp + "/tree")
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return fault.New(fault.NotFound, "commit %s has no files", commit[:12]).WithHint("name a branch, tag or commit with something in it")
	}
	return u.syncFolder(ctx, temp+"/tree")
}

// publishCheckout gives a checkout its name, durably; it is served when the record says so.
func (u *update) publishCheckout(temp, commit string) error {
	aside := temp + "/aside"
	_ = u.entry.Rename(u.entry.pathOf(commit), aside) // a damaged copy; it may be served until the new one is in place
	if err := u.entry.Move(temp+"/tree", u.entry.pathOf(commit)); err != nil {
		_ = u.entry.Rename(aside, u.entry.pathOf(commit)) // if there was one
		return lang.Errorf("the new copy cannot be put in place: %w", err)
	}
	return nil
}

// syncers is how many files are synced at once; a disk confirms several together.
const syncers = 16

// syncFolder makes all of a folder durable.
func (u *update) syncFolder(ctx context.Context, name string) error {
	var steps []func() error
	err := fs.WalkDir(u.entry.Tree(), name, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && (entry.IsDir() || entry.Type().IsRegular()) {
			steps = append(steps, func() error { return u.entry.SyncDir(name) }) // it syncs files as well
		}
		return err
	})
	for some := range slices.Chunk(steps, syncers) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			break
		}
		err = u.entry.Together(some)
	}
	return err
}
