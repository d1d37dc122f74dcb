package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	nothingSincePlan  = "nothing has changed in the project since the plan was approved"
	unknownSincePlan  = "it is unknown whether anything has changed in the project since the plan was approved"
	nothingSinceStart = "nothing has changed in the project since the run began"
)

// TestNothingBuilt checks that a pass waits for the person if the project has the files of the approval of the plan:
// ignored files, documents and output of tools do not count. A pass goes on if others changed.
func TestNothingBuilt(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: needs git")
	}
	t.Parallel()
	const commit = "git -c user.name=n -c user.email=n@example.com commit -qm"
	for name, tt := range map[string]struct {
		before, during string // scripts
		want           string // "" goes on
	}{
		"no git, nothing":               {"echo a >a.go", ":", nothingSincePlan},
		"no git, touched":               {"echo a >a.go", "touch -d '2 days ago' a.go", nothingSincePlan},
		"no git, same size":             {"echo a >a.go", "echo b >a.go", ""},
		"no git, new":                   {"echo a >a.go", "echo b >b.go", ""},
		"no git, removed":               {"echo a >a.go", "rm a.go", ""},
		"no git, the output of tools":   {"echo a >a.go", "mkdir -p node_modules/a .cache; echo b >node_modules/a/b.js; echo c >.cache/c", nothingSincePlan},
		"no git, settings":              {"echo a >a.go", "mkdir -p .claude; echo '{}' >.claude/settings.json", nothingSincePlan},
		"an empty folder":               {":", ":", nothingSincePlan},
		"an empty folder, git later":    {":", "git init -q; echo a >a.go", ""},
		"no git, git later":             {"echo a >a.go", "git init -q", nothingSincePlan},
		"git, nothing":                  {"git init -q; echo a >a.go; git add .; " + commit + " a", ":", nothingSincePlan},
		"git, touched":                  {"git init -q; echo a >a.go; git add .; " + commit + " a", "touch -d '2 days ago' a.go", nothingSincePlan},
		"git, same size":                {"git init -q; echo a >a.go; git add .; " + commit + " a", "echo b >a.go", ""},
		"git, committed":                {"git init -q; echo a >a.go; git add .; " + commit + " a", "echo b >b.go; git add b.go; " + commit + " b", ""},
		"git, removed":                  {"git init -q; echo a >a.go; echo b >b.go; git add .; " + commit + " a", "rm a.go", ""},
		"git, ignored":                  {"git init -q; echo x.log >.gitignore; git add .; " + commit + " a", "echo b >x.log", nothingSincePlan},
		"git, a commit of the same":     {"git init -q; echo a >a.go; git add .; " + commit + " a; echo b >a.go; echo c >c.go", "git add a.go c.go; " + commit + " b", nothingSincePlan},
		"git, a commit of its papers":   {"git init -q; echo a >a.go; git add .; " + commit + " a", "git add -A -f .claude; " + commit + " b", nothingSincePlan},
		"git, an empty commit":          {"git init -q; echo a >a.go; git add .; " + commit + " a", commit + " b --allow-empty", nothingSincePlan},
		"git without commits":           {"git init -q; echo a >a.go", ":", nothingSincePlan},
		"git without commits, built":    {"git init -q; echo a >a.go", "echo b >b.go", ""},
		"git, staged only":              {"git init -q; echo a >a.go", "git add a.go", nothingSincePlan},
		"git, taken away":               {"git init -q; echo a >a.go; git add .; " + commit + " a", "rm -rf .git", unknownSincePlan},
		"git, broken":                   {"git init -q; echo a >a.go; git add .; " + commit + " a", "echo rubbish >.git/index", unknownSincePlan},
		"git, broken from the start on": {"git init -q; echo a >a.go; echo rubbish >.git/HEAD", ":", nothingSincePlan},
		"git, a rebase with a conflict": {
			"git init -q -b main; echo a >a.go; git add .; " + commit + " a; git checkout -qb side; echo b >a.go; " + commit + " b -a; git checkout -q main; echo c >a.go; " + commit + " c -a",
			"git -c user.name=n -c user.email=n@example.com rebase -q side >/dev/null 2>&1 || :", "",
		},
		"git, within a rebase": {
			"git init -q -b main; echo a >a.go; git add .; " + commit + " a; git checkout -qb side; echo b >a.go; " + commit + " b -a; git checkout -q main; echo c >a.go; " + commit + " c -a; " +
				"git -c user.name=n -c user.email=n@example.com rebase -q side >/dev/null 2>&1 || :",
			":", nothingSincePlan,
		},
		"git, a shallow clone": {
			"git init -q -b main up; cd up; echo a >a.go; git add .; " + commit + " a; echo b >b.go; git add .; " + commit + " b; cd ..; git clone -q --depth 1 file://$PWD/up sub; mv sub/.git sub/*.go .; rm -rf up sub",
			":", nothingSincePlan,
		},
		"git, a submodule": {
			"git init -q -b main; echo a >a.go; git init -q lib; cd lib; echo l >l.go; git add .; " + commit + " l; cd ..; git add a.go lib 2>/dev/null; " + commit + " a", "echo m >lib/m.go", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.idle = true
			b.sh(tt.before)
			b.to(workflow.Dev, workflow.Generating)
			b.sh(tt.during)
			b.do(submit(workflow.Dev, "# D"))
			place := "review/awaiting_approval"
			if tt.want == "" {
				place = "qa/generating"
			}
			if r := b.at(place, submit(workflow.Review, passes("# R"))); !strings.Contains(r.UserMessage, tt.want) {
				t.Errorf("got %s, want %q", r.UserMessage, tt.want)
			}
		})
	}
}

func (b *bench) sh(script string) {
	b.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// TestNothingBuiltIsAskedOnce checks that a yes counts for the rest of the run, and that a no has it built.
func TestNothingBuiltIsAskedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.idle = true
	b.to(workflow.Dev, workflow.Generating)
	b.do(submit(workflow.Dev, "# D"))
	b.at("review/awaiting_approval", submit(workflow.Review, passes("# R")))
	b.at("dev/refining", approve(false, "build it"))
	b.do(submit(workflow.Dev, "# D again"))
	b.at("review/awaiting_approval", submit(workflow.Review, passes("# R again")))
	b.clock = b.clock.Add(-1000 * time.Hour) // nothing depends on the time
	b.at("qa/generating", approve(true, ""))
	b.at("qa/completed", submit(workflow.QA, passes("# Q")))

	b.at("qa/refining", request.Request{Action: workflow.ActionReopen, Stage: "qa"})
	b.at("qa/completed", submit(workflow.QA, passes("# Q again")))
}

// TestHandedInIsNotBuilt checks that a report that lies in the project is not work, whether it was there before the
// plan was approved or not.
func TestHandedInIsNotBuilt(t *testing.T) {
	t.Parallel()
	for name, early := range map[string]bool{"written before": true, "written after": false} {
		for _, extra := range []string{"", "main.go"} {
			b := newBench(t)
			b.idle = true
			write := func() {
				put(t, filepath.Join(b.dir, "docs", "dev.md"), "# D")
				put(t, filepath.Join(b.dir, "review.md"), passes("# R"))
			}
			if early {
				write()
			}
			b.to(workflow.Dev, workflow.Generating)
			write()
			if extra != "" {
				put(t, filepath.Join(b.dir, extra), "package main")
			}
			byPath := func(stage workflow.StageID, name string) request.Request {
				return request.Request{Action: workflow.ActionSubmit, Stage: string(stage), Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Path: name}}}}
			}
			b.do(byPath(workflow.Dev, "docs/dev.md"))
			place := "review/awaiting_approval"
			if extra != "" {
				place = "qa/generating"
			}
			if r := b.at(place, byPath(workflow.Review, "review.md")); extra == "" && !strings.Contains(r.UserMessage, nothingSincePlan) {
				t.Errorf("%s: %s", name, r.UserMessage)
			}
		}
	}
}

// TestNothingBuiltWithoutAPlan checks a workflow without a plan: the work counts from the start of the run on.
func TestNothingBuiltWithoutAPlan(t *testing.T) {
	t.Parallel()
	for built, want := range map[bool]string{true: "qa/completed", false: "qa/awaiting_approval"} {
		b := newBench(t)
		b.workflow, b.idle = "quick", true
		b.do(start("build a thing"))
		b.do(submit(workflow.PO, `{"prd_draft":"# P","quality_score":95}`))
		b.at("dev/generating", confirm(true))
		if built {
			put(t, filepath.Join(b.dir, "main.go"), "package main")
		}
		b.do(submit(workflow.Dev, "# D"))
		if r := b.at(want, submit(workflow.QA, passes("# Q"))); !built && !strings.Contains(r.UserMessage, nothingSinceStart) {
			t.Errorf("got %s", r.UserMessage)
		}
	}
}

// TestAbsentFiles checks that a report with files that do not exist is returned once, and that the next gate has the
// names if the report insists.
func TestAbsentFiles(t *testing.T) {
	t.Parallel()
	const claims = "# D\n\n## Files\n\n- `cmd/todo/main.go`\n- `internal/store/store.go`\n"
	const names = "the report names files that do not exist: cmd/todo/main.go, internal/store/store.go"
	begin := func() *bench {
		b := newBench(t)
		b.to(workflow.Dev, workflow.Generating)
		b.idle = true
		if r := b.at("dev/refining", submit(workflow.Dev, claims)); !strings.Contains(r.UserMessage, names) {
			t.Errorf("returned without the names: %s", r.UserMessage)
		}
		return b
	}

	insists := begin()
	insists.at("review/generating", submit(workflow.Dev, claims))
	if r := insists.at("review/awaiting_approval", submit(workflow.Review, passes("# R"))); !strings.Contains(r.UserMessage, "- "+names) {
		t.Errorf("the gate does not name them: %s", r.UserMessage)
	}
	insists.at("qa/generating", approve(true, ""))
	insists.at("qa/completed", submit(workflow.QA, passes("# Q")))

	builds := begin()
	put(t, filepath.Join(builds.dir, "cmd/todo/main.go"), "package main")
	put(t, filepath.Join(builds.dir, "app/internal/store/store.go"), "package store") // below another folder
	builds.at("review/generating", submit(workflow.Dev, claims))
	builds.at("qa/generating", submit(workflow.Review, passes("# R")))

	late := begin()
	late.at("review/generating", submit(workflow.Dev, claims))
	put(t, filepath.Join(late.dir, "cmd/todo/main.go"), "package main")
	put(t, filepath.Join(late.dir, "internal/store/store.go"), "package store")
	late.at("qa/generating", submit(workflow.Review, passes("# R")))
}

// TestRoundsInTheArtifact checks that after a rework the artifact of the review still names what was built before.
func TestRoundsInTheArtifact(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.to(workflow.Dev, workflow.Generating)
	b.do(submit(workflow.Dev, "# D first\n\n## Files\n\n- `a.go`\n- `b.go`\n"))
	b.do(submit(workflow.Review, "# R\nStatus: fail"))
	b.at("dev/refining", approve(false, "mend it"))
	b.do(submit(workflow.Dev, "# D second\n\n## Files\n\n- `a.go`\n"))
	b.at("qa/generating", submit(workflow.Review, passes("# R")))
	text := b.artifact("build-a-thing", "04-dev-reviewed.md")
	for _, want := range []string{"## Rounds of the work", "- Round 1, report ", ": `a.go`, `b.go`\n- Round 2, report ", "# D second"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
