package mcpserver_test

import (
	"os"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// screenWords are those of one run, in one language.
type screenWords struct {
	lang.Language
	// asks, confirms and fails are how the leads of the three forms begin, again is in that of the second
	// round, own in that for own words; digest has the parts of the first digest, and waits is a part of it once the form was closed.
	asks, confirms, fails, again, own string
	digest                            []string
	waits                             string

	objective, gap, finding string
	questions               []object
	document                []string
}

var screenRuns = map[string]screenWords{
	"english": {
		Language: lang.English,
		asks:     "3 questions from the Product Owner. Score 74, check ",
		confirms: "Approve the product requirements? Score 93, form ",
		fails:    "The Reviewer failed the work: 1 critical, 1 minor",
		digest:   []string{"Goal: ", "Score 93 of 100 by the assistant, ", "Changed since round 1: 2 lines added, 0 removed", "Draft: "},
		again:    "Score 95",
		own:      "In your own words",
		waits:    "You can now say decide when you are ready",

		objective: "Build a sign-in service for small teams, with single sign-on and an audit log of every sign-in",
		gap:       "No figure says how many people sign in per day at peak",
		finding:   "Tokens are compared byte by byte: time leaks it",
		questions: []object{
			{"id": "q1", "question": "Which identity provider do your users have, guests included?", "context": "Decides whether we build passwords or only connect", "options": []string{"Okta", "Microsoft Entra", "None yet: passwords first, then connect"}},
			{"id": "q2", "question": "How many people sign in per day at peak?"},
			{"id": "q3", "question": "Which laws or house rules say how long the audit log must be kept, and where?", "options": []string{"None", "GDPR only"}},
		},
		document: []string{"# Sign-in service", "", "## Goals", "", "- People sign in once for every tool of the team.", "- Each sign-in is in the audit log within a second."},
	},
	"chinese": {
		Language: "zh",
		asks:     "产品负责人提出 3 个问题。评分 74、审查 ",
		confirms: "批准产品需求？评分 93、审查 ",
		fails:    "评审者判定工作不通过：1 个严重、1 个次要",
		digest:   []string{"目标：", "助手评分 93（满分 100），审计 ", "自第 1 轮以来：新增 2 行，删除 0 行", "草稿："},
		again:    "评分 95",
		own:      "请用你自己的话回答",
		waits:    "你现在可以在准备好时说决定",

		objective: "为小团队做一个登录服务,支持单点登录,并且把每一次登录都写入审计日志,日志可以按月导出和检索",
		gap:       "没有说明高峰期每天有多少人登录",
		finding:   "令牌的比较时间不固定,因此可以逐字节猜测出来",
		questions: []object{
			{"id": "q1", "question": "你们的用户现在使用哪个身份提供商?是否包括访客账号?", "context": "决定是自己做密码登录,还是只做对接", "options": []string{"企业微信", "飞书", "还没有:先做密码登录,以后再对接"}},
			{"id": "q2", "question": "第一年高峰期每天大约有多少人登录?"},
			{"id": "q3", "question": "哪些法规或者公司制度规定了审计日志要保存多久、保存在哪里、由谁来负责?", "options": []string{"没有规定", "个人信息保护法"}},
		},
		document: []string{"# 登录服务", "", "## 目标", "", "- 用户登录一次,就可以使用团队的所有工具。", "- 每一次登录都在一秒之内写入审计日志。"},
	},
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

// stage returns a stage's record of the run.
func (s *screen) stage(id string) object {
	s.t.Helper()
	return readStored(s.t, s.dir)["stages"].(object)[id].(object)
}
