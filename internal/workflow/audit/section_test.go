package audit

import (
	"strings"
	"testing"
)

// TestSectionsByNameAndContent has documents with what a rule looks for, under whatever name, and without it.
func TestSectionsByNameAndContent(t *testing.T) {
	const items = "- FR-1: one\n"
	for _, tt := range []struct {
		rule     string
		with, no []string
	}{
		{"NO-SUMMARY", []string{
			"## Overview\n\nA shop.\n", "## Purpose\n\nA shop.\n", "## Why\n\nCalls.\n", "## Problem/Context\n\nCalls.\n",
			"A shop where the members of a club order tea by mail.\n\n## Goals\n\nFewer.\n", "**Input**: User description: \"a shop where the members order tea\"\n\n## Stories\n\nx\n",
		}, []string{"## Goals\n\nA shop where the members of a club order tea by mail.\n", "**Author:** Ann\n\n## Goals\n\nFewer.\n", "## Overview\n\nTBD\n"}},
		{"NO-GOALS", []string{
			"## Vision & Goals\n\nFewer calls.\n", "## Goals/Metrics\n\nFewer.\n", "### Goal\n\nFewer.\n", "## Alignment with Product Vision\n\nFewer calls.\n", "## Success Criteria *(mandatory)*\n\nFewer calls.\n",
			"**Expanded Goal:**\n\nFewer calls.\n", "## Purpose\n\nFewer calls.\n", "## 目标与指标\n\n减少来电。\n",
		}, []string{"## Non-Goals\n\nPayment.\n", "## Non–goals\n\nPayment.\n", "## 非目标\n\n支付。\n", "## Goalkeeper\n\nHe stands.\n"}},
		{"NO-METRICS", []string{
			"## Success Criteria\n\nFewer calls.\n", "## Goals\n\n- 30 % fewer calls.\n", "## Business Goals\n\nFrom 11 % to 5 % in May.\n", "## KPIs / Metrics\n\nCalls.\n", "## 目标\n\n减少来电 30 %。\n",
		}, []string{"## Goals\n\n- Fewer calls.\n", "## Data\n\n- 30 % are calls.\n"}},
		{"NO-FUNCTIONAL", []string{
			"## Features\n\nSign in.\n", "## Core Feature Set\n\n" + items, "## MODIFIED Requirements\n\nSign in.\n", "## Requirements\n\nSign in.\n", "## What it must do\n\n- It must sign in.\n- It must order.\n- It shall mail.\n",
			"## Orders\n\n#### Scenario: a\n\n- GIVEN tea\n- WHEN ordered\n- THEN mailed\n", "## Rules\n\n<td>The tea shall be hot.</td>\n<td>It must be green.</td>\n<td>It must not be sweet.</td>\n", "## 规则\n\n- 必须登录。\n- 应当退出。\n- 不得超时。\n",
		}, []string{"## Story\n\nOne must see it. It shall be good. It should work.\n", "## Non-Functional Requirements\n\n200 ms.\n"}},
		{"NO-TECHNICAL", []string{
			"## Non‑Functional Requirements\n\nFast.\n", "## Technical Assumptions\n\nGo.\n", "## Constraints & Assumptions\n\nGo.\n", "## Operating Environment\n\nLinux.\n", "## Tech Stack\n\nGo.\n", "## Quality\n\n- 200 ms\n- 5 MB\n- 99 %\n", "## 技术假设\n\nGo。\n",
		}, []string{"## Story\n\n5 members order 3 teas on 1 May.\n"}},
		{"NO-SCOPE", []string{"## Out-of-Scope\n\nPay.\n", "## Non-Goals\n\nPay.\n", "## Future Enhancements\n\nPay.\n", "## Product Scope\n\nTea.\n", "### Post-MVP\n\nPay.\n"}, []string{"## Story\n\nPay later.\n"}},
		{"NO-RISKS", []string{"## Risks & Mitigations\n\nNone known.\n", "## Assumptions\n\nMail.\n", "### Edge Cases\n\n- no mail\n"}, []string{"## Story\n\nNo risk.\n"}},
		{"TECHNICAL-NO-FIGURES", []string{
			"## Constraints\n\nGo.\n\n## Non-Functional Requirements\n\n### Performance\n\n200 ms.\n", "## Constraints\n\nGo.\n\n## Targets\n\n- 200 ms\n- 5 MB\n- 99 %\n", "## Epic 3: Performance dashboard\n\nA chart.\n",
		}, []string{"## Constraints\n\nGo.\n", "## Non-Functional Requirements\n\nFast.\n"}},
		{"METRICS-NO-FIGURES", []string{"## Epic 3: KPI dashboard\n\nA chart.\n", "## Success Metrics\n\nCalls.\n\n### Targets\n\n30 % fewer.\n", "## Goals\n\n30 % fewer.\n\n## Success Metrics\n\nCalls.\n"},
			[]string{"## Success Metrics\n\nCalls.\n"}},
	} {
		for body, want := range onBoth(tt.with, tt.no) {
			if got := has(auditOf(t, "# The Performance Goals Shop\n\n"+body), tt.rule); got != want {
				t.Errorf("%s of %q: %v", tt.rule, strings.ReplaceAll(body, "\n", "⏎"), got)
			}
		}
	}
}

// onBoth maps the texts without a fault to false and those with one to true.
func onBoth(fine, faulty []string) map[string]bool {
	out := map[string]bool{}
	for _, text := range fine {
		out[text] = false
	}
	for _, text := range faulty {
		out[text] = true
	}
	return out
}
