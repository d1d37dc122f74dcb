package mcpserver

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// memoryArguments are those of a call of the toolset memory.
type memoryArguments struct {
	cwd, section, agent, query, stack, folder, run, branch, status string
	category, task, output, kind, text, context, cursor            string
	// count is how many entries are wanted, or tokens; 0 where the call does not say. No tool has two.
	count int
	// list is that of tags or files. No tool has both.
	list []string
}

// The most entries, results and tokens that a call may ask for.
const (
	maxEntries, maxResults, maxTokens = 50, 20, 8192
)

// memoryFields are the arguments of all these tools.
var memoryFields = []argument[memoryArguments]{
	{name: "cwd", text: func(a *memoryArguments) *string { return &a.cwd }},
	{name: "section", text: func(a *memoryArguments) *string { return &a.section }},
	{name: "agent", text: func(a *memoryArguments) *string { return &a.agent }},
	{name: "agent_id", text: func(a *memoryArguments) *string { return &a.agent }},
	{name: "query", text: func(a *memoryArguments) *string { return &a.query }},
	{name: "stack", text: func(a *memoryArguments) *string { return &a.stack }},
	{name: "working_dir", text: func(a *memoryArguments) *string { return &a.folder }},
	{name: "run_id", text: func(a *memoryArguments) *string { return &a.run }},
	{name: "branch", text: func(a *memoryArguments) *string { return &a.branch }},
	{name: "status", text: func(a *memoryArguments) *string { return &a.status }},
	{name: "category", text: func(a *memoryArguments) *string { return &a.category }},
	{name: "task", text: func(a *memoryArguments) *string { return &a.task }},
	{name: "output_key", text: func(a *memoryArguments) *string { return &a.output }},
	{name: "type", text: func(a *memoryArguments) *string { return &a.kind }},
	{name: "text", text: func(a *memoryArguments) *string { return &a.text }},
	{name: "context", text: func(a *memoryArguments) *string { return &a.context }},
	{name: "cursor", text: func(a *memoryArguments) *string { return &a.cursor }},
	{name: "last_n", read: count(maxEntries)},
	{name: "top_n", read: count(maxEntries)},
	{name: "limit", read: count(maxResults)},
	{name: "max_tokens", read: count(maxTokens)},
	{name: "tags", read: readList},
	{name: "context_files", read: readList},
}

// memoryTable returns the arguments of a tool with a schema, which says which of them it needs.
func memoryTable(names []string, example string, schema json.RawMessage) arguments[memoryArguments] {
	var needs struct{ Required []string }
	if err := json.Unmarshal(schema, &needs); err != nil {
		panic(err) // it is part of the program
	}
	out := arguments[memoryArguments]{example: example}
	for _, name := range append(names, "cwd") {
		field := memoryFields[slices.IndexFunc(memoryFields, func(f argument[memoryArguments]) bool { return f.name == name })]
		if slices.Contains(needs.Required, name) {
			field.missing = lang.T("pass it, such as %s", example)
		}
		out.table = append(out.table, field)
	}
	return out.of(schema)
}

// count reads how many are wanted, at most most.
func count(most int) func(*memoryArguments, json.RawMessage) error {
	return func(to *memoryArguments, raw json.RawMessage) error {
		var n float64
		if json.Unmarshal(raw, &n) != nil {
			return lang.Errorf("must be a number, not %s", kind(raw))
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
		return lang.Errorf("must be a list of texts, not %s", kind(raw))
	}
	return nil
}
