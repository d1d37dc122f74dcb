// Package specimen writes documents of any size, for benchmarks of code that reads documents.
//
// A document has the parts that people write into theirs: headings, paragraphs, lists,
// requirements, stories with their criteria, tables and code. Its sentences come from a seed, so
// that two documents of different seeds have little in common, and the same seed gives the same
// bytes.
package specimen

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Repeated is one sentence again and again, below a heading.
func Repeated(size int) string {
	const sentence = "The relay stores every webhook durably before it answers the provider. "
	return "# PRD\n\n" + strings.Repeat(sentence, max(1, size/len(sentence))) + "\n"
}

// English returns a document without two sentences alike.
func English(seed uint64, size int) string { return english.write(seed, size) }

// Chinese is its counterpart in Chinese.
func Chinese(seed uint64, size int) string { return chinese.write(seed, size) }

// Report returns a document followed by the block of a report that passes: a check, no findings, and a
// row for each criterion in owed, with evidence of its own that cites the check.
func Report(document string, owed []string) string {
	type row struct {
		ID       string `json:"id"`
		Result   string `json:"result"`
		Evidence string `json:"evidence"`
	}
	block := struct {
		Checks   []map[string]any `json:"checks"`
		Findings []string         `json:"findings"`
		Criteria []row            `json:"criteria,omitempty"`
	}{Checks: []map[string]any{{"id": "C1", "command": "go test ./...", "exit": 0}}, Findings: []string{}}
	for i, id := range owed {
		block.Criteria = append(block.Criteria, row{id, "pass", fmt.Sprintf("C1: request %d of %s was answered with 200", i+1, id)})
	}
	// Strings and numbers alone: encoding them cannot fail.
	data, _ := json.Marshal(block)
	return document + "\n\n```json\n" + string(data) + "\n```\n"
}

// language has the words of sentences, each list for a place in them, and the text around them.
type language struct {
	sentence, story, criterion string // formats, filled from the lists in their order
	places                     [][]string
	sections                   []string
	columns                    string
}

// writer puts a document together.
type writer struct {
	language
	b     strings.Builder
	state uint64
	used  map[string]bool
}

func (l language) write(seed uint64, size int) string {
	w := writer{language: l, state: seed*2654435761 + 1, used: map[string]bool{}}
	w.printf("# %s\n\n", l.sections[0])
	for n := 1; w.b.Len() < size; n++ {
		w.section(n)
	}
	return w.b.String()
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

// section is about a kilobyte and a half of everything.
func (w *writer) section(n int) {
	w.printf("## %d. %s\n\n", n, w.sections[1+n%(len(w.sections)-1)])
	for range 3 {
		w.printf("%s %s\n\n", w.fill(w.sentence), w.fill(w.sentence))
	}
	w.printf("### US-%d\n\n%s\n\n", n, w.fill(w.story))
	for i := 1; i <= 2; i++ {
		w.printf("- AC-%d.%d: %s\n", n, i, w.fill(w.criterion))
	}
	w.printf("- FR-%d (Must) %s\n- %s\n\n", n, w.fill(w.sentence), w.fill(w.sentence))
	w.printf("%s\n|---|---|---|\n| AC-%d.1 | %s | `internal/relay/store_%d.go` |\n| %d | %s | - |\n\n", w.columns, n, w.fill(w.sentence), n, n, w.fill(w.sentence))
	w.printf("```sh\ngo test ./internal/relay -run Case%d\n```\n\n", n)
}

// fill fills a format with words that have not stood together before, if there are any such.
func (w *writer) fill(format string) string {
	out := ""
	for range 8 {
		words := make([]any, len(w.places))
		for i, place := range w.places {
			words[i] = place[w.next()%uint64(len(place))]
		}
		if out = fmt.Sprintf(format, words...); !w.used[out] {
			break
		}
	}
	w.used[out] = true
	return out
}

// next returns a step of splitmix64.
func (w *writer) next() uint64 {
	w.state += 0x9e3779b97f4a7c15
	z := w.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

var english = language{
	sentence:  "%[1]s %[2]s %[3]s %[4]s %[5]s.",
	story:     "As a member of support, I want %[2]s that %[3]s %[4]s, so that nobody has to ask %[5]s.",
	criterion: "given %[4]s, when %[2]s %[3]s it, then the reader sees the result %[5]s.",
	places: [][]string{
		{"Whenever a provider retries,", "After the nightly import,", "Under heavy traffic,",
			"Before the first release,", "During a failover,", "Once an operator signs in,", "In every region,",
			"With the new layout,", "As soon as storage fills up,", "On slow connections,", "Outside office hours,",
			"For older accounts,"},
		{"the relay", "a background worker", "the delivery queue", "our scheduler", "the settings page",
			"the audit trail", "each subscriber", "the billing export", "an idle session", "the retry policy",
			"the search index", "the mobile client"},
		{"stores", "forwards", "rejects", "compares", "refreshes", "encrypts", "summarises", "reorders", "throttles", "validates", "archives", "displays"},
		{"incoming payloads", "expired tokens", "the customer's address", "duplicate deliveries", "signed receipts",
			"pending invitations", "the oldest entries", "failed attempts", "monthly statements", "partial uploads",
			"the shared calendar", "unread notices"},
		{"within 200 ms of their arrival", "without asking the person again", "until the provider confirms them",
			"in the order in which they came", "even if one disk is lost", "together with a readable reason",
			"and reports each of them once", "so that support can follow up", "although the network is unreliable",
			"for at least thirty days", "next to the name of their owner", "through the interface described above"},
	},
	sections: []string{"Webhook relay", "Goals", "Users and their needs", "Functional requirements", "Architecture",
		"Interfaces", "Data model", "Risks", "Operations", "Testing", "Open questions", "Milestones"},
	columns: "| Id | Behaviour | Evidence |",
}

var chinese = language{
	sentence:  "%[1]s，%[2]s%[3]s%[4]s，%[5]s。",
	story:     "作为客服人员，我希望%[2]s能%[3]s%[4]s，以便%[5]s。",
	criterion: "给定%[4]s，当%[2]s%[3]s它时，则读者看到结果，%[5]s。",
	places: [][]string{
		{"每当服务商重试", "夜间导入之后", "在高峰时段", "首次发布之前", "发生切换期间", "操作员登录以后", "在每个区域", "采用新版布局时", "存储空间将满时", "网络较慢的情况下", "下班以后", "对于较早的账户"},
		{"中继服务", "后台任务", "投递队列", "调度程序", "设置页面", "审计记录", "每位订阅者", "账单导出", "空闲会话", "重试策略", "搜索索引", "移动客户端"},
		{"保存", "转发", "拒绝", "比较", "刷新", "加密", "汇总", "重新排列", "限制", "校验", "归档", "显示"},
		{"收到的数据", "过期的令牌", "客户的地址", "重复的投递", "已签名的回执", "等待中的邀请", "最早的条目", "失败的尝试", "每月的账单", "未完成的上传", "共享的日历", "未读的通知"},
		{"并在到达后 200 毫秒内完成", "不再打扰使用者", "直到服务商确认为止", "并保持到达时的顺序", "即使一块磁盘损坏也不丢失", "同时给出可读的原因", "并且每条只报告一次", "以便客服人员跟进", "尽管网络并不可靠", "至少保留三十天", "并列出所有者的姓名", "通过上文所述的接口完成"},
	},
	sections: []string{"通知中继", "目标", "用户与需求", "功能需求", "架构", "接口", "数据模型", "风险", "运维", "测试", "待确认问题", "里程碑"},
	columns:  "| 编号 | 行为 | 证据 |",
}
