package mcpserver_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMethodIsReadWhenAskedFor: a server that starts opens no file of the method; the first list of prompts does.
func TestMethodIsReadWhenAskedFor(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-files")
	events, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Skipf("the system reports nothing: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Close(events) })
	err = filepath.WalkDir(filepath.Join(dir, "_bmad"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_, err = syscall.InotifyAddWatch(events, name, syscall.IN_OPEN)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 1<<20)
	opened := func() int {
		n, _ := syscall.Read(events, buffer)
		return max(n, 0)
	}
	opened() // by the walk
	p := spawn(t, dir, append(os.Environ(), isolatedEnv(t, "BMAD_TOOLSETS=task,method,method-classic,agents")...))
	defer p.kill()
	if n := opened(); n > 0 {
		t.Errorf("at the start got %d bytes of reports, want none", n)
	}
	var answer json.RawMessage
	if err := p.request("prompts/list", nil, &answer); err != nil {
		t.Fatal(err)
	}
	if opened() == 0 {
		t.Errorf("nothing was opened for %.200s", answer)
	}
}
