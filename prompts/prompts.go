// Package prompts holds the role prompts, one Markdown file for each stage, and reads
// the project's own prompts, which replace them.
//
// A prompt file has front matter (stage, title) and a body. A stage without a prompt file
// gets the one for the kind (any-<kind>.md), in which {{role}}, {{document}} and {{does}} stand for
// the words of the workflow's definition. A stage begins with the body without the section "Later
// rounds"; a refinement gets only this section. {{gate_score}} stands for the score required by the
// stage's gate, and {{place}}, {{same}} and {{edit}} for the place of the document.
package prompts

import (
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

//go:embed *.md
var builtin embed.FS

// MaxSize is the largest prompt accepted, in bytes of JSON: a reply with the prompt must stay below the size shown
// by hosts.
const MaxSize = 9000

// laterHeading is the heading of the section for a refinement.
const laterHeading = "## Later rounds"

// Prompt is a role prompt.
type Prompt struct {
	Stage workflow.StageID
	Title string
	body  string
	first string // without later
	later string
}

// Answered returns the prompt for a reader whose answer is the document: it is written into no file.
func (p Prompt) Answered() Prompt {
	p.body, p.first, p.later = answered.Replace(p.body), answered.Replace(p.first), answered.Replace(p.later)
	return p
}

// answered and filed are the two ways to hand in a document, in the places of a prompt.
var (
	answered = strings.NewReplacer("{{place}}", "your answer", "{{same}}", "your answer", "{{edit}}", "Answer with the whole document again")
	filed    = strings.NewReplacer("{{place}}", "the file that next_call names", "{{same}}", "the same file", "{{edit}}", "Edit the file in place")
)

// First returns the prompt for the round with which a stage begins: the later ones bring their own
// part with them.
func (p Prompt) First(gateScore float64) string { return fillPlaces(p.first, gateScore) }

// Full returns the whole prompt.
func (p Prompt) Full(gateScore float64) string { return fillPlaces(p.body, gateScore) }

// Later returns the part for a refinement.
func (p Prompt) Later(gateScore float64) string { return fillPlaces(p.later, gateScore) }

func fillPlaces(s string, gateScore float64) string {
	return strings.ReplaceAll(filed.Replace(s), "{{gate_score}}", strconv.FormatFloat(gateScore, 'f', -1, 64))
}

// Load returns the prompt of a stage: the file of the prompt's name in override, if override is not nil; otherwise
// the built-in prompt of the stage, or else the one of the stage's kind.
func Load(override fs.FS, st workflow.Stage) (Prompt, error) {
	base, err := readEmbedded(st)
	if err != nil || override == nil {
		return base, err
	}
	own, err := readPrompt(override, st.PromptName()+".md", st)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return base, nil
	case err != nil:
		return Prompt{}, err
	}
	if own.later == "" {
		own.later = base.later
	}
	return own, nil
}

// Builtin reports whether the stage has a built-in prompt, not only the kind of the stage.
func Builtin(st workflow.Stage) bool {
	_, err := fs.Stat(builtin, st.PromptName()+".md")
	return err == nil
}

// parsed caches the built-in prompts by file: they cannot change, and every action needs all
// of them.
var parsed sync.Map

func readEmbedded(st workflow.Stage) (Prompt, error) {
	name, own := st.PromptName(), Builtin(st)
	if !own {
		name = "any-" + string(st.Kind)
	}
	known, ok := parsed.Load(name)
	if !ok {
		p, err := readPrompt(builtin, name+".md", st)
		if err != nil {
			return p, err
		}
		parsed.Store(name, p)
		known = p
	}
	p := known.(Prompt)
	p.Stage = st.ID
	if !own {
		p.Title = st.Role
		names := strings.NewReplacer("{{role}}", st.Role, "{{document}}", st.DocumentName, "{{does}}", st.Description)
		p.body, p.first, p.later = names.Replace(p.body), names.Replace(p.first), names.Replace(p.later)
	}
	return p, nil
}

func readPrompt(fsys fs.FS, name string, st workflow.Stage) (Prompt, error) {
	data, err := durable.ReadFile(fsys, name, MaxSize)
	var large *durable.TooLargeError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Prompt{}, err
	case errors.As(err, &large):
		return Prompt{}, tooLarge(name, max(large.Size, MaxSize+1))
	case err != nil:
		return Prompt{}, fault.New(fault.Storage, "the prompt file %s cannot be read: %w", name, err).
			WithHint("make it a readable file inside the project, or remove it to use the built-in prompt")
	}
	p, err := parse(string(data), st)
	if err != nil {
		return Prompt{}, fault.New(fault.InvalidArgument, "the prompt file %s cannot be used: %w", name, err).
			WithHint("correct it, or remove it to use the built-in prompt; nothing was changed")
	}
	if encoded, err := json.Marshal(p.body); err != nil || len(encoded) > MaxSize {
		return Prompt{}, tooLarge(name, int64(len(encoded)))
	}
	return p, nil
}

func tooLarge(name string, size int64) error {
	return fault.New(fault.InvalidArgument, "the prompt file %s takes %d bytes of a reply; at most %d fit", name, size, MaxSize).
		WithHint("shorten it, or keep the details in a file that the prompt refers to")
}

func parse(text string, st workflow.Stage) (Prompt, error) {
	p := Prompt{Stage: st.ID}
	if !utf8.ValidString(text) {
		return p, lang.Errorf("it is not valid UTF-8")
	}
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		head, body, ok := strings.Cut(rest, "\n---\n")
		if !ok {
			return p, lang.Errorf("the front matter has no closing line ---")
		}
		var front struct {
			Stage string `yaml:"stage"`
			Title string `yaml:"title"`
		}
		if err := yaml.Unmarshal([]byte(head), &front); err != nil {
			return p, err
		}
		if front.Stage != "" && front.Stage != string(st.ID) && front.Stage != st.PromptName() {
			return p, lang.Errorf("it is for stage %q, by its front matter, not %q", front.Stage, st.ID)
		}
		p.Title, text = front.Title, body
	}
	p.body = strings.TrimSpace(text)
	if p.body == "" {
		return p, lang.Errorf("it is empty")
	}
	p.first = p.body
	if before, later, ok := strings.Cut(p.body, "\n"+laterHeading+"\n"); ok {
		after := ""
		if i := strings.Index(later, "\n## "); i >= 0 {
			later, after = later[:i], later[i:]
		}
		p.first, p.later = strings.TrimSpace(strings.TrimSpace(before)+"\n"+after), strings.TrimSpace(later)
	}
	return p, nil
}
