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
	// module is the agent's; heading and persona are in Markdown.
	module, heading, persona string
	items                    []menuItem
}

type menuItem struct {
	Command
	// does is the skill, file or text of the item.
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

// methodTools are the names for an agent's tools in texts of the method.
var methodTools = method.ToolNames{Read: "`read_file`", Workflow: "`" + openWorkflow + "`", Agent: "`" + invokeAgent + "`", Whole: true}

// newFiles returns the files of a new session: changes are kept in memory, over the method's files.
func (m menu) newFiles(now func() time.Time) vfs.FS {
	if m.shelf == nil {
		return vfs.NewMem(now)
	}
	return vfs.NewOverlay(m.shelf, now)
}

// findItem returns the item of the menu at the beginning of a message, as *code, /code or code, and the rest of
// the message. Bare words have to be the whole code: "help me" is not *help.
func (m menu) findItem(words string) (item menuItem, rest string, marked, ok bool) {
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

// messageFor returns the message to the agent for the person's words: the document of the item, or the *task, named
// in them, else the words. warning names an unknown command.
func (m menu) messageFor(words string) (text, warning string) {
	item, rest, marked, ok := m.findItem(words)
	if verb, named, _ := strings.Cut(strings.TrimSpace(words), " "); isOneOf(verb, "*task", "/task") { // of any agent
		name, rest, _ := strings.Cut(strings.TrimSpace(named), " ")
		for _, name := range []string{m.module + "/" + strings.TrimSuffix(name, ".md"), name} { // first the task beside the agent
			if text, found := m.documentOf(menuItem{does: name}, rest); found {
				return text, ""
			}
		}
	}
	if !ok {
		if marked && len(m.items) > 0 {
			return words, fmt.Sprintf("the menu has no such command; it has: %s", strings.Join(m.commandCodes(), ", "))
		}
		return words, ""
	}
	if text, found := m.documentOf(item, rest); found {
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

// documentOf returns the workflow or task of an item.
func (m menu) documentOf(item menuItem, rest string) (string, bool) {
	if m.snapshot == nil {
		return "", false
	}
	does := strings.TrimSpace(item.does)
	base, folder := path.Base(does), path.Base(path.Dir(does)) // workflow.yaml lies in a folder of the workflow's name
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

// commandCodes returns the commands of the menu.
func (m menu) commandCodes() []string {
	var codes []string
	for _, i := range m.items {
		codes = append(codes, "*"+strings.TrimLeft(i.Code, "*/"))
	}
	return codes
}

// helpFor returns the menu if the words ask for it, as *help, help? or the item that shows it again.
func (m menu) helpFor(words string) (string, bool) {
	plain := strings.TrimLeft(strings.TrimRight(strings.TrimSpace(words), "?!. "), "*/ ")
	item, rest, _, found := m.findItem(words)
	showsMenu := found && rest == "" && strings.Contains(strings.ToLower(item.Description), "redisplay menu")
	if !isOneOf(plain, "help", "menu") && !showsMenu {
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

// The tools of an agent besides the file tools.
const (
	openWorkflow = "open_workflow"
	invokeAgent  = "invoke_agent"
)

// isOneOf reports whether the words are one of some, in any case.
func isOneOf(words string, some ...string) bool {
	return slices.Contains(some, strings.ToLower(strings.TrimSpace(words)))
}
