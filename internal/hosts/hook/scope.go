package hook

import (
	"io"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// The words of a command are expanded as its shell would expand them: quotes, escapes, braces, and
// variables that the command itself sets. Anything else is a hole in the text of a word, of these
// kinds.
const (
	// given comes from outside, for example from the environment, or from a program that prints files.
	given = "\x01"
	// made is put together by the command itself, by a program that changes texts.
	made = "\x02"
	// passed is an argument of a function or script, which is judged as an argument of the call.
	passed = "\x03"

	holes = given + made + passed
	// holeSize is the length of a hole: a part of a hole is one too.
	holeSize = 32
)

func hole(kind string) string { return strings.Repeat(kind, holeSize) }

// The limits of an expansion: beyond them a value counts as made.
const (
	maxValues   = 64      // of one variable
	maxWays     = 256     // to expand the words of one command
	maxBraces   = 256     // words of one word
	maxExpanded = 1 << 16 // bytes of a value
	maxWork     = 20_000  // expansions of one script
)

// scope has the values that the variables of a script may have, anywhere in it.
type scope struct {
	values map[string][]expand.Variable
	// now has one value of each, during an expansion.
	now map[string]expand.Variable
	// work counts the expansions, of scripts in the script too.
	work *int
	// input returns the input of a statement, with holes as in the result of [scope.output].
	input func(*syntax.Stmt) (text string, piped bool)
}

// isExhausted reports whether a script is too long to be judged.
func (s *scope) isExhausted() bool { return *s.work >= maxWork }

func textual(s string) expand.Variable {
	if len(s) > maxExpanded {
		s = hole(made)
	}
	return expand.Variable{Set: true, Kind: expand.String, Str: s}
}

// Get implements expand.Environ.
func (s *scope) Get(name string) expand.Variable {
	if v, ok := s.now[name]; ok {
		return v
	}
	switch {
	case name == "IFS", strings.Contains(name, " "):
		return expand.Variable{}
	case name == "@", name == "*":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: []string{hole(passed)}}
	case strings.Trim(name, "0123456789") == "":
		return textual(hole(passed))
	case name == "XDG_STATE_HOME": // its default
		return textual(hole(given) + "/.local/state")
	}
	return textual(hole(given))
}

// Each implements expand.Environ.
func (s *scope) Each(each func(string, expand.Variable) bool) {
	for name, v := range s.now {
		if !each(name, v) {
			return
		}
	}
}

func (s *scope) config() *expand.Config {
	return &expand.Config{
		Env: s, ExtGlob: true,
		CmdSubst: func(w io.Writer, c *syntax.CmdSubst) error {
			_, err := io.WriteString(w, s.output(c.Stmts))
			return err
		},
		ProcSubst: func(p *syntax.ProcSubst) (string, error) {
			if strings.Trim(s.output(p.Stmts), given) == "" {
				return "/dev/fd/" + hole(given), nil
			}
			return "/dev/fd/" + hole(made), nil
		},
	}
}

// expansions returns the fields that words may stand for, one list for each choice of values.
func (s *scope) expansions(words ...*syntax.Word) [][]string {
	var out [][]string
	before := s.now
	for _, now := range s.ways(words) {
		s.now = now
		var fields []string
		for _, w := range words {
			fields = append(fields, s.fields(w)...)
		}
		out = append(out, fields)
	}
	s.now = before
	return out
}

// ways returns every choice of values for the variables of words.
func (s *scope) ways(words []*syntax.Word) []map[string]expand.Variable {
	used := map[string]bool{"IFS": false} // true if the word has a default for the variable
	for _, w := range words {
		syntax.Walk(w, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil {
				used[p.Param.Value] = used[p.Param.Value] || p.Exp != nil
			}
			return true
		})
	}
	ways := []map[string]expand.Variable{{}}
	for name, hasDefault := range used {
		values := s.values[name]
		if len(values) == 0 && hasDefault {
			values = []expand.Variable{textual(hole(given)), {}}
		}
		if len(values)*len(ways) > maxWays || s.isExhausted() {
			values = []expand.Variable{textual(hole(made))}
		}
		if len(values) == 0 {
			continue
		}
		var more []map[string]expand.Variable
		for _, way := range ways {
			for _, v := range values {
				next := map[string]expand.Variable{name: v}
				for k, other := range way {
					next[k] = other
				}
				more = append(more, next)
			}
		}
		ways = more
	}
	return ways
}

// fields expands one word by the present values.
func (s *scope) fields(w *syntax.Word) []string {
	*s.work++
	if s.isExhausted() {
		return []string{hole(made)}
	}
	braced := *w
	words := []*syntax.Word{&braced}
	if syntax.SplitBraces(&braced) {
		if tameBraces(&braced) > maxBraces {
			return []string{hole(made)}
		}
		words = expand.Braces(&braced)
	}
	fields, err := expand.Fields(s.config(), words...)
	if err != nil {
		return []string{hole(made)}
	}
	return fields
}

// tameBraces replaces each sequence by a hole, and returns how many words the other braces make.
func tameBraces(w *syntax.Word) int {
	count := 1
	for i, part := range w.Parts {
		b, ok := part.(*syntax.BraceExp)
		if !ok {
			continue
		}
		if b.Sequence {
			kind := made // a sequence of letters, which can spell any word
			if strings.Trim(b.Elems[0].Lit(), "-0123456789") == "" {
				kind = given
			}
			w.Parts[i] = &syntax.Lit{Value: hole(kind)}
			continue
		}
		sum := 0
		for _, e := range b.Elems {
			sum += tameBraces(e)
		}
		count = min(count*max(sum, 1), maxBraces+1)
	}
	return count
}

// literal returns the values of a word that is not split.
func (s *scope) literal(w *syntax.Word) []string {
	if w == nil {
		return []string{""}
	}
	var out []string
	before := s.now
	for _, now := range s.ways([]*syntax.Word{w}) {
		*s.work++
		s.now = now
		text, err := expand.Literal(s.config(), w)
		if err != nil || s.isExhausted() {
			text = hole(made)
		}
		out = append(out, text)
	}
	s.now = before
	return out
}

// document returns the text of a here-document or here-string.
func (s *scope) document(r *syntax.Redirect) (text string, ok bool) {
	switch {
	case r.Hdoc != nil:
		if text, err := expand.Document(s.config(), r.Hdoc); err == nil {
			return text, true
		}
		return hole(made), true
	case r.Op == syntax.WordHdoc:
		return strings.Join(s.literal(r.Word), "\n"), true
	}
	return "", false
}

// learn records the values that a script gives its variables.
func (s *scope) learn(file syntax.Node) {
	var stmt *syntax.Stmt
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			stmt = n
		case *syntax.Assign:
			s.assign(n)
		case *syntax.ForClause:
			loop, ok := n.Loop.(*syntax.WordIter)
			if !ok {
				break
			}
			items := []string{hole(passed)}
			if loop.InPos.IsValid() {
				items = slices.Concat(s.expansions(loop.Items...)...)
			}
			for _, item := range items {
				s.add(loop.Name.Value, textual(item))
			}
		case *syntax.CallExpr:
			s.learnRead(n, stmt)
		}
		return true
	})
}

// learnRead records the variables that a command sets, for example read.
func (s *scope) learnRead(call *syntax.CallExpr, stmt *syntax.Stmt) {
	if len(call.Args) == 0 || !settingVariables[call.Args[0].Lit()] {
		return
	}
	kind := made
	if text, piped := s.input(stmt); piped && strings.Trim(text, given) == "" {
		kind = given
	}
	for _, w := range call.Args[1:] {
		s.add(w.Lit(), textual(hole(kind)))
	}
}

func (s *scope) assign(a *syntax.Assign) {
	if a.Name == nil || a.Naked && a.Array == nil {
		return
	}
	before := []expand.Variable{{}}
	if a.Append && len(s.values[a.Name.Value]) > 0 {
		before = slices.Clone(s.values[a.Name.Value])
	}
	if a.Array != nil {
		var words []*syntax.Word
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				words = append(words, e.Value)
			}
		}
		for _, fields := range s.expansions(words...) {
			for _, b := range before {
				s.add(a.Name.Value, expand.Variable{Set: true, Kind: expand.Indexed, List: slices.Concat(b.List, fields)})
			}
		}
		return
	}
	for _, text := range s.literal(a.Value) {
		for _, b := range before {
			s.add(a.Name.Value, textual(b.Str+text))
		}
	}
}

func (s *scope) add(name string, v expand.Variable) {
	if s.values == nil {
		s.values = map[string][]expand.Variable{}
	}
	known := s.values[name]
	same := func(o expand.Variable) bool { return o.Str == v.Str && slices.Equal(o.List, v.List) }
	switch {
	case slices.ContainsFunc(known, same):
	case len(known) >= maxValues:
		s.values[name] = []expand.Variable{textual(hole(made))}
	default:
		s.values[name] = append(known, v)
	}
}

// output returns the text that statements print if it stands in them, else a hole.
func (s *scope) output(stmts []*syntax.Stmt) string {
	if len(stmts) == 1 {
		if text, ok := s.printedText(stmts[0]); ok {
			return text
		}
	}
	kind := given
	for _, stmt := range stmts {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			call, ok := n.(*syntax.CallExpr)
			if ok && len(call.Args) > 0 {
				if name := baseName(call.Args[0].Lit()); name == "" || makers[name] || languages[name] || shells[name] {
					kind = made
				}
			}
			return kind == given
		})
	}
	return hole(kind)
}

// wideField matches a format that makes a long text of a short one.
var wideField = pattern.New(`%[^%a-zA-Z]*(?:\d{4}|\*)`)

// printedText returns the output of a simple command that prints its own arguments or input.
func (s *scope) printedText(stmt *syntax.Stmt) (string, bool) { //nolint:gocyclo // a case for each command that prints
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", false
	}
	name := call.Args[0].Lit()
	if name == "cat" && len(call.Args) == 1 {
		for _, r := range stmt.Redirs {
			if text, ok := s.document(r); ok {
				return text, true
			}
		}
		return "", false
	}
	if name != "echo" && name != "printf" {
		return "", false
	}
	all := s.expansions(call.Args[1:]...)
	if len(all) != 1 || slices.ContainsFunc(all[0], func(w string) bool { return strings.Contains(w, `\0`) }) {
		return "", false // shells differ on such a number
	}
	args := all[0]
	if name == "echo" {
		for len(args) > 0 && len(args[0]) > 1 && strings.Trim(args[0], "neE") == "-" {
			args = args[1:]
		}
		text, _, err := expand.Format(s.config(), strings.Join(args, " ")+"\n", nil)
		return text, err == nil
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-v") || wideField.MatchString(args[0]) {
		return "", false
	}
	var out strings.Builder
	format, args := args[0], args[1:]
	for {
		text, n, err := expand.Format(s.config(), format, args)
		out.WriteString(text)
		if err != nil || out.Len() > maxExpanded {
			return "", false
		}
		if args = args[n:]; n == 0 || len(args) == 0 {
			return out.String(), true
		}
	}
}
