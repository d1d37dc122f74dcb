package app

import (
	"os"

	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
)

// NotifyCommand is the command that sends a notice on its input.
const NotifyCommand = "notify"

// notifyPerson hands a notice to a process of its own: the person's command and network are slow, and this process may end at
// once. Where that fails, doctor has it.
func (a *App) notifyPerson(h notify.Handed) {
	state := StateFolder()
	if last, failed := notify.LastFailure(state); failed {
		a.Tasks.Log.Warn("the last notice did not arrive", "target", last.Target, "error", last.Why)
	}
	self, err := os.Executable()
	if err == nil {
		err = os.MkdirAll(state, 0o700)
	}
	if err == nil {
		err = h.Hand(state, self, NotifyCommand)
	}
	if err != nil {
		a.Tasks.Log.Warn("a notice was not sent", "error", err)
	}
}
