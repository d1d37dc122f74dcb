package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/bmad-mcp/bmad-mcp/"

// wing is a folder below internal, or a public one at the top.
type wing struct {
	// below has the wings that it may use.
	below string
	// doors are the rooms that other wings may enter; "." is the wing's own package. The rooms below its folder
	// internal are kept by the compiler.
	doors string
}

var wings = map[string]wing{
	"base":     {doors: "codediff csvtable durable fault feed git httpguard lang lang/zh markdown markdown/changes markdown/render notify obeyed pattern process recall recent signature textdiff visible"},
	"workflow": {doors: ". audit delivery intake lesson story trace verdict", below: "base"},
	"method":   {doors: ". catalog gitsource", below: "base"},
	"store":    {doors: ". artifact filestore pgstore queue transfer", below: "base workflow"},
	"trust":    {doors: ". reach verify", below: "base workflow"},
	"sdk":      {doors: ". pandoc price provider provider/anthropic provider/openai template toolserver vfs", below: "base method"},
	"prompts":  {doors: ".", below: "base workflow"},
	"proof":    {doors: ".", below: "base workflow store"},
	"project":  {doors: ". config sources", below: "base workflow method store trust sdk prompts"},
	"engine":   {doors: ". gate reply request", below: "base workflow store trust project prompts proof"},
	"memory":   {doors: ". embedding notes queue", below: "base workflow store project"},
	"headless": {doors: ". hostcli remote sdkhttp", below: "base workflow store sdk project engine"},
	"fleet":    {doors: ".", below: "base workflow store project engine headless"},
	"hosts":    {doors: ". doctor hook mention", below: "base workflow store engine"},
	"docs":     {doors: "."},
	"mcp":      {doors: "mcpserver", below: "base workflow method project engine memory"},
	"web":      {doors: ". pairing passkey report", below: "base workflow store sdk project engine memory headless docs"},
	"cli":      {doors: ".", below: "base workflow method store trust proof sdk project engine memory headless fleet hosts docs mcp web"},
	"cmd":      {below: "cli hosts"},
}

// wingOf returns the wing of a package, and its room in it.
func wingOf(pkg string) (name, room string) {
	name, room, inside := strings.Cut(strings.TrimPrefix(pkg, "internal/"), "/")
	if !inside {
		room = "."
	}
	return name, room
}

// eachImport calls visit for each import of the code of the program: not for tests, nor for packages that only
// tests are made of.
func eachImport(t *testing.T, visit func(path, pkg, imported string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && d.Name() != ".."
		forTests := d.Name() == "testdata" || d.Name() == "testkit" || d.Name() == "conformance" || strings.HasSuffix(d.Name(), "test")
		if d.IsDir() && (hidden || forTests) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel("..", filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			visit(path, filepath.ToSlash(pkg), imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWings: each wing uses only those below it, and enters them by their doors.
func TestWings(t *testing.T) {
	arrows, entered := map[[2]string]bool{}, map[string]bool{}
	eachImport(t, func(path, pkg, imported string) {
		ours, ok := strings.CutPrefix(imported, module)
		from, _ := wingOf(pkg)
		to, room := wingOf(ours)
		if !ok || from == to {
			return
		}
		arrows[[2]string{from, to}], entered[to+" "+room] = true, true
		if !slices.Contains(strings.Fields(wings[from].below), to) {
			t.Errorf("%s: the wing %s may not use the wing %s", path, from, to)
		}
		if !slices.Contains(strings.Fields(wings[to].doors), room) {
			t.Errorf("%s: %s is no door of the wing %s", path, room, to)
		}
	})
	for name, w := range wings {
		for below := range strings.FieldsSeq(w.below) {
			if !arrows[[2]string{name, below}] {
				t.Errorf("the wing %s does not use %s; the table is to say what is", name, below)
			}
		}
		for door := range strings.FieldsSeq(w.doors) {
			if !entered[name+" "+door] && name != "sdk" { // which others use
				t.Errorf("nobody enters the wing %s by the door %s; move it below its folder internal", name, door)
			}
		}
	}
	floors := map[string]int{}
	for range wings {
		for arrow := range arrows {
			floors[arrow[0]] = max(floors[arrow[0]], floors[arrow[1]]+1)
		}
	}
	highest := slices.Max(slices.Collect(maps.Values(floors)))
	if highest >= len(wings) {
		t.Errorf("the wings use each other in a circle")
	}
	t.Logf("%d wings on %d floors, %d arrows", len(wings), highest+1, len(arrows))
}
