// Package criteria reads a document of requirements as a tree of headings, items, rows and paragraphs, and finds in it
// the stories, the requirements and the criteria that a tester owes an answer to. It is the one reader of them: the
// verdict, the plan, the audit and the pages ask it.
//
// Whatever has an id of a family at its beginning is a requirement; families are found in the document, and not
// listed. What stands below a heading or label of acceptance criteria or scenarios is a criterion of the story or
// requirement above. Only leaves are owed: a requirement that has criteria of its own is owed through them.
//
// # Invariants
//
//   - Two criteria never become one: an id that stands twice with different texts is qualified by its place
//     (TestRepeatedIDs).
//   - The same text gives the same ids, and ids are unique in a document (FuzzRead).
//   - A document takes time in proportion to its length (BenchmarkRead, FuzzRead).
package criteria

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Kind is what a node of a document is.
type Kind byte

// The kinds of nodes.
const (
	Section Kind = iota
	Epic
	Story
	Requirement
	Criterion
)

// Form is how a node is written.
type Form byte

// The forms of nodes.
const (
	Heading   Form = 'h'
	Item      Form = 'l'
	Row       Form = 't'
	Paragraph Form = 'p'
)

// Node is a section, story, requirement or criterion of a document.
type Node struct {
	Kind Kind
	Form Form
	// ID names the node in the document, once. An owed node has one.
	ID string
	// Identifier is the id as it is written. The id of a node that is named by its place has no letters.
	Identifier
	// Title is the name of a section, story or scenario; Text all that a criterion says, on one line.
	Title, Text string
	// Line is the first line, and End the line after the last one, from 0.
	Line, End int
	// Parent is the index of the node around this one, -1 if there is none.
	Parent int
	// Owed is true if the node is a leaf that a report has to answer.
	Owed bool

	// placed is true if the id is only the place: the second criterion of a story. scenario is true if it stands
	// below an announcement of scenarios.
	placed, scenario bool
	// guessed is true if only the name of the document says that the node is a criterion.
	guessed bool
	// listed is true if the node stands in a list of criteria, marked if a mark follows the id; struck is true if the
	// node and all below is struck out.
	listed, marked, struck bool
	// restated is true if the node may repeat one of another place.
	restated bool
	// keys are the ids by which a report or plan may name the node, as [Key] gives them.
	keys []string
}

// ofSprint reports whether an id is one of a sprint's story or task: "S1-2", "T1.2".
func ofSprint(n Node) bool { return (n.Family == "S" || n.Family == "T") && len(n.Number) == 2 }

// IsWork reports whether a node is a story, or an entry of a sprint as plans number them: "S1-2".
func (n Node) IsWork() bool { return n.Kind == Story || ofSprint(n) }

// Document is a document with its nodes, in the order of the lines.
type Document struct {
	*markdown.Document
	Nodes []Node

	// titleLine is the line of the document's own heading if others stand below it, else -1.
	titleLine int
	// repeated are the numbers that stories of several epics have.
	repeated map[string]bool
	// stories has the story of each node.
	stories []int
	// byKey has the owed nodes by the forms of their ids, -1 for those of several.
	byKey map[string]int
}

// Owed returns the nodes that a report has to answer.
func (d *Document) Owed() []Node {
	return slices.DeleteFunc(slices.Clone(d.Nodes), func(n Node) bool { return !n.Owed })
}

// maxText is how much of a criterion's text is kept, in bytes, and maxLines how many of its lines are read.
const (
	maxText  = 600
	maxLines = 20
)

// clipText returns a text on one line without marks at its ends.
func clipText(s string) string {
	return strings.Trim(visible.Fit(strings.Join(strings.Fields(strings.ReplaceAll(s, "**", "")), " "), maxText), " *_`:：.|-")
}
