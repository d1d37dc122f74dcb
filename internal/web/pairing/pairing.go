// Package pairing keeps facts about dashboards in a person's state folder: the dashboards that run, and
// the browsers that a person at a terminal lets decide.
//
// A [Dashboard] registers itself while it runs. A browser is paired by a code: the dashboard shows
// it, the person types it at a terminal ([Approve]), and the dashboard that has made it takes the
// approval, once ([Codes.Approved]). The name of a code's file is its hash and its step. A step is a
// rename, so that only one of two processes can take it.
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
	// Origin is the origin of its pages, for example http://localhost:8123.
	Origin  string    `json:"origin"`
	Started time.Time `json:"started"`
	// Roots are the folders in which its projects lie. If there are none, it shows all known projects.
	Roots []string `json:"roots,omitempty"`
}

// registry is the folder with the dashboards that run, a file for each.
const registry = "dashboards"

// maxFile bounds the files of this package, in bytes.
const maxFile = 64 << 10

// Register records that a dashboard runs in this process, until remove is called. It sets ID and PID.
func Register(folder string, d Dashboard) (remove func(), err error) {
	dir, err := open(folder, registry)
	if err != nil {
		return nil, err
	}
	list(dir, true)
	d.ID, d.PID = rand.Text(), os.Getpid()
	data, err := json.Marshal(d)
	if err == nil {
		err = dir.Replace(d.ID+".json", append(data, '\n'))
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return func() {
		_ = dir.Remove(d.ID + ".json") // if it stays, it is ignored, because its process has gone
		_ = dir.Close()
	}, nil
}

// Running lists the dashboards that run, the newest first.
func Running(folder string) []Dashboard {
	if folder == "" {
		return nil
	}
	dir, err := durable.OpenPrivateDir(folder + string(os.PathSeparator) + registry)
	if err != nil {
		return nil
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	found := list(dir, false)
	slices.SortFunc(found, func(a, b Dashboard) int { return b.Started.Compare(a.Started) })
	return found
}

// list reads the registry. If sweep is true, it removes the dashboards whose process has gone.
func list(dir *durable.Dir, sweep bool) (found []Dashboard) {
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
		case err == nil && runs(d.PID):
			found = append(found, d)
		case sweep && !errors.Is(err, fs.ErrNotExist):
			_ = dir.Remove(e.Name()) // the next one tries again
		}
	}
	return found
}

// runs reports whether there is a process of a number.
func runs(pid int) bool {
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

// open opens a folder of the state, and makes it if it is missing.
func open(folder, name string) (*durable.Dir, error) {
	if folder == "" {
		return nil, errNoState
	}
	path := folder + string(os.PathSeparator) + name
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return durable.OpenPrivateDir(path)
}
