package story_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// TestSentence tells entries to ana: what she did is told as hers, if more than the file says that she did.
func TestSentence(t *testing.T) {
	ana, ben := workflow.Person{Subject: "ana", Name: "Ana <ana@example.org>"}, workflow.Person{Subject: "ben"}
	yes := func(p workflow.Person, d workflow.Decision) *workflow.Grant {
		return &workflow.Grant{Channel: workflow.ChannelElicited, Decision: d, Person: p, TookMS: new(int64(8100))}
	}
	for _, c := range []struct {
		e           workflow.Transition
		unconfirmed bool
		want, zh    string
	}{
		{workflow.Transition{Event: workflow.EventStarted, To: "po/generating", Person: ana}, false, "You started the run", "你开始了这次运行"},
		{workflow.Transition{Event: workflow.EventStarted, To: "po/generating"}, false, "Somebody started the run", "有人开始了这次运行"},
		{workflow.Transition{Event: workflow.EventScoredReady, From: "po/generating", Person: ana}, false,
			"The assistant handed in the product requirements", "助手提交了产品需求"},
		{workflow.Transition{Event: workflow.EventConfirmed, From: "po/awaiting_confirmation", Person: ana, Grant: yes(ben, workflow.DecisionApprove)}, false,
			"ben approved the product requirements", "ben批准了产品需求"},
		{workflow.Transition{Event: workflow.EventConfirmed, From: "po/awaiting_confirmation", Grant: yes(ana, workflow.DecisionApprove)}, true,
			"Ana (ana) approved the product requirements", "Ana (ana)批准了产品需求"},
		{workflow.Transition{Event: workflow.EventApproved, From: "review/awaiting_approval", Grant: yes(ana, workflow.DecisionOverride)}, false,
			"You accepted the risk of the report of the Reviewer", "你接受了评审者的报告的风险"},
		{workflow.Transition{Event: workflow.EventReopened, From: "dev/generating", To: "architect/refining", Person: ana}, false,
			"You reopened the system architecture", "你重新打开了系统架构"},
		{workflow.Transition{Event: "teleported", From: "po/generating"}, false, "teleported", "teleported"},
	} {
		for l, want := range map[lang.Language]string{lang.English: c.want, "zh": c.zh} {
			teller := story.Teller{Language: l, Definition: workflow.Default(), Reader: "ana"}
			if got := teller.Sentence(&c.e, c.unconfirmed); got != want {
				t.Errorf("%s: got %q, want %q", c.e.Event, got, want)
			}
		}
	}
	if got := story.Means(lang.English, yes(ana, workflow.DecisionApprove), false); got != "form, 8s" {
		t.Errorf("got %q, want form, 8s", got)
	}
	if got := story.Means(lang.English, yes(ana, workflow.DecisionApprove), true); got != "unconfirmed, the file says: form" {
		t.Errorf("unconfirmed: got %q", got)
	}
}

// TestEveryEvent: each event of a session file has a sentence.
func TestEveryEvent(t *testing.T) {
	source, err := os.ReadFile("../state.go")
	if err != nil {
		t.Fatal(err)
	}
	events := regexp.MustCompile(`Event\w+ +(?:Event )?= "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(events) < 20 {
		t.Fatalf("got %d events", len(events))
	}
	teller := story.Teller{Language: lang.English, Definition: workflow.Default()}
	for _, m := range events {
		e := workflow.Transition{Event: workflow.Event(m[1]), From: "po/generating", To: "po/refining"}
		if got := teller.Sentence(&e, false); got == m[1] {
			t.Errorf("%s has no sentence", m[1])
		}
	}
}
