package criteria

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

// Read reads the nodes of a document.
func Read(text string) *Document { return ReadDocument(markdown.Read(text, nil)) }

// ReadDocument reads the nodes of a document of Markdown.
func ReadDocument(doc *markdown.Document) *Document {
	out := readNodes(doc)
	out.markLeaves()
	out.nameNodes()
	return out
}

// ReadFormer reads the nodes that a document owed by the rules of former programs, which runs keep that began with
// them: of AC, FR and US the first family, else the ids in sections of acceptance criteria.
func ReadFormer(text string) *Document {
	out := readNodes(markdown.Read(text, nil))
	out.markFormer()
	out.nameNodes()
	return out
}

// readNodes reads the nodes without their names.
func readNodes(doc *markdown.Document) *Document {
	out := &Document{Document: doc, titleLine: -1}
	if _, at := doc.Title(); at >= 0 && slices.ContainsFunc(doc.Heads[at+1:], func(h markdown.Heading) bool { return h.Level <= 6 }) {
		out.titleLine = doc.Heads[at].Line
	}
	r := reader{doc: doc, sections: classify(doc), titleLine: out.titleLine, stories: map[string]int{}, others: map[int]bool{}}
	for i := range doc.Lines {
		r.readLine(i)
	}
	r.close(0, len(doc.Lines))
	out.Nodes = r.nodes
	out.chooseNodes(r.sections)
	return out
}
