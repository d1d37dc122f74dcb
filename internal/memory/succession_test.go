package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// newer has notes of one project, a day apart, of which the last that begins with + is the answer to the query. Those that
// begin with - do not hold any more.
var newer = map[string]struct {
	query string
	notes []string
}{
	"moved":                      {"where do sessions live?", []string{"-Sessions live in Redis.", "+We moved the sessions to PostgreSQL; Redis is gone."}},
	"one word is another":        {"which database do we use", []string{"The database is MySQL.", "+The database is PostgreSQL."}},
	"in the shared context":      {"node runtime version", []string{"Node 18 is the runtime.", "+Node 22 is the runtime."}},
	"no longer":                  {"may we deploy on Fridays", []string{"-Deploys on Fridays are forbidden.", "+Deploys on Fridays are no longer forbidden, since the canary."}},
	"raised":                     {"API rate limit", []string{"-The API rate limit is 100 requests a minute for each partner.", "+The API rate limit was raised to 500 requests for each partner."}},
	"twice":                      {"queue technology", []string{"-The queue technology is RabbitMQ.", "-The queue technology changed from RabbitMQ to NATS.", "+The queue technology changed from NATS to Kafka."}},
	"in Chinese":                 {"会话存储在哪里", []string{"-会话存储在内存数据库。", "+会话存储改为关系数据库。"}},
	"in French":                  {"stockage des sessions", []string{"-Le stockage des sessions est Redis.", "+Le stockage des sessions est désormais PostgreSQL."}},
	"marked by a word":           {"cache strategy of the catalogue", []string{"+The catalogue is cached for an hour.", "-Superseded: the cache strategy of the catalogue is write-through."}},
	"marked by a status":         {"cache strategy of the catalogue", []string{"+The catalogue is cached for an hour.", "-ADR 7. Status: superseded. The cache strategy of the catalogue is write-through."}},
	"marked by a tag":            {"cache strategy of the catalogue", []string{"+The catalogue is cached for an hour.", "-The cache strategy of the catalogue is write-through. #superseded"}},
	"by the tag of another note": {"cache strategy of the catalogue", []string{"+The catalogue is cached for an hour.", "-The cache strategy of the catalogue is write-through. #superseded-by:x"}},
	// The later note is about something else.
	"other number":  {"what happened in sprint 4", []string{"+Sprint 4: retrospective of the scanner team.", "Sprint 7: retrospective of the scanner team."}},
	"other story":   {"story 3.1", []string{"+story 3.1 adds the login", "story 3.2 adds the logout"}},
	"other subject": {"login with passkeys", []string{"+The login takes passkeys.", "The newsletter moved to Mailgun."}},
	"one of two":    {"does the portal use React", []string{"+The portal uses React.", "The portal uses TypeScript."}},
}

// TestNewerFactsComeFirst checks that what has been replaced comes behind what replaced it, is marked, and is in no
// briefing, whatever words the query has.
func TestNewerFactsComeFirst(t *testing.T) {
	t.Parallel()
	for name, c := range newer {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		path := t.TempDir()
		m := memory.New(memory.Options{Now: func() time.Time { return now }})
		s := openWith(t, path, m, config.Default())
		kind, want, past := notes.Decisions, "", ""
		if name == "in the shared context" {
			kind = notes.SharedContext
		}
		for _, text := range c.notes {
			text, tag, tagged := strings.Cut(text, " #")
			n := notes.Note{Type: kind, Agent: "architect", Text: strings.TrimLeft(text, "+-")}
			if tagged {
				n.Tags = []string{tag}
			}
			s.remember(t, n, notes.Created)
			switch text[0] {
			case '+':
				want = n.Text
			case '-':
				past += n.Text
			}
			now = now.Add(24 * time.Hour)
		}
		got := s.recall(t, memory.Query{Text: c.query})
		if len(got.Results) == 0 || got.Results[0].Text != want || got.NothingClose || got.Results[0].Weak {
			t.Errorf("%s: got %q, want %q first", name, resultTexts(got), want)
		}
		for _, f := range got.Results {
			if f.Superseded != strings.Contains(past, f.Text) {
				t.Errorf("%s: %q is superseded: %v", name, f.Text, f.Superseded)
			}
		}
		if project, err := s.Context(ctx, "decisions"); err != nil || kind == notes.Decisions && strings.Contains(past, project.Decisions[0].Text) {
			t.Errorf("%s: the project's context begins with %+v, %v", name, project.Decisions, err)
		}
		told, err := m.Relevant(ctx, openProject(t, path), lesson.Question{Text: c.query, Types: lesson.Types()})
		for _, n := range told {
			if strings.Contains(past, strings.Trim(n.Text, "“”")) {
				t.Errorf("%s: a briefing has %q", name, n.Text)
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestLessonsAreNotReplaced checks that a later failure of the same kind hides no earlier one.
func TestLessonsAreNotReplaced(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	path := t.TempDir()
	m := memory.New(memory.Options{Now: func() time.Time { return now }})
	s := openWith(t, path, m, config.Default())
	for _, text := range []string{"The migration removed a column that the worker reads.", "The migration moved a column that the worker reads."} {
		s.remember(t, notes.Note{Text: text, Agent: "dev"}, notes.Created)
		now = now.Add(time.Hour)
	}
	told, err := m.Relevant(ctx, openProject(t, path), lesson.Question{Text: "migration of the column that the worker reads", Types: lesson.Types()})
	if err != nil || len(told) != 2 {
		t.Errorf("got %+v, %v, want both", told, err)
	}
	for _, f := range s.recall(t, memory.Query{Text: "migration column worker"}).Results {
		if f.Superseded {
			t.Errorf("%+v", f)
		}
	}
}
