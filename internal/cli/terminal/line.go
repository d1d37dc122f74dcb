package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// lineEditor reads lines at a terminal. Keys that move the cursor stay out of a line, and a paste of several lines is
// one line: with the terminal's own lines, it would answer the next questions too.
type lineEditor struct {
	screen *term.Terminal
	fd     int
	keys   *keyReader
}

// newLineEditor returns an editor for a terminal; nil if it has no cursor.
func newLineEditor(in *os.File, out io.Writer) *lineEditor {
	shown, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return nil
	}
	keys := &keyReader{Reader: in}
	e := &lineEditor{screen: term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys, shown}, ""), fd: int(in.Fd()), keys: keys}
	if width, height, err := term.GetSize(int(shown.Fd())); err == nil && width > 0 {
		_ = e.screen.SetSize(width, height) // else a long line is drawn less well
	}
	return e
}

// ReadLine returns a line behind a prompt of one line. Ctrl-C ends it with context.Canceled.
func (e *lineEditor) ReadLine(ctx context.Context, prompt string) (string, error) {
	before, err := term.MakeRaw(e.fd)
	if err != nil {
		return "", err
	}
	e.screen.SetBracketedPasteMode(true)
	defer func() {
		e.screen.SetBracketedPasteMode(false)
		_ = term.Restore(e.fd, before) // the terminal has gone
	}()
	return awaitRead(ctx, func() (string, error) {
		var lines []string
		for e.screen.SetPrompt(prompt); ; e.screen.SetPrompt("") {
			line, err := e.screen.ReadLine()
			lines = append(lines, line)
			if errors.Is(err, term.ErrPasteIndicator) {
				continue
			}
			if err == io.EOF && e.keys.interrupted { //nolint:errorlint // the library returns it as it is
				err = context.Canceled
			}
			return strings.Join(lines, "\n"), err
		}
	})
}

// keyReader passes keys on, and notes Ctrl-C, which the library does not tell from the end of the input. It passes on the
// cursor keys of application mode in the form that the library knows, and neither the other keys of that mode nor a
// lone Escape, whose next letter the library would take for a letter of the line.
type keyReader struct {
	io.Reader
	interrupted bool
}

// Read implements io.Reader.
func (r *keyReader) Read(p []byte) (int, error) {
	for {
		n, err := r.Reader.Read(p)
		const ctrlC = 3
		r.interrupted = r.interrupted || bytes.IndexByte(p[:n], ctrlC) >= 0
		keys := translateKeys(p[:n])
		if kept := copy(p, keys); kept > 0 || n == 0 || err != nil {
			return kept, err
		}
	}
}

// translateKeys returns keys as the library knows them.
func translateKeys(keys []byte) (out []byte) {
	const escape = 0x1b
	for i := 0; i < len(keys); i++ {
		rest := keys[i+1:]
		switch {
		case keys[i] != escape, len(rest) > 0 && strings.IndexByte("[bf", rest[0]) >= 0:
			out = append(out, keys[i])
		case len(rest) > 1 && rest[0] == 'O':
			if strings.IndexByte("ABCDFH", rest[1]) >= 0 {
				out = append(out, escape, '[', rest[1])
			}
			i += 2
		}
	}
	return out
}
