package resolve

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// renderer marks the body of a skill to be rendered before it is read.
const renderer = "render_skill.py"

// entryIsTemplate reports whether a skill's files are rendered before they are read.
func entryIsTemplate(i *catalog.Item) bool {
	file, err := i.Origin.File(i.Path)
	return err == nil && isTemplate(i, string(file.Data))
}

func isTemplate(i *catalog.Item, text string) bool {
	return strings.Contains(text, renderer) && i.Origin.Has(path.Join(i.Dir, "workflow.md"))
}

// snapshot finds the references between the files of a rendered skill, and the values filled in by
// rendering (render_skill.py of 6.12).
var snapshot = pattern.New(`\[\[bmad-snapshot:([A-Za-z0-9_./-]+\.md)\]\]|\{\{config\.([A-Za-z0-9_.-]+)\}\}|\{\{\.([A-Za-z0-9_]+)\}\}|\{workflow\.([A-Za-z0-9_.-]+)\}`)

// render fills in the text of a rendered skill, as far as the skill's renderer does: the four kinds found
// by snapshot. Values are not searched again. Unknown tokens stay and are recorded.
func (r *resolver) render(text string, defaults map[string]any) (string, error) {
	var failed error
	grown := 0
	known := map[string]string{}
	out := snapshot.ReplaceAllStringFunc(text, func(token string) string {
		if failed != nil {
			return ""
		}
		value, done := known[token]
		if !done {
			var ok bool
			if value, ok, failed = r.tokenValue(token, defaults); !ok {
				value = token
				r.noteOpen(token)
			}
			known[token] = value
		}
		if grown += len(value) - len(token); failed == nil && grown > maxFilled {
			failed = fault.New(fault.InvalidArgument, "the settings of %s make its text too large",
				r.i.Name).WithHint("shorten them: the text may grow by at most %d bytes", maxFilled)
		}
		return value
	})
	if failed != nil {
		return "", failed
	}
	return out, nil
}

// tokenValue returns the value of a token of a rendered skill. A setting that would stop the renderer is an
// error: without it, the skill would act by other settings than the person's.
func (r *resolver) tokenValue(token string, defaults map[string]any) (string, bool, error) {
	part := snapshot.FindStringSubmatch(token)
	switch {
	case part[1] != "":
		name := path.Join(r.i.Dir, part[1])
		if !fs.ValidPath(part[1]) || !r.i.Origin.Has(name) {
			return "", false, nil
		}
		return catalog.Ref{Source: r.i.Origin.Name, Path: name, Resolved: true}.String(), true, nil
	case part[2] != "", part[3] != "":
		value, ok := r.configValue(part[2] + part[3])
		if part[3] != "" && r.isAmbiguous(part[3]) {
			return "", false, nil
		}
		return strings.ReplaceAll(value, "{project-root}", filepath.ToSlash(r.target.Project)), ok, nil
	}
	dotted := "workflow." + part[4]
	v, ok := lookUpDotted(r.tables, dotted)
	usual, known := lookUpDotted(defaults, dotted)
	if !ok || !known || isSecret(dotted) {
		return "", false, nil
	}
	value, wrong := renderSetting(dotted, v, usual)
	if !wrong.Empty() {
		return "", false, fault.New(fault.InvalidArgument, "the setting %s of %s cannot be used: %s", dotted, r.i.Name, wrong).
			WithHint("correct the customization of %s; a table with the id of another replaces all of it", r.i.Name)
	}
	return r.bindFiles(maskText(value)), true, nil
}

// isAmbiguous reports whether a key occurs several times in the configuration.
func (r *resolver) isAmbiguous(key string) bool {
	for _, s := range r.from {
		if n := countKey(s.central, key, 0); n > 0 {
			return n > 1
		}
	}
	return false
}

func countKey(values map[string]any, key string, depth int) int {
	n := 0
	for name, v := range values {
		if t, ok := v.(map[string]any); ok {
			if depth < format.MaxDepth {
				n += countKey(t, key, depth+1)
			}
		} else if _, plain := format.PlainText(v); plain && name == key {
			n++
		}
	}
	return n
}

// renderSetting returns a setting of a rendered skill in the renderer's form: text as it is, a list as a
// list, review layers as sections. The default has the type. wrong is the reason for the renderer to stop.
func renderSetting(dotted string, v, usual any) (text string, wrong lang.Text) {
	switch usual := usual.(type) {
	case string:
		s, ok := v.(string)
		if !ok {
			return "", lang.T("it is not a text")
		}
		if strings.TrimSpace(s) == "" && strings.TrimSpace(usual) != "" && dotted != "workflow.open_spec" {
			return "", lang.T("it is empty")
		}
		return s, lang.Text{}
	case []any:
		list, ok := v.([]any)
		if !ok {
			return "", lang.T("it is not a list")
		}
		tables := len(usual) > 0
		for _, item := range usual {
			_, table := item.(map[string]any)
			tables = tables && table
		}
		if tables {
			return reviewLayers(list)
		}
		return bulletList(list)
	}
	return "", lang.T("it is neither a text nor a list by itself")
}

func bulletList(list []any) (text string, wrong lang.Text) {
	var lines []string
	for n, item := range list {
		s, ok := item.(string)
		if !ok || strings.TrimSpace(s) == "" {
			return "", lang.T("entry %d is not a text, or empty", n+1)
		}
		lines = append(lines, "- "+strings.ReplaceAll(s, "\n", "\n  "))
	}
	if len(lines) == 0 {
		return "_None._", lang.Text{}
	}
	return strings.Join(lines, "\n"), lang.Text{}
}

// skillFile finds the files of a skill named by a setting.
var skillFile = pattern.New(`\{skill-root\}(?:/([A-Za-z0-9_./-]+[A-Za-z0-9_-]))?`)

// bindFiles replaces the skill's files named by a setting with their rendered form, if it differs.
func (r *resolver) bindFiles(text string) string {
	here, _ := r.i.Origin.SystemPath(r.i.Dir)
	return skillFile.ReplaceAllStringFunc(text, func(named string) string {
		rest := strings.TrimPrefix(named, "{skill-root}")
		if name := path.Join(r.i.Dir, rest); rest != "" && r.i.Origin.Has(name) {
			if file, err := r.i.Origin.File(name); err == nil && snapshot.MatchString(string(file.Data)) {
				return catalog.Ref{Source: r.i.Origin.Name, Path: name, Resolved: true}.String()
			}
		}
		return here + rest
	})
}

// reviewLayers writes review layers. A layer with an empty instruction is switched off.
func reviewLayers(list []any) (text string, wrong lang.Text) {
	var sections, ids []string
	for n, item := range list {
		layer, ok := item.(map[string]any)
		if !ok {
			return "", lang.T("layer %d is not a table", n+1)
		}
		id, _ := layer["id"].(string)
		if strings.TrimSpace(id) == "" {
			return "", lang.T("layer %d has no id", n+1)
		}
		if slices.Contains(ids, id) {
			return "", lang.T("two layers have the id %q", id)
		}
		ids = append(ids, id)
		for _, key := range []string{"name", "when"} {
			if v, there := layer[key]; there && strings.TrimSpace(multiline(v)) == "" {
				return "", lang.T("the %s of the layer %q is not a text, or empty", key, id)
			}
		}
		instruction, ok := layer["instruction"].(string)
		if !ok {
			return "", lang.T("the layer %q has no instruction", id)
		}
		if instruction = strings.TrimSpace(instruction); instruction == "" {
			continue
		}
		section := "#### " + cmp.Or(multiline(layer["name"]), id) + " (`" + id + "`)"
		if when := multiline(layer["when"]); when != "" {
			section += "\n\nRun only when: " + when
		}
		sections = append(sections, section+"\n\n"+instruction)
	}
	if len(sections) == 0 {
		return "No review layer is active. Stop, and tell the person: no active review layers.", lang.Text{}
	}
	return strings.Join(sections, "\n\n"), lang.Text{}
}
