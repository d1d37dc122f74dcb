//go:build linux

package fleettest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The variables of the stand-in: the file of the bill, the time of a call, the name of the worker, and whether it ignores
// a polite end.
const (
	billVariable   = "FLEET_BILL"
	takesVariable  = "FLEET_TAKES"
	workerVariable = "FLEET_WORKER"
	deafVariable   = "FLEET_DEAF"
)

// conversation is the name of every conversation of the stand-in.
const conversation = "68e9c203-c4b8-4ca7-a938-075b545d84ec"

// roles are the words by which the prompt of a stage shows whose it is.
var roles = map[string]string{
	"po": "the Product Owner", "architect": "the System Architect", "sm": "the Scrum Master",
	"dev": "the Developer", "review": "the Reviewer", "qa": "the QA Engineer",
}

// taskName matches the name of a run of these tests, which its objective has too.
var taskName = regexp.MustCompile(`\bpart-\d{3}\b`)

// answers are documents that open the gates of their stages.
var answers = map[string]string{
	"po":        document("Requirements", `{"quality_score": 95, "gaps": [], "questions": []}`),
	"architect": document("Architecture", `{"quality_score": 94, "gaps": [], "questions": []}`),
	"sm":        document("Sprint plan", "") + "\n## Sprint 1: the part\n\nOne story of a day, with its tests.\n",
	"dev":       document("Implementation report", `{"sprints": [1], "files": ["part.txt"], "resolved": []}`),
	"review":    document("Review", `{"checks": [{"id": "C1", "command": "go test ./...", "exit": 0}], "findings": []}`),
	"qa": document("QA report", `{"checks": [{"id": "C1", "command": "go test ./...", "exit": 0}],
		"criteria": [{"id": "AC-1.1", "result": "pass", "check": "C1", "evidence": "go test ./... ok"}], "findings": []}`),
}

// document returns a text with a block of JSON at its end, if there is one.
func document(title, block string) string {
	text := "# " + title + "\n\n## Summary\n\n" + strings.Repeat("It says what is built, for whom and why, in whole sentences. ", 5) + "\n"
	if block != "" {
		text += "\n```json\n" + block + "\n```\n"
	}
	return text
}

// entry is a line of the bill: the begin or the end of a call.
type entry struct {
	At      time.Time `json:"at"`
	What    string    `json:"what"`
	Task    string    `json:"task"`
	Stage   string    `json:"stage"`
	Worker  string    `json:"worker"`
	PID     int       `json:"pid"`
	Resumed bool      `json:"resumed"`
	Folder  string    `json:"folder"`
}

// write appends the entry to the bill, which is on the disk at its return.
func (e entry) write() {
	e.At = time.Now()
	line, err := json.Marshal(e)
	check(err)
	f, err := os.OpenFile(os.Getenv(billVariable), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(err)
	_, err = f.Write(append(line, '\n'))
	check(err)
	check(f.Sync())
	check(f.Close())
}

// standIn stands in for Claude Code: it answers the prompt of a stage with a document that opens the gate, and writes a
// file of the project as the Developer.
func standIn() {
	if os.Getenv(deafVariable) != "" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	prompt, err := io.ReadAll(os.Stdin)
	check(err)
	folder, err := os.Getwd()
	check(err)
	e := entry{What: "begin", Task: taskName.FindString(filepath.Base(folder)), Worker: os.Getenv(workerVariable), PID: os.Getpid(), Folder: folder}
	if e.Task == "" {
		e.Task = taskName.FindString(string(prompt))
	}
	head, _, _ := strings.Cut(string(prompt), "\n## ")
	for id, role := range roles {
		if strings.Contains(head, "You are "+role) || strings.Contains(head, "You are still "+role) {
			e.Stage = id
		}
	}
	e.Resumed = slices.Contains(os.Args, "--resume")
	e.write()
	tell(map[string]any{"type": "system", "subtype": "init", "session_id": conversation, "model": "claude-sonnet-5-5"})
	takes, _ := time.ParseDuration(os.Getenv(takesVariable))
	time.Sleep(takes)
	if e.Stage == "dev" {
		check(os.WriteFile(e.Task+".txt", fmt.Appendf(nil, "%s by %d\n", e.Task, e.PID), 0o600))
	}
	e.What = "end"
	e.write()
	tell(map[string]any{
		"type": "result", "subtype": "success", "is_error": false, "session_id": conversation, "terminal_reason": "completed", "total_cost_usd": 0.01,
		"modelUsage": map[string]any{"claude-sonnet-5-5": map[string]any{"inputTokens": 1000, "outputTokens": 100}}, "result": answers[e.Stage],
	})
}

// tell prints a line as Claude Code does.
func tell(line map[string]any) {
	data, err := json.Marshal(line)
	check(err)
	_, err = fmt.Println(string(data))
	check(err)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
