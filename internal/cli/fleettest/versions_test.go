//go:build linux

package fleettest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// build builds the program into a folder of the fleet, with more flags of go build, and returns the folder.
func (f *fleet) build(name string, flags ...string) string {
	f.t.Helper()
	folder := filepath.Join(f.root, name)
	must(f.t, os.MkdirAll(folder, 0o755))
	args := append([]string{"build", "-o", filepath.Join(folder, "bmad-mcp")}, flags...)
	cmd := exec.Command("go", append(args, "../../../cmd/bmad-mcp")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("go %v: %v\n%s", args, err, out)
	}
	return folder
}

// release are the flags for a version.
func release(version string) []string {
	return []string{"-ldflags", "-X github.com/bmad-mcp/bmad-mcp/internal/cli/app.release=" + version}
}

// by has a machine run the program in a folder.
func (m *machine) by(folder string) *machine {
	m.program = filepath.Join(folder, "bmad-mcp")
	return m
}

// TestTwoVersions: workers of two versions share a queue.
func TestTwoVersions(t *testing.T) {
	needsFleet(t)
	f := newFleet(t)
	old, next := f.machine("old").by(f.build("v1", release("v1.0.0")...)), f.machine("new").by(f.build("v2", release("v2.0.0")...))
	if a, b := old.does(0, "--version"), next.does(0, "--version"); a == b || !strings.Contains(a, "1.0.0") {
		t.Fatalf("the versions are %s and %s", a, b)
	}
	tasks := f.queueMixed(8)
	workers := []*worker{old.start("old"), next.start("new")}
	f.checkDone(tasks, 0)
	for _, w := range workers {
		if len(f.readBill().ofWorker(w.name)) == 0 {
			t.Errorf("%s has done nothing", w.name)
		}
	}
}

// TestWrongClocks: workers whose clocks are minutes off, in both directions, take nothing from each other. A program that
// is linked statically asks the kernel for the time, without a library that could answer in its place, so that the
// program is built with a package time that is wrong.
func TestWrongClocks(t *testing.T) {
	needsFleet(t)
	f := newFleet(t)
	boxes := []*machine{
		f.machine("right"),
		f.machine("ahead").by(f.build("ahead", "-overlay", f.wrongTime("ahead", "+ 300"))),
		f.machine("behind").by(f.build("behind", "-overlay", f.wrongTime("behind", "- 300"))),
	}
	tasks := f.queueMixed(12)
	for _, m := range boxes {
		// Longer than a lease, which has to be renewed.
		m.start(m.name, takesVariable+"="+(2*lease).String())
	}
	f.waitFor("done", tasks...)
	for _, m := range boxes {
		if len(f.readBill().ofWorker(m.name)) == 0 {
			t.Errorf("%s has done nothing", m.name)
		}
	}
	for _, task := range tasks { // the times of the history and of the bill do not compare
		s := f.session(task)
		f.checkDecision(task, s)
		f.checkPushed(task, s.SessionID)
	}
	if b := f.readBill(); b.repeated() != 0 || b.paid() != len(quickStages)*len(tasks) {
		t.Errorf("%d calls were paid, %d repeated", b.paid(), b.repeated())
	}
}

// wrongTime writes an overlay for go build, by which time.Now is off by some seconds, and returns its path.
func (f *fleet) wrongTime(name, off string) string {
	f.t.Helper()
	source := filepath.Join(goroot(f.t), "src", "time", "time.go")
	text, err := os.ReadFile(source)
	must(f.t, err)
	const right = "sec, nsec, mono := runtimeNow()"
	wrong := strings.ReplaceAll(string(text), right, right+"\n\tsec = sec "+off)
	if wrong == string(text) {
		f.t.Skipf("SKIPPED: time.Now of %s does not have the line %q to make it wrong", runtime.Version(), right)
	}
	changed := filepath.Join(f.root, name+"-time.go")
	must(f.t, os.WriteFile(changed, []byte(wrong), 0o600))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{source: changed}})
	must(f.t, err)
	file := filepath.Join(f.root, name+"-overlay.json")
	must(f.t, os.WriteFile(file, overlay, 0o600))
	return file
}

func goroot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}
