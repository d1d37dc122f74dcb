package catalog

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// references are the files that an item refers to, in the making.
type references struct {
	seen map[string]bool
	list []Reference
}

// add lists a file once. A text is listed by the address at which its placeholders are filled
// in.
func (l *references) add(f *found, name, what string) {
	uri := f.uri(name)
	if len(l.list) >= maxReferences || l.seen[uri] {
		return
	}
	info, err := fs.Stat(f.FS, name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	l.seen[uri] = true
	if ext := path.Ext(name); ext == ".md" || ext == ".yaml" || ext == ".yml" || ext == ".xml" {
		uri = Ref{Source: f.Name, Path: name, Resolved: true}.String()
	}
	l.list = append(l.list, Reference{URI: uri, What: what, Size: info.Size()})
}

// references lists the files that an item refers to and those that lie with it.
func (r *resolver) references(out *Resolved, text string) {
	i := r.i
	if i.Path == "" {
		return
	}
	l := &references{seen: map[string]bool{}}
	for _, p := range out.Parts {
		l.seen[plainAddress(p.URI)] = true
	}
	if out.Persona != nil && slices.ContainsFunc(out.Persona.Menu, func(m MenuItem) bool { return strings.HasSuffix(m.Does, "workflow.yaml") }) {
		r.runner(out)
	}
	for _, named := range out.More {
		if ref, err := ParseRef(named.URI); err == nil {
			if f, name, ok := r.c.lookUp(ref); ok {
				l.add(f, name, named.What)
			}
		}
	}
	if i.Kind == Agent && !i.Skill && i.install.layout == LayoutV4 {
		r.dependencies(out, text, l)
	} else {
		if missing := r.offered(out.Persona, l); len(missing) > 0 {
			out.Notes = append(out.Notes, "Of the menu these name something that is not installed: "+strings.Join(missing, ", ")+". Say so when the person picks one.")
		}
	}
	if i.Skill || i.inYAML() || i.Kind == Workflow && i.install.layout == LayoutV6 {
		r.beside(l)
	}
	out.More = l.list
}

// What carries out an item of a menu may be: the name of a skill, or a file of the method. The
// others are words, or names of prompts.
var (
	skillName  = regexp.MustCompile(`^(?:skill:)?bmad-[a-z0-9-]+$`)
	methodFile = regexp.MustCompile(`(?:^|/)[._]*bmad/\S+\.(?:md|ya?ml|xml)$`)
)

// offered lists the files that carry out what an agent offers, and returns the codes of what
// nothing carries out.
func (r *resolver) offered(p *Persona, l *references) (missing []string) {
	if p == nil {
		return nil
	}
	for _, m := range p.Menu {
		for _, named := range []string{m.Does, m.Data} {
			f, name, ok := r.inSource(named)
			switch {
			case ok:
				l.add(f, name, m.Code)
			case methodFile.MatchString(named), skillName.MatchString(named) && !r.c.knows(named):
				missing = appendNew(missing, m.Code)
			}
		}
	}
	return missing
}

// beside lists the files that lie with an item, but for those that were read already.
func (r *resolver) beside(l *references) {
	entries := 0
	r.i.in.filesIn(r.i.Dir, &entries, func(name string, _ int64) {
		if base := path.Base(name); base != customizeFile && base != skillManifest && !strings.Contains(name, "/tests/") && name != r.i.Path {
			l.add(r.i.in, name, "")
		}
	})
}

func plainAddress(uri string) string {
	plain, _, _ := strings.Cut(uri, "?")
	return plain
}
