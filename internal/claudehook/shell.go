package claudehook

import (
	"encoding/json"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// A shell command decides if it runs this program for a decision of the person. It is parsed as a
// shell parses it. A command that cannot be shown harmless and names both the program and a
// decision counts as one: one question too many is cheap.

var (
	// ourName matches a text that mentions this program; paths of its files do not count.
	ourName  = pattern.New(`(?i)bmad`)
	ourFiles = pattern.New(`(?i)\.bmad-(task|core|method)(/[^\s'"]*)?`)
	// ourProgram is the base name of this program, as it is built and released.
	ourProgram = pattern.New(`(?i)^bmad-mcp([-_.][a-z0-9_.-]+)?$`)
	// decisionWord matches a text that can decide something.
	decisionWord = pattern.New(`(?i)confirm|approv|reject|reopen|cancel|answer|accept|decline|adopt|\ballow|确认|批准|同意`)
	quoting      = strings.NewReplacer("\\\n", "", `\`, "", `'`, "", `"`, "")
)

// harmless are our subcommands that decide nothing for the person.
var harmless = words(`agents audit completion demo diff doctor gc graph help install log read search sessions show
	sources status resume tasks uninstall version workflows serve`)

// harmlessActions are those of our subcommand task.
var harmlessActions = words("start submit status resume help")

// flagsWithValue are our flags that take the next word.
var flagsWithValue = words("--cwd --toolsets --stage --claude-result --claude-result-path --codex-result --codex-result-path")

// inert are programs that never run their arguments.
var inert = words(`: [ ag base64 basename bat cat cd chmod cksum cmp column comm cp cut date df diff dirname du echo egrep exit
	expr false fgrep file find fmt fold gh git grep head hexdump id jq less ln ls md5sum mkdir more mv od paste popd printenv printf
	ps pushd pwd read readlink realpath return rg rm rmdir set sha1sum sha256sum shift shopt sleep sort stat strings tail tac tee test
	touch tr tree true type uname uniq unset wait wc whereis which whoami xxd yq`)

// executors run their input, or a file.
var executors = words(`. ash at awk bash batch bun busybox cmd cmd.exe csh dash deno docker env eval exec expect fish gawk ksh
	lua mawk node osascript parallel perl php podman powershell powershell.exe pwsh python python2 python3 rlwrap ruby script sh
	source ssh su tclsh tcsh watch wsl xargs zsh`)

// hands are options by which an inert program runs something after all.
var hands = pattern.New(`^(-exec|-execdir|-ok|-okdir|--pre|--ext-diff|--open-files-in-pager.*|-O.+|--upload-pack.*|--receive-pack.*|--exec.*|-x|-c|!.*)$`)

// gitVerbs are the uses of git that run nothing that is named.
var gitVerbs = words(`add blame branch checkout commit diff fetch grep log merge mv pull push restore reset rev-parse rm
	show stash status switch tag`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// decidesInShell reports whether a command may decide something for the person. program is the path
// of this program, which may have another name.
func decidesInShell(command, program string) bool {
	s := &shell{program: program, flat: quoting.Replace(command)}
	if !s.names(s.flat) {
		return false
	}
	file, err := parse(command)
	if err != nil {
		return decisionWord.MatchString(s.flat)
	}
	s.script(file)
	return s.decides
}

func parse(command string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
}

func readShell(input json.RawMessage) string {
	var c struct{ Command string }
	_ = json.Unmarshal(input, &c) // without a command nothing is decided
	return c.Command
}

// maxDepth bounds how deep shells in shells are read.
const maxDepth = 4

// shell is a command being parsed.
type shell struct {
	program string
	// flat is the whole command without quoting.
	flat    string
	decides bool
	depth   int
}

// names reports whether a text mentions this program.
func (s *shell) names(text string) bool {
	return ourName.MatchString(ourFiles.ReplaceAllString(text, " ")) || s.program != "" && strings.Contains(text, s.program)
}

// suspects judges an unreadable command: it decides if the command mentions deciding.
func (s *shell) suspects() { s.decides = s.decides || decisionWord.MatchString(s.flat) }

// script looks at every command of a script, those in substitutions and functions too.
func (s *shell) script(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if stmt, ok := n.(*syntax.Stmt); ok {
			if call, ok := stmt.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				s.call(readWords(call.Args), stmt.Redirs)
			}
		}
		return !s.decides
	})
}

// word is a word of a command.
type word struct {
	text string
	// known is false where a part of it is only computed when it runs.
	known bool
}

// call judges one command.
func (s *shell) call(args []word, redirs []*syntax.Redirect) {
	first := args[0]
	base := baseName(first.text)
	switch {
	case !first.known:
		s.suspects()
	case s.isOurs(first):
		s.ours(args[1:], redirs)
	case isInert(base, args[1:]):
	default:
		s.other(base, args, redirs)
	}
}

// isOurs reports whether a word is this program.
func (s *shell) isOurs(w word) bool {
	return w.known && (ourProgram.MatchString(baseName(w.text)) || s.program != "" && w.text == s.program)
}

// ours judges the arguments of this program.
func (s *shell) ours(args []word, redirs []*syntax.Redirect) {
	if slices.ContainsFunc(args, func(w word) bool { return w.known && (w.text == "--help" || w.text == "-h") }) {
		return
	}
	sub, rest := subcommand(args)
	switch {
	case sub == nil, servesInput(*sub, rest): // it follows its input
		s.decides = s.decides || decisionWord.MatchString(s.flat) || readsFile(redirs) || strings.Contains(s.flat, "|") && !toldByEcho(s.flat)
	case !sub.known:
		s.decides = true
	case sub.text == "task":
		action, _ := subcommand(rest)
		s.decides = s.decides || action != nil && (!action.known || !harmlessActions[action.text])
	case sub.text == "allow":
		s.decides = s.decides || !slices.ContainsFunc(rest, func(w word) bool { return w.known && w.text == "--list" })
	default:
		s.decides = s.decides || !harmless[sub.text]
	}
}

// servesInput reports whether it serves, and not over HTTP.
func servesInput(sub word, rest []word) bool {
	return sub.known && sub.text == "serve" && !slices.ContainsFunc(rest, func(w word) bool { return strings.HasPrefix(w.text, "--http") })
}

// subcommand returns the first word that is not a flag.
func subcommand(args []word) (sub *word, rest []word) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		if strings.HasPrefix(w.text, "-") && (w.known || strings.Contains(w.text, "=")) {
			if flagsWithValue[w.text] {
				i++
			}
			continue
		}
		return &args[i], args[i+1:]
	}
	return nil, nil
}

// other judges an unknown program: it may run its arguments.
func (s *shell) other(base string, args []word, redirs []*syntax.Redirect) {
	if base == "command" && len(args) > 2 && (args[1].text == "-v" || args[1].text == "-V") {
		return
	}
	builds := base == "go" && len(args) > 1 && args[1].text != "run"
	// Its commands may stand in a file, or come on its input.
	runs := executors[base] || strings.Contains(args[0].text, "/") || base == "go" && !builds
	for i, w := range args[1:] {
		switch {
		case s.isOurs(w):
			if !builds { // as after sudo, timeout or xargs
				s.ours(args[i+2:], redirs)
				runs = false
			}
		case !s.names(w.text) && (!executors[base] || !decisionWord.MatchString(w.text)):
		case s.inner(base, w):
			runs = false // the text is all that it runs
		default:
			s.suspects()
		}
	}
	if runs || s.hears(redirs) {
		s.suspects()
	}
}

// inner judges the text that a shell is given to run; false if it cannot be read.
func (s *shell) inner(base string, w word) bool {
	if !w.known || s.depth >= maxDepth || !slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "ash"}, base) {
		return false
	}
	file, err := parse(w.text)
	if err != nil {
		return false
	}
	s.depth++
	s.script(file)
	s.depth--
	return true
}

// hears reports whether the input of a program names ours.
func (s *shell) hears(redirs []*syntax.Redirect) bool {
	return slices.ContainsFunc(redirs, func(r *syntax.Redirect) bool {
		text := ""
		if r.Hdoc != nil {
			text = readWord(r.Hdoc).text
		} else if r.Op == syntax.WordHdoc && r.Word != nil {
			text = readWord(r.Word).text
		}
		return s.names(text)
	})
}

// readsFile reports whether the input is a file, whose content is not seen.
func readsFile(redirs []*syntax.Redirect) bool {
	return slices.ContainsFunc(redirs, func(r *syntax.Redirect) bool {
		return (r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut || r.Op == syntax.DplIn) && r.Word != nil && readWord(r.Word).text != "/dev/null"
	})
}

// toldByEcho reports whether the piped input stands in the command itself.
func toldByEcho(flat string) bool {
	from, _, _ := strings.Cut(strings.TrimSpace(flat), " ")
	return (from == "echo" || from == "printf") && !strings.Contains(flat, "$")
}

// isInert reports whether a program with these arguments runs nothing that is named.
func isInert(base string, args []word) bool {
	switch {
	case !inert[base]:
		return false
	case base == "git" && (len(args) == 0 || !args[0].known || !gitVerbs[args[0].text]):
		return false
	case base != "find" && base != "git" && base != "rg":
		return true
	}
	for i, w := range args {
		text := base == "git" && i > 0 && slices.Contains([]string{"-m", "-F", "-e"}, args[i-1].text)
		counts := base == "rg" && (w.text == "-c" || w.text == "-x")
		if !text && !counts && hands.MatchString(w.text) {
			return false
		}
	}
	return true
}

func baseName(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

func readWords(list []*syntax.Word) []word {
	out := make([]word, len(list))
	for i, w := range list {
		out[i] = readWord(w)
	}
	return out
}

func readWord(w *syntax.Word) word {
	out := word{known: true}
	readParts(&out, w.Parts, false)
	return out
}

// globs are characters by which a word stands for others, where they are not quoted.
const globs = "*?[{~"

func readParts(out *word, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text := unescape(part.Value, quoted)
			home := strings.HasPrefix(part.Value, "~/") && !strings.ContainsAny(part.Value[1:], globs)
			if !quoted && !home && strings.ContainsAny(part.Value, globs) {
				out.known = false
			}
			out.text += text
		case *syntax.SglQuoted:
			out.text += part.Value
			out.known = out.known && (!part.Dollar || !strings.Contains(part.Value, `\`))
		case *syntax.DblQuoted:
			readParts(out, part.Parts, true)
		default:
			out.known = false
		}
	}
}

// unescape removes a shell's backslashes from a text.
func unescape(text string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
