package start

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// answerTime bounds the time of a host to print a version.
const answerTime = 5 * time.Second

// firstForms is the first version of Claude Code that shows forms of servers.
var firstForms = []int{2, 1, 76}

// missingFeatures names the ways to decide that are missing in the installed version of a host; "" if none is
// missing, or the version is unknown.
func missingFeatures(ctx context.Context, l lang.Language, h hosts.Host) string {
	program, err := exec.LookPath(h.Program())
	if err != nil || h.ID != "claude-code" {
		return ""
	}
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	cmd := exec.CommandContext(ctx, program, "--version") //nolint:gosec // the host, found as for its own command
	cmd.WaitDelay = time.Second
	said, _ := cmd.Output() // a failing host has no version
	var numbers [3]int
	if n, _ := fmt.Sscanf(string(said), "%d.%d.%d", &numbers[0], &numbers[1], &numbers[2]); n < len(numbers) {
		return ""
	}
	version := fmt.Sprintf("%d.%d.%d", numbers[0], numbers[1], numbers[2])
	switch {
	case slices.Compare(numbers[:], firstForms) < 0:
		return l.Say("the server waits for your decision about a document, and %s %s is too old to ask you for it: update it, or decide in a terminal (bmad-mcp decide)",
			h.Name, version)
	case !mcpserver.Asks(h.ID, version):
		return l.Say("the server waits for your decision about a document, and %s %s asks you for it in a terminal only: update it, or elsewhere the assistant passes it on",
			h.Name, version)
	}
	return ""
}

// sayNext ends the output of an installation: with the hosts not found, if all were searched for, and one
// next step.
func (o *installOptions) sayNext(term *terminal.Terminal, m hosts.Machine, chosen []hosts.Host, searched bool) {
	var missing []string
	for _, h := range hosts.All() {
		if searched && h.File(m, hosts.Scope(o.scope)) != "" && !slices.ContainsFunc(chosen, func(c hosts.Host) bool { return c.ID == h.ID }) {
			missing = append(missing, h.Name)
		}
	}
	if len(missing) > 0 {
		term.Say("not found here: %s", strings.Join(missing, ", "))
	}
	term.Say("next: open your project in %s and say: %s", chosen[0].Name, term.Lang.Say("Use bmad-task to build …"))
}

func printChange(t *terminal.Terminal, c hosts.Change) {
	words := map[string]lang.Text{
		hosts.Added: lang.T("added"), hosts.Updated: lang.T("updated"), hosts.Unchanged: lang.T("is set up already"), hosts.Removed: lang.T("removed"),
		hosts.Absent: lang.T("has no such entry"), hosts.Skipped: lang.T("skipped"), hosts.ByHand: lang.T("left to you"), hosts.Failed: lang.T("not changed"),
	}
	if c.DryRun && (c.Diff != "" || len(c.Commands) > 0) {
		words = map[string]lang.Text{hosts.Added: lang.T("would be added"), hosts.Updated: lang.T("would be updated"), hosts.Removed: lang.T("would be removed")}
	}
	path := ""
	if c.Path != "" {
		path = t.Lang.Say(" (%s)", c.Path)
	}
	t.Say("%s: %s%s", c.Name(), words[c.Status], path)
	if c.Why != "" {
		fmt.Fprintln(t.Out, terminal.Indent(c.Why))
	}
	for _, command := range c.Commands {
		quoted := make([]string, len(command))
		for i, word := range command {
			quoted[i] = terminal.ShellWord(word)
		}
		t.Say("  by: %s", strings.Join(quoted, " "))
	}
	if text := cmp.Or(c.Snippet, c.Diff); text != "" {
		fmt.Fprintln(t.Out, terminal.Indent(strings.TrimRight(text, "\n")))
	}
	if c.Backup != "" {
		t.Say("  as it was: %s", c.Backup)
	}
	if c.Next != "" {
		t.Say("  now: %s", c.Next)
	}
	if c.Allow != "" {
		t.Say("  to be asked less: %s; your decisions are still asked for", c.Allow)
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
