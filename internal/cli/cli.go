// Package cli is the terminal face: one file a subcommand. Without a subcommand
// it serves MCP on stdio. Every subcommand drives the same engine as the server.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/reach"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The exit codes, part of the contract with scripts.
const (
	exitOK         = 0
	exitStorage    = 1
	exitUsage      = 2
	exitNotFound   = 3
	exitConflict   = 4
	exitNotAllowed = 5
	exitGate       = 6
	exitInternal   = 7
	// exitInterrupted is what shells make of SIGINT.
	exitInterrupted = 130
)

const exitHelp = `Exit codes:
  0  done
  1  the disk refused
  2  the call is malformed
  3  no such session, task or file
  4  another call got there first, or the call is ambiguous
  5  the session's stage or state does not allow it
  6  a human decision is due first
  7  bmad-mcp itself failed, which is a bug; standard error has the details
  130  interrupted`

// app is what the subcommands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	// raw is the output as it is, for the protocol and for pagers.
	raw      io.Writer
	log      *slog.Logger
	engine   *engine.Engine
	library  *library.Library
	settings config.Source
	// reach is what an assistant on stdio may use; nil where a person works at a terminal.
	reach *reach.Reach
	// hostConfirm is the setting for the folder that the program works for.
	hostConfirm config.HostConfirm
	// toolsets are those of the same folder, or of --toolsets.
	toolsets []config.Toolset

	sets []string // --toolsets

	cwd    string // --cwd
	asJSON bool   // --json
}

// Main runs the program and returns its exit code.
func Main(args []string, in io.Reader, out, errOut io.Writer) (code int) {
	// A client that closes our output must not kill us half way through an action.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks; with stop done, a second one ends the process.
	context.AfterFunc(ctx, stop)

	// What a model or a repository wrote must not move the cursor over what is true.
	a := &app{in: in, out: visible.NewWriter(out), err: visible.NewWriter(errOut), raw: out}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(a.err, "panic: %v\n\n%s\n", p, debug.Stack())
			code = a.fail(fault.Unexpected(p))
		}
	}()
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if a.library != nil {
		a.library.Close() // a fetch that is under way would otherwise count as one that failed
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported):
		return exitStorage
	case errors.Is(err, errPending):
		return exitGate
	case errors.Is(err, errUnvouched):
		return exitNotFound
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(errOut, "bmad-mcp: interrupted; bmad-mcp task status says where a session stands")
		return exitInterrupted
	}
	return a.fail(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "bmad-mcp",
		Short: "Lead an AI coding assistant and its human from an idea to reviewed, tested code",
		Long: `bmad-mcp leads an AI coding assistant and the human beside it through six stages:
PO → Architect → SM → Dev → Review → QA. It keeps each run in .bmad-task/ of the
project, hands out role prompts, scores what is submitted, and holds the gates
until the human decides. It calls no model.

Without a subcommand it is an MCP server on stdio, as hosts start it.
New here? Run: bmad-mcp demo

` + exitHelp,
		Args:          cobra.NoArgs,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if err := a.readToolsets(); err != nil {
				return err
			}
			return a.setUp()
		},
		RunE: a.serve,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fault.New(fault.InvalidArgument, "%s", plainFlagError(err)).WithHint("see %s --help", cmd.CommandPath())
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.cwd, "cwd", "", "project folder (default: the nearest one upwards that has sessions, else this folder)")
	flags.BoolVar(&a.asJSON, "json", false, "print JSON")
	a.toolsetFlag(root)
	root.AddCommand(a.methodCommands()...)
	root.AddCommand(
		a.gateCommand("confirm", "Decide yourself on the document that waits"),
		a.gateCommand("approve", "Decide yourself on the plan, or the failed work, that waits"),
		a.gateCommand("reject", "Send back what waits, with what is to change"),
		a.leaveCommand(workflow.ActionReopen, "Go back to an earlier stage yourself"), a.leaveCommand(workflow.ActionCancel, "End a session yourself, for good"),
		a.answerHereCommand(), a.adoptCommand(), a.allowCommand(), a.projectsCommand(), a.serveCommand(), a.hookCommand(), a.installCommand(), a.uninstallCommand(), a.taskCommand(), a.sessionsCommand(), a.showCommand(), a.logCommand(), a.diffCommand(), a.auditCommand(), a.doctorCommand(), a.gcCommand(), a.graphCommand(), a.demoCommand(), a.versionCommand())
	return root
}

// setUp makes the engine. A configuration that cannot be read does not keep the
// program from starting: each action reports it.
func (a *app) setUp() error {
	a.settings = config.Source{UserFolder: userFolder("XDG_CONFIG_HOME", ".config"), Environ: os.Environ()}
	level := slog.LevelWarn
	dir := a.openProject()
	if c, err := a.settings.Load(dir); err == nil {
		level, a.hostConfirm = c.LogLevel, c.HostConfirm
		if a.toolsets == nil {
			a.toolsets = c.Toolsets
		}
	}
	if dir != nil {
		_ = dir.Close()
	}
	a.log = slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
	a.engine, a.library = a.newEngine(nil)
	return nil
}

// stateFolder is where the program keeps what is the person's and no project's; "" where
// there is no home.
func (a *app) stateFolder() string {
	if state := userFolder("XDG_STATE_HOME", ".local/state"); state != "" {
		return filepath.Join(state, "bmad-mcp")
	}
	return ""
}

func (a *app) trust() trust.UserState { return trust.UserState(a.stateFolder()) }

// openProject opens the folder the program works for, or returns nil.
func (a *app) openProject() *durable.Dir {
	name := os.Getenv("CLAUDE_PROJECT_DIR")
	if name == "" {
		var err error
		if name, err = a.project(); err != nil {
			return nil
		}
	}
	dir, err := durable.OpenDir(name)
	if err != nil {
		return nil
	}
	return dir
}

// userFolder returns a folder of the user by the XDG base directory rules: the
// variable if it is an absolute path, else the default below the home folder.
func userFolder(variable, below string) string {
	if v := os.Getenv(variable); filepath.IsAbs(v) {
		return v
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(below))
}

// project returns the folder a command is for: --cwd, else the nearest folder
// upwards that has sessions, else the working folder.
func (a *app) project() (string, error) {
	if a.cwd != "" {
		return filepath.Abs(a.cwd)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return project.Nearest(here), nil
}

// plainFlagError takes out what the flag library says of Go's parsers.
func plainFlagError(err error) string {
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	return text
}

// fail reports an error and returns its exit code.
func (a *app) fail(err error) int {
	var f *fault.Error
	var io *fs.PathError
	switch {
	case errors.As(err, &f):
	case errors.Is(err, syscall.EPIPE):
		return exitStorage // whoever read us has gone, as head does
	case errors.As(err, &io):
		f = fault.From(err)
	default:
		// cobra's own: unknown commands, wrong numbers of arguments.
		f = fault.New(fault.InvalidArgument, "%s", plainFlagError(err)).WithHint("see bmad-mcp --help")
	}
	if a.asJSON {
		a.printFailure(f)
	} else {
		fmt.Fprintf(a.err, "bmad-mcp: %s\n", f.Message)
		if f.Hint != "" {
			fmt.Fprintf(a.err, "  what to do: %s\n", f.Hint)
		}
		if len(f.Allowed) > 0 {
			fmt.Fprintf(a.err, "  possible now: %s\n", joinWords(f.Allowed))
		}
	}
	switch f.Code {
	case fault.InvalidArgument:
		return exitUsage
	case fault.NotFound:
		return exitNotFound
	case fault.Conflict:
		return exitConflict
	case fault.WrongStage, fault.NotAllowed:
		return exitNotAllowed
	case fault.GatePending:
		return exitGate
	case fault.Internal:
		return exitInternal
	}
	return exitStorage
}
