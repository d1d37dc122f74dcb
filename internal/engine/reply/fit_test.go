package reply_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

// fill returns a reply of a status with n of everything that a list of it can hold, each text of that many bytes.
func fill(t *testing.T, n, size int) *reply.Reply {
	t.Helper()
	s := at(workflow.PO, workflow.Refining, calls(standing.Call{Action: workflow.ActionStatus}))
	out := reply.New(s, reply.Short, strings.Repeat("m", size), "role")
	long := strings.Repeat("x", size)
	out.Context.Memory, out.Context.Objective, out.Context.Feedback = []lesson.Note{{}}, long, long
	out.NextCall["answers"] = map[string]string{}
	for i := range n {
		id := fmt.Sprintf("i%d", i)
		out.Questions = append(out.Questions, workflow.Question{ID: id, Question: long, Context: long})
		out.Findings = append(out.Findings, workflow.Finding{ID: id, Problem: long, Fix: long, File: long})
		out.ChangeRequests = append(out.ChangeRequests, reply.CommentView{ID: id, Quote: long, Text: long, Replace: long})
		out.Gaps, out.Returned, out.Objections, out.Unreadable = append(out.Gaps, long), append(out.Returned, long), append(out.Objections, long), append(out.Unreadable, long)
		out.Sprints = append(out.Sprints, workflow.Sprint{Title: long})
		out.Sessions = append(out.Sessions, reply.SessionView{Objective: long})
		c := out.Context
		c.Comments = append(c.Comments, reply.CommentView{ID: id, Quote: long, Text: long})
		c.Answers = append(c.Answers, reply.Answer{ID: id, Question: long, Answer: long})
		c.Documents = append(c.Documents, standing.Document{Summary: long})
		out.NextCall["answers"].(map[string]string)[id] = "…"
	}
	return out
}

// TestFit checks which reply is shortened, which parts go first, and that each change request stays.
func TestFit(t *testing.T) {
	t.Parallel()
	size := func(out *reply.Reply) int {
		data, err := out.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return len(data)
	}
	atMost := func(room int) *reply.Reply { // a reply of reply.Max bytes and room more
		out := reply.New(at(workflow.PO, workflow.Refining), reply.Short, "", "role")
		out.Context.Memory = []lesson.Note{{}}
		out.RolePrompt += strings.Repeat("r", reply.Max+room-size(out))
		return out
	}
	for room, want := range map[int]string{0: "", 1: "session.json"} {
		out := reply.New(at(workflow.PO, workflow.Refining), reply.Short, "", "role")
		out.Context.Feedback = "x"
		out.Context.Feedback += strings.Repeat("x", reply.Max+room-size(out))
		out.Fit()
		if out.SessionFile != want || out.Lean().SessionFile != want || (len(out.Context.Feedback) <= 1600) != (want != "") {
			t.Errorf("%d bytes more: file %q, feedback of %d bytes, want %q", room, out.SessionFile, len(out.Context.Feedback), want)
		}
	}
	for room, notes := range map[int]bool{0: true, 1: false} {
		out := atMost(room)
		out.Fit()
		if got := size(out); got > reply.Max || (out.Context.Memory != nil) != notes || out.SessionFile != "" {
			t.Errorf("%d bytes more: now %d bytes, notes %v, file %q; want notes %v", room, got, out.Context.Memory != nil, out.SessionFile, notes)
		}
	}
	for _, tt := range []struct {
		n, size int
		want    string
	}{
		{25, 20, `lists 10 10 25 10 10 10 10 20 20 20 10 10, texts 20 20 20 20 20 20 20 20 20 20 20 20 20 20, objective 20 feedback 20, answers string, message "itect → SM → Dev → Review → QA\n\nmmmmmmmmmmmmmmmmmmmm", file session.json, draft 120`},
		{20, 900, "lists 3 3 20 3 3 3 3 6 6 6 3 3, texts 60 60 60 60 60 24 60 60 60 60 24 60 60 60, objective 240 feedback 240, answers string, message \"mmmmmmmmmmmm…\\n\\n(shortened; all of it is in `session.json`)\", file session.json, draft 60"},
		{3, 5000, "lists 3 3 3 3 3 3 3 3 3 3 3 3, texts 120 120 120 120 120 30 120 120 120 120 30 120 120 120, objective 480 feedback 480, answers map[string]string, message \"mmmmmmmmmmmm…\\n\\n(shortened; all of it is in `session.json`)\", file session.json, draft 120"},
		{200, 4, `lists 3 3 200 3 3 3 3 6 6 6 3 3, texts 4 4 4 4 4 4 4 4 4 4 4 4 4 4, objective 4 feedback 4, answers string, message "\nPO ↻ → Architect → SM → Dev → Review → QA\n\nmmmm", file session.json, draft 60`},
	} {
		out := fill(t, tt.n, tt.size)
		out.Fit()
		c := out.Context
		q, f := out.Questions[0], out.Findings[0]
		got := fmt.Sprintf("lists %d %d %d %d %d %d %d %d %d %d %d %d, texts %d %d %d %d %d %d %d %d %d %d %d %d %d %d, objective %d feedback %d, answers %v, message %q, file %s, draft %d",
			len(out.Questions), len(out.Findings), len(out.ChangeRequests), len(out.Gaps), len(out.Returned), len(out.Objections), len(out.Unreadable), len(out.Sprints), len(out.Sessions),
			len(c.Comments), len(c.Answers), len(c.Documents),
			len(q.Question), len(q.Context), len(f.Problem), len(f.Fix), len(f.File), len(out.ChangeRequests[0].Quote), len(out.ChangeRequests[0].Text), len(out.Gaps[0]),
			len(out.Sprints[0].Title), len(out.Sessions[0].Objective), len(c.Comments[0].Quote), len(c.Answers[0].Question), len(c.Answers[0].Answer), len(c.Documents[0].Summary),
			len(c.Objective), len(c.Feedback), fmt.Sprintf("%T", out.NextCall["answers"]), fold(out.UserMessage[max(0, len(out.UserMessage)-60):]), out.SessionFile, len(out.Draft.Summary))
		if got != tt.want {
			t.Errorf("%d of %d bytes:\n got %s\nwant %s", tt.n, tt.size, got, tt.want)
		}
	}
}

// TestLean checks the keys that a model's reply leaves out because the conversation has them.
func TestLean(t *testing.T) {
	t.Parallel()
	full := func(action workflow.Action, more ...func(*standing.Standing)) *standing.Standing {
		return at(workflow.PO, workflow.Refining, append([]func(*standing.Standing){scored, func(s *standing.Standing) {
			s.Call.Action = action
			s.Session.Sprints = []workflow.Sprint{{Number: 1}}
			rec := s.Session.Current()
			rec.Questions = []workflow.Question{{ID: "q1", Question: strings.Repeat("q", 50), Status: workflow.QuestionAnswered}}
			rec.Answers = map[string]string{"q1": strings.Repeat("a", 150)}
		}}, more...)...)
	}
	byForm := func(s *standing.Standing) {
		s.Session.Current().AnswerChannels = map[string]workflow.Channel{"q1": workflow.ChannelElicited}
	}
	sparing := func(s *standing.Standing) { s.Sparing = true }
	named := func(s *standing.Standing) {
		s.Call.Action, s.Session.Record(workflow.PO).FinalResultRef = workflow.ActionApprove, &workflow.ContentRef{FilePath: "po.md"}
	}
	says := func(text string) func(*reply.Reply) { return func(out *reply.Reply) { out.UserMessage = text } }
	unmoved := func(out *reply.Reply) { out.Unmoved() }
	for name, tt := range map[string]struct {
		standing *standing.Standing
		depth    reply.Depth
		change   func(*reply.Reply)
		keys     string // of which the values are shown, "" for the names of all
		want     string
	}{
		"status":            {full(workflow.ActionStatus), reply.Short, nil, "", `audit candidates context current_stage current_state cwd draft engines gaps gate_score interaction_type iteration next_call pending_user_actions requires_user_confirmation revision role_prompt score score_note session_file session_id stage state task_name user_message`},
		"status, unmoved":   {full(workflow.ActionStatus), reply.Short, unmoved, "", `context current_stage current_state cwd draft engines gate_score interaction_type iteration next_call pending_user_actions requires_user_confirmation revision role_prompt score session_id stage state task_name user_message`},
		"start":             {full(workflow.ActionStart), reply.Short, nil, "", `audit candidates context current_stage current_state cwd draft engines gate_score interaction_type next_call pending_user_actions requires_user_confirmation revision role_prompt score score_note session_id stage state task_name user_message`},
		"submit":            {full(workflow.ActionSubmit), reply.Short, nil, "", `audit candidates context current_stage current_state draft engines gaps gate_score interaction_type next_call pending_user_actions requires_user_confirmation revision role_prompt score score_note session_id stage state user_message`},
		"answer":            {full(workflow.ActionAnswer), reply.Short, nil, "", `audit candidates context current_stage current_state draft engines gate_score interaction_type next_call pending_user_actions requires_user_confirmation revision role_prompt score score_note session_id stage state user_message`},
		"answer by form":    {full(workflow.ActionAnswer, byForm), reply.Short, nil, "", `audit candidates context current_stage current_state draft engines gaps gate_score interaction_type next_call pending_user_actions requires_user_confirmation revision role_prompt score score_note session_id stage state user_message`},
		"the answers":       {full(workflow.ActionAnswer), reply.Whole, nil, "context", `context {"user_answers":[{"id":"q1","question":"q×37…","answer":"a×97…"}]}`},
		"answers by form":   {full(workflow.ActionAnswer, byForm), reply.Whole, nil, "context gaps", `context {"user_answers":[{"id":"q1","question":"q×50","answer":"a×150"}]} gaps ["no risks"]`},
		"draft at work":     {full(workflow.ActionSubmit), reply.Short, nil, "draft", `draft {"path":"work.md"}`},
		"draft at its gate": {at(workflow.PO, workflow.AwaitingConfirmation, calls(standing.Call{Action: workflow.ActionSubmit, HostConfirm: true})), reply.Short, nil, "draft user_message", `draft {"path":"work.md","sha256":"aa"} user_message "**clock** · stage 1 of 6, Product Owner\nPO ● → Architect → SM → Dev → Review → QA\n\nmessage"`},
		"gate by word":      {at(workflow.PO, workflow.AwaitingConfirmation, calls(standing.Call{Action: workflow.ActionSubmit})), reply.Light, nil, "draft", `draft {"path":"work.md"}`},
		"gate of a status":  {at(workflow.PO, workflow.AwaitingConfirmation, calls(standing.Call{Action: workflow.ActionStatus})), reply.Light, nil, "draft", `draft {"path":"work.md","sha256":"aa"}`},
		"artifact, named":   {at(workflow.SM, workflow.Generating, named), reply.Whole, func(out *reply.Reply) { out.Artifact = "po.md" }, "artifact_path", ``},
		"artifact, other":   {at(workflow.SM, workflow.Generating, named), reply.Whole, func(out *reply.Reply) { out.Artifact = "sm.md" }, "artifact_path", `artifact_path "sm.md"`},
		"plan at its gate": {at(workflow.SM, workflow.AwaitingApproval, func(s *standing.Standing) {
			s.Call.Action, s.Session.Sprints = workflow.ActionSubmit, []workflow.Sprint{{Number: 1}}
		}), reply.Light, nil, "sprints", ``},
		"complete": {at(workflow.QA, workflow.Completed, func(s *standing.Standing) {
			s.Call.Action, s.Session.Sprints = workflow.ActionApprove, []workflow.Sprint{{Number: 1}}
		}), reply.Light, nil, "sprints user_message", `user_message "**clock** · complete\nPO → Architect → SM → Dev → Review → QA ●\n\nmessage"`},
		"the message":        {at(workflow.PO, workflow.Refining, calls(standing.Call{Action: workflow.ActionSubmit})), reply.Light, nil, "user_message", `user_message "PO ↻ → Architect → SM → Dev → Review → QA\n\nmessage"`},
		"the message, asked": {at(workflow.PO, workflow.Clarifying, calls(standing.Call{Action: workflow.ActionSubmit})), reply.Light, nil, "user_message", `user_message "**clock** · stage 1 of 6, Product Owner\nPO ● → Architect → SM → Dev → Review → QA\n\nmessage"`},
		"sparing":            {full(workflow.ActionSubmit, sparing), reply.Short, nil, "", `audit candidates context draft gaps gate_score next_call revision role_prompt score score_note stage state user_message`},
		"sparing start":      {full(workflow.ActionStart, sparing), reply.Short, nil, "", `audit candidates context cwd draft gate_score next_call revision role_prompt score score_note session_id stage state task_name user_message`},
		"sparing status":     {full(workflow.ActionStatus, sparing), reply.Light, nil, "", `audit candidates cwd draft gaps gate_score iteration next_call revision score score_note session_file sprints stage state task_name user_message`},
		"sparing, said already": {full(workflow.ActionSubmit, sparing, func(s *standing.Standing) { s.Workflow.Stages[0].Artifact = "z" }), reply.Light, func(out *reply.Reply) {
			out.UserMessage, out.Artifact = "no risks, saved as specs/z.md; the draft is work.md; why?", "specs/z.md"
			out.Gaps, out.Questions = append(out.Gaps, "unsaid"), []workflow.Question{{ID: "q1", Question: "why?"}, {ID: "q2", Question: "how?"}}
		}, "gaps questions draft artifact_path interaction_type pending_user_actions requires_user_confirmation", `gaps ["unsaid"] questions [{"id":"q2","question":"how?"}]`},
		"sparing, for a prompt": {full(workflow.ActionSubmit, sparing), reply.Short, says("no risks in work.md"), "gaps draft", `gaps ["no risks"] draft {"path":"work.md"}`},
		"sparing, for a page":   {full(workflow.ActionStatus, sparing), reply.Light, says("no risks in work.md"), "gaps draft", `gaps ["no risks"] draft {"path":"work.md"}`},
		"sparing, unsaid":       {full(workflow.ActionSubmit, sparing), reply.Light, says("nothing"), "gaps draft", `gaps ["no risks"] draft {"path":"work.md"}`},
		"sparing, a decision":   {at(workflow.SM, workflow.AwaitingApproval, sparing), reply.Light, says("work.md"), "draft pending_user_actions", ``},
		"sparing, by hash":      {at(workflow.SM, workflow.AwaitingApproval, sparing, func(s *standing.Standing) { s.Call.HostConfirm = true }), reply.Light, says("work.md"), "draft", `draft {"path":"work.md","sha256":"aa"}`},
		"sparing, one answer":   {at(workflow.PO, workflow.Clarifying, sparing), reply.Light, nil, "pending_user_actions", ``},
		"sparing, questions": {at(workflow.PO, workflow.Clarifying, sparing, func(s *standing.Standing) {
			p := s.Policy
			s.Session.Current().ClaimedScore, s.Session.Current().Policy = ptr(95), &p
		}), reply.Light, nil, "requires_user_confirmation pending_user_actions interaction_type session_id", `requires_user_confirmation true pending_user_actions ["answer_questions","confirm"]`},
	} {
		out := reply.New(tt.standing, tt.depth, "message", "role")
		if tt.change != nil {
			tt.change(out)
		}
		before := encode(t, out)
		lean := out.Lean()
		got := pick(t, lean, tt.keys)
		if tt.keys == "" {
			got = keysOf(t, lean)
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
		if after := encode(t, out); after != before && !tt.standing.Sparing {
			t.Errorf("%s: the whole reply was changed:\n%s\n%s", name, before, after)
		}
	}
}

// TestStages checks the stages of a status: the scores, the decision, and the artifact as it is on disk.
func TestStages(t *testing.T) {
	t.Parallel()
	s := at(workflow.Architect, workflow.Generating, func(s *standing.Standing) {
		took := int64(5)
		s.Session.History = append(s.Session.History, workflow.Transition{Event: workflow.EventConfirmed, From: "po/awaiting_confirmation", To: "architect/generating", Grant: &workflow.Grant{
			Channel: workflow.ChannelTerminal, Assurance: workflow.AssuranceMedium, Decision: workflow.DecisionApprove, TookMS: &took, Person: workflow.Person{Subject: "ann"},
		}})
		po := s.Session.Record(workflow.PO)
		po.Status, po.Iteration, po.Score, po.Audit, po.Artifact = workflow.Done, 2, ptr(95), &workflow.Audit{Score: 80}, &workflow.Artifact{Path: "a.md", Stale: true}
		s.Saved = map[string]standing.File{"a.md": {Modified: true}, "q.md": {Missing: true}}
		s.Session.Record(workflow.QA).Verdict, s.Session.Record(workflow.QA).Artifact = workflow.Pass, &workflow.Artifact{Path: "q.md"}
		s.Trusting, s.Integrity.Unvouched = true, []workflow.Span{{From: 2, To: 2}}
	})
	out := reply.New(s, reply.Light, "", "")
	out.AddStages(s)
	const want = `[{"stage":"po","status":"completed","iteration":2,"score":95,"audit":80,"grant":{"channel":"terminal","assurance":"medium","decision":"approve","took_ms":5,"subject":"ann","unvouched":true},"artifact":"a.md","stale":true,"modified":true},` +
		`{"stage":"architect","status":"pending"},{"stage":"sm","status":"pending"},{"stage":"dev","status":"pending"},{"stage":"review","status":"pending"},{"stage":"qa","status":"pending","verdict":"pass","artifact":"q.md","missing":true}]`
	if got := encode(t, out.Stages); got != want {
		t.Errorf("stages:\n got %s\nwant %s", got, want)
	}
	for _, tt := range []struct{ trusting, vouched, want bool }{{true, false, true}, {true, true, false}, {false, false, false}} {
		if s.Trusting, s.Integrity.Unvouched = tt.trusting, []workflow.Span{{From: 2, To: 2}}; tt.vouched {
			s.Integrity.Unvouched = nil
		}
		var again reply.Reply
		if again.AddStages(s); again.Stages[0].Grant.Unvouched != tt.want {
			t.Errorf("trusting %v, vouched %v: unvouched %v", tt.trusting, tt.vouched, again.Stages[0].Grant.Unvouched)
		}
	}
	if a, b := out.At(workflow.QA), out.At("none"); a != 5 || b != -1 {
		t.Errorf("qa is at %d and none at %d", a, b)
	}
	listed := reply.OfProject("/p", true)
	listed.Cwd += "/x"
	if got, want := encode(t, listed), `{"cwd":"/p/x","requires_user_confirmation":false,"interaction_type":"no_session","user_message":"","pending_user_actions":["start"]}`; got != want {
		t.Errorf("of a project:\n got %s\nwant %s", got, want)
	}
}

// TestMaterial checks the parts that a role prompt gets by itself, and the limits of what a report owes.
func TestMaterial(t *testing.T) {
	t.Parallel()
	for owed, want := range map[int]string{40: "40 <nil>", 41: "40 &{41 work.md}"} {
		s := at(workflow.QA, workflow.Generating)
		s.Criteria = &verdict.Criteria{}
		for i := range owed {
			s.Criteria.All = append(s.Criteria.All, verdict.Criterion{ID: fmt.Sprintf("AC-%d", i), Owed: true})
		}
		out := reply.New(s, reply.Whole, "", "role")
		if got := fmt.Sprint(len(out.Owed), " ", out.OwedMore); got != want {
			t.Errorf("%d owed: got %s, want %s", owed, got, want)
		}
	}
	s := at(workflow.Review, workflow.AwaitingApproval)
	for i := range 41 {
		for _, result := range []string{workflow.ResultFail, workflow.ResultNotTested} {
			s.Session.Current().Criteria = append(s.Session.Current().Criteria, workflow.Criterion{ID: fmt.Sprintf("AC-%d", i), Result: result})
		}
	}
	if rows := reply.New(s, reply.Light, "", "").Rows; rows.Total != 82 || len(rows.FailedIDs) != 40 || len(rows.NotTestedIDs) != 40 || rows.FailedIDs[39] != "AC-39" {
		t.Errorf("rows: %+v", rows)
	}
	out := reply.New(at(workflow.Dev, workflow.Refining, scored, func(s *standing.Standing) {
		s.Session.Sprints = []workflow.Sprint{{Number: 3, Status: workflow.SprintPending}}
	}), reply.Short, "", "role")
	for _, tt := range []struct {
		builds bool
		want   string
	}{
		{true, `{"stage":"dev","draft":{"stage":"dev","path":"work.md","summary":"字×39…","size":9},"context":{},"gaps":["no risks"],"sprints":[{"number":3,"title":"","status":"pending"}],"build":[3]}`},
		{false, `{"stage":"dev","draft":{"stage":"dev","path":"work.md","summary":"字×39…","size":9},"context":{},"gaps":["no risks"],"sprints":[{"number":3,"title":"","status":"pending"}]}`},
	} {
		got, err := out.Material(tt.builds)
		if err != nil || fold(string(got)) != tt.want {
			t.Errorf("%v:\n got %s\nwant %s", tt.builds, fold(string(got)), tt.want)
		}
	}
}

// TestDepth checks the depth of a briefing, and which replies brief.
func TestDepth(t *testing.T) {
	t.Parallel()
	stopped := func(s *standing.Standing) {
		s.Strict, s.Integrity.Status = true, workflow.ChainChanged
		s.Integrity.Problem = "x"
	}
	again := func(s *standing.Standing) { s.Session.ReworkCount, s.Session.Current().Iteration = 1, 1 }
	for name, tt := range map[string]struct {
		standing *standing.Standing
		want     reply.Depth
		briefs   string // light, short and whole
	}{
		"a stage begins": {at(workflow.Dev, workflow.Generating), reply.Whole, "false true true"},
		"a build again":  {at(workflow.Dev, workflow.Generating, again), reply.Short, "false true true"},
		"another round":  {at(workflow.Dev, workflow.Refining), reply.Short, "false true true"},
		"a gate":         {at(workflow.PO, workflow.AwaitingConfirmation), reply.Light, "false true true"},
		"complete":       {at(workflow.QA, workflow.Completed), reply.Light, "false false false"},
		"stopped":        {at(workflow.PO, workflow.Refining, stopped), reply.Short, "false false false"},
	} {
		s := tt.standing
		if got := reply.DepthFor(s, s.Stage); got != tt.want {
			t.Errorf("%s: got depth %d, want %d", name, got, tt.want)
		}
		if got := fmt.Sprint(reply.Briefs(s, reply.Light), reply.Briefs(s, reply.Short), reply.Briefs(s, reply.Whole)); got != tt.briefs {
			t.Errorf("%s: briefs %s, want %s", name, got, tt.briefs)
		}
		if out := reply.New(s, reply.Whole, "", "role"); (out.RolePrompt != "") != reply.Briefs(s, reply.Whole) {
			t.Errorf("%s: role prompt %q", name, out.RolePrompt)
		}
	}
	build, _ := workflowtest.Six().Stage(workflow.Dev)
	for name, tt := range map[string]struct {
		rework, iteration int
		want              reply.Depth
	}{"sent back": {1, 1, reply.Short}, "not sent back": {0, 1, reply.Whole}, "first report": {1, 0, reply.Whole}} {
		s := at(workflow.Review, workflow.Generating)
		s.Session.ReworkCount, s.Session.Current().Iteration = tt.rework, tt.iteration
		if got := reply.DepthFor(s, build); got != tt.want {
			t.Errorf("review of a build that was %s: got %d, want %d", name, got, tt.want)
		}
	}
}

// TestShow checks that a long text is cut after a line, to the bytes that it takes in a reply.
func TestShow(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("a", 99) + "\n"
	for name, tt := range map[string]struct {
		text string
		want string // bytes, whole size, truncated
	}{
		"short":            {"a\n", "2 2 false"},
		"at most":          {strings.Repeat("a", reply.MaxShown-3), "8997 8997 false"},
		"one byte more":    {strings.Repeat("a", reply.MaxShown-2), "4499 8998 true"},
		"lines":            {strings.Repeat(line, 100), "4500 10000 true"},
		"letters of three": {strings.Repeat("字", 4000), "4500 12000 true"},
		"quotes":           {strings.Repeat(`"`, 5000), "2500 5000 true"},
	} {
		var out reply.Reply
		out.Show(reply.NewResource("name", "text/plain", "p", tt.text))
		res := out.Resource
		got := fmt.Sprintln(len(res.Text), res.Size, res.Truncated)
		if got = strings.TrimSpace(got); got != tt.want || !strings.HasPrefix(tt.text, res.Text) || reply.EncodedSize(res.Text) > reply.MaxShown {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
	if got, want := encode(t, reply.NewCommentView(workflow.Comment{ID: "c", From: 1, To: 1, Quote: "q", Kind: workflow.CommentEdit, Text: "t", Replace: "r"}, "qa")), `{"id":"c","lines":"1","stage":"qa","quote":"q","kind":"edit","text":"t","replace":"r"}`; got != want {
		t.Errorf("a comment: got %s, want %s", got, want)
	}
}
