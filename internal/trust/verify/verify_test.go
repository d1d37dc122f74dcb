package verify_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// clock returns a clock that goes on by 1500 ms whenever it is looked at.
func clock() func() time.Time {
	at := start.Add(-1500 * time.Millisecond)
	return func() time.Time {
		at = at.Add(1500 * time.Millisecond)
		return at
	}
}

// ample is a time-out that no test waits for.
const ample = 5 * time.Minute

func run(t *testing.T, command string) workflow.Evidence {
	t.Helper()
	return verify.Run(t.Context(), t.TempDir(), command, clock(), verify.Limits{Timeout: ample, Tail: 2000})
}

func needShell(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for sh")
	}
}

func TestRun(t *testing.T) {
	needShell(t)
	for name, c := range map[string]struct {
		command string
		exit    int
		tail    string
	}{
		"it passes":                {"echo fine", 0, "fine"},
		"it says nothing":          {"true", 0, ""},
		"it fails":                 {"echo bad; exit 3", 3, "bad"},
		"both streams in order":    {"echo one; echo two >&2; echo three", 0, "one\ntwo\nthree"},
		"its last part counts":     {"false; true", 0, ""},
		"it is killed":             {"echo dying; kill -9 $$", -1, "dying"},
		"its child is killed":      {"exec 2>/dev/null; sh -c 'kill -9 $$'; exit $?", 137, ""},
		"there is nothing to read": {"cat; echo read", 0, "read"},
		"it is not UTF-8":          {`printf 'a\377b\000c\033[31md'`, 0, "a\ufffdbcd"},
		"several lines":            {"echo one\necho two", 0, "one\ntwo"},
		"it stops at what fails":   {"set -e\nfalse\necho never", 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := workflow.Evidence{Command: c.command, At: start, ExitCode: c.exit, TookMS: 1500, Tail: c.tail}
			if got := run(t, c.command); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestCommandNotFound(t *testing.T) {
	needShell(t)
	e := run(t, "bmad-no-such-command --flag")
	if e.ExitCode != 127 || e.NotRun != "" || !strings.Contains(e.Tail, "bmad-no-such-command") || !e.Failed() {
		t.Errorf("%+v", e)
	}
}

func TestItRunsInTheFolder(t *testing.T) {
	needShell(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "here"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := verify.Run(t.Context(), dir, `ls; echo "$PWD"`, clock(), verify.Limits{Tail: 2000})
	if e.ExitCode != 0 || e.Tail != "here\n"+dir {
		t.Errorf("%+v", e)
	}
}

func TestEnvironment(t *testing.T) {
	needShell(t)
	t.Setenv("BMAD_GATE_SCORE", "95")
	t.Setenv("bmad_lower", "1")
	t.Setenv("BMADNESS", "kept")
	t.Setenv("CI", "false")
	t.Setenv("SOME_TOKEN", "kept too")
	e := run(t, "env")
	lines := strings.Split(e.Tail, "\n")
	seen := map[string]int{}
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "=")
		seen[strings.ToUpper(name)]++
		if strings.HasPrefix(strings.ToUpper(name), "BMAD_") {
			t.Errorf("the command sees %s", line)
		}
	}
	// Of an environment that is longer than the tail the end says as much.
	e = run(t, `echo "$CI,$BMADNESS,$SOME_TOKEN,$BMAD_GATE_SCORE,$bmad_lower"`)
	if e.Tail != "1,kept,kept too,," || seen["CI"] > 1 {
		t.Errorf("%q, CI %d times", e.Tail, seen["CI"])
	}
}

func TestNotRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx          context.Context
		dir, command string
		want         string
	}{
		"no command":         {t.Context(), t.TempDir(), " \n", "the command is empty"},
		"no folder":          {t.Context(), "", "true", "there is no folder"},
		"the folder is gone": {t.Context(), file + "-not", "true", file + "-not"},
		"it is a file":       {t.Context(), file, "true", file},
		"a NUL in it":        {t.Context(), t.TempDir(), "true \x00", "invalid argument"},
		"nobody waits":       {ended, t.TempDir(), "true", "the call was given up"},
	} {
		t.Run(name, func(t *testing.T) {
			got := verify.Run(c.ctx, c.dir, c.command, clock(), verify.Limits{Timeout: ample, Tail: 100})
			if !strings.Contains(got.NotRun, c.want) {
				t.Errorf("got %q", got.NotRun)
			}
			got.NotRun = ""
			if want := (workflow.Evidence{Command: c.command, At: start}); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestMuchOutput(t *testing.T) {
	needShell(t)
	const bytes = 50 << 20
	e := verify.Run(t.Context(), t.TempDir(), fmt.Sprintf(`yes 0123456789 | head -c %d; echo; echo the end >&2`, bytes), clock(),
		verify.Limits{Timeout: ample, Tail: 100})
	if e.ExitCode != 0 || e.TimedOut || len(e.Tail) > 100+len("…\n") {
		t.Errorf("%d bytes, %+v", len(e.Tail), e)
	}
	if !strings.HasPrefix(e.Tail, "…\n0123456789\n") || !strings.HasSuffix(e.Tail, "\nthe end") {
		t.Errorf("%q", e.Tail)
	}
	e = verify.Run(t.Context(), t.TempDir(), "echo something; exit 1", clock(), verify.Limits{Timeout: ample})
	if e.Tail != "" || e.ExitCode != 1 {
		t.Errorf("none was to be kept: %+v", e)
	}
}
