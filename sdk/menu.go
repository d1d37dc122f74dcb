package sdk

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// menu lists the commands of an agent, with the installations it was found in.
type menu struct {
	snapshot *method.Snapshot
	shelf    *methodFiles
	// heading and persona are the agent's, in Markdown.
	heading, persona string
	items            []menuItem
}

type menuItem struct {
	Command
	// does is the skill, file or text that carries it out.
	does string
}

// ownMenu returns the menu of an agent of the caller's own.
func ownMenu(a *Agent) menu {
	m := menu{heading: cmp.Or(a.Name, a.ID)}
	if a.Title != "" {
		m.heading += ", " + a.Title
	}
	var b strings.Builder
	for _, line := range []struct{ name, text string }{{"Role", a.Persona.Role}, {"Identity", a.Persona.Identity},
		{"Style", a.Persona.Style}, {"Focus", a.Persona.Focus},
		{"Principles", strings.Join(a.Persona.Principles, "; ")}} {
		if line.text != "" {
			fmt.Fprintf(&b, "- **%s:** %s\n", line.name, line.text)
		}
	}
	m.persona = b.String()
	for _, c := range a.Commands {
		m.items = append(m.items, menuItem{Command: c})
	}
	return m
}

// The names that texts of the method use for the tools of an agent.
var methodTools = method.ToolNames{Read: "`read_file`", Workflow: "`" + openWorkflow + "`", Agent: "`" + invokeAgent + "`", Whole: true}

// files returns the files of a new session: changes are kept in memory, over those of the method.
func (m menu) files(now func() time.Time) vfs.FS {
	if m.shelf == nil {
		return vfs.NewMem(now)
	}
	return vfs.NewOverlay(m.shelf, now)
}

// command returns the item of the menu that a message begins with, as *code, /code or code, and the
// rest of the message. Bare words have to be the whole code: "help me" is not *help.
func (m menu) command(words string) (item menuItem, rest string, marked, ok bool) {
	words = strings.TrimSpace(words)
	first, rest, _ := strings.Cut(words, " ")
	code := strings.TrimLeft(first, "*/")
	marked = code != first
	for _, i := range m.items {
		own := strings.TrimLeft(i.Code, "*/")
		name, _, _ := strings.Cut(own, " ") // v4 writes create-doc {template}
		if strings.EqualFold(code, name) && (marked || strings.TrimSpace(rest) == "" || strings.Contains(name, "-")) {
			return i, strings.TrimSpace(rest), marked, true
		}
	}
	return menuItem{}, "", marked, false
}

// message returns the message to the agent for the person's words: the document that an item of its menu
// stands for, else the words. warning says that a command is not known.
func (m menu) message(words string) (text, warning string) {
	item, rest, marked, ok := m.command(words)
	if !ok {
		if marked && len(m.items) > 0 {
			return words, fmt.Sprintf("the menu has no such command; it has: %s", strings.Join(m.codes(), ", "))
		}
		return words, ""
	}
	if text, found := m.document(item, rest); found {
		return text, ""
	}
	text = fmt.Sprintf("The person chose %s from your menu: %s", item.Code, item.Description)
	if item.does != "" {
		text += "\nIt is carried out by: " + m.shelf.withPaths(item.does)
	}
	if rest != "" {
		text += "\nTheir words: " + rest
	}
	return text, ""
}

// document returns the workflow or task of an item.
func (m menu) document(item menuItem, rest string) (string, bool) {
	if m.snapshot == nil {
		return "", false
	}
	does := strings.TrimSpace(item.does)
	base, folder := path.Base(does), path.Base(path.Dir(does)) // workflow.yaml lies in a folder of its name
	for _, name := range []string{does, strings.TrimSuffix(base, path.Ext(base)), folder, strings.TrimLeft(item.Code, "*/")} {
		if strings.Trim(name, "./") == "" || strings.ContainsAny(name, " \n{}") {
			continue
		}
		if text, err := m.snapshot.Workflow(name, rest, methodTools); err == nil {
			return m.shelf.withPaths(text), true
		}
	}
	return "", false
}

// codes returns the commands of the menu.
func (m menu) codes() []string {
	var codes []string
	for _, i := range m.items {
		codes = append(codes, "*"+strings.TrimLeft(i.Code, "*/"))
	}
	return codes
}

// help returns the menu if the words ask for it.
func (m menu) help(words string) (string, bool) {
	if !isOneOf(words, "*help", "/help", "help", "*menu") {
		return "", false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", m.heading)
	for _, i := range m.items {
		fmt.Fprintf(&b, "\n- *%s: %s", strings.TrimLeft(i.Code, "*/"), i.Description)
	}
	if len(m.items) == 0 {
		b.WriteString("\nThis agent has no menu; say what you need in your own words.")
	}
	return b.String(), true
}

// The tools of an agent besides those for files.
const (
	openWorkflow = "open_workflow"
	invokeAgent  = "invoke_agent"
)

// isOneOf reports whether the words are one of some, in any case.
func isOneOf(words string, some ...string) bool {
	return slices.Contains(some, strings.ToLower(strings.TrimSpace(words)))
}
