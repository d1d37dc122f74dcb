package hosts

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

func claudeCommands(c *Change, _ lang.Language) {
	name := c.entry.Name
	if c.Status != Added { // add-json refuses an existing name
		c.Commands = append(c.Commands, []string{"claude", "mcp", "remove", "--scope", "user", name})
	}
	if c.Status != Removed {
		c.Commands = append(c.Commands, []string{"claude", "mcp", "add-json", "--scope", "user", name, c.host.json.entryText(c.after, name)})
	}
}

func codexCommands(c *Change, l lang.Language) {
	e := c.entry
	if c.Status == Removed {
		c.Commands = [][]string{{"codex", "mcp", "remove", e.Name}}
		return
	}
	add := []string{"codex", "mcp", "add", e.Name}
	var settings []string
	for _, variable := range e.Pass {
		if strings.HasPrefix(variable, "BMAD_") { // may hold a password, and changes
			settings = append(settings, variable)
			continue
		}
		add = append(add, "--env", variable+"="+os.Getenv(variable))
	}
	c.Commands = [][]string{slices.Concat(add, []string{"--", e.Command}, e.Args)}
	if len(settings) > 0 {
		c.Note(l.Say("Codex hides your variables from the server unless you add this line to the entry: env_vars = %s", textList(settings)))
	}
}

// commandTime bounds how long a host's command may take.
const commandTime = 30 * time.Second

// runCommands makes a change by the host's commands, and believes them only once the file has it.
func (c Change) runCommands(ctx context.Context) error {
	for i, words := range c.Commands {
		limited, stop := context.WithTimeout(ctx, commandTime)
		cmd := exec.CommandContext(limited, words[0], words[1:]...) //nolint:gosec // the host's own program
		cmd.WaitDelay = time.Second
		out, err := cmd.CombinedOutput()
		stop()
		if err == nil && (i < len(c.Commands)-1 || c.isMade()) {
			continue
		}
		said := strings.TrimSpace(string(out))
		if said == "" && err != nil {
			said = err.Error()
		}
		return lang.Errorf("%s did not take it: %s", strings.Join(words[:3], " "), said)
	}
	return nil
}

// isMade reports whether the host's file is as the change wants it.
func (c Change) isMade() bool {
	text, err := Read(c.Path)
	if err != nil {
		return false
	}
	found, err := c.host.Find(text)
	there := lastOf(found, c.entry.Name)
	switch {
	case err != nil:
		return false
	case c.Status == Removed:
		return there == nil
	}
	return there != nil && there.startsAs(c.entry)
}
