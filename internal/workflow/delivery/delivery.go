// Package delivery is the contract by which a team hands the work of a run over to another team: Markdown with front
// matter, in the form of the BMAD custom kit. [Render] writes one from the facts of a run, [Parse] reads one back after
// people have edited it. The keys and the columns by which it is read are the same in every language.
//
// # Invariants
//
//   - No text of a document or a person adds a key, a row or an acceptance to a contract (TestHostileTexts, FuzzContract).
package delivery

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Header is the front matter of a contract.
type Header struct {
	ContractID string `yaml:"contract_id" json:"contract_id"`
	Version    string `yaml:"version" json:"-"`
	// Status is "pending-acceptance" in a new contract; a person of the receiving team changes it.
	Status   string `yaml:"status" json:"status"`
	FromTeam string `yaml:"from_team" json:"from_team"`
	ToTeam   string `yaml:"to_team" json:"to_team"`
	Date     string `yaml:"date" json:"date"`
	SignedBy string `yaml:"signed_by" json:"signed_by"`
	// SessionID names the run, and Entries counts the entries of the history at the time; neither is in a contract of
	// another program.
	SessionID string `yaml:"session_id,omitempty" json:"session_id,omitempty"`
	Entries   int    `yaml:"history_entries,omitempty" json:"-"`
}

// Artifact is a delivered file: the path from the project, with forward slashes, and the hash in lower-case hexadecimal.
type Artifact struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Contract is a contract as it is read.
type Contract struct {
	Header `yaml:",inline"`
	// AcceptedBy and AcceptedOn are filled in by the receiving team.
	AcceptedBy string     `yaml:"-" json:"accepted_by"`
	AcceptedOn string     `yaml:"-" json:"accepted_date"`
	Artifacts  []Artifact `yaml:"-" json:"-"`
}

// The columns and the items by which a contract is read. No text of a person begins like an item: the underscore is escaped.
const (
	pathColumn, hashColumn = "path", "sha256"
	acceptedBy, acceptedOn = "- accepted_by:", "- accepted_date:"
)

// digest matches the cell of a hash, of which an editor may have taken the backticks.
var digest = pattern.New("^(`?)[0-9A-Fa-f]{64}(`?)$")

// statuses are those of a contract, the one of a new contract first.
var statuses = []string{"pending-acceptance", "accepted", "rejected", "renegotiating"}

// Acceptance judges the status: pending, named, unnamed if an answer has nobody's name, or unknown if contracts have no
// such status.
func (c Contract) Acceptance() string {
	switch {
	case c.Status == statuses[0]:
		return "pending"
	case !slices.Contains(statuses, c.Status):
		return "unknown"
	case c.AcceptedBy == "":
		return "unnamed"
	}
	return "named"
}

// Parse reads a contract as people leave it: with rows and columns in another order, or lines ended as on Windows. The
// error names the line.
func Parse(text string) (c Contract, err error) {
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	end := slices.Index(lines[1:], "---") + 1
	if lines[0] != "---" || end == 0 {
		return c, lang.Errorf("line %d: a contract begins with front matter between two lines ---", 1)
	}
	// The empty line has the library count as the file does. An error of it names the line.
	if err := yaml.Unmarshal([]byte("\n"+strings.Join(lines[1:end], "\n")), &c); err != nil {
		return c, lang.Errorf("the front matter is not valid: %s", visible.Fit(visible.Line(err.Error()), 300))
	}
	if c.ContractID == "" || c.Status == "" {
		return c, lang.Errorf("line %d: the front matter has no contract_id or no status", end+1)
	}
	return c, c.readBody(lines, end+1)
}

// readBody reads the tables of artifacts and the acceptance, from a line on.
func (c *Contract) readBody(lines []string, from int) error {
	path, hash, hasTable := -1, -1, false
	for i := from; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if !strings.HasPrefix(line, "|") {
			path, hash = -1, -1
			if by, ok := strings.CutPrefix(line, acceptedBy); ok {
				c.AcceptedBy = strings.TrimSpace(by)
			}
			if on, ok := strings.CutPrefix(line, acceptedOn); ok {
				c.AcceptedOn = strings.TrimSpace(on)
			}
			continue
		}
		cells := markdown.Cells(line, "")
		switch {
		case i+1 < len(lines) && markdown.IsTableRule(lines[i+1]):
			path, hash = slices.Index(cells, pathColumn), slices.Index(cells, hashColumn)
			hasTable = hasTable || path >= 0 && hash >= 0
			i++
		case path < 0 || hash < 0:
			if slices.ContainsFunc(cells, func(cell string) bool { return len(cell) > 64 && digest.MatchString(cell) }) {
				return lang.Errorf("line %d: a row with a hash is in no table with the columns %s and %s", i+1, pathColumn, hashColumn)
			}
		case len(cells) <= max(path, hash), !digest.MatchString(cells[hash]), strings.Trim(cells[path], "`") == "":
			return lang.Errorf("line %d: the row has no path, or no hash of 64 hexadecimal digits", i+1)
		default:
			c.Artifacts = append(c.Artifacts, Artifact{strings.Trim(cells[path], "`"), strings.ToLower(strings.Trim(cells[hash], "`"))})
		}
	}
	if !hasTable {
		return lang.Errorf("line %d: no table with the columns %s and %s follows", from, pathColumn, hashColumn)
	}
	return nil
}

// fitsTable reports whether a contract can name an artifact so that it is read back as it is.
func (a Artifact) fitsTable() bool {
	return digest.MatchString(a.SHA256) && a.Path == strings.TrimSpace(a.Path) && !visible.Hides(a.Path) && !strings.ContainsAny(a.Path, "`|\\\n\t")
}
