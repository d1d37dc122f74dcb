package resolve

import (
	"io/fs"
	"path"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// Resolved is an item with everything needed to act on it.
type Resolved struct {
	Item catalog.Item
	// Persona is the persona of an agent.
	Persona *Persona
	// Custom are the addresses of the merged customization.
	Custom []string
	// Settings has a skill's merged tables, by name: "agent" or "workflow". They can be read alone
	// at SettingsURI.
	Settings    map[string]any
	SettingsURI string
	// Config has the configuration every role needs to know, in order.
	Config []Setting
	// Parts are the texts, the entry file first.
	Parts []Part
	// More are the files the item refers to, or beside it, to be read one by one.
	More []Reference
	// Offers are the names of the items that an agent's menu or dependencies offer, with their modules.
	Offers []string
	// Open are the unknown placeholders.
	Open []string
	// Notes are for the reader, for example about finished steps.
	Notes []string
}

// Setting is a value of the configuration.
type Setting struct{ Key, Value string }

// Part is a text with all placeholders filled in.
type Part struct {
	URI  string
	Text string
	// Size is the size of the file, in bytes.
	Size int
}

// Reference is a file to be read when it is needed.
type Reference struct {
	URI  string `json:"uri"`
	What string `json:"what,omitempty"`
	Size int64  `json:"size"`
}

// Persona is who an agent is, with the customization of the project.
type Persona struct {
	Name  string `json:"name,omitempty"`
	Title string `json:"title,omitempty"`
	Icon  string `json:"icon,omitempty"`

	Role       string   `json:"role,omitempty"`
	Identity   string   `json:"identity,omitempty"`
	Style      string   `json:"communication_style,omitempty"`
	Focus      string   `json:"focus,omitempty"`
	Principles []string `json:"principles,omitempty"`
	// Facts are always true for the agent, Critical are the first actions.
	Facts    []string `json:"facts,omitempty"`
	Critical []string `json:"critical_actions,omitempty"`
	// Activation are the instructions of version 4 for the host in the agent's role.
	Activation []string `json:"-"`
	// Custom is people's customization in prose.
	Custom  string         `json:"customization,omitempty"`
	Menu    []MenuItem     `json:"menu,omitempty"`
	Prompts []CustomPrompt `json:"prompts,omitempty"`
}

// MenuItem is an offer of an agent.
type MenuItem struct {
	Code        string `json:"code"`
	Description string `json:"description"`
	// Does is the skill, file or text to carry out; Data is an accompanying file.
	Does string `json:"does,omitempty"`
	Data string `json:"data,omitempty"`
	// Item is the name of the item behind Does, with the module.
	Item string `json:"item,omitempty"`
}

// CustomPrompt is a text for items of the menu, which refer to it by id.
type CustomPrompt struct {
	ID      string `json:"id"`
	Content string `json:"content"`
}

// references collects the files an item refers to.
type references struct {
	seen map[string]bool
	list []Reference
}

// add lists a file once. A text is listed by the address with placeholders filled in.
func (l *references) add(f *catalog.Origin, name, what string) {
	uri := f.URI(name)
	if len(l.list) >= maxReferences || l.seen[uri] {
		return
	}
	info, err := fs.Stat(f.FS, name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	l.seen[uri] = true
	if ext := path.Ext(name); ext == ".md" || ext == ".yaml" || ext == ".yml" || ext == ".xml" {
		uri = catalog.Ref{Source: f.Name, Path: name, Resolved: true}.String()
	}
	l.list = append(l.list, Reference{URI: uri, What: what, Size: info.Size()})
}

// maxReferences bounds how many files an item refers to.
const maxReferences = 60
