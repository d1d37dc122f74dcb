// Package terminal is the program's end of a terminal: its streams, its sentences and tables, the
// person who is asked there, and the codes with which it ends. It knows nothing of the engine.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Terminal has the streams of the program and the language that it speaks.
type Terminal struct {
	In io.Reader
	// Out and err are filtered: a text of a model or repository must not move the cursor over our
	// output. raw is standard output as it is, for the protocol and for pagers.
	Out, Err, Raw io.Writer
	// Lang is empty until the settings are read.
	Lang lang.Language
	// JSON is the flag --json.
	JSON bool
}

// New returns the terminal of some streams.
func New(in io.Reader, out, err io.Writer) *Terminal {
	return &Terminal{In: in, Out: visible.NewWriter(out), Err: visible.NewWriter(err), Raw: out}
}

// Say prints a sentence as a line.
func (t *Terminal) Say(format string, args ...any) { fmt.Fprintln(t.Out, t.Lang.Say(format, args...)) }

// Warnf prints a sentence as a line of standard error.
func (t *Terminal) Warnf(format string, args ...any) {
	fmt.Fprintln(t.Err, "bmad-mcp: "+t.Lang.Say(format, args...))
}

// Header returns the headings of a table, whose format has a tab between each two.
func (t *Terminal) Header(format string) []string { return strings.Split(t.Lang.Word(format), "\t") }

// Prompts returns the output for questions to a person, apart from the JSON that a program reads.
func (t *Terminal) Prompts() io.Writer {
	if t.JSON {
		return t.Err
	}
	return t.Out
}

// PrintJSON prints a value as a line of JSON.
func (t *Terminal) PrintJSON(v any) error {
	data, err := workflow.Marshal(v)
	if err == nil {
		_, err = t.Out.Write(append(data, '\n'))
	}
	return err
}

// Conclude prints the result of a command: the value for a program, the sentence for a person.
func (t *Terminal) Conclude(v any, format string, args ...any) error {
	if t.JSON {
		return t.PrintJSON(v)
	}
	t.Say(format, args...)
	return nil
}

// ForPeople reports whether a list is shown to a person: a terminal gets a table, everything
// else JSON.
func (t *Terminal) ForPeople() bool {
	return !t.JSON && IsTerminal(t.Raw)
}

// IsTerminal reports whether an output is a terminal.
func IsTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Size returns the columns and rows of the terminal, 0 if the output is none.
func (t *Terminal) Size() (width, height int) {
	if f, ok := t.Raw.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil {
			return w, h
		}
	}
	return 0, 0
}

// Width returns the columns of the terminal, and other if the output is none.
func (t *Terminal) Width(other int) int {
	if w, _ := t.Size(); w > 40 {
		return w
	}
	return other
}

// SayUnreadable names the session files that cannot be read.
func (t *Terminal) SayUnreadable(files []string) {
	for _, u := range files {
		t.Say("unreadable: %s", u)
	}
	if len(files) > 0 {
		t.Say("  what to do: bmad-mcp doctor names the remedy")
	}
}

// Now returns the time of the records of this machine, which have milliseconds.
func (t *Terminal) Now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Since formats a time for people.
func (t *Terminal) Since(at time.Time) string {
	if at.IsZero() {
		return t.Lang.Say("never")
	}
	return at.Local().Format("2006-01-02 15:04")
}
