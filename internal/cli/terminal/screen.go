package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// screen is an output for filtered text. On a person's terminal it breaks lines between words.
type screen struct {
	t      *Terminal
	out    io.Writer
	person bool
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	text := string(p)
	if s.isPretty() {
		var lines []string
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, foldLine(line, s.t.Width(narrow))...)
		}
		text = strings.Join(lines, "\n")
	}
	_, err := io.WriteString(s.out, text)
	return len(p), err
}

func (s *screen) isPretty() bool {
	return s != nil && s.person && !s.t.JSON && os.Getenv("TERM") != "dumb"
}

// foldLine breaks a line between words, and indents the further rows like the text. A command stays in one
// row, to be copied.
func foldLine(line string, width int) []string {
	text := strings.TrimLeft(line, " ")
	if visible.Columns(line) <= width {
		return []string{line}
	}
	indent := line[:min(len(line)-len(text), width/2)]
	hanging := indent
	if _, _, item := markdown.Item(line); item || strings.HasPrefix(text, "• ") {
		hanging += "  "
	}
	rows := visible.Fold(command.ReplaceAllStringFunc(text, joinWords), max(width-len(hanging), 1))
	if strings.HasSuffix(line, " ") { // a prompt
		rows[len(rows)-1] += " "
	}
	return strings.Split(indent+strings.ReplaceAll(strings.Join(rows, "\n"+hanging), noBreak, " "), "\n")
}

// command matches a command of this program in a sentence, up to a punctuation mark.
var command = pattern.New(`bmad-mcp [a-z-](?:[^,;.:()。；：，、（）]|[.:]\S)*`)

// noBreak is a space at which lines are not broken.
const noBreak = "\u00a0"

func joinWords(command string) string {
	words := strings.TrimRight(command, " ")
	return strings.ReplaceAll(words, " ", noBreak) + command[len(words):]
}

// Pretty reports whether a person reads the output on a terminal with styles. Only then lines are fitted to
// the width, times are relative, documents are rendered, and long outputs go through a pager.
func (t *Terminal) Pretty() bool { return t.screen.isPretty() }

// Styles are codes of the terminal.
const (
	Bold   = "1"
	Dim    = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
)

// Colored reports whether the output has colours: by the flag, else by the variables, else on a terminal.
func (t *Terminal) Colored() bool {
	force := os.Getenv("CLICOLOR_FORCE")
	switch {
	case t.JSON || t.screen == nil || t.Color == "never":
		return false
	case t.Color == "always":
		return true
	case os.Getenv("NO_COLOR") != "":
		return false
	}
	isForced := force != "" && force != "0"
	return isForced || t.Pretty()
}

// Styled prints lines in a style; "" means plain.
func (t *Terminal) Styled(style, text string) {
	if !t.Colored() {
		fmt.Fprintln(t.Out, text)
		return
	}
	for line := range strings.SplitSeq(visible.Text(text), "\n") {
		t.printSpans([]span{{line, style}})
	}
}

// Page shows a long output in the person's pager, like git: BMAD_PAGER, PAGER or less, which ends by itself
// if one screen is enough. An assistant gets no pager, because it could not leave the pager.
func (t *Terminal) Page(ctx context.Context, show func() error) error {
	name, named := os.LookupEnv("BMAD_PAGER")
	if !named {
		name = cmp.Or(os.Getenv("PAGER"), "less")
	}
	words := strings.Fields(name)
	if !t.Pretty() || len(words) == 0 || words[0] == "cat" || AssistantHere() != "" {
		return show()
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), words[0], words[1:]...) //nolint:gosec // the person's own pager, ended by the person
	if cmd.Env = os.Environ(); os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	cmd.Stdout, cmd.Stderr = t.Raw, t.Err
	pipe, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return show()
	}
	before := t.screen.out
	t.screen.out = pipe
	err = show()
	t.screen.out = before
	_ = pipe.Close() // the pager may have ended first
	if failed := cmd.Wait(); err == nil && failed != nil {
		t.Warnf("%s could not show it: %v", name, failed)
	}
	if errors.Is(err, syscall.EPIPE) { // the person has seen enough
		return nil
	}
	return err
}
