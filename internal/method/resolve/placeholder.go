package resolve

import (
	"cmp"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

const (
	// maxNesting bounds how deep placeholders in values are followed.
	maxNesting = 5
	// maxFilled bounds the total size of the values in the texts of one item, in bytes: a few values with
	// references to each other could exceed any memory.
	maxFilled = 1 << 20
	// maxOpen bounds how many unknown placeholders are listed.
	maxOpen = 100
)

// hole finds the placeholders of a text. A value of the configuration is written
// {config_source}:key; everything else is a name in single braces.
var hole = pattern.New(`\{config_source\}:([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)|\{([A-Za-z_][A-Za-z0-9_.-]*)\}`)

// fill returns a text with placeholders filled in. Unknown ones stay and are recorded. Double braces belong
// to a template, a $ before a brace to a program: both stay and are not recorded.
func (r *resolver) fill(text string) string { return r.fillNested(text, 0, true) }

func (r *resolver) fillNested(text string, depth int, note bool) string {
	var b strings.Builder
	last := 0
	for _, m := range hole.FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		escaped := strings.HasSuffix(text[:start], "{") || strings.HasSuffix(text[:start], "$") || strings.HasPrefix(text[end:], "}")
		if start < last || escaped {
			continue
		}
		b.WriteString(text[last:start])
		placeholder, value, ok := text[start:end], "", false
		if depth == 0 && isExplained(text, start, end) {
			b.WriteString(placeholder)
			last = end
			continue
		}
		switch {
		case r.filled > maxFilled || slices.Contains(r.within, placeholder): // a loop, or practically one
		case m[2] >= 0:
			value, ok = r.configValue(text[m[2]:m[3]])
		default:
			var used int
			value, used, ok = r.valueOf(text[m[4]:m[5]], text[end:])
			end += used
		}
		last = end
		r.filled += len(value)
		switch {
		case !ok:
			b.WriteString(placeholder)
			if note {
				r.noteOpen(placeholder)
			}
		case m[4] >= 0 && inTable(text[m[4]:m[5]]): // filled in already, as a setting
			b.WriteString(value)
		case depth < maxNesting:
			r.within = append(r.within, placeholder)
			b.WriteString(r.fillNested(value, depth+1, note))
			r.within = r.within[:len(r.within)-1]
		default:
			b.WriteString(value)
		}
	}
	b.WriteString(text[last:])
	return b.String()
}

// explaining finds the words of a line that explains a placeholder instead of using it.
var explaining = pattern.New(`(?i)\b(resolve[sd]?|unresolved|expand(s|ed)?|substitut\w+|placeholders?|stands? for)\b|-prefixed paths`)

// maxExplained bounds the length of such lines, in bytes.
const maxExplained = 2000

// isExplained reports whether a placeholder stands by itself in quotation marks of code, in a line about
// the placeholder: filled in, the line would make no sense.
func isExplained(text string, start, end int) bool {
	if start == 0 || end >= len(text) || text[start-1] != '`' || text[end] != '`' {
		return false
	}
	before, after := text[max(0, start-maxExplained):start], text[end:min(len(text), end+maxExplained)]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after, _, _ = strings.Cut(after, "\n")
	return len(before)+len(after) < maxExplained && explaining.MatchString(before+text[start:end]+after)
}

// keepingDate calls fill with {date} left as it is.
func (r *resolver) keepingDate(fill func() string) string {
	before := r.keepDate
	r.keepDate = true
	defer func() { r.keepDate = before }()
	return fill()
}

func (r *resolver) noteOpen(placeholder string) {
	if len(r.open) < maxOpen && !slices.Contains(r.open, placeholder) {
		r.open = append(r.open, placeholder)
	}
}

// valueOf returns the value of a name. after is the following text; used is the length of its beginning, if
// the value replaces that too.
func (r *resolver) valueOf(name, after string) (value string, used int, ok bool) {
	if v, ok := r.own[name]; ok && v != "{"+name+"}" {
		return v, 0, true
	}
	if name == "project-root" || name == "project_root" {
		return r.projectRoot(after)
	}
	value, ok = r.lookUpName(name)
	return value, 0, ok
}

func (r *resolver) lookUpName(name string) (string, bool) {
	switch name {
	case "directory_name":
		return path.Base(filepath.ToSlash(r.target.Project)), r.target.Project != ""
	case "bmad_folder", "bmad-folder":
		return r.installationFolder()
	case "bmad_root", "bmad-root", "module_root", "module-root", "module_config", "module-config", "config_source":
		return r.moduleFile(strings.ReplaceAll(name, "-", "_"))
	case "root": // in the sources of version 4
		if r.i.Installation != nil && r.i.Installation.Layout == catalog.LayoutV4 {
			return r.installationFolder()
		}
	case "installed_path", "skill-root", "skill_root":
		return r.i.Origin.SystemPath(r.i.Dir)
	case "skill-name", "skill_name":
		return path.Base(r.i.Dir), r.i.Skill && !strings.HasSuffix(r.i.Name, "-customize") // there it names another skill
	case "date", "current_date":
		if r.keepDate {
			r.kept = true
			return "{" + name + "}", true
		}
		return r.target.Now.Format(time.DateOnly), !r.target.Now.IsZero()
	}
	if inTable(name) {
		v, known := lookUpDotted(r.tables, name)
		if !known || isSecret(name) {
			return "", false
		}
		return r.keepingDate(func() string { return r.fillNested(r.settingInSentence(name, v), 1, true) }), true
	}
	return r.configValue(name)
}

// inTable reports whether a name belongs to a setting of a skill.
func inTable(name string) bool {
	return strings.HasPrefix(name, "agent.") || strings.HasPrefix(name, "workflow.")
}

// settingInSentence returns a setting in the form for a sentence. Tables are named if they are shown with the item,
// and written out if not.
func (r *resolver) settingInSentence(name string, v any) string {
	if s, ok := format.PlainText(v); ok {
		return cmp.Or(maskText(s), "(not set: skip this)")
	}
	list, ok := v.([]any)
	if ok && len(list) == 0 {
		return "[]"
	}
	var parts []string
	for _, item := range list {
		if s, ok := format.PlainText(item); ok {
			parts = append(parts, maskText(s))
		}
	}
	if ok && len(parts) == len(list) {
		return strings.Join(parts, "; ")
	}
	if !r.shown {
		if data, err := json.Marshal(maskValue(v)); err == nil && len(data) <= maxInline {
			return string(data)
		}
	}
	if name == "agent.menu" {
		return "the menu above"
	}
	return "the settings above, under " + name
}

// maxInline bounds a table within a sentence, in bytes.
const maxInline = 6000

// configValue returns a value of the configuration, or the module's proposed default.
func (r *resolver) configValue(key string) (string, bool) {
	for _, s := range r.from {
		if v, ok := s.value(r.module, key); ok {
			return maskText(v), true
		}
	}
	for _, p := range r.proposals {
		if v, ok := p[key]; ok && !isSecret(key) {
			r.usedProposals = format.AppendNew(r.usedProposals, key)
			return r.composeValue("{"+key+"}", v), true
		}
	}
	return "", false
}

// composeValue fills in the placeholders of a proposed value. If it begins with another setting with a path
// below the project, the project's folder is written once, as installers do.
func (r *resolver) composeValue(placeholder, value string) string {
	if r.filled += len(value); r.filled > maxFilled || len(r.within) >= maxNesting {
		return value
	}
	r.within = append(r.within, placeholder)
	defer func() { r.within = r.within[:len(r.within)-1] }()
	const root = "{project-root}/"
	rest, ok := strings.CutPrefix(value, root)
	if rest = r.fillNested(rest, 1, true); !ok || path.IsAbs(rest) || filepath.IsAbs(rest) || strings.HasPrefix(rest, root) {
		return rest
	}
	return root + rest
}
