package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// The bounds on files of a git directory, in bytes.
const (
	maxPointer = 4 << 10
	maxText    = 1 << 20
	maxRefs    = 64 << 20
)

// maxLinks is the greatest number of references on the way from HEAD to a commit, as in git.
const maxLinks = 5

// repository is a repository written by others.
type repository struct {
	tree   string // the top of the work tree
	dir    string // the git directory
	common string // the common git directory of all work trees
	// isNamed reports whether the settings name the work tree, and rules is the file of patterns to ignore that they name.
	isNamed bool
	rules   string
}

// findRepository returns the repository of a folder, or nil if there is none. As git does, it takes the nearest .git,
// but no bare repository, because a few files of the project could make one.
func findRepository(folder string) (*repository, error) {
	at, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, err
	}
	for {
		if r, err := repositoryAt(at); r != nil || err != nil {
			return r, err
		}
		above := filepath.Dir(at)
		if above == at {
			return nil, nil
		}
		at = above
	}
}

// repositoryAt returns the repository with a folder as the top of its work tree, or nil if there is none.
func repositoryAt(top string) (*repository, error) {
	name := filepath.Join(top, ".git")
	info, err := os.Stat(name)
	switch {
	case err != nil: // there is none, or git would not see it either
		return nil, nil
	case info.IsDir():
		return openRepository(top, name), nil
	}
	// The .git of a linked work tree and of a submodule is a file.
	text, err := durable.ReadPath(name, maxPointer)
	if err != nil {
		return nil, refusalOf(lang.T("its .git cannot be read"), name)
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if dir = resolvePath(top, dir); !ok || dir == "" {
		return nil, refusalOf(lang.T("its .git names no git directory"), name)
	}
	r := openRepository(top, dir)
	if r == nil {
		return nil, refusalOf(lang.T("its .git names a folder that is not a git directory"), name)
	}
	return r, nil
}

// resolvePath returns the folder named in a file of git, relative to another. It returns "" for a folder on
// another machine, where Windows would log in.
func resolvePath(from, to string) string {
	to = filepath.FromSlash(to)
	isRemote := len(to) > 1 && os.IsPathSeparator(to[0]) && os.IsPathSeparator(to[1])
	switch {
	case to == "", isRemote, strings.ContainsRune(to, 0):
		return ""
	case filepath.IsAbs(to):
		return filepath.Clean(to)
	}
	return filepath.Join(from, to)
}

// openRepository returns the repository with a git directory, or nil if dir is not one.
func openRepository(top, dir string) *repository {
	r := &repository{tree: top, dir: dir, common: dir}
	if text, err := durable.ReadPath(filepath.Join(dir, "commondir"), maxPointer); err == nil {
		r.common = resolvePath(dir, strings.TrimRight(string(text), "\r\n"))
	}
	head, err := os.Stat(filepath.Join(dir, "HEAD"))
	if err != nil || !head.Mode().IsRegular() || r.common == "" {
		return nil
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(r.common, name)); err != nil || !info.IsDir() {
			return nil
		}
	}
	return r
}

// refusalOf returns the error for a repository we do not read.
func refusalOf(why lang.Text, name string) error {
	return fault.New(fault.NotAllowed, "the git repository cannot be used: %s (%s)", why, name).
		WithHint("see what git status says there; or pass --allow-dirty, and the run does without the repository")
}

// newView makes a git directory in an empty folder, with the checked-out commit and settings of our own, and
// returns the call from which all calls on the repository start.
func (r *repository) newView(ctx context.Context, folder, head string) (Call, error) {
	c := Call{Dir: r.tree, Repository: folder, Tree: r.tree}
	objects := filepath.Join(r.common, "objects")
	others := filepath.Join(objects, "info", "alternates")
	if _, err := os.Lstat(others); !errors.Is(err, fs.ErrNotExist) {
		return c, refusalOf(lang.T("it takes objects from another one; after `git repack -ad` it has them itself, and this file can go"), others)
	}
	index := filepath.Join(r.dir, "index")
	if info, err := os.Stat(index); err == nil && !info.Mode().IsRegular() {
		return c, refusalOf(lang.T("its index is not a regular file"), index)
	}
	config, err := r.safeSettings(ctx)
	if err != nil {
		return c, err
	}
	if head == "" {
		head = "ref: refs/heads/none"
	}
	// Patterns and attributes are data: an attribute can name a filter, and only the person's settings have one. As in git, the
	// patterns of info/exclude come last, and files that cannot be read have none.
	exclude, _ := durable.ReadPath(filepath.Join(r.common, "info", "exclude"), maxText)
	attributes, _ := durable.ReadPath(filepath.Join(r.common, "info", "attributes"), maxText)
	if r.rules != "" {
		rules, _ := durable.ReadPath(r.rules, maxText)
		exclude = slices.Concat(rules, []byte("\n"), exclude)
	}
	for _, name := range []string{"objects/info", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o700); err != nil {
			return c, err
		}
	}
	for name, text := range map[string]string{
		"config": config, "HEAD": head + "\n", "info/exclude": string(exclude), "info/attributes": string(attributes), "objects/info/alternates": objects + "\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return c, err
		}
	}
	// If the index is in parts, the large one is beside the small one.
	shared, _ := filepath.Glob(filepath.Join(pathQuoter.Replace(r.dir), "sharedindex.*"))
	for _, name := range shared {
		if err := os.Symlink(name, filepath.Join(folder, filepath.Base(name))); err != nil {
			return c, err
		}
	}
	c.Env = []string{"GIT_INDEX_FILE=" + index}
	return c, nil
}

// pathQuoter quotes a path for filepath.Glob.
var pathQuoter = strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]")

// describing matches the settings taken from a repository: they describe the disk and the texts and name no
// program. describes matches their values.
const describing = `^(extensions\..*|core\.(worktree|filemode|ignorecase|symlinks|precomposeunicode|autocrlf|eol|checkstat|trustctime|` +
	`sparsecheckout|sparsecheckoutcone|excludesfile))$`

var describes = pattern.New(`(?i)^(?:true|false|yes|no|on|off|0|1|input|lf|crlf|native|minimal|default)?$`)

// safeSettings returns the settings to read a repository with. Included files are not read.
func (r *repository) safeSettings(ctx context.Context) (string, error) {
	name := filepath.Join(r.common, "config")
	text, err := durable.ReadPath(name, maxText)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", refusalOf(lang.T("its settings cannot be read"), name)
	}
	out := &Bounded{Most: maxText}
	list := Call{Args: []string{"config", "--file", "-", "--no-includes", "-z", "--get-regexp", describing}, In: bytes.NewReader(text), Out: out}
	if err := list.Run(ctx); err != nil && !saysNothing(err) {
		if failed := (*Failure)(nil); errors.As(err, &failed) {
			return "", refusalOf(lang.T("its settings cannot be read"), name)
		}
		return "", err
	}
	config := "[core]\n\trepositoryformatversion = 1\n\tbare = false\n"
	for entry := range strings.SplitSeq(string(out.Data), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		section, key, _ := strings.Cut(key, ".")
		switch {
		case section == "extensions":
			if !isReadable(key, value) {
				return "", refusalOf(lang.T("it has a format that is not known here, extensions.%s = %s", key, value), name)
			}
			if key == "objectformat" {
				config += "[extensions]\n\tobjectformat = " + value + "\n[core]\n"
			}
		case key == "worktree":
			if r.dir == r.common && !isSameFolder(resolvePath(r.dir, value), r.tree) {
				return "", refusalOf(lang.T("it belongs to the files of another folder, core.worktree = %s", value), name)
			}
			r.isNamed = r.dir == r.common
		case key == "excludesfile":
			if r.rules = r.resolveHome(value); r.rules != "" || value == "" {
				config += "\texcludesfile =\n" // its patterns are in info/exclude, and the person's do not count
			}
		case key != "" && describes.MatchString(value):
			config += "\t" + key + " = " + value + "\n"
		}
	}
	return config, nil
}

// resolveHome returns the path that a setting of the repository names, "" for one on another machine or below the home of
// another account.
func (r *repository) resolveHome(value string) string {
	inHome, isInHome := strings.CutPrefix(value, "~/")
	home, err := os.UserHomeDir()
	switch {
	case isInHome && err == nil:
		return resolvePath(home, inHome)
	case strings.HasPrefix(value, "~"):
		return ""
	}
	return resolvePath(r.tree, value)
}

// saysNothing reports whether git failed without a word, as it does if a list of settings has no entry.
func saysNothing(err error) bool {
	var failed *Failure
	return errors.As(err, &failed) && failed.Said == ""
}

// isReadable reports whether this package can read a repository with an extension.
func isReadable(extension, value string) bool {
	switch extension {
	case "objectformat":
		return value == "sha1" || value == "sha256"
	case "refstorage":
		return value == "files"
	case "noop", "partialclone", "preciousobjects", "worktreeconfig", "relativeworktrees", "compatobjectformat":
		return true
	}
	return false
}

// isSameFolder reports whether two paths are one folder.
func isSameFolder(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// commitForm matches the name of a commit.
var commitForm = pattern.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// headCommit returns the checked-out commit, or "" if there is none yet.
func (r *repository) headCommit() (string, error) { return r.followReference(r.dir, "HEAD") }

// MainTree returns the main work tree of the repository of a folder that lies in a linked one, else "".
func MainTree(folder string) string {
	r, err := findRepository(folder)
	if r == nil || err != nil || filepath.Dir(r.dir) != filepath.Join(r.common, "worktrees") {
		return ""
	}
	return strings.TrimSuffix(r.common, string(filepath.Separator)+".git")
}

// branch returns the checked-out branch, or "" if there is none.
func (r *repository) branch() string {
	text, _ := durable.ReadPath(filepath.Join(r.dir, "HEAD"), maxPointer)
	if name, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/heads/"); ok {
		return name
	}
	return ""
}

// readReferences returns the contents of all references by their names.
func (r *repository) readReferences() map[string]string {
	all := map[string]string{}
	packed, _ := durable.ReadPath(filepath.Join(r.common, "packed-refs"), maxRefs)
	for line := range strings.Lines(string(packed)) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = hash
	}
	_ = filepath.WalkDir(filepath.Join(r.common, "refs"), func(at string, d fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(r.common, at); err == nil && !d.IsDir() {
			hash, _ := durable.ReadPath(at, maxPointer)
			all[filepath.ToSlash(name)] = strings.TrimSpace(string(hash))
		}
		return nil
	})
	return all
}

// hashReferences hashes the branches but one, the tags and the stash, and in a second hash only the tags and the stash.
// Remote branches are left out, because editors fetch by themselves.
func (r *repository) hashReferences(but string) (all, tags string) {
	found := r.readReferences()
	ofAll, ofTags := sha256.New(), sha256.New()
	for _, name := range slices.Sorted(maps.Keys(found)) {
		isTag := strings.HasPrefix(name, "refs/tags/") || name == "refs/stash"
		isOther := strings.HasPrefix(name, "refs/heads/") && name != "refs/heads/"+but
		if isTag {
			_, _ = fmt.Fprintln(ofTags, name, found[name]) // a hash takes all
		}
		if isTag || isOther {
			_, _ = fmt.Fprintln(ofAll, name, found[name])
		}
	}
	return hex.EncodeToString(ofAll.Sum(nil)), hex.EncodeToString(ofTags.Sum(nil))
}

// followReference returns the commit or tag at the end of a reference in a git directory, or "" if there is none.
func (r *repository) followReference(at, name string) (string, error) {
	begin := filepath.Join(at, filepath.FromSlash(name))
	for range maxLinks {
		text, err := durable.ReadPath(filepath.Join(at, filepath.FromSlash(name)), maxPointer)
		if err != nil && name != "HEAD" {
			return r.packedCommit(name)
		}
		line := strings.TrimSpace(string(text))
		if commitForm.MatchString(line) {
			return line, nil
		}
		target, ok := strings.CutPrefix(line, "ref:")
		at, name = r.common, strings.TrimSpace(target)
		if err != nil || !ok || !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(filepath.FromSlash(name)) {
			break
		}
	}
	return "", refusalOf(lang.T("its %s leads to no commit", filepath.Base(begin)), begin)
}

// packedCommit returns the commit of a reference from the file of packed references, or "" if it has none.
func (r *repository) packedCommit(name string) (string, error) {
	file := filepath.Join(r.common, "packed-refs")
	text, err := durable.ReadPath(file, maxRefs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", refusalOf(lang.T("its references cannot be read"), file)
	}
	before, _, ok := bytes.Cut(text, []byte(" "+name+"\n"))
	if hash := string(before[bytes.LastIndexByte(before, '\n')+1:]); ok && commitForm.MatchString(hash) {
		return hash, nil
	}
	return "", nil
}
