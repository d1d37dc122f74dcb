package audit

import "github.com/bmad-mcp/bmad-mcp/internal/recent"

// kept are the documents of earlier stages that were read last: they do not change while the later
// stages are audited, and each audit is traced to all of them.
var kept = recent.New[string, *text](8)

// maxKept is the size of a document that is kept, in bytes; its text takes several times as much memory.
const maxKept = 256 << 10

// readEarlier returns the text of a document, which several calls may share.
func readEarlier(document string) *text {
	if found, ok := kept.Get(document); ok {
		return found
	}
	made := readText(document, nil)
	if len(document) <= maxKept {
		kept.Put(document, made)
	}
	return made
}
