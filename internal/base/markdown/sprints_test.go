package markdown_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

// listed returns the sprints of a plan, for example as "1 title, 2".
func listed(document string) string {
	sprints, repeated := markdown.Read(document, nil).Sprints()
	var out []string
	for _, sp := range sprints {
		out = append(out, strings.TrimSpace(sp.Name()+" "+sp.Title))
	}
	for _, n := range repeated {
		out = append(out, fmt.Sprint("again ", n))
	}
	return strings.Join(out, ", ")
}

func TestSprintNames(t *testing.T) {
	for text, want := range map[string]string{
		"Sprint 1": "1", "Sprint 1: Sign in": "1 Sign in", "sprint 1 - sign in": "1 sign in", "SPRINT 1 — Sign in": "1 Sign in",
		"Sprint 1 Sign in": "1 Sign in", "Sprint 1. Sign in": "1 Sign in", "Sprint #1: a": "1 a", "Sprint No. 2: a": "2 a", "Sprint-3": "3", "Sprint 0: set up": "0 set up",
		"Sprint 1 (2 weeks): Auth": "1 Auth", "Sprint 1 (2 weeks)": "1", "Sprint 1 – 2 weeks": "1 2 weeks", "Sprint 1 - 2FA": "1 2FA", "Sprint 1 of 3: a": "1 a", "Sprint 1/3: a": "1 a",
		"**Sprint 1**: a": "1 a", "**Sprint 1: a**": "1 a", "*Sprint 1*": "1", "`Sprint 1`: a": "1 a", "Sprint 1: `auth` module": "1 `auth` module",
		"[Sprint 1]": "1", "[Sprint 1]: a": "1 a", "[Sprint 1] a": "1 a", "[Sprint 1: a]": "1 a", "[Sprint 1: a](#a)": "1 a", "[Sprint 1](plan.md): a": "1 a", "【冲刺 1】登录": "1 登录",
		"🏃 Sprint 3: z": "3 z", "✅ **Sprint 3**": "3", "[x] Sprint 3: z": "3 z", "➡️ Sprint 1": "1",
		"1. Sprint 1: a": "1 a", "3.1 Sprint 1: a": "1 a", "1) Sprint 2": "2", "II. Sprint 2": "2", "一、冲刺 1：登录": "1 登录",
		"Week 1 — Sprint 1": "1", "Weeks 1–2: Sprint 1: a": "1 a", "Week 3 (May 4-8) - Sprint 2": "2", "Phase 2 / Sprint 3: a": "3 a", "第1周：冲刺 1": "1", "第 1-2 周 冲刺 1：登录": "1 登录", "第一阶段 冲刺 1": "1",
		"Iteration 1": "1", "Iteration 2: a": "2 a", "Sprint One: a": "1 a", "sprint two": "2", "First Sprint: a": "1 a", "2nd iteration": "2", "Sprint I: a": "1 a", "Sprint I": "1",
		"冲刺 1：登录": "1 登录", "冲刺1登录": "1 登录", "冲刺一：界面": "1 界面", "冲刺 十二": "12", "第1个冲刺：登录": "1 登录", "第一个冲刺": "1", "第 二 期迭代：a": "2 a", "第1个迭代": "1", "迭代一": "1", "迭代１：全角": "1 全角", "冲刺周期 2": "2", "Sprint 1：标题": "1 标题", "冲刺 1（两周）：登录": "1 登录",

		"Sprint": "", "Sprint planning": "", "Sprint overview": "", "Sprint goals 1": "", "Sprints 1": "", "Sprint N: title": "", "Sprint X": "", "Sprint V: a": "", "Sprint 1.5: Spike": "", "Sprint 1a": "", "Sprint 12345": "",
		"Sprint 1–2 at a glance": "", "Sprint 1 and 2": "", "Sprint 1 to 3: a": "", "Sprint 1 & Sprint 2": "", "Sprint 1-1 Login": "", "冲刺 1 至 3": "", "冲刺1和2": "", "Sprint 1's risks": "",
		"冲刺 3 天": "", "迭代一次就够": "", "迭代 2 次": "", "冲刺计划": "", "第1章：简介": "", "The goal of Sprint 1": "", "S1-1 Login (Sprint 1)": "", "Risks in sprint 2": "", "Sprint I want": "", "~~Sprint 4~~": "", "Sprintly 1": "", "Preliminary 1": "",
	} {
		for _, form := range []string{"# Plan\n\n## %s\n\ntext\n", "### %s ###\n", "###### %s", "##%s\n", "   ## %s\r\n", "%s\n---\n\ntext", "\n%s\n=====\n"} {
			if strings.Contains(text, "`") && !strings.HasPrefix(form, "##") || strings.HasPrefix(form, "%s") && strings.ContainsAny(text[:1], "*#") || strings.HasPrefix(form, "\n%s") && strings.ContainsAny(text[:1], "*#") {
				continue // an underlined line with marks of its own is not a heading
			}
			if document := fmt.Sprintf(form, text); listed(document) != want {
				t.Errorf("%q: got %q, want %q", document, listed(document), want)
			}
		}
	}
}

func TestPlansAsPeopleWriteThem(t *testing.T) {
	for document, want := range map[string]string{
		"## Sprint S0: a\n\n## Sprint S1\n\n## Sprint S0: b\n":                                                "0 a, 1, again 0",
		"**Sprint 1 — Ring** (two weeks)\n\n- S1-1\n\n**Sprint 2: Trust**\n":                                  "1 Ring, 2 Trust",
		"__Sprint 1__\n\n***Sprint 2***\n":                                                                    "1, 2",
		"**Sprint 1:** Ring\n\n**Sprint 2**: Trust\n\n**冲刺 3** - 监控":                                          "1 Ring, 2 Trust, 3 监控",
		"**Sprint 1** depends on the bank.\n":                                                                 "",
		"Text\n**Sprint 1:** in the middle of a paragraph\n":                                                  "",
		"We do Sprint 1 first.\n\nSprint 2 follows.\n\n- Sprint 3\n> ## Sprint 4":                             "",
		"## Sprint 1: a\n\n## Risks\n\n**Sprint 1**\n\n**Sprint 9**\n":                                        "1 a",
		"## Contents\n- [Sprint 1: a](#1)\n- [Sprint 2: b](#2)\n\n## Sprint 1: a\n## Sprint 2: b\n":           "1 a, 2 b",
		"**[Sprint 1](#1)**\n**[Sprint 2](#2)**\n\n**Sprint 1: a**\n":                                         "1 a",
		"| Sprint | Goal |\n|---|---|\n| 1 | x |\n| 2 | y |\n\n## Sprint 1: a\n":                              "1 a, 2 y",
		"| Sprint | Goal |\n|---|---|\n| 1 | x |\n| Sprint 2 | y |\n| 3: Ship | z |\n":                        "1 x, 2 y, 3 Ship",
		"| 冲刺 | 周次 | 目标 |\n|---|---|---|\n| 一 | 1-2 | 登录 |\n| 冲刺 2 | 3-4 | 支付 |\n":                            "1 登录, 2 支付",
		"| Story | Size | Sprint |\n|---|---|---|\n| S1-1 | 1 | 1 |\n| S1-2 | 1 | 1 |\n| S2-1 | 2 | 2 |\n":    "1, 2",
		"| Week | Sprint | Goal |\n|---|---|---|\n| 1 | 1–2 | x |\n| 2 | 2 | y |\n":                           "2",
		"| Risk | Sprint |\n|---|---|\n| bank | 1 |\n":                                                        "",
		"| Sprint goal | Owner |\n|---|---|\n| 1 | me |\n":                                                    "",
		"```\n## Sprint 1: quoted\n```\n\n## Plan\n":                                                          "",
		"```\n| Sprint |\n|---|\n| 1 |\n```\n~~~\n**Sprint 2**\n~~~\n":                                        "",
		"<!-- ## Sprint 1: hidden\n-->\n## Sprint 2: shown\n":                                                 "2 shown",
		"Here is it:\n\n```markdown\n# Plan\n## Sprint 1: a\n```sh\n# no\n```\n## Sprint 2: b\n```\nShall I?": "1 a, 2 b",
		"# Plan\n\n```markdown\n## Sprint 1: an example\n```\n":                                               "",
		"Write it so:\n\n```sh\n# Sprint 1\n```\n":                                                            "",
		"# Sprint 1: the plan\n\n## Sprint 1: a\n\n## Sprint 2: b\n":                                          "1 a, 2 b",
		"# Sprint 1\n# Sprint 2\n":                                                                            "1, 2",
		"## Sprint 2: b\n## Sprint 1: a\n":                                                                    "2 b, 1 a",
		"### Sprint 1 in short\n## Sprint 1: a\n### Sprint 1 done when\n":                                     "1 a",
		"## Sprint 1: a\n### Sprint 2 needs this\n## Sprint 2: b\n":                                           "1 a, 2 b",
		"## Sprint 1: a\n## Sprint 2: b\n## Sprint 1: c\n":                                                    "1 a, 2 b, again 1",
		"## Sprint I: a\n## Sprint II: b\n## Sprint IV\n":                                                     "1 a, 2 b, 4",
		"## Sprint 1: a\n## Sprint X: later\n":                                                                "1 a",
		"Sprint 1: a\n===\n\ntext\n\nSprint 2: b\n---\n":                                                      "1 a, 2 b",
	} {
		if got := listed(document); got != want {
			t.Errorf("%q:\ngot  %q\nwant %q", document, got, want)
		}
	}
}

// TestNamesOfSprints reads plans whose sprints have other names than "Sprint 1", and other parts than sprints.
func TestNamesOfSprints(t *testing.T) {
	for document, want := range map[string]string{
		// Letters, letters in front of a number, and parts of a number.
		"### ✅ Sprint A — Accounts (done)\n- S1-1\n\n### Sprint B — Orders\n- S2-1\n": "A Accounts, B Orders",
		"## Sprint A: a\n## Sprint B\n## Sprint C\n## Sprint N: a template\n":         "A a, B, C",
		"## Sprint A: a\n## Sprint H\n## Sprint I\n":                                  "A a, H, I",
		"## Sprint A–C: the scope\n## Sprint A: a\n## Sprint B: b\n":                  "A a, B b",
		"## Sprint F1: a\n## Sprint F2: b\n":                                          "1 a, 2 b",
		"## Sprint F1: a\n## Sprint B1: b\n## Sprint 1: c\n":                          "F1 a, B1 b, 1 c",
		"### UI-S0 — a\n### UI-S1 — b\n":                                              "0 a, 1 b",
		"### Sprint UI-S0: a\n### Sprint UI-S1: b\n### Sprint API-S0: c\n":            "UI-S0 a, UI-S1 b, API-S0 c",
		"## Sprint 1: a\n## Sprint 1.5: b\n## Sprint 2: c\n## Sprint 2a: d\n":         "1 a, 1.5 b, 2 c, 2a d",
		"## Sprint 1: a\n### Sprint 1.1: b\n### Sprint 1.2: c\n## Sprint 2: d\n":      "1 a, 2 d",
		"## Sprint 2w\n## Sprint 3d\n":                                                "",
		"#### Sprint Backlog - 1\n#### Sprint Backlog - 2\n":                          "1, 2",
		"## Sprint Zero: a\n## Sprint One: b\n":                                       "0 a, 1 b",
		"## Спринт 1: вход\n## Спринт 2\n":                                            "1 вход, 2",
		"## スプリント1：認証\n## スプリント2：注文\n":                                                "1 認証, 2 注文",
		"## 스프린트 1: 로그인\n## 스프린트 2\n":                                                 "1 로그인, 2",

		// Other units, if there are no sprints.
		"## Phase 1 — a\n### Goal\n## Phase 2 — b\n":                                  "1 a, 2 b",
		"## Phase 1: a\n### Sprint 1: b\n## Phase 2: c\n### Sprint 2: d\n":            "1 b, 2 d",
		"## Phase 1: a\n### Week 1\n### Week 2\n## Phase 2: c\n":                      "1 a, 2 c",
		"## Week 1: a\n## Week 2: b\n":                                                "1 a, 2 b",
		"## Weeks 1–2: a\n## Weeks 3–4: b\n":                                          "",
		"## Sprint 1: a\n**Week 1**\n\n**Week 2**\n":                                  "1 a",
		"| Phase | Goal |\n|---|---|\n| Phase 1 | a |\n| 2 | b |\n":                   "1 a, 2 b",
		"## Epic 1\n## Epic 2\n\n| Phase | Goal |\n|---|---|\n| 1 | a |\n| 2 | b |\n": "",
		"## Étape 1 : a\n## Étape 2 : b\n":                                            "1 a, 2 b",
		"## Milestone 1: a\n## Milestone 2\n":                                         "1 a, 2",
		"## S1: a\n## S2: b\n":                                                        "1 a, 2 b",
		"## S1-1 a\n## S1-2 b\n":                                                      "",
		"## Stories\n### S1: a\n### S2: b\n":                                          "",
		"## 第一阶段：登录\n## 第二阶段：支付\n":                                                    "1 登录, 2 支付",
		"## 第1周：登录\n## 第2周：支付\n":                                                      "1 登录, 2 支付",
		"## Phase 1: alone\n":                                                         "",
		"## Epic 1: a\n## Epic 2: b\n### Phase 1\n### Phase 2\n":                      "",
		"## Roll-out\n### Phase 1: beta\n### Phase 2: all\n":                          "",
		"## Iteration 1: a\n## Iteration 2: b\n":                                      "1 a, 2 b",
		"- **Phase 1**: a\n- **Phase 2**: b\n":                                        "1 a, 2 b",

		// Items, HTML and tables.
		"- [x] **Sprint 1: Accounts**\n    Sign in.\n\n- [ ] **Sprint 2: Orders**\n":                       "1 Accounts, 2 Orders",
		"1. **Sprint 1** — a\n2. **Sprint 2** — b\n":                                                       "1 a, 2 b",
		"- **Sprint 1** depends on the bank.\n":                                                            "",
		"- Sprint 1: a\n  - S1-1\n- Sprint 2: b\n":                                                         "1 a, 2 b",
		"- [x] Sprint 1\n- [ ] Sprint 2\n":                                                                 "1, 2",
		"Sprint 1: a\n- S1-1\n\nSprint 2: b\n- S2-1\n":                                                     "1 a, 2 b",
		"<h2>Sprint 1: a</h2>\n<p>text</p>\n<h2 id=\"b\">Sprint 2: <b>b</b></h2>\n":                        "1 a, 2 b",
		"<summary><strong>Sprint 1</strong></summary>\n\n<summary>Sprint 2: b</summary>":                   "1, 2 b",
		"## <a name=\"a\"></a>Sprint 1: a\n":                                                               "1 a",
		"| Sprint | Goal |\n|---|---|\n| A | x |\n| B | y |\n| TBD | z |\n":                                "A x, B y",
		"| Sprint |\n|---|\n| **0 — Setup** |\n| **1 — Login (50 %)** |\n| 2 – 3 |\n":                      "0 Setup, 1 Login",
		"# Sprints\n\n| Nr | Start | Zielsetzung |\n|---|---|---|\n| 1 | 24.2. | a |\n| 2 | 10.3. | b |\n": "1 a, 2 b",
		"| № | Цели спринта |\n|---|---|\n| 1 | a |\n| 2 | b |\n":                                          "1 a, 2 b",
		"| # | Task |\n|---|---|\n| 1 | a |\n":                                                             "",
		"| Sprint | Goal |\n|---|---|\n| 1 | x |\n| 2 | y |\n| 3 | z |\n\n## Sprint 3: c\n## Sprint 2\n":   "1 x, 2 y, 3 c",

		// Scopes, further headings of a sprint, and the progress.
		"## Sprints 1–2: the scope\n## Sprint 1: a\n## Sprint 2: b\n":                                      "1 a, 2 b",
		"## Sprint F1–F2\n## Sprint F1: a\n## Sprint F2: b\n":                                              "1 a, 2 b",
		"## Sprint 1 — Accounts\n\n## Sprint 1 — Retrospective\n\n## Sprint 2 — Orders\n":                  "1 Accounts, 2 Orders",
		"## Sprint 1 Planning\n## Sprint 1: Accounts\n## Sprint 1 Review\n## Sprint 2\n":                   "1 Accounts, 2",
		"## Sprint 1: COMPLETED (2025-05-01)\n## Sprint 2: DONE\n## Sprint 3 ✅\n## Sprint 4 - in progress": "1, 2, 3, 4",
		"## Sprint 1: a — COMPLETED\n## Sprint 2: b (done)\n## Sprint 3: c [x]\n## Sprint 4: d ✅ DONE\n":   "1 a, 2 b, 3 c, 4 d",
		"## Sprint 1 ✅ COMPLETED: a\n## [DONE] Sprint 2: b\n## ✅ DONE — Sprint 3: c\n## 冲刺 4：支付（已完成）\n":    "1 a, 2 b, 3 c, 4 支付",
		"## Sprint 1: Get things done\n## Sprint 2: To do list\n## Sprint 3: Done list\n":                  "1 Get things done, 2 To do list, 3 Done list",
	} {
		if got := listed(document); got != want {
			t.Errorf("%q:\ngot  %q\nwant %q", document, got, want)
		}
	}
}

func TestSprintsEnd(t *testing.T) {
	for document, want := range map[string]string{
		"## Sprint 1\n### S1-1\n## Sprint 2\n### S2-1\n## Risks\n":                  "0-2 2-4",
		"## Plan\n### Sprint 1\na\n# Risks\nb":                                      "1-3",
		"# Plan\n**Sprint 1**\n### S1-1\n**Sprint 2**\n### S2-1\n## Risks\nx":       "1-3 3-5",
		"### Sprints\n**Sprint 1**\n#### S1-1\n### Risks\n":                         "1-3",
		"| Sprint | Story |\n|-|-|\n| 1 | S1-1 |\n| 1 | S1-2 |\n| 2 | S2-1 |\ntext": "2-4 4-5",
	} {
		var got []string
		sprints, _ := markdown.Read(document, nil).Sprints()
		for _, sp := range sprints {
			got = append(got, fmt.Sprintf("%d-%d", sp.Line, sp.End))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %v, want %v", document, got, want)
		}
	}
}

// TestManySprints checks that more sprints than any plan has cost no more than very many.
func TestManySprints(t *testing.T) {
	for _, line := range []string{"## Sprint 7: a\n", "**Sprint 7**\n", "Sprint 7\n---\n\n"} {
		sprints, repeated := markdown.Read(strings.Repeat(line, 20_000), nil).Sprints()
		if len(sprints) != 1 || len(repeated) >= 2000 {
			t.Errorf("%q: %d sprints, %d repeated", line, len(sprints), len(repeated))
		}
	}
}

func FuzzSprints(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/audit/sm/*.md")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("**Sprint 1:** a\n\n| Sprint |\n|-|\n| 1 |\n| 2 |\n\nSprint I\n---\n##冲刺十\n")
	f.Add("- [x] **Sprint F1: a**\n<h2>Sprint B</h2>\n\n| № | Sprint |\n|-|-|\n| 1.5 | II |\n\n## UI-S0: a\n## Phase 2 — DONE (x)\n")
	f.Fuzz(func(t *testing.T, document string) {
		sprints, repeated := markdown.Read(document, nil).Sprints()
		named, _ := markdown.Read(document, []string{"goals", "=risks", "sprint 1", "冲刺"}).Sprints()
		if len(sprints) != len(named) {
			t.Fatalf("%v, but %v with other names of sections", sprints, named)
		}
		n := strings.Count(document, "\n") + 1
		var numbers []int
		var labels []string
		for i, sp := range sprints {
			if sp.Number != named[i].Number || sp.Title != named[i].Title || sp.Line != named[i].Line {
				t.Errorf("%+v, but %+v with other names of sections", sp, named[i])
			}
			if sp.Number < 0 || sp.Line < 0 || sp.End <= sp.Line || sp.End > n || slices.Contains(numbers, sp.Number) {
				t.Errorf("sprint %+v of %d lines after %v", sp, n, numbers)
			}
			if slices.ContainsFunc(sprints[:i], func(other markdown.Sprint) bool { return other.Line == sp.Line }) {
				t.Errorf("sprint %+v where another is in %+v", sp, sprints)
			}
			numbers, labels = append(numbers, sp.Number), append(labels, sp.Name())
		}
		for _, again := range repeated {
			if !slices.Contains(labels, again) {
				t.Errorf("%s is repeated, but not in %v", again, labels)
			}
		}
	})
}
