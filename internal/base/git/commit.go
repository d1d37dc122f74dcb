package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Commit is a commit to be made.
type Commit struct {
	// Files are the files to commit: paths from the folder, with slashes. Each is changed, new or deleted.
	Files []string
	// Message is the text of the commit, and Author whom it names as author and committer, as [Identity] returns it;
	// for "" that is this program.
	Message, Author string
	// At is the time of the commit; the zero time is now.
	At time.Time
	// Wait waits for a time, or until the context ends, if another git is at work, such as the one of an editor; nil gives
	// up at once.
	Wait func(context.Context, time.Duration) error
}

// CommitFiles commits files of a folder on the checked-out branch, and nothing else: other changes, staged or not, stay
// as they are. Ignored files are left out. So are paths that cannot be committed, such as the ones of another repository: left
// has a sentence about each, or about the folder that it is in. Of a submodule the checked-out commit is recorded.
//
// hash is "" if none of the files differs from the last commit. The commit is not signed, also if the person's settings of
// git want that: signing could ask for a password. Hooks do not run, nor does a filter that the repository's settings name;
// a filter of the person does, and a file of Git LFS is refused without it. If somebody moves the branch meanwhile, or
// another git does not end, the error is a [fault.Conflict]. With an error the hash is "", unless the commit is made and
// only the index could not be written.
func CommitFiles(ctx context.Context, folder string, c Commit) (hash string, left []lang.Text, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	d, err := openDesk(ctx, folder)
	if err != nil {
		return "", nil, err
	}
	defer d.close()
	branch, err := d.needFreeBranch()
	if err != nil {
		return "", nil, err
	}
	chosen, err := d.selectFiles(ctx, folder, c.Files)
	if err != nil || chosen.isEmpty() {
		return "", chosen.left, err
	}
	staged := d.view // with an index of our own, which has the last commit and then the files
	staged.Env = append(slices.Clip(staged.Env), "GIT_INDEX_FILE="+d.file("staged"))
	staged.Settings = append(slices.Clip(staged.Settings), "filter.lfs.required=true") // else a person without Git LFS commits large files as they are
	tree, changes, err := d.stageFiles(ctx, staged, chosen)
	if err != nil || changes == "" {
		return "", chosen.left, err
	}
	var parents []string
	if d.head != "" {
		parents = []string{d.head}
	}
	if hash, err = d.writeCommit(ctx, tree, parents, c.Message, c.Author, c.At); err != nil {
		return "", nil, err
	}
	isMade := false
	move := func() error {
		err := d.moveBranch(ctx, branch, hash, d.head, "commit: "+firstLine(c.Message))
		isMade = err == nil
		return err
	}
	isBusy, err := d.withIndex(ctx, changes, move)
	for try := 1; isBusy && try < indexTries && c.Wait != nil; try++ {
		if err := c.Wait(ctx, indexPause); err != nil {
			return "", chosen.left, err
		}
		isBusy, err = d.withIndex(ctx, changes, move)
	}
	if !isMade {
		hash = ""
	}
	return hash, chosen.left, err
}

// The patience with another git, which holds an index for as long as a git status takes.
const (
	indexTries = 40
	indexPause = 250 * time.Millisecond
)

// needFreeBranch returns the checked-out branch, or an error if there is none or a merge on it is not finished.
func (d *desk) needFreeBranch() (string, error) {
	branch := d.branch()
	if branch == "" {
		return "", fault.New(fault.NotAllowed, "%s has no branch checked out", d.tree).WithHint("check out the branch that the commit is for: git switch")
	}
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
		if _, err := os.Lstat(filepath.Join(d.dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return "", fault.New(fault.NotAllowed, "a merge, a cherry-pick or a revert is not finished in %s", d.tree).
				WithHint("finish it there, or abort it, then repeat the call")
		}
	}
	return branch, checkBranch(branch)
}

func firstLine(message string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return sayShort(first)
}

// maxArgs bounds the names in the arguments of one git, in bytes: Windows takes 32,000 characters.
const maxArgs = 16 << 10

// selection has the paths of a commit, from the top of the work tree.
type selection struct {
	files []string
	// modules has the checked-out commits of submodules.
	modules map[string]string
	// left says which paths cannot be committed, and why.
	left []lang.Text
}

func (s *selection) isEmpty() bool { return len(s.files)+len(s.modules) == 0 }

// leaveOut adds a sentence about a path that cannot be committed, once.
func (s *selection) leaveOut(why lang.Text) {
	isSame := func(other lang.Text) bool { return other.String() == why.String() }
	if !slices.ContainsFunc(s.left, isSame) {
		s.left = append(s.left, why)
	}
}

// selectFiles returns the paths of a commit, without ignored files and the ones that a sparse checkout leaves out.
func (d *desk) selectFiles(ctx context.Context, folder string, files []string) (selection, error) {
	out := selection{modules: map[string]string{}}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return out, err
	}
	inside, err := filepath.Rel(d.tree, real)
	if err != nil {
		return out, err
	}
	named := map[string]bool{}
	for _, file := range files {
		if name := filepath.ToSlash(filepath.Join(inside, filepath.FromSlash(file))); isOddPath(file) || isOddPath(name) {
			out.leaveOut(lang.T("%s is not a path of a file", sayShort(file)))
		} else {
			named[name] = true
		}
	}
	var there, gone, modules []string
	for _, name := range slices.Sorted(maps.Keys(named)) {
		switch kind, why := d.classifyPath(name, named); kind {
		case oddPath:
			out.leaveOut(why)
		case presentFile:
			there = append(there, name)
		case absentFile:
			gone = append(gone, name)
		case nestedRepository:
			modules = append(modules, name)
		case coveredPath: // it goes with the link
		}
	}
	leave := map[string]bool{}
	ignored, err := d.listFiles(ctx, there, "--others", "--ignored", "--exclude-standard")
	if err != nil {
		return out, err
	}
	for _, name := range ignored {
		leave[name] = true
	}
	tagged, err := d.listFiles(ctx, gone, "-t")
	if err != nil {
		return out, err
	}
	for _, entry := range tagged {
		if name, isSkipped := strings.CutPrefix(entry, "S "); isSkipped {
			leave[name] = true
		}
	}
	out.files = slices.DeleteFunc(slices.Concat(there, gone), func(name string) bool { return leave[name] })
	slices.Sort(out.files)
	err = d.selectModules(ctx, &out, modules)
	return out, err
}

// selectModules adds the submodules among other repositories to a selection.
func (d *desk) selectModules(ctx context.Context, s *selection, names []string) error {
	entries, err := d.listFiles(ctx, names, "--stage")
	if err != nil {
		return err
	}
	for _, name := range names {
		isModule := func(entry string) bool {
			return strings.HasPrefix(entry, moduleMode+" ") && strings.HasSuffix(entry, "\t"+name)
		}
		commit := ""
		if r, err := repositoryAt(filepath.Join(d.tree, filepath.FromSlash(name))); err == nil && r != nil && slices.ContainsFunc(entries, isModule) {
			commit, _ = r.headCommit() // without one it cannot be committed
		}
		isOtherHash := d.head != "" && len(commit) != len(d.head)
		if hasCommit := commit != ""; hasCommit && !isOtherHash {
			s.modules[name] = commit
		} else {
			s.leaveOut(sayNested(name))
		}
	}
	return nil
}

// moduleMode is the mode of a submodule in an index.
const moduleMode = "160000"

// sayNested says why files in a folder cannot be committed that has a repository of its own.
func sayNested(folder string) lang.Text {
	return lang.T("%s is a repository of its own", sayShort(folder))
}

// pathKind is the kind of thing at a path to commit.
type pathKind int

const (
	presentFile pathKind = iota
	absentFile
	nestedRepository
	// coveredPath is below a link that is among the committed files, so that the repository has no such path any more.
	coveredPath
	// oddPath cannot be committed.
	oddPath
)

// isOddPath reports whether a path is none of a file in a folder, or is git's own.
func isOddPath(file string) bool {
	isGit := func(part string) bool {
		part = strings.ToLower(strings.TrimRight(part, " ."))
		return part == ".git" || part == "git~1" || strings.HasPrefix(part, ".git:")
	}
	parts := strings.Split(file, "/")
	isUpward := slices.Contains(parts, "..") || !filepath.IsLocal(filepath.FromSlash(file))
	return file == "" || isUpward || strings.ContainsRune(file, 0) || slices.ContainsFunc(parts, isGit)
}

// classifyPath returns the kind of a path from the top of the work tree, and the reason for an oddPath. named has all paths
// of the commit.
func (d *desk) classifyPath(name string, named map[string]bool) (kind pathKind, why lang.Text) {
	parts := strings.Split(name, "/")
	for i := range parts {
		above := strings.Join(parts[:i+1], "/")
		at := filepath.Join(d.tree, filepath.FromSlash(above))
		info, err := os.Lstat(at)
		if err != nil { // also if a file is where a folder was
			return absentFile, why
		}
		isLast, isLink := i == len(parts)-1, info.Mode().Type() == fs.ModeSymlink
		_, nested := os.Lstat(filepath.Join(at, ".git"))
		switch {
		case isLink && isLast:
			return presentFile, why
		case isLink && named[above]:
			return coveredPath, why
		case isLink:
			return oddPath, lang.T("%s is a link, so that no file behind it is in this repository", sayShort(above))
		case info.IsDir() && nested == nil && isLast:
			return nestedRepository, why
		case info.IsDir() && nested == nil:
			return oddPath, sayNested(above)
		case info.IsDir() && !isLast:
		case !isLast:
			return absentFile, why
		case !info.Mode().IsRegular():
			return oddPath, lang.T("%s is not a file", sayShort(name))
		default:
			if _, err := durable.ReadPath(at, 0); errors.Is(err, fs.ErrPermission) {
				return oddPath, lang.T("%s cannot be read", sayShort(name))
			}
		}
	}
	return presentFile, why
}

// listFiles lists files of the index, or of the disk, among names from the top, taken as they are.
func (d *desk) listFiles(ctx context.Context, names []string, options ...string) ([]string, error) {
	var out []string
	for len(names) > 0 {
		size, n := 0, 0
		for n < len(names) && (n == 0 || size+len(names[n]) < maxArgs) {
			size += len(names[n]) + 1
			n++
		}
		list, err := d.ask(ctx, slices.Concat([]string{"ls-files", "-z"}, options, []string{"--"}, names[:n])...)
		if err != nil {
			return nil, err
		}
		names = names[n:]
		for entry := range strings.SplitSeq(list, "\x00") {
			if entry != "" {
				out = append(out, entry)
			}
		}
	}
	return out, nil
}

// stageFiles makes the tree of the last commit with chosen files as they are on the disk, in an index. changes is what differs
// from the last commit, in the form of git update-index --index-info.
func (d *desk) stageFiles(ctx context.Context, c Call, chosen selection) (tree, changes string, err error) {
	run := func(args ...string) string {
		if err != nil {
			return ""
		}
		var out string
		out, err = c.runForOutput(ctx, args...)
		err = d.explain(err, args[0])
		c.In = nil
		return out
	}
	before := d.head
	if before == "" {
		run("read-tree", "--empty")
		before = strings.TrimSpace(run("hash-object", "-t", "tree", "--stdin"))
	} else {
		run("read-tree", before)
	}
	if len(chosen.files) > 0 {
		c.In = strings.NewReader(strings.Join(chosen.files, "\x00") + "\x00")
		run("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	}
	if len(chosen.modules) > 0 {
		lines := ""
		for name, commit := range chosen.modules {
			lines += moduleMode + " " + commit + "\t" + name + "\x00"
		}
		c.In = strings.NewReader(lines)
		run("update-index", "-z", "--index-info")
	}
	tree = strings.TrimSpace(run("write-tree", "--missing-ok"))
	list := run("diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-ext-diff", "--no-abbrev", before)
	if err != nil {
		return "", "", err
	}
	parts := strings.Split(list, "\x00")
	for ; len(parts) > 1; parts = parts[2:] {
		about := strings.Fields(parts[0]) // both modes, both hashes, the kind of change
		if len(about) != 5 {
			return "", "", fault.New(fault.Storage, "git diff-index printed something unknown in %s", d.tree).WithHint("see that the program is git")
		}
		changes += about[1] + " " + about[3] + "\t" + parts[1] + "\x00"
	}
	return tree, changes, nil
}

// writeCommit writes a commit and returns its hash.
func (d *desk) writeCommit(ctx context.Context, tree string, parents []string, message, author string, at time.Time) (string, error) {
	message = strings.TrimSpace(visible.Text(message))
	if message == "" {
		return "", fault.New(fault.InvalidArgument, "the commit has no message").WithHint("say in one line what it does")
	}
	name, address := splitAuthor(author)
	c := d.view
	c.In = strings.NewReader(message + "\n")
	c.Settings = append(slices.Clip(c.Settings), "i18n.commitEncoding=UTF-8")
	c.Env = append(slices.Clip(c.Env), "GIT_AUTHOR_NAME="+name, "GIT_AUTHOR_EMAIL="+address, "GIT_COMMITTER_NAME="+name, "GIT_COMMITTER_EMAIL="+address)
	if at.Unix() > 0 {
		date := fmt.Sprintf("@%d %s", at.Unix(), at.Format("-0700"))
		c.Env = append(c.Env, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	}
	args := []string{"commit-tree", "--no-gpg-sign"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	out, err := c.runForOutput(ctx, append(args, tree)...)
	hash := strings.TrimSpace(out)
	if err == nil && !commitForm.MatchString(hash) {
		err = fault.New(fault.Storage, "git commit-tree printed no commit in %s", d.tree).WithHint("see that the program is git")
	}
	return hash, d.explain(err, "commit-tree")
}

// withIndex changes entries of the repository's index, in the form of git update-index --index-info, if do succeeds. As
// git does, it holds the lock of the index while do runs. isBusy is true if it has done nothing because another git holds
// that lock, or has just written the index.
func (d *desk) withIndex(ctx context.Context, changes string, do func() error) (isBusy bool, err error) {
	dir, err := durable.OpenDir(d.dir)
	if err != nil {
		return false, err
	}
	defer func() { _ = dir.Close() }()
	before, err := d.readIndex()
	if err != nil {
		return false, err
	}
	own := d.file("index")
	if before != nil {
		if err := os.WriteFile(own, before, 0o600); err != nil {
			return false, err
		}
	}
	c := d.view
	c.Env = append(slices.Clip(c.Env), "GIT_INDEX_FILE="+own)
	c.In = strings.NewReader(changes)
	if _, err := c.runForOutput(ctx, "update-index", "-z", "--index-info"); err != nil {
		return false, d.explain(err, "update-index")
	}
	c.In = nil
	if _, err := c.runForOutput(ctx, "update-index", "-q", "--refresh"); err != nil && exitOf(err) != 1 { // as of other changed files
		return false, d.explain(err, "update-index")
	}
	after, err := durable.ReadPath(own, maxIndex)
	if err != nil {
		return false, err
	}
	const lock = "index.lock"
	busy := fault.New(fault.Conflict, "another git is at work in %s, and holds or has just written %s", d.tree, filepath.Join(d.dir, "index")).
		WithHint("repeat the call when it is done; if none is at work, an ended one left %s, which can go", dir.Join(lock))
	if err := dir.CreateUnsynced(lock, after); errors.Is(err, fs.ErrExist) {
		return true, busy
	} else if err != nil {
		return false, err
	}
	isHeld := true
	defer func() {
		if isHeld {
			_ = os.Remove(dir.Join(lock))
		}
	}()
	now, err := d.readIndex()
	if err != nil {
		return false, err
	}
	if !bytes.Equal(now, before) {
		return true, busy
	}
	if err := do(); err != nil {
		return false, err
	}
	err = os.Rename(dir.Join(lock), filepath.Join(d.dir, "index"))
	isHeld = err != nil // else the name may be of another git by now
	return false, err
}

// readIndex returns the repository's index, nil if there is none yet.
func (d *desk) readIndex() ([]byte, error) {
	text, err := durable.ReadPath(filepath.Join(d.dir, "index"), maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// maxIndex bounds an index, in bytes.
const maxIndex = 512 << 20
