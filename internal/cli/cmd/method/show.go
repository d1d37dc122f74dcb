package method

import (
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

func showCommand(term *terminal.Terminal, workspace *app.Workspace, lib library) *cobra.Command {
	kind := ""
	cmd := &cobra.Command{
		Use:   "show NAME|ADDRESS",
		Short: "Show an agent, a workflow or a task of the installed BMAD method, or print a file of it",
		Long: `With a name, id, code or alias it prints what an assistant gets to act on it: persona,
instructions and configuration, resolved.

With an address it prints a file of an installation as it is, byte for byte: an address as
lists and replies give it (bmad://_bmad/bmm/config.yaml), or the path in the project or in
the installation. ?view=resolved after it gives the text with its placeholders filled in.
bmad://config/current is the configuration, bmad://manifests/agents the agents.`,
		Example: `  bmad-mcp method show analyst
  bmad-mcp method show bmad://config/current
  bmad-mcp method show '.claude/skills/bmad-prd/SKILL.md?view=resolved'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if ref, err := catalog.ParseRef(args[0]); err == nil && ref.Cwd != "" {
				workspace.Cwd = ref.Cwd // the address names the project
			}
			s, err := lib.Shelf(cmd.Context())
			if err != nil {
				return err
			}
			if isAddress(args[0]) {
				return printFile(term, s, args[0])
			}
			found, err := findKind(s, args[0], kind)
			if err != nil {
				return err
			}
			return showItem(term, s, found, args[0])
		},
		ValidArgsFunction: func(cmd *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if s, err := lib.Shelf(cmd.Context()); err == nil && len(given) == 0 {
				for _, i := range s.Catalog.Items(kinds...) {
					names = append(names, i.Name)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringVar(&kind, "kind", "", "agent, workflow or task, where more than one has the name")
	return cmd
}

// isAddress reports whether an argument is the address or the path of a file, and not the name of an item.
func isAddress(arg string) bool {
	file, _, _ := strings.Cut(arg, "?")
	isRelative := strings.Contains(file, "/") && path.Ext(file) != ""
	return isRelative || strings.Contains(arg, "://") || strings.HasPrefix(arg, "/")
}

// findKind returns the kind of the only item with a name; wanted is a kind, or "" for any.
func findKind(s *method.Snapshot, name, wanted string) (kind catalog.Kind, err error) {
	var named []string
	var refusal *fault.Error
	for _, k := range kinds {
		if wanted != "" && wanted != string(k) {
			continue
		}
		_, err := s.Find(k, name)
		if err == nil || fault.Is(err, fault.Conflict) { // showItem names the candidates of a conflict
			kind, named = k, append(named, string(k))
		} else if f := fault.From(err); refusal == nil || len(refusal.Suggestions) == 0 {
			refusal = f
		}
	}
	switch {
	case len(named) == 1:
		return kind, nil
	case len(named) > 1:
		return "", fault.New(fault.Conflict, "%q names more than one thing: %s", name, terminal.JoinWords(named)).WithHint("say which one with --kind")
	case refusal == nil:
		return "", fault.New(fault.InvalidArgument, "there is no kind %q", wanted).WithHint("take agent, workflow or task")
	}
	return "", refusal
}

func showItem(term *terminal.Terminal, s *method.Snapshot, kind catalog.Kind, name string) error {
	if term.JSON {
		details, err := s.Details(kind, name)
		if err != nil {
			return err
		}
		return term.PrintJSON(details)
	}
	show := s.Task
	switch kind {
	case catalog.Agent:
		show = s.Agent
	case catalog.Workflow:
		show = s.Workflow
	}
	text, err := show(name, "", ways)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(term.Out, strings.TrimRight(text, "\n"))
	return err
}

// ways are the commands with which the reader of a document at a terminal reaches the items in it.
var ways = method.ToolNames{Read: "bmad-mcp method show ADDRESS", Workflow: "bmad-mcp method show NAME", Agent: "bmad-mcp method show NAME"}

func printFile(term *terminal.Terminal, s *method.Snapshot, address string) error {
	r, err := s.Read(address, 0)
	if err != nil {
		return err
	}
	if term.JSON {
		return term.PrintJSON(map[string]any{"uri": r.URI, "mime_type": r.MIMEType, "size": len(r.Data), "text": string(r.Data)})
	}
	out := term.Raw
	if terminal.IsTerminal(term.Raw) {
		out = term.Out // text of a repository must not move the cursor
	}
	_, err = out.Write(r.Data)
	return err
}
