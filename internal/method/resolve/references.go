package resolve

import (
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// addReferences lists the files an item refers to, and the files beside it.
func (r *resolver) addReferences(out *Resolved, text string) {
	i := r.i
	if i.Path == "" {
		return
	}
	l := &references{seen: map[string]bool{}}
	for _, p := range out.Parts {
		l.seen[plainAddress(p.URI)] = true
	}
	if out.Persona != nil && slices.ContainsFunc(out.Persona.Menu, func(m MenuItem) bool { return strings.HasSuffix(m.Does, "workflow.yaml") }) {
		r.addRunner(out)
	}
	for _, named := range out.More {
		if ref, err := catalog.ParseRef(named.URI); err == nil {
			if f, name, ok := r.c.LookUp(ref); ok {
				l.add(f, name, named.What)
			}
		}
	}
	if i.Kind == catalog.Agent && !i.Skill && i.Installation.Layout == catalog.LayoutV4 {
		r.addDependencies(out, text, l)
	} else {
		missing := r.addMenuTargets(out.Persona, l)
		if out.Persona != nil {
			for _, m := range out.Persona.Menu {
				out.Offers = format.AppendNew(out.Offers, m.Item)
			}
		}
		if len(missing) > 0 {
			out.Notes = append(out.Notes, "Of the menu these name something that is not installed: "+strings.Join(missing, ", ")+". Say so when the person picks one.")
		}
	}
	if i.Skill || inYAML(i) || i.Kind == catalog.Workflow && i.Installation.Layout == catalog.LayoutV6 {
		r.addBeside(l)
	}
	out.More = l.list
}

// A menu item may be carried out by a skill, named here, or by a file of the method. The others are
// words, or names of prompts.
var (
	skillName  = pattern.New(`^(?:skill:)?bmad-[a-z0-9-]+$`)
	methodFile = pattern.New(`(?:^|/)[._]*bmad/\S+\.(?:md|ya?ml|xml)$`)
)

// addMenuTargets lists the files behind an agent's menu, and returns the codes of items without one.
func (r *resolver) addMenuTargets(p *Persona, l *references) (missing []string) {
	if p == nil {
		return nil
	}
	for n, m := range p.Menu {
		if item, known := r.c.Named(m.Does); known && m.Does != "" && !strings.Contains(m.Does, " ") {
			p.Menu[n].Item = item.Full()
		}
		for _, named := range []string{m.Does, m.Data} {
			f, name, ok := r.inSource(named)
			switch {
			case ok:
				l.add(f, name, m.Code)
			case methodFile.MatchString(named), skillName.MatchString(named) && p.Menu[n].Item == "":
				missing = format.AppendNew(missing, m.Code)
			}
		}
	}
	return missing
}

// addBeside lists the files beside an item, except the ones already read.
func (r *resolver) addBeside(l *references) {
	entries := 0
	r.i.Origin.EachFile(r.i.Dir, &entries, func(name string, _ int64) {
		if base := path.Base(name); base != catalog.CustomizeFile && base != catalog.SkillManifest && !strings.Contains(name, "/tests/") && name != r.i.Path {
			l.add(r.i.Origin, name, "")
		}
	})
}

func plainAddress(uri string) string {
	plain, _, _ := strings.Cut(uri, "?")
	return plain
}
