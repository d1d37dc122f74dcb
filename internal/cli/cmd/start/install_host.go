package start

import (
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

// answerTime bounds how long a host may take to say its version.
const answerTime = 5 * time.Second

// firstForms is the first version of Claude Code that shows forms of servers.
var firstForms = []int{2, 1, 76}

// missingFeatures names the ways to decide that the installed version of a host lacks; "" if it has all,
// or says no version.
func missingFeatures(ctx context.Context, l lang.Language, h hosts.Host) string {
	program, err := exec.LookPath(h.Program())
	if err != nil || h.ID != "claude-code" {
		return ""
	}
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	cmd := exec.CommandContext(ctx, program, "--version") //nolint:gosec // the host, found as for its own command
	cmd.WaitDelay = time.Second
	said, _ := cmd.Output() // a host that fails says no version
	var numbers [3]int
	if n, _ := fmt.Sscanf(string(said), "%d.%d.%d", &numbers[0], &numbers[1], &numbers[2]); n < len(numbers) {
		return ""
	}
	version := fmt.Sprintf("%d.%d.%d", numbers[0], numbers[1], numbers[2])
	switch {
	case slices.Compare(numbers[:], firstForms) < 0:
		return l.Say("%s %s shows no forms, and does not ask you about bmad-confirm: update it, or decide in a terminal", h.Name, version)
	case !mcpserver.Asks(h.ID, version):
		return l.Say("%s %s does not ask you about bmad-confirm: where it shows no form, your decision is relayed by the assistant, unless you update it or decide in a terminal",
			h.Name, version)
	}
	return ""
}

// sayNext ends an installation: the hosts that were not found, if all were searched for, and one next
// step.
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
