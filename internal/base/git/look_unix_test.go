//go:build unix

package git_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

// place is a folder with a project, and a trap beside it.
type place struct {
	t                     *testing.T
	root, project, canary string
}

// person is the configuration of the person who runs the tests.
const person = `[user]
	name = n
	email = n@example.com
[init]
	defaultBranch = main
	templateDir =
[protocol "file"]
	allow = always
[core]
	excludesFile = ~/ignore
[filter "lfs"]
	clean = tr a-z A-Z
	smudge = tr A-Z a-z
	required = true
`

// TestMain gives all tests a person, and no variables of a git around them.
func TestMain(m *testing.M) { os.Exit(scratch.Run(settled{m})) }

// settled runs the tests with the settings of a person who is not this one.
type settled struct{ m *testing.M }

func (s settled) Run() int {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "GIT_") {
			_ = os.Unsetenv(name)
		}
	}
	home, err := os.MkdirTemp("", "home")
	err = errors.Join(err, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(person), 0o600), os.WriteFile(filepath.Join(home, "ignore"), []byte("*.bak\n"), 0o600),
		os.Setenv("HOME", home), os.Setenv("XDG_CONFIG_HOME", home), os.Setenv("GIT_CONFIG_NOSYSTEM", "1"))
	if err != nil {
		panic(err)
	}
	return s.m.Run()
}

// newRoot returns a place without a project. $TRAP is a program that leaves a mark.
func newRoot(t *testing.T) *place {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: needs git")
	}
	folder := scratch.Dir(t)
	if strings.Contains(folder, " ") { // git splits the commands of its settings there
		var err error
		if folder, err = os.MkdirTemp("/tmp", "bmad-mcp-git-"); err != nil { //nolint:usetesting // t.TempDir is below that folder
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(folder) })
	}
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t, root, filepath.Join(root, "project"), filepath.Join(root, "canary")}
	p.sh(`printf '#!/bin/sh\necho run >>"` + p.canary + `"\n' >trap; chmod +x trap`)
	return p
}

// newPlace returns a place whose project has a commit, a changed file and a new one.
func newPlace(t *testing.T) *place {
	t.Helper()
	p := newRoot(t)
	p.sh(`mkdir project; cd project; git init -q .; mkdir -p sub .git/info; echo a >a.txt; echo b >sub/b.txt; git add .; git commit -qm one
		echo more >>a.txt; echo new >sub/new.txt; touch -d '1 hour ago' sub/b.txt`)
	return p
}

// copy returns another place with the same files, for which git is not asked again.
func (p *place) copy(t *testing.T) *place {
	t.Helper()
	out := newRoot(t)
	out.sh(`cp -a '` + p.root + `/.' copy; rm -f copy/trap copy/canary; mv copy/* .; rmdir copy; git -C project update-index -q --refresh || true`)
	return out
}

// sh runs a script in the place.
func (p *place) sh(script string) string {
	p.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = p.root, append(os.Environ(), "TRAP="+filepath.Join(p.root, "trap"))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		p.t.Fatalf("%v: %s\n%s", err, script, exit.Stderr)
	}
	return string(out)
}

// sprung reports whether the trap was run, and sets it again.
func (p *place) sprung() bool {
	_, err := os.Stat(p.canary)
	_ = os.Remove(p.canary)
	return err == nil
}

// ordinary has the changes in the project.
var ordinary = []string{" M a.txt", "?? sub/new.txt"}

// hollow leaves the project's commit without its files, which a partial clone then fetches.
const hollow = `cd project; git config core.repositoryformatversion 1; git config extensions.partialClone origin; git config remote.origin.promisor true
	tree=$(git rev-parse HEAD^{tree}); rm -f .git/objects/$(echo $tree | cut -c1-2)/$(echo $tree | cut -c3-);`

// TestNothingOfARepositoryIsRun checks that git runs nothing that a git directory of any shape names,
// and that the answer is right or a refusal. live runs the trap by git itself, to prove that it is one.
func TestNothingOfARepositoryIsRun(t *testing.T) {
	for name, c := range map[string]struct {
		prepare, live string
		folder        string   // of the project
		want          []string // nil if it is in no repository
		refused       string
	}{
		"bare": {prepare: `mkdir project/x; cd project/x; git init -q --bare .; git config core.bare false; git config core.worktree .; git config core.fsmonitor $TRAP; rm -rf ../.git`,
			folder: "x", live: "cd project/x; git status"},
		"bare that fetches": {prepare: `git init -q --bare project/x; cd project/x; git config core.repositoryformatversion 1; git config extensions.partialClone o; git config remote.o.promisor true
			git config remote.o.url ssh://h/x; git config core.sshCommand $TRAP; echo 1111111111111111111111111111111111111111 >refs/heads/main; rm -rf ../.git`, folder: "x", live: "cd project/x; git rev-parse HEAD^{tree}"},
		"bare in a repository": {prepare: `mkdir project/sub/x; cd project/sub/x; git init -q --bare .; git config core.bare false; git config core.worktree .; git config core.fsmonitor $TRAP`,
			folder: "sub/x", live: "cd project/sub/x; git status", want: []string{"?? HEAD", "?? config"}},
		"monitor":          {prepare: `cd project; git config core.fsmonitor $TRAP`, live: "cd project; git status", want: ordinary},
		"file":             {prepare: `cd project; mv .git inner; echo 'gitdir: inner' >.git; git config core.fsmonitor $TRAP; echo inner/ >inner/info/exclude`, live: "cd project; git status", want: ordinary},
		"file elsewhere":   {prepare: `cd project; mv .git ../away; echo "gitdir: $PWD/../away" >.git; git config core.fsmonitor $TRAP`, live: "cd project; git status", want: ordinary},
		"link":             {prepare: `cd project; mv .git ../away; ln -s ../away .git; git config core.fsmonitor $TRAP`, live: "cd project; git status", want: ordinary},
		"work tree":        {prepare: `cd project; git worktree add -q ../other; cd ../other; echo x >>a.txt; git config core.fsmonitor $TRAP; mv ../project ../old; mv ../other ../project; cd ../project; git -C ../old worktree repair ../project`, live: "cd project; git status", want: []string{" M a.txt"}},
		"its settings":     {prepare: `cd project; git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $TRAP`, live: "cd project; git status", want: ordinary},
		"included":         {prepare: `cd project; git config include.path ../more; printf "[core]\nfsmonitor = $TRAP\n" >more; git add more`, live: "cd project; git status", want: []string{" M a.txt", "A  more", "?? sub/new.txt"}},
		"included if":      {prepare: `cd project; git config includeIf.gitdir:$PWD/.path more; printf "[core]\nfsmonitor = $TRAP\n" >.git/more`, live: "cd project; git status", want: ordinary},
		"hooks elsewhere":  {prepare: `cd project; mkdir .git/h; cp $TRAP .git/h/post-index-change; git config core.hooksPath .git/h; touch sub/b.txt`, live: "cd project; touch sub/b.txt; git status", want: ordinary},
		"hooks":            {prepare: `cd project; mkdir -p .git/hooks; cp $TRAP .git/hooks/post-index-change; touch sub/b.txt`, live: "cd project; touch sub/b.txt; git status", want: ordinary},
		"filter":           {prepare: `cd project; echo '* filter=x' >.gitattributes; git config filter.x.clean $TRAP; git config filter.x.smudge $TRAP`, live: "cd project; git status", want: []string{" M a.txt", "?? .gitattributes", "?? sub/new.txt"}},
		"filtering server": {prepare: `cd project; echo '* filter=x' >.git/info/attributes; git config filter.x.process $TRAP`, live: "cd project; git status", want: ordinary},
		"macro":            {prepare: `cd project; printf '[attr]odd filter=x\n* odd\n' >.gitattributes; git config filter.x.clean $TRAP; git config filter.x.required true`, live: "cd project; git status", want: []string{" M a.txt", "?? .gitattributes", "?? sub/new.txt"}},
		"differences":      {prepare: `cd project; git config diff.external $TRAP; git config diff.x.textconv $TRAP; echo '* diff=x' >.git/info/attributes`, live: "cd project; git diff", want: ordinary},
		"ssh":              {prepare: hollow + `git config remote.origin.url ssh://h/x; git config core.sshCommand $TRAP`, live: "cd project; git status", refused: "git status failed"},
		"transport":        {prepare: hollow + `git config remote.origin.url "ext::$TRAP"; git config protocol.ext.allow always`, live: "cd project; git status", refused: "git status failed"},
		"address": {prepare: hollow + `git config remote.origin.url https://example.org/x; git config "url.ext::$TRAP .insteadOf" https://example.org/; git config protocol.allow always`, live: "cd project; git status",
			refused: "git status failed"},
		"upload":      {prepare: hollow + `git config remote.origin.url /nowhere; git config remote.origin.uploadpack $TRAP`, live: "cd project; git status", refused: "git status failed"},
		"credentials": {prepare: hollow + `git config remote.origin.url https://127.0.0.1:9/x; git config credential.helper "!$TRAP"; git config core.askPass $TRAP; git config http.proxy http://127.0.0.1:9`, refused: "git status failed"},
		"programs": {prepare: `cd project; for key in core.pager pager.status core.editor sequence.editor gpg.program gpg.ssh.program interactive.diffFilter core.gitProxy core.alternateRefsCommand uploadpack.packObjectsHook browser.x.cmd trailer.x.command; do
			git config $key $TRAP; done; git config alias.status "!$TRAP"; git config log.showSignature true; git config status.submoduleSummary true`, want: ordinary},
		"submodule": {prepare: `git clone -q project other; cd project; git submodule --quiet add ../other lib; git commit -qm two lib .gitmodules; git -C lib config core.fsmonitor $TRAP; git -C lib config filter.x.clean $TRAP; mkdir -p .git/modules/lib/info; echo '* filter=x' >.git/modules/lib/info/attributes; echo x >>lib/a.txt`,
			live: "cd project; git status", want: append(slices.Clone(ordinary), " M lib/a.txt")},
		"embedded":   {prepare: `git clone -q project project/lib; cd project; git -C lib config core.fsmonitor $TRAP; git add lib 2>/dev/null; git commit -qm two lib; echo x >lib/new`, live: "cd project; git status", want: append(slices.Clone(ordinary), "?? lib/new")},
		"of another": {prepare: `chown -R 12345 project 2>/dev/null || true; cd project; git config -f .git/config core.fsmonitor $TRAP`, live: `cd project; GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' git status`, want: ordinary},

		"objects of another":  {prepare: `cd project; echo ../../../away >.git/objects/info/alternates`, refused: "takes objects from another"},
		"another folder":      {prepare: `mkdir away; cd project; git config core.worktree ../../away`, refused: "the files of another folder"},
		"an unknown format":   {prepare: `cd project; git config extensions.odd yes`, refused: "extensions.odd = yes"},
		"other references":    {prepare: `cd project; git config extensions.refStorage reftable`, refused: "extensions.refstorage = reftable"},
		"settings of a pipe":  {prepare: `cd project; rm .git/config; mkfifo .git/config`, refused: "its settings cannot be read"},
		"broken settings":     {prepare: `cd project; echo '[core' >.git/config`, refused: "its settings cannot be read"},
		"endless settings":    {prepare: `cd project; ln -sf /dev/zero .git/config`, refused: "its settings cannot be read"},
		"index of a pipe":     {prepare: `cd project; rm .git/index; mkfifo .git/index`, refused: "its index is not a regular file"},
		"broken index":        {prepare: `cd project; echo x >.git/index`, refused: "git status failed"},
		"file of a pipe":      {prepare: `cd project; rm -rf .git; mkfifo .git`, refused: "its .git cannot be read"},
		"file of nothing":     {prepare: `cd project; rm -rf .git; echo 'gitdir: nowhere' >.git`, refused: "not a git directory"},
		"file of rubbish":     {prepare: `cd project; rm -rf .git; echo x >.git`, refused: "names no git directory"},
		"file of a machine":   {prepare: `cd project; rm -rf .git; echo 'gitdir: //server/share' >.git`, refused: "names no git directory"},
		"references of pipes": {prepare: `cd project; rm -rf .git/refs/heads .git/packed-refs; mkfifo .git/refs/heads .git/packed-refs`, refused: "its references cannot be read"},
		"HEAD leads out":      {prepare: `cd project; echo 'ref: refs/../../../canary' >.git/HEAD`, refused: "HEAD leads to no commit"},
		"HEAD leads round":    {prepare: `cd project; echo 'ref: refs/heads/a' >.git/HEAD; echo 'ref: refs/heads/a' >.git/refs/heads/a`, refused: "HEAD leads to no commit"},
		"HEAD is rubbish":     {prepare: `cd project; echo x >.git/HEAD`, refused: "HEAD leads to no commit"},
		"no HEAD":             {prepare: `cd project; rm .git/HEAD`},
		"an empty folder":     {prepare: `cd project; rm -rf .git; mkdir .git`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.sh(c.prepare)
			if c.live != "" {
				_ = exec.Command("sh", "-c", "cd "+p.root+"; "+c.live+" >/dev/null 2>&1 </dev/null").Run() // it may fail for the trap
				if !p.sprung() {
					t.Fatal("the trap is none: git itself does not run it")
				}
			}
			p.sprung()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of a pipe that git waits for
			defer cancel()
			tree, err := git.Look(ctx, filepath.Join(p.project, c.folder))
			if p.sprung() {
				t.Error("the trap was run")
			}
			switch {
			case c.refused != "":
				refusal := fault.Is(err, fault.NotAllowed) || fault.Is(err, fault.Storage)
				if !refusal || !strings.Contains(err.Error(), c.refused) || fault.From(err).Hint == "" {
					t.Errorf("%+v, %v", tree, err)
				}
			case err != nil || (tree == nil) != (c.want == nil):
				t.Errorf("%+v, %v", tree, err)
			case tree != nil && (!slices.Equal(tree.Changed, c.want) || len(tree.Head) != 40):
				t.Errorf("%q, not %q", tree, c.want)
			}
		})
	}
}

// TestVariablesNameNoOtherRepository checks that the variables of a git around this program, which are
// about its repository, are left out.
func TestVariablesNameNoOtherRepository(t *testing.T) {
	p := newPlace(t)
	p.sh(`git clone -q project other; git -C other config core.fsmonitor $TRAP; mkdir empty`)
	for name, value := range map[string]string{
		"GIT_DIR": p.root + "/other/.git", "GIT_WORK_TREE": p.root + "/other", "GIT_INDEX_FILE": p.root + "/other/.git/index", "GIT_COMMON_DIR": p.root + "/other/.git",
		"GIT_OBJECT_DIRECTORY": p.root + "/other/.git/objects", "GIT_CONFIG": p.root + "/other/.git/config", "GIT_CONFIG_PARAMETERS": "'core.fsmonitor'='" + p.root + "/trap'",
		"GIT_EXTERNAL_DIFF": p.root + "/trap", "GIT_PAGER": p.root + "/trap", "GIT_TRACE": p.canary, "GIT_TRACE2": p.canary, "GIT_NAMESPACE": "x", "GIT_CEILING_DIRECTORIES": p.root,
	} {
		t.Setenv(name, value)
	}
	if tree, err := git.Look(t.Context(), p.project); err != nil || !slices.Equal(tree.Changed, ordinary) {
		t.Errorf("%+v, %v", tree, err)
	}
	if tree, err := git.Look(t.Context(), filepath.Join(p.root, "empty")); err != nil || tree != nil {
		t.Errorf("%+v, %v", tree, err)
	}
	if p.sprung() {
		t.Error("the trap was run, or a trace written")
	}
}

// TestHonestRepositories checks that the answer is that of git.
func TestHonestRepositories(t *testing.T) {
	for name, c := range map[string]struct {
		prepare string
		folder  string
	}{
		"plain":                 {},
		"clean":                 {prepare: `cd project; git add .; git commit -qm two`},
		"below":                 {folder: "sub"},
		"nothing yet":           {prepare: `cd project; rm -rf .git; git init -q`},
		"staged first":          {prepare: `cd project; rm -rf .git; git init -q; git add a.txt`},
		"detached":              {prepare: `cd project; git checkout -q --detach`},
		"packed":                {prepare: `cd project; git branch z; git pack-refs --all; git gc -q; rmdir .git/refs/heads 2>/dev/null || true; mkdir -p .git/refs/heads`},
		"both":                  {prepare: `cd project; git pack-refs --all; git commit -qam two; echo x >a.txt`},
		"branch of parts":       {prepare: `cd project; git checkout -qb feature/x; git pack-refs --all`},
		"sha256":                {prepare: `cd project; rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm one; echo x >>a.txt`},
		"letters":               {prepare: `cd project; git mv a.txt c.txt; git rm -qf sub/b.txt; echo "x y" >"a file"; chmod +x sub/new.txt; ln -s c.txt link; git add link`},
		"unmerged":              {prepare: `cd project; git commit -qam two; git checkout -qb x HEAD^; echo y >a.txt; git commit -qam three; git merge -q main >/dev/null || true`},
		"work tree":             {prepare: `cd project; git worktree add -q ../other; rm -rf ../moved; mv ../project ../moved; mv ../other ../project; cd ../project; git -C ../moved worktree repair ../project; echo x >>a.txt; touch z`},
		"submodule":             {prepare: `git clone -q project other; cd project; git submodule --quiet add ../other lib`},
		"later submodule":       {prepare: `git clone -q project other; cd project; git submodule --quiet add ../other lib; git commit -qm two lib .gitmodules; cd lib; git commit -q --allow-empty -m x`},
		"no submodule yet":      {prepare: `git clone -q project other; cd project; git submodule --quiet add ../other lib; git commit -qam two; git submodule --quiet deinit -f lib`},
		"in a submodule":        {prepare: `git clone -q project other; cd project; git submodule --quiet add ../other lib; echo x >>lib/a.txt`, folder: "lib"},
		"sparse":                {prepare: `cd project; git stash -qu; mkdir far; echo x >far/x; git add .; git commit -qm two; git sparse-checkout set --cone sub; echo x >>a.txt`},
		"sparse index":          {prepare: `cd project; git stash -qu; mkdir far; echo x >far/x; git add .; git commit -qm two; git sparse-checkout set --cone --sparse-index sub; echo x >>a.txt`},
		"filters of the person": {prepare: `cd project; echo '*.bin filter=lfs' >.gitattributes; echo large >x.bin; git add .; git commit -qm two; touch x.bin; echo other >>a.txt`},
		"ends of lines":         {prepare: `cd project; echo '*.bat text eol=crlf' >.gitattributes; printf 'a\r\nb\r\n' >x.bat; git add .; git commit -qm two; touch x.bat; git config core.autocrlf true; printf 'a\r\n' >a.txt`},
		"left out":              {prepare: `cd project; echo '*.log' >.gitignore; echo '*.tmp' >.git/info/exclude; touch a.log a.tmp a.bak a.new`},
		"modes":                 {prepare: `cd project; git config core.fileMode false; chmod +x sub/b.txt`},
		"parts of index":        {prepare: `cd project; git update-index --split-index; git add sub; git config core.untrackedCache true; git update-index --untracked-cache; git status >/dev/null`},
		"partial clone":         {prepare: `git -C project config uploadpack.allowFilter true; git clone -q --filter=blob:none file://$PWD/project other; rm -rf project; mv other project; echo x >>project/a.txt`},
		"shallow clone":         {prepare: `git -C project commit -qam two; git clone -q --depth 1 file://$PWD/project other; rm -rf project; mv other project; echo x >>project/a.txt`},
		"through a link":        {prepare: `mv project real; ln -s real/sub project`},
		"odd names":             {prepare: `mv project 'pr[o]j *'; ln -s 'pr[o]j *' project; cd project; git update-index --split-index; printf x >'-n'; printf x >"$(printf 'a\tb')"`},
		"nested":                {prepare: `git clone -q project project/inner`},
		"kept out":              {prepare: `cd project; git update-index --assume-unchanged a.txt`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.sh(c.prepare)
			folder := filepath.Join(p.project, c.folder)
			files := `cd "` + p.root + `/project"; cd "$(git rev-parse --git-dir)"; find . -type f | sort | xargs -d '\n' cat | cksum`
			before := p.sh(files)
			tree, err := git.Look(t.Context(), folder)
			if err != nil || tree == nil {
				t.Fatalf("%+v, %v", tree, err)
			}
			if after := p.sh(files); after != before {
				t.Error("the repository was changed")
			}
			prefix := strings.TrimSpace(p.sh(`cd "` + folder + `"; git rev-parse --show-prefix`))
			var want []string
			for line := range strings.SplitSeq(p.sh(`cd "`+folder+`"; git --no-optional-locks status --porcelain -z --no-renames -uall .`), "\x00") {
				if line != "" {
					want = append(want, line[:3]+strings.TrimPrefix(line[3:], prefix))
				}
			}
			if head := strings.TrimSpace(p.sh(`cd project; git rev-parse -q --verify HEAD || true`)); !slices.Equal(tree.Changed, want) || tree.Head != head {
				t.Errorf("%q\nnot %q of %s", tree, want, head)
			}
		})
	}
}

// TestSubmodulesInSubmodules checks that a change anywhere is named by its path, and that too many
// levels are refused.
func TestIgnores(t *testing.T) {
	for rules, want := range map[string]bool{
		"": false, ".claude/\n": true, ".claude": true, ".claude/*\n": true, ".*\n": true, "*.md\n": true, "specs/": true, "/.claude/specs/**\n": true,
		".claude/settings.local.json\n": false, ".claude/*\n!.claude/specs/\n": false, ".claude/\n!.claude/specs/\n": true,
		".claude/\n!.claude/\n.claude/*\n!.claude/specs/\n": false,
	} {
		for _, file := range []string{".gitignore", ".git/info/exclude"} {
			dir := t.TempDir()
			if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if err := os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(file)), []byte(rules), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := git.Ignores(t.Context(), dir, ".claude/specs/run/document.md"); err != nil || got != want {
				t.Errorf("%s with %q: %v, %v, want %v", file, rules, got, err, want)
			}
		}
	}
	if got, err := git.Ignores(t.Context(), t.TempDir(), "a"); got || err != nil {
		t.Errorf("outside a repository: %v, %v", got, err)
	}
}

func TestSubmodulesInSubmodules(t *testing.T) {
	p := newPlace(t)
	p.sh(`git clone -q project one; git clone -q project two; git -C one submodule --quiet add ../two in; git -C one commit -qam two
		cd project; git submodule --quiet add ../one lib; git commit -qam two; git submodule --quiet update --init --recursive; echo x >>lib/in/sub/b.txt`)
	if tree, err := git.Look(t.Context(), p.project); err != nil || !slices.Equal(tree.Changed, []string{"?? sub/new.txt", " M lib/in/sub/b.txt"}) {
		t.Errorf("%+v, %v", tree, err)
	}
	p.sh(`cd project; top=$PWD; for i in 1 2 3 4 5 6 7 8 9; do git clone -q $top/../two in 2>/dev/null; git -c advice.addEmbeddedRepo=false add in; git commit -qm in; cd in; done`)
	if tree, err := git.Look(t.Context(), p.project); !fault.Is(err, fault.NotAllowed) || !strings.Contains(err.Error(), "more than 8 deep") {
		t.Errorf("%+v, %v", tree, err)
	}
}

// TestIgnoredFiles checks that a folder of ignored files is named only if it is ignored itself and has no tracked file.
func TestIgnoredFiles(t *testing.T) {
	p := newPlace(t)
	p.line(`printf 'deps/\nmixed/\n.env\n' >.gitignore; echo '*.o' >.git/info/exclude; mkdir -p deps/in mixed sub/deep; touch x.bak deps/in/x mixed/x mixed/y
		touch .env sub/.env sub/x.o sub/deep/x.o; git add -f mixed/x; git commit -qm two; echo more >>mixed/x`)
	for folder, want := range map[string][]string{
		"": {".env", "deps/", "mixed/y", "sub/.env", "sub/deep/x.o", "sub/x.o", "x.bak"}, "sub": {".env", "deep/x.o", "x.o"},
	} {
		tree, err := git.Look(t.Context(), filepath.Join(p.project, folder))
		if err != nil || !slices.Equal(tree.Ignored, want) {
			t.Errorf("in %q: %+v, %v", folder, tree, err)
		}
	}
}

// TestLookIsGivenUp checks that a git that waits ends with its context.
func TestLookIsGivenUp(t *testing.T) {
	p := newPlace(t)
	p.sh(`cd project; mkfifo .gitignore`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if tree, err := git.Look(ctx, p.project); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", tree, err)
	}
}
