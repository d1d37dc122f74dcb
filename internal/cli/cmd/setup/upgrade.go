package setup

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
)

// releases has the files of each release.
const releases = "https://github.com/bmad-mcp/bmad-mcp/releases"

// way is a way in which the program can have been installed, and that of the next release.
type way struct {
	id   string
	name lang.Text
	// first is what a person does before the command, or without one.
	first   lang.Text
	command string
}

// owners keep what they install in places of their own, and only they may replace it.
var owners = []struct{ place, id, name, command string }{
	{"/_npx/", "npx", "npx", "npm install -g bmad-mcp@latest"},
	{"/.pnpm/", "pnpm", "pnpm", "pnpm add -g bmad-mcp@latest"},
	{"/lib/node_modules/", "npm", "npm", "npm install -g bmad-mcp@latest"},
	{"/npm/node_modules/", "npm", "npm", "npm install -g bmad-mcp@latest"},
	{"/nodejs/node_modules/", "npm", "npm", "npm install -g bmad-mcp@latest"},
	{"/caskroom/", "brew", "Homebrew", "brew upgrade --cask bmad-mcp"},
	{"/scoop/apps/", "scoop", "Scoop", "scoop update bmad-mcp"},
	{"/winget/packages/", "winget", "winget", "winget upgrade BmadMcp.BmadMcp"},
	{"/programs/bmad-mcp/", "script", "install.ps1", "irm " + releases + "/latest/download/install.ps1 | iex"},
}

// installed is what a way is known by.
type installed struct {
	program  string // its path, links followed
	released bool   // built as a release
	fetched  bool   // built by go install from a module that Go has fetched
	exists   func(path string) bool
}

// way returns the way by which the program was installed.
func (i installed) way() way {
	place := strings.ReplaceAll(i.program, `\`, "/")
	lower := strings.ToLower(place)
	for _, o := range owners {
		if strings.Contains(lower, o.place) {
			return way{id: o.id, name: lang.T("installed by %s", o.name), command: o.command}
		}
	}
	folder := path.Dir(place)
	prefix := path.Dir(folder)
	project, _, local := strings.Cut(place, "/node_modules/")
	download := lang.T("download the new one from %s", releases+"/latest")
	papers := i.exists(path.Join(prefix, "share/doc/bmad-mcp/THIRD_PARTY_LICENSES"))
	switch {
	case local:
		return way{id: "npm", name: lang.T("installed by %s", "npm"), command: "npm install --prefix " + terminal.ShellWord(project) + " bmad-mcp@latest"}
	case path.Base(folder) == "server" && i.exists(path.Join(prefix, "manifest.json")):
		return way{id: "mcpb", name: lang.T("part of a bundle"), first: lang.T("download the new one (.mcpb) from %s and open it with your host", releases+"/latest")}
	case place == "/bmad-mcp":
		return way{id: "image", name: lang.T("in an image"), command: "docker pull ghcr.io/bmad-mcp/bmad-mcp:latest"}
	case folder == "/usr/bin" && i.exists("/var/lib/dpkg/info/bmad-mcp.list"):
		return way{id: "deb", name: lang.T("installed by %s", "dpkg"), first: download, command: "sudo dpkg -i bmad-mcp_*.deb"}
	case folder == "/usr/bin" && papers:
		return way{id: "rpm", name: lang.T("installed by %s", "rpm"), first: download, command: "sudo rpm -U bmad-mcp-*.rpm"}
	case i.fetched:
		return way{id: "go", name: lang.T("installed by %s", "go install"), command: "go install github.com/bmad-mcp/bmad-mcp/cmd/bmad-mcp@latest"}
	case !i.released:
		return way{id: "source", name: lang.T("built from its source"), first: lang.T("go to the clone of its source"), command: "git pull && go install ./cmd/bmad-mcp"}
	case papers:
		return way{id: "script", name: lang.T("installed by %s", "install.sh"),
			command: "curl -fsSL " + releases + "/latest/download/install.sh | sh -s -- --prefix " + terminal.ShellWord(prefix)}
	}
	return way{id: "archive", name: lang.T("put there by hand"), first: download}
}

// Upgrade returns the command that shows the way to the next release.
func Upgrade(term *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "upgrade",
		Short: "Show the way by which this program was installed, and to the latest release",
		Long: `Show the way by which this program was installed, and what to type for the latest release.
It asks no network and replaces nothing: what a package manager owns, only that may
replace.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			self, err := os.Executable()
			if err != nil {
				return fault.New(fault.Storage, "the path of this program is unknown: %w", err).WithHint("install it again as you did at first")
			}
			if real, err := filepath.EvalSymlinks(self); err == nil {
				self = real
			}
			i := installed{program: self, exists: func(path string) bool { _, err := os.Stat(path); return err == nil }}
			if info, ok := debug.ReadBuildInfo(); ok {
				i.released, i.fetched = app.Version() != info.Main.Version, info.Main.Sum != ""
			}
			return printWay(term, self, i.way())
		},
	}
}

func printWay(term *terminal.Terminal, program string, w way) error {
	if term.JSON {
		out := map[string]string{"version": app.Version(), "program": program, "way": w.id}
		if w.command != "" {
			out["command"] = w.command
		}
		if !w.first.Empty() {
			out["first"] = w.first.In(term.Lang)
		}
		return term.PrintJSON(out)
	}
	term.Say("bmad-mcp %s, %s: %s", app.Version(), w.name, program)
	steps := w.command
	switch first := w.first.In(term.Lang); {
	case steps == "":
		steps = first
	case first != "":
		steps = term.Lang.Say("%s, then: %s", first, steps)
	}
	term.Say("for the latest release: %s", steps)
	return nil
}

// Version returns the command that prints the version.
func Version(term *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if term.JSON {
				return term.PrintJSON(map[string]string{"version": app.Version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := fmt.Fprintf(term.Out, "bmad-mcp %s %s %s/%s\n", app.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
