package notify

import (
	"context"
	"encoding/json"
	"io"
	"os/exec"

	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
)

// Handed is a notice on the way to the process that sends it. Folder is the project's.
type Handed struct {
	Notice
	Folder string `json:"folder,omitempty"`
}

// maxHanded bounds a notice on its way, in bytes: less than the system keeps in a pipe, so that handing it over never waits.
const maxHanded = 8 << 10

// Hand gives a notice to a program, which is started for that in a folder and outlives this one. It waits for nothing.
func (h Handed) Hand(folder, program string, args ...string) error {
	h.Notice = h.Plain()
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if len(text) > maxHanded { // by the path of the folder, which only finds the link
		h.Folder = ""
		if text, err = json.Marshal(h); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(context.Background(), program, args...) //nolint:gosec // this program
	cmd.Dir = folder
	process.Detach(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = in.Write(text)
	_ = in.Close()
	go func() { _ = cmd.Wait() }() // it says by itself how it ends
	return err
}

// Read reads a handed notice.
func Read(in io.Reader) (h Handed, err error) {
	err = json.NewDecoder(io.LimitReader(in, maxHanded)).Decode(&h)
	return h, err
}
