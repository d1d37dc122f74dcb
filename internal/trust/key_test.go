package trust_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// folder returns a state folder that does not exist yet.
func folder(t *testing.T) trust.UserState {
	t.Helper()
	return trust.UserState(filepath.Join(t.TempDir(), "state", "bmad-mcp"))
}

func write(t *testing.T, f trust.UserState, name string, data []byte, mode fs.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(string(f), name)
	if err := os.WriteFile(path, data, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func names(t *testing.T, f trust.UserState) []string {
	t.Helper()
	entries, err := os.ReadDir(string(f))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestSignerKeepsItsKey(t *testing.T) {
	f := folder(t)
	if s, err := f.ReadSigner(); s != nil || err != nil {
		t.Fatalf("before there is a key: %v, %v", s, err)
	}
	if _, err := os.Stat(string(f)); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a check made the folder: %v", err)
	}
	first, err := f.Signer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.Signer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read, err := f.ReadSigner()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []workflow.Signer{again, read} {
		if s.Public() != first.Public() || s.MAC("message") != first.MAC("message") {
			t.Errorf("key %s, then %s", first.Public(), s.Public())
		}
	}
	other, err := folder(t).Signer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if other.Public() == first.Public() || other.MAC("message") == first.MAC("message") {
		t.Error("two folders have one key")
	}
	if first.MAC("message") == first.MAC("another") {
		t.Error("two messages have one signature")
	}
	if got := names(t, f); fmt.Sprint(got) != "[key trust.lock]" {
		t.Errorf("in the folder: %v", got)
	}
	secret, err := os.ReadFile(filepath.Join(string(f), "key"))
	if err != nil || len(secret) != 32 {
		t.Fatalf("the key has %d bytes, %v", len(secret), err)
	}
	for _, shown := range []string{fmt.Sprintf("%v", first), fmt.Sprintf("%+v", first), fmt.Sprintf("%#v", first)} {
		if strings.Contains(shown, strings.Trim(fmt.Sprintf("%d", secret[:4]), "[]")) || strings.Contains(shown, fmt.Sprintf("%x", secret[:4])) {
			t.Errorf("printing the signer tells its key: %s", shown)
		}
	}
}

// TestSignatureIsForEver pins what a key makes of a message: records on disk depend on it, and others know the public half.
func TestSignatureIsForEver(t *testing.T) {
	f := folder(t)
	write(t, f, "key", []byte("0123456789abcdef0123456789abcdef"), 0o600)
	s, err := f.ReadSigner()
	if err != nil {
		t.Fatal(err)
	}
	// An Ed25519 key has as its seed: printf 'bmad-mcp: seed of the Ed25519 key\n' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
	if got := s.Public(); got != wantKey {
		t.Errorf("key %s", got)
	}
	// printf message | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
	if got := s.MAC("message"); got != wantCode {
		t.Errorf("code %s", got)
	}
	signed, err := s.Sign([]byte("message"))
	if key, other := signature.Verify([]byte("message"), signed); err != nil || other != nil || key != wantKey {
		t.Errorf("%s, %v, %v", key, err, other)
	}
}

const (
	wantKey  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFYwZ0uRB7CwNUbhT6e0/mm0mniwhRUjmanGXFeHPDsG"
	wantCode = "ceb822ce5aae1ff09b7cf2085037ab77b4dc84502b3c4aa6266a665f7753b09a"
)

func TestBrokenKeyIsNeverReplaced(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty":     {},
		"too short": bytes.Repeat([]byte{1}, 31),
		"too long":  bytes.Repeat([]byte{1}, 33),
	} {
		t.Run(name, func(t *testing.T) {
			f := folder(t)
			path := write(t, f, "key", data, 0o600)
			expectRefusal(t, f, path)
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, data) {
				t.Errorf("the key was changed to %d bytes, %v", len(now), err)
			}
		})
	}
	t.Run("a folder", func(t *testing.T) {
		f := folder(t)
		path := filepath.Join(string(f), "key")
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		expectRefusal(t, f, path)
	})
	for name, target := range map[string]string{"a link to nothing": "gone", "a link that leads out": "../../elsewhere"} {
		t.Run(name, func(t *testing.T) {
			f := folder(t)
			elsewhere := write(t, f, "../../elsewhere", bytes.Repeat([]byte{1}, 32), 0o600)
			path := filepath.Join(string(f), "key")
			if err := os.Symlink(target, path); err != nil {
				t.Skip(err)
			}
			expectRefusal(t, f, path)
			if now, err := os.Readlink(path); err != nil || now != target {
				t.Errorf("the link was changed to %q, %v", now, err)
			}
			if data, err := os.ReadFile(elsewhere); err != nil || len(data) != 32 {
				t.Errorf("what it leads to was changed: %v", err)
			}
		})
	}
	t.Run("unreadable", func(t *testing.T) {
		if runtime.GOOS == "windows" || os.Geteuid() == 0 {
			t.Skip("nothing is unreadable here")
		}
		f := folder(t)
		expectRefusal(t, f, write(t, f, "key", bytes.Repeat([]byte{1}, 32), 0))
	})
}

// expectRefusal expects that there is no signer, and that the error names the file and the next step.
func expectRefusal(t *testing.T, f trust.UserState, path string) {
	t.Helper()
	made, err := f.Signer(t.Context())
	read, readErr := f.ReadSigner()
	if made != nil || read != nil {
		t.Errorf("a signer: %v, %v", made, read)
	}
	for _, err := range []error{err, readErr} {
		if !fault.Is(err, fault.Storage) || !strings.Contains(err.Error(), path) || fault.From(err).Hint == "" {
			t.Errorf("got %v, hint %q", err, fault.From(err).Hint)
		}
	}
}

func TestWithoutAFolder(t *testing.T) {
	var f trust.UserState
	if s, err := f.Signer(t.Context()); s != nil || !fault.Is(err, fault.Storage) || fault.From(err).Hint == "" {
		t.Errorf("signer: %v, %v", s, err)
	}
	if s, err := f.ReadSigner(); s != nil || err != nil {
		t.Errorf("signer to read: %v, %v", s, err)
	}
	a := trust.Allowance{Project: t.TempDir(), Kind: trust.KindVerify, Text: "go test ./..."}
	if err := f.Allow(t.Context(), a); !fault.Is(err, fault.Storage) || fault.From(err).Hint == "" {
		t.Errorf("allow: %v", err)
	}
	if f.Allowed(a) {
		t.Error("allowed")
	}
	if list, err := f.Allowances(); len(list) > 0 || err != nil {
		t.Errorf("list: %v, %v", list, err)
	}
	if n, err := f.Disallow(t.Context(), a.Project, a.Kind); n != 0 || err != nil {
		t.Errorf("disallow: %d, %v", n, err)
	}
}

func TestFolderIsAFile(t *testing.T) {
	f := trust.UserState(write(t, folder(t), "file", nil, 0o600))
	for _, f := range []trust.UserState{f, f + "/below"} {
		if s, err := f.Signer(t.Context()); s != nil || !fault.Is(err, fault.Storage) || fault.From(err).Hint == "" {
			t.Errorf("%s: %v, %v", f, s, err)
		}
	}
	if s, err := f.ReadSigner(); s != nil || !fault.Is(err, fault.Storage) {
		t.Errorf("%v, %v", s, err)
	}
}

func TestOnlyItsOwnerReadsIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	f := folder(t)
	if _, err := f.Signer(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // made, and replaced
		if err := f.Allow(t.Context(), trust.Allowance{Project: t.TempDir(), Kind: trust.KindVerify, Text: "true"}); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]fs.FileMode{"": 0o700, "..": 0o700, "key": 0o600, "allowed.json": 0o600} {
		info, err := os.Stat(filepath.Join(string(f), path))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o", path, got)
		}
	}
}

func TestReadOnlyFolderWithAKey(t *testing.T) {
	f := folder(t)
	first, err := f.Signer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(string(f), "trust.lock")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(string(f), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(string(f), 0o700) })
	again, err := f.Signer(t.Context())
	if err != nil || again.Public() != first.Public() {
		t.Fatalf("%v, %v", again, err)
	}
	if got := names(t, f); fmt.Sprint(got) != "[key]" {
		t.Errorf("reading left %v", got)
	}
}

func TestTheCallIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := folder(t)
	if s, err := f.Signer(ctx); s != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", s, err)
	}
}

func TestGoroutinesAgreeOnOneKey(t *testing.T) {
	f := folder(t)
	const callers = 16
	keys := make([]string, callers)
	var wait sync.WaitGroup
	for i := range callers {
		wait.Go(func() {
			s, err := f.Signer(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = string(s.Public())
		})
	}
	wait.Wait()
	for _, key := range keys {
		if key == "" || key != keys[0] {
			t.Fatalf("keys %q", keys)
		}
	}
}

// childFolder is set for TestChild in a process of its own.
const childFolder = "TEST_BMAD_TRUST_FOLDER"

func TestChild(t *testing.T) {
	path, ok := os.LookupEnv(childFolder)
	if !ok {
		t.Skip("runs as a child of TestProcessesAgreeOnOneKey")
	}
	s, err := trust.UserState(path).Signer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("key=%s.\n", s.Public())
}

func TestProcessesAgreeOnOneKey(t *testing.T) {
	f := folder(t)
	const processes = 6
	outputs := make([]bytes.Buffer, processes)
	var children []*exec.Cmd
	for i := range processes {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
		cmd.Env = append(os.Environ(), childFolder+"="+string(f))
		cmd.Stdout, cmd.Stderr = &outputs[i], &outputs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, cmd)
	}
	for i, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, outputs[i].String())
		}
	}
	s, err := f.ReadSigner()
	if err != nil || s == nil {
		t.Fatal(s, err)
	}
	for i := range outputs {
		if !strings.Contains(outputs[i].String(), "key="+string(s.Public())+".") {
			t.Errorf("another key than %s:\n%s", s.Public(), outputs[i].String())
		}
	}
	if got := names(t, f); fmt.Sprint(got) != "[key trust.lock]" {
		t.Errorf("left behind: %v", got)
	}
}
