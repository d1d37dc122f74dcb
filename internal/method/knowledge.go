package method

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// KnowledgePage is a page of knowledge: the domains, or the pieces of one.
type KnowledgePage struct {
	Domain    string             `json:"domain,omitempty"`
	Domains   []catalog.Domain   `json:"domains,omitempty"`
	Fragments []catalog.Fragment `json:"fragments,omitempty"`
	Page
}

// Knowledge returns the knowledge of a domain: the text of the only piece, else the list of them; the
// domains, if none is named; the file at an address.
func (s *Snapshot) Knowledge(domain, cursor string) (text string, out KnowledgePage, err error) {
	domain = strings.TrimSpace(domain)
	if strings.HasPrefix(domain, catalog.Scheme+"://") {
		r, err := s.Read(domain, MaxReply-300)
		text := string(r.Data)
		if r.Next != "" {
			text += "\n[this file goes on: read " + r.Next + "]"
		}
		return text, out, err
	}
	if s.Empty() {
		return "", out, s.noInstallation()
	}
	if domain == "" {
		all := s.Domains()
		values, next, err := pageOf(all, cursor, room, func(d catalog.Domain) string { return d.Name })
		out = KnowledgePage{Domains: values, Page: Page{Total: len(all), NextCursor: next, Hint: s.language().Say("name one of them as the domain")}}
		if len(all) == 0 {
			out.Hint = s.language().Say("the installation has no knowledge besides its agents and workflows")
		}
		return "", out, err
	}
	all := s.Catalog.Knowledge(domain)
	if len(all) == 1 && all[0].Size <= MaxReply-1000 {
		r, err := s.Read(all[0].URI, 0)
		return string(r.Data), out, err
	}
	if len(all) == 0 {
		err := fault.New(fault.NotFound, "no domain of knowledge matches %q", format.OneLine(domain))
		if near := s.Near(domain); len(near) > 0 {
			return "", out, err.Offer(near)
		}
		var names []string
		for _, d := range s.Domains() {
			names = append(names, d.Name)
		}
		if len(names) == 0 {
			return "", out, err.WithHint("this installation has no knowledge besides its agents and workflows")
		}
		return "", out, err.WithHint("the domains are: %s", strings.Join(names, ", "))
	}
	for n := range all {
		all[n].Description = visible.Fit(all[n].Description, maxDescription)
	}
	values, next, err := pageOf(all, cursor, room, func(f catalog.Fragment) string { return f.URI })
	return "", KnowledgePage{Domain: domain, Fragments: values,
		Page: Page{Total: len(all), NextCursor: next, Hint: s.language().Say("read one by its address, or by its name as the domain")}}, err
}

// Details is an item as in lists, with all files.
type Details struct {
	catalog.Item
	Persona *resolve.Persona    `json:"persona,omitempty"`
	Custom  []string            `json:"customization,omitempty"`
	Files   []resolve.Reference `json:"files"`
	Open    []string            `json:"open_placeholders,omitempty"`
}

// Details returns an item with all files, without their texts.
func (s *Snapshot) Details(kind catalog.Kind, name string) (Details, error) {
	i, r, err := s.openItem(name, kind)
	if err != nil {
		return Details{}, err
	}
	out := Details{Item: s.withPeople(shortenItem(i)), Persona: r.Persona, Custom: r.Custom, Open: r.Open, Files: []resolve.Reference{}}
	for _, p := range r.Parts {
		out.Files = append(out.Files, resolve.Reference{URI: p.URI, What: "instructions", Size: int64(p.Size)})
	}
	out.Files = append(out.Files, r.More...)
	return out, nil
}
