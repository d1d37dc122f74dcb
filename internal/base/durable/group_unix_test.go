//go:build unix

package durable_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// TestGroup checks who can use new files and folders: the group, if it can write in the folder and new files are its
// own; else nobody more than the umask says.
func TestGroup(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		folder, file, dir fs.FileMode
	}{
		"of one person":         {0o700, 0o644, 0o755},
		"of a group of its own": {0o775, 0o644, 0o755},
		"readable by a group":   {fs.ModeSetgid | 0o750, 0o644, 0o755},
		"shared":                {fs.ModeSetgid | 0o770, 0o660, 0o770},
		"shared and readable":   {fs.ModeSetgid | 0o775, 0o664, 0o775},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.Chmod(folder, tt.folder); err != nil {
				t.Fatal(err)
			}
			d := openShared(t, folder)
			if _, err := d.MkdirAll("a/b"); err != nil {
				t.Fatal(err)
			}
			private := filepath.Join(folder, "a", "private")
			if err := os.WriteFile(private, []byte("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
			lock, err := d.Lock(context.Background(), "a/lock")
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range []error{lock.Unlock(), d.Replace("a/b/file", []byte("x")), d.AppendLines("a/lines", []byte("x\n")), d.AppendLines("a/private", []byte("x\n"))} {
				if err != nil {
					t.Fatal(err)
				}
			}
			// A umask of 022 is taken off what the system makes, and nothing off what is shared.
			want := map[string]fs.FileMode{"a": tt.dir, "a/b": tt.dir, "a/lock": tt.file, "a/b/file": tt.file, "a/lines": tt.file, "a/private": 0o600}
			for name, mode := range want {
				info, err := os.Stat(filepath.Join(folder, name))
				if err != nil {
					t.Fatal(err)
				}
				if got := info.Mode().Perm(); got != mode {
					t.Errorf("%s: got %o, want %o", name, got, mode)
				}
			}
		})
	}
}

func openShared(t *testing.T, folder string) *durable.Dir {
	t.Helper()
	d, err := durable.OpenDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	d.KeepFolders()
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestTwoAccounts has two accounts of the system write in one folder of their group, each after the other.
func TestTwoAccounts(t *testing.T) {
	if folder := os.Getenv("TEST_SHARED_FOLDER"); folder != "" {
		writeAs(t, folder)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can act for two accounts")
	}
	const shared = 54321
	base, err := os.MkdirTemp("/tmp", "bmad-shared-") //nolint:usetesting // which other accounts cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	self, folder := filepath.Join(base, "self"), filepath.Join(base, "project")
	for _, err := range []error{
		os.Chmod(base, 0o755), os.WriteFile(self, program, 0o755), os.Mkdir(folder, 0o700),
		os.Chown(folder, 0, shared), os.Chmod(folder, fs.ModeSetgid|0o770),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, account := range []uint32{54001, 54002, 54001, 54002} {
		cmd := exec.CommandContext(t.Context(), self, "-test.run", "^TestTwoAccounts$")
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "TEST_SHARED_FOLDER="+folder)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: account, Gid: account, Groups: []uint32{shared}}}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("account %d: %v\n%s", account, err, out)
		}
	}
	if lines, err := os.ReadFile(filepath.Join(folder, "state", "lines")); err != nil || string(lines) != "54001\n54002\n54001\n54002\n" {
		t.Errorf("%q, %v", lines, err)
	}
}

func writeAs(t *testing.T, folder string) {
	t.Helper()
	d := openShared(t, folder)
	if _, err := d.MkdirAll("state/locks"); err != nil {
		t.Fatal(err)
	}
	lock, err := d.Lock(t.Context(), "state/locks/one")
	if err != nil {
		t.Fatal(err)
	}
	me := []byte(strconv.Itoa(os.Getuid()) + "\n")
	for _, err := range []error{d.Replace("state/session.json", me), d.AppendLines("state/lines", me), lock.Unlock()} {
		if err != nil {
			t.Fatal(err)
		}
	}
}
