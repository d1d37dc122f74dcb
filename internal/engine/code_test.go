package engine_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// atWork brings a session in a git repository to the review, with changed code: spend.go is committed, left.go and
// changed.go had changes before the work that nobody had committed, and only changed.go was changed again.
func atWork(t *testing.T) *bench {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: needs git")
	}
	b := newBench(t)
	b.idle = true
	b.sh(`git init -q -b main; git config user.name n; git config user.email n@example.com
		printf 'package a\n\nfunc a() {\n\treturn 1\n}\n' >spend.go; echo a >left.go; echo a >changed.go; git add .
		git commit -qm a; echo b >left.go; echo b >changed.go; echo n >new.go`)
	b.to(workflow.Dev, workflow.Generating)
	b.sh(`printf 'package a\n\nfunc a() {\n\treturn 2\n}\n' >spend.go; git add spend.go
		git commit -qm work; echo c >changed.go; echo secret >.env; mkdir -p .claude; echo '{}' >.claude/settings.json`)
	b.do(submit(workflow.Dev, "# D"))
	b.at("review/awaiting_approval", submit(workflow.Review, "# R\nStatus: fail"))
	return b
}

func (b *bench) code() *project.Code {
	b.t.Helper()
	code, err := b.engine.Code(b.t.Context(), project.Address{Cwd: b.dir})
	if err != nil || code == nil {
		b.t.Fatal(code, err)
	}
	return code
}

// TestCode shows the changes since the yes to the plan, committed or not, without the documents of the run and without
// changes from before.
func TestCode(t *testing.T) {
	t.Parallel()
	b := atWork(t)
	var got []string
	for _, f := range b.code().Files {
		got = append(got, fmt.Sprintf("%s +%d -%d %v", f.Path, f.Added, f.Removed, f.Earlier))
	}
	if want := ".claude/settings.json +1 -0 false, .env +1 -0 false, changed.go +1 -1 true, spend.go +1 -1 false"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

// TestCommentsOnCode follows a comment on a line of the code to the next report, which has to answer it.
func TestCommentsOnCode(t *testing.T) {
	t.Parallel()
	b := atWork(t)
	on := func(file string, from int, quote string) workflow.Comment {
		return workflow.Comment{File: file, From: from, Quote: quote, Kind: workflow.CommentChange, Text: "three"}
	}
	before := b.snapshot()
	for name, c := range map[string]struct {
		comment workflow.Comment
		want    fault.Code
		words   string
	}{
		"another file":      {on("go.mod", 1, ""), fault.InvalidArgument, "not among the changed ones"},
		"a file outside":    {on("../../etc/passwd", 1, ""), fault.InvalidArgument, "not among the changed ones"},
		"an unchanged file": {on("left.go", 1, ""), fault.InvalidArgument, "not among the changed ones"},
		"a hidden name":     {on("spend\u202e.go", 1, ""), fault.InvalidArgument, "hidden characters"},
		"no such line":      {on("spend.go", 6, ""), fault.InvalidArgument, "lines 6 to 6 are not in the file, which has 5 lines"},
		"a negative line":   {on("spend.go", -1, ""), fault.InvalidArgument, "are not in the file"},
		"a changed line":    {on("spend.go", 4, "return 1"), fault.Conflict, "line 4 of spend.go is not as the page showed it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.try(request.Request{Action: workflow.ActionApprove, Caller: request.Caller{Ask: decides(workflow.DecisionChanges, c.comment)}})
			if !fault.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.words) {
				t.Errorf("got %v, want %s", err, c.words)
			}
		})
	}
	if b.snapshot() != before {
		t.Error("a refused comment has changed something")
	}
	r := b.do(request.Request{Action: workflow.ActionApprove, Caller: request.Caller{Ask: decides(workflow.DecisionChanges, on("spend.go", 4, "return 2"), on(".env", 0, ""))}})
	told, _ := json.Marshal(r.ChangeRequests)
	if want := `[{"id":"r1c1","file":"spend.go","lines":"4","stage":"review","quote":"\treturn 2","kind":"change","text":"three"},` +
		`{"id":"r1c2","file":".env","stage":"review","kind":"change","text":"three"}]`; string(told) != want {
		t.Errorf("got  %s\nwant %s", told, want)
	}
	c := b.stored().Current().ChangeRequests[0]
	if c.Place() != "spend.go:4" || !c.Open() {
		t.Errorf("%+v", c)
	}
	b.refused(submit(workflow.Dev, "# D2"), fault.InvalidArgument, "r1c1")

	b.sh(`printf '// x\npackage a\n\nfunc a() {\n\treturn 2\n}\n' >spend.go`)
	if f, _ := b.code().Find("spend.go"); true {
		if line, ok := f.Place(c.Quote, c.From); line != 5 || !ok {
			t.Errorf("a moved line is found at %d, %v", line, ok)
		}
	}
}

// TestDiffView shows the code in a reply, within its bounds.
func TestDiffView(t *testing.T) {
	t.Parallel()
	b := atWork(t)
	view := func(name string) string {
		r := b.do(request.Request{Action: workflow.ActionStatus, Status: request.Status{View: name}})
		return r.Resource.Text
	}
	head := strings.SplitN(view("diff"), "\n", 2)
	if !strings.HasPrefix(head[0], "since commit ") {
		t.Error(head[0])
	}
	const want = `4 files, +4 -2
.claude/settings.json +1 -0 (new)
.env +1 -0 (new)
changed.go +1 -1 (with changes from before the work)
spend.go +1 -1

--- .claude/settings.json +1 -0 (new)
@@ -0 +1 @@
+{}

--- .env +1 -0 (new)
@@ -0 +1 @@
+secret

--- changed.go +1 -1 (with changes from before the work)
@@ -1 +0 @@
-a
+c

--- spend.go +1 -1
@@ -1 +1 @@
 package a
 
 func a() {
-	return 1
+	return 2
 }
`
	if head[1] != want {
		t.Errorf("got\n%s\nwant\n%s", head[1], want)
	}
	if one := view("diff:spend.go"); !strings.Contains(one, "+\treturn 2") || strings.Contains(one, "secret") {
		t.Error(one)
	}
	b.refused(request.Request{Action: workflow.ActionStatus, Status: request.Status{View: "diff:../canary"}}, fault.NotFound, "was not changed")
	b.sh(`for i in 1 2 3 4 5 6 7 8 9; do seq 400 >f$i.txt; done; i=0; while [ $i -lt 300 ]; do echo x >many$i; i=$((i+1)); done`)
	if text := view("diff"); len(text) > 9000 || !strings.Contains(text, "diff:PATH shows one") || !strings.Contains(text, "more") {
		t.Errorf("%d bytes: %s", len(text), text[:200])
	}
	b.sh("rm -rf .git")
	b.refused(request.Request{Action: workflow.ActionStatus, Status: request.Status{View: engine.ViewDiff}}, fault.NotFound, "there is nothing to compare the code with")
}
