package hook

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	shpattern "mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// A shell command decides if it runs this program for a decision of the person. It is parsed and
// expanded as a shell does it. A command that cannot be shown harmless counts as a decision if it
// names both the program and a decision, or if it runs a text that it puts together itself: one
// question too many is cheap. The contents of files that a command names are not seen.

var (
	// ourName matches a text that mentions this program; paths of its files do not count.
	ourName  = pattern.New(`(?i)bmad`)
	ourFiles = pattern.New(`(?i)\.bmad-(task|core|method)(/[^\s'"]*)?`)
	// ourProgram is the base name of this program, as it is built and released.
	ourProgram = pattern.New(`(?i)^bmad-mcp([-_.][a-z0-9_.-]+)?$`)
	// ourNames are examples of such names, to compare with a name that has holes.
	ourNames = []string{"bmad-mcp", "bmad-mcp.exe", "bmad-mcp-linux-amd64", "bmad-mcp-darwin-arm64"}
	quoting  = strings.NewReplacer("\\\n", "", `\`, "", `'`, "", `"`, "")
	// escape matches a character by its number, as texts of most languages have it.
	escape = pattern.New(`\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{3})`)
	// joints matches the characters between the parts of a text that a program puts together.
	joints = pattern.New(`[^\pL\pN]+`)
)

// squeeze returns a text with its escapes resolved, and without quotes and all else that can stand
// inside of a word.
func squeeze(text string) string {
	text = escape.ReplaceAllStringFunc(text, func(e string) string {
		digits, base := strings.TrimLeft(e[1:], "xu"), 16
		if len(digits) == len(e)-1 {
			base = 8
		}
		n, _ := strconv.ParseUint(digits, base, 32) // the pattern has checked it
		return string(rune(n))                      //nolint:gosec // of at most 32 bits, by the pattern
	})
	return joints.ReplaceAllString(text, "")
}

// isShell reports whether a tool runs commands.
func isShell(tool string) bool { return tool == "Bash" || tool == "PowerShell" || tool == "Monitor" }

// decidesInShell reports whether a command may decide something for the person. program is the path
// of this program, which may have another name.
func decidesInShell(command, program string) (decides bool) {
	s := &shell{program: program, found: &found{written: map[string]bool{}}}
	s.scope.work = new(int)
	s.read(command)
	defer func() {
		if recover() != nil { // anyone may have written the text
			decides = s.mentionsDecision()
		}
	}()
	file, err := parse(command)
	if err != nil {
		return s.mentionsDecision() || hides(command)
	}
	s.script(file)
	reached := s.serves && s.reaches
	if s.decides || reached || s.scope.isExhausted() {
		return true
	}
	return s.suspect && s.mentionsDecision()
}

func parse(command string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
}

func readShell(input json.RawMessage) string {
	var c struct{ Command string }
	_ = json.Unmarshal(input, &c) // a call without a command decides nothing
	return c.Command
}

const (
	// maxDepth bounds how deep shells in shells are read.
	maxDepth = 4
	// maxFilled bounds, in bytes, the text that is filled in for arguments.
	maxFilled = 4096
	// maxRead bounds, in bytes, all that the words of a command may stand for.
	maxRead = 4 << 20
)

// shell is a command being judged.
type shell struct {
	program string
	scope   scope
	depth   int
	*found
}

// found collects the findings on a command, with those on the shells in it.
type found struct {
	// text is the whole command without quoting, and all that its words stand for.
	text    strings.Builder
	decides bool
	// suspect is true if it may run anything that it mentions.
	suspect bool
	// written has the files to which the command writes a text that it makes.
	written map[string]bool
	// serves is true if it serves over HTTP, reaches if another of its programs may call that.
	serves, reaches bool
}

func (s *shell) read(text string) {
	if s.text.Len() < maxRead {
		s.text.WriteString("\n" + quoting.Replace(text))
		return
	}
	*s.scope.work = maxWork
}

// names reports whether a text mentions this program.
func (s *shell) names(text string) bool {
	text = ourFiles.ReplaceAllString(text, " ")
	if s.program != "" && strings.Contains(text, s.program) {
		return true
	}
	return ourName.MatchString(text) || ourName.MatchString(squeeze(text))
}

// mentionsDecision reports whether the command names both this program and a decision.
func (s *shell) mentionsDecision() bool {
	text := s.text.String()
	return s.names(text) && (decisionWord.MatchString(text) || decisionWord.MatchString(squeeze(text)))
}

// step is a simple command of a script, in one of the ways in which its words can be expanded.
type step struct {
	args []string
	// input is the text that it reads if piped is true. Else it reads from the script's own input.
	input string
	piped bool
}

// script judges every command of a script, those in substitutions and functions too.
func (s *shell) script(file *syntax.File) {
	inputs := pipes(file)
	s.scope.input = func(stmt *syntax.Stmt) (string, bool) { return s.input(stmt, inputs) }
	s.scope.learn(file)
	var steps []step
	syntax.Walk(file, func(n syntax.Node) bool {
		stmt, ok := n.(*syntax.Stmt)
		if !ok {
			return true
		}
		s.writes(stmt)
		call, ok := stmt.Cmd.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		text, piped := s.input(stmt, inputs)
		for _, args := range s.scope.expansions(call.Args...) {
			if args = dropEmpty(args); len(args) > 0 {
				steps = append(steps, step{args, text, piped})
				s.read(strings.Join(args, " "))
			}
		}
		return true
	})
	for _, step := range steps {
		s.call(step)
	}
}

// writes notes the files into which a statement writes a text that it makes.
func (s *shell) writes(stmt *syntax.Stmt) {
	for _, r := range stmt.Redirs {
		if !writesFile(r.Op) || !strings.Contains(s.scope.output([]*syntax.Stmt{stmt}), made) {
			continue
		}
		for _, file := range s.scope.literal(r.Word) {
			s.written[path.Clean(file)] = true
		}
	}
}

func writesFile(op syntax.RedirOperator) bool {
	return op == syntax.RdrOut || op == syntax.AppOut || op == syntax.RdrClob
}

// isMade reports whether the command puts together a program, or writes its file.
func (s *shell) isMade(file string) bool {
	return strings.Contains(file, made) || s.written[path.Clean(file)]
}

// dropEmpty removes the empty words at the beginning, which name no program.
func dropEmpty(args []string) []string {
	for len(args) > 0 && args[0] == "" {
		args = args[1:]
	}
	return args
}

// pipes returns, for each statement that reads from a pipe, the statement that writes into it.
func pipes(file *syntax.File) map[*syntax.Stmt]*syntax.Stmt {
	from := map[*syntax.Stmt]*syntax.Stmt{}
	syntax.Walk(file, func(n syntax.Node) bool {
		b, ok := n.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
			return true
		}
		syntax.Walk(b.Y, func(n syntax.Node) bool { // the statements inside of it read there too
			if stmt, ok := n.(*syntax.Stmt); ok {
				from[stmt] = b.X
			}
			return true
		})
		return true
	})
	return from
}

// input returns the input of a statement: a text or a hole. piped is false if it has none of its own.
func (s *shell) input(stmt *syntax.Stmt, from map[*syntax.Stmt]*syntax.Stmt) (text string, piped bool) {
	for _, r := range stmt.Redirs {
		if text, ok := s.scope.document(r); ok {
			return text, true
		}
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
			file := strings.Join(s.scope.literal(r.Word), " ")
			if file == "/dev/null" {
				return "", true
			}
			if strings.Contains(file, made) {
				return hole(made), true
			}
			return hole(given), true
		}
	}
	if left := from[stmt]; left != nil {
		return s.scope.output([]*syntax.Stmt{left}), true
	}
	return "", false
}

// call judges one command.
func (s *shell) call(c step) {
	base := baseName(c.args[0])
	isMade := s.isMade(c.args[0]) || isConcatenated(c.args[0])
	s.decides = s.decides || s.written[path.Clean(c.args[0])]
	switch {
	case s.isOurs(c.args[0]):
		s.ours(c.args[1:], c)
	case s.couldBeOurs(c.args[0]):
		sub, rest := subcommand(c.args[1:])
		s.decides = s.decides || isMade || couldDecide(sub, rest)
		s.other(base, c)
	case isInert(base, c.args[1:]):
	default:
		s.other(base, c)
	}
}

// isConcatenated reports whether a word has an argument of a function beside something else.
func isConcatenated(w string) bool { return strings.Contains(w, passed) && w != hole(passed) }

// isOurs reports whether a word is this program.
func (s *shell) isOurs(w string) bool {
	return ourProgram.MatchString(baseName(w)) || s.program != "" && w == s.program
}

// couldBeOurs reports whether a word with holes may be this program.
func (s *shell) couldBeOurs(w string) bool {
	if !strings.ContainsAny(w, holes+"*?[(") {
		return false
	}
	return ourName.MatchString(ourFiles.ReplaceAllString(baseName(w), " ")) || matchesAny(baseName(w), append(slices.Clone(ourNames), baseName(s.program)))
}

// matchesAny reports whether a word with holes and globs may stand for one of some names.
func matchesAny(w string, names []string) bool {
	glob := strings.NewReplacer(given, "*", made, "*", passed, "*").Replace(w)
	for strings.Contains(glob, "**") {
		glob = strings.ReplaceAll(glob, "**", "*")
	}
	expression, err := shpattern.Regexp(glob, shpattern.EntireString|shpattern.ExtendedOperators|shpattern.NoGlobCase)
	if err != nil {
		return false
	}
	matches := pattern.New(expression)
	return slices.ContainsFunc(names, matches.MatchString)
}

// couldDecide reports whether the words behind a program would be a decision if it were ours.
func couldDecide(sub string, rest []string) bool {
	if sub == "task" {
		action, _ := subcommand(rest)
		return couldDecide(action, nil)
	}
	if decisions[sub] || strings.Contains(sub, made) {
		return true
	}
	bare := strings.Trim(sub, holes) == "" // it may be anything, and does not show a decision
	return !bare && strings.ContainsAny(sub, holes+"*?[") && matchesAny(sub, []string{"confirm", "approve", "reject", "reopen", "cancel", "answer", "adopt", "allow"})
}

// ours judges the arguments of this program.
func (s *shell) ours(args []string, c step) {
	if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		return
	}
	sub, rest := subcommand(args)
	overHTTP := slices.ContainsFunc(rest, func(w string) bool { return strings.HasPrefix(w, "--http") })
	switch {
	case sub == "serve" && overHTTP:
		s.serves = true
	case sub == "", sub == "serve": // the calls come on its input
		unseen := c.piped && strings.ContainsAny(c.input, holes)
		s.decides, s.suspect = s.decides || unseen, true
	case strings.ContainsAny(sub, holes+"*?["):
		s.decides = true
	case sub == "task":
		action, _ := subcommand(rest)
		s.decides = s.decides || action != "" && !harmlessActions[action]
	case sub == "allow":
		s.decides = s.decides || !slices.Contains(rest, "--list")
	default:
		s.decides = s.decides || !harmless[sub]
	}
}

// other judges an unknown program: it may run its arguments.
func (s *shell) other(base string, c step) { //nolint:gocyclo // a case for each way to run arguments
	args := c.args[1:]
	if base == "xargs" || base == "find" || base == "parallel" {
		args = filledIn(args, c)
	}
	if base == "command" && len(args) > 1 && strings.EqualFold(args[0], "-v") {
		return
	}
	builds := base == "go" && len(args) > 0 && args[0] != "run"
	goRuns := base == "go" && !builds
	// Its commands may stand in a file, or come on its input.
	runs := goRuns || executor(base) || strings.Contains(c.args[0], "/") || c.piped
	wraps := false
	for i, w := range args {
		rest := step{args[i+1:], c.input, c.piped}
		name := baseName(w)
		switch {
		case builds:
		case s.isOurs(w): // for example after sudo, timeout or xargs
			s.ours(rest.args, rest)
			runs, wraps = false, true
			continue
		case s.couldBeOurs(w):
			sub, after := subcommand(rest.args)
			allMade := strings.Trim(w, made) == "" && strings.Contains(sub, made)
			if allMade || decisions[sub] && couldDecide(sub, after) {
				s.decides = true
			}
		case wrappers[base] && executor(name):
			s.other(name, step{args[i:], c.input, c.piped})
			return
		}
		if s.names(w) || executor(base) && decisionWord.MatchString(w) {
			s.suspect = true
		}
	}
	s.code(base, args, c)
	if runs {
		s.suspect = true
	}
	s.reaches = s.reaches || !wraps
}

// filledIn returns the arguments of a program that fills in the words that it reads or finds.
func filledIn(args []string, c step) []string {
	found, place := hole(given), "{}"
	if c.piped {
		found = strings.TrimSpace(c.input)
	}
	if len(found) > maxFilled {
		found = hole(made)
	}
	var out []string
	for i, w := range args {
		if at, ok := strings.CutPrefix(w, "-I"); ok {
			place = at
			if at == "" && i+1 < len(args) {
				place = args[i+1]
			}
			place = cmp.Or(place, "{}")
		}
		out = append(out, strings.ReplaceAll(w, place, found))
	}
	if !strings.ContainsAny(found, holes) {
		out = append(out, strings.Fields(found)...)
	}
	return out
}

// code judges the texts that a program gets to run, for example a shell.
func (s *shell) code(base string, args []string, c step) {
	switch {
	case shells[base]:
		if text, ok := optionC(args); ok {
			s.inner(text)
			return
		}
		s.stream(args, c)
	case base == "source", base == ".":
		s.stream(args, c)
	case languages[base]:
		s.decides = s.decides || slices.ContainsFunc(args, hides)
		s.stream(args, c)
	case takingScripts[base]:
		for _, w := range append(args, strings.Join(args, " ")) {
			s.inner(w)
		}
	}
	if runsInput(base, args) && strings.Contains(c.input, made) {
		s.decides = true
	}
}

// optionC returns the script that a shell has as an argument.
func optionC(args []string) (script string, ok bool) {
	for i, w := range args {
		if !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "+") {
			return "", false
		}
		if !strings.HasPrefix(w, "--") && strings.Contains(w, "c") && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return "", false
}

// stream judges a shell or language that runs a file or its input.
func (s *shell) stream(args []string, c step) {
	option := func(letters string) bool {
		return slices.ContainsFunc(args, func(w string) bool {
			return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, letters)
		})
	}
	base := baseName(c.args[0])
	isShell := shells[base] || base == "source" || base == "."
	operand, _ := subcommand(args)
	switch {
	case isShell && option("s") && strings.Contains(c.input, made):
		s.decides = true
	case operand != "" && operand != "-" && operand != "/dev/stdin":
		s.decides = s.decides || s.isMade(operand)
	case !isShell && option("cem"): // the code is an argument, or a module
	case strings.Contains(c.input, made):
		s.decides = true
	case isShell:
		s.inner(c.input)
	default:
		s.decides = s.decides || hides(c.input)
	}
}

// inner judges a text that a shell runs.
func (s *shell) inner(text string) {
	if s.depth >= maxDepth || s.scope.isExhausted() {
		s.suspect = true
		return
	}
	*s.scope.work += 1 + len(text)/100
	file, err := parse(text)
	if err != nil {
		s.suspect = true
		return
	}
	in := &shell{program: s.program, found: s.found, depth: s.depth + 1, scope: scope{values: s.scope.values, work: s.scope.work}}
	in.script(file)
}
