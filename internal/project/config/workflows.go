package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	// ProjectWorkflows is the folder of a project's own workflows, relative to it.
	ProjectWorkflows = ".claude/bmad-workflows"
	// UserWorkflows is the folder of the person's own, relative to the configuration folder.
	UserWorkflows = "bmad-mcp/workflows"
	// maxWorkflows bounds the files that are read from a folder.
	maxWorkflows = 50
)

// Workflow is a workflow that a run can use.
type Workflow struct {
	Name string
	// By is SetByPerson or SetByProject; "" for a built-in one.
	By workflow.Setter
	// Path is the file it was read from, and Text its content; both empty for a built-in one.
	Path, Text string
	// Definition is nil if the file cannot be used; Problems has the reasons.
	Definition *workflow.Definition
	Problems   []workflow.Problem
}

// Err returns why the workflow cannot be used; nil if it can.
func (w Workflow) Err() error {
	if w.Definition != nil {
		return nil
	}
	lines := make([]lang.Text, len(w.Problems))
	for i, p := range w.Problems {
		lines[i] = lang.T("%s", p)
	}
	return fault.New(fault.InvalidArgument, "the workflow %q in %s cannot be used: %s", w.Name, w.Path, lang.Join(lines, "; ")).
		WithHint("correct the file; bmad-mcp workflow check shows its mistakes, and bmad-mcp workflow show bmad prints one to start from")
}

// Find returns the workflow with a name.
func (c *Config) Find(name string) (Workflow, error) {
	all := c.Workflows()
	i := slices.IndexFunc(all, func(w Workflow) bool { return w.Name == name })
	if i < 0 {
		return Workflow{}, fault.New(fault.InvalidArgument, "there is no workflow %q", name).
			WithHint("use one of: %s", strings.Join(c.WorkflowNames(), ", ")).Suggest(name, c.WorkflowNames())
	}
	return all[i], all[i].Err()
}

// Workflows returns the workflows that can be started, the built-in ones first.
func (c *Config) Workflows() []Workflow {
	if c.builtin == nil {
		return c.Own
	}
	return append(slices.Clip(c.builtin()), c.Own...)
}

// WorkflowNames lists the names of the workflows, the built-in ones first.
func (c *Config) WorkflowNames() []string {
	var out []string
	for _, w := range c.Workflows() {
		out = append(out, w.Name)
	}
	return out
}

// StageIDs lists the stages of all usable workflows, each once.
func (c *Config) StageIDs() []string { return workflow.IDsOf(workflow.StagesOf(c.definitions()...)) }

// definitions returns the definitions of the usable workflows.
func (c *Config) definitions() []*workflow.Definition {
	var out []*workflow.Definition
	for _, w := range c.Workflows() {
		if w.Definition != nil {
			out = append(out, w.Definition)
		}
	}
	return out
}

// stages returns the stages of all usable workflows, as they are defined.
func (c *Config) stages() []workflow.Stage {
	var out []workflow.Stage
	for _, d := range c.definitions() {
		out = append(out, d.Stages...)
	}
	return out
}

// stagesWith lists the stages of all workflows that meet a condition, each once.
func (c *Config) stagesWith(holds func(*workflow.Definition, workflow.Stage) bool) []workflow.StageID {
	var out []workflow.StageID
	for _, d := range c.definitions() {
		for _, st := range d.Stages {
			if holds(d, st) && !slices.Contains(out, st.ID) {
				out = append(out, st.ID)
			}
		}
	}
	return out
}

func builtins() []Workflow {
	var out []Workflow
	for _, d := range workflow.Builtins() {
		out = append(out, Workflow{Name: d.Name, Definition: d})
	}
	return out
}

// addWorkflows reads the person's and the project's own workflows. A file that cannot be used is
// listed with its mistakes instead of being an error: other workflows still work.
func (c *Config) addWorkflows(userFolder string, dir *durable.Dir) {
	if userFolder != "" {
		folder := filepath.Join(userFolder, filepath.FromSlash(UserWorkflows))
		if own, err := durable.OpenDir(folder); err == nil {
			by := workflow.SetByPerson
			if dir != nil && isInside(dir.Path(), folder) { // the project could write it
				by = workflow.SetByProject
			}
			c.addFrom(own.Tree(), folder, by)
			_ = own.Close() // nothing was written
		}
	}
	if dir != nil && dir.Exists(ProjectWorkflows) {
		if tree, err := fs.Sub(dir.Tree(), ProjectWorkflows); err == nil {
			c.addFrom(tree, ProjectWorkflows, workflow.SetByProject)
		}
	}
}

func (c *Config) addFrom(folder fs.FS, path string, by workflow.Setter) {
	files, err := fs.Glob(folder, "*.yaml")
	if err != nil {
		return
	}
	for _, file := range files[:min(len(files), maxWorkflows)] {
		name := strings.TrimSuffix(file, ".yaml")
		w := Workflow{Name: name, By: by, Path: filepath.ToSlash(filepath.Join(path, file))}
		data, err := durable.ReadFile(folder, file, workflow.MaxDefinition)
		var large *durable.TooLargeError
		switch {
		case errors.As(err, &large):
			w.Problems = []workflow.Problem{{Line: 1, Text: fmt.Sprintf("the file takes more than %d bytes", workflow.MaxDefinition)}}
		case err != nil:
			w.Problems = []workflow.Problem{{Line: 1, Text: "the file cannot be read: " + err.Error()}}
		default:
			w.Text = string(data)
			w.Definition, w.Problems = workflow.Read(name, data)
		}
		known := c.Workflows()
		if i := slices.IndexFunc(known, func(x Workflow) bool { return x.Name == name }); i >= 0 {
			c.noteShadowed(w, known[i])
			continue
		}
		c.Own = append(c.Own, w)
		if w.Definition == nil {
			c.Ignored = append(c.Ignored, lang.T("the workflow %s cannot be used: %s", w.Path, w.Problems[0]))
		}
	}
}

// noteShadowed notes that a workflow does not count because another has its name.
func (c *Config) noteShadowed(w, other Workflow) {
	note := lang.T("the workflow %s does not count: a built-in workflow has the name %q", w.Path, w.Name)
	if other.By == workflow.SetByPerson {
		note = lang.T("the workflow %s does not count: one of your own has the name %q", w.Path, w.Name)
	}
	c.Ignored = append(c.Ignored, note)
}

// Under returns a definition with the settings for its stages applied: gates, scores, engines.
func (c *Config) Under(d *workflow.Definition) *workflow.Definition {
	out := d.Clone()
	for i := range out.Stages {
		st := &out.Stages[i]
		if engines := c.rules.engines[st.ID]; engines != nil {
			st.Engines, st.CodexOnRequest = engines, false
		}
		force, _ := c.rules.inForce(*st)
		*st = st.Under(force)
	}
	return out
}

// noteRefused notes the settings of the project's file that do not take effect, and refuses those that contradict
// each other.
func (c *Config) noteRefused() error {
	if reflect.ValueOf(c.rules.layers).IsZero() {
		return nil // nobody has set a rule
	}
	for _, st := range c.stages() {
		force, project := c.rules.inForce(st)
		if err := c.rules.checkApprovers(st, force); err != nil {
			return err
		}
		for _, text := range listIgnored(st, project, force) {
			c.note(text)
		}
	}
	return nil
}

// note notes a text once.
func (c *Config) note(text lang.Text) {
	if !slices.ContainsFunc(c.Ignored, func(known lang.Text) bool { return known.String() == text.String() }) {
		c.Ignored = append(c.Ignored, text)
	}
}

// isInside reports whether a file is inside a folder, with all links followed. The file may
// be missing; a path that cannot be resolved is compared as it is written.
func isInside(folder, file string) bool {
	real := func(path string) string {
		if found, err := filepath.EvalSymlinks(path); err == nil {
			return found
		}
		return filepath.Clean(path)
	}
	for _, name := range []string{file, filepath.Join(real(filepath.Dir(file)), filepath.Base(file)), real(file)} {
		for _, root := range []string{filepath.Clean(folder), real(folder)} {
			if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

// Verified returns the stages whose submission a verify command can check.
func (c *Config) Verified() []workflow.StageID {
	return c.stagesWith(isVerified)
}

func isVerified(_ *workflow.Definition, st workflow.Stage) bool { return st.Verify }
