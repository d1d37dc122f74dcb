package criteria

import (
	"strings"
	"testing"
)

// form is a document in the form of a public method, and the ids that it owes.
type form struct{ text, want string }

// forms are documents of this project in the forms of the public methods.
var forms = map[string]form{
	"scenarios without a name": {"```gherkin\nScenario: ?\nGiven a\nScenario: \U0001f389\nGiven b\n```\n", "AC1|AC2"},
	"BMAD v4": {`# Kiln PRD

## Goals and Background Context

### Goals

- Fire pots without a potter at night

## Requirements

### Functional

1. FR1: The kiln keeps a firing curve.
2. FR2: The kiln stops if the lid opens.

### Non Functional

1. NFR1: A curve is read in 50 ms.

## Epic 1: Firing

### Story 1.1: Choose a curve

As a potter,
I want to choose a curve,
so that the glaze comes out right.

#### Acceptance Criteria

1: The list shows every curve.
2: A curve with an unknown unit is refused.

### Story 1.2: Stop

As a potter, I want to stop, so that nothing burns.

**Acceptance Criteria:**

1. The heating is off within a second.
   - also if the network is gone
2. The reason is shown.
`, "FR1|FR2|NFR1|1.1/AC1|1.1/AC2|1.2/AC1|1.2/AC2"},

	"BMAD v6": {`# Kiln - Epic Breakdown

## Requirements Inventory

### Functional Requirements

FR1: The kiln keeps a firing curve.
FR2: The kiln stops if the lid opens.

### FR Coverage Map

FR1: Epic 1 - Firing
FR2: Epic 1 - Firing

## Epic 1: Firing

**FRs covered:** FR1, FR2

### Story 1.1: Choose a curve

As a potter,
I want to choose a curve,
So that the glaze comes out right.

**Acceptance Criteria:**

**Given** three curves
**When** the list opens
**Then** all three are shown
**And** the last one used is first

**Given** a curve with an unknown unit
**When** it is read
**Then** it is refused

**Technical Notes:**

- Curves are files.

### Story 1.2: Stop

**Acceptance Criteria:**

**Given** a firing
**When** the lid opens
**Then** the heating is off within a second
`, "FR1|FR2|1.1/AC1|1.1/AC2|1.2/AC1"},

	"spec-kit": {`# Feature Specification: Kiln

## User Scenarios & Testing

### User Story 1 - Choose a curve (Priority: P1)

A potter chooses a curve.

**Why this priority**: nothing is fired without one.

**Acceptance Scenarios**:

1. **Given** three curves, **When** the list opens, **Then** all three are shown
2. **Given** no curve, **When** the list opens, **Then** it says so

### User Story 2 - Stop (Priority: P2)

**Acceptance Scenarios**:

1. **Given** a firing, **When** the lid opens, **Then** the heating is off

### Edge Cases

- What happens if the power fails?

## Requirements

### Functional Requirements

- **FR-001**: System MUST keep a firing curve
- **FR-002**: System MUST stop if the lid opens

### Key Entities

- **Curve**: temperatures over time

## Success Criteria

### Measurable Outcomes

- **SC-001**: A potter starts a firing in under 30 seconds
`, "US1/AS1|US1/AS2|US2/AS1|FR-001|FR-002|SC-001"},

	"Kiro": {`# Requirements Document

## Introduction

A controller for a kiln.

## Requirements

### Requirement 1: Curves

**User Story:** As a potter, I want to choose a curve, so that the glaze comes out right.

#### Acceptance Criteria

1. WHEN the list opens, THE kiln SHALL show every curve.
2. IF a curve has an unknown unit, THEN THE kiln SHALL refuse it.

### Requirement 2

**User Story:** As a potter, I want to stop, so that nothing burns.

#### Acceptance Criteria

1. WHEN the lid opens THEN the kiln SHALL end the heating within a second
`, "1.1|1.2|2.1"},

	"OpenSpec": {`## ADDED Requirements

### Requirement: Curves
The kiln SHALL keep firing curves.

#### Scenario: All are shown
- **WHEN** the list opens
- **THEN** every curve is shown

#### Scenario: Unknown unit
- **GIVEN** a curve with an unknown unit
- **WHEN** it is read
- **THEN** it is refused

### Requirement: Stop
The kiln SHALL stop if the lid opens.

## REMOVED Requirements

### Requirement: Manual dial
#### Scenario: Turned
- **WHEN** the dial is turned
- **THEN** the heat changes
`, "Curves/All are shown|Curves/Unknown unit|Stop"},

	"Gherkin": {"# Kiln\n\n## Stop\n\n```gherkin\nFeature: Stop\n\n  Background:\n    Given a kiln\n\n  Scenario: The lid opens\n    Given a firing\n    When the lid opens\n    Then the heating is off\n\n  Scenario Outline: Limits\n    When it is <t> degrees\n    Then it is off\n\n    Examples:\n      | t |\n      | 1400 |\n```\n", "Stop/The lid opens|Stop/Limits"},

	"a table": {"# Anforderungen\n\n## Funktionale Anforderungen\n\n| Nr. | Anforderung | Priorität |\n|---|---|---|\n| FA-01 | Der Ofen hält eine Kurve | Muss |\n| FA-02 | Der Ofen stoppt | Muss |\n\n## Risiken\n\n| Nr. | Risiko |\n|---|---|\n| RI-01 | Der Strom fällt aus |\n| RI-02 | Der Deckel klemmt |\n", "FA-01|FA-02"},

	"HTML": {"<h2>Requirements</h2>\n<ul>\n<li><b>REQ-1</b>: the kiln keeps a curve</li>\n<li><b>REQ-2</b>: the kiln stops</li>\n</ul>\n<table>\n<tr><th>Id</th>\n<th>Requirement</th></tr>\n<tr>\n<td>REQ-3</td>\n<td>the kiln cools</td>\n</tr>\n</table>\n", "REQ-1|REQ-2|REQ-3"},

	"HTML on one line": {"## Acceptance Criteria\n\n<table><tr><td>AC-1</td><td>valid</td></tr><tr><td>AC-2</td><td>wrong</td></tr></table>\n", "AC-1|AC-2"},

	"an open table": {"<table>\n<tr><th>ID</th><th>Requirement</th></tr>\n<tr><td>REQ-1</td><td>it sells\n\n## Acceptance criteria\n\n- AC-1: it buys\n", "REQ-1|AC-1"},

	"headings without a space": {"##Acceptance Criteria\n\n###AC-1 Valid\n\nx\n\n###AC-2 Wrong\n\ny\n", "AC-1|AC-2"},

	"Chinese":    {"# 窑炉\n\n## 用户故事\n\n### 故事 1.1：选择曲线\n\n**验收标准**：\n\n1. 列表显示所有曲线。\n2. 单位未知的曲线被拒绝。\n\n### 故事 1.2：停止\n\n验收标准：\n\n- 假如正在烧制，当盖子打开，那么加热停止\n- 假如断网，当盖子打开，那么加热停止\n\n## 不做\n\n- 故事 1.3：手动\n", "1.1/AC1|1.1/AC2|1.2/AC1|1.2/AC2"},
	"French":     {"# Four\n\n### Récit 1 : Choisir\n\n**Critères d'acceptation :**\n- Toutes les courbes sont affichées.\n- Une unité inconnue est refusée.\n\n### Récit 2 : Arrêter\n\n**Critères d'acceptation :**\n- Le chauffage s'arrête.\n", "1/AC1|1/AC2|2/AC1"},
	"Portuguese": {"# Forno\n\n## Requisitos\n\n### RF-01: Curvas\n\n**Critérios de Aceitação:**\n- [ ] Todas as curvas são mostradas\n- [ ] Unidade desconhecida é recusada\n\n### RF-02: Parar\n\nO forno para.\n", "RF-01/AC1|RF-01/AC2|RF-02"},
	"Japanese":   {"# 窯\n\n### 要件 1: 曲線\n\n#### 受け入れ基準\n\n1. 一覧を開いたとき、すべての曲線を表示しなければならない。\n2. 単位が不明な場合は拒否しなければならない。\n", "1.1|1.2"},
	"Korean":     {"# 가마\n\n### 사용자 스토리 1: 곡선\n\n**인수 기준:**\n\n1. 목록에 모든 곡선이 보인다.\n2. 알 수 없는 단위는 거부된다.\n", "1/AC1|1/AC2"},
}

// TestForms: what documents in the forms of the public methods owe.
func TestForms(t *testing.T) {
	t.Parallel()
	for name, tt := range forms {
		var got []string
		for _, n := range Read(tt.text).Owed() {
			got = append(got, n.ID)
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%s: got\n%s, want\n%s", name, s, tt.want)
		}
	}
}

// TestRepeatedIDs: two criteria with one id stay two, and an id that only stands again stays one.
func TestRepeatedIDs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]form{
		"below stories with letters":    {"## Story R.0: in\n\n- AC1: a opens\n- AC2: b\n\n## Story R.1: out\n\n- AC1: c closes\n", "US-R.0/AC1|AC2|US-R.1/AC1"},
		"below sections":                {"# PRD\n\n## Sign in\n\n- AC1: the right one\n\n## Sign out\n\n- AC1: the button\n", "Sign in/AC1|Sign out/AC1"},
		"below epics that begin anew":   {"## Epic 1: A\n\n### Story 1: a\n\n- AC1: one\n\n## Epic 2: B\n\n### Story 1: b\n\n- AC1: two\n", "US-1.1/AC1|US-2.1/AC1"},
		"the same text in two stories":  {"### Story 1.1: a\n\n- AC1: the page is shown\n\n### Story 1.2: b\n\n- AC1: the page is shown\n", "US-1.1/AC1|US-1.2/AC1"},
		"families of sections":          {"## Accounts\n\n- FR-1: members sign in\n\n## Orders\n\n- FR-1: an order has a number\n", "Accounts/FR-1|Orders/FR-1"},
		"twice in one list":             {"## Accounts\n\n- AC1: members sign in\n- AC1: an order has a number\n", "Accounts/AC1|Accounts/AC1 (2)"},
		"a list, and the details":       {"| ID | Story |\n|---|---|\n| US-1 | sign in |\n| US-2 | sign out |\n\n### US-1: a member signs in\n\n- AC1: a session opens\n\n### US-2: a member signs out\n\nText.\n", "US-2|AC1"},
		"texts that differ in a number": {"## Module A\n\n- FR-1: at most 5 attempts are allowed\n\n## Module B\n\n- FR-1: at most 50 attempts are allowed\n", "Module A/FR-1|Module B/FR-1"},
		"several on lines of their own": {"**US-1** as a member I sign in\n\n- Acceptance: a works\n- Acceptance: b works\n", "US-1/AC1|US-1/AC2"},
		"a heading of several sections": {"## Requirements / out of scope\n\n### Requirements\n\n- FR-1: it sells\n\n### Out of scope\n\n- FR-2: it flies\n", "FR-1"},
		"words of markers in a text":    {"- FR-1: Cancelled orders are refunded\n- FR-2: (deferred to v2) it flies\n- FR-3: Removed.\n", "FR-1"},
		"a bare announcement":           {"### Story 1.1: in\n\nAcceptance criteria\n\n- a session opens\n- it ends\n", "1.1/AC1|1.1/AC2"},
		"a template":                    {"```gherkin\nFeature: [Feature name]\n\nScenario: [Scenario name]\nGiven a\n```\n\n- FR-1: it sells\n", "FR-1"},
		"ids in Chinese":                {"## 需求\n\n- 需求-1：用户可以登录\n- 需求-2：用户可以退出\n", "需求-1|需求-2"},
		"a coverage map":                {"- FR-1: members sign in\n- FR-2: members order\n\n## FR Coverage Map\n\n- FR-1: Epic 1, the accounts\n- FR-2: Epic 2, the orders\n", "FR-1|FR-2"},
		"named below a story":           {"- FR-1: members sign in\n- FR-2: members order\n\n### Story 1.1: in\n\n**Acceptance Criteria:**\n\n1. a session opens\n\n**Requirements:**\n\n- FR-1: for the session\n", "FR-1|FR-2|1.1/AC1"},
	} {
		var got []string
		for _, n := range Read(tt.text).Owed() {
			got = append(got, n.ID)
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%s: got %s, want %s", name, s, tt.want)
		}
	}
}

// TestFind: the forms of an id that a report may use.
func TestFind(t *testing.T) {
	t.Parallel()
	d := Read("## Story R.0: in\n\n- AC1: a opens\n- AC2: b\n\n## Story R.1: out\n\n- AC1: c closes\n\n### Requirement: Curves\n\n#### Scenario: All are shown\n\n- WHEN a\n- THEN b\n")
	for id, want := range map[string]string{
		"All are shown": "Curves/All are shown", "Requirement: Curves/Scenario: All are shown": "Curves/All are shown",
		"US-R.0/AC1": "US-R.0/AC1", "R.0/AC1": "US-R.0/AC1", "Story R.0 AC1": "US-R.0/AC1", "r.0/ac-1": "US-R.0/AC1", "AC2": "AC2", "US-R.0/AC2": "AC2",
		"AC1": "", "US-R.2/AC1": "", "curves / all are shown": "Curves/All are shown",
	} {
		got := ""
		if at := d.Find(id); at >= 0 {
			got = d.Nodes[at].ID
		}
		if got != want {
			t.Errorf("%q means %q, want %q", id, got, want)
		}
	}
	kiro, spec := Read(forms["Kiro"].text), Read(forms["spec-kit"].text)
	for id, d := range map[string]*Document{"AC-1.1": kiro, "Requirement 1.1": kiro, "1/AS1": spec, "US1/AC1": spec, "User Story 1/AS1": spec} {
		if d.Find(id) < 0 {
			t.Errorf("%q means nothing", id)
		}
	}
	if d := Read("### Requirement: Größe\n\n#### Scenario: prüfen\n\n- WHEN a\n- THEN b\n"); d.Find("Gro\u0308ße/pru\u0308fen") < 0 {
		t.Error("a decomposed id means nothing")
	}
}
