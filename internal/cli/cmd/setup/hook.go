package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/hook"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	// maxHookInput bounds the input of an event, which may hold a whole document.
	maxHookInput = 64 << 20
	// maxTurn bounds the record of a turn, in bytes: it is a few words long.
	maxTurn = 64 << 10
	// turnsKept is the time for which the turn of a silent conversation is kept.
	turnsKept = 7 * 24 * time.Hour
)

// hookOptions handle an event.
type hookOptions struct {
	term   *terminal.Terminal
	engine func() *engine.Engine
	// setUp reads the settings, once.
	setUp func() error
}

// readyTerminal returns the terminal, which speaks by the settings.
func (o *hookOptions) readyTerminal() *terminal.Terminal {
	_ = o.setUp() // which never fails without flags
	return o.term
}

// Hook returns the command that handles events of Claude Code.
func Hook(term *terminal.Terminal, e func() *engine.Engine, setUp func() error) *cobra.Command {
	return &cobra.Command{
		Use:   "hook claude-code",
		Short: "Handle an event of Claude Code, for its plugin",
		Long: `Read an event of Claude Code on the input, as its hooks get them, and keep the
assistant from deciding at a gate in the turn in which it submitted the draft, unless
you have said so in that turn: by /bmad:confirm or /bmad:approve, in the words of your
prompt, or by choosing so in a question. The plugin runs it; you need not.

A decision that you type as a command, /bmad:confirm, approve or reject, is kept for a few
minutes: the call that the command makes then counts as your own act, channel typed.

It always ends with exit code 0, and prints something only if a call must not be
made. Its memory of a conversation is in the state folder, under turns.`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: []string{"claude-code"},
		Hidden:    true,
		// Each event of each conversation starts a process: few of them need the settings, see readyTerminal.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, _ []string) error {
			(&hookOptions{term, e, sync.OnceValue(setUp)}).handleEvent(cmd.Context())
			return nil
		},
	}
}

// runHook never fails: an event that it does not understand must not keep the person from working,
// and the server holds its gates without it.
func (o *hookOptions) handleEvent(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			o.readyTerminal().Warnf("the hook failed: %v", p)
		}
	}()
	var e hook.Event
	if err := json.NewDecoder(io.LimitReader(o.term.In, maxHookInput)).Decode(&e); err != nil {
		o.readyTerminal().Warnf("the hook got no event: %v", err)
		return
	}
	e.Program, _ = os.Executable() // else only its usual name is known
	if err := o.keepTyped(ctx, e); err != nil {
		o.readyTerminal().Warnf("the hook cannot keep what you typed, so you will be asked: %v", err)
	}
	file := o.turnFile(e.SessionID)
	var turn hook.Turn
	if data, err := durable.ReadPath(file, maxTurn); err == nil {
		_ = json.Unmarshal(data, &turn) // a broken one is started anew
	}
	if reason := turn.Refuse(e); reason != "" {
		if answer, err := hook.Answer(reason); err == nil {
			fmt.Fprintln(o.term.Raw, string(answer))
		}
		return
	}
	next := turn.After(e)
	if next == turn || file == "" {
		return
	}
	if err := keepTurn(file, next); err != nil {
		o.readyTerminal().Warnf("the hook cannot remember this turn: %v", err)
	}
}

// keepTyped keeps a decision that the person typed as a command, for the assistant's call
// that the command makes. If it could mean several gates, or none, nothing is kept, and they
// are asked as usual.
func (o *hookOptions) keepTyped(ctx context.Context, e hook.Event) error {
	var action workflow.Action
	decision := workflow.DecisionApprove
	switch e.Typed() {
	case "confirm":
		action = workflow.ActionConfirm
	case "approve":
		action = workflow.ActionApprove
	case "reject":
		decision = workflow.DecisionChanges
	default:
		return nil
	}
	cwd := os.Getenv("CLAUDE_PROJECT_DIR")
	if cwd == "" {
		cwd = e.Cwd
	}
	if !filepath.IsAbs(cwd) {
		return nil
	}
	_ = o.setUp()
	gate, words, ok := o.engine().TypedGate(ctx, project.Nearest(cwd), action, decision, e.Arguments)
	if !ok {
		return nil
	}
	return app.Trust().PutTyped(trust.Typed{TypedGate: gate, Words: words, Host: e.SessionID, At: o.term.Now()})
}

// turnFile returns the file with the turn of a conversation.
func (o *hookOptions) turnFile(session string) string {
	folder := app.StateFolder()
	if folder == "" || session == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(folder, "turns", hex.EncodeToString(sum[:8])+".json")
}

func keepTurn(file string, turn hook.Turn) error {
	data, err := json.Marshal(turn)
	if err != nil {
		return err
	}
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return err
	}
	if info, err := os.Stat(file); err == nil {
		forgetTurns(folder, info.ModTime()) // now, by the clock that dates the others
	}
	return nil
}

// forgetTurns removes the turns of old conversations.
func forgetTurns(folder string, now time.Time) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && now.Sub(info.ModTime()) > turnsKept {
			_ = os.Remove(filepath.Join(folder, entry.Name())) // another process may have been faster
		}
	}
}
