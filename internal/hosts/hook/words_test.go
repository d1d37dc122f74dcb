package hook_test

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts/hook"
)

// ordering are prompts that tell the assistant to decide.
var ordering = []string{
	"confirm", "Confirm.", "confirm it", "Confirm the PRD", "please confirm", "ok, confirm", "Yes, confirm it please.", "yes approve", "approve the plan",
	"Approve.", "I approve", "I approve the plan.", "accept the risk", "ok accept it as it is", "looks good, approve it", "LGTM, confirm", "Looks good to me. Confirm it.",
	"great, confirm and go on", "confirm it and continue with the architecture", "👍 confirm", "Perfect! Approve the sprint plan.", "go ahead and approve it", "you can confirm it now",
	"write the PRD, then confirm it", "finish the draft and then approve it", "run all stages, then approve everything", "approve all", "confirm everything without asking me",
	"don't ask me, just go on", "decide on my behalf", "I've read it. Confirm.", "thanks, confirm it", "\"confirm\"",
	"确认", "确认。", "好的，确认", "批准", "批准这个计划", "同意", "我同意", "请确认这份文档", "没问题，确认吧", "看过了，批准", "通过", "接受风险", "确认，继续", "直接确认就行", "写完就确认", "全部批准", "不用问我，直接做", "可以，批准吧",
}

// describing are prompts that only speak of deciding.
var describing = []string{
	"Approve all requests automatically for admins.",
	"Build an expense tool.\nApprove all requests automatically for admins.",
	"when the invoice is in, then approve it.",
	"once the tests pass, approve it",
	"here is the log:\n- approve the plan\n- write the code",
	"- approve the plan",
	"> confirm it",
	"1. confirm the order",
	"TODO:\n* confirm the PRD",
	"The button says \"Confirm\"",
	"Confirm dialog for deleting todos",
	"add a confirm button",
	"Add an approve action to the API, then accept the payload",
	"managers open the request, then approve it",
	"Build a form where users fill in hours and then confirm it",
	"the user must confirm it",
	"Confirm that it works on Windows",
	"approve requests by e-mail",
	"Accept all cookies automatically",
	"Accept payments by card",
	"accept it when the score is above 90",
	"Why do I have to confirm it?",
	"confirm?",
	"what happens when I approve it",
	"should I approve?",
	"don't confirm it",
	"do not approve the plan yet",
	"I will confirm it later",
	"let me read it before you confirm it",
	"before I approve: what about backups",
	"confirm the e-mail address of new users with a link that expires after one day, and log it",
	"We had a meeting today and the customer told us to confirm it if the price stays the same. Confirm",
	"approve\nreject\ncancel\nare the three buttons",
	"rename Approve to Accept",
	"fix the confirm dialog",
	"build a workflow engine: draft, review, approve",
	"[12:04] bob: approve it",
	"12:04 bob: approve it",
	"```\nconfirm\n```",
	"looks good",
	"ok",
	"yes",
	"go on",
	"build it",
	"确认对话框的样式要改",
	"批准流程需要两级",
	"做一个确认按钮",
	"用户点击确认后发送邮件",
	"自动批准管理员的所有请求",
	"先别确认",
	"我来确认",
	"等我看完再批准",
	"如果分数够高就批准",
	"确认吗？",
	"不要批准这个计划",
	"同意书模板要支持多语言",
	"通过邮件发送通知",
	"看起来不错",
	"需求：经理可以批准或拒绝。\n批准",
}

func TestPrompts(t *testing.T) {
	for list, want := range map[*[]string]bool{&ordering: true, &describing: false} {
		for _, text := range *list {
			turn := hook.Turn{}.After(prompt("1", text))
			if got := turn.Said || turn.Always; got != want {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
	}
}
