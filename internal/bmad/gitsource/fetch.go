package gitsource

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// update is an update in progress.
type update struct {
	*cacheEntry
	spec   Spec
	remote remote
}

// target is a ref of the remote, by its full name there, or a commit.
type target struct {
	ref    string
	commit string // with a ref: its commit when it was looked up; else possibly abbreviated
}

// fetch returns the commit that is wanted, with its copy in place, and whether that was made
// now.
func (u *update) fetch(ctx context.Context, before record) (commit string, made bool, err error) {
	want, err := u.resolve(ctx)
	if err != nil {
		return "", false, err
	}
	if want.ref == "" && strings.HasPrefix(before.Commit, want.commit) && u.isWhole(before, before.Commit) {
		return before.Commit, false, nil // a commit does not change
	}
	if u.isWhole(before, want.commit) {
		return want.commit, false, u.revive(want.commit)
	}
	temp := u.in(durable.TempName(checkoutName))
	for _, name := range []string{temp, temp + "/git", temp + "/tree"} {
		if err := u.Mkdir(name); err != nil {
			return "", false, err
		}
	}
	defer func() { _ = u.root.RemoveAll(filepath.FromSlash(temp)) }() // else the next update does
	g := u.remote.in(u.Join(temp+"/git"), u.Join(temp+"/tree"))
	if commit, err = u.download(ctx, g, want); err != nil {
		return "", false, err
	}
	if u.isWhole(before, commit) { // the ref was moved meanwhile
		return commit, false, u.revive(commit)
	}
	if err := u.checkOut(ctx, g, temp, commit); err != nil {
		return "", false, err
	}
	return commit, true, u.publish(temp+"/tree", commit)
}

// hashForm is a ref that may be the beginning of a commit's hash.
var hashForm = pattern.New(`^[0-9a-fA-F]{7,64}$`)

// resolve asks the remote for the current target. Of a branch and a tag of one name the branch
// counts, as it does for git clone; a name counts before a commit.
func (u *update) resolve(ctx context.Context) (target, error) {
	ref := u.spec.ref
	if full := strings.ToLower(ref); commitForm.MatchString(full) {
		return target{commit: full}, nil
	}
	names := []string{"refs/heads/" + ref, "refs/tags/" + ref + "^{}", "refs/tags/" + ref}
	switch {
	case ref == "" || ref == "HEAD":
		names = []string{"HEAD"}
	case strings.HasPrefix(ref, "refs/"):
		names = []string{ref + "^{}", ref}
	}
	answer, err := u.remote.answer(ctx, slices.Concat([]string{"ls-remote", "--quiet"}, u.remote.server(), []string{"--", u.spec.url()}, names)...)
	if err != nil {
		return target{}, err
	}
	found := map[string]string{}
	for line := range strings.Lines(answer) {
		hash, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		if !ok || !commitForm.MatchString(hash) {
			return target{}, fault.New(fault.NotFound, "git ls-remote printed something else than refs").WithHint("see that the program is git, and newer than 2.20")
		}
		found[name] = hash
	}
	for _, name := range names {
		if hash := found[name]; hash != "" {
			return target{ref: strings.TrimSuffix(name, "^{}"), commit: hash}, nil
		}
	}
	switch {
	case names[0] == "HEAD":
		return target{}, fault.New(fault.NotFound, "the remote is empty or has no default branch").WithHint("name a branch, tag or commit after # in the address")
	case hashForm.MatchString(ref):
		return target{commit: strings.ToLower(ref)}, nil
	}
	return target{}, fault.New(fault.NotFound, "the remote has no branch or tag %s", ref).WithHint("name a branch, tag or commit that is there after # in the address")
}

// wholeRepository matches git's message if a server does not send single commits, or parts of a
// history.
var wholeRepository = pattern.New(`not our ref|unadvertised|shallow|remote ref|not valid`)

// download fetches the target into a new repository and returns its commit.
func (u *update) download(ctx context.Context, g remote, want target) (string, error) {
	if len(want.commit) == 64 {
		g.call.Env = append(slices.Clip(g.call.Env), "GIT_DEFAULT_HASH=sha256") // a variable: an old git ignores it
	}
	if _, err := g.answer(ctx, "init", "--quiet", "--template="); err != nil {
		return "", err
	}
	get := func(how ...string) error {
		_, err := g.answer(ctx, slices.Concat([]string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules"}, g.server(), how)...)
		return err
	}
	url := u.spec.url()
	everything := []string{"--", url, "+refs/heads/*:refs/remotes/all/*", "+refs/tags/*:refs/tags/*"}
	var err error
	found := "FETCH_HEAD"
	switch {
	case want.ref != "":
		err = get("--depth=1", "--", url, want.ref)
		if err != nil && wholeRepository.MatchString(err.Error()) {
			err = get("--", url, want.ref)
		}
	case commitForm.MatchString(want.commit):
		err = get("--depth=1", "--", url, want.commit)
		if err != nil && wholeRepository.MatchString(err.Error()) {
			found = want.commit
			err = get(everything...)
		}
	default: // only the full history shows which one is meant
		found = want.commit
		err = get(everything...)
	}
	if err != nil {
		return "", err
	}
	commit, err := g.answer(ctx, "rev-parse", "--verify", "--quiet", found+"^{commit}")
	switch {
	case err != nil && ctx.Err() != nil:
		return "", err
	case err != nil && want.ref == "":
		return "", fault.New(fault.NotFound, "the remote has no commit %s, or several that begin so", want.commit).
			WithHint("name a branch, tag or full commit that is there after # in the address")
	case err != nil || !commitForm.MatchString(commit):
		return "", fault.New(fault.NotFound, "the remote did not send a commit").WithHint("name a branch, tag or commit after # in the address")
	}
	return commit, nil
}
