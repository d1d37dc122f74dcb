package recall

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
)

//go:embed lexicon.tsv
var builtinText []byte

// TestLexiconIsPacked: the lexicon of the program is that of lexicon.tsv, and the one without French is that
// of its lines without their French cells.
func TestLexiconIsPacked(t *testing.T) {
	read, left := ParseLexicon(builtinText)
	if len(left) > 0 {
		t.Fatal(left)
	}
	golden.Bytes(t, "lexicon.packed", read.pack())
	if t.Failed() {
		return
	}
	data, err := os.ReadFile("lexicon.packed")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(builtinText)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		rows = append(rows, strings.Join(slices.DeleteFunc(cells, func(cell string) bool { return strings.HasPrefix(cell, "fr|") }), "\t"))
	}
	two, _ := ParseLexicon([]byte(strings.Join(rows, "\n")))
	words := func(l *Lexicon) (names []string) {
		units := l.Units(string(builtinText))
		counts := l.Count(string(builtinText))
		for _, u := range units {
			names = append(names, fmt.Sprint(u.Text, u.Known(), u.Weak, counts.Of(u)))
		}
		return names
	}
	for name, pair := range map[string][2]*Lexicon{
		"all": {read, unpack(string(data), false)}, "with more": {buildLexicon(nil).With(read), unpack(string(data), false).With(buildLexicon(nil))}, "two": {two, unpack(string(data), true)},
	} {
		if want, got := words(pair[0]), words(pair[1]); len(want) < 1000 || !slices.Equal(want, got) {
			t.Errorf("%s: the packed lexicon finds other units in its terms", name)
		}
	}
	if read.sum() != unpack(string(data), false).sum() || read.sum() == two.sum() {
		t.Error("the sum of a lexicon is not that of its content")
	}
}

// TestPackedVersion: texts are taken apart as they were when the version of a packed index was raised last.
// Who changes that raises the version, and then the sum here.
func TestPackedVersion(t *testing.T) {
	l, _ := ParseLexicon([]byte("en|sign in|login\tfr|se connecter|connexion\tzh|登录\nen|invoice|bill\tfr|facture\tzh|发票\n"))
	x := New(l)
	for _, name := range []string{"notes.tsv", "queries.tsv", "briefings.tsv", "../stop.txt", "../traditional.txt"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			x.Put(Doc{Key: fmt.Sprint(name, x.Len()), Text: line})
		}
	}
	const want = "recall 3\n 330a2af71175a30a85e3601096c5285ac5643fb180eb816b7a6e8e8bedfce35f"
	if got := fmt.Sprintf("%s %x", version, sha256.Sum256(x.Pack()[len(version)+sha256.Size:])); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
