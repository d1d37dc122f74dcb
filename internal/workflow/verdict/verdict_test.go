package verdict

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const requirements = `# Requirements

## User stories

### US-1: sign in

- **AC-1.1** A mailed link signs the person in
- AC‑1.2: a link works once
- AC-1.3 links expire after 15 minutes

### US-2: sign out

| Id | Criterion |
|---|---|
| AC-2.1 | the cookie is removed |
| AC-2.2 | the run is removed |

## Out of scope

- AC-9.1 two factors
`

var owed = []string{"AC-1.1", "AC-1.2", "AC-1.3", "AC-2.1", "AC-2.2"}

// qa returns the contract of a QA report for these requirements.
func qa() Contract {
	return Contract{
		Owes: workflow.OwesCriteria, Criteria: ReadCriteria(Sources{Requirements: []string{requirements}}), Lines: map[string]int{"session_test.go": 40},
	}
}

// review returns the contract of a review.
func review() Contract {
	c := qa()
	c.Owes = workflow.OwesFindings
	return c
}

// passingRows returns rows that pass, each with evidence of its own.
func passingRows(ids ...string) []string {
	var rows []string
	for _, id := range ids {
		rows = append(rows, fmt.Sprintf(`{"id": %q, "result": "pass", "evidence": "session_test.go:12 for %s gives 303"}`, id, id))
	}
	return rows
}

// report returns a report with a block of these rows, and more fields.
func report(rows []string, more string) string {
	return "# QA report\n\nTested on staging.\n\n```json\n" + `{"summary": "all of it", "criteria": [` + strings.Join(rows, ",\n ") + `]` + more + "}\n```\n"
}

// judgeText reads and judges a report, and returns its outcome.
func judgeText(text string, c Contract) string {
	j := Judge(Read(text, []string{"qa_report", "report"}), c)
	return outcome(j)
}

func outcome(j Judgement) string {
	said := func(kind string, list []string) string { return kind + ": " + strings.Join(list, "; ") }
	switch {
	case len(j.Returned) > 0:
		return said("returned", texts(j.Returned))
	case j.Verdict.Passes() && len(j.Held) > 0:
		return said("held "+string(j.Verdict), texts(j.Held))
	case j.Verdict.Passes():
		return "goes on: " + string(j.Verdict)
	}
	return said(string(j.Verdict), texts(j.Missing))
}

func texts[T fmt.Stringer](list []T) (out []string) {
	for _, t := range list {
		out = append(out, t.String())
	}
	return out
}

// TestJudge: reports and their outcomes.
func TestJudge(t *testing.T) {
	t.Parallel()
	all := passingRows(owed...)
	with := func(row string) []string { return append(append([]string{}, all[:4]...), row) }
	earlier := func(c Contract) Contract {
		c.Round = 1
		c.Earlier = workflow.Record{
			Criteria: []workflow.Criterion{{ID: "AC-1.1", Criterion: "A mailed link signs the person in", Result: "pass", Evidence: "seen"}, {ID: "AC-1.2", Criterion: "a link works once", Result: "fail"}, {ID: "AC-1.3", Criterion: "links expire after an hour", Result: "pass", Evidence: "seen"}},
			Findings: []workflow.Finding{{ID: "T1", Severity: "critical", Problem: "twice", Status: "open"}, {ID: "T2", Severity: "minor", Problem: "slow", Status: "fixed"}},
		}
		return c
	}
	demands := func(p workflow.Proof) Contract { c := qa(); c.Proved = p; return c }
	second := func(first, second workflow.SprintStatus) Contract { // a plan whose sprints name no criteria
		c := qa()
		src := Sources{Requirements: []string{requirements}, InScope: []int{2}, Sprints: []workflow.Sprint{{Number: 1, Status: first}, {Number: 2, Status: second}}}
		c.Criteria = ReadCriteria(src)
		return c
	}
	unnamed := Contract{Owes: workflow.OwesCriteria, Lines: qa().Lines}
	server := func(exit int) Contract {
		c := qa()
		c.Server = []workflow.Evidence{{Command: "go test ./...", ExitCode: exit, Tail: "ok"}}
		return c
	}
	fixed := `, "findings": [{"id": "T1", "status": "fixed"}]`
	for name, tt := range map[string]struct {
		text     string
		contract Contract
		want     string
	}{
		"all rows":                 {report(all, ""), qa(), "goes on: pass"},
		"a word alone":             {"# QA report\n\nStatus: Pass", qa(), "returned: it has no block of JSON with its rows"},
		"a word in a review":       {"LGTM\n\nAPPROVED", review(), "returned: it has no block of JSON with its rows"},
		"a fail needs no block":    {"# QA\n\nStatus: FAIL, the build is broken", qa(), "fail: it has no block of JSON with its rows"},
		"blocked needs no block":   {"Verdict: blocked (no credentials)", qa(), "blocked: it has no block of JSON with its rows"},
		"the worst marker counts":  {report(all, "") + "\nStatus: Pass\n\nStatus: Fail\n", qa(), "fail: "},
		"a marker makes it worse":  {report(all, "") + "\n状态：有风险通过\n", qa(), "held pass_with_risk: it states a pass with risk"},
		"a marker in quotes":       {report(all, "") + "\n> Status: Fail\n\n| Status: Fail |\n\n```\nStatus: Fail\n```\n\n<!-- Status: Fail -->\n", qa(), "goes on: pass"},
		"words that are no marker": {report(all, "") + "\nStatus: failed deliveries are shown\nStatus: blocked users get 403\nVerdict: Pass / Fail\n", qa(), "goes on: pass"},
		"a missing row":            {report(all[1:], ""), qa(), "returned: rows are missing: AC-1.1"},
		"a made-up id":             {report(append(passingRows("AC-7.7"), all...), ""), qa(), "returned: no document of this run has the ids AC-7.7; use those in `owed`"},
		"an id of another family":  {report(append(passingRows("US-1"), all...), ""), qa(), "goes on: pass"},
		"an id in other spelling":  {report(append(passingRows("ac 1.1", "ＡＣ-1.2", "AC‑1.3", "AC_2.1"), all[4]), ""), qa(), "goes on: pass"},
		"an id with hidden parts":  {report(append(passingRows("AC-1.1\u200b"), all[1:]...), ""), qa(), "goes on: pass"},
		"an id that is too long":   {report(append(passingRows(strings.Repeat("x", 10_000)), all...), ""), qa(), "returned: the id \"xxxxxxxxxxxxxxxxxxxx\"… is longer than 80 characters; no document of this run has the ids " + strings.Repeat("x", 80) + "; use those in `owed`"},
		"two results":              {report(with(`{"id": "AC-2.2", "result": "pass", "evidence": "session_test.go:7"}, {"id": "ac2.2", "result": "not_tested", "why": "y"}`), ""), qa(), `returned: "ac2.2" has two results: "pass" and "not_tested"`},
		"two results, one fails":   {report(with(`{"id": "AC-2.2", "result": "pass", "evidence": "session_test.go:7"}, {"id": "ac2.2", "result": "fail"}`), ""), qa(), `fail: "ac2.2" has two results: "pass" and "fail"`},
		"one field twice":          {report(with(`{"id": "AC-2.2", "result": "fail", "result": "pass", "evidence": "session_test.go:7"}`), ""), qa(), `returned: the block of JSON has the field "result" twice, at line 10, column 37`},
		"one field, two spellings": {report(with(`{"id": "AC-2.2", "Result": "pass", "result": "pass", "evidence": "session_test.go:7"}`), ""), qa(), `returned: an object of the block has the field "result" twice, in two spellings`},
		"two names for a list":     {report(all, `, "defects": [], "issues": [{"severity": "critical", "problem": "data loss"}]`), qa(), `returned: an object of the block has the field "findings" twice, in two spellings`},
		"a result and a status":    {report(with(`{"id": "AC-2.2", "result": "pass", "status": "not tested", "evidence": "session_test.go:7"}`), ""), qa(), `returned: "AC-2.2" has two results: "pass" and "not_tested"`},
		"a result and an outcome":  {report(with(`{"id": "AC-2.2", "result": "pass", "outcome": "failed", "evidence": "session_test.go:7"}`), ""), qa(), `fail: "AC-2.2" has two results: "pass" and "fail"`},
		"an outcome in words":      {report(with(`{"id": "AC-2.2", "result": "pass", "outcome": "303 and a cookie", "evidence": "session_test.go:7"}`), ""), qa(), "goes on: pass"},
		"a pass without evidence":  {report(with(`{"id": "AC-2.2", "result": "pass"}`), ""), qa(), "returned: AC-2.2 pass without evidence or a check"},
		"empty evidence":           {report(with(`{"id": "AC-2.2", "result": "pass", "evidence": " – "}`), ""), qa(), "returned: AC-2.2 pass without evidence or a check"},
		"an unknown check":         {report(with(`{"id": "AC-2.2", "result": "pass", "check": "C9", "evidence": "session_test.go:7"}`), ""), qa(), "returned: AC-2.2 name a check that `checks` does not have"},
		"a check as evidence":      {report(with(`{"id": "AC-2.2", "result": "pass", "check": "c1"}`), `, "checks": [{"id": "C1", "command": "go test", "exit": "0"}]`), qa(), "goes on: pass"},
		"results as people write":  {report([]string{`{"id":"AC-1.1","result":"PASS","evidence":"session_test.go:1"}`, `{"id":"AC-1.2","result":"✅ passed","evidence":"session_test.go:2"}`, `{"id":"AC-1.3","result":"✓","evidence":"session_test.go:3"}`, `{"id":"AC-2.1","result":"通过","evidence":"session_test.go:4"}`, `{"id":"AC-2.2","result":true,"evidence":"session_test.go:5"}`}, ""), qa(), "goes on: pass"},
		"a mark against its word":  {report(with(`{"id": "AC-2.2", "result": "❌ pass", "evidence": "session_test.go:7"}`), ""), qa(), "returned: the results of AC-2.2 are not one of pass, fail, not_tested, out_of_scope"},
		"no result":                {report(with(`{"id": "AC-2.2", "evidence": "session_test.go:7"}`), ""), qa(), "returned: the results of AC-2.2 are not one of pass, fail, not_tested, out_of_scope"},
		"a failed row":             {report(with(`{"id": "AC-2.2", "result": "fail", "evidence": "500"}`), `, "verdict": "pass"`), qa(), "fail: "},
		"failed, and rows missing": {report([]string{`{"id": "AC-2.2", "result": "fail", "evidence": "500"}`}, ""), qa(), "fail: rows are missing: AC-1.1, AC-1.2, AC-1.3, AC-2.1"},
		"not tested":               {report(with(`{"id": "AC-2.2", "result": "not_tested", "why": "no browser"}`), ""), qa(), "held pass_with_risk: not tested: AC-2.2"},
		"not tested, yet a pass":   {report(with(`{"id": "AC-2.2", "result": "not_tested", "why": "no browser"}`), `, "verdict": "pass"`), qa(), "held pass_with_risk: it states pass, and its rows come to pass_with_risk; not tested: AC-2.2"},
		"not tested, no reason":    {report(with(`{"id": "AC-2.2", "result": "not_tested"}`), ""), qa(), "returned: AC-2.2 are not tested, and no reason is given in `why`"},
		"out of scope":             {report(with(`{"id": "AC-2.2", "result": "out_of_scope", "sprint": 3}`), ""), qa(), "returned: AC-2.2 are in scope; out_of_scope takes the number of a `sprint` that is not built yet"},
		"out of a built sprint":    {report(with(`{"id": "AC-2.2", "result": "out_of_scope", "sprint": 1}`), ""), second(workflow.SprintDone, workflow.SprintImplemented), "returned: AC-2.2 are in scope; out_of_scope takes the number of a `sprint` that is not built yet"},
		"out of a pending sprint":  {report(with(`{"id": "AC-2.2", "result": "out_of_scope", "sprint": 1}`), ""), second(workflow.SprintPending, workflow.SprintImplemented), "goes on: pass"},
		"what is left out":         {report(append(passingRows("AC-9.1"), all...), ""), qa(), "goes on: pass"},
		"a critical finding":       {report(all, `, "findings": [{"id": "T1", "severity": "critical", "problem": "data loss", "status": "open"}]`), qa(), "fail: "},
		"a fixed one":              {report(all, `, "findings": [{"id": "T1", "severity": "critical", "problem": "data loss", "status": "fixed"}]`), qa(), "goes on: pass"},
		"a major one":              {report(all, `, "findings": [{"id": "T1", "severity": "major", "problem": "slow"}]`), qa(), "held pass_with_risk: major findings are open: T1"},
		"a minor one":              {report(all, `, "findings": [{"severity": "minor", "problem": "slow"}]`), qa(), "goes on: pass"},
		"an unknown severity":      {report(all, `, "findings": [{"id": "T1", "severity": "high", "problem": "slow"}]`), qa(), `returned: the severity of finding "T1" is "high", and not one of critical, major, minor`},
		"no severity":              {report(all, `, "findings": [{"id": "T1", "problem": "slow"}]`), qa(), `returned: finding "T1" has no severity`},
		"no problem":               {report(all, `, "findings": [{"id": "T1", "severity": "minor"}]`), qa(), `returned: finding "T1" names no problem`},
		"an unknown status":        {report(all, `, "findings": [{"id": "T1", "severity": "critical", "problem": "x", "status": "done"}]`), qa(), `returned: the status of finding "T1" is "done", and not one of open, fixed, withdrawn`},
		"needs":                    {report(all, `, "needs": ["a key"]`), qa(), "blocked: "},
		"needs, and a failure":     {report(with(`{"id": "AC-2.2", "result": "fail"}`), `, "needs": "a key"`), qa(), "fail: "},
		"an unknown verdict":       {report(all, `, "verdict": "excellent"`), qa(), `returned: "verdict" is "excellent", and not one of pass, pass_with_risk, fail, blocked`},
		"a failed check":           {report(all, `, "checks": [{"id": "C1", "command": "make lint", "exit": 2}]`), qa(), "held pass: check \"C1\", `make lint`, ended with exit code 2"},
		"an expected failure":      {report(all, `, "checks": [{"id": "C1", "command": "! go test -run Old", "exit": 0, "output": "--- FAIL: TestOld (0.00s)"}]`), qa(), "goes on: pass"},
		"a check without exit":     {report(all, `, "checks": [{"id": "C1", "command": "make"}]`), qa(), `returned: check "C1" needs "exit", the exit code of its command as a number`},
		"a check without command":  {report(all, `, "checks": [{"id": "C1", "exit": 0}]`), qa(), `returned: check "C1" names no command`},
		"output that says failed":  {report(all, `, "checks": [{"id": "C1", "command": "pytest", "exit": 0, "output": "== 1 failed, 22 passed in 1.20s =="}]`), qa(), "held pass: the output of pytest says “== 1 failed, 22 passed in 1.20s ==”"},
		"a log that says failed":   {strings.Replace(report(all, ""), "Tested", "```\n--- FAIL: TestLogin (0.00s)\n```\n\nTested", 1), qa(), "held pass: the output of go test says “--- FAIL: TestLogin (0.00s)”"},
		"the server's own run":     {report(all, `, "checks": [{"id": "C1", "command": "go test ./...", "exit": 0}]`), server(1), "held pass: the server ran check \"C1\", `go test ./...`, and it ended with exit code 1"},

		"carried over":               {report(append([]string{`{"id": "AC-1.1", "result": "pass", "from": 1}`}, all[1:]...), fixed), earlier(qa()), "goes on: pass"},
		"carried from a failure":     {report(append([]string{all[0], `{"id": "AC-1.2", "result": "pass", "from": 1}`}, all[2:]...), fixed), earlier(qa()), "returned: \"AC-1.2\" did not pass in an earlier round; `from` is for rows that did"},
		"carried from another round": {report(append([]string{`{"id": "AC-1.1", "result": "pass", "from": 2}`}, all[1:]...), fixed), earlier(qa()), `returned: "AC-1.1" passed in round 1, not in round 2`},
		"carried, with another text": {report(append([]string{all[0], all[1], `{"id": "AC-1.3", "result": "pass", "from": 1}`}, all[3:]...), fixed), earlier(qa()), `returned: the text of "AC-1.3" has changed since round 1; test it again`},
		"carried beside a failure":   {report(append([]string{`{"id": "AC-1.1", "result": "pass", "from": 1}`}, all[1:]...), fixed+`, "checks": [{"command": "make", "exit": 1}]`), earlier(qa()), "held pass_with_risk: check \"C1\", `make`, ended with exit code 1; not tested: AC-1.1"},
		"a finding that is lost":     {report(all, ""), earlier(qa()), "returned: T1 were open in the last report; list each again with its status: open, fixed or withdrawn"},
		"a finding by another case":  {report(all, `, "findings": [{"id": "t1", "status": "withdrawn"}]`), earlier(qa()), "goes on: pass"},

		"a review":                  {report(nil, `, "no_checks": "docs only", "findings": []`), review(), "goes on: pass"},
		"a review without findings": {report(nil, `, "no_checks": "docs only"`), review(), `returned: "findings" is missing; an empty list says that there are none`},
		"a review without checks":   {report(nil, `, "findings": []`), review(), `returned: neither "checks" nor "no_checks" is there: name the commands that were run, or why none could be`},
		"a review with a risk":      {report(nil, `, "no_checks": "docs only", "findings": [{"severity": "major", "problem": "slow"}]`), review(), "goes on: pass_with_risk"},
		"a review with a failure":   {report(nil, `, "checks": [{"command": "make", "exit": -1}], "findings": []`), review(), "held pass: check \"C1\", `make`, ended with exit code -1"},
		"a review with a bad row":   {report([]string{`{"id": "AC-1.1", "result": "fail"}`}, `, "no_checks": "docs only", "findings": []`), review(), "fail: "},

		"no criteria are named": {report(passingRows("login"), `, "checks": [{"command": "make", "exit": 0}]`), unnamed, "goes on: pass"},
		"nor were commands run": {report(passingRows("login"), `, "no_checks": "no machine"`), unnamed, "held pass: no document names criteria, and nothing was run: no machine"},
		"nor is that said":      {report(passingRows("login"), ""), unnamed, `returned: neither "checks" nor "no_checks" is there: name the commands that were run, or why none could be`},

		"a verdict of its own":      {"```json\n{\"verdict\": \"fail\"}\n```\n\n" + report(all, ""), qa(), "fail: "},
		"commands of their own":     {"```json\n{\"checks\": [{\"id\": \"C1\", \"command\": \"make\", \"exit\": 2}]}\n```\n\n" + report(all, ""), qa(), "held pass: check \"C1\", `make`, ended with exit code 2"},
		"all are to be proved":      {report(all, ""), demands(workflow.ProvedAll), "held pass: for 0 of 5 passed rows the server ran a command; the policy asks for all"},
		"some are to be proved":     {report(all, ""), demands(workflow.ProvedSome), "held pass: for 0 of 5 passed rows the server ran a command; the policy asks for some"},
		"front matter states fail":  {"---\ntitle: QA\nverdict: fail\n---\n" + report(all, ""), qa(), "fail: "},
		"front matter says nothing": {"---\ntitle: QA\nstatus: final\n---\n" + report(all, ""), qa(), "goes on: pass"},
	} {
		if got := judgeText(tt.text, tt.contract); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}

// TestProved: a passed row is proved only if the server itself ran its check.
func TestProved(t *testing.T) {
	t.Parallel()
	text := report([]string{`{"id":"AC-1.1","result":"pass","check":"C1"}`, `{"id":"AC-1.2","result":"pass","check":"C1, C2"}`, `{"id":"AC-1.3","result":"pass","check":"C2"}`, `{"id":"AC-2.1","result":"pass","evidence":"C1"}`, `{"id":"AC-2.2","result":"pass","check":["C1"]}`},
		`, "checks": [{"id":"C1","command":" go test ./... ","exit":7},{"id":"C2","command":"go vet ./...","exit":0}]`)
	c := qa()
	c.Proved = workflow.ProvedSome
	c.Server = []workflow.Evidence{{Command: "go test ./...", Tail: "ok shop"}, {Command: "go vet ./...", NotRun: "not allowed"}}
	j := Judge(Read(text, nil), c)
	if got := outcome(j); got != "goes on: pass" {
		t.Error(got)
	}
	if n := CountRows(j.Criteria); n != (Counts{Rows: 5, Passed: 5, Proved: 2}) {
		t.Errorf("%+v", n)
	}
	if first := j.Checks[0]; !first.Server || first.Exit != 0 || first.Output != "ok shop" || j.Checks[1].Server {
		t.Errorf("%+v", j.Checks)
	}
}

// TestRecordedFailureKeepsOpenFindings: nothing that was open is lost by a failure that leaves it
// out.
func TestRecordedFailureKeepsOpenFindings(t *testing.T) {
	t.Parallel()
	c := review()
	c.Round, c.Earlier = 1, workflow.Record{Findings: []workflow.Finding{{ID: "R1", Severity: "major", Problem: "p"}}}
	j := Judge(Read("Status: needs fix", nil), c)
	if j.Verdict != workflow.Fail || len(j.Findings) != 1 || j.Findings[0].ID != "R1" || !j.Findings[0].Open() {
		t.Errorf("%+v", j)
	}
}

// TestMergeUnread: a result of one engine that cannot be read returns the report, whatever the
// other says.
func TestMergeUnread(t *testing.T) {
	t.Parallel()
	all := passingRows(owed...)
	partly := append(append([]string{}, all[:4]...), `{"id": "AC-2.2", "result": "partly failed", "evidence": "session_test.go:7"}`)
	for _, pair := range [][2][]string{{all, partly}, {partly, all}} {
		merged, _ := Merge(Read(report(pair[0], ""), nil), Read(report(pair[1], ""), nil), workflow.Claude, workflow.Codex, nil)
		if got := outcome(Judge(merged, qa())); got != "returned: the results of AC-2.2 are not one of pass, fail, not_tested, out_of_scope" {
			t.Error(got)
		}
	}
}
