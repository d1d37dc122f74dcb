package template_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/template"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

func every(t testing.TB) template.Order {
	t.Helper()
	data, err := os.ReadFile("testdata/every-tmpl.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return template.Order{Template: data, Words: "A shop for bread", Variables: map[string]string{"area": "the north/../x", "date": "2026-07-01"}}
}

func quietly(o sdk.SessionOptions) sdk.ConversationOptions {
	o.NoQuestions = true
	return sdk.ConversationOptions{SessionOptions: o}
}

// TestEveryForm renders a template with every form: headings and order are the template's.
func TestEveryForm(t *testing.T) {
	model := &filler{text: func(key string) string {
		return map[string]string{"tree": "src/\n# not a heading {{area}}", "picture": "graph TD", "list": "## Goals\n- one\n\n# Invented\n",
			"background": "Some {{area}} and {{lost}}."}[key] + "Text of " + key
	}}
	_, job := begin(t, model, every(t), sdk.Options{}, quietly(sdk.SessionOptions{}))
	e := job.Estimate()
	r, err := job.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/every.md", r.Text)
	if err := compareHeadings(r.Text, "", job.Template); err == nil {
		t.Error("a heading of the model's, below the section, is lost")
	}
	if r.Path != "/docs/every/the-north-..-x.md" || !r.Done || e.Calls != len(model.prompts) {
		t.Errorf("%+v in %d calls, %d were estimated", r, len(model.prompts), e.Calls)
	}
	if want := []string{"Goals and Background"}; !slices.Equal(r.NotAsked, want) || !slices.Equal(r.Unfilled, []string{"lost"}) || len(r.Open) > 0 {
		t.Errorf("not asked %q, unfilled %q, open %q", r.NotAsked, r.Unfilled, r.Open)
	}
	if docs := job.Documents(); len(docs) != 1 || docs[0].Content != r.Text {
		t.Errorf("documents %+v", docs)
	}
	for _, part := range []string{"Ask for the brief", "editable_sections", "item_template"} {
		if !strings.Contains(strings.Join(model.prompts, ""), part) {
			t.Errorf("%q has not reached the model", part)
		}
	}
}

// TestKilledAtEachStep: a program that dies at any save, and goes on in another, pays again for one answer at most, which
// was never saved.
func TestKilledAtEachStep(t *testing.T) {
	plain := &filler{}
	_, job := begin(t, plain, every(t), sdk.Options{}, quietly(sdk.SessionOptions{}))
	want, err := job.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	calls := len(plain.prompts)
	for at := range 3*calls + 2 {
		store, model := sdk.NewMemStore(), &filler{}
		_, job := begin(t, model, every(t), sdk.Options{Store: &dyingStore{Store: store, left: at}}, quietly(sdk.SessionOptions{}))
		r, err := job.Run(t.Context())
		if err == nil {
			if r.Text != want.Text {
				t.Errorf("at %d: another document", at)
			}
			continue
		}
		c, err := open(t, model, sdk.Options{Store: store}).Open(t.Context(), job.ID())
		if errors.Is(err, sdk.ErrNotFound) && at == 0 {
			continue
		}
		if err != nil {
			t.Fatalf("at %d: %v", at, err)
		}
		again, err := template.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		if r, err = again.Run(t.Context()); err != nil || r.Text != want.Text || len(model.prompts) > calls+1 {
			t.Errorf("killed at save %d: %d calls of %d, %v", at, len(model.prompts), calls, err)
		}
	}
}

// dyingStore fails after some saves.
type dyingStore struct {
	sdk.Store
	left int
}

func (d *dyingStore) Save(ctx context.Context, id string, state []byte) error {
	if d.left--; d.left < 0 {
		return errors.New("the program has died")
	}
	return d.Store.Save(ctx, id, state)
}

// TestModelsThatFail: a bad answer is asked for once more, and written down, or ends the work.
func TestModelsThatFail(t *testing.T) {
	refusal := &provider.Response{Stop: provider.Refusal, Usage: provider.Usage{Input: 10, Output: 1}}
	cut := &provider.Response{Message: provider.Message{Role: provider.Assistant, Blocks: []provider.Block{provider.TextBlock(`{"cut`)}}, Stop: provider.MaxTokens}
	isPart := func(prompt string) bool { return strings.Contains(prompt, `## Key "picture"`) }
	for name, c := range map[string]struct {
		model *filler
		// open are sections without a text, calls the most calls, beside the ones of a model that works.
		open  []string
		calls int
		ends  bool
	}{
		"an empty text": {&filler{text: func(key string) string { return map[bool]string{true: " \n", false: "Text"}[key == "picture"] }}, []string{"Picture"}, 1, false},
		"a refusal": {&filler{before: func(p string) (*provider.Response, error) {
			return map[bool]*provider.Response{true: refusal}[isPart(p)], nil
		}}, []string{"Picture: the model refused to answer"}, 4, false},
		"garbage for one": {&filler{before: func(p string) (*provider.Response, error) {
			return map[bool]*provider.Response{true: say("# No")}[isPart(p)], nil
		}}, nil, 9, false},
		"cut off for one": {&filler{before: func(p string) (*provider.Response, error) {
			return map[bool]*provider.Response{true: cut}[isPart(p)], nil
		}}, nil, 9, false},
		"garbage for all":     {&filler{before: func(string) (*provider.Response, error) { return say("No."), nil }}, nil, 12, true},
		"a refusal of all":    {&filler{before: func(string) (*provider.Response, error) { return refusal, nil }}, nil, 4, true},
		"a server that fails": {&filler{before: func(string) (*provider.Response, error) { return nil, &provider.Error{Status: 401, Message: "no key"} }}, nil, 1, true},
		"a server that fails in the middle": {&filler{before: func(p string) (*provider.Response, error) {
			if isPart(p) {
				return nil, &provider.Error{Status: 500, Message: "down", Retryable: true}
			}
			return nil, nil
		}}, nil, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, job := begin(t, c.model, every(t), sdk.Options{}, quietly(sdk.SessionOptions{}))
			whole := job.Estimate().Calls
			r, err := job.Run(t.Context())
			if (err != nil) != c.ends || r.Done == c.ends {
				t.Fatalf("done %v: %v", r.Done, err)
			}
			if n := len(c.model.prompts); n > whole+c.calls || c.ends && !strings.Contains(name, "middle") && n > c.calls {
				t.Errorf("%d calls, %d of a model that works", n, whole)
			}
			if strings.Contains(name, "middle") {
				c.model.before = nil
				if r, err := job.Run(t.Context()); err != nil || !r.Done || len(r.Open) > 0 || len(c.model.prompts) != whole+1 {
					t.Errorf("it does not go on, in %d calls: %v", len(c.model.prompts), err)
				}
			}
			if c.open != nil && !slices.Equal(r.Open, c.open) || !c.ends && !strings.Contains(r.Text, "## Picture\n") {
				t.Errorf("open %q", r.Open)
			}
		})
	}
}

// TestTooManyItems: a list without end is cut, and said to be.
func TestTooManyItems(t *testing.T) {
	order := template.Order{Words: "x", Template: []byte("sections: [{id: part, title: 'Part {{n}}', repeatable: true}]")}
	_, job := begin(t, &filler{items: 10_000}, order, sdk.Options{}, quietly(sdk.SessionOptions{}))
	r, err := job.Run(t.Context())
	if err != nil || strings.Count(r.Text, "\n## Part") != 100 || !slices.Equal(r.Cut, []string{"part"}) {
		t.Errorf("%d parts, %q: %v", strings.Count(r.Text, "\n## Part"), r.Cut, err)
	}
}

// TestLimit: the money ends in the middle; the document so far is there, and more money goes on from there.
func TestLimit(t *testing.T) {
	store, model := sdk.NewMemStore(), &filler{}
	client, job := begin(t, model, every(t), sdk.Options{Store: store, CostLimit: 6 * price.Dollar / 1000}, quietly(sdk.SessionOptions{MaxTokens: 1000}))
	r, err := job.Run(t.Context())
	var limit *sdk.CostLimitError
	before := len(model.prompts)
	if !errors.As(err, &limit) || r.Done || before == 0 || !strings.Contains(r.Text, "The text of") || len(job.Documents()) != 1 {
		t.Fatalf("%d calls, done %v: %v", before, r.Done, err)
	}
	if _, err := job.Run(t.Context()); !errors.As(err, &limit) || len(model.prompts) != before {
		t.Errorf("without more money: %d calls more, %v", len(model.prompts)-before, err)
	}
	client.Close()
	c, err := open(t, model, sdk.Options{Store: store}).OpenWith(t.Context(), job.ID(), sdk.OpenOptions{CostLimit: price.Dollar})
	if err != nil {
		t.Fatal(err)
	}
	again, err := template.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	rest := again.Estimate().Calls
	if r, err = again.Run(t.Context()); err != nil || !r.Done || len(model.prompts) != before+rest {
		t.Errorf("%d calls more, %d estimated: %v", len(model.prompts)-before, rest, err)
	}
}

// TestReview: the person is shown each draft to be discussed, until it is good.
func TestReview(t *testing.T) {
	var asked []sdk.Question
	model := &filler{}
	_, job := begin(t, model, every(t), sdk.Options{}, sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{
		OnQuestion: func(_ context.Context, q sdk.Question) (string, error) {
			asked = append(asked, q)
			return []string{"Look for what is missing", "shorter", "Go on", "go on"}[min(len(asked)-1, 3)], nil
		}}})
	e := job.Estimate()
	r, err := job.Run(t.Context())
	if err != nil || len(r.NotAsked) > 0 || len(asked) != 3 || len(model.prompts) != e.Calls+2 {
		t.Fatalf("%d questions, %d calls of %d, %q: %v", len(asked), len(model.prompts), e.Calls, r.NotAsked, err)
	}
	q := asked[0]
	if !strings.Contains(q.Context, "## Goals\n\nThe text of list.") || q.Source != "review" || !slices.Contains(q.Options, "Look for what is missing") {
		t.Errorf("question %+v", q)
	}
	if !strings.Contains(model.prompts[2], "shorter") {
		t.Errorf("the model was not told: %q", model.prompts[2])
	}
}

// TestReviewElsewhere: a draft waits in the store, and its answer reaches the model in another process.
func TestReviewElsewhere(t *testing.T) {
	store, model := sdk.NewMemStore(), &filler{}
	client, job := begin(t, model, every(t), sdk.Options{Store: store}, sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{PauseTimeout: 1}})
	r, err := job.Run(t.Context())
	if err != nil || r.Done || job.Status() != sdk.Paused || len(job.Questions()) != 1 {
		t.Fatalf("%s, done %v: %v", job.Status(), r.Done, err)
	}
	client.Close()
	for _, words := range []string{"shorter", "go on"} {
		c, err := open(t, model, sdk.Options{Store: store}).Open(t.Context(), job.ID())
		if err != nil {
			t.Fatal(err)
		}
		if job, err = template.Open(c); err != nil {
			t.Fatal(err)
		}
		if q := job.Questions(); len(q) != 1 || !strings.Contains(q[0].Context, "## Goals") {
			t.Fatalf("questions %+v", q)
		}
		if err := job.Answer(t.Context(), "", words); err != nil {
			t.Fatal(err)
		}
		if r, err = job.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !r.Done || r.Text == "" {
		t.Errorf("done %v", r.Done)
	}
}

// TestConditions: a variable decides, else the model; sections left out are named.
func TestConditions(t *testing.T) {
	order := template.Order{Words: "x", Template: []byte("sections: [{id: a, title: A}, " +
		"{id: b, title: B, condition: has_b, sections: [{id: c, title: C}]}, " +
		"{id: d, title: D, repeatable: true, condition: '{{has_d}}', sections: [{id: e, title: 'E {{n}}'}]}]")}
	no := func(p string) (*provider.Response, error) {
		if strings.Contains(p, `"b?"`) {
			return say(`{"a":"text","b?":false,"c":"","d?":false}`), nil
		}
		return nil, nil
	}
	for name, c := range map[string]struct {
		variables map[string]string
		model     *filler
		left      []string
	}{
		"the model says yes":   {nil, &filler{}, nil},
		"the model says no":    {nil, &filler{before: no}, []string{"B", "D"}},
		"a variable says no":   {map[string]string{"has_b": "no", "has_d": "false"}, &filler{}, []string{"B", "D"}},
		"no name":              {map[string]string{"": "no"}, &filler{}, nil},
		"one variable says no": {map[string]string{"has_b": "", "has_d": "x"}, &filler{}, []string{"B"}},
	} {
		t.Run(name, func(t *testing.T) {
			order := order
			order.Variables = c.variables
			_, job := begin(t, c.model, order, sdk.Options{}, quietly(sdk.SessionOptions{}))
			r, err := job.Run(t.Context())
			if err != nil || !slices.Equal(r.LeftOut, c.left) || strings.Contains(r.Text, "# C") == slices.Contains(c.left, "B") {
				t.Errorf("left out %q of %q: %v", r.LeftOut, r.Text, err)
			}
		})
	}
}

// TestCostIsLinear: the prompt of a step stays below a bound, however long the document becomes.
func TestCostIsLinear(t *testing.T) {
	var b strings.Builder
	b.WriteString("sections:\n")
	for n := range 30 {
		fmt.Fprintf(&b, "  - {id: s%d, title: Section %d, instruction: '%s'}\n", n, n, strings.Repeat("x", 1500))
	}
	model := &filler{text: func(key string) string { return strings.Repeat("A long text of "+key+". ", 400) }}
	_, job := begin(t, model, template.Order{Words: "x", Template: []byte(b.String())}, sdk.Options{}, quietly(sdk.SessionOptions{}))
	e := job.Estimate()
	r, err := job.Run(t.Context())
	if err != nil || !r.Done || len(model.prompts) != e.Calls {
		t.Fatalf("%d calls of %d: %v", len(model.prompts), e.Calls, err)
	}
	for n, prompt := range model.prompts {
		if len(prompt) > 18_000 {
			t.Errorf("prompt %d has %d bytes", n, len(prompt))
		}
	}
}

// TestModels: short sections go to the small model, and the saving is counted, in another process too.
func TestModels(t *testing.T) {
	prices, err := price.Parse([]byte(`{"prices":[{"model":"large","input":10,"output":20},{"model":"small","input":1,"output":2}]}`))
	if err != nil {
		t.Fatal(err)
	}
	large, small := &filler{info: provider.Info{Provider: "fake", Model: "large"}}, &filler{info: provider.Info{Provider: "fake", Model: "small"}}
	o := sdk.Options{Prices: prices, Store: sdk.NewMemStore(), Models: sdk.SmallModel(small, 4500)}
	_, job := begin(t, large, every(t), o, quietly(sdk.SessionOptions{}))
	r, err := job.Run(t.Context())
	costs := job.Costs()
	if err != nil || !r.Done || len(small.prompts) == 0 {
		t.Fatalf("%d and %d calls: %v", len(large.prompts), len(small.prompts), err)
	}
	each := 9*price.Money(1000*1000) + 18*price.Money(1000*100)
	if want := each * price.Money(len(small.prompts)); costs.Saved != want {
		t.Errorf("saved %s of %d calls, want %s", costs.Saved, len(small.prompts), want)
	}
	c, err := open(t, large, o).Open(t.Context(), job.ID())
	if err != nil || c.Costs().Saved != costs.Saved {
		t.Errorf("opened again, %v: %+v", err, c.Costs())
	}
}

// TestPaths: the file has a name that the files of an agent take, whatever a template or a variable says.
func TestPaths(t *testing.T) {
	for _, c := range []struct{ filename, value, want string }{
		{"s/x.md", "", "/s/x.md"}, {"{{x}}.md", "a\x01b", "/a-b.md"}, {"docs/{{x}}{{x}}{{x}}.md", strings.Repeat("长", 300), "/docs/长长"},
		{"docs/\x01.md", "", "/docs/document.md"}, {strings.Repeat("x", 300), "", "/docs/document.md"}, {"", "", "/docs/document.md"},
		{"..x/y.md", "", "/..x/y.md"}, {"a/../../b.md", "", "/docs/b.md"},
		{`a\b.md`, "", "/a/b.md"},
	} {
		order := template.Order{Words: "x", Variables: map[string]string{"x": c.value},
			Template: fmt.Appendf(nil, "template: {output: {filename: %q}}\nsections: [{id: a, title: A}]", c.filename)}
		_, job := begin(t, &filler{}, order, sdk.Options{}, quietly(sdk.SessionOptions{}))
		if r, err := job.Run(t.Context()); err != nil || !r.Done || !strings.HasPrefix(r.Path, c.want) {
			t.Errorf("%q with %q: %q, %v", c.filename, c.value, r.Path, err)
		}
	}
}

// TestVariableOfAnItem: the parts of an item share the variables in its title, though neighbours have each their own.
func TestVariableOfAnItem(t *testing.T) {
	order := template.Order{Words: "x", Template: []byte("sections: [{id: e, title: 'Epic {{name}}', repeatable: true, " +
		"sections: [{id: g, title: 'Goal of {{name}}'}, {id: h, title: 'End of {{name}}'}]}]")}
	model := &filler{}
	_, job := begin(t, model, order, sdk.Options{}, quietly(sdk.SessionOptions{}))
	r, err := job.Run(t.Context())
	if err != nil || !strings.Contains(r.Text, "### End of A value") || strings.Contains(model.prompts[0], "{{h.name}}\":") {
		t.Errorf("%q: %v", r.Text, err)
	}
}

// TestPaidOnce: a text that looks empty in JSON, and an item left out by its condition, are not asked for again.
func TestPaidOnce(t *testing.T) {
	order := template.Order{Words: "x", Template: []byte("sections: [{id: a, title: A}, " +
		"{id: b, title: 'B {{n}}', repeatable: true, sections: [{id: c, title: C, condition: maybe}]}]")}
	model := &filler{before: func(p string) (*provider.Response, error) {
		if strings.Contains(p, `## Key "a"`) {
			return say(`{"a":"{\"error\":null,\"tags\":[],\"name\":\"\"}"}`), nil
		}
		return say(`{"b":[{"{{n}}":"1","c?":false,"c":""}]}`), nil
	}}
	_, job := begin(t, model, order, sdk.Options{}, quietly(sdk.SessionOptions{}))
	if r, err := job.Run(t.Context()); err != nil || !r.Done || len(model.prompts) != 2 || len(r.Open) > 0 {
		t.Errorf("%d calls, %+v: %v", len(model.prompts), r, err)
	}
}

// TestOnDisk: a document of the project is replaced once the new one is done, and if it may be.
func TestOnDisk(t *testing.T) {
	folder := t.TempDir()
	for _, inside := range []string{"docs", ".claude", "folder.md"} {
		if err := os.MkdirAll(filepath.Join(folder, inside), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(folder, "docs", "a.md")
	begin := func(t *testing.T, filename string, calls int) *template.Job {
		t.Helper()
		for _, name := range []string{name, filepath.Join(folder, "CLAUDE.md")} {
			if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		dir, err := vfs.OpenDir(folder, vfs.DirOptions{})
		if err != nil {
			t.Fatal(err)
		}
		order := template.Order{Words: "x", Template: []byte("template: {output: {filename: '" + filename + "'}}\n" +
			"sections: [{id: a, title: A}, {id: b, title: 'B {{n}}', repeatable: true}]")}
		model := &filler{before: func(string) (*provider.Response, error) {
			if data, err := os.ReadFile(name); err != nil || string(data) != "old" {
				t.Errorf("at a call: %q, %v", data, err)
			}
			return nil, nil
		}}
		t.Cleanup(func() {
			if _ = dir.Close(); len(model.prompts) != calls {
				t.Errorf("%d calls, want %d", len(model.prompts), calls)
			}
		})
		_, job := begin(t, model, order, sdk.Options{}, quietly(sdk.SessionOptions{FS: dir}))
		return job
	}
	for _, c := range []struct {
		filename, want string
		calls          int
		mayReplace     bool
	}{
		{"docs/a.md", "file already exists", 0, false},
		{"CLAUDE.md", "file already exists", 0, false},
		{"./docs//../CLAUDE", "file already exists", 0, false},
		{"{{x}}.md", "file already exists", 1, false}, // the name comes with the first answer
		{".claude/commands/x.md", "gives orders to other programs", 0, true},
		{".github/workflows/x.md", "gives orders to other programs", 0, false},
		{".bmad-task/x.md", "gives orders to other programs", 0, true},
		{".git/x.md", "belongs to version control", 0, true},
		{"folder.md", "is a folder", 0, true},
		{"CLAUDE.md/x", "is a file, not a folder", 0, true},
	} {
		job := begin(t, c.filename, c.calls)
		if job.MayReplace = c.mayReplace; c.calls > 0 {
			if err := os.WriteFile(filepath.Join(folder, "A-value.md"), []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := job.Run(t.Context())
		if path, ok := errors.AsType[*template.PathError](err); !ok || !strings.Contains(err.Error(), c.want) || path.Path != r.Path {
			t.Errorf("%s: %v", c.filename, err)
		}
	}
	job := begin(t, "docs/a.md", 2)
	job.MayReplace = true
	r, err := job.Run(t.Context())
	job.MayReplace = false // it is the job's own now
	_, again := job.Run(t.Context())
	if data, _ := os.ReadFile(name); err != nil || again != nil || string(data) != r.Text {
		t.Errorf("%q: %v, %v", data, err, again)
	}
	job = begin(t, "docs/new.md", 2)
	if r, err = job.Run(t.Context()); err != nil || !r.Done {
		t.Errorf("a new document: %v", err)
	}
}
