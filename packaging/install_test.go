//go:build unix

// Package packaging_test runs the installing script against a server of its own.
package packaging_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// program is a stand-in that says a version.
func program(version string) string { return "#!/bin/sh\necho bmad-mcp " + version + "\n" }

// pack returns an archive as .ci/package makes it.
func pack(t *testing.T, script string) []byte {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	for _, m := range []struct {
		name, text string
		mode       int64
	}{{"bmad-mcp", script, 0o755}, {"LICENSE", "MIT\n", 0o644}, {"THIRD_PARTY_LICENSES", "theirs\n", 0o644}} {
		if err := w.WriteHeader(&tar.Header{Name: m.name, Mode: m.mode, Size: int64(len(m.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(m.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// machine is a home, a server of releases, and programs that come first on the PATH.
type machine struct {
	t     *testing.T
	home  string
	bin   string
	mu    sync.Mutex // for what follows, which the server reads
	files map[string][]byte
	cut   bool // the server ends in the middle of an archive
	from  string
}

var archive = "bmad-mcp-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, home: t.TempDir(), bin: t.TempDir(), files: map[string][]byte{}}
	m.release(program("2.0.0"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		data, ok := m.files[strings.TrimPrefix(r.URL.Path, "/")]
		cut := m.cut
		m.mu.Unlock()
		if !ok {
			http.NotFound(w, r)
			return
		}
		if cut && strings.HasSuffix(r.URL.Path, ".gz") {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			_, _ = w.Write(data[:len(data)/2])
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	m.from = server.URL
	return m
}

// release puts a program onto the server, whose files the caller has locked.
func (m *machine) release(script string) {
	m.files[archive] = pack(m.t, script)
	m.files["SHA256SUMS"] = fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(m.files[archive]), archive)
}

// put writes a program that the script finds first.
func (m *machine) put(name, script string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.bin, name), []byte(script), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

// pathWithoutProgram is the PATH without the folders that have the program, which somebody may have installed.
func pathWithoutProgram() string {
	folders := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(folder string) bool {
		_, err := os.Stat(filepath.Join(folder, "bmad-mcp"))
		return err == nil
	})
	return strings.Join(folders, ":")
}

// install runs the script, and returns its exit code and its words.
func (m *machine) install(args ...string) (int, string) {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), "sh", append([]string{"install.sh", "--from", m.from}, args...)...)
	cmd.Env = []string{"HOME=" + m.home, "PATH=" + m.bin + ":" + pathWithoutProgram(), "TMPDIR=" + m.t.TempDir()}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	if left, _ := filepath.Glob(strings.TrimPrefix(cmd.Env[2], "TMPDIR=") + "/*"); left != nil {
		m.t.Errorf("left behind: %v", left)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// tree returns every file below the home with its text.
func (m *machine) tree() map[string]string {
	m.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(m.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, m.home+"/")] = string(text)
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

// TestInstall installs, and a second time replaces what is there.
func TestInstall(t *testing.T) {
	m := newMachine(t)
	for _, version := range []string{"2.0.0", "2.1.0"} {
		m.mu.Lock()
		m.release(program(version))
		m.mu.Unlock()
		code, said := m.install()
		if code != 0 || !strings.Contains(said, "bmad-mcp "+version+" is in "+m.home+"/.local/bin\n") ||
			!strings.Contains(said, "warning: "+m.home+"/.local/bin is not on your PATH") || !strings.Contains(said, "next: "+m.home+"/.local/bin/bmad-mcp install\n") {
			t.Fatalf("%d: %s", code, said)
		}
		got := m.tree()
		papers := got[".local/share/doc/bmad-mcp/THIRD_PARTY_LICENSES"] + got[".local/share/doc/bmad-mcp/LICENSE"]
		if len(got) != 3 || got[".local/bin/bmad-mcp"] != program(version) || papers != "theirs\nMIT\n" {
			t.Fatal(got)
		}
	}
}

// TestInstallTells: whatever goes wrong has words and a code, and changes nothing.
func TestInstallTells(t *testing.T) {
	for name, c := range map[string]struct {
		code int
		says string
		do   func(m *machine)
		args []string
	}{
		"wrong checksum":  {5, "is not what was released", func(m *machine) { m.files[archive] = pack(t, program("6.6.6")) }, nil},
		"no checksum":     {5, "does not name " + archive, func(m *machine) { m.files["SHA256SUMS"] = []byte("x\n") }, nil},
		"cut download":    {4, archive + " could not be downloaded", func(m *machine) { m.cut = true }, nil},
		"no such release": {4, "SHA256SUMS could not be downloaded", func(m *machine) { clear(m.files) }, nil},
		"no network":      {4, "Is there a network", func(m *machine) { m.from = "http://127.0.0.1:1" }, nil},
		"unknown system":  {3, "no program for Plan9 on x86_64", func(m *machine) { m.put("uname", "#!/bin/sh\n[ \"$1\" = -m ] && echo x86_64 || echo Plan9\n") }, nil},
		"unknown machine": {3, "no program for Linux on riscv64", func(m *machine) { m.put("uname", "#!/bin/sh\n[ \"$1\" = -m ] && echo riscv64 || echo Linux\n") }, nil},
		"does not start":  {6, "does not start from ", func(m *machine) { m.release("#!/bin/sh\necho wrong libc >&2\nexit 1\n") }, nil},
		"a file in place": {6, "cannot be written: take another folder", func(m *machine) { m.put("taken", "") }, []string{"--prefix", "taken"}},
		"read-only prefix": {6, "cannot be written: take another folder", func(m *machine) {
			m.put("mktemp", "#!/bin/sh\ncase $1 in -d) exec /usr/bin/mktemp \"$@\" ;; esac\necho read-only >&2\nexit 1\n")
		}, nil},
		"disk full":        {6, "is the disk full?", func(m *machine) { m.put("chmod", "#!/bin/sh\nexit 1\n") }, nil},
		"cannot replace":   {6, "cannot be replaced", func(m *machine) { m.put("mv", "#!/bin/sh\nexit 1\n") }, nil},
		"of the system":    {2, "belongs to the package manager", func(*machine) {}, []string{"--prefix", "/usr"}},
		"unknown argument": {2, "unknown argument: --user", func(*machine) {}, []string{"--user"}},
		"no value":         {2, "--prefix needs a value", func(*machine) {}, []string{"--prefix"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.t = t
			if code, said := m.install(); code != 0 {
				t.Fatal(said)
			}
			before := m.tree()
			m.mu.Lock()
			m.release(program("3.0.0"))
			c.do(m)
			m.mu.Unlock()
			for i, arg := range c.args {
				if arg == "taken" {
					c.args[i] = filepath.Join(m.bin, arg)
				}
			}
			code, said := m.install(c.args...)
			if code != c.code || !strings.Contains(said, c.says) || !strings.HasPrefix(said, "install.sh: ") || strings.Count(said, "\n") != 1 {
				t.Errorf("%d: %s", code, said)
			}
			after := m.tree()
			if len(after) != len(before) || after[".local/bin/bmad-mcp"] != before[".local/bin/bmad-mcp"] {
				t.Errorf("half-installed: %v", after)
			}
		})
	}
}

// TestInstallSeesAnother: a second program on the PATH is named, with its version.
func TestInstallSeesAnother(t *testing.T) {
	m := newMachine(t)
	m.put("bmad-mcp", program("1.0.0"))
	code, said := m.install()
	if want := "warning: another one comes first on your PATH: " + m.bin + "/bmad-mcp (bmad-mcp 1.0.0)"; code != 0 || !strings.Contains(said, want) {
		t.Errorf("%d: %s", code, said)
	}
	m.put("bmad-mcp", "#!/bin/sh\nexit 1\n")
	if _, said = m.install(); !strings.Contains(said, "which does not start") {
		t.Error(said)
	}
	// The prefix itself on the PATH needs no warning.
	m.bin = filepath.Join(m.home, ".local", "bin")
	if _, said = m.install(); strings.Contains(said, "warning") || !strings.HasSuffix(said, "\nnext: bmad-mcp install\n") {
		t.Error(said)
	}
}

// TestInstallCutInItsDownload: a script that was not read to its end does nothing.
func TestInstallCutInItsDownload(t *testing.T) {
	text, err := os.ReadFile("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.TrimSuffix(string(text), "\n")
	m := newMachine(t)
	for at := len(whole) - len(`main "$@"`); at > 0; at -= 97 {
		cmd := exec.CommandContext(t.Context(), "sh", "-s", "--", "--from", m.from)
		cmd.Env = []string{"HOME=" + m.home, "PATH=" + os.Getenv("PATH")}
		cmd.Stdin = strings.NewReader(whole[:at])
		_ = cmd.Run() // the shell may find a syntax error, or nothing to do
		if got := m.tree(); len(got) > 0 {
			t.Fatalf("cut after %d bytes: %v", at, got)
		}
	}
}
