package mcpserver

import (
	"encoding/json"
	"math"

	"github.com/bmad-mcp/bmad-mcp/internal/arguments"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// memoryArguments are those of a call of the toolset memory.
type memoryArguments struct {
	cwd, section, agent, query, stack, folder, run, branch, status string
	category, task, output, kind, text, context, cursor            string
	// count is the number of entries wanted, or of tokens; 0 if the call does not say. No tool has two.
	count int
	// list is that of tags or files. No tool has both.
	list []string
}

// The most entries, results and tokens that a call may ask for.
const (
	maxEntries, maxResults, maxTokens = 50, 20, 8192
)

// memoryFields are the arguments of all these tools.
var memoryFields = []arguments.Argument[memoryArguments]{
	{Name: "cwd", Text: func(a *memoryArguments) *string { return &a.cwd }},
	{Name: "section", Text: func(a *memoryArguments) *string { return &a.section }},
	{Name: "agent", Text: func(a *memoryArguments) *string { return &a.agent }},
	{Name: "agent_id", Text: func(a *memoryArguments) *string { return &a.agent }},
	{Name: "query", Text: func(a *memoryArguments) *string { return &a.query }},
	{Name: "stack", Text: func(a *memoryArguments) *string { return &a.stack }},
	{Name: "working_dir", Text: func(a *memoryArguments) *string { return &a.folder }},
	{Name: "run_id", Text: func(a *memoryArguments) *string { return &a.run }},
	{Name: "branch", Text: func(a *memoryArguments) *string { return &a.branch }},
	{Name: "status", Text: func(a *memoryArguments) *string { return &a.status }},
	{Name: "category", Text: func(a *memoryArguments) *string { return &a.category }},
	{Name: "task", Text: func(a *memoryArguments) *string { return &a.task }},
	{Name: "output_key", Text: func(a *memoryArguments) *string { return &a.output }},
	{Name: "type", Text: func(a *memoryArguments) *string { return &a.kind }},
	{Name: "text", Text: func(a *memoryArguments) *string { return &a.text }},
	{Name: "context", Text: func(a *memoryArguments) *string { return &a.context }},
	{Name: "cursor", Text: func(a *memoryArguments) *string { return &a.cursor }},
	{Name: "last_n", Read: count(maxEntries)},
	{Name: "top_n", Read: count(maxEntries)},
	{Name: "limit", Read: count(maxResults)},
	{Name: "max_tokens", Read: count(maxTokens)},
	{Name: "tags", Read: readList},
	{Name: "context_files", Read: readList},
}

// count reads how many are wanted, at most most.
func count(most int) func(*memoryArguments, json.RawMessage) error {
	return func(to *memoryArguments, raw json.RawMessage) error {
		var n float64
		if json.Unmarshal(raw, &n) != nil {
			return lang.Errorf("must be a number, not %s", arguments.Kind(raw))
		}
		if n != math.Trunc(n) || n < 1 || n > float64(most) {
			return lang.Errorf("must be a whole number from 1 to %d, not %v", most, n)
		}
		to.count = int(n)
		return nil
	}
}

// readList reads a list of texts.
func readList(to *memoryArguments, raw json.RawMessage) error {
	if json.Unmarshal(raw, &to.list) != nil {
		return lang.Errorf("must be a list of texts, not %s", arguments.Kind(raw))
	}
	return nil
}
