package terminal

import "github.com/bmad-mcp/bmad-mcp/internal/base/lang"

// Spoken rewords a sentence about a call of the tool for a person at a terminal, with commands and flags in
// place of the tool's actions and arguments.
func Spoken(text lang.Text) lang.Text { return text.Reworded(spoken, typed) }

// typed maps arguments of the tool to flags.
var typed = map[string]string{
	"claude_result": "--claude-result", "codex_result": "--codex-result",
	"claude_result_path": "--claude-result-path", "codex_result_path": "--codex-result-path",
}

// spoken has the sentences at a terminal, by the formats of the tool's sentences.
var spoken = map[string]lang.Text{
	"pass cwd: the absolute path of the project folder": lang.T("name the project folder with --cwd"),
	"pass cwd, or the session id":                       lang.T("add --cwd FOLDER, or name the run by its id"),
	"status without a run lists those of this project (in a terminal: bmad-mcp status --all); for another project pass its cwd": lang.T(
		"bmad-mcp status --all lists those of this project; for another project add --cwd FOLDER"),
	"status without a run lists them (in a terminal: bmad-mcp status --all)": lang.T("bmad-mcp status --all lists them"),
	"pass session_id; status without view lists the runs":                    lang.T("name one; bmad-mcp status --all lists them"),
	"start one, or pass session_id to reopen a completed one": lang.T(
		"start one with bmad-mcp start, or go back into a completed one with bmad-mcp reopen RUN"),
	"pass session_id; the task names are: %s%s": lang.T("name one of them: %s%s"),
	"cwd %q does not exist":                     lang.T("the folder %q does not exist"),
	"cwd %q is not a folder":                    lang.T("%q is not a folder"),
	"cwd %q cannot be opened: %v":               lang.T("the folder %q cannot be opened: %v"),
	"call status to see where the run is, then repeat the call": lang.T(
		"bmad-mcp status shows where the run is; then repeat the command"),
	"call status to see where the run stands before anything is repeated": lang.T(
		"look with bmad-mcp status where the run stands before you repeat anything"),
	"a power loss could undo it: check the disk, then call status to see where the run stands before anything is repeated": lang.T(
		"a power loss could undo it: check the disk, and look with bmad-mcp status before you repeat anything"),
	"generate the document for stage %s and submit it": lang.T(
		"the assistant works on stage %s; without a host: bmad-mcp run --resume RUN"),
	"call status, show the human what waits now, and let them decide": lang.T("bmad-mcp status shows what waits now"),
	"call status, then decide again":                                  lang.T("look with bmad-mcp status, then decide again"),
	"call status, then decide again; the next step: %s": lang.T(
		"look with bmad-mcp status, then decide again; the next step: %s"),
	"show the open questions to the human and call answer with their words": lang.T(
		"answer the open questions: bmad-mcp decide"),
	"the human decides: call confirm with confirmed true or false once they have said so": lang.T(
		"decide: bmad-mcp decide"),
	"the human decides: call approve with approved true or false once they have said so": lang.T(
		"decide: bmad-mcp decide"),
	"the human decides in a terminal: %s":                    lang.T("in a terminal: %s"),
	"the human decides on the page %s, or in a terminal: %s": lang.T("on the page %s, or in a terminal: %s"),
	"%s; only this own act of theirs takes the text as it is now. Or call %s with false and say what to change": lang.T(
		"%s; only this act of your own takes the text as it is now. Or send it back: bmad-mcp decide --changes"),
	"confirm with feedback needs confirmed: true or false": lang.T(
		"confirm with --feedback needs --confirmed or --confirmed=false"),
	"ask the human, and pass their words as feedback; they are recorded": lang.T(
		"give the reason with --feedback; it is recorded"),
	"send it back (confirm or approve with false) and submit it again": lang.T(
		"send it back with bmad-mcp decide --changes, and hand it in again"),
	"restore the file, or send the document back (confirm or approve with false) and submit it again": lang.T(
		"restore the file, or send the document back with bmad-mcp decide --changes, and hand it in again"),
	"ask for another round (confirm with confirmed false) and submit it again": lang.T(
		"ask for another round with bmad-mcp decide --changes, and hand it in again"),
	"the gate was tightened since: ask for another round (confirm with confirmed false), or change the configuration and reopen the stage": lang.T(
		"the gate was tightened since: ask for another round with bmad-mcp decide --changes, or change the configuration and reopen the stage"),
	"write the document there and submit again, or pass claude_result or codex_result, or the path of a file in the project as claude_result_path or codex_result_path": lang.T(
		"write the document there and submit again, or name a file of the project with --claude-result-path or --codex-result-path"),
	"edit it there and submit again, or pass claude_result or codex_result, or the path of a file in the project as claude_result_path or codex_result_path": lang.T(
		"edit it there and submit again, or name a file of the project with --claude-result-path or --codex-result-path"),
	"%s_result is the form as it was laid out, with nothing filled in": lang.T(
		"the result of %s is the form as it was laid out, with nothing filled in"),
	"the JSON in %s_result %s":    lang.T("the JSON in the result of %s %s"),
	"%s_result holds no document": lang.T("the result of %s holds no document"),
	"%s_result names the file %s and is not the document itself": lang.T(
		"the result of %s names the file %s and is not the document itself"),
	"pass the file as %s_result_path, or submit its text; nothing was changed": lang.T(
		"name the file with --%s-result-path, or hand in its text; nothing was changed"),
	"%s_result and %s_result_path are both given": lang.T("--%s-result and --%s-result-path are both given"),
	"fill in the block of JSON as the role_prompt shows it, and submit again": lang.T(
		"fill in the block of JSON as bmad-mcp task resume shows it, and submit again"),
	"write the document as Markdown into the file that next_call names, end it with one valid ```json block as the role_prompt shows it, and submit again": lang.T(
		"end the document with one valid ```json block as bmad-mcp task resume shows it, and submit again"),
	"submit the document for stage %q in the form its role_prompt gives": lang.T(
		"submit the document for stage %q in the form that bmad-mcp task resume gives"),
}
