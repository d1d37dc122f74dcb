package mcpserver_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// screenWords are those of one run, in one language.
type screenWords struct {
	lang.Language
	// asks, confirms and fails are how the leads of the three forms begin, digest the parts of the
	// first digest, and waits a part of it once the form was closed.
	asks, confirms, fails string
	digest                []string
	waits                 string

	objective, gap, finding string
	questions               []object
	cut                     string // the end of the last question, if it is too long
	document                []string
}

var screenRuns = map[string]screenWords{
	"english": {
		Language: lang.English,
		asks:     "3 questions from the Product Owner. Claims 74, audit ",
		confirms: "Approve the product requirements? Claims 93, audit ",
		fails:    "The Reviewer failed the work: 1 critical, 1 minor",
		digest:   []string{"Goal: ", "Score: claims 93 of 100, audit ", "Changed since round 1: 2 lines added, 0 removed", "Draft: "},
		waits:    "You can now say decide when you are ready",

		objective: "Build a sign-in service for small teams, with single sign-on and an audit log of every sign-in",
		gap:       "No figure says how many people sign in per day at peak",
		finding:   "Tokens are compared byte by byte: time leaks it",
		questions: []object{
			{"id": "q1", "question": "Which identity provider do your users have, guests included?", "context": "Decides whether we build passwords or only connect", "options": []string{"Okta", "Microsoft Entra", "None yet: passwords first, then connect"}},
			{"id": "q2", "question": "How many people sign in per day at peak?"},
			{"id": "q3", "question": "Which laws or house rules say how long the audit log must be kept, and where?", "options": []string{"None", "GDPR only"}},
		},
		cut:      "“…be kept, and where?”",
		document: []string{"# Sign-in service", "", "## Goals", "", "- People sign in once for every tool of the team.", "- Each sign-in is in the audit log within a second."},
	},
	"chinese": {
		Language: "zh",
		asks:     "产品负责人提出 3 个问题。自评 74、审计 ",
		confirms: "批准产品需求？自评 93、审计 ",
		fails:    "评审者判定工作不通过：1 个严重、1 个次要",
		digest:   []string{"目标：", "评分：自评 93（满分 100），审计 ", "自第 1 轮以来：新增 2 行，删除 0 行", "草稿："},
		waits:    "你现在可以在准备好时说决定",

		objective: "为小团队做一个登录服务,支持单点登录,并且把每一次登录都写入审计日志,日志可以按月导出和检索",
		gap:       "没有说明高峰期每天有多少人登录",
		finding:   "令牌的比较时间不固定,因此可以逐字节猜测出来",
		questions: []object{
			{"id": "q1", "question": "你们的用户现在使用哪个身份提供商?是否包括访客账号?", "context": "决定是自己做密码登录,还是只做对接", "options": []string{"企业微信", "飞书", "还没有:先做密码登录,以后再对接"}},
			{"id": "q2", "question": "第一年高峰期每天大约有多少人登录?"},
			{"id": "q3", "question": "哪些法规或者公司制度规定了审计日志要保存多久、保存在哪里、由谁来负责?", "options": []string{"没有规定", "个人信息保护法"}},
		},
		cut:      "由谁来负责?”",
		document: []string{"# 登录服务", "", "## 目标", "", "- 用户登录一次,就可以使用团队的所有工具。", "- 每一次登录都在一秒之内写入审计日志。"},
	},
}

// auditPrefix returns the beginning of the line with the costliest finding of an audit.
func (w screenWords) auditPrefix() string {
	prefix, _, _ := strings.Cut(w.Say("Audit −%s: %s", "\x00", ""), "\x00")
	return prefix
}

// all says each of some sentences.
func (w screenWords) all(sentences ...string) []string {
	for i, sentence := range sentences {
		sentences[i] = w.Word(sentence)
	}
	return sentences
}

// options returns the options of the first question.
func (w screenWords) options() []string { return w.questions[0]["options"].([]string) }

// work returns the document that the model submits in such a run.
func (w screenWords) work() []object {
	return []object{
		{"action": "start", "objective": w.objective},
		{"action": "submit", "stage": "po", "claude_result": jsonText(object{"prd_draft": strings.Join(w.document[:3], "\n"), "quality_score": 74, "questions": w.questions})},
		{"action": "submit", "stage": "po", "claude_result": jsonText(object{"prd_updated": strings.Join(w.document, "\n"), "quality_score": 93, "gaps": []string{w.gap}})},
		{"action": "submit", "stage": "review", "claude_result": jsonText(object{"review": "# R", "no_checks": "nothing can be run here", "findings": []object{
			{"id": "R1", "severity": "minor", "file": "docs/a.md", "problem": w.gap},
			{"id": "R2", "severity": "critical", "file": "internal/token/compare.go:118", "problem": w.finding},
		}})},
	}
}

// TestFormsOnTheScreen drives Claude Code as a person does, and reads its forms off a
// terminal of 80 columns: what a decision needs stands there whole, the digest above it, and
// nothing is decided that they have not chosen.
func TestFormsOnTheScreen(t *testing.T) {
	t.Parallel()
	claude := claudeBinary(t, "the forms were not read off its screen")
	needTmux(t)
	for name, words := range screenRuns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := &obedient{tool: plainEntry.tool, work: words.work()}
			s := openScreen(t, serveStandIn(t, model.play), claudeHost(claude, plainEntry), tallRows)
			s.begins()
			s.questions(words)
			s.documentGate(model, words)
			s.toReview()
			s.failedReview(model, words)
		})
	}
	t.Run("plugin", func(t *testing.T) {
		t.Parallel()
		words := screenRuns["english"]
		model := &obedient{tool: pluginEntry.tool, work: words.work()}
		s := openScreen(t, serveStandIn(t, model.play), claudeHost(claude, pluginEntry), tallRows)
		s.begins()
		s.questions(words)
		s.documentGate(model, words)
	})
}

// see puts a screen into the log of the test: people look at them too.
func (s *screen) see(what string) {
	s.t.Helper()
	s.t.Logf("%s:\n%s", what, s.latest)
}

// questions reads the form of the first round's questions, and answers the first of them.
func (s *screen) questions(words screenWords) {
	s.t.Helper()
	f := s.form(words.asks)
	s.see("questions")
	s.message(f, words, "po.md")
	last := len(f.fields) - 1
	if len(f.fields) != 4 || f.fields[last].title != words.Say("Questions without an answer") {
		s.t.Fatalf("the fields are %+v", f.fields)
	}
	fields := f.fields[:last]
	for i, field := range fields {
		want, shown := words.questions[i]["question"].(string), strings.TrimSuffix(field.description, "…")
		if title := words.Say("%d of %d", i+1, 3); field.title != title {
			s.t.Errorf("the title is %q", field.title)
		}
		if !strings.HasPrefix(want, shown) || i < 2 && want != field.description {
			s.t.Errorf("question %d is %q, of %q", i+1, field.description, want)
		}
	}
	if line := f.message[1]; !strings.HasPrefix(line, words.Say("Long questions end:")+" 3. “…") || !strings.HasSuffix(line, words.cut) {
		s.t.Errorf("the second line is %q", line)
	}
	if got := s.unfold(words.Say("%d of %d", 1, 3)).fields[0].choices; !slices.Equal(got, append(slices.Clone(words.options()), words.Say("In my own words"))) {
		s.t.Errorf("the answers offered are %q", got)
	}
	s.choose(words.options()[1])
	s.accept()
}

// documentGate reads the form of the first gate, has it show the document, closes it, and approves.
func (s *screen) documentGate(model *obedient, words screenWords) {
	s.t.Helper()
	lead := words.confirms
	f := s.form(lead)
	s.see("the gate of the requirements")
	s.digest(model, append(slices.Clone(words.digest), words.gap)...)
	s.message(f, words, "po.md")
	if !strings.HasPrefix(f.message[1], words.auditPrefix()) {
		s.t.Errorf("the second line is %q", f.message[1])
	}
	choices := words.all("Approve: save it and go on", "Request changes, and say which", "View the document first", "Not now: leave it as it is")
	if f = s.unfold(words.Say("Your decision")); !slices.Equal(f.fields[0].choices, choices) || len(f.fields) != 1 {
		s.t.Errorf("the decision is %+v", f.fields[0])
	}
	if answers := s.stage("po")["answers"].(object); answers["q1"] != words.options()[1] || len(answers) != 1 {
		s.t.Errorf("the answers recorded are %v", answers)
	}
	before := sessionFile(s.t, s.dir)
	s.choose(words.Say("View the document first"))
	s.accept()
	text := s.idle()
	s.see("the document in the chat")
	for _, line := range words.document {
		if line = strings.TrimLeft(line, "# "); !strings.Contains(text, line) {
			s.t.Errorf("the chat does not show %q", line)
		}
	}
	for _, leave := range []func(){s.escape, s.decline} {
		s.says("decide")
		s.form(lead)
		leave()
		if text := s.idle(); !strings.Contains(flat(text), flat(words.waits)) {
			s.t.Errorf("the chat is\n%s", text)
		}
		if sessionFile(s.t, s.dir) != before {
			s.t.Fatal("the session has changed")
		}
	}
	s.see("after the form was closed")
	s.says("decide")
	s.form(lead)
	s.unfold(words.Say("Your decision"))
	s.choose(choices[0])
	s.accept()
	s.idle()
	s.checkDecision("approve")
}

// toReview goes to the review with another client, as a second window does.
func (s *screen) toReview() {
	s.t.Helper()
	other, err := mcpserver.Connect(s.t.Context(), mcpserver.Launch{Command: binary, Dir: s.dir, Env: append(s.state(), "HOME="+s.home, "PATH="+os.Getenv("PATH"))})
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	for _, args := range []object{
		{"action": "submit", "stage": "architect", "claude_result": "# A\nQuality Score: 95"},
		{"action": "confirm", "confirmed": true},
		{"action": "submit", "stage": "sm", "claude_result": "## Sprint 1: one"},
		{"action": "approve", "approved": true},
		{"action": "submit", "stage": "dev", "claude_result": "# D"},
	} {
		if reply, refused := call(s.t, other, args); refused {
			s.t.Fatalf("%v: %v", args, reply)
		}
	}
}

// failedReview reads the form of a failed review, and sends the work back.
func (s *screen) failedReview(model *obedient, words screenWords) {
	s.t.Helper()
	s.says("go on")
	f := s.form(words.fails)
	s.see("the gate of the review")
	s.digest(model, words.digest[0], words.Say("Report: "), words.finding, words.gap)
	s.message(f, words, "review.md")
	if want := words.Say("Assistant: %s", "“R2 critical: "+words.finding+"”"); f.message[1] != want {
		s.t.Errorf("the second line is %q, want %q", f.message[1], want)
	}
	choices := words.all("Send it back to the developer", "Accept the risk, and say why", "View the document first", "Not now: leave it as it is")
	if got := s.unfold(words.Say("Your decision")).fields[0].choices; !slices.Equal(got, choices) {
		s.t.Errorf("the choices are %q", got)
	}
	s.choose(choices[0])
	s.accept()
	s.idle()
	s.checkDecision("request_changes")
}

// message fails unless the first three lines of a form are whole, the third with a path
// that can be opened as it is shown.
func (s *screen) message(f screenForm, words screenWords, file string) {
	s.t.Helper()
	if len(f.message) < 3 {
		s.t.Fatalf("the message is %q", f.message)
	}
	for _, line := range f.message[:3] {
		if line == "" || strings.HasSuffix(line, "…") {
			s.t.Errorf("a line of the message is cut: %q", line)
		}
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(strings.ReplaceAll(f.message[2], "（", " ("), words.Say("Draft: ")), " (")
	if visible.Columns(path) > 60 || !strings.HasPrefix(path, ".bmad-task/work/") || filepath.Base(path) != file {
		s.t.Errorf("the third line is %q", f.message[2])
	}
	if _, err := os.Stat(filepath.Join(s.dir, path)); err != nil {
		s.t.Error(err)
	}
}

// digest fails unless the chat above the form shows user_message to the last word, with
// these parts in this order, in at most 15 lines.
func (s *screen) digest(model *obedient, parts ...string) {
	s.t.Helper()
	said := flat(strings.NewReplacer("**", "", "`", "").Replace(model.message()))
	if !strings.Contains(flat(s.latest), said) {
		s.t.Errorf("the form hides the beginning of user_message:\n%s", model.message())
	}
	for _, part := range parts {
		_, rest, found := strings.Cut(said, flat(part))
		if said = rest; !found {
			s.t.Errorf("user_message has no %q in its place:\n%s", part, model.message())
		}
	}
	lines := 0
	name, _, _ := strings.Cut(strings.TrimPrefix(model.message(), "**"), "**")
	chat := s.latest[strings.LastIndex(s.latest, "● "+name):]
	chat, _, _ = strings.Cut(chat, "Calling ")
	for line := range strings.Lines(chat) {
		if strings.Trim(line, " ●\n") != "" {
			lines++
		}
	}
	if lines > 15 {
		s.t.Errorf("the digest takes %d lines", lines)
	}
}

// flat returns a text without the signs by which a terminal breaks its lines.
func flat(text string) string { return strings.Join(strings.Fields(text), "") }

// stage returns a stage's record of the session.
func (s *screen) stage(id string) object {
	s.t.Helper()
	return readStored(s.t, s.dir)["stages"].(object)[id].(object)
}

// checkDecision fails unless the latest decision was taken in a form.
func (s *screen) checkDecision(decision string) {
	s.t.Helper()
	grant, _ := lastEntry(s.t, s.dir)["grant"].(object)
	if grant["channel"] != "elicited" || grant["assurance"] != "high" || grant["decision"] != decision {
		s.t.Errorf("%s is recorded as %v", decision, grant)
	}
}
