package cli_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

// realModel is the scripted model behind one engine.
type realModel struct {
	says func(...sdktest.Step)
	// builds is an answer that writes a file of the project.
	builds func()
	// asked are the requests so far, without those for titles.
	asked func() []string
	left  func() int
}

// model returns the model behind an engine.
func (r *realRun) model(engine string) realModel {
	r.t.Helper()
	if engine == "codex" {
		codex := r.addCodex()
		return realModel{
			says: func(steps ...sdktest.Step) {
				for _, step := range steps {
					codex.says(step)
				}
			},
			builds: func() { codex.patches("list.go", "package list") },
			asked:  func() []string { return codex.bodies },
			left:   func() int { return len(codex.items) },
		}
	}
	return realModel{
		says:   r.server.Add,
		builds: func() { r.server.Add(r.writes(filepath.Join(r.dir, "list.go"), "package list\n")) },
		asked: func() (all []string) {
			for _, q := range r.server.Requests() {
				if len(q.Tools) > 0 {
					all = append(all, string(q.Body))
				}
			}
			return all
		},
		left: r.server.Left,
	}
}

// conversationID finds the id of a conversation in the output of Claude Code or Codex.
var conversationID = regexp.MustCompile(`"(?:session_id|thread_id)":\s*"([^"]+)"`)

// conversations lists the engine's conversations in which a stage was worked on, call by call.
func (r *realRun) conversations(stage workflow.StageID) (ids []string) {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, ".bmad-task", "runs", "*", "engine-"+string(stage)+"-*.jsonl"))
	if err != nil {
		r.t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b string) int { // they end with the number of the call
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	for _, file := range files {
		data, err := os.ReadFile(file)
		id := conversationID.FindSubmatch(data)
		if err != nil || id == nil {
			r.t.Fatalf("%s names no conversation: %v\n%.500s", file, err, data)
		}
		ids = append(ids, string(id[1]))
	}
	return ids
}

// TestRealReturns: a report that lacks its rows goes back, with the reasons, into the conversation
// that wrote it, and is judged once it has them. Nobody is asked.
func TestRealReturns(t *testing.T) {
	const (
		stated  = "Status: Pass"
		partial = "# QA report\n\nStatus: Pass\n\n```json\n" + `{"checks": [{"id": "C1", "command": "go test ./...", "exit": 0}],
 "criteria": [{"id": "AC-1.1", "result": "pass", "check": "C1"}, {"id": "AC-1.2", "result": "pass", "check": "C1"}], "findings": []}` + "\n```\n"
	)
	for _, engine := range []string{"claude", "codex"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			r := newRealRun(t)
			model := r.model(engine)
			model.says(r.says("po-1.md"), r.says("po-2.md"), r.says("architect-1.md"), r.says("sm-1.md"))
			model.builds()
			model.says(r.says("dev-1.md"), sdktest.Text(stated), r.says("review-2.md"), sdktest.Text(partial), r.says("qa-1.md"))
			out := r.does(0, "run", "--engine", engine, "--yes", "--answers", r.answers, "--name", "returns", "Build a to-do list for the terminal")
			asked := model.asked()
			if left := model.left(); left != 0 || len(asked) != 10 {
				t.Fatalf("the model was asked %d times, and %d of its answers were not asked for", len(asked), left)
			}
			returned := map[workflow.StageID][]string{}
			for _, e := range r.session().History {
				returned[e.FromStage()] = append(returned[e.FromStage()], e.Returned...)
			}
			for _, tt := range []struct {
				stage         workflow.StageID
				first, reason string
				at            int // of the first request for its report
			}{{"review", stated, "it has no block of JSON with its rows", 6}, {"qa", partial, "rows are missing: AC-2.1", 8}} {
				if got := returned[tt.stage]; !slices.Equal(got, []string{tt.reason}) {
					t.Errorf("%s was returned for %q", tt.stage, got)
				}
				if said := string(tt.stage) + ": returned, because " + tt.reason + "\n"; !strings.Contains(out, said) {
					t.Errorf("the person is not told %q:\n%s", said, out)
				}
				if ids := r.conversations(tt.stage); len(ids) != 2 || ids[0] != ids[1] || slices.Contains(r.conversations("dev"), ids[0]) {
					t.Errorf("%s was worked on in %q, dev in %q", tt.stage, ids, r.conversations("dev"))
				}
				before, after := asked[tt.at], asked[tt.at+1]
				line, _, _ := strings.Cut(tt.first, "\n")
				if strings.Contains(before, line) || strings.Contains(before, tt.reason) || !strings.Contains(after, line) || !strings.Contains(after, tt.reason) {
					t.Errorf("%s was asked\n%s\nand then\n%s", tt.stage, before, after)
				}
			}
			for stage, want := range map[workflow.StageID]int{"po": 2, "architect": 1, "sm": 1, "dev": 1, "review": 2, "qa": 2} {
				if got := r.submissions()[stage]; got != want {
					t.Errorf("%d submissions of %s; want %d", got, stage, want)
				}
			}
		})
	}
}
