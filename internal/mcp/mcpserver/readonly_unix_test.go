//go:build unix

package mcpserver_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without rights, by convention of Linux and the BSDs.
const nobody = 65534

// TestReadOnlyProject runs the program in a folder it may only read; as root,
// who may write anywhere, it runs as nobody.
func TestReadOnlyProject(t *testing.T) {
	dir := t.TempDir()
	for parent := dir; parent != os.TempDir() && parent != filepath.Dir(parent); parent = filepath.Dir(parent) {
		if err := os.Chmod(parent, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Dir(binary), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Dir, cmd.Env = dir, []string{"HOME=/nonexistent", "PATH=" + os.Getenv("PATH")}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	cmd.Stdin = strings.NewReader(hello + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bmad-task","arguments":{"action":"start","objective":"x"}}}`)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`\"code\":\"storage\"`, "permission denied", "writable"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is not in %s", want, out)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
