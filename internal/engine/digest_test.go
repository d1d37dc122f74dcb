package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// shownRows returns the least number of rows that a terminal of 80 columns has for a message in the
// chat: a row has room for 78 columns, and a line begins a new one.
func shownRows(message string) int {
	rows := 0
	for line := range strings.SplitSeq(strings.NewReplacer("**", "", "`", "").Replace(message), "\n") {
		rows += max(1, (visible.Columns(line)+77)/78)
	}
	return rows
}

// TestDigestFitsTheScreen checks that however much there is to say against what waits, the message
// at a gate keeps to 15 rows, says the worst first, and the lines of the form are whole.
func TestDigestFitsTheScreen(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]struct{ objective, long, worst string }{
		"english":      {strings.Repeat("Build a sign-in service for small teams ", 8), strings.Repeat("the audit log loses entries when the disk is full ", 9), "The token is compared in variable time"},
		"chinese":      {strings.Repeat("为小团队做一个登录服务,支持单点登录", 9), strings.Repeat("磁盘写满的时候审计日志会丢失记录", 14), "令牌的比较时间不固定,可以逐字节猜测"},
		"short":        {"Build a clock", "late", "stops"},
		"one long run": {strings.Repeat("x", 500), strings.Repeat("y", 700), strings.Repeat("z", 30)},
	} {
		for _, many := range []int{1, 2, 7, 30} {
			t.Run(fmt.Sprint(name, many), func(t *testing.T) {
				b := newBench(t)
				b.chinese = name == "chinese"
				says := func(english, chinese string) string {
					if b.chinese {
						return chinese
					}
					return english
				}
				person := &answers{Response: gate.Response{Silence: gate.Silence{Why: lang.T("not now")}}}
				forms := func(r request.Request) request.Request {
					r.Ask, r.Forms = person, true
					return r
				}
				check := func(r *reply.Reply, order ...string) {
					t.Helper()
					if rows := shownRows(r.UserMessage); rows > 15 {
						t.Errorf("%d rows:\n%s", rows, r.UserMessage)
					}
					rest := r.UserMessage
					for _, part := range order {
						_, after, found := strings.Cut(rest, part)
						if rest = after; !found {
							t.Errorf("no %q in its place:\n%s", part, r.UserMessage)
						}
					}
					b.do(forms(request.Request{Action: workflow.Action(fmt.Sprint(r.NextCall["action"]))}))
					q := person.asked[len(person.asked)-1]
					for _, line := range []string{q.Lead, q.Worst, q.DraftLine()} {
						if line == "" || visible.Columns(line) > 74 {
							t.Errorf("%d columns: %q", visible.Columns(line), line)
						}
					}
				}

				gaps := make([]string, many)
				for i := range gaps {
					gaps[i] = fmt.Sprint(words.long, i)
				}
				b.do(forms(start(words.objective)))
				check(b.at("po/awaiting_confirmation", forms(submit(workflow.PO, jsonOf(t, map[string]any{"prd_draft": "# P", "quality_score": 95, "gaps": gaps})))),
					says("Goal: ", "目标："), says("Score 95", "助手评分 95"), says("Draft: ", "草稿："), says("Known gaps:", "已知的不足："), "\n- “", says("**You can now**", "**你现在可以**"))
				b.do(confirm(true))
				b.at("architect/awaiting_confirmation", submit(workflow.Architect, "# A\nQuality Score: 95"))
				b.do(confirm(true))
				b.at("sm/awaiting_approval", submit(workflow.SM, "## Sprint 1: one"))
				b.do(approve(true, ""))
				b.do(submit(workflow.Dev, "# D"))
				var findings []map[string]string
				for i := range many {
					findings = append(findings, map[string]string{"id": fmt.Sprint("R", i+1), "severity": []string{"minor", "major"}[i%2], "file": "internal/store/log.go:12", "problem": words.long})
				}
				findings = append(findings, map[string]string{"id": "R99", "severity": "critical", "file": "internal/token/compare.go:118", "problem": words.worst})
				check(b.at("review/awaiting_approval", forms(submit(workflow.Review, jsonOf(t, map[string]any{"review": "# R", "status": "fail", "findings": findings})))),
					says("Goal: ", "目标："), says("**failed** the work: 1 critical", "**不通过**：1 个严重"), says("Report: ", "报告："), says("Open findings:", "未解决的问题：")+"\n- “R99 critical", words.worst, says("**You can now**", "**你现在可以**"))
				if q := person.asked[len(person.asked)-1]; !strings.Contains(q.Worst, "R99 critical") || !strings.Contains(q.Worst, words.worst) {
					t.Errorf("the worst is %q", q.Worst)
				}
			})
		}
	}
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
