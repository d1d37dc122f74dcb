package setup

import (
	"context"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// noticeLimit bounds one try to send a notice.
const noticeLimit = 20 * time.Second

// Notify returns the command that sends a notice. page returns the address of a run in a dashboard; "" if none runs.
func Notify(term *terminal.Terminal, workspace *app.Workspace, page func(cwd, task, stage string) string) *cobra.Command {
	return &cobra.Command{
		Use:   app.NotifyCommand,
		Short: "Send a notice, for other processes of bmad-mcp",
		Long: `Send the notice on the input to the place that your settings name (notify). The program
starts it when a run waits for you or has ended; you need not. A notice that does not
arrive is in doctor.`,
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := notify.Read(term.In)
			if err != nil {
				return fault.New(fault.InvalidArgument, "the input is not a notice: %w", err).WithHint("try notices with: bmad-mcp doctor --notify")
			}
			h.Link = page(h.Folder, h.Run, h.Stage)
			return sendNotice(cmd.Context(), term, workspace, h.Notice)
		},
	}
}

// testNotify sends a notice as a test.
func testNotify(ctx context.Context, term *terminal.Terminal, workspace *app.Workspace) error {
	now := term.Now()
	if err := sendNotice(ctx, term, workspace, notify.Notice{ID: notify.IDOf(now.String(), notify.Test), Event: notify.Test, At: now}); err != nil {
		return err
	}
	to := workspace.Config.Notify.String()
	return term.Conclude(map[string]any{"notify": to, "sent": true}, "A notice was sent to %s", to)
}

// sendNotice sends a notice to the place in the person's settings.
func sendNotice(ctx context.Context, term *terminal.Terminal, workspace *app.Workspace, n notify.Notice) error {
	target := workspace.Config.Notify
	switch {
	case workspace.Unread != nil:
		return workspace.Unread
	case target.IsNone():
		file := filepath.Join(workspace.Settings.UserFolder, filepath.FromSlash(config.UserFile))
		return fault.New(fault.InvalidArgument, "no setting names a place for notices").
			WithHint("write notify into %s, such as notify: ntfy https://ntfy.sh/my-topic", file)
	}
	s := notify.Sender{Target: target, Language: term.Lang, Folder: app.StateFolder(), Now: term.Now, Limit: noticeLimit, Once: n.Event == notify.Test}
	if err := s.Deliver(ctx, n, app.StateFolder()); err != nil {
		return fault.New(fault.InvalidArgument, "the notice did not reach %s: %w", target, err).
			WithHint("correct notify in your settings, and try it with: bmad-mcp doctor --notify")
	}
	return nil
}

// checkNotify checks that the last notice has arrived, for doctor; most people want none.
func checkNotify(u Upkeep) []doctor.Check {
	c := doctor.Check{Group: doctor.OfMachine, Name: "notify", Status: doctor.OK, Detail: u.Tasks.Config.Notify.String()}
	last, failed := notify.LastFailure(app.StateFolder())
	if u.Tasks.Config.Notify.IsNone() {
		return nil
	}
	if failed {
		c.Items = append(c.Items, doctor.Defect{Path: last.At.Local().Format(time.DateTime), What: u.Term.Lang.Say("the notice did not reach %s: %s", last.Target, last.Why)})
		c.Warn(u.Term.Lang.Say("correct notify in your settings, and try it with: bmad-mcp doctor --notify"))
	}
	return []doctor.Check{c}
}
