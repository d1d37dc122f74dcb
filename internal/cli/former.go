package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
)

// formerNames are former names of commands, each with the command to type now, or without one with a page
// about the work.
var formerNames = map[string]string{
	"next":      "status RUN",
	"sessions":  "status --all",
	"open":      "dashboard RUN",
	"pair":      "dashboard pair CODE",
	"passkeys":  "dashboard passkeys",
	"graph":     "report --graph RUN",
	"prices":    "run --prices",
	"version":   "--version",
	"upgrade":   "help install",
	"gc":        "help files",
	"agents":    "method list agents",
	"workflows": "method list workflows",
	"tasks":     "method list tasks",
	"read":      "method show ADDRESS",
	"search":    "method search WORDS",
	"sources":   "method sources",

	"method agents":       "method list agents",
	"method workflows":    "method list workflows",
	"method tasks":        "method list tasks",
	"method read":         "method show ADDRESS",
	"method sources list": "method sources",

	"workflow graph":  "workflow show --graph NAME",
	"workflow schema": "workflow show --schema",
	"projects list":   "projects",
	"store status":    "store",
	"store check":     "store --check",

	"agent answer":     "agent resume ID",
	"agent show":       "agent resume ID",
	"agent sessions":   "agent list",
	"agent transcript": "help agents",
	"agent delete":     "help agents",

	"memory check":   "doctor",
	"memory stats":   "memory list",
	"memory agents":  "memory list --agent NAME",
	"memory museum":  "memory list --type failures",
	"memory restore": "memory add",
	"memory gc":      "help memory.md",
	"memory import":  "help memory.md",
	"memory export":  "help memory.md",
	"memory queue":   "help memory.md",
}

// explainFormer returns the refusal of a former name of a command, with the command to type now; nil for any
// other error.
func explainFormer(above *cobra.Command, err error) error {
	name, isUnknown := terminal.UnknownCommand(err)
	if above == nil || !isUnknown {
		return nil
	}
	_, path, _ := strings.Cut(above.CommandPath()+" ", " ")
	full := path + name
	now, known := formerNames[full]
	switch {
	case !known:
		return nil
	case strings.HasPrefix(now, "help "):
		return fault.New(fault.InvalidArgument, "the command %s is gone", full).WithHint("how it is done now: bmad-mcp %s", now)
	}
	return fault.New(fault.InvalidArgument, "%s is now: %s", full, now).WithHint("type: bmad-mcp %s", now)
}
