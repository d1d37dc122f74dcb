package lang

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// saying are the functions that say a sentence, with the place of its format among their
// arguments. Those with a package are functions, the others methods.
var saying = map[string]int{
	"Say": 0, "say": 0, "Warnf": 0, "Header": 0, "Conclude": 1, "WithHint": 0, "AddHint": 0,
	"tightened": 0, "problem": 1, "T": 0, "lang.Errorf": 0, "fault.New": 1, "mistake": 2, "r.mistake": 1,
}

// spoken are the keys of YAML files whose texts are said to people.
var spoken = []string{"role", "document", "description", "when", "problem", "fix"}

// TestMain adds the languages of the folders of this package, whose own packages import it.
func TestMain(m *testing.M) {
	found, err := filepath.Glob(filepath.Join("*", about))
	if err != nil || len(found) == 0 {
		panic(fmt.Sprint("no languages: ", err))
	}
	for _, name := range found {
		folder := filepath.Dir(name)
		Add(Language(folder), os.DirFS(folder))
	}
	os.Exit(m.Run())
}

// silent are packages that say nothing to people: this one but for its table of errors, and
// parts of tests.
var silent = []string{"lang", "conformance", "durabletest", "storetest"}

// source has the program's sentences with the place of one use.
type source struct {
	sentences, nouns map[string]string
	// data are the texts of YAML files, whose arguments stand in braces.
	data map[string]bool
	// texts are all constant texts, which the keys of the catalogues must be among.
	texts map[string]bool
}

// elsewhere are files of catalogues that other tests check: the texts of commands (internal/cli)
// are put together before their paragraphs are translated.
var elsewhere = []string{"help.po"}

// TestCatalogues checks that each catalogue has every sentence of the program, with the same
// arguments, and no other.
func TestCatalogues(t *testing.T) {
	t.Parallel()
	found := readSource(t, filepath.Join("..", ".."), filepath.Join("..", "..", "..", "prompts"))
	found.readGo(t, "disk.go")
	for _, c := range catalogues() {
		all := c.sentences()
		for sentence, place := range found.sentences {
			translation, ok := all[sentence]
			switch {
			case !ok || !translation.IsTranslated() || translation.Get() == "":
				t.Errorf("%s: %s lacks the sentence %q", place, c.tag, sentence)
			case found.data[sentence] && fields(sentence) != fields(translation.Get()), !found.data[sentence] && verbs(sentence) != verbs(translation.Get()):
				t.Errorf("%s: %s has other arguments in %q than in %q", place, c.tag, translation.Get(), sentence)
			}
		}
		for noun, place := range found.nouns {
			if c.count(2, noun) == "" {
				t.Errorf("%s: %s lacks the noun %q in %s", place, c.tag, noun, about)
			}
		}
		for _, name := range elsewhere {
			for id := range c.readFile(name).GetTranslations() {
				found.texts[id] = true
			}
		}
		for sentence, translation := range all {
			noun := strings.TrimPrefix(sentence, "%d ")
			if !found.texts[sentence] && (translation.PluralID == "" || !found.texts[noun]) {
				t.Errorf("%s has a sentence that nothing says: %q", c.tag, sentence)
			}
		}
	}
}

var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[-+# 0]*[\d.]*([a-zA-Z%])`)

// verbs lists the arguments of a format in their order.
func verbs(format string) string {
	var out []string
	next := 1
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		if m[2] == "%" {
			continue
		}
		if m[1] != "" {
			next, _ = strconv.Atoi(m[1])
		}
		out = append(out, strconv.Itoa(next)+strings.Replace(m[2], "w", "v", 1))
		next++
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

var field = regexp.MustCompile(`\{\w+\}`)

// fields lists the arguments of a text of a YAML file.
func fields(text string) string {
	out := field.FindAllString(text, -1)
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

func readSource(t *testing.T, roots ...string) source {
	t.Helper()
	found := source{sentences: map[string]string{}, nouns: map[string]string{}, data: map[string]bool{}, texts: map[string]bool{}}
	for _, root := range roots {
		found.readFolder(t, root)
	}
	return found
}

func (s source) readFolder(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || slices.Contains(silent, d.Name())):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".yaml"):
			s.readYAML(t, path)
		case d.Name() == "kept.txt":
			s.readKept(t, path)
		case strings.HasSuffix(path, ".html"):
			s.readTemplate(t, path)
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			s.readGo(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s source) readGo(t *testing.T, path string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			if text, constant := textOf(e); constant {
				s.texts[strings.ReplaceAll(text, "%w", "%v")] = true
			}
		}
		if call, ok := n.(*ast.CallExpr); ok {
			s.readCall(t, set.Position(call.Pos()), call)
		}
		return true
	})
}

func (s source) readCall(t *testing.T, at token.Position, call *ast.CallExpr) {
	t.Helper()
	place := at.Filename + ":" + strconv.Itoa(at.Line)
	name := nameOf(call.Fun)
	if base := name[strings.LastIndexByte(name, '.')+1:]; base == "Count" && name != "strings.Count" && len(call.Args) == 2 {
		if noun, ok := textOf(call.Args[1]); ok {
			s.nouns[noun] = place
		}
		return
	}
	at0, ok := saying[name]
	if base := name[strings.LastIndexByte(name, '.')+1:]; !ok {
		at0, ok = saying[base]
	}
	if !ok || len(call.Args) <= at0 {
		return
	}
	sentence, constant := textOf(call.Args[at0])
	if !constant {
		if _, named := call.Args[at0].(*ast.Ident); !named {
			t.Errorf("%s: the sentence is put together: a catalogue cannot have it", place)
		}
		return
	}
	if strings.ContainsFunc(verb.ReplaceAllString(sentence, ""), unicode.IsLetter) {
		s.sentences[strings.ReplaceAll(sentence, "%w", "%v")] = place
	}
}

// readTemplate reads the sentences of a page's template, which are constant arguments of say.
func (s source) readTemplate(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	trees := map[string]*parse.Tree{}
	tree := parse.New(filepath.Base(path))
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(string(text), "", "", trees); err != nil {
		t.Fatal(err)
	}
	for _, tree := range trees {
		s.readNode(t, path, reflect.ValueOf(tree.Root))
	}
}

func (s source) readNode(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	if command, ok := v.Interface().(*parse.CommandNode); ok && command != nil && len(command.Args) > 1 {
		name, text := command.Args[0].String(), command.Args[len(command.Args)-1]
		if name == "say" {
			text = command.Args[1]
		}
		quoted, constant := text.(*parse.StringNode)
		switch {
		case name != "say" && name != "count":
		case !constant:
			t.Errorf("%s: the sentence of %s is not constant: a catalogue cannot have it", path, command)
		case name == "count":
			s.nouns[quoted.Text], s.texts[quoted.Text] = path, true
		default:
			s.sentences[quoted.Text], s.texts[quoted.Text] = path, true
		}
	}
	switch v = reflect.Indirect(v); v.Kind() {
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(v.Type()) {
			if part := v.FieldByIndex(field.Index); field.IsExported() && !field.Anonymous && slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Interface}, part.Kind()) {
				s.readNode(t, path, part)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			s.readNode(t, path, v.Index(i))
		}
	case reflect.Interface:
		s.readNode(t, path, v.Elem())
	}
}

// nameOf names a function: with its package, or as a method.
func nameOf(fun ast.Expr) string {
	switch f := fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
		return f.Sel.Name
	}
	return ""
}

// textOf returns the text of a literal, or of several put together.
func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := textOf(e.X)
		right, both := textOf(e.Y)
		return left + right, ok && both && e.Op == token.ADD
	case *ast.ParenExpr:
		return textOf(e.X)
	}
	return "", false
}

// readKept reads the purposes in the list of folders that are never a project.
func (s source) readKept(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if _, why, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !strings.HasPrefix(line, "#") {
			s.sentences[why], s.texts[why] = path, true
		}
	}
}

func (s source) readYAML(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var walk func(n *yaml.Node)
	said := spoken
	if filepath.Base(filepath.Dir(path)) == "rubrics" {
		said = append([]string{"name"}, spoken...) // of a section
	}
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && child.Kind == yaml.ScalarNode && slices.Contains(said, n.Content[i-1].Value) {
				s.texts[child.Value] = true
				s.data[child.Value], s.sentences[child.Value] = true, path+":"+strconv.Itoa(child.Line)
			}
			walk(child)
		}
	}
	walk(&document)
}
