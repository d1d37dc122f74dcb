package start

import (
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
)

func printChange(t *terminal.Terminal, c hosts.Change) {
	words := map[string]lang.Text{
		hosts.Added: lang.T("added"), hosts.Updated: lang.T("updated"), hosts.Unchanged: lang.T("is set up already"), hosts.Removed: lang.T("removed"),
		hosts.Absent: lang.T("has no such entry"), hosts.Skipped: lang.T("skipped"), hosts.Failed: lang.T("not changed"),
	}
	if c.DryRun && c.Diff != "" {
		words = map[string]lang.Text{hosts.Added: lang.T("would be added"), hosts.Updated: lang.T("would be updated"), hosts.Removed: lang.T("would be removed")}
	}
	path := ""
	if c.Path != "" {
		path = t.Lang.Say(" (%s)", c.Path)
	}
	t.Say("%s: %s%s", c.Name(), words[c.Status], path)
	if c.Why != "" {
		fmt.Fprintln(t.Out, "  "+c.Why)
	}
	if c.Diff != "" && c.Status != hosts.Failed {
		if len(c.Command) > 0 {
			quoted := make([]string, len(c.Command))
			for i, word := range c.Command {
				quoted[i] = terminal.ShellWord(word)
			}
			t.Say("  by: %s\n  which lays the file out in its own way; the change amounts to:", strings.Join(quoted, " "))
		}
		fmt.Fprintln(t.Out, terminal.Indent(strings.TrimRight(c.Diff, "\n")))
	}
	if c.Backup != "" {
		t.Say("  as it was: %s", c.Backup)
	}
	if c.Next != "" && (c.Status == hosts.Added || c.Status == hosts.Updated) {
		t.Say("  now: %s", c.Next)
		if c.Allow != "" {
			t.Say("  to be asked less: %s; your decisions are still asked for", c.Allow)
		}
	}
}

func printSnippets(t *terminal.Terminal, m hosts.Machine, scope hosts.Scope, e hosts.Entry, chosen []hosts.Host) error {
	snippets := []map[string]any{}
	for _, h := range chosen {
		path := h.File(m, scope)
		if path == "" {
			continue
		}
		if t.JSON {
			snippets = append(snippets, map[string]any{"host": h.ID, "scope": scope, "path": path, "snippet": h.Snippet(e)})
			continue
		}
		if len(chosen) > 1 {
			t.Say("# %s, in %s", h.Name, path)
		} else {
			fmt.Fprintln(t.Err, t.Lang.Say("in %s:", path))
		}
		fmt.Fprint(t.Out, h.Snippet(e))
		if len(chosen) > 1 {
			fmt.Fprintln(t.Out)
		}
	}
	if t.JSON {
		return t.PrintJSON(map[string]any{"snippets": snippets})
	}
	return nil
}
