//go:build unix

package project_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// git runs git in a folder.
func (w *world) git(folder string, args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", w.at(folder), "-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// repository makes one with a commit, which has some folders.
func (w *world) repository(name string, folders ...string) {
	w.t.Helper()
	w.write(name+"/README.md", "x\n")
	for _, folder := range folders {
		w.write(name+"/"+folder+"/README.md", "x\n")
	}
	w.git(name, "init", "-q", "-b", "main")
	w.git(name, "add", ".")
	w.git(name, "commit", "-q", "-m", "one")
}

// startApart starts a session with a branch of its own in a folder, and returns the id.
func (w *world) startApart(folder, task string) string {
	w.t.Helper()
	f := w.finder(project.Options{})
	p, err := f.Open(w.at(folder))
	if err != nil {
		w.t.Fatal(err)
	}
	defer p.Close()
	w.ids++
	id := fmt.Sprintf("%08d-0000-4000-8000-000000000000", w.ids)
	s := workflow.Default().NewSession(id, task, p.Dir.Path(), "a test", time.Unix(int64(w.ids), 0))
	s.Branch = workflow.BranchFor(task)
	if err := p.Backend.Create(w.t.Context(), s, store.Names{Candidate: func(int) string { return task }, Taken: func(string) bool { return false }}); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Remember(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	return id
}

// worktree makes the worktree of the run of a task.
func (w *world) worktree(repository, task string) {
	w.t.Helper()
	head, err := git.Head(w.at(repository))
	if err == nil {
		err = git.AddWorktree(w.t.Context(), w.at(repository), w.at(repository+".worktrees/"+task), workflow.BranchFor(task), head)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// newWorktrees is a world with repositories, runs and worktrees, good and bad.
func newWorktrees(t *testing.T) (w *world, ids map[string]string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	w, ids = newWorld(t), map[string]string{}
	w.repository("repo", "sub")
	w.repository("mono", "apps/web/.claude", "apps/api")
	w.repository("other")
	for folder, tasks := range map[string][]string{"repo": {"one", "two", "gone", "evil", "taken"}, "mono/apps/web": {"page"}} {
		for _, task := range tasks {
			ids[task] = w.startApart(folder, task)
		}
	}
	for _, task := range []string{"one", "two", "gone"} {
		w.worktree("repo", task)
	}
	w.worktree("mono", "page")
	w.worktree("other", "theirs")
	if err := os.RemoveAll(w.at("repo.worktrees/gone")); err != nil {
		t.Fatal(err)
	}
	// One says that it is a worktree of another repository, which knows nothing of it; and one is known there.
	w.write("repo.worktrees/evil/.git", "gitdir: "+w.at("other/.git/worktrees/theirs")+"\n")
	w.git("other", "worktree", "add", "-q", "../repo.worktrees/taken")
	w.git("repo", "worktree", "add", "-q", "../mine")
	w.git("repo", "worktree", "add", "-q", "../repo.leases/one-3")
	w.link("repo", "alias")
	// What an engine writes into a worktree gives no orders.
	w.dir("repo.worktrees/two/.bmad-task") // as the run makes it
	w.write("repo.worktrees/one/.claude/bmad-task.yaml", "nonsense: 1\n")
	return w, ids
}

// TestWorktrees finds the run of a call, its files and its sessions from the main tree, from the worktree, and from elsewhere.
func TestWorktrees(t *testing.T) {
	w, ids := newWorktrees(t)
	for name, c := range map[string]struct {
		at            project.Address
		dir, home, id string
	}{
		"from the main tree":         {project.Address{Cwd: w.at("repo"), Session: "one"}, "repo.worktrees/one", "repo", ids["one"]},
		"from a folder of it":        {project.Address{Cwd: w.at("repo/sub"), Session: "one"}, "repo.worktrees/one", "repo", ids["one"]},
		"through a link":             {project.Address{Cwd: w.at("alias"), Session: "one"}, "repo.worktrees/one", "repo", ids["one"]},
		"from the worktree":          {project.Address{Cwd: w.at("repo.worktrees/one")}, "repo.worktrees/one", "repo", ids["one"]},
		"from a folder of that":      {project.Address{Cwd: w.at("repo.worktrees/two/sub")}, "repo.worktrees/two", "repo", ids["two"]},
		"from the other worktree":    {project.Address{Cwd: w.at("repo.worktrees/two"), Session: "one"}, "repo.worktrees/one", "repo", ids["one"]},
		"as the assistant's place":   {project.Address{Places: []string{w.at("repo.worktrees/two")}}, "repo.worktrees/two", "repo", ids["two"]},
		"from elsewhere by name":     {project.Address{Places: []string{w.at("other")}, Session: "two"}, "repo.worktrees/two", "repo", ids["two"]},
		"from elsewhere by id":       {project.Address{Session: ids["two"]}, "repo.worktrees/two", "repo", ids["two"]},
		"a part of a repository":     {project.Address{Cwd: w.at("mono/apps/web")}, "mono.worktrees/page/apps/web", "mono/apps/web", ids["page"]},
		"that part in the worktree":  {project.Address{Cwd: w.at("mono.worktrees/page/apps/web")}, "mono.worktrees/page/apps/web", "mono/apps/web", ids["page"]},
		"a worktree that is gone":    {project.Address{Cwd: w.at("repo"), Session: "gone"}, "repo", "repo", ids["gone"]},
		"one of another's":           {project.Address{Cwd: w.at("repo"), Session: "evil"}, "repo", "repo", ids["evil"]},
		"one that another knows":     {project.Address{Cwd: w.at("repo"), Session: "taken"}, "repo", "repo", ids["taken"]},
		"in one of another's":        {project.Address{Cwd: w.at("repo.worktrees/evil"), Optional: true}, "repo.worktrees/evil", "repo.worktrees/evil", ""},
		"in one that another knows":  {project.Address{Cwd: w.at("repo.worktrees/taken"), Optional: true}, "repo.worktrees/taken", "repo.worktrees/taken", ""},
		"a person's linked worktree": {project.Address{Cwd: w.at("mine"), Optional: true}, "mine", "mine", ""},
		"a worker's worktree":        {project.Address{Cwd: w.at("repo.leases/one-3"), Optional: true}, "repo.leases/one-3", "repo.leases/one-3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, id, err := w.finder(project.Options{}).Find(t.Context(), c.at)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			real := func(name string) string {
				out, err := filepath.EvalSymlinks(name)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			if real(p.Dir.Path()) != w.at(c.dir) || real(p.Home.Path()) != w.at(c.home) || id != c.id {
				t.Errorf("it is %s, with the sessions in %s, of %q", p.Dir.Path(), p.Home.Path(), id)
			}
			if at := p.AtHome(); at.Dir != p.Home || at.Home != p.Home || at.Place() != p.Place() {
				t.Errorf("at home it is %s", at.Dir.Path())
			}
			for task, isGone := range map[string]bool{"one": false, "gone": true, "evil": true, "taken": true} {
				if c.home != "repo" {
					break
				}
				s, err := p.Backend.Get(t.Context(), ids[task])
				if err != nil {
					t.Fatal(err)
				}
				if got := p.MissingWorktree(s); (got != "") != isGone {
					t.Errorf("the worktree of %s that is missing is %q", task, got)
				}
			}
		})
	}
}

// TestPermissionsOfWorktrees: what a person has allowed in the main tree counts in the worktrees of this program, and nowhere
// else.
func TestPermissionsOfWorktrees(t *testing.T) {
	w, _ := newWorktrees(t)
	for folder, want := range map[string]string{
		"repo": "repo", "repo.worktrees/one": "repo", "repo.leases/one-3": "repo", "mono.worktrees/page/apps/web": "mono/apps/web",
		"mine": "mine", "repo.worktrees/evil": "repo.worktrees/evil", "repo.worktrees/taken": "repo.worktrees/taken",
	} {
		p, err := w.finder(project.Options{}).Open(w.at(folder))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.AllowedAs(); got != w.at(want) {
			t.Errorf("%s counts as %s, want %s", folder, got, want)
		}
		if home := project.HomeOf(w.at(folder)); (home == w.at("repo")) != (folder == "repo" || folder == "repo.worktrees/one") {
			t.Errorf("the sessions of %s are in %s", folder, home)
		}
		p.Close()
	}
}

// TestServedWorktrees: a server of the main tree reaches the worktree through its run, and no other way.
func TestServedWorktrees(t *testing.T) {
	w, ids := newWorktrees(t)
	f := w.finder(project.Options{Within: []string{w.at("repo")}})
	p, id, err := f.Find(t.Context(), project.Address{Session: "one"})
	if err != nil || id != ids["one"] || p.Dir.Path() != w.at("repo.worktrees/one") {
		t.Fatalf("%v, %v", p, err)
	}
	p.Close()
	for _, folder := range []string{"repo.worktrees/one", "repo.worktrees", "other.worktrees/theirs", "mine"} {
		if p, err := f.Open(w.at(folder)); !fault.Is(err, fault.NotAllowed) {
			t.Errorf("%s: %v, %v", folder, p, err)
		}
	}
	other := w.finder(project.Options{Within: []string{w.at("other")}})
	if p, id, err := other.Find(t.Context(), project.Address{Cwd: w.at("repo.worktrees/taken"), Optional: true}); !fault.Is(err, fault.NotAllowed) {
		t.Errorf("%v, %q, %v", p, id, err)
	}
}
