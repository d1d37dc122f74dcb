package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// roles are the words by which the prompt of a stage shows whose it is.
var roles = map[string]string{
	"po": "the Product Owner", "architect": "the System Architect", "sm": "the Scrum Master",
	"dev": "the Developer", "review": "the Reviewer", "qa": "the QA Engineer",
}

// standIn is a program that stands in for Claude Code: it answers the n-th prompt of a stage with the
// file STAGE-n.md of the folder STANDIN, and with the last one from then on, and prints it as Claude
// Code does. Work of dev is a change of todo.txt. A file STAGE-n.fail makes it fail with its text, as
// Claude Code does if its server cannot be reached; STAGE-n.kill has it kill the run in the middle of
// its work, and STAGE-n.interrupt interrupt it.
func standIn() {
	prompt, err := io.ReadAll(os.Stdin)
	check(err)
	folder, stage := os.Getenv("STANDIN"), ""
	head, _, _ := strings.Cut(string(prompt), "\n## ")
	for id, role := range roles {
		if strings.Contains(head, "You are "+role) || strings.Contains(head, "You are still "+role) {
			stage = id
		}
	}
	calls, err := os.OpenFile(filepath.Join(folder, "calls"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	check(err)
	before, err := io.ReadAll(calls)
	check(err)
	n := strings.Count(string(before), stage+" ") + 1
	args := strings.Join(os.Args[1:], " ")
	_, err = fmt.Fprintf(calls, "%s %d %v %s\n", stage, n, strings.Contains(args, "--resume"), strings.Join(strings.Fields(args)[:2], " "))
	check(err)
	check(calls.Close())
	if stage == "dev" {
		check(os.WriteFile("todo.txt", []byte(fmt.Sprintf("work %d\n", n)), 0o600))
	}
	if _, err := os.Stat(filepath.Join(folder, fmt.Sprintf("%s-%d.kill", stage, n))); err == nil {
		parent, err := os.FindProcess(os.Getppid())
		check(err)
		check(parent.Kill())
		return
	}
	if _, err := os.Stat(filepath.Join(folder, fmt.Sprintf("%s-%d.interrupt", stage, n))); err == nil {
		parent, err := os.FindProcess(os.Getppid())
		check(err)
		check(parent.Signal(os.Interrupt))
		time.Sleep(time.Minute) // until the run ends it
		return
	}
	print := func(line map[string]any) {
		data, err := json.Marshal(line)
		check(err)
		fmt.Println(string(data))
	}
	const session = "68e9c203-c4b8-4ca7-a938-075b545d84ec"
	print(map[string]any{"type": "system", "subtype": "init", "session_id": session, "model": "claude-sonnet-5-5"})
	result := map[string]any{
		"type": "result", "subtype": "success", "is_error": false, "session_id": session, "terminal_reason": "completed", "total_cost_usd": 0.01,
		"modelUsage": map[string]any{"claude-sonnet-5-5": map[string]any{"inputTokens": 1000, "outputTokens": 100}},
	}
	if text, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%s-%d.fail", stage, n))); err == nil {
		result["result"], result["is_error"] = string(text), true
		print(result)
		os.Exit(1)
	}
	text := []byte(nil)
	for ; n > 0 && text == nil; n-- {
		text, _ = os.ReadFile(filepath.Join(folder, fmt.Sprintf("%s-%d.md", stage, n)))
	}
	result["result"] = string(text)
	print(result)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
