package template

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

const (
	// maxItems bounds a repeatable section, maxAsked how often a text is asked for, maxUnfit the answers in a row
	// that are none.
	maxItems = 100
	maxAsked = 2
	maxUnfit = 4
)

// Order describes the document. It is saved with the conversation.
type Order struct {
	// Template is the file, Words are the wish of the person.
	Template []byte `json:"template"`
	Words    string `json:"words"`
	// Variables are known values by name. One with the name of a condition decides it.
	Variables map[string]string `json:"variables,omitempty"`
}

// Job writes a document. One goroutine uses it at a time.
type Job struct {
	Template *Template
	*sdk.Conversation
	// MayReplace allows the document to replace a file on the disk that this job has not written.
	MayReplace bool
	order      Order
	// noted is how many turns are in the values, asked how often a section was asked for, faults why in vain.
	noted  int
	values object
	asked  map[string]int
	faults map[string]string
	// head holds the variables of the title and the filename.
	head *Section
}

// Start prepares an agent for a document; [Job.Run] begins. The options have neither Job nor Output.
func Start(ctx context.Context, client *sdk.Client, agent string, order Order, o sdk.ConversationOptions) (*Job, error) {
	t, err := Parse(order.Template)
	if err != nil {
		return nil, err
	}
	o.ReadOnly, o.PlainText, o.Job = true, true, json.RawMessage(asJSON(order))
	o.NoQuestions = o.NoQuestions || t.Mode != interactive
	c, err := client.StartConversation(ctx, agent, o)
	if err != nil {
		return nil, err
	}
	return newJob(c, order, t), nil
}

// Open goes on with the document of a conversation; the job is nil if it has none.
func Open(c *sdk.Conversation) (*Job, error) {
	if len(c.Job()) == 0 {
		return nil, nil
	}
	var order Order
	err := json.Unmarshal(c.Job(), &order)
	t, bad := Parse(order.Template)
	if err = cmp.Or(err, bad); err != nil {
		return nil, fmt.Errorf("the order of the document cannot be read: %w", err)
	}
	return newJob(c, order, t), nil
}

func newJob(c *sdk.Conversation, order Order, t *Template) *Job {
	j := &Job{Template: t, Conversation: c, order: order, values: object{}, asked: map[string]int{}, faults: map[string]string{},
		head: &Section{key: "{}", variables: t.shared}}
	for name, value := range order.Variables {
		j.values["{{"+name+"}}"] = value
	}
	j.eachSection(t.Sections, func(s *Section) {
		if text, known := order.Variables[strings.Trim(s.Condition, "{} ")]; known && s.Condition != "" {
			j.values[s.key+"?"] = !slices.Contains([]string{"", "false", "no", "off", "0", "否"}, strings.ToLower(strings.TrimSpace(text)))
		}
	})
	j.noteAnswers()
	c.ShowDrafts(j.showDraft)
	return j
}

// showDraft returns the sections of an answer.
func (j *Job) showDraft(output json.RawMessage) string {
	w, answer, all := &writer{}, object{}, maps.Clone(j.values)
	_ = json.Unmarshal(output, &answer) // an object, by the schema
	maps.Copy(all, answer)
	j.eachSection(j.Template.Sections, func(s *Section) {
		if own := *s; answer[s.key] != nil {
			if !s.Repeatable {
				own.Sections = nil
			}
			w.writeSection(&own, 2, all)
		}
	})
	return strings.TrimSpace(w.b.String())
}

// eachSection visits the sections in order, except for sections left out and the parts of repeatable ones.
func (j *Job) eachSection(sections []*Section, visit func(*Section)) {
	for _, s := range sections {
		if visit(s); !s.Repeatable && j.values[s.key+"?"] != false {
			j.eachSection(s.Sections, visit)
		}
	}
}

// noteAnswers takes the answers of the turns not noted yet.
func (j *Job) noteAnswers() {
	for _, turn := range j.History()[j.noted:] {
		j.noted++
		_ = json.Unmarshal(turn.Output, &j.values) // an object by the schema, or none
		for _, key := range strings.Split(turn.Step, "\n") {
			if j.faults[key] = turn.Problem; len(turn.Output) > 0 || turn.Unfit {
				j.asked[key]++
			}
		}
	}
	j.forgiveFaults()
}

// forgiveFaults has the sections asked for again that got no answer when the model failed so often in a row that Run ended.
func (j *Job) forgiveFaults() {
	turns := j.History()
	first := len(turns)
	for first > 0 && turns[first-1].Unfit {
		first--
	}
	if inRow := turns[first:]; len(inRow)%maxUnfit == 0 {
		for _, turn := range inRow {
			for key := range strings.SplitSeq(turn.Step, "\n") {
				j.asked[key] = 0
			}
		}
	}
}

// isWhole reports whether no text or list in an answer is empty, but in an item without a part whose condition fails.
func isWhole(value any) bool {
	isMissing := func(inner any) bool { return !isWhole(inner) }
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v) != ""
	case []any:
		return len(v) > 0 && !slices.ContainsFunc(v, isMissing)
	case object:
		inner := slices.Collect(maps.Values(v))
		return slices.Contains(inner, any(false)) || !slices.ContainsFunc(inner, isMissing)
	}
	return value != nil
}

func asJSON(v any) string {
	data, _ := json.Marshal(v) // it was read from JSON
	return string(data)
}

func tableOf(properties object) object {
	return object{"type": "object", "properties": properties, "required": slices.Sorted(maps.Keys(properties)), "additionalProperties": false}
}

// addMissing adds the missing values of a section to a schema: the variables in the title, whether it is there, and the
// text or the items.
func (j *Job) addMissing(s *Section, values, into object, isInItem bool) {
	item := into
	if s.Repeatable {
		item, values = object{}, maps.Clone(values)
	}
	for _, name := range s.variables {
		if isCounted := s.Repeatable && isNumber.MatchString(name); valueOf(values, name) == "" && !isCounted {
			item["{{"+name+"}}"] = object{"type": "string"}
		}
		if s.Repeatable {
			values["{{"+name+"}}"] = name // by the item, for its parts
		}
	}
	if s.Condition != "" && values[s.key+"?"] == nil {
		into[s.key+"?"] = object{"type": "boolean"}
	}
	if s.hasText() && (s.Repeatable || isInItem || !isWhole(values[s.key])) {
		item[s.key] = s.textSchema()
	}
	if s.Repeatable || isInItem {
		for _, below := range s.Sections {
			j.addMissing(below, values, item, true)
		}
	}
	if s.Repeatable && (isInItem || !isWhole(values[s.key])) {
		into[s.key] = object{"type": "array", "items": tableOf(item)}
	}
}

// missingOf returns the properties that are still to be asked for a section.
func (j *Job) missingOf(s *Section) object {
	missing := object{}
	if j.asked[s.key] < maxAsked && j.values[s.key+"?"] != false {
		j.addMissing(s, j.values, missing, false)
	}
	return missing
}

// planStep returns the next step after the document so far, for a section or some with short instructions. It has no keys
// if nothing is missing.
func (j *Job) planStep(document string) (step sdk.Step, keys []string) {
	answer, isElicited, isFull := object{}, false, false
	var told []*Section
	var titles []string
	j.eachSection(append([]*Section{j.head}, j.Template.Sections...), func(s *Section) {
		if isFull {
			return
		}
		missing, isAlone := j.missingOf(s), s.Repeatable || j.asked[s.key] > 0
		if len(missing) == 0 {
			return
		}
		if s != j.head {
			more := addTold(slices.Clip(told), s)
			if isFull = len(told) > 0 && (isAlone || len(describeSections(more)) > groupSize); isFull {
				return
			}
			told, titles, isFull = more, append(titles, nameOf(s, j.values)), isAlone
		}
		maps.Copy(answer, missing)
		keys, isElicited = append(keys, s.key), isElicited || s.isElicited()
	})
	name := cmp.Or(j.Template.Name, j.Template.ID)
	step = sdk.Step{Name: strings.Join(keys, "\n"), Title: cmp.Or(strings.Join(titles, ", "), name),
		Output: sdk.RawOutput{Schema: json.RawMessage(asJSON(tableOf(answer)))}}
	step.Text = fmt.Sprintf(stepText, name, j.order.Words, asJSON(j.order.Variables), j.documentPath(), document, maxItems,
		visible.Head(j.Template.rest, groupSize), describeSections(told))
	if isElicited && !j.AsksNobody() {
		step.Review = &sdk.Question{Question: fmt.Sprintf("Is the draft of %q good as it is? Say what to change, or go on.", step.Title), Options: j.Template.Options}
	}
	return step, keys
}

// unsafe are characters that a value brings into no filename.
var unsafe = pattern.New(`[\s/\\:*?"<>|[:cntrl:]]+`)

// documentPath returns the place of the document in the agent's files.
func (j *Job) documentPath() string {
	filename, values := j.Template.Output.Filename, object{}
	for _, name := range variablesOf(filename) {
		values["{{"+name+"}}"] = unsafe.ReplaceAllString(visible.Head(strings.Trim(valueOf(j.values, name), ". "), 70), "-")
	}
	filename, _ = fillVariables(filename, values)
	name, err := vfs.Clean("/" + filename)
	if err != nil {
		name = "/docs/document"
	}
	switch ext := path.Ext(name); {
	case j.Template.Output.Format != "yaml":
		return strings.TrimSuffix(name, ".md") + ".md"
	case ext != ".yaml" && ext != ".yml":
		name += ".yaml"
	}
	return name
}

// Estimate is the price of a document if each call is answered at once, at its greatest length. Tools that the agent
// uses, changes that the person wants, and corrections come on top, without a bound but the limit.
type Estimate struct {
	Calls int `json:"calls"`
	// Prompt and Output are tokens of all calls. Known is false if the price of the model is not known.
	Prompt int64       `json:"prompt_tokens"`
	Output int64       `json:"output_tokens"`
	Cost   price.Money `json:"nano_usd"`
	Known  bool        `json:"known"`
}

// Estimate estimates the rest of the work. Nothing is called.
func (j *Job) Estimate() Estimate {
	e, rest := Estimate{Known: true}, *j
	rest.asked = maps.Clone(j.asked)
	document := shortenDocument(j.renderDocument(false).Text)
	for step, keys := rest.planStep(document); len(keys) > 0; step, keys = rest.planStep(document) {
		for _, key := range keys {
			rest.asked[key] = maxAsked
		}
		tokens, cost, known := j.EstimateStep(step.Text + strings.Repeat(" ", digestSize))
		e.Calls, e.Cost, e.Known = e.Calls+1, e.Cost.Plus(cost), e.Known && known
		e.Prompt, e.Output = e.Prompt+tokens.Prompt, e.Output+tokens.Output
	}
	return e
}

// Result is a document, with the open points.
type Result struct {
	// Path is the place in the agent's files.
	Path string `json:"path"`
	Text string `json:"-"`
	// Done is false if Run has more to do.
	Done bool `json:"done"`
	// Open are sections without a text, LeftOut sections whose condition does not hold, NotAsked sections that the
	// person was not asked about, Unfilled variables without a value, and Cut repeatable sections with too many items.
	Open     []string `json:"open,omitempty"`
	LeftOut  []string `json:"left_out,omitempty"`
	NotAsked []string `json:"not_asked,omitempty"`
	Unfilled []string `json:"unfilled,omitempty"`
	Cut      []string `json:"cut,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Result returns the document so far.
func (j *Job) Result() *Result {
	_, missing := j.planStep("")
	return j.renderDocument(len(missing) == 0)
}

// renderDocument writes the document; done is false if more is to come.
func (j *Job) renderDocument(done bool) *Result {
	w := &writer{Result: Result{Path: j.documentPath(), Done: done, Warnings: j.Template.Warnings}, faults: j.faults}
	w.writeHeading(1, w.fill(cmp.Or(j.Template.Output.Title, j.Template.Name, j.Template.ID, "Document"), j.values))
	for _, s := range j.Template.Sections {
		w.writeSection(s, 2, j.values)
	}
	j.eachSection(j.Template.Sections, func(s *Section) {
		if s.Elicit && j.AsksNobody() && j.values[s.key+"?"] != false {
			addOnce(&w.NotAsked, nameOf(s, j.values))
		}
	})
	w.Text = strings.TrimSpace(w.b.String()) + "\n"
	return &w.Result
}

// Run works until the document is written. It waits at questions, which the conversation answers, and stops with
// Done false if it is paused, and with an error if the model does not work, or the limit is spent: Run goes on from
// there, with another job of the conversation, too.
func (j *Job) Run(ctx context.Context) (*Result, error) {
	for unfit := 0; ; {
		status := j.Status()
		j.noteAnswers() // answers since the last Run
		step, keys := j.planStep(shortenDocument(j.renderDocument(false).Text))
		switch {
		case status != sdk.Idle:
			if err := j.Resume(ctx); err != nil && !errors.Is(err, sdk.ErrBusy) && !errors.Is(err, sdk.ErrNotPaused) {
				return j.Result(), err
			}
		case len(keys) == 0:
			err := j.writeDocument()
			return j.Result(), cmp.Or(err, j.Save(ctx))
		default:
			err := j.checkPath()
			if err == nil {
				err = j.SendStep(ctx, step)
			}
			if err != nil {
				return j.Result(), err
			}
		}
		turn, err := j.Wait(ctx)
		if ctx.Err() != nil {
			return j.Result(), errors.Join(ctx.Err(), j.Pause(context.WithoutCancel(ctx)))
		}
		j.noteAnswers()
		if unfit++; err == nil {
			unfit, err = 0, j.writeDocument()
		} else if turn.Unfit && unfit < maxUnfit {
			err = nil
		}
		if err != nil || j.Status() == sdk.Paused {
			return j.Result(), err
		}
	}
}

// PathError is a document that cannot be written, or would replace a file (fs.ErrExist). Nothing was written.
type PathError struct {
	Path string
	Err  error
}

// Error names the path and the reason.
func (e *PathError) Error() string {
	return fmt.Sprintf("the document cannot be written to %s: %v", e.Path, e.Err)
}

// Unwrap returns the reason.
func (e *PathError) Unwrap() error { return e.Err }

// checkPath refuses a path that cannot be written, before anything is paid. It takes any as long as variables of the name
// are missing.
func (j *Job) checkPath() (err error) {
	name := j.documentPath()
	if len(j.missingOf(j.head)) > 0 {
		return nil
	}
	if files, ok := j.Files().(interface{ CheckWrite(name string) error }); ok {
		err = files.CheckWrite(name)
	}
	isOwn := func(d sdk.Document) bool { return d.Path == name }
	if _, isOnDisk := j.Files().(*vfs.Dir); err == nil && isOnDisk && !j.MayReplace && !slices.ContainsFunc(j.Documents(), isOwn) {
		if _, missing := j.Files().Stat(name); !errors.Is(missing, fs.ErrNotExist) {
			err = fs.ErrExist
		}
	}
	if err != nil {
		return &PathError{name, err}
	}
	return nil
}

// writeDocument writes the document into the agent's files; on a disk, where it may replace another, once it is done.
func (j *Job) writeDocument() error {
	r := j.Result()
	_, isOnDisk := j.Files().(*vfs.Dir)
	if hasNoName := len(j.missingOf(j.head)) > 0; hasNoName || isOnDisk && !r.Done {
		return nil
	}
	if err := j.checkPath(); err != nil {
		return err
	}
	return j.Write(r.Path, []byte(r.Text))
}
