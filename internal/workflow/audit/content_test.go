package audit

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// findings returns the ids of the content checks that a document is charged by.
func contentFindings(t *testing.T, document, objective string, answers ...string) []string {
	t.Helper()
	r, err := Load(nil, workflow.Default(), workflow.Default().First())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range r.Audit(document, Background{Objective: objective, Answers: answers}).Findings {
		if slices.Contains([]string{"FILLER", "JARGON", "ANNOUNCED", "OFF-OBJECTIVE"}, f.ID) {
			out = append(out, f.ID)
		}
	}
	return out
}

// TestObjectiveAndLanguage holds documents against objectives of the same and of other
// languages: only words that could be shared count.
func TestObjectiveAndLanguage(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile("../../../testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	clinic, billing, german := read("audit/po/clinic-booking.md"), read("audit/po/zh-subscription-billing.md"), read("filler/honest/de-po-german.md")
	for _, tt := range []struct {
		name, document, objective string
		answers                   []string
		off                       bool
	}{
		{"its own", clinic, "Patients of a clinic book appointments online", nil, false},
		{"another", clinic, "Steer the irrigation of vineyards by soil moisture sensors", nil, true},
		{"a Chinese one for an English document", clinic, "为葡萄园开发灌溉控制", nil, false},
		{"an English one for a Chinese document", billing, "Steer the irrigation of vineyards by soil moisture sensors", nil, false},
		{"its own in Chinese", billing, "开发订阅计费系统", nil, false},
		{"another in Chinese", billing, "为葡萄园安装滴灌阀门和湿度传感器", nil, true},
		{"a German one for an English document", clinic, "Die Bewässerung der Weinberge soll nach der Feuchte des Bodens gesteuert werden", nil, false},
		{"an English one for a German document", german, "Steer the irrigation of the vineyards by soil moisture sensors", nil, false},
		{"too short to say anything", clinic, "Build it", nil, false},
		{"none", clinic, "", nil, false},
		{"only general words", clinic, "Please develop a simple application for our users", nil, false},
		{"both languages", billing, "subscription billing 订阅计费", nil, false},
		{"only names are shared", strings.ReplaceAll(clinic, "clinic", "Vinalto"), "Vinalto: irrigation by sensors", []string{"Therapists and patients, appointments of 20 minutes"}, false},
	} {
		if got := slices.Contains(contentFindings(t, tt.document, tt.objective, tt.answers...), "OFF-OBJECTIVE"); got != tt.off {
			t.Errorf("%s: off the objective: %v, want %v", tt.name, got, tt.off)
		}
	}
}

// TestOneMentionIsNoFiller: shares count, not words.
func TestOneMentionIsNoFiller(t *testing.T) {
	honest := "The relay stores each webhook before it answers. Services that are down get their events later, in the order of the merchant. An operator sees which merchant waits and for how long. " +
		"Wrong signatures are answered with 401 and counted by source. Bodies are kept for 90 days and then erased; what remains is the time and the size. "
	for _, mention := range []string{
		"The empty page shows lorem ipsum until the first webhook is there.", "A test posts \"foo\" and \"bar\" as bodies.", "Keys such as asdf are refused as too short.",
		"The sample sentence is \"The quick brown fox jumps over the lazy dog\".", "空状态显示示例文本。", "This section describes what an operator does.",
	} {
		if got := contentFindings(t, "# Relay\n\n"+honest+mention+"\n", ""); len(got) > 0 {
			t.Errorf("%q: %v", mention, got)
		}
	}
}

// TestShares reads at which share a check begins to cost, and at which it costs all.
func TestShares(t *testing.T) {
	c := check{At: 20, Full: 40, Points: 60}
	for percent, want := range map[int]float64{19: 0, 20: 20, 30: 40, 40: 60, 100: 60} {
		got := 0.0
		if l := shareMiss(c, float64(percent)/100, 0, "x"); l != nil {
			got = c.describeMiss(*l, lang.English).Points
		}
		if got != want {
			t.Errorf("%d %%: %g points, want %g", percent, got, want)
		}
	}
}
