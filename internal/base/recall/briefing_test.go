package recall_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
)

type objective struct {
	project, half, text string
	related             []string
}

func briefings(t testing.TB) (map[string][]recall.Doc, []objective) {
	t.Helper()
	data, err := os.ReadFile("testdata/briefings.tsv")
	if err != nil {
		t.Fatal(err)
	}
	projects := map[string][]recall.Doc{}
	var out []objective
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		switch row := strings.Split(line, "\t"); row[0] {
		case "note":
			projects[row[1]] = append(projects[row[1]], recall.Doc{Key: row[2], Text: row[3]})
		case "objective":
			o := objective{project: row[1], half: row[2], text: row[4]}
			if row[3] != "-" {
				o.related = strings.Split(row[3], ",")
			}
			out = append(out, o)
		}
	}
	return projects, out
}

// TestBriefings checks that an objective of forty words, or of three, finds the notes of a small
// project that belong to it, in any of the languages, and leaves the others out. A note of another
// subject that shares the only word of a short objective counts as one of the others, though a reader
// may find that it belongs to it. Every number is a floor below the one that was measured, or a
// ceiling above it.
func TestBriefings(t *testing.T) {
	projects, objectives := briefings(t)
	floors := map[string][3]int{ // at least this many related notes, at most this many unrelated ones and distractors
		"0 tuned": {11, 2, 0}, "0 held": {8, 2, 0}, "370 tuned": {7, 0, 12}, "370 held": {4, 0, 12}, "10000 tuned": {4, 0, 6}, "10000 held": {2, 0, 4},
		"0 short": {24, 4, 0}, "370 short": {17, 2, 45}, "10000 short": {13, 1, 90},
	}
	for _, n := range []int{0, 370, 10000} {
		among(n, nil, func(x *recall.Index) {
			for _, half := range []string{"tuned", "held", "short"} {
				related, found, kept, unrelated, others := 0, 0, 0, 0, 0
				for _, o := range objectives {
					if o.half != half {
						continue
					}
					for _, d := range projects[o.project] {
						x.Put(d)
					}
					related += len(o.related)
					unrelated += len(projects[o.project]) - len(o.related)
					for _, h := range x.Relevant(o.text, 5, nil) {
						switch {
						case slices.Contains(o.related, h.Key):
							found++
						case len(h.Key) == 1:
							kept++
						default:
							others++
						}
					}
					for _, d := range projects[o.project] {
						x.Drop(d.Key)
					}
				}
				name := fmt.Sprintf("%d %s", n, half)
				t.Logf("%s: of %d related notes %d found, of %d unrelated ones %d kept, and %d of %d others", name, related, found, unrelated, kept, others, n)
				if f := floors[name]; found < f[0] || kept > f[1] || others > f[2] {
					t.Errorf("%s: found %d, want %d or more; kept %d unrelated, want %d at most, and %d others, want %d at most", name, found, f[0], kept, f[1], others, f[2])
				}
			}
		})
	}
}
