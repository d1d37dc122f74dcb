package verdict

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// honestReport is a report of work that was really tested, in its parts.
type honestReport struct {
	name, body string
	ids        []string
	evidence   func(i int) string
}

// honestReports returns the base of the shapes and of the mutations.
func honestReports() []honestReport {
	english := []string{"curl -i /session?token=… gives 303 and a cookie", "the second use gives 410", "after 16 minutes: 410", "the cookie is gone after sign-out", "the row in sessions is deleted", "p95 94 ms at 200 requests/s"}
	chinese := []string{"点击链接后返回 303 并写入会话", "第二次使用返回 410", "16 分钟后返回 410", "退出后 Cookie 已清除", "会话记录已删除", "两人同时提交，只有一人成功"}
	ids := func(format string, n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf(format, i/3+1, i%3+1))
		}
		return out
	}
	return []honestReport{
		{"short", "# QA report\n\nIt can be used. Tested by hand on Debian 13.", ids("AC-%d.%d", 5), func(i int) string { return english[i] }},
		{"long", "# QA Report: relay\n\n## Summary\n\nEverything was tested from outside.\n\n| Measure | Limit | Measured |\n|---|---|---|\n| p99 | 150 ms | 94 ms |\n\n## Not tested\n\nReal provider traffic: part of the pilot. Round 1 had failed on order.\n", ids("AC-%d.%d", 40), func(i int) string { return fmt.Sprintf("run %d: %d requests, 0 lost", i, 100+i) }},
		{"中文", "# 质量验收报告\n\n## 结论\n\n全部验收标准均已测试。\n\n## 环境\n\nPostgreSQL 16，Chrome。", ids("AC-%d.%d", 6), func(i int) string { return chinese[i] }},
		{"座位", "# 座位预约 验收\n\n试运行前的最后一轮。曾经失败的两项已经修复。", ids("YS-%d.%d", 5), func(i int) string { return "手工测试：" + chinese[i] }},
	}
}

func (h honestReport) contract() Contract {
	prd := "# 需求\n\n## Acceptance criteria\n\n"
	for i, id := range h.ids {
		prd += fmt.Sprintf("- %s the system does thing %d\n", id, i)
	}
	return Contract{Owes: workflow.OwesCriteria, Criteria: ReadCriteria(Sources{Requirements: []string{prd}}), Lines: map[string]int{"relay_test.go": 40}}
}

func (h honestReport) rows() (out []map[string]any) {
	for i, id := range h.ids {
		out = append(out, map[string]any{"id": id, "result": "pass", "evidence": h.evidence(i) + " (relay_test.go:12)"})
	}
	return out
}

// block returns the JSON of the report with these rows and fields.
func (h honestReport) block(rows []map[string]any, more map[string]any) string {
	object := map[string]any{"summary": "all criteria by hand", "criteria": rows, "findings": []any{}}
	for k, v := range more {
		object[k] = v
	}
	data, _ := json.MarshalIndent(object, "", "  ")
	return string(data)
}

// shapes are the forms in which models hand in one and the same report.
var shapes = map[string]func(h honestReport) string{
	"report and block":   func(h honestReport) string { return h.body + "\n\n" + fenceJSON(h.block(h.rows(), nil)) },
	"block alone":        func(h honestReport) string { return h.block(h.rows(), nil) },
	"fenced block alone": func(h honestReport) string { return fenceJSON(h.block(h.rows(), nil)) },
	"a word behind":      func(h honestReport) string { return h.body + "\n\n" + fenceJSON(h.block(h.rows(), nil)) + "\n\nDone." },
	"block first":        func(h honestReport) string { return fenceJSON(h.block(h.rows(), nil)) + "\n\n" + h.body },
	"block in the middle": func(h honestReport) string {
		return h.body + "\n\n" + fenceJSON(h.block(h.rows(), nil)) + "\n\n## More\n\nText."
	},
	"bare block": func(h honestReport) string { return h.body + "\n\n" + h.block(h.rows(), nil) + "\n" },
	"CRLF": func(h honestReport) string {
		return strings.ReplaceAll(h.body+"\n\n"+fenceJSON(h.block(h.rows(), nil)), "\n", "\r\n")
	},
	"envelope": func(h honestReport) string {
		return h.block(h.rows(), map[string]any{"qa_report": h.body, "verdict": "pass"})
	},
	"envelope in a fence": func(h honestReport) string {
		return "Here it is.\n\n" + fenceJSON(h.block(h.rows(), map[string]any{"qa_report": h.body}))
	},
	"a fence with fences": func(h honestReport) string {
		return h.body + "\n\n````json\n" + h.block(append(h.rows()[1:], map[string]any{"id": h.ids[0], "result": "pass", "evidence": "ran ```go test``` twice, relay_test.go:12"}), nil) + "\n````\n"
	},
	"fences in a fence": func(h honestReport) string {
		return "````markdown\n" + h.body + "\n\n" + fenceJSON(h.block(h.rows(), nil)) + "\n````"
	},
	"with a log": func(h honestReport) string {
		return h.body + "\n\n```\nok  \tshop/cart\t0.31s\n12 passed, 0 failed\n```\n\n" + fenceJSON(h.block(h.rows(), nil))
	},
	"with data of its own": func(h honestReport) string {
		return h.body + "\n\n```json\n{\"status\": \"failed\", \"checks\": [{\"name\": \"db\", \"status\": \"down\"}]}\n```\n\n" + fenceJSON(h.block(h.rows(), nil))
	},
	"upper case": func(h honestReport) string {
		return h.body + "\n\n" + fenceJSON(strings.ReplaceAll(h.block(h.rows(), nil), `"pass"`, `"PASS"`))
	},
	"passed": func(h honestReport) string {
		return h.body + "\n\n" + fenceJSON(strings.ReplaceAll(h.block(h.rows(), nil), `"pass"`, `"passed"`))
	},
	"a mark": func(h honestReport) string {
		return h.body + "\n\n" + fenceJSON(strings.ReplaceAll(h.block(h.rows(), nil), `"pass"`, `"✓"`))
	},
	"in Chinese": func(h honestReport) string {
		return h.body + "\n\n" + fenceJSON(strings.ReplaceAll(h.block(h.rows(), nil), `"pass"`, `"通过"`))
	},
	"numbers as texts": func(h honestReport) string {
		return h.body + "\n\n" + fenceJSON(h.block(h.rows(), map[string]any{"checks": []any{map[string]any{"id": 1, "command": "make test", "exit": "0"}}, "findings": []any{map[string]any{"severity": "minor", "file": "a.go", "line": "7", "problem": "slow"}}}))
	},
	"trailing commas": func(h honestReport) string {
		return h.body + "\n\n" + fenceJSON(regexp.MustCompile(`"\n(\s*\})`).ReplaceAllString(h.block(h.rows(), nil), "\",\n$1"))
	},
	"comments": func(h honestReport) string {
		return h.body + "\n\n" + fenceJSON(strings.Replace(h.block(h.rows(), nil), "{", "{ // the rows", 1))
	},
	"single quotes": func(h honestReport) string {
		return h.body + "\n\n" + fenceJSON(strings.ReplaceAll(h.block(h.rows(), nil), `"`, `'`))
	},
	"a stated pass": func(h honestReport) string {
		return h.body + "\n\n**Status**: ✅ Pass\n\n" + fenceJSON(h.block(h.rows(), map[string]any{"verdict": "pass"}))
	},
	"a heading": func(h honestReport) string {
		return "# Review, round 1\n\nStatus: Pass\n\n" + fenceJSON(h.block(h.rows(), nil))
	},
	"rows by id": func(h honestReport) string {
		rows := map[string]any{}
		for _, row := range h.rows() {
			rows[row["id"].(string)] = row
		}
		return h.body + "\n\n" + fenceJSON(h.block(nil, map[string]any{"criteria": rows}))
	},
}

// TestHonestReportsPass: a report of real tests goes on at the first try, in whatever shape.
func TestHonestReportsPass(t *testing.T) {
	t.Parallel()
	n := 0
	for shape, write := range shapes {
		for _, h := range honestReports() {
			n++
			if got := judgeText(plain(write(h)), h.contract()); got != "goes on: pass" {
				t.Errorf("%s, %s: %s\n%.1500s", shape, h.name, got, write(h))
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d reports", n)
	}
}

// plain returns the little that the caller does to a text before it is read.
func plain(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if inner, ok := strings.CutPrefix(text, "````markdown\n"); ok {
		return strings.TrimSuffix(inner, "\n````")
	}
	return text
}

// TestMutationsAreSeen: an honest report with one row changed does not go on.
func TestMutationsAreSeen(t *testing.T) {
	t.Parallel()
	n := 0
	for _, h := range append(honestReports(), realReports(t)...) {
		contract := h.contract()
		for i := range h.ids {
			for name, mutate := range map[string]func(row map[string]any) []map[string]any{
				"failed":           func(row map[string]any) []map[string]any { row["result"] = "fail"; return []map[string]any{row} },
				"not tested":       func(row map[string]any) []map[string]any { row["result"] = "not_tested"; return []map[string]any{row} },
				"dropped":          func(map[string]any) []map[string]any { return nil },
				"without evidence": func(row map[string]any) []map[string]any { row["evidence"] = ""; return []map[string]any{row} },
				"renamed": func(row map[string]any) []map[string]any {
					row["id"] = row["id"].(string) + "9"
					return []map[string]any{row}
				},
				"a second result": func(row map[string]any) []map[string]any {
					return []map[string]any{row, {"id": row["id"], "result": "fail"}}
				},
			} {
				n++
				rows := h.rows()
				rows = append(append(append([]map[string]any{}, rows[:i]...), mutate(rows[i])...), rows[i+1:]...)
				if got := judgeText(h.body+"\n\nStatus: Pass\n\n"+fenceJSON(h.block(rows, nil)), contract); strings.HasPrefix(got, "goes on") {
					t.Errorf("%s, %s %s: %s", h.name, h.ids[i], name, got)
				}
			}
		}
	}
	t.Logf("%d mutations", n)
}

// realReports returns the reports of the sample projects.
func realReports(t *testing.T) (out []honestReport) {
	for _, file := range []string{"webhook-relay/11-qa.md", "zh-booking/06-qa.json"} {
		data, err := os.ReadFile("../../../testdata/submissions/" + file)
		if err != nil {
			t.Fatal(err)
		}
		r := Read(string(data), []string{"qa_report"})
		h := honestReport{name: file, body: r.Body, evidence: func(i int) string { return r.Criteria[i].Evidence }}
		for _, c := range r.Criteria {
			h.ids = append(h.ids, c.ID)
		}
		if got := judgeText(string(data), h.contract()); got != "goes on: pass" {
			t.Errorf("%s: %s", file, got)
		}
		out = append(out, h)
	}
	return out
}

// TestBrokenBlocks: a block that models have broken is repaired or returned with its place, and
// never read in half.
func TestBrokenBlocks(t *testing.T) {
	t.Parallel()
	h := honestReports()[0]
	block := h.block(h.rows(), map[string]any{"findings": []any{map[string]any{"id": "T1", "severity": "critical", "problem": "data loss", "status": "open"}}})
	contract := h.contract()
	for cut := 1; cut < len(block); cut++ {
		for _, text := range []string{h.body + "\n\n```json\n" + block[:cut] + "\n```\n", h.body + "\n\n```json\n" + block[:cut], h.body + "\n\n" + block[:cut]} {
			if got := judgeText(text, contract); strings.HasPrefix(got, "goes on") || strings.HasPrefix(got, "held") {
				t.Fatalf("cut at %d: %s\n%s", cut, got, text)
			}
		}
	}
	many := make([]map[string]any, 20_001)
	for i := range many {
		many[i] = map[string]any{"id": fmt.Sprint("AC-", i), "result": "pass", "evidence": "x"}
	}
	good := h.block(h.rows(), nil)
	for name, tt := range map[string]struct{ text, want string }{
		"cut in the middle": {h.body + "\n\n```json\n" + good[:len(good)/2] + "\n```\n", `^returned: the block of JSON breaks off: the bracket at line \d+, column \d+ is never closed$`},
		"cut behind a row":  {h.body + "\n\n```json\n" + good[:strings.Index(good, "}")+1] + "\n```\n", `^returned: the block of JSON breaks off: the bracket at line \d+, column \d+ is never closed$`},
		"two blocks":        {fenceJSON(good) + "\n\n" + fenceJSON(good), `^returned: a second block of JSON stands at line \d+; hand in one`},
		"two that differ":   {fenceJSON(good) + "\n\n" + fenceJSON(strings.Replace(good, `"pass"`, `"fail"`, 1)), `^fail: a second block`},
		"20,001 rows":       {fenceJSON(h.block(many, nil)), `^returned: "criteria" has 20001 items; at most 20000 are read`},
		"a list":            {fenceJSON(`{"criteria": "all pass", "findings": []}`), `^returned: "criteria" is not a list`},
		"rows of texts":     {fenceJSON(`{"criteria": ["AC-1.1 passes"], "findings": []}`), `^returned: item 1 of "criteria" is not an object`},
		"no id":             {fenceJSON(`{"criteria": [{"result": "pass", "evidence": "x"}], "findings": []}`), `^returned: row 1 of "criteria" has no id`},
		"no block at all":   {"```json\n{]\n```\n\nVerdict: pass", `^returned: it has no block`},
		"a broken fail":     {"```json\n{\"verdict\": \"fail\", \"criteria\": [\n```", `^fail: the block of JSON breaks off`},
		"of another run":    {fenceJSON(strings.ReplaceAll(good, "AC-", "ZZ-")), `^returned: no document of this run has the ids ZZ-1.1, `},
	} {
		if got := judgeText(tt.text, h.contract()); !regexp.MustCompile(tt.want).MatchString(got) {
			t.Errorf("%s: got %s\nwant %s", name, got, tt.want)
		}
	}
}

// TestLongReports: reports of a megabyte and more that a scanner could read again for each line.
func TestLongReports(t *testing.T) {
	t.Parallel()
	const n = 200_000
	for name, text := range map[string]string{
		"comments":       "```json\n{\"criteria\": [\n" + strings.Repeat("//\n", n) + "]}\n```\n",
		"braces":         strings.Repeat("{\n", n),
		"closed braces":  strings.Repeat("{\n", n) + strings.Repeat("}\n", n),
		"objects":        strings.Repeat("{}\n", n),
		"fences":         "```json\n{\"criteria\": [\n" + strings.Repeat("\"x\n```\n", n),
		"open blocks":    strings.Repeat("```json\n{\"criteria\": [\n```\n", n/4),
		"deep":           "```json\n{\"criteria\":" + strings.Repeat("[", n) + strings.Repeat("]", n) + "}\n```\n",
		"broken blocks":  strings.Repeat("{\"criteria\": \"\"\"\"}\n\n", n/4),
		"growing fences": growingFences(1000),
	} {
		if got := judgeText(text, qa()); !strings.HasPrefix(got, "returned: ") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func growingFences(n int) string {
	var b strings.Builder
	for i := n; i > 2; i-- {
		b.WriteString(strings.Repeat("`", i) + "\n")
	}
	return b.String()
}
