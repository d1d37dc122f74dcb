package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTypedAnswers checks the lines that a person types at a terminal: a paste is one answer, keys that move the
// cursor are no letters, and Ctrl-C decides nothing.
func TestTypedAnswers(t *testing.T) {
	t.Parallel()
	const ask = "Your decision [acvn]: "
	for name, tt := range map[string]struct {
		replies []reply
		want    string // words in the log; "" if nothing is decided
	}{
		"a paste":     {[]reply{{ask, "c", 0}, {"What", "\x1b[200~first\na\n\nskip\x1b[201~", 0}}, "first a skip"},
		"corrected":   {[]reply{{ask, "c", 0}, {"What", "gsts\x1b[D\x1b[D\x1b[Duex\x7f\x1b[F 完成了\x7f", 0}}, "guests 完成"},
		"Ctrl-C":      {[]reply{{ask, "\x03", 0}}, ""},
		"an escape":   {[]reply{{ask, "\x1b[A\x1b[Bc", 0}, {"What", "\x15\x17shorter", 0}}, "shorter"},
		"application": {[]reply{{ask, "\x1bOA\x1bOa\x1bOPc", 0}, {"What", "\x1bOPshorter\x1bOD\x1bOF!", 0}}, "shorter!"},
		"lone escape": {[]reply{{ask, "\x1b", 100 * time.Millisecond}, {ask, "n", 0}}, ""},
		"of a paste":  {[]reply{{ask, "\x1b[200~a\na\x1b[201~", 0}, {ask, "n", 0}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			p.types(t, nil, "bmad-mcp", "start", "Build a clock", "--name", "clock")
			if err := os.WriteFile(filepath.Join(p.project, "prd.md"), []byte("# P\n\nQuality Score: 95\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			p.types(t, nil, "bmad-mcp", "task", "submit", "clock", "--stage", "po", "--claude-result-path", "prd.md")
			p.types(t, tt.replies, "sh", "-c", "bmad-mcp decide clock; true") // without a decision, it exits with 6
			log := p.types(t, nil, "bmad-mcp", "log", "clock", "--verbose")
			decided := strings.Contains(log, "changes_requested")
			if decided != (tt.want != "") || !strings.Contains(log, tt.want) || strings.Contains(log, "confirmed") || strings.Contains(log, "[D") {
				t.Errorf("want the words %q:\n%s", tt.want, log)
			}
		})
	}
}

// TestAloneAtATerminal prints the help: no host is there to serve.
func TestAloneAtATerminal(t *testing.T) {
	t.Parallel()
	if shown := newPerson(t).types(t, nil, "bmad-mcp"); !strings.Contains(shown, "bmad-mcp help all") || strings.Contains(shown, "running on stdio") {
		t.Error(shown)
	}
}

// TestDiffRows has the mark of a line on each row of it.
func TestDiffRows(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types(t, nil, "bmad-mcp", "start", "Build a clock", "--name", "clock")
	for _, words := range []string{"hour ", "minute "} {
		if err := os.WriteFile(filepath.Join(p.project, "prd.md"), []byte("# P\n\n"+strings.Repeat(words, 60)+"\n\nQuality Score: 50\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.types(t, nil, "bmad-mcp", "task", "submit", "clock", "--stage", "po", "--claude-result-path", "prd.md")
	}
	marks := map[string]string{"hour hour": "-", "minute minute": "+"}
	for line := range strings.Lines(p.types(t, nil, "bmad-mcp", "diff", "clock", "po", "--color", "never")) {
		for words, mark := range marks {
			if strings.Contains(line, words) && !strings.HasPrefix(line, mark) {
				t.Errorf("%q", line)
			}
		}
	}
}
