package serve

import (
	"context"
	"crypto/rand"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/web"
)

// launchers is the folder of the state folder for files to be opened by a browser.
const launchers = "dashboard/open"

// launcherFor is the time for a browser to open the file.
const launcherFor = time.Minute

// openBrowser has the person's browser open a page, and pairs it. All users can see the arguments of a
// process, so the browser gets a private file that leads to the address. The file is removed after
// launcherFor, or by remove.
func openBrowser(ctx context.Context, state string, d *web.Dashboard, page string) (remove func(), err error) {
	program := findBrowser()
	if program == nil {
		return nil, lang.Errorf("none is known here; BROWSER names one")
	}
	if state == "" {
		return nil, lang.Errorf("there is no state folder")
	}
	folder := filepath.Join(state, filepath.FromSlash(launchers))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	dir, err := durable.OpenPrivateDir(folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // the write returns an error
	sweepLaunchers(dir)
	name := rand.Text() + ".html"
	address := html.EscapeString(d.Launch(page))
	text := fmt.Sprintf("<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer><meta "+
		"http-equiv=refresh content=\"0;url=%s\"><title>bmad-mcp</title><a href=\"%s\">bmad-mcp</a>\n", address, address)
	if err := dir.Replace(name, []byte(text)); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, name)
	remove = func() { _ = os.Remove(path) } // the next process sweeps a file that stays
	time.AfterFunc(launcherFor, remove)
	args := append(program[1:], (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}).String())
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program[0], args...) //nolint:gosec // the person's own browser, which outlives us
	if err := cmd.Start(); err != nil {
		remove()
		return nil, err
	}
	go cmd.Wait() //nolint:errcheck // the browser's end does not matter
	return remove, nil
}

// sweepLaunchers removes files left by an earlier process.
func sweepLaunchers(dir *durable.Dir) {
	entries, err := dir.ReadDir(".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > launcherFor {
			_ = dir.Remove(e.Name())
		}
	}
}

// findBrowser returns the command to open an address, nil if none is known.
func findBrowser() []string {
	own, _, _ := strings.Cut(os.Getenv("BROWSER"), string(os.PathListSeparator))
	switch fields := strings.Fields(strings.ReplaceAll(own, "%s", "")); {
	case len(fields) > 0:
		return fields
	case runtime.GOOS == "darwin":
		return []string{"open"}
	case runtime.GOOS == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	case os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "":
		return []string{"xdg-open"}
	}
	return nil
}
