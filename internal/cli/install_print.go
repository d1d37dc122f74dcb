package cli

import (
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
)

func printChange(a *app, c hosts.Change) {
	words := map[string]string{
		hosts.Added: "added", hosts.Updated: "updated", hosts.Unchanged: "is set up already", hosts.Removed: "removed",
		hosts.Absent: "has no such entry", hosts.Skipped: "skipped", hosts.Failed: "not changed",
	}
	status := words[c.Status]
	if c.DryRun && c.Diff != "" {
		status = "would be " + status
	}
	fmt.Fprintf(a.out, "%s: %s", c.Name(), status)
	if c.Path != "" {
		fmt.Fprintf(a.out, " (%s)", c.Path)
	}
	fmt.Fprintln(a.out)
	if c.Why != "" {
		fmt.Fprintln(a.out, "  "+c.Why)
	}
	if c.Diff != "" && c.Status != hosts.Failed {
		if len(c.Command) > 0 {
			fmt.Fprintln(a.out, "  by: "+shellWords(c.Command)+"\n  which lays the file out in its own way; the change amounts to:")
		}
		fmt.Fprintln(a.out, indent(strings.TrimRight(c.Diff, "\n")))
	}
	if c.Backup != "" {
		fmt.Fprintln(a.out, "  as it was: "+c.Backup)
	}
	if c.Next != "" && (c.Status == hosts.Added || c.Status == hosts.Updated) {
		fmt.Fprintln(a.out, "  now: "+c.Next)
	}
}

// shellWords shows a command as one would type it.
func shellWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.ContainsAny(w, " \"'\\$`&|;<>(){}*?!#~") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

func printSnippets(a *app, m hosts.Machine, scope hosts.Scope, e hosts.Entry, chosen []hosts.Host) error {
	snippets := []map[string]any{}
	for _, h := range chosen {
		path := h.File(m, scope)
		if path == "" {
			continue
		}
		if a.asJSON {
			snippets = append(snippets, map[string]any{"host": h.ID, "scope": scope, "path": path, "snippet": h.Snippet(e)})
			continue
		}
		if len(chosen) > 1 {
			fmt.Fprintf(a.out, "# %s, in %s\n", h.Name, path)
		} else {
			fmt.Fprintf(a.err, "in %s:\n", path)
		}
		fmt.Fprint(a.out, h.Snippet(e))
		if len(chosen) > 1 {
			fmt.Fprintln(a.out)
		}
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"snippets": snippets})
	}
	return nil
}
