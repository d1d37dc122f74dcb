package memory

import (
	"errors"
	"io/fs"
	"math"
	"path"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/recall"
)

// Found is a note that was found.
type Found struct {
	ID    string     `json:"id"`
	Type  notes.Type `json:"type"`
	Agent string     `json:"agent"`
	Text  string     `json:"text"`
	Tags  []string   `json:"tags,omitempty"`
	Date  string     `json:"date,omitempty"`
	Score float64    `json:"score"`
	// Coverage is the part of the query that the note has.
	Coverage float64 `json:"coverage"`
	// Weak: it probably has nothing to do with the query. Stale: every path that it names is gone.
	// Suspicious: it addresses the model that reads it.
	Weak       bool `json:"weak,omitempty"`
	Stale      bool `json:"stale,omitempty"`
	Suspicious bool `json:"suspicious,omitempty"`
	// Source is the file of the note, and its line.
	Source string `json:"source"`
}

// maxShownText is how much of a note is shown, in bytes.
const maxShownText = 600

// describe returns a note as a recall shows it.
func (r *reading) describe(n placed, h recall.Hit) Found {
	text := untrusted.Shown(n.Text, maxShownText)
	return Found{
		ID: n.ID, Type: n.Type, Agent: untrusted.Label(n.Agent, notes.MaxAgent), Text: text, Tags: shownAll(n.Tags), Date: date(n.UpdatedAt),
		Score: round(h.Score), Coverage: round(h.Coverage), Weak: h.Weak(), Stale: r.stale(text), Suspicious: n.Suspicious(), Source: r.source(n),
	}
}

// date returns a day; "" if there is none.
func date(t notes.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02")
}

func round(x float64) float64 { return math.Round(x*1000) / 1000 }

// shownAll returns the first tags of a note, or files of a task, as they are shown.
func shownAll(list []string) []string {
	out := make([]string, min(len(list), notes.MaxTags))
	for i := range out {
		out[i] = untrusted.Shown(list[i], notes.MaxName)
	}
	return out
}

// label returns a name as it is shown.
func label(name string) string { return untrusted.Label(name, notes.MaxName) }

// pathLike matches words that look like the path of a file in the project, for example src/main.go.
var pathLike = pattern.New(`(?:[\w.@-]+/)+[\w@-][\w.@-]*\.[A-Za-z][A-Za-z0-9]{0,7}\b`)

// maxPaths is how many paths of a note are looked for on the disk.
const maxPaths = 8

// stale reports whether a text names files of the project, and every one of them is gone.
func (r *reading) stale(text string) bool {
	looked := 0
	for _, at := range pathLike.FindAllStringIndex(text, maxPaths) {
		name := path.Clean(text[at[0]:at[1]])
		before := text[:at[0]]
		if !fs.ValidPath(name) || before != "" && strings.Contains("/~:", before[len(before)-1:]) {
			continue // of another place
		}
		if _, err := r.p.Dir.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
		looked++
	}
	return looked > 0
}
