//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

// walk takes the server through a run of six stages with questions, a change request and a rework, on
// documents of up to 20 kB: 17 calls. after, if not nil, is called behind each.
func (b *bench) walk(s *server, after func() error) error {
	sample := func(name string) string {
		data, err := os.ReadFile(filepath.Join(b.o.samples, name))
		if err != nil {
			panic(err)
		}
		return strings.TrimSpace(string(data))
	}
	submit := func(stage, name string) map[string]any {
		engine := "claude_result"
		if stage == "dev" || stage == "review" || stage == "qa" {
			engine = "codex_result"
		}
		return map[string]any{"action": "submit", "stage": stage, engine: sample(name)}
	}
	var answers map[string]string
	if err := json.Unmarshal([]byte(sample("02-answers.json")), &answers); err != nil {
		return err
	}
	confirm := map[string]any{"action": "confirm", "confirmed": true}
	approve := map[string]any{"action": "approve", "approved": true}
	for _, arguments := range []map[string]any{
		{"action": "start", "objective": sample("objective.txt")},
		submit("po", "01-po-first.md"),
		{"action": "answer", "answers": answers},
		submit("po", "03-po-second.json"),
		confirm,
		submit("architect", "04-architect-first.md"),
		{"action": "confirm", "confirmed": false, "feedback": "explain how ordering is kept per merchant"},
		submit("architect", "05-architect-second.md"),
		confirm,
		submit("sm", "06-sm-first.json"),
		approve,
		submit("dev", "07-dev-first.md"),
		submit("review", "08-review-first.json"),
		{"action": "approve", "approved": false, "feedback": "mend R1 first"},
		submit("dev", "09-dev-second.md"),
		submit("review", "10-review-second.md"),
		submit("qa", "11-qa.md"),
	} {
		if arguments["stage"] == "dev" { // without files that this run changed, the report would come back, and the pass would wait
			build, _ := workflow.Default().Stage(workflow.Dev)
			report, _ := arguments["codex_result"].(string)
			for _, name := range append(intake.Read(build, report).Files, "built.txt") {
				at := filepath.Join(s.cmd.Dir, filepath.FromSlash(name))
				text := fmt.Sprintf("built at %d\n", time.Now().UnixNano())
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o750), os.WriteFile(at, []byte(text), 0o600)); err != nil {
					return err
				}
			}
		}
		if err := s.task(arguments); err != nil {
			return err
		}
		if after != nil {
			if err := after(); err != nil {
				return err
			}
		}
	}
	return nil
}

// sessions puts n runs into a project, all copies of one that has just begun.
func (b *bench) sessions(program, project string, n int) error {
	s, err := b.start(program, project, nil)
	if err != nil {
		return err
	}
	if err := s.task(map[string]any{"action": "start", "objective": "Build a thing", "task_name": "build-a-thing"}); err != nil {
		return err
	}
	if _, err := s.stop(); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(project, ".bmad-task", "session-*.json"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("sessions: %v, %w", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return err
	}
	id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), "session-"), ".json")
	for i := range n - 1 {
		other := fmt.Sprintf("%08d-1111-4000-8000-000000000000", i)
		text := strings.ReplaceAll(strings.ReplaceAll(string(data), id, other), `"build-a-thing"`, fmt.Sprintf(`"build-a-thing-%d"`, i))
		if err := os.WriteFile(filepath.Join(filepath.Dir(found[0]), "session-"+other+".json"), []byte(text), 0o600); err != nil {
			return err
		}
	}
	// They are made anew from the runs.
	if err := os.RemoveAll(filepath.Join(project, ".bmad-task", "names")); err != nil {
		return err
	}
	return os.Remove(filepath.Join(project, ".bmad-task", "task-mapping.json"))
}

// notes puts n notes into the memory of a project.
func (b *bench) notes(project string, n int) error {
	dir := filepath.Join(project, ".claude", "bmad-memory", "structured")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var lines strings.Builder
	subjects := strings.Fields("queue relay invoice session webhook tenant cache index export login quota report")
	verbs := strings.Fields("retries stores rejects compares encrypts archives throttles validates orders renders")
	for i := range n {
		text := fmt.Sprintf("The %s of region %d %s every %s%d before it answers case %d", subjects[i%len(subjects)], i%97, verbs[i%len(verbs)], subjects[i%7], i%1009, i)
		fmt.Fprintf(&lines, `{"v":1,"id":"%08d-bd84-54d6-ab62-71e150829363","type":"decisions","agent":"shared","text":%q,"tags":[],"project":"p",`+
			`"created_at":"2026-01-02T03:04:05.000Z","updated_at":"2026-01-02T03:04:05.000Z","by":"terminal"}`+"\n", i, text)
	}
	return os.WriteFile(filepath.Join(dir, "decisions.jsonl"), []byte(lines.String()), 0o600)
}
