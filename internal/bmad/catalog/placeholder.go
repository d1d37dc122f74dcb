package catalog

import (
	"cmp"
	"encoding/json"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Context is what an item is resolved for.
type Context struct {
	// Project is the absolute path of the caller's project; "" leaves it open.
	Project string
	// Now is the time; its date is what {date} stands for.
	Now time.Time
}

// resolver fills in the placeholders of one item's texts.
type resolver struct {
	c   *Catalog
	i   *Item
	ctx Context
	// from are the configurations that count for it, as its module sees them.
	from   []settings
	module string
	// base are the values that the file which begins the item gives, own those with what the
	// file gives that is filled in.
	base, own map[string]string
	// shown is true where the item's settings are shown with its text.
	shown bool
	// keepDate leaves the date as it is; kept is true where one was.
	keepDate, kept bool
	// tables are the merged settings of a skill: agent or workflow.
	tables map[string]any
	open   []string
	// proposals are what modules propose, in the order in which they count; proposed are the
	// keys that have such a value, since nobody has set them.
	proposals []map[string]string
	proposed  []string
	// within are the placeholders whose values are being looked into, filled is how many bytes
	// of values there have been.
	within []string
	filled int
}

const (
	// maxNesting bounds how often a value is looked into for further placeholders.
	maxNesting = 5
	// maxFilled bounds what the values in the texts of one item come to, in bytes: a few lines
	// whose values lead to each other would come to more than any memory holds.
	maxFilled = 1 << 20
	// maxOpen bounds how many placeholders are noted that nothing stands for.
	maxOpen = 100
)

// hole finds the placeholders of a text. A value of the configuration is written
// {config_source}:key; everything else is a name in single braces.
var hole = regexp.MustCompile(`\{config_source\}:([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)|\{([A-Za-z_][A-Za-z0-9_.-]*)\}`)

// fill returns a text with its placeholders filled in. Those that nothing stands for stay,
// and are noted. What stands in two braces belongs to a template, what follows a $ to a
// program: both stay, and are not noted.
func (r *resolver) fill(text string) string { return r.nested(text, 0, true) }

func (r *resolver) nested(text string, depth int, note bool) string {
	var b strings.Builder
	last := 0
	for _, m := range hole.FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		if start < last || start > 0 && (text[start-1] == '{' || text[start-1] == '$') || end < len(text) && text[end] == '}' {
			continue
		}
		b.WriteString(text[last:start])
		placeholder, value, ok := text[start:end], "", false
		if depth == 0 && explained(text, start, end) {
			b.WriteString(placeholder)
			last = end
			continue
		}
		switch {
		case r.filled > maxFilled || slices.Contains(r.within, placeholder): // a loop, or as good as one
		case m[2] >= 0:
			value, ok = r.configValue(text[m[2]:m[3]])
		default:
			var used int
			value, used, ok = r.value(text[m[4]:m[5]], text[end:])
			end += used
		}
		last = end
		r.filled += len(value)
		switch {
		case !ok:
			b.WriteString(placeholder)
			if note {
				r.left(placeholder)
			}
		case m[4] >= 0 && inTable(text[m[4]:m[5]]): // it is filled in as a setting is
			b.WriteString(value)
		case depth < maxNesting:
			r.within = append(r.within, placeholder)
			b.WriteString(r.nested(value, depth+1, note))
			r.within = r.within[:len(r.within)-1]
		default:
			b.WriteString(value)
		}
	}
	b.WriteString(text[last:])
	return b.String()
}

// explaining finds the words of a line that speaks of a placeholder, and does not use it.
var explaining = regexp.MustCompile(`(?i)\b(resolve[sd]?|unresolved|expand(s|ed)?|substitut\w+|placeholders?|stands? for)\b|-prefixed paths`)

// maxExplained bounds the lines that are looked at for such words, in bytes.
const maxExplained = 2000

// explained reports whether a placeholder stands by itself in quotation marks of code, in a
// line that says what becomes of it: filled in, that line would say nothing.
func explained(text string, start, end int) bool {
	if start == 0 || end >= len(text) || text[start-1] != '`' || text[end] != '`' {
		return false
	}
	before, after := text[max(0, start-maxExplained):start], text[end:min(len(text), end+maxExplained)]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after, _, _ = strings.Cut(after, "\n")
	return len(before)+len(after) < maxExplained && explaining.MatchString(before+text[start:end]+after)
}

// dateless runs what fills in something in which the date is not today's.
func (r *resolver) dateless(fill func() string) string {
	before := r.keepDate
	r.keepDate = true
	defer func() { r.keepDate = before }()
	return fill()
}

func (r *resolver) left(placeholder string) {
	if len(r.open) < maxOpen && !slices.Contains(r.open, placeholder) {
		r.open = append(r.open, placeholder)
	}
}

// value returns what a name stands for. after is the text that follows it, used how much of
// that the value takes the place of too.
func (r *resolver) value(name, after string) (value string, used int, ok bool) {
	if v, ok := r.own[name]; ok && v != "{"+name+"}" {
		return v, 0, true
	}
	if name == "project-root" || name == "project_root" {
		return r.root(after)
	}
	value, ok = r.named(name)
	return value, 0, ok
}

func (r *resolver) named(name string) (string, bool) {
	switch name {
	case "directory_name":
		return path.Base(filepath.ToSlash(r.ctx.Project)), r.ctx.Project != ""
	case "bmad_folder", "bmad-folder":
		return r.folder()
	case "root": // in the sources of version 4
		if r.i.install != nil && r.i.install.layout == LayoutV4 {
			return r.folder()
		}
	case "installed_path", "skill-root", "skill_root":
		return r.i.in.system(r.i.Dir)
	case "skill-name", "skill_name":
		return path.Base(r.i.Dir), r.i.Skill && !strings.HasSuffix(r.i.Name, "-customize") // there it is the name of another
	case "date", "current_date":
		if r.keepDate {
			r.kept = true
			return "{" + name + "}", true
		}
		return r.ctx.Now.Format(time.DateOnly), !r.ctx.Now.IsZero()
	}
	if inTable(name) {
		v, known := lookUp(r.tables, name)
		if !known || isSecret(name) {
			return "", false
		}
		return r.dateless(func() string { return r.nested(r.inline(name, v), 1, true) }), true
	}
	return r.configValue(name)
}

// inTable reports whether a name is that of a setting of a skill.
func inTable(name string) bool {
	return strings.HasPrefix(name, "agent.") || strings.HasPrefix(name, "workflow.")
}

// inline returns a setting as it reads within a sentence. Tables are named where they are
// shown with the item, and written out where not.
func (r *resolver) inline(name string, v any) string {
	if s, ok := plainText(v); ok {
		return cmp.Or(unsecret(s), "(not set: skip this)")
	}
	list, ok := v.([]any)
	if ok && len(list) == 0 {
		return "(none)"
	}
	var parts []string
	for _, item := range list {
		if s, ok := plainText(item); ok {
			parts = append(parts, unsecret(s))
		}
	}
	if ok && len(parts) == len(list) {
		return strings.Join(parts, "; ")
	}
	if !r.shown {
		if data, err := json.Marshal(masked(v)); err == nil && len(data) <= maxInline {
			return string(data)
		}
	}
	if name == "agent.menu" {
		return "the menu above"
	}
	return "the settings above, under " + name
}

// maxInline is what a table may take within a sentence, in bytes.
const maxInline = 6000

// configValue returns a value of the configuration; where nobody has set it, what its module
// proposes.
func (r *resolver) configValue(key string) (string, bool) {
	for _, s := range r.from {
		if v, ok := s.value(r.module, key); ok {
			return unsecret(v), true
		}
	}
	for _, p := range r.proposals {
		if v, ok := p[key]; ok && !isSecret(key) {
			r.proposed = appendNew(r.proposed, key)
			return r.composed("{"+key+"}", v), true
		}
	}
	return "", false
}

// composed fills in what a proposed value is made of. Where another setting begins it that is
// a path of the project itself, the project's folder stands before it once, as installers
// write it.
func (r *resolver) composed(placeholder, value string) string {
	if r.filled += len(value); r.filled > maxFilled || len(r.within) >= maxNesting {
		return value
	}
	r.within = append(r.within, placeholder)
	defer func() { r.within = r.within[:len(r.within)-1] }()
	const root = "{project-root}/"
	rest, ok := strings.CutPrefix(value, root)
	if rest = r.nested(rest, 1, true); !ok || path.IsAbs(rest) || filepath.IsAbs(rest) || strings.HasPrefix(rest, root) {
		return rest
	}
	return root + rest
}

// root returns what a path that begins with {project-root} starts from: the caller's project;
// for the files of an installation that is elsewhere it returns where they are.
func (r *resolver) root(after string) (value string, used int, ok bool) {
	rest, isPath := strings.CutPrefix(after, "/")
	lead := ""
	for _, named := range []string{"{bmad_folder}", "{bmad-folder}"} {
		if below, ok := strings.CutPrefix(rest, named); ok {
			lead, rest = named, below
		}
	}
	if end := strings.IndexFunc(rest, func(c rune) bool { return strings.ContainsRune("`'\"<>|()[]{},;:?!#… \t\n*", c) }); end >= 0 {
		rest = rest[:end]
	}
	rest = strings.TrimRight(rest, "/.")
	if in := r.i.install; isPath && in != nil && r.i.in.Name != Project {
		named := rest
		if lead != "" {
			named = "_bmad" + rest
		}
		f, name, found := r.c.lookUp(Ref{Path: named})
		if first, _, _ := strings.Cut(named, "/"); found && (name == named || isNamed(first, "bmad")) {
			if at, ok := f.system(name); ok {
				return at, len("/") + len(lead) + len(rest), true
			}
		}
	}
	return filepath.ToSlash(r.ctx.Project), 0, r.ctx.Project != ""
}

// folder returns the name of the installation's folder; of a module that is not installed, the
// name it would have.
func (r *resolver) folder() (string, bool) {
	in := r.c.custom(r.i)
	switch {
	case in == nil:
		return "", false
	case len(in.described) > 0 && !in.in.Main:
		return "_bmad", true
	case in.dir == ".":
		return "", false
	}
	return in.dir, true
}

// system returns where a path of the source is on the system.
func (f *found) system(name string) (string, bool) {
	if f.Dir == "" || name == "" {
		return "", false
	}
	return filepath.ToSlash(filepath.Join(f.Dir, filepath.FromSlash(name))), true
}

// inSource returns the path in a source that a path of the system stands for.
func (r *resolver) inSource(name string) (*found, string, bool) {
	for _, f := range r.c.sources {
		if f.Dir == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(name, filepath.ToSlash(f.Dir)+"/"); ok && f.has(rest) {
			return f, rest, true
		}
	}
	if f, rest, ok := r.c.lookUp(Ref{Path: strings.TrimPrefix(strings.TrimPrefix(name, "{project-root}/"), "./")}); ok && !path.IsAbs(name) {
		return f, rest, true
	}
	// From the project's folder, as if this installation were its own.
	rest := strings.TrimPrefix(strings.TrimPrefix(name, filepath.ToSlash(r.ctx.Project)+"/"), "{project-root}/")
	if in := r.i.install; in != nil && rest != "" {
		if places, ok := in.places(rest); ok {
			for _, place := range places {
				if in.in.has(place) {
					return in.in, place, true
				}
			}
		}
	}
	return nil, "", false
}
