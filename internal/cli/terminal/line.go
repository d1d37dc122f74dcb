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
	in  *os.File
	out *os.File
}

// newLineEditor returns an editor for a terminal; nil if it has no cursor.
func newLineEditor(in *os.File, out io.Writer) *lineEditor {
	shown, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &lineEditor{in, shown}
}

// ReadLine returns a line, without the end of it, behind a prompt of one line. It drops what was typed
// before the prompt. Ctrl-C ends it with context.Canceled.
func (e *lineEditor) ReadLine(ctx context.Context, prompt string) (string, error) {
	fd := int(e.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	dropTyped(fd)
	keys := &keyReader{Reader: e.in}
	screen := term.NewTerminal(struct { // a new one each time, without the rest of a paste
		io.Reader
		io.Writer
	}{keys, e.out}, prompt)
	if width, height, err := term.GetSize(int(e.out.Fd())); err == nil && width > 0 {
		_ = screen.SetSize(width, height) // else a long line is drawn less well
	}
	screen.SetBracketedPasteMode(true)
	defer func() {
		screen.SetBracketedPasteMode(false)
		_ = term.Restore(fd, before) // the terminal has gone
	}()
	return awaitRead(ctx, func() (string, error) {
		var lines []string
		for {
			line, err := screen.ReadLine()
			lines = append(lines, line)
			if errors.Is(err, term.ErrPasteIndicator) {
				screen.SetPrompt("")
				continue
			}
			if err == io.EOF && keys.interrupted { //nolint:errorlint // the library returns it as it is
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
