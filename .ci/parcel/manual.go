package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// page is the manual page of a command.
type page struct {
	program string
	words   []string // that lead to it
	about   string   // one line
	help    string
}

var (
	// A title stands alone, and what belongs to it is indented.
	helpTitle = regexp.MustCompile(`(?m)^(\S.*):$`)
	below     = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*)  +(\S.*(?:\n {6,}\S.*)*)`)
)

// manual writes a page for the program and for each of its commands into dir.
func manual(program, dir string) error {
	root := page{program: program, about: "lead an AI coding assistant and its human from an idea to reviewed, tested code"}
	return root.write(dir)
}

func (p page) name() string { return strings.Join(append([]string{"bmad-mcp"}, p.words...), "-") }

// write writes the page and those of the commands below it.
func (p page) write(dir string) error {
	cmd := exec.Command(p.program, append(p.words, "--help")...) //nolint:gosec,noctx // the program that was built
	cmd.Env = append(os.Environ(), "BMAD_LANGUAGE=en", "COLUMNS=78")
	said, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", p.name(), err)
	}
	p.help = string(said)
	when, err := epoch()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 %q\n.SH NAME\n%s \\- %s\n", strings.ToUpper(p.name()), when.Format("2006-01-02"), p.name(), roff(p.about))
	commands := p.body(&b)
	if err := os.WriteFile(filepath.Join(dir, p.name()+".1"), []byte(b.String()), 0o644); err != nil { //nolint:gosec // for everyone to read
		return err
	}
	for _, c := range commands {
		if err := c.write(dir); err != nil {
			return err
		}
	}
	return nil
}

// body writes the sections of the help, and returns the commands that they list.
func (p page) body(b *strings.Builder) []page {
	var commands []page
	for i, section := range sections(p.help) {
		title, text := section[0], section[1]
		switch {
		case i == 0:
			title = "SYNOPSIS"
		case title == "":
			title = "DESCRIPTION"
		case !strings.HasSuffix(title, "lags") && title != "Examples":
			for _, m := range below.FindAllStringSubmatch(text, -1) {
				about := strings.Join(strings.Fields(m[2]), " ")
				if m[1] != "help" {
					commands = append(commands, page{program: p.program, words: append(append([]string{}, p.words...), m[1]), about: about})
				}
			}
		}
		fmt.Fprintf(b, ".SH %s\n.nf\n%s\n.fi\n", roff(strings.ToUpper(title)), roff(strings.Trim(text, "\n")))
	}
	return commands
}

// sections returns the titles and texts of a help: the usage, the description without a title, the rest.
func sections(help string) [][2]string {
	var out [][2]string
	for paragraph := range strings.SplitSeq(strings.TrimRight(help, "\n"), "\n\n") {
		first, rest, _ := strings.Cut(paragraph, "\n")
		switch {
		case helpTitle.MatchString(first) && strings.HasPrefix(rest, "  "):
			out = append(out, [2]string{strings.TrimSuffix(first, ":"), rest})
		case len(out) == 1:
			out = append(out, [2]string{"", paragraph})
		default:
			out[len(out)-1][1] += "\n\n" + paragraph
		}
	}
	return out
}

// roff returns a text that means itself.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
