package mcpserver_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// buildWatched builds the program so that what looks at the tests looks at it too: the race
// detector, and the counters of what code was run. check reports what they have found, once
// the tests are done.
func buildWatched(dir, program string) (build *exec.Cmd, check func() error) {
	args := []string{"build", "-ldflags", "-s -w", "-o", program} // nobody debugs it
	races := filepath.Join(dir, "race")
	if raced {
		args = append(args, "-race")
		// It goes on after a race, as tests do, and leaves a file for each process that had one.
		if err := os.Setenv("GORACE", "log_path="+races+" "+os.Getenv("GORACE")); err != nil {
			panic(err)
		}
	}
	counters := filepath.Join(dir, "counters")
	if mode := testing.CoverMode(); mode != "" {
		args = append(args, "-cover", "-covermode="+mode, "-coverpkg=github.com/bmad-mcp/bmad-mcp/...")
		if f := flag.Lookup("test.gocoverdir"); f != nil && f.Value.String() != "" {
			counters = f.Value.String()
		}
		if err := os.MkdirAll(counters, 0o700); err != nil {
			panic(err)
		}
		if err := os.Setenv("GOCOVERDIR", counters); err != nil {
			panic(err)
		}
	}
	build = exec.Command("go", append(args, "../../../cmd/bmad-mcp")...)
	build.Stderr = os.Stderr
	return build, func() error {
		found, err := filepath.Glob(races + ".*")
		if err != nil {
			return err
		}
		for _, name := range found {
			report, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "in a process that the tests started:\n%s\n", report)
		}
		if len(found) > 0 {
			return fmt.Errorf("%d processes had races", len(found))
		}
		if testing.CoverMode() != "" {
			return addCounters(dir, counters)
		}
		return nil
	}
}

// watching returns the variables by which a process with an environment of its own is watched,
// and collects its garbage as the tests do.
func watching() []string {
	var out []string
	for _, name := range []string{"GORACE", "GOCOVERDIR", "GOGC"} {
		if value := os.Getenv(name); value != "" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// addCounters adds the counters of the program's processes to the profile that the tests write,
// and says how much of this package it was.
func addCounters(dir, counters string) error {
	const pkg = "github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	percent, err := exec.Command("go", "tool", "covdata", "percent", "-i="+counters, "-pkg="+pkg).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go tool covdata: %w: %s", err, percent)
	}
	fmt.Printf("in the processes started: %s\n", bytes.TrimSpace(percent))
	profile := flag.Lookup("test.coverprofile").Value.String()
	if profile == "" {
		return nil
	}
	if !filepath.IsAbs(profile) {
		profile = filepath.Join(flag.Lookup("test.outputdir").Value.String(), profile)
	}
	text := filepath.Join(dir, "counters.txt")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+counters, "-o="+text).CombinedOutput(); err != nil {
		return fmt.Errorf("go tool covdata: %w: %s", err, out)
	}
	return appendProfile(profile, text)
}

// appendProfile adds the lines of a profile to another one, as far as they are of packages that
// it has; those who read profiles add up what stands in them twice.
func appendProfile(profile, more string) error {
	have, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	packages := map[string]bool{}
	of := func(line string) string {
		if i := strings.LastIndex(line, ".go:"); i >= 0 {
			return filepath.ToSlash(filepath.Dir(line[:i]))
		}
		return ""
	}
	for line := range strings.Lines(string(have)) {
		packages[of(line)] = true
	}
	add, err := os.Open(more)
	if err != nil {
		return err
	}
	defer func() { _ = add.Close() }()
	out := bytes.NewBuffer(have)
	for lines := bufio.NewScanner(add); lines.Scan(); {
		if p := of(lines.Text()); p != "" && packages[p] {
			fmt.Fprintln(out, lines.Text())
		}
	}
	return os.WriteFile(profile, out.Bytes(), 0o600)
}
