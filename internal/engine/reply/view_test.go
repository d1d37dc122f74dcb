package reply_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// pick returns the JSON of some keys of a reply, in their order, without those that it lacks.
func pick(t *testing.T, out *reply.Reply, keys string) string {
	t.Helper()
	data, err := out.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, key := range strings.Fields(keys) {
		if v, has := all[key]; has {
			parts = append(parts, key+" "+string(v))
		}
	}
	return fold(strings.Join(parts, " "))
}

// fold writes a letter that stands more than twenty times in a row once, with its count.
func fold(text string) string {
	var b strings.Builder
	for letters := []rune(text); len(letters) > 0; {
		n := slices.IndexFunc(letters, func(c rune) bool { return c != letters[0] })
		if n < 0 {
			n = len(letters)
		}
		if n > 20 {
			fmt.Fprintf(&b, "%c×%d", letters[0], n)
		} else {
			b.WriteString(string(letters[:n]))
		}
		letters = letters[n:]
	}
	return b.String()
}

// keysOf returns the sorted keys of a reply.
func keysOf(t *testing.T, out *reply.Reply) string {
	t.Helper()
	data, err := out.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), " ")
}

// scored returns a change that gives the round that waits a score, an audit, gaps and findings.
func scored(s *standing.Standing) {
	rec := s.Session.Current()
	rec.Iteration, rec.Score, rec.ClaimedScore, rec.ScoreNote = 2, ptr(88), ptr(88), "two scores"
	rec.Gaps, rec.Audit = []string{"no risks"}, &workflow.Audit{Score: 70, Findings: []workflow.AuditFinding{{ID: "THIN", Severity: "major", Problem: "thin", Points: 30, Line: 3}}}
	rec.Candidates = []workflow.Candidate{{Engine: "claude"}}
}

// judged gives the stage a report that has failed.
func judged(s *standing.Standing) {
	rec := s.Session.Current()
	rec.Iteration, rec.Verdict, rec.Objections, rec.Returned, rec.Needs = 1, workflow.Fail, []string{"o"}, []string{"r"}, "n"
	rec.Findings = []workflow.Finding{
		{ID: "F1", Severity: "major", Problem: strings.Repeat("p", 121), Fix: "fix"}, {ID: "F2", Problem: "q", Status: "fixed"},
	}
	rec.Criteria = []workflow.Criterion{
		{ID: "AC-1", Result: workflow.ResultPass, Proved: true}, {ID: "AC-2", Result: workflow.ResultFail}, {ID: "AC-3", Result: workflow.ResultNotTested},
		{ID: "AC-4", Result: workflow.ResultOutOfScope}, {ID: "AC-5", Result: workflow.ResultPass, From: 1},
	}
	rec.Evidence = &workflow.Evidence{Command: strings.Repeat("c", 301), ExitCode: 2, Tail: "x\n" + strings.Repeat("y", 599), Notes: []string{"note"}}
}

// TestView checks the keys of a reply that describe the document that waits, in each state.
func TestView(t *testing.T) {
	t.Parallel()
	requests := func(s *standing.Standing) {
		s.Session.Current().ChangeRequests = []workflow.ChangeRequest{
			{Comment: workflow.Comment{ID: "r1c1", From: 2, To: 4, Kind: workflow.CommentChange, Text: "x", Quote: "q"}, Stage: workflow.QA, Status: workflow.RequestOpen},
			{Comment: workflow.Comment{ID: "r1c2"}, Status: workflow.RequestTakenUp},
		}
	}
	plan := func(s *standing.Standing) { s.Session.Sprints = []workflow.Sprint{{Number: 1, Title: "a"}} }
	status := calls(standing.Call{Action: workflow.ActionStatus})
	const measures = "score score_is_estimate gate_score score_note candidates audit gaps"
	type list = []func(*standing.Standing)
	const po, sm, dev, review = workflow.PO, workflow.SM, workflow.Dev, workflow.Review
	for name, tt := range map[string]struct {
		stage  workflow.StageID
		state  workflow.State
		change list
		depth  reply.Depth
		keys   string
		want   string
	}{
		"place":            {po, workflow.Generating, nil, reply.Whole, "session_id task_name cwd stage current_stage state current_state revision stage_description", `session_id "id" task_name "clock" cwd "/p" stage "po" current_stage "po" state "generating" current_state "generating" revision 7 stage_description "turns the objective into a product requirements document"`},
		"file of a status": {po, workflow.Refining, list{status}, reply.Light, "session_file rework_count iteration", `session_file "session.json"`},
		"file of a start":  {po, workflow.Generating, list{calls(standing.Call{Action: workflow.ActionStart})}, reply.Whole, "session_file user_message", `session_file "session.json" user_message "message"`},
		"no file":          {po, workflow.Refining, nil, reply.Light, "session_file", ``},
		"no description":   {po, workflow.Refining, nil, reply.Short, "stage_description", ``},
		"scored":           {po, workflow.Refining, list{scored}, reply.Short, measures + " draft", `score 88 gate_score 90 score_note "two scores" candidates [{"engine":"claude","audit_score":0}] audit {"score":70} gaps ["no risks"] draft {"stage":"po","path":"work.md","summary":"字×39…","size":9}`},
		"scored, estimate": {po, workflow.Refining, list{scored, func(s *standing.Standing) {
			s.Session.Current().ClaimedScore, s.Session.Current().EstimatedScore = nil, ptr(88)
		}}, reply.Short, "score score_is_estimate", `score 88 score_is_estimate true`},
		"scored, older":        {po, workflow.Refining, list{scored, func(s *standing.Standing) { s.Session.Current().ClaimedScore = nil }}, reply.Short, "score score_is_estimate", `score 88`},
		"take up":              {po, workflow.Refining, list{requests, func(s *standing.Standing) { s.Session.Current().Iteration = 0 }}, reply.Whole, "role_prompt", "role_prompt \"the role\\n\\nchange_requests are the human's comments on lines of your last version (of the report of `stage`, where one is named). Take up each, and name each in `resolved` of the JSON block at the end: {\\\"resolved\\\": [{\\\"id\\\": \\\"r1c1\\\", \\\"how\\\": \\\"…\\\"}]}. Where you do not follow one, add \\\"status\\\": \\\"declined\\\" and give the reason in `how`.\""},
		"scored, at its gate":  {po, workflow.AwaitingConfirmation, list{scored}, reply.Short, measures + " draft", `score 88 gate_score 90 score_note "two scores" candidates [{"engine":"claude","audit_score":0}] audit {"score":70,"findings":["−30: thin (line 3)"]} gaps ["no risks"] draft {"stage":"po","path":"work.md","size":9,"sha256":"aa"}`},
		"scored, rounds spent": {po, workflow.AwaitingApproval, list{scored}, reply.Short, measures, `score 88 gate_score 90 score_note "two scores" candidates [{"engine":"claude","audit_score":0}] audit {"score":70} gaps ["no risks"]`},
		"scored, reopened":     {po, workflow.Generating, list{scored}, reply.Whole, measures + " draft", `gate_score 90 draft {"stage":"po","path":"work.md","summary":"字×39…","size":9}`},
		"plan at its gate":     {sm, workflow.AwaitingApproval, list{scored, plan}, reply.Short, measures + " sprints", `candidates [{"engine":"claude","audit_score":0}] audit {"score":70,"findings":["−30: thin (line 3)"]} gaps ["no risks"] sprints [{"number":1,"title":"a","status":""}]`},
		"sprints of a build":   {dev, workflow.Refining, list{plan}, reply.Short, "sprints", `sprints [{"number":1,"title":"a","status":""}]`},
		"sprints of a status":  {po, workflow.Refining, list{plan}, reply.Light, "sprints", `sprints [{"number":1,"title":"a","status":""}]`},
		"no sprints":           {po, workflow.Refining, list{plan}, reply.Short, "sprints", ``},
		"report":               {review, workflow.Refining, list{judged}, reply.Light, "verdict needs objections returned rows findings", `verdict "fail" needs "n" objections ["o"] returned ["r"] rows {"total":5,"passed":2,"proved":1,"carried":1,"failed":1,"not_tested":1,"out_of_scope":1,"failed_ids":["AC-2"],"not_tested_ids":["AC-3"]}`},
		"report at its gate":   {review, workflow.AwaitingApproval, list{judged}, reply.Light, "verdict findings", `verdict "fail" findings [{"id":"F1","severity":"major","problem":"p×117…"}]`},
		"evidence":             {dev, workflow.Refining, list{judged}, reply.Short, "evidence verdict", `evidence {"command":"c×297…","exit_code":2,"notes":["note"],"tail":"…\ny×599"}`},
		"evidence, not run": {dev, workflow.Refining, list{func(s *standing.Standing) {
			s.Session.Current().Evidence = &workflow.Evidence{Command: "make", NotRun: "no", Changed: "c"}
		}}, reply.Short, "evidence", `evidence {"command":"make","not_run":"no","changed":"c"}`},
		"evidence, passed": {dev, workflow.Refining, list{func(s *standing.Standing) {
			s.Session.Current().Evidence = &workflow.Evidence{Command: "make", Tail: "ok"}
		}}, reply.Short, "evidence", `evidence {"command":"make","exit_code":0}`},
		"evidence, timed out": {dev, workflow.Refining, list{func(s *standing.Standing) {
			s.Session.Current().Evidence = &workflow.Evidence{Command: "make", TimedOut: true, Tail: strings.Repeat("y", 600)}
		}}, reply.Short, "evidence", `evidence {"command":"make","exit_code":0,"timed_out":true,"tail":"y×600"}`},
		"questions": {po, workflow.Clarifying, list{func(s *standing.Standing) {
			s.Session.Current().Questions = []workflow.Question{{ID: "q1"}, {ID: "q2", Status: workflow.QuestionSkipped}}
		}}, reply.Light, "questions", `questions [{"id":"q1","question":""}]`},
		"change requests": {po, workflow.Refining, list{requests}, reply.Light, "change_requests", `change_requests [{"id":"r1c1","lines":"2-4","stage":"qa","quote":"q","kind":"change","text":"x"}]`},
		"older draft": {po, workflow.Refining, list{func(s *standing.Standing) {
			s.Session.Current().FinalResultRef = nil
			s.Session.Current().Extra = workflow.Extra{"draft": []byte(`"abc"`)}
		}}, reply.Light, "draft", `draft {"stage":"po","path":"session.json","summary":"it stands in this file, under stages.po.draft","size":3}`},
		"shown in the chat": {po, workflow.AwaitingConfirmation, list{calls(standing.Call{Chat: true})}, reply.Light, "show_first", "show_first \"Before user_message, print all of `work.md` in the chat, unless it is there already: the human may see no files here.\""},
		"nothing handed in": {po, workflow.Generating, list{func(s *standing.Standing) { s.Session.Current().FinalResultRef = nil }}, reply.Whole, "draft", ``},
		"chat, at work":     {po, workflow.Refining, list{calls(standing.Call{Chat: true})}, reply.Light, "show_first", ``},
		"chat, no document": {po, workflow.AwaitingConfirmation, list{calls(standing.Call{Chat: true}), func(s *standing.Standing) { s.Session.Current().FinalResultRef = nil }}, reply.Light, "show_first", ``},
		"no chat":           {po, workflow.AwaitingConfirmation, nil, reply.Light, "show_first", ``},
		"changed by others": {po, workflow.Refining, list{func(s *standing.Standing) {
			s.Integrity = workflow.Verification{Status: workflow.ChainChanged, Problem: "gone", Broken: 2}
		}}, reply.Short, "integrity", `integrity "changed"`},
		"nothing when complete": {workflow.QA, workflow.Completed, list{judged}, reply.Light, "draft gaps role_prompt", ``},
	} {
		if got := pick(t, reply.New(at(tt.stage, tt.state, tt.change...), tt.depth, "message", "the role"), tt.keys); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}

// TestBriefing checks the material of a stage: whole when it begins, shorter in another round of one conversation.
func TestBriefing(t *testing.T) {
	t.Parallel()
	answered := func(s *standing.Standing) {
		rec := s.Session.Current()
		rec.Feedback = "shorter"
		rec.Questions = []workflow.Question{
			{ID: "q1", Question: strings.Repeat("a", 101), Status: workflow.QuestionAnswered}, {ID: "q2", Question: strings.Repeat("b", 101), Status: workflow.QuestionSkipped}, {ID: "q3", Question: "open"},
		}
		rec.Answers = map[string]string{"q1": strings.Repeat("字", 81), "q2": strings.Repeat("d", 241)}
		rec.AnswerChannels = map[string]workflow.Channel{"q1": workflow.ChannelRelayed, "q2": workflow.ChannelTerminal}
	}
	earlier := func(s *standing.Standing) {
		s.Session.Record(workflow.PO).FinalResultRef = &workflow.ContentRef{FilePath: "po.md", Summary: "s", Size: 3, SHA256: "h"}
		s.Session.Record(workflow.PO).ApprovedScope = &workflow.ContentRef{FilePath: "scope.md", Size: 4}
	}
	handed := func(s *standing.Standing) {
		s.Session.Append(workflow.Transition{Event: workflow.EventConfirmed, From: "po/awaiting_confirmation", To: "architect/generating",
			Grant: &workflow.Grant{Comments: []workflow.Comment{{ID: "c1", Kind: workflow.CommentChange, Text: "heed"}}}})
	}
	faulty := func(s *standing.Standing) { // a review has sent the build back
		s.Session.ReworkCount = 1
		judge := s.Session.Record(workflow.QA)
		s.Session.Current().Iteration = 1
		judge.Verdict, judge.Criteria = workflow.Fail, []workflow.Criterion{{ID: "AC-1", Result: workflow.ResultFail, Criterion: "rings", Evidence: "silent"}}
		judge.FinalResultRef = &workflow.ContentRef{FilePath: "qa.md", Size: 5}
		judge.Evidence = &workflow.Evidence{Command: "make", ExitCode: 1, Tail: "boom"}
	}
	continuing := func(s *standing.Standing) {
		s.Session.Sprints = []workflow.Sprint{{Number: 1, Status: workflow.SprintPending}}
		s.Session.Append(workflow.Transition{Event: workflow.EventReopened, From: "qa/completed", To: s.Session.Place()})
	}
	type list = []func(*standing.Standing)
	const keys = "engines context findings owed owed_more"
	for name, tt := range map[string]struct {
		stage  workflow.StageID
		state  workflow.State
		change list
		depth  reply.Depth
		want   string
	}{
		"light":             {workflow.Architect, workflow.Generating, list{earlier}, reply.Light, ``},
		"at a gate":         {workflow.Architect, workflow.AwaitingConfirmation, list{earlier}, reply.Whole, `engines ["claude"] context {"documents":[{"stage":"po","path":"scope.md","summary":"the approved scope","size":4},{"stage":"po","path":"po.md","size":3}]}`},
		"whole":             {workflow.Architect, workflow.Generating, list{earlier, handed}, reply.Whole, `engines ["claude"] context {"documents":[{"stage":"po","path":"scope.md","summary":"the approved scope","size":4},{"stage":"po","path":"po.md","size":3}],"comments":[{"id":"c1","kind":"change","text":"heed"}]}`},
		"whole of a start":  {workflow.PO, workflow.Generating, list{calls(standing.Call{Action: workflow.ActionStart})}, reply.Whole, `engines ["claude"] context {"objective":"Build a clock"}`},
		"whole of a resume": {workflow.PO, workflow.Generating, list{calls(standing.Call{Action: workflow.ActionResume})}, reply.Whole, `engines ["claude"] context {"objective":"Build a clock"}`},
		"short":             {workflow.PO, workflow.Refining, list{answered}, reply.Short, `engines ["claude"] context {"user_answers":[{"id":"q1","question":"a×97…","answer":"字×79…"},{"id":"q2","question":"b×101","answer":"d×241","skipped":true}],"feedback":"shorter"}`},
		"answers, whole":    {workflow.PO, workflow.Refining, list{answered}, reply.Whole, `engines ["claude"] context {"user_answers":[{"id":"q1","question":"a×101","answer":"字×81"},{"id":"q2","question":"b×101","answer":"d×241","skipped":true}],"feedback":"shorter"}`},
		"rework":            {workflow.Dev, workflow.Refining, list{faulty}, reply.Short, "engines [\"codex\"] context {\"documents\":[{\"stage\":\"qa\",\"path\":\"qa.md\",\"size\":5}]} findings [{\"id\":\"AC-1\",\"severity\":\"critical\",\"problem\":\"criterion failed: rings silent\"},{\"id\":\"verify\",\"severity\":\"critical\",\"problem\":\"`make` failed with exit code 1; its output ends: boom\"}]"},
		"rework, passed": {workflow.Dev, workflow.Refining, list{faulty, func(s *standing.Standing) {
			s.Session.Record(workflow.QA).Verdict, s.Session.Record(workflow.QA).Criteria, s.Session.Record(workflow.QA).Evidence = workflow.Pass, nil, nil
		}}, reply.Short, `engines ["codex"] context {}`},
		"first build":        {workflow.Dev, workflow.Generating, list{faulty, func(s *standing.Standing) { s.Session.Current().Iteration = 0 }}, reply.Whole, `engines ["codex"] context {}`},
		"more sprints":       {workflow.Dev, workflow.Refining, list{faulty, continuing}, reply.Whole, `engines ["codex"] context {}`},
		"a first report":     {workflow.Review, workflow.Generating, list{judged, func(s *standing.Standing) { s.Session.Current().Iteration = 0 }}, reply.Whole, `engines ["codex"] context {}`},
		"no report":          {workflow.PO, workflow.Refining, list{judged}, reply.Whole, `engines ["claude"] context {}`},
		"a report, again":    {workflow.Review, workflow.Generating, list{judged}, reply.Whole, `engines ["codex"] context {} findings [{"id":"F1","severity":"major","problem":"p×121","fix":"fix"},{"id":"F2","problem":"q","status":"fixed"}]`},
		"a report, in short": {workflow.Review, workflow.Refining, list{judged}, reply.Short, `engines ["codex"] context {} findings [{"id":"F1","severity":"major","problem":"p×117…"},{"id":"F2","problem":"q","status":"fixed"}]`},
	} {
		if got := pick(t, reply.New(at(tt.stage, tt.state, tt.change...), tt.depth, "message", "the role"), keys); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}
