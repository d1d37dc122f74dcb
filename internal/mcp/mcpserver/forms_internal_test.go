package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// FuzzFormAnswer reads whatever a client sends for a form: only what the form offers, accepted and
// in human time, is taken, and words only if they are asked for.
func FuzzFormAnswer(f *testing.F) {
	f.Add(`{"action":"accept","content":{"decision":"approve"}}`, 2000, false, false)
	f.Add(`{"action":"accept","content":{"decision":"request_changes"}}`, 2000, false, false)
	f.Add(`{"action":"accept","content":{"decision":"request_changes","feedback":"x"}}`, 2000, false, false)
	f.Add(`{"action":"accept","content":{"feedback":"x"}}`, 2000, false, true)
	f.Add(`{"action":"accept","content":{"feedback":"x"}}`, 200, false, true)
	f.Add(`{"action":"accept","content":{"decision":"approve"}}`, 999, false, false)
	f.Add(`{"action":"accept","content":{"decision":["approve"]}}`, 2000, false, false)
	f.Add(`{"action":"decline"}`, 2000, true, false)
	f.Add(`{"action":"accept","content":{"answer_01":"a","answer_02":7}}`, 2000, true, false)
	f.Add(`{"action":"accept","content":{"answer_01":"a","answer_02":"other"}}`, 2000, true, false)
	f.Add(`{"action":"accept","content":"approve"}`, 2000, false, false)
	f.Fuzz(func(t *testing.T, text string, tookMS int, questions, second bool) {
		var answer mcp.ElicitationResult
		if json.Unmarshal([]byte(text), &answer) != nil {
			return
		}
		asked := time.Unix(0, 0)
		c := &formChannel{answer: &answer, forms: newForms(func() time.Time { return asked.Add(time.Duration(tookMS) * time.Millisecond) })}
		c.unset = true
		q := gate.Question{Choices: []gate.Choice{{Decision: workflow.DecisionApprove}, {Decision: workflow.DecisionChanges, Words: "What?"}}}
		if questions {
			q = gate.Question{Questions: []workflow.Question{{ID: "q1"}, {ID: "q2", Options: []string{"one", "two"}}}}
		}
		sent := &form{asked: asked, limit: time.Minute, sheet: c.sheetOf(q)}
		if second && !questions {
			sent.sheet, sent.begun = wordsSheet(q, q.Choices[1]), &gate.Response{Channel: workflow.ChannelElicited, Decision: workflow.DecisionChanges}
		}
		got, err := c.readResponse(sent, q)
		decided := got.Decision != "" || got.Answers != nil
		outcomes := 0
		for _, one := range []bool{decided, !got.Silence.Why.Empty(), err != nil} {
			if one {
				outcomes++
			}
		}
		if outcomes != 1 {
			t.Fatalf("%s: %+v, %v", text, got, err)
		}
		inTime := answer.Action == "accept" && tookMS >= 1000 && tookMS < 60000
		if asks := errors.Is(err, request.ErrAsked); (decided || asks) && !inTime {
			t.Errorf("%s after %d ms decided: %+v", text, tookMS, got)
		}
		if got.Silence.Unasked && second && !questions {
			t.Errorf("%s: another may decide for the person who began: %+v", text, got)
		}
		content, _ := answer.Content.(map[string]any)
		first := !second && !questions
		if first && got.Decision == workflow.DecisionApprove && (content["decision"] != "approve" || got.Feedback != "") {
			t.Errorf("%s: %+v", text, got)
		}
		if got.Decision == workflow.DecisionChanges && (got.Feedback == "" || first && content["decision"] != "request_changes") {
			t.Errorf("%s: %+v", text, got)
		}
	})
}

// TestSheetRefuses checks that an answer that the form does not offer is not taken in part either.
func TestSheetRefuses(t *testing.T) {
	t.Parallel()
	s := sheet{fields: []field{
		{name: "decision", required: true, choices: []choice{{value: "yes", label: "Yes"}, {value: "no", label: "No"}}}, {name: "more"}, {name: "old", former: true},
	}}
	for content, want := range map[string]string{
		`{"decision":"yes"}`:                       "map[decision:yes]",
		`{"decision":"yes","more":" a "}`:          "map[decision:yes more:a]",
		`{"decision":"yes","more":null,"old":"b"}`: "map[decision:yes old:b]",
		`{"decision":" ","more":"a"}`:              `the field "decision" is empty`,
		`{}`:                                       `the field "decision" is empty`,
		`null`:                                     `the field "decision" is empty`,
		`{"decision":"maybe"}`:                     `"maybe" is not a choice of the field "decision"`,
		`{"decision":true}`:                        `the field "decision" is not a text`,
		`{"decision":["yes"]}`:                     `the field "decision" is not a text`,
		`{"decision":"yes","more":7}`:              `the field "more" is not a text`,
		`{"decision":"yes","approved":true}`:       `the form has no field "approved"`,
		`{"decision":"yes","approved":null}`:       `the form has no field "approved"`,
		`{"decision":"yes","answer_01":"x"}`:       `the form has no field "answer_01"`,
		`"yes"`:                                    "it is not an object",
		`["yes"]`:                                  "it is not an object",
	} {
		var value any
		if err := json.Unmarshal([]byte(content), &value); err != nil {
			t.Fatal(err)
		}
		filled, why := s.readAnswer(value)
		got := why.String()
		if why.Empty() {
			got = fmt.Sprint(filled)
		} else if filled != nil {
			t.Errorf("%s: %v is taken", content, filled)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", content, got, want)
		}
	}
}

// TestOrderFollowsTheHost checks that if Enter alone sends the first choice, that one decides
// nothing; no other client counts as one if it does not.
func TestOrderFollowsTheHost(t *testing.T) {
	t.Parallel()
	draft := gate.Question{Draft: "po.md", Choices: []gate.Choice{{Decision: workflow.DecisionApprove}, {Decision: workflow.DecisionChanges}}}
	bare := gate.Question{Choices: []gate.Choice{{Decision: workflow.DecisionCancel}}}
	options := gate.Question{Questions: []workflow.Question{{ID: "a", Options: []string{"x", "y"}}, {ID: "b"}}}
	met := gate.Question{Questions: options.Questions[1:], Choices: draft.Choices[:1]}
	for _, tt := range []struct {
		name  string
		sheet func(formStyle) sheet
		// unset is the order in hosts that choose nothing by themselves.
		unset, others string
	}{
		{"a gate", func(f formStyle) sheet { return f.sheetOf(draft) }, "approve request_changes view not_now", "view approve request_changes not_now"},
		{"nothing to view", func(f formStyle) sheet { return f.sheetOf(bare) }, "cancel not_now", "not_now cancel"},
		{"a folder", func(f formStyle) sheet { return f.folderSheet("", "/p") }, "allow deny not_now", "not_now allow deny"},
		{"questions", func(f formStyle) sheet { return f.sheetOf(options) }, "option_01 option_02 other skip | ", "leave_open option_01 option_02 other skip | "},
		{"questions, at the gate", func(f formStyle) sheet { return f.sheetOf(met) }, " | approve", " | leave_open approve"},
	} {
		for unset, want := range map[bool]string{true: tt.unset, false: tt.others} {
			var fields []string
			for _, f := range tt.sheet(formStyle{unset: unset}).fields {
				var values []string
				for _, c := range f.choices {
					values = append(values, c.value)
				}
				if !f.former {
					fields = append(fields, strings.Join(values, " "))
				}
			}
			if got := strings.Join(fields, " | "); strings.ReplaceAll(got, "  ", " ") != want {
				t.Errorf("%s, %v: got %s, want %s", tt.name, unset, got, want)
			}
		}
	}
}

// TestMessageFits checks that a message has at most so many rows of so many columns, and cuts no
// word.
func TestMessageFits(t *testing.T) {
	t.Parallel()
	english, chinese := strings.Repeat("incomprehensible words ", 60), strings.Repeat("高峰期每天有多少人登录？", 60)
	for _, tt := range []sheet{
		{first: []string{"one", "two", "three"}},
		{first: []string{"one", "two", "three"}, rest: []string{english}},
		{first: []string{"one", "two", "three"}, rest: []string{chinese, english}},
		{first: []string{"one", "two", "three"}, rest: []string{"a\nb\nc\n\nd\ne\nf\ng\nh\ni\nj"}},
	} {
		rows := strings.Split(tt.messageText(), "\n")
		if len(rows) > 11 || strings.Join(rows[:3], " ") != "one two three" {
			t.Errorf("%d rows: %q", len(rows), rows)
		}
		for i, row := range rows {
			if visible.Columns(row) > 73 {
				t.Errorf("%d columns: %q", visible.Columns(row), row)
			}
			for _, word := range strings.Fields(row) {
				if strings.HasPrefix("incomprehensible", word) && word != "incomprehensible" && word != "i" {
					t.Errorf("a word is cut in row %d: %q", i+1, row)
				}
			}
		}
	}
}

// FuzzConfirm reads whatever a model passes to bmad-confirm.
func FuzzConfirm(f *testing.F) {
	f.Add(`{"session_id":"a","stage":"po","decision":"approve","sha256":"b"}`)
	f.Add(`{"decision":null}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		if args, err := decodeConfirm([]byte(text)); err == nil && (args.Text("session_id") == "" || args.Text("sha256") == "" || args.Text("decision") != "approve" && args.Text("decision") != "request_changes") {
			t.Errorf("%s: %+v", text, args)
		}
	})
}
