package store_test

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

const fullID = "0c0c0c0c-3d55-4c0e-9a4e-5b8c8f0a7d22"

// prose are the texts of a session that may have several lines, because people, models and commands write them:
// whatever prints one in a line makes it one. All others are refused with a line end.
var prose = []string{
	"cwd", "objective", "sprints.title", "stages.earlier_sprints.title", "verify.command", "verify.instead",
	"stages.claude_result_ref.summary", "stages.codex_result_ref.summary", "stages.final_result_ref.summary", "stages.approved_scope.summary", "stages.artifact.text.summary",
	"stages.candidates.because", "stages.score_note", "stages.objections", "stages.returned", "stages.gaps", "stages.found_gaps", "stages.feedback", "stages.needs",
	"stages.findings.id", "stages.findings.severity", "stages.findings.file", "stages.findings.problem", "stages.findings.fix", "stages.findings.status", "stages.findings.check",
	"stages.criteria.id", "stages.criteria.criterion", "stages.criteria.result", "stages.criteria.evidence", "stages.criteria.check", "stages.criteria.why",
	"stages.checks.id", "stages.checks.command", "stages.checks.output", "stages.resolved.id", "stages.resolved.how",
	"stages.questions.id", "stages.questions.question", "stages.questions.context", "stages.questions.options",
	"stages.asked.id", "stages.asked.question", "stages.asked.context", "stages.asked.options", "stages.answers", "stages.answers{}", "stages.answer_channels{}",
	"stages.change_requests.id", "stages.change_requests.quote", "stages.change_requests.text", "stages.change_requests.replace", "stages.change_requests.note",
	"stages.audit.summary", "stages.audit.findings.id", "stages.audit.findings.severity", "stages.audit.findings.problem", "stages.audit.findings.fix",
	"stages.evidence.command", "stages.evidence.tail", "stages.evidence.not_run", "stages.evidence.changed", "stages.evidence.changed_to", "stages.evidence.notes",
	"history.feedback", "history.skipped", "history.sources", "history.edit", "history.policy", "history.evidence", "history.rows", "history.candidates", "history.returned",
	"history.grant.feedback", "history.grant.note", "history.grant.comments.id", "history.grant.comments.quote", "history.grant.comments.text", "history.grant.comments.replace",
	"history.verify.command", "history.verify.instead", "history.adoption.problem", "history.found",
}

// TestLines puts a line of its own into each text of a session: only prose may have it.
func TestLines(t *testing.T) {
	t.Parallel()
	_, all := workflowtest.Full(fullID)
	for i, f := range all {
		s, fields := workflowtest.Full(fullID)
		if fields[i].Text == nil {
			continue
		}
		if _, err := decode(t, s); err != nil {
			t.Fatal(err)
		}
		fields[i].Text("x\nFAKE LINE")
		_, err := decode(t, s)
		if isProse := slices.Contains(prose, f.Path); isProse != (err == nil) {
			t.Errorf("%s: prose is %v, and Decode says %v", f.Path, isProse, err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the refusal has the line: %q", f.Path, err)
		}
		checkEncode(t, f.Path, s, err)
	}
}

// checkEncode checks that nothing is stored that does not open again. The workflow and the state are those of the program.
func checkEncode(t *testing.T, path string, s *workflow.Session, decoded error) {
	t.Helper()
	if path == "version" || strings.HasPrefix(path, "workflow.") || strings.HasPrefix(path, "current_") {
		return
	}
	if _, err := store.Encode(s); (err == nil) != (decoded == nil) {
		t.Errorf("%s: Encode says %v, Decode %v", path, err, decoded)
	}
}

// TestNumbers puts numbers out of bounds into each number of a session. Those that stay are no sizes and no counters.
func TestNumbers(t *testing.T) {
	t.Parallel()
	free := map[string]bool{}
	_, all := workflowtest.Full(fullID)
	for i, f := range all {
		for _, n := range []int64{-1, math.MinInt64, math.MaxInt64} {
			s, fields := workflowtest.Full(fullID)
			if fields[i].Number == nil {
				continue
			}
			fields[i].Number(n)
			_, err := decode(t, s)
			free[f.Path] = free[f.Path] || err == nil
			checkEncode(t, f.Path, s, err)
		}
	}
	var got []string
	for path, isFree := range free {
		if isFree {
			got = append(got, path)
		}
	}
	slices.Sort(got)
	want := []string{"history.exit_code", "history.grant.took_ms", "stages.checks.exit", "stages.evidence.exit_code", "stages.evidence.took_ms", "version"}
	if !slices.Equal(got, want) {
		t.Errorf("free numbers: %q", got)
	}
}

// TestPaths puts the ways out of a folder into each text of a session that names a file or a folder.
func TestPaths(t *testing.T) {
	t.Parallel()
	_, all := workflowtest.Full(fullID)
	seen := 0
	for i, f := range all {
		_, last, _ := strings.Cut(f.Path[strings.LastIndexByte("."+f.Path, '.'):], "_")
		isPath := f.Path == "task_name" || f.Path == "session_id" || last == "path" || strings.HasSuffix(f.Path, ".path") || f.Path == "history.kept" ||
			f.Path == "workflow.stages.artifact" || f.Path == "workflow.stages.id" || f.Path == "stages{}"
		if !isPath {
			continue
		}
		seen++
		for _, value := range []string{
			"..", "../..", "./CLAUDE.md", "/etc/passwd", ".claude/commands/x.md", ".claude/specs/../../CLAUDE.md", ".claude/specs/clock/../../../CLAUDE.md", ".claude/specs/clock/a/b.md", ".claude/specs/clock/.x",
			".claude/specs/a.md", ".claude/specs//a.md", ".claude/specs/clock/", `.claude\specs\clock\a.md`, `.claude/specs/clock/..\..\x`, ".bmad-task/temp/a.md", ".bmad-task/temp/../../a.md", ".bmad-task/temp/x/../../../CLAUDE.md",
			".bmad-task/temp/x/a\x1b.md", ".bmad-task/temp/x/\u202ea.md", ".bmad-task/store", "././.bmad-task/temp/x/a.md", "./../CLAUDE.md", ".//.bmad-task/temp/x/a.md", strings.Repeat("x", 300), "x\x00",
		} {
			s, fields := workflowtest.Full(fullID)
			fields[i].Text(value)
			_, err := decode(t, s)
			if err == nil {
				t.Errorf("%s may be %q", f.Path, value)
			}
			checkEncode(t, f.Path, s, err)
		}
	}
	if seen < 14 {
		t.Errorf("only %d of the fields name files", seen)
	}
}

// TestBloat: a session that would take a hundred times its length in memory is refused before it does.
func TestBloat(t *testing.T) {
	s, _ := workflowtest.Full(fullID)
	data, err := workflow.MarshalIndent(s)
	if err != nil {
		t.Fatal(err)
	}
	const n = 1 << 18
	for what, tt := range map[string][2]string{
		"entries":   {`"history": [`, `"history": [` + strings.Repeat("{},", n)},
		"none":      {`"history": [`, `"history": [` + strings.Repeat("null,", n)},
		"artifacts": {`"artifacts": [`, `"artifacts": [` + strings.Repeat(`"",`, n)},
		"stages":    {`"stages": [`, `"stages": [` + strings.Repeat("{},", n)},
		"sprints":   {`"sprints": [`, `"sprints": [` + strings.Repeat("{},", n)},
	} {
		big := []byte(strings.Replace(string(data), tt[0], tt[1], 1))
		for from, decode := range map[string]func() error{
			"decoded":   func() error { _, err := store.Decode(big, "f"); return err },
			"in a list": func() error { _, err := store.DecodeSummary(big, "f"); return err },
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := decode()
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > uint64(4*len(big)) || from == "decoded" && err == nil {
				t.Errorf("%s, %s: %d bytes take %d of memory, %v", what, from, len(big), took, err)
			}
		}
	}
	s.Objective = strings.Repeat("a text, with {braces}, [brackets] and \"quotes\" ", maxText/40)
	if data, err = store.Encode(s); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Decode(data, "f"); err != nil {
		t.Error("a long text is no bloat:", err)
	}
}

// maxText is a length, in bytes, above that at which the values of a session are counted.
const maxText = 4 << 20

// TestOldNames checks that names of other programs, which are no slugs of this one, open.
func TestOldNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Build-A-Clock", "build_a_clock", "造一个时钟", "v1.2", "a b", "x..y", strings.Repeat("long-", 30), "con", "café"} {
		s, _ := workflowtest.Full(fullID)
		s.TaskName = name
		s.Stages["x"].Artifact.Path = ".claude/specs/" + name + "/Report 1.md"
		data, err := store.Encode(s)
		if err != nil {
			t.Error(err)
			continue
		}
		if again, err := store.Decode(data, "f"); err != nil || again.TaskName != name {
			t.Errorf("%q: %v", name, err)
		}
		if short, err := store.DecodeSummary(data, "f"); err != nil || short.TaskName != name {
			t.Errorf("%q in a list: %v", name, err)
		}
	}
}

// decode reads a session from the form that another program may have given it, as lists do, too: they refuse no other ones.
func decode(t *testing.T, s *workflow.Session) (*workflow.Session, error) {
	t.Helper()
	data, err := workflow.MarshalIndent(s)
	if err != nil {
		t.Fatal(err)
	}
	out, err := store.Decode(data, "f")
	if short, shortErr := store.DecodeSummary(data, "f"); shortErr == nil && (!artifact.IsName(short.TaskName) || short.SessionID != fullID || short.Revision < 0) {
		t.Errorf("a list has %+v", short)
	}
	return out, err
}
