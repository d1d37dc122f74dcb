// Package pairing records in a person's state folder the running dashboards, and pairs browsers with them at
// the word of the person at a terminal.
//
// A [Dashboard] registers itself while it runs. A browser is paired by a code: the dashboard shows the code,
// the person types it at a terminal ([Approve]), and the same dashboard takes the approval, once
// ([Codes.Approved]). Each code has a file, named by the hash and the step of the code. A step is a rename,
// so only one of two processes can take it.
//
// Anyone who can write to the folder can approve every code, so it is private to its owner.
package pairing

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// Dashboard is a running dashboard.
type Dashboard struct {
	ID  string `json:"id"`
	PID int    `json:"pid"`
	// Origin is the origin of the pages, for example http://localhost:8123.
	Origin  string    `json:"origin"`
	Started time.Time `json:"started"`
	// Roots are the folders that hold the dashboard's projects; none means all known projects.
	Roots []string `json:"roots,omitempty"`
}

// registry is the folder of the running dashboards, with a file for each.
const registry = "dashboards"

// maxFile bounds a file of this package, in bytes.
const maxFile = 64 << 10

// Register records a dashboard of this process until remove is called. It sets ID and PID.
func Register(folder string, d Dashboard) (remove func(), err error) {
	dir, err := openFolder(folder, registry)
	if err != nil {
		return nil, err
	}
	readRegistry(dir, true)
	d.ID, d.PID = rand.Text(), os.Getpid()
	data, err := json.Marshal(d)
	if err == nil {
		err = dir.Replace(d.ID+".json", append(data, '\n'))
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return func() {
		_ = dir.Remove(d.ID + ".json") // a file that stays is ignored once the process has gone
		_ = dir.Close()
	}, nil
}

// Running returns the running dashboards, the newest first.
func Running(folder string) []Dashboard {
	if folder == "" {
		return nil
	}
	dir, err := durable.OpenPrivateDir(folder + string(os.PathSeparator) + registry)
	if err != nil {
		return nil
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	found := readRegistry(dir, false)
	slices.SortFunc(found, func(a, b Dashboard) int { return b.Started.Compare(a.Started) })
	return found
}

// readRegistry returns the running dashboards of the registry. If sweep is true, it removes the files of
// dashboards whose process has gone.
func readRegistry(dir *durable.Dir, sweep bool) (found []Dashboard) {
	entries, err := dir.ReadDir(".")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		var d Dashboard
		data, err := dir.ReadFile(e.Name(), maxFile)
		if err == nil {
			err = json.Unmarshal(data, &d)
		}
		switch {
		case err == nil && isRunning(d.PID):
			found = append(found, d)
		case sweep && !errors.Is(err, fs.ErrNotExist):
			_ = dir.Remove(e.Name()) // the next dashboard tries again
		}
	}
	return found
}

// isRunning reports whether a process exists.
func isRunning(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release() //nolint:errcheck // nothing depends on it
	if runtime.GOOS == "windows" {
		return true // on Windows, FindProcess fails if there is none
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, syscall.EPERM)
}

// openFolder opens a folder of the state folder, and creates a missing one.
func openFolder(folder, name string) (*durable.Dir, error) {
	if folder == "" {
		return nil, errNoState
	}
	path := folder + string(os.PathSeparator) + name
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return durable.OpenPrivateDir(path)
}
