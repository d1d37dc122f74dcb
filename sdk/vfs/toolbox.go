package vfs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// EditFile is the tool whose use, if it is repeated, can change a file twice.
const EditFile = "edit_file"

// MaxResult bounds the result of a tool, in bytes.
const MaxResult = 30_000

// ToolOptions configure a [Toolbox].
type ToolOptions struct {
	// ReadOnly leaves out the tools for writing.
	ReadOnly bool
	// Commands are command lines for the agent to run as they are, by Run.
	Commands []string
	Run      func(ctx context.Context, command string) (output string, failed bool)
	// Wrote, if not nil, is called with the path of each file after a tool has written it.
	Wrote func(name string)
}

// Toolbox has an agent's file tools. Methods may be called at the same time.
type Toolbox struct {
	files FS
	o     ToolOptions
	tools []tool
}

// tool is a tool with its function.
type tool struct {
	provider.Tool
	// run returns the result for the model. An error is a failed result.
	run func(b *Toolbox, ctx context.Context, in arguments) (string, error)
	// writes is true for a tool with changes of files.
	writes bool
}

// arguments are the arguments of all tools; the second names are from other programs' agents.
type arguments struct {
	FilePath   *string `json:"file_path"`
	Path       *string `json:"path"`
	Directory  *string `json:"directory"`
	Content    *string `json:"content"`
	OldString  *string `json:"old_string"`
	NewString  *string `json:"new_string"`
	ReplaceAll bool    `json:"replace_all"`
	Offset     int     `json:"offset"`
	Limit      int     `json:"limit"`
	Pattern    *string `json:"pattern"`
	Glob       string  `json:"glob"`
	IgnoreCase bool    `json:"case_insensitive"`
	Command    *string `json:"command"`
}

// filePath returns the path of a file.
func (a arguments) filePath() *string {
	if a.FilePath != nil {
		return a.FilePath
	}
	return a.Path
}

// folderPath returns the path of a folder.
func (a arguments) folderPath() string {
	for _, given := range []*string{a.Path, a.Directory, a.FilePath} {
		if given != nil && *given != "" {
			return *given
		}
	}
	return "/"
}

// allTools are the tools in the order in which models see them.
var allTools = []tool{
	{Tool: newTool("read_file", "Read a text file. A long one is returned in pieces: go on with offset, which counts lines from 1.",
		`"file_path":{"type":"string","description":"absolute path"},"offset":{"type":"integer","description":"first line"},"limit":{"type":"integer","description":"number of lines"}`, "file_path"), run: (*Toolbox).read},
	{Tool: newTool("write_file", "Write a file, with the folders above it, or replace the whole of its content.",
		`"file_path":{"type":"string","description":"absolute path"},"content":{"type":"string"}`, "file_path", "content"), run: (*Toolbox).writeFile, writes: true},
	{Tool: newTool(EditFile, "Replace a text in a file, literally. old_string has to occur exactly once, unless replace_all is true.",
		`"file_path":{"type":"string","description":"absolute path"},"old_string":{"type":"string"},"new_string":{"type":"string"},"replace_all":{"type":"boolean"}`, "file_path", "old_string", "new_string"), run: (*Toolbox).edit, writes: true},
	{Tool: newTool("list_files", "List the files and folders in a folder, with their sizes.",
		`"path":{"type":"string","description":"absolute path; / by default"}`), run: (*Toolbox).list},
	{Tool: newTool("glob_pattern", "Find files by a pattern: * stops at /, ** crosses it; ?, [a-z] and {a,b} work.",
		`"pattern":{"type":"string"},"path":{"type":"string","description":"folder to search; / by default"}`, "pattern"), run: (*Toolbox).glob},
	{Tool: newTool("grep_search", "Find the lines that match a regular expression (RE2) in all files of a folder.",
		`"pattern":{"type":"string"},"path":{"type":"string","description":"file or folder to search; / by default"},"glob":{"type":"string","description":"only files of this pattern"},"case_insensitive":{"type":"boolean"}`, "pattern"), run: (*Toolbox).grep},
	{Tool: newTool("bash_command", "Run one simple command: mkdir, ls, pwd, echo or cat. It is not a shell.",
		`"command":{"type":"string"}`, "command"), run: (*Toolbox).runBash},
}

func newTool(name, description, properties string, required ...string) provider.Tool {
	text := `{"type":"object","properties":{` + properties + `}`
	if len(required) > 0 {
		text += `,"required":["` + strings.Join(required, `","`) + `"]`
	}
	return provider.Tool{Name: name, Description: description, Schema: json.RawMessage(text + "}")}
}

// NewToolbox returns the tools for a file system.
func NewToolbox(files FS, o ToolOptions) *Toolbox {
	b := &Toolbox{files: files, o: o}
	for _, t := range allTools {
		if t.writes && o.ReadOnly {
			continue
		}
		if t.Name == "bash_command" && len(o.Commands) > 0 && o.Run != nil {
			t.Description += " These command lines are run as they stand: " + strings.Join(o.Commands, "; ")
		}
		b.tools = append(b.tools, t)
	}
	return b
}

// Tools describes the tools to a model.
func (b *Toolbox) Tools() []provider.Tool {
	out := make([]provider.Tool, 0, len(b.tools))
	for _, t := range b.tools {
		out = append(out, t.Tool)
	}
	return out
}

// Execute uses a tool, and returns the result for the model; failed marks it as an error. input is JSON as the
// model wrote it.
func (b *Toolbox) Execute(ctx context.Context, name, input string) (text string, failed bool) {
	defer func() {
		if cause := recover(); cause != nil {
			text, failed = fmt.Sprintf("The tool %s failed by a fault of its own: %v", name, cause), true
		}
		text = Truncate(text)
	}()
	at := slices.IndexFunc(b.tools, func(t tool) bool { return t.Name == name })
	if at < 0 {
		return fmt.Sprintf("Unknown tool: %s. There are: %s", name, strings.Join(b.toolNames(), ", ")), true
	}
	t := b.tools[at]
	in, err := t.parseInput(input)
	if err == nil {
		text, err = t.run(b, ctx, in)
	}
	if err != nil {
		return err.Error(), true
	}
	return text, false
}

func (b *Toolbox) toolNames() []string {
	var names []string
	for _, t := range b.tools {
		names = append(names, t.Name)
	}
	return names
}

// parseInput reads the input of a tool.
func (t tool) parseInput(input string) (in arguments, err error) {
	var form struct {
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(t.Schema, &form); err != nil {
		return in, err
	}
	required := "there are no required keys"
	if len(form.Required) > 0 {
		required = "required: " + strings.Join(form.Required, ", ")
	}
	if strings.TrimSpace(input) == "" {
		input = "{}"
	}
	if !utf8.ValidString(input) { // the decoder would replace bytes in silence
		return in, fmt.Errorf("the input of %s is not valid UTF-8; %s", t.Name, required)
	}
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		return in, fmt.Errorf("the input of %s is not JSON of its schema (%w); %s", t.Name, err, required)
	}
	given := map[string]bool{
		"file_path": in.filePath() != nil, "content": in.Content != nil, "old_string": in.OldString != nil, "new_string": in.NewString != nil,
		"pattern": in.Pattern != nil, "command": in.Command != nil,
	}
	for _, key := range form.Required {
		if !given[key] {
			return in, fmt.Errorf("%s is missing; %s", key, required)
		}
	}
	return in, nil
}

// Truncate makes a text a result fit for a model: of at most [MaxResult] bytes and a few words, in valid UTF-8.
func Truncate(text string) string {
	if len(text) > MaxResult+500 {
		text = text[:MaxResult] + "… [the rest is left out]"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// cutEnd shortens an output to the end, which has the summary.
func cutEnd(text string) string {
	if len(text) <= MaxResult {
		return text
	}
	return "… the beginning is left out\n" + strings.ToValidUTF8(text[len(text)-MaxResult+100:], "")
}
