package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// remote is a remote of a desk.
type remote struct {
	*desk
	name string // for people
	// address is where git reaches it, by all of the person's rules (url.<base>.insteadOf).
	address string
	call    Call
	// isLocal reports whether it is a repository on this disk. Then its own side is a git of this machine, too.
	isLocal bool
	// hooks reports whether it is on this disk and has hooks for pushes.
	hooks bool
}

// remoteName returns the name of the remote origin, or of the only one; "" if there is none. For pushes the settings can
// name another one, or an address.
func (d *desk) remoteName(isForPush bool) string {
	names := map[string]bool{}
	pushDefault := ""
	for _, s := range d.settings {
		if name, ok := strings.CutPrefix(s.key, "remote."); ok && strings.HasSuffix(name, ".url") {
			names[strings.TrimSuffix(name, ".url")] = true
		}
		if s.key == "remote.pushdefault" {
			pushDefault = s.value
		}
	}
	switch {
	case isForPush && pushDefault != "":
		return pushDefault
	case names["origin"]:
		return "origin"
	case len(names) == 1:
		return slices.Collect(maps.Keys(names))[0]
	}
	return ""
}

// openRemote returns the remote from which git fetches, or to which it pushes. The address is the repository's; what the
// person's own settings make of it has to have an allowed transport, too.
func (d *desk) openRemote(ctx context.Context, isForPush bool) (*remote, error) {
	name := d.remoteName(isForPush)
	if name == "" {
		return nil, fault.New(fault.NotFound, "%s has no remote, or several and none called origin", d.tree).WithHint("name one: git remote add origin ADDRESS")
	}
	own, list := "fetch", []string{"remote", "get-url"}
	if isForPush {
		own, list = "push", append(list, "--push")
	}
	// The view gets the remote under a name of its own, so that git itself says where it leads.
	var addresses []setting
	for _, s := range d.settings {
		key, ok := strings.CutPrefix(s.key, "remote."+name+".")
		isAddress := key == "url" || key == "pushurl"
		if ok && isAddress {
			addresses = append(addresses, setting{key: "remote." + own + "." + key, value: s.value})
		}
	}
	if len(addresses) == 0 {
		addresses = []setting{{key: "remote." + own + ".url", value: name}}
	}
	for _, s := range addresses {
		if _, err := transportOf(s.value); err != nil {
			return nil, err
		}
	}
	if err := d.addToConfig(addresses); err != nil {
		return nil, err
	}
	address, err := d.ask(ctx, append(list, own)...)
	if err != nil {
		return nil, err
	}
	protocol, err := transportOf(address)
	if err != nil {
		return nil, err
	}
	r := &remote{desk: d, name: sayShort(withoutPassword(name, name)), address: address, call: d.view, isLocal: protocol == transportFile}
	for _, rule := range []string{".insteadOf", ".pushInsteadOf"} { // the longest rule counts, so git does not change the address again
		r.call.Secrets = append(r.call.Secrets, "url."+address+rule, address)
	}
	r.call.Protocol = protocol
	r.call.Settings = append(slices.Clip(r.call.Settings), "http.lowSpeedLimit=1", "http.lowSpeedTime=60")
	isOwnSSH := os.Getenv("GIT_SSH_COMMAND") != "" || os.Getenv("GIT_SSH") != ""
	isOwnSSH = isOwnSSH || d.ownSetting("core.sshcommand") != "" // which the variable would override
	if protocol == transportSSH && !isOwnSSH {
		r.call.Env = append(slices.Clip(r.call.Env), "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=10 -oServerAliveInterval=15")
	}
	if !r.isLocal {
		return r, nil
	}
	return r, r.checkHooks(ctx, address)
}

// The transports that git may use, by their names in git's settings.
const (
	transportFile = "file"
	transportSSH  = "ssh"
)

var transports = map[string]string{
	"https": "https", "http": "http", "git": "git", "file": transportFile, "ssh": transportSSH, "git+ssh": transportSSH, "ssh+git": transportSSH,
}

// helperForm matches an address that names a program of git for it, and driveForm a path of Windows.
var (
	helperForm = pattern.New(`^[A-Za-z0-9+.-]*::`)
	driveForm  = pattern.New(`^[A-Za-z]:[/\\]`)
)

// maxAddress bounds the address of a remote, in bytes.
const maxAddress = 2000

// transportOf returns the transport that git takes for an address, or an error if it is not an allowed one.
func transportOf(address string) (string, error) {
	refuse := func(err *fault.Error) (string, error) {
		return "", err.WithHint("use an address with https://, ssh:// or file://, in the form user@host:path, or the path of a folder: git remote set-url")
	}
	shown := sayShort(withoutPassword(address, address))
	if address == "" || len(address) > maxAddress || address[0] == '-' || strings.ContainsFunc(address, unicode.IsControl) {
		return refuse(fault.New(fault.NotAllowed, "the address of the remote is malformed: %s", shown))
	}
	if helperForm.MatchString(address) {
		return refuse(fault.New(fault.NotAllowed, "the address of the remote names a program to run: %s", shown))
	}
	if scheme, rest, ok := strings.Cut(address, "://"); ok && !strings.ContainsAny(scheme, "/:@") {
		transport := transports[strings.ToLower(scheme)]
		if transport == "" {
			return refuse(fault.New(fault.NotAllowed, "the remote has a transport that is not used here: %s", shown))
		}
		if strings.HasPrefix(rest, "-") || strings.Contains(rest, "@-") { // ssh would take it for an option
			return refuse(fault.New(fault.NotAllowed, "the address of the remote is malformed: %s", shown))
		}
		return transport, nil
	}
	before, after, hasColon := strings.Cut(address, ":")
	isPath := !hasColon || strings.ContainsAny(before, `/\`) || driveForm.MatchString(address)
	if isPath {
		return transportFile, nil
	}
	host := before[strings.LastIndex(before, "@")+1:]
	if host == "" || strings.HasPrefix(host, "-") || strings.HasPrefix(after, "-") {
		return refuse(fault.New(fault.NotAllowed, "the address of the remote is malformed: %s", shown))
	}
	return transportSSH, nil
}

// withoutPassword returns a text without the password, or the token, in an address.
func withoutPassword(text, address string) string {
	_, rest, hasScheme := strings.Cut(address, "://")
	login, _, hasLogin := strings.Cut(rest, "@")
	if !hasScheme || !hasLogin {
		return text
	}
	secrets := []string{login}
	if _, password, ok := strings.Cut(login, ":"); ok {
		secrets = append(secrets, password)
	}
	for _, secret := range secrets {
		plain, _ := url.PathUnescape(secret) // "" if it is none
		for _, form := range []string{secret, plain} {
			if len(form) > 3 { // a shorter one is a user such as git, or would mask all
				text = strings.ReplaceAll(text, form, "***")
			}
		}
	}
	return text
}

// servingHooks are the hooks that a git runs that is pushed to.
var servingHooks = []string{"pre-receive", "update", "post-receive", "post-update", "reference-transaction", "proc-receive", "push-to-checkout"}

// hasHooks reports whether a repository on this disk has a hook for pushes. Its own git would run it here, and leaving it
// out could break a rule of those who share the repository.
func (r *remote) hasHooks(ctx context.Context, dir string) (bool, error) {
	for _, name := range servingHooks {
		if info, err := os.Stat(filepath.Join(dir, "hooks", name)); err == nil && info.Mode().IsRegular() {
			return true, nil
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "config")); err != nil {
		return false, nil //nolint:nilerr // it is not a repository
	}
	all, err := Call{Dir: r.tree, Repository: dir}.listSettings(ctx)
	return slices.ContainsFunc(all, func(s setting) bool {
		_, isHook := s.hookOf()
		isOwn := s.scope == "local" || s.scope == "worktree"
		namesHooks := isHook || s.key == "core.hookspath"
		return isOwn && namesHooks
	}), r.explain(err, "config")
}

// checkHooks refuses a remote on this disk with hooks for pushes, wherever git would look for it.
func (r *remote) checkHooks(ctx context.Context, address string) error {
	path := address
	if u, err := url.Parse(address); err == nil && u.Scheme == transportFile {
		path = filepath.FromSlash(u.Path)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.tree, path)
	}
	for _, suffix := range []string{"", "/.git", ".git", ".git/.git"} {
		dir := path + filepath.FromSlash(suffix)
		dirs := []string{dir}
		if other, err := repositoryAt(filepath.Dir(dir)); err == nil && other != nil && strings.HasSuffix(suffix, "/.git") {
			dirs = append(dirs, other.dir, other.common)
		}
		for _, dir := range dirs {
			has, err := r.hasHooks(ctx, dir)
			if err != nil {
				return err
			}
			r.hooks = r.hooks || has
		}
	}
	return nil
}

// run runs a subcommand that calls the remote. On this disk the remote's own side runs no hook and fetches nothing. The
// error is for people, with the remote's words.
func (r *remote) run(ctx context.Context, what string, args ...string) (string, error) {
	if r.isLocal {
		server := "--upload-pack=GIT_ALLOW_PROTOCOL=none git-upload-pack"
		if what == "push" {
			server = "--receive-pack=GIT_ALLOW_PROTOCOL=none git -c core.hooksPath=" + os.DevNull + " -c core.alternateRefsCommand=: -c core.fsmonitor=false" +
				" -c receive.denyCurrentBranch=refuse -c receive.autogc=false -c gc.auto=0 -c maintenance.auto=false receive-pack"
		}
		args = append([]string{server}, args...)
	}
	out, err := r.call.runForOutput(ctx, append([]string{what}, args...)...)
	var failed *Failure
	switch {
	case errors.Is(err, context.DeadlineExceeded) && what != "ls-remote":
		return "", fault.New(fault.NotFound, "git %s did not end within %s", what, r.limit).
			WithHint("see how fast the line to the remote is, and do it yourself: git push, git fetch")
	case errors.Is(err, context.DeadlineExceeded):
		return "", fault.New(fault.NotFound, "the remote did not answer within %s", r.limit).WithHint("see that git ls-remote answers there without a question")
	case errors.As(err, &failed):
		said := withoutPassword(readRefusal(failed.Said, out), r.address)
		problem := fault.New(fault.NotFound, "git %s failed: %s", what, sayShort(said))
		problem.Err = err
		return out, problem.WithHint("see that you may do it, that the network is there, and that git ls-remote answers without a question")
	}
	return out, r.explain(err, what)
}

// readRefusal returns the words of the remote in those of a failed git, with the reason in its list of pushed branches;
// all words if the remote said none.
func readRefusal(said, list string) string {
	var words []string
	for line := range strings.Lines(said) {
		if word, ok := strings.CutPrefix(line, "remote:"); ok && strings.TrimSpace(word) != "" {
			words = append(words, strings.TrimSpace(word))
		}
	}
	if len(words) == 0 {
		words = []string{said}
	}
	for line := range strings.Lines(list) {
		if parts := strings.SplitN(line, "\t", 3); len(parts) == 3 && parts[0] == "!" {
			words = append(words, strings.TrimSpace(parts[2]))
		}
	}
	return strings.Join(words, " ")
}

// branchCommit returns the commit at which the remote has a branch, "" if it does not have it.
func (r *remote) branchCommit(ctx context.Context, branch string) (string, error) {
	ref := "refs/heads/" + branch
	list, err := r.run(ctx, "ls-remote", "--", r.address, ref)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(list) {
		if hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); name == ref && commitForm.MatchString(hash) { // more references can end so
			return hash, nil
		}
	}
	return "", nil
}

// withRemote calls do with the remote to which the repository of a folder pushes, for a time.
func withRemote(ctx context.Context, folder string, limit time.Duration, do func(ctx context.Context, r *remote) error) error {
	return withDesk(ctx, folder, limit, func(ctx context.Context, d *desk) error {
		r, err := d.openRemote(ctx, true)
		if err != nil {
			return err
		}
		return do(ctx, r)
	})
}

// RemoteBranch returns the commit at which the remote has a branch, "" if it does not have it. The remote is the one to
// which git pushes: origin or the only one, unless remote.pushDefault names another, at the address for pushes. Nobody is
// asked for a password.
func RemoteBranch(ctx context.Context, folder, branch string) (commit string, err error) {
	if err := checkBranch(branch); err != nil {
		return "", err
	}
	err = withRemote(ctx, folder, timeLimit, func(ctx context.Context, r *remote) error {
		commit, err = r.branchCommit(ctx, branch)
		return err
	})
	return commit, err
}

// Push pushes a commit to a branch of the remote, as [RemoteBranch] names it, if the branch is at the expected commit
// there; "" is for a branch that does not exist yet. Else the error is a [fault.Conflict]. No hook of this repository runs.
// A remote that is a folder of this disk with hooks for pushes is refused, because its hooks would run here, and so are
// commits with files of Git LFS, because their contents would be missing on the remote. Nobody is asked for a password.
func Push(ctx context.Context, folder, branch, commit, expected string) error {
	if err := checkBranch(branch); err != nil {
		return err
	}
	if expected != "" && !commitForm.MatchString(expected) {
		return fault.New(fault.InvalidArgument, "this is not a hash of a commit: %s", sayShort(expected)).WithHint("name it in full, as git rev-parse prints it")
	}
	return withRemote(ctx, folder, transferLimit, func(ctx context.Context, r *remote) error {
		if err := r.needCommit(ctx, commit); err != nil {
			return err
		}
		if r.hooks {
			return fault.New(fault.NotAllowed, "the remote is a folder of this disk with hooks, which are not run here: %s", sayShort(r.address)).
				WithHint("push it yourself: git push %s %s", r.name, branch)
		}
		if err := r.needLargeFiles(ctx, branch, commit, expected); err != nil {
			return err
		}
		ref := "refs/heads/" + branch
		_, err := r.run(ctx, "push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
			"--force-with-lease="+ref+":"+expected, "--", r.address, commit+":"+ref)
		if exitOf(err) < 1 {
			return err
		}
		have, errHave := r.branchCommit(ctx, branch)
		switch {
		case errHave != nil:
			return err
		case have == commit: // the answer got lost
			return nil
		case have != expected:
			return fault.New(fault.Conflict, "the branch %s was moved on the remote, to %s; nothing was pushed", branch, cmp.Or(have, "-")).
				WithHint("fetch what it has now, put the work on top of that, and push again")
		}
		return err
	})
}

// Fetch brings a commit, by its hash, with all before it from the remote into the clone, and changes no reference. The
// remote is origin or the only one, then the one of [RemoteBranch]. A server that gives no commits by their hashes is asked
// for all branches. Nobody is asked for a password. git may remove the commit after two weeks, unless a branch has it by
// then.
func Fetch(ctx context.Context, folder, commit string) error {
	if !commitForm.MatchString(commit) {
		return fault.New(fault.InvalidArgument, "this is not a hash of a commit: %s", sayShort(commit)).WithHint("name it in full, as git rev-parse prints it")
	}
	return withDesk(ctx, folder, transferLimit, func(ctx context.Context, d *desk) error {
		if has, err := d.hasCommit(ctx, commit); has || err != nil {
			return err
		}
		if err := d.writeTips(); err != nil {
			return err
		}
		r, err := d.openRemote(ctx, false)
		if err == nil {
			err = r.fetchCommit(ctx, commit)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		other, errOther := d.openRemote(ctx, true)
		isSame := errOther == nil && r != nil && other.address == r.address
		if errOther == nil && !isSame && other.fetchCommit(ctx, commit) == nil {
			return nil
		}
		return err
	})
}

// writeTips gives the view references to the branches of the clone, so that git tells the remote which commits the clone has.
func (d *desk) writeTips() error {
	var out strings.Builder
	for i, commit := range slices.Concat(d.branchTips(refsHeads), d.branchTips(refsRemotes)) {
		_, _ = fmt.Fprintf(&out, "%s refs/tips/%d\n", commit, i) // a builder takes all
	}
	return os.WriteFile(d.file("packed-refs"), []byte(out.String()), 0o600)
}

// fetchCommit brings a commit from the remote, as [Fetch] does.
func (r *remote) fetchCommit(ctx context.Context, commit string) (err error) {
	for _, want := range []string{commit, "+refs/heads/*:refs/fetched/*"} { // into the view, which goes
		if _, err = r.run(ctx, "fetch", "--no-tags", "--no-recurse-submodules", "--quiet", "--", r.address, want); ctx.Err() != nil {
			return err
		}
		if has, errHas := r.hasCommit(ctx, commit); has || errHas != nil {
			return errHas
		}
	}
	if err != nil {
		return err
	}
	return fault.New(fault.NotFound, "no branch of the remote has the commit %s", commit).WithHint("see that it was pushed")
}

// IsOnRemote reports whether a remote-tracking branch of the clone has a commit, so that it was on the remote at the last
// fetch or push.
func IsOnRemote(ctx context.Context, folder, commit string) (isThere bool, err error) {
	err = withDesk(ctx, folder, timeLimit, func(ctx context.Context, d *desk) error {
		tips := d.branchTips(refsRemotes)
		if has, err := d.hasCommit(ctx, commit); !has || err != nil || len(tips) == 0 {
			return err
		}
		c := d.view
		c.In = strings.NewReader(commit + "\n^" + strings.Join(tips, "\n^") + "\n")
		out, err := c.runForOutput(ctx, "rev-list", "-n1", "--ignore-missing", "--stdin")
		isThere = strings.TrimSpace(out) != commit && err == nil
		return d.explain(err, "rev-list")
	})
	return isThere, err
}

// The references of remote-tracking and of local branches.
const (
	refsRemotes = "refs/remotes/"
	refsHeads   = "refs/heads/"
)

// branchTips returns the commits of the branches below refsRemotes or refsHeads.
func (r *repository) branchTips(below string) []string {
	found := map[string]string{}
	packed, _ := durable.ReadPath(filepath.Join(r.common, "packed-refs"), maxRefs) // without it there are none
	for line := range strings.Lines(string(packed)) {
		if hash, name, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, below) {
			found[name] = hash
		}
	}
	_ = filepath.WalkDir(filepath.Join(r.common, filepath.FromSlash(below)), func(at string, e fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(r.common, at); err == nil && e.Type().IsRegular() {
			hash, _ := durable.ReadPath(at, maxPointer) // an unread one has no form
			found[filepath.ToSlash(name)] = strings.TrimSpace(string(hash))
		}
		return nil
	})
	var out []string
	for _, hash := range found {
		if commitForm.MatchString(hash) {
			out = append(out, hash)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
