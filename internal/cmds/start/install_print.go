package start

import (
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
)

func printChange(a *app.App, c hosts.Change) {
	words := map[string]lang.Text{
		hosts.Added: lang.T("added"), hosts.Updated: lang.T("updated"), hosts.Unchanged: lang.T("is set up already"), hosts.Removed: lang.T("removed"),
		hosts.Absent: lang.T("has no such entry"), hosts.Skipped: lang.T("skipped"), hosts.Failed: lang.T("not changed"),
	}
	if c.DryRun && c.Diff != "" {
		words = map[string]lang.Text{hosts.Added: lang.T("would be added"), hosts.Updated: lang.T("would be updated"), hosts.Removed: lang.T("would be removed")}
	}
	path := ""
	if c.Path != "" {
		path = a.Lang.Say(" (%s)", c.Path)
	}
	a.Say("%s: %s%s", c.Name(), words[c.Status], path)
	if c.Why != "" {
		fmt.Fprintln(a.Out, "  "+c.Why)
	}
	if c.Diff != "" && c.Status != hosts.Failed {
		if len(c.Command) > 0 {
			a.Say("  by: %s\n  which lays the file out in its own way; the change amounts to:", shellWords(c.Command))
		}
		fmt.Fprintln(a.Out, terminal.Indent(strings.TrimRight(c.Diff, "\n")))
	}
	if c.Backup != "" {
		a.Say("  as it was: %s", c.Backup)
	}
	if c.Next != "" && (c.Status == hosts.Added || c.Status == hosts.Updated) {
		a.Say("  now: %s", c.Next)
	}
}

// shellWords formats a command as one would type it.
func shellWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = terminal.ShellWord(w)
	}
	return strings.Join(out, " ")
}

func printSnippets(a *app.App, m hosts.Machine, scope hosts.Scope, e hosts.Entry, chosen []hosts.Host) error {
	snippets := []map[string]any{}
	for _, h := range chosen {
		path := h.File(m, scope)
		if path == "" {
			continue
		}
		if a.JSON {
			snippets = append(snippets, map[string]any{"host": h.ID, "scope": scope, "path": path, "snippet": h.Snippet(e)})
			continue
		}
		if len(chosen) > 1 {
			a.Say("# %s, in %s", h.Name, path)
		} else {
			fmt.Fprintln(a.Err, a.Lang.Say("in %s:", path))
		}
		fmt.Fprint(a.Out, h.Snippet(e))
		if len(chosen) > 1 {
			fmt.Fprintln(a.Out)
		}
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"snippets": snippets})
	}
	return nil
}
