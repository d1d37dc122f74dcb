package gitsource

import (
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
)

// update asks the remote under its lock, for which it waits, if that is still wanted then.
func (c *Cache) update(ctx context.Context, s Spec, wait time.Duration, wanted func(record) bool) (Copy, bool, error) {
	e, err := c.open(s, true)
	if err != nil {
		return Copy{}, false, c.trouble(err)
	}
	defer func() { _ = e.Close() }()
	served := func() Copy {
		out, _ := e.serve(e.current()) // another error is returned
		return out
	}
	e.LockTimeout = wait
	lock, err := e.Lock(ctx, e.lockName())
	if err != nil {
		return served(), false, c.trouble(err)
	}
	defer func() { _ = lock.Unlock() }() // the system does it when the process ends
	before := e.current()
	if !wanted(before) {
		return served(), false, nil
	}
	after, err := c.try(ctx, e, before)
	if err != nil {
		return served(), false, c.trouble(err)
	}
	out, err := e.serve(after)
	return out, after.Commit != before.Commit || !after.FetchedAt.Equal(before.FetchedAt), err
}

// try makes one try and records first its start, then its result.
func (c *Cache) try(ctx context.Context, e *cacheEntry, before record) (record, error) {
	if _, err := e.MkdirAll(e.key); err != nil {
		return before, err
	}
	if err := e.clear(); err != nil {
		return before, err
	}
	after := before
	after.TriedAt = c.Now().UTC()
	if err := e.save(after); err != nil {
		return before, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, c.timeout(), errTimeout)
	defer cancel()
	commit, made, err := c.begin(limited, e).fetch(limited, before)
	switch {
	case err != nil && ctx.Err() != nil:
		// Cancelled: that says nothing about the remote. If this fails, it counts as a try.
		return before, errors.Join(ctx.Err(), e.save(before))
	case err != nil:
		problem := fault.From(c.trouble(err))
		after.Problem = e.spec.login().line(problem.Message)
		failed := fault.New(problem.Code, "%s cannot be updated: %w", e.spec, problem).WithHint("%s", problem.Advice())
		if before.Commit != "" {
			failed.AddHint("; until then its copy of commit %s is used", before.Commit[:12])
		}
		if err := e.save(after); err != nil {
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
			size, known = e.measure(commit)
		}
		if known {
			after.Held[commit] = size
		}
	}
	if err := e.save(after); err != nil {
		return before, err
	}
	e.tidy(after)
	return after, nil
}

// update is an update in progress.
type update struct {
	entry   *cacheEntry
	timeout time.Duration
	call    git.Call // the common part of all calls
}

// fetch returns the commit that is wanted, with its copy in place, and whether that was made
// now.
func (u *update) fetch(ctx context.Context, before record) (commit string, made bool, err error) {
	ref, commit, err := u.resolve(ctx)
	if err != nil {
		return "", false, err
	}
	if ref == "" && strings.HasPrefix(before.Commit, commit) {
		commit = before.Commit
	}
	if u.entry.isWhole(before, commit) {
		return commit, false, u.entry.revive(commit)
	}
	temp := u.entry.in(durable.TempName("checkout"))
	for _, name := range []string{temp, temp + "/git", temp + "/tree"} {
		if err := u.entry.Mkdir(name); err != nil {
			return "", false, err
		}
	}
	defer func() { _ = os.RemoveAll(u.entry.Join(temp)) }() // else the next update does
	u.call.Dir, u.call.Repository, u.call.Tree = u.entry.Join(temp+"/tree"), u.entry.Join(temp+"/git"), u.entry.Join(temp+"/tree")
	if commit, err = u.download(ctx, ref, commit); err != nil {
		return "", false, err
	}
	if u.entry.isWhole(before, commit) { // the ref was moved meanwhile
		return commit, false, u.entry.revive(commit)
	}
	if err := u.checkOut(ctx, temp, commit); err != nil {
		return "", false, err
	}
	return commit, true, u.publish(temp, commit)
}

// hashForm is a ref that may be the beginning of a commit's hash.
var hashForm = pattern.New(`^[0-9a-fA-F]{7,64}$`)

// resolve asks the remote for the ref that is wanted, and returns its full name there and its commit. If a commit
// is wanted, the name is empty, and the commit possibly abbreviated. Of a branch and a tag of one name the branch
// counts, as it does for git clone; a name counts before a commit.
func (u *update) resolve(ctx context.Context) (ref, commit string, err error) {
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
	answer, err := u.answer(ctx, slices.Concat([]string{"ls-remote", "--quiet"}, u.server(), []string{"--", u.entry.spec.url()}, names)...)
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

// download fetches a ref, or without one a commit, into a new repository and returns the commit.
func (u *update) download(ctx context.Context, ref, want string) (string, error) {
	if len(want) == 64 {
		u.call.Env = append(u.call.Env, "GIT_DEFAULT_HASH=sha256") // a variable: an old git ignores it
	}
	if _, err := u.answer(ctx, "init", "--quiet", "--template="); err != nil {
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
		_, err = u.answer(ctx, slices.Concat([]string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules"}, u.server(), way)...)
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
	commit, err := u.answer(ctx, "rev-parse", "--verify", "--quiet", found+"^{commit}")
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
	if _, err := u.answer(ctx, "read-tree", "-m", "-u", commit); err != nil {
		return err
	}
	entries, err := u.entry.ReadDir(temp + "/tree")
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return fault.New(fault.NotFound, "commit %s has no files", commit[:12]).WithHint("name a branch, tag or commit with something in it")
	}
	return u.sync(ctx, temp+"/tree")
}

// publish gives a checkout its name, durably; it is served if the record says so.
func (u *update) publish(temp, commit string) error {
	aside := temp + "/aside"
	_ = u.entry.Rename(u.entry.in(commit), aside) // a damaged copy; it may be served until the new one is in place
	if err := u.entry.Move(temp+"/tree", u.entry.in(commit)); err != nil {
		_ = u.entry.Rename(aside, u.entry.in(commit)) // if there was one
		return lang.Errorf("the new copy cannot be put in place: %w", err)
	}
	return nil
}

// syncers is how many files are synced at once; a disk confirms several together.
const syncers = 16

// sync makes all of a folder durable.
func (u *update) sync(ctx context.Context, name string) error {
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
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return late(lang.T("writing the files"), u.timeout)
	}
	return err
}
