package template_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
	"github.com/bmad-mcp/bmad-mcp/sdk/template"
)

// filler answers each step with a value for each key of the schema: what text says for a section, "A value" for a
// variable, two items.
type filler struct {
	text func(key string) string
	// items is the number of items, before, if not nil, is called with each prompt and may answer it.
	items  int
	before func(prompt string) (*provider.Response, error)
	info   provider.Info

	mu      sync.Mutex
	prompts []string
}

func (f *filler) Info() provider.Info {
	if f.info.Model != "" {
		return f.info
	}
	return provider.Info{Provider: "fake", Model: fake.Model}
}

func (f *filler) Send(_ context.Context, r provider.Request, _ func(provider.Delta)) (*provider.Response, error) {
	var prompt string
	for _, m := range r.Messages {
		if m.Role == provider.User {
			prompt += m.Text() + "\n"
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.prompts = append(f.prompts, prompt)
	if f.before != nil {
		if response, err := f.before(prompt); response != nil || err != nil {
			return response, err
		}
	}
	_, schema, _ := strings.Cut(prompt, "JSON Schema:\n\n")
	schema, _, _ = strings.Cut(schema, "\n")
	var s map[string]any
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return nil, fmt.Errorf("no schema in %q: %w", prompt, err)
	}
	answer, err := json.Marshal(f.value("", s))
	return say(string(answer)), err
}

func say(text string) *provider.Response {
	return &provider.Response{Message: provider.Message{Role: provider.Assistant, Blocks: []provider.Block{provider.TextBlock(text)}},
		Stop: provider.EndTurn, Usage: provider.Usage{Input: 1000, Output: 100}}
}

func (f *filler) value(key string, schema map[string]any) any {
	if choices, ok := schema["enum"].([]any); ok {
		return choices[0]
	}
	switch schema["type"] {
	case "boolean":
		return true
	case "array":
		items := []any{}
		for range max(f.items, 2) {
			items = append(items, f.value(key, schema["items"].(map[string]any)))
		}
		return items
	case "object":
		out := map[string]any{}
		for key, property := range schema["properties"].(map[string]any) {
			out[key] = f.value(key, property.(map[string]any))
		}
		return out
	}
	if strings.HasPrefix(key, "{{") {
		return "A value"
	}
	if f.text != nil {
		return f.text(key)
	}
	return "The text of " + key + "."
}

// writerAgent writes the documents of these tests.
var writerAgent = &sdk.Agent{AgentInfo: sdk.AgentInfo{ID: "writer", Name: "Ada"}}

// begin returns a client, and a job of it.
func begin(t testing.TB, model provider.Provider, order template.Order, o sdk.Options, how sdk.ConversationOptions) (*sdk.Client, *template.Job) {
	t.Helper()
	client := open(t, model, o)
	how.Agent = writerAgent
	job, err := template.Start(t.Context(), client, "", order, how)
	if err != nil {
		t.Fatal(err)
	}
	return client, job
}

func open(t testing.TB, model provider.Provider, o sdk.Options) *sdk.Client {
	t.Helper()
	o.Provider = model
	if o.Prices == nil {
		o.Prices = fake.Prices()
	}
	client, err := sdk.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// headingsIn returns the headings of a document as a reader of Markdown sees them.
func headingsIn(document string) (out []string) {
	source := []byte(document)
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering {
			var b strings.Builder
			for c := h.FirstChild(); c != nil; c = c.NextSibling() {
				b.Write(c.(interface{ Text([]byte) []byte }).Text(source))
			}
			out = append(out, fmt.Sprintf("%d %s", h.Level, b.String()))
		}
		return ast.WalkContinue, nil
	})
	return out
}

// htmlIn returns the HTML in a document.
func htmlIn(document string) (out []string) {
	source := []byte(document)
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.HTMLBlock:
			out = append(out, string(n.Lines().Value(source)))
		case *ast.RawHTML:
			out = append(out, string(n.Segments.Value(source)))
		}
		return ast.WalkContinue, nil
	})
	return out
}

// wanted returns patterns of the headings of a template, with two items of each repeatable section.
func wanted(sections []*template.Section, level int) (out []string) {
	for _, s := range sections {
		inner := level
		var own []string
		if s.Title != "" {
			inner++
			title := regexp.MustCompile(`\\\{\\\{.*?\\\}\\\}`).ReplaceAllString(regexp.QuoteMeta(s.Title), `.+`)
			own = append(own, fmt.Sprintf(`^%d %s$`, min(level, 6), title))
		}
		own = append(own, wanted(s.Sections, inner)...)
		if s.Repeatable {
			own = append(own, own...)
		}
		out = append(out, own...)
	}
	return out
}

// compareHeadings compares the headings of a document with a template; others can only be in the content of a
// section, which is the template's own.
func compareHeadings(document, file string, t *template.Template) error {
	got, want := headingsIn(document), append([]string{"^1 "}, wanted(t.Sections, 2)...)
	if strings.Contains(file, "content: |\n      #") {
		n := 0
		got = slices.DeleteFunc(got, func(h string) bool {
			if n < len(want) && regexp.MustCompile(want[n]).MatchString(h) {
				n++
				return false
			}
			return true
		})
	}
	for n := range max(len(got), len(want)) {
		if n >= len(got) || n >= len(want) || !regexp.MustCompile(want[n]).MatchString(got[n]) {
			return fmt.Errorf("heading %d of %d, wanted %d: got %q\nwant %q", n+1, len(got), len(want), got[min(n, len(got)):], want[min(n, len(want)):])
		}
	}
	return nil
}

// TestOthersTemplates renders every template below a folder, such as the package bmad-method 4.44.3.
func TestOthersTemplates(t *testing.T) {
	folder := os.Getenv("TEST_BMAD_TEMPLATES")
	if folder == "" {
		t.Skip("TEST_BMAD_TEMPLATES names no folder with templates")
	}
	count, rendered := 0, 0
	err := filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
		if ext := filepath.Ext(name); err != nil || d.IsDir() || ext != ".yaml" && ext != ".yml" {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !strings.Contains(string(data), "template:") && !strings.Contains(string(data), "sections:") {
			return nil // another file of the method
		}
		count++
		if _, err := template.Parse(data); err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		_, job := begin(t, &filler{}, template.Order{Template: data, Words: "a shop"}, sdk.Options{}, quietly(sdk.SessionOptions{}))
		e := job.Estimate()
		r, err := job.Run(t.Context())
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case !r.Done, len(r.Open) > 0, len(r.Unfilled) > 0, len(r.Cut) > 0:
			t.Errorf("%s: %+v", name, r)
		default:
			if err := compareHeadings(r.Text, string(data), job.Template); err != nil {
				t.Errorf("%s: %v", name, err)
				return nil
			}
			rendered++
			if left := len(job.History()); left > e.Calls {
				t.Errorf("%s: %d calls, estimated %d", name, left, e.Calls)
			}
			t.Logf("%s: %d headings, %d of %d calls, warnings %q, %s", filepath.Base(name), len(headingsIn(r.Text)), len(job.History()), e.Calls, r.Warnings, r.Path)
		}
		return nil
	})
	if err != nil || count == 0 {
		t.Errorf("%d templates: %v", count, err)
	}
	t.Logf("%d templates, %d rendered", count, rendered)
}
