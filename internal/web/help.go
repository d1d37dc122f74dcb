package web

import (
	"cmp"
	"path"
	"strings"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/docs"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
)

// repository is the address of files outside of the help, for links from the help.
const repository = "https://github.com/bmad-mcp/bmad-mcp/blob/main/docs/"

// showHelp shows a page of the documentation, or the index without a name.
func showHelp(a *asked) (templ.Component, error) {
	name := cmp.Or(a.r.PathValue("page"), docs.Index)
	text, language := docs.Page(name, string(a.lang)), a.lang
	if text == docs.Page(name, "") {
		language = lang.English
	}
	if text == "" {
		return nil, fault.New(fault.NotFound, "no page has the address %q", a.r.URL.Path).WithHint("the help lists all pages")
	}
	title, rest := docs.Title(text)
	if a.page.Title = title; name != docs.Index {
		a.page.Trail = []link{{"/help", a.lang.Say("Help")}}
	}
	to := func(address string) string { return helpHref(path.Dir(name), address, string(language)) }
	return helpScreen(languageTag(language), render.Own(rest, to).HTML), nil
}

// helpHref returns the target of a link on a page. folder and language are the page's own.
func helpHref(folder, address, language string) string {
	file, anchor, _ := strings.Cut(address, "#")
	file = path.Join(folder, file)
	name, isPage := strings.CutSuffix(file, ".md")
	name, other, _ := strings.Cut(name, ".")
	if !isPage || docs.Page(name, "") == "" {
		return repository + path.Join(folder, address)
	}
	out := "/help/" + name
	if name == docs.Index {
		out = "/help"
	}
	if other = cmp.Or(other, string(lang.English)); docs.Page(name, other) != docs.Page(name, language) {
		out += "?lang=" + other
	}
	if anchor != "" {
		out += "#" + render.OwnID(anchor)
	}
	return out
}
