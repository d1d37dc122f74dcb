// Package terminal is the program's end of a terminal: the streams, sentences and tables, the person at the
// terminal, and the exit codes. It knows nothing of the engine.
//
// # Invariants
//
//   - No value of a sentence or a table begins a line of output (TestNoValueBeginsALine).
package terminal

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Terminal has the streams and the language of the program.
type Terminal struct {
	In io.Reader
	// Out and Err are filtered: a text of a model or repository must not move the cursor over our output. Raw
	// is unfiltered standard output, for the protocol and for pagers.
	Out, Err, Raw io.Writer
	// Lang is empty until the settings are read; Setting is the language in the settings.
	Lang    lang.Language
	Setting string
	// JSON is the flag --json.
	JSON bool
	// Color is the flag --color.
	Color string
	// screen is the final output behind Out; nil without streams.
	screen *screen
	// columns is the width of the terminal in tests; 0 asks the output.
	columns int
}

// New returns the terminal of some streams.
func New(in io.Reader, out, err io.Writer) *Terminal {
	t := &Terminal{In: in, Raw: out, Color: "auto"}
	t.screen = &screen{t, out, IsTerminal(out)}
	t.Out, t.Err = visible.NewWriter(t.screen), visible.NewWriter(&screen{t, err, IsTerminal(err)})
	return t
}

// Speak chooses the language for the author of a text, for example of the objective of a session; "" for no
// text.
func (t *Terminal) Speak(written string) {
	t.Lang = lang.Choose(t.Setting, written, lang.Locale(os.Getenv))
}

// SpeakOf chooses the language of a session.
func (t *Terminal) SpeakOf(s *workflow.Session) {
	if s != nil {
		t.Speak(s.Objective)
	}
}

// Say prints a sentence as a line. The values, which can come from a file, cannot begin another line.
func (t *Terminal) Say(format string, args ...any) {
	fmt.Fprintln(t.Out, t.Lang.Say(format, t.inLine(args)...))
}

// Warnf is Say on standard error.
func (t *Terminal) Warnf(format string, args ...any) {
	fmt.Fprintln(t.Err, "bmad-mcp: "+t.Lang.Say(format, t.inLine(args)...))
}

// Printf prints words that need no translation. The values cannot begin a line.
func (t *Terminal) Printf(format string, args ...any) { fmt.Fprintf(t.Out, format, t.inLine(args)...) }

// inLine returns values with spaces in place of line ends.
func (t *Terminal) inLine(args []any) []any {
	out := slices.Clone(args)
	for i, arg := range out {
		text := fmt.Sprint(arg)
		if !strings.ContainsAny(text, lineEnds) {
			continue
		}
		if said, ok := arg.(interface{ In(l lang.Language) string }); ok {
			text = said.In(t.Lang)
		}
		out[i] = joinLines(text)
	}
	return out
}

// lineEnds are the characters that begin a line, on a terminal or for a reading program.
const lineEnds = "\n\v\f\r\u0085\u2028\u2029"

func joinLines(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(lineEnds, r) }), " ")
}

// Header returns the headings of a table, from a text with tabs between them.
func (t *Terminal) Header(format string) []string { return strings.Split(t.Lang.Word(format), "\t") }

// Prompts returns the output for questions to a person, apart from JSON for a program.
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

// ForPeople reports whether a list is shown to a person: a terminal gets a table, everything else JSON.
func (t *Terminal) ForPeople() bool {
	return !t.JSON && IsTerminal(t.Raw)
}

// IsTerminal reports whether an output, or an input, is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
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
	if w, _ := t.Size(); w > 0 {
		return w
	}
	return cmp.Or(t.columns, other)
}

// SayUnreadable names the session files that cannot be read.
func (t *Terminal) SayUnreadable(files []string) {
	for _, u := range files {
		t.Say("problem: %s", u)
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
	return t.When(at, "2006-01-02 15:04")
}

// When formats a time of the last days as an age for a person, and by the layout otherwise.
func (t *Terminal) When(at time.Time, layout string) string {
	past := t.Now().Sub(at)
	switch {
	case !t.Pretty(), past < -time.Minute, past > 30*24*time.Hour:
		return at.Local().Format(layout)
	case past < time.Minute:
		return t.Lang.Say("just now")
	case past < time.Hour:
		return t.Lang.Say("%d min ago", int(past.Minutes()))
	case past < 24*time.Hour:
		return t.Lang.Say("%d h ago", int(past.Hours()))
	}
	return t.Lang.Say("%d d ago", int(past.Hours()/24))
}
