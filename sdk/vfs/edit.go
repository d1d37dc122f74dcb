package vfs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

func (b *Toolbox) read(_ context.Context, in arguments) (string, error) {
	name, data, err := b.loadFile(in)
	if err != nil {
		return "", err
	}
	text := string(data)
	if checkText(text) != nil {
		return "", fmt.Errorf("%s is not a text file (%d bytes)", name, len(data))
	}
	return excerptLines(text, in.Offset, in.Limit), nil
}

// loadFile returns the file named in a tool's arguments.
func (b *Toolbox) loadFile(in arguments) (name string, data []byte, err error) {
	if name, err = Clean(*in.filePath()); err == nil {
		data, err = b.files.Read(name)
	}
	return name, data, err
}

// storeFile writes a file for a tool.
func (b *Toolbox) storeFile(name, text string) error {
	err := b.files.Write(name, []byte(text))
	if err == nil && b.o.Wrote != nil {
		b.o.Wrote(name)
	}
	return err
}

// excerptLines returns lines of a text, as many as a result can hold.
func excerptLines(text string, offset, limit int) string {
	whole := offset <= 1 && limit <= 0 && len(text) <= MaxResult
	if whole {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	from := min(max(offset, 1)-1, len(lines))
	to := len(lines)
	if limit > 0 && limit < to-from {
		to = from + limit
	}
	var out strings.Builder
	for n := from; n < to; n++ {
		if out.Len()+len(lines[n]) > MaxResult-200 {
			if n == from { // one line longer than a result
				out.WriteString(visible.Head(lines[n], MaxResult-200) + "… [the rest of this line is left out]\n")
				n++
			}
			to = n
			break
		}
		out.WriteString(lines[n])
	}
	switch {
	case from == len(lines):
		return fmt.Sprintf("[the file has %d lines]", len(lines))
	case to < len(lines):
		return strings.TrimSuffix(out.String(), "\n") + fmt.Sprintf("\n[lines %d to %d of %d; go on with offset %d]", from+1, to, len(lines), to+1)
	}
	return out.String()
}

func (b *Toolbox) writeFile(_ context.Context, in arguments) (string, error) {
	name, err := Clean(*in.filePath())
	if err == nil {
		err = checkText(*in.Content)
	}
	if err == nil {
		err = b.storeFile(name, *in.Content)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("File written: %s (%d bytes)", name, len(*in.Content)), nil
}

// checkText refuses binary data.
func checkText(text string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New("the content is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		return errors.New("the content contains a NUL byte")
	}
	return nil
}

func (b *Toolbox) edit(_ context.Context, in arguments) (string, error) {
	name, data, err := b.loadFile(in)
	if err != nil {
		return "", err
	}
	before, after := matchEnds(string(data), *in.OldString, *in.NewString)
	changed, n, err := replaceText(string(data), before, after, in.ReplaceAll)
	if err == nil {
		err = b.storeFile(name, changed)
	}
	if err != nil {
		return "", err
	}
	if n > 1 {
		return fmt.Sprintf("File edited: %s (%d places)", name, n), nil
	}
	return "File edited: " + name, nil
}

// matchEnds gives the texts of an edit the line ends of the file: models write LF, whatever the file has. A
// text with a CR is meant as it is.
func matchEnds(text, before, after string) (string, string) {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	whole := strings.Contains(text, "\r\n") && strings.Count(text, "\n") == strings.Count(text, "\r\n")
	literal := strings.Contains(before+after, "\r") || !whole && strings.Contains(text, before)
	if literal || !strings.Contains(text, crlf(before)) {
		return before, after
	}
	return crlf(before), crlf(after)
}

// replaceText replaces a text, and returns the number of replacements.
func replaceText(text, before, after string, all bool) (string, int, error) {
	if err := checkText(after); err != nil {
		return "", 0, err
	}
	switch n := strings.Count(text, before); {
	case before == "":
		return "", 0, errors.New("old_string is empty; write the whole file with write_file, or give the text to replace")
	case before == after:
		return "", 0, errors.New("old_string and new_string are the same")
	case n == 0:
		return "", 0, fmt.Errorf("String not found in file: %q", visible.Cut(before, 50, "...")) //nolint:staticcheck // the words that models know
	case n > 1 && !all:
		return "", 0, fmt.Errorf("String appears %d times in file. Please provide a unique string.", n) //nolint:staticcheck // the words that models know
	case int64(len(text))+int64(n)*int64(len(after)-len(before)) > MaxFile:
		return "", 0, fmt.Errorf("the file would have more than %d bytes", MaxFile)
	default:
		return strings.ReplaceAll(text, before, after), n, nil
	}
}
