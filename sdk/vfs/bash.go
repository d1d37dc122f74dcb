package vfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
)

// runBash runs one simple command.
func (b *Toolbox) runBash(ctx context.Context, in arguments) (string, error) {
	command := *in.Command
	if b.o.Run != nil && slices.ContainsFunc(b.o.Commands, func(c string) bool { return process.Same(c, command) }) {
		output, failed := b.o.Run(ctx, process.Canonical(command))
		output = cutEnd(output)
		if failed {
			return "", errors.New(cmp.Or(output, "the command failed without an output"))
		}
		return output, nil
	}
	words, err := shellWords(command)
	if err != nil {
		return "", err
	}
	args := words[1:]
	switch words[0] {
	case "pwd":
		return "/", nil
	case "echo":
		return strings.Join(args, " "), nil
	case "mkdir":
		return b.makeFolders(args)
	case "ls":
		dir := "/"
		for _, arg := range args {
			if !strings.HasPrefix(arg, "-") {
				dir = arg
			}
		}
		return b.list(ctx, arguments{Path: &dir})
	case "cat":
		return b.printFiles(ctx, args)
	}
	also := ""
	if b.o.Run != nil && len(b.o.Commands) > 0 {
		also = "; and these as they stand: " + strings.Join(b.o.Commands, "; ")
	}
	return "", fmt.Errorf("Command not allowed: %s. Supported commands: mkdir, ls, pwd, echo, cat%s", words[0], also) //nolint:staticcheck // the words that models know
}

func (b *Toolbox) makeFolders(args []string) (string, error) {
	if b.o.ReadOnly {
		return "", errors.New("the files are for reading")
	}
	var made []string
	for _, arg := range args {
		if arg == "-p" {
			continue
		}
		if strings.HasPrefix(arg, "-") {
			return "", fmt.Errorf("mkdir: the option %s is not supported", arg)
		}
		name, err := Clean(arg)
		if err != nil {
			return "", err
		}
		made = append(made, name)
	}
	if len(made) == 0 {
		return "", errors.New("mkdir: the path is missing")
	}
	for _, name := range made {
		if err := b.files.Mkdir(name); err != nil {
			return "", err
		}
	}
	return "Directory created: " + strings.Join(made, ", "), nil
}

func (b *Toolbox) printFiles(ctx context.Context, args []string) (string, error) {
	if len(args) == 0 {
		return "", errors.New("cat: the path is missing")
	}
	var out strings.Builder
	for _, arg := range args {
		text, err := b.read(ctx, arguments{FilePath: &arg})
		if err != nil {
			return "", err
		}
		if out.WriteString(text); out.Len() > MaxResult {
			break
		}
	}
	return excerptLines(out.String(), 0, 0), nil
}

// errShell is the error of a command for a shell.
var errShell = errors.New("this is not a shell: no ; | & > < ` $( ) or several lines; run one simple command, and use write_file to write")

// needsShell reports whether a character, with the one after it and in a quote, has a meaning for shells alone.
func needsShell(r, next, quote rune) bool {
	if quote == 0 && strings.ContainsRune(";|&<>()\n\r", r) {
		return true
	}
	return quote != '\'' && (r == '`' || r == '$' && (next == '(' || next == '{'))
}

// shellWords splits a command into words with their quotes removed.
func shellWords(command string) (words []string, err error) {
	in := []rune(strings.TrimSpace(command))
	var word []rune
	begun, quote := false, rune(0) // a word, empty perhaps between quotes; an open quote
	for i := 0; i < len(in); i++ {
		r, next := in[i], rune(0)
		if i+1 < len(in) {
			next = in[i+1]
		}
		switch {
		case quote != 0 && r == quote:
			quote = 0
			continue
		case needsShell(r, next, quote):
			return nil, errShell
		case quote == '\'': // all is plain
		case r == '\\' && next != 0 && (quote == 0 || strings.ContainsRune("$`\"\\", next)):
			i++
			r = next
		case quote != 0:
		case r == '\'' || r == '"':
			quote, begun = r, true
			continue
		case r == ' ' || r == '\t':
			if begun {
				words = append(words, string(word))
			}
			word, begun = nil, false
			continue
		}
		word, begun = append(word, r), true
	}
	switch {
	case quote != 0:
		return nil, errors.New("a quote is not closed")
	case begun:
		words = append(words, string(word))
	case len(words) == 0:
		return nil, errors.New("the command is empty")
	}
	return words, nil
}
