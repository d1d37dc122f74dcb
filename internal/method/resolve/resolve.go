// Package resolve fills in one item of a catalog for a project: the persona with the project's
// customization merged in, placeholders replaced by settings, and the files it refers to as addresses. It
// reads through the catalog and changes nothing.
package resolve

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// Item reads an item for a project.
func Item(c *catalog.Catalog, i catalog.Item, t Target) (*Resolved, error) {
	item := &i
	out := &Resolved{Item: i}
	r, err := newResolver(c, item, t)
	if err != nil {
		return nil, err
	}
	layers, defaults, err := r.loadLayers()
	if err != nil {
		return nil, err
	}
	out.Custom = layers
	text := ""
	if i.Path != "" {
		file, err := i.Origin.File(i.Path)
		if err != nil {
			return nil, err
		}
		text = format.Normalize(file.Data)
	}
	if i.Kind == catalog.Agent {
		persona, custom, err := r.readPersona(text, defaults)
		if err != nil {
			return nil, err
		}
		out.Persona, out.Custom = persona, append(out.Custom, custom...)
	}
	if err := r.readEntryValues(text); err != nil {
		return nil, err
	}
	r.shown = true
	switch {
	case i.Path == "":
		out.Notes = append(out.Notes, "This agent has no file of its own: the configuration describes it, and nothing else does.")
	case i.Skill:
		err = r.addSkillParts(out, text, defaults)
	case inYAML(item):
		err = r.addYAMLParts(out, text)
	default:
		err = r.addPart(out, i.Origin, i.Path, text)
	}
	if err != nil {
		return nil, err
	}
	if out.Persona != nil {
		r.fillPersona(out.Persona)
	}
	r.addSettings(out, text)
	if r.kept {
		out.Notes = append(out.Notes, "{date} in a setting stands for the day on which it is used; today is "+r.target.Now.Format(time.DateOnly)+".")
	}
	if note := r.unsetNote(); note != "" {
		out.Notes = append(out.Notes, note)
	}
	if note := r.helpNote(text); note != "" {
		out.Notes = append(out.Notes, note)
	}
	r.addReferences(out, text)
	out.Open = r.open
	return out, nil
}
