package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
)

// reply is what a person types behind a prompt, after they have thought about it.
type reply struct {
	prompt, text string
	thinks       time.Duration
}

// person is somebody at a terminal: a home, a project, a language.
type person struct {
	folder, project string
	variables       []string
}

func newPerson(t *testing.T, variables ...string) person {
	t.Helper()
	folder := t.TempDir()
	if strings.Contains(folder, " ") { // the program breaks lines there, which the pictures have whole
		var err error
		if folder, err = os.MkdirTemp("/tmp", strings.Repeat("long-", 12)); err != nil { //nolint:usetesting // TMPDIR has the blank
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(folder) })
	}
	p := person{folder: folder, project: filepath.Join(folder, "project")}
	for _, name := range []string{"home", "project", "tmp"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.variables = append([]string{
		"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "TZ=UTC", "PAGER=cat", "HOME=" + filepath.Join(folder, "home"),
		"TMPDIR=" + filepath.Join(folder, "tmp"), "BMAD_STORE=",
	}, variables...)
	return p
}

// types runs a program at a terminal, and returns what it shows there: what would differ the next
// time is always the same.
func (p person) types(t *testing.T, replies []reply, name string, args ...string) string {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = control.Close() }()
	fd := int(control.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: screenRows, Col: screenColumns})
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.project, p.variables, line, line, line
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = line.Close()
	stop := time.AfterFunc(hang, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	var shown strings.Builder
	seen, buffer := 0, make([]byte, 4096)
	for {
		n, err := control.Read(buffer)
		shown.Write(buffer[:n])
		if text := shown.String(); len(replies) > 0 && strings.Contains(text[seen:], replies[0].prompt) {
			seen = len(text)
			time.Sleep(replies[0].thinks)
			if _, err := control.WriteString(replies[0].text + "\n"); err != nil {
				t.Fatal(err)
			}
			replies = replies[1:]
		}
		if err != nil { // the last process has left the terminal
			break
		}
	}
	if err := cmd.Wait(); err != nil || len(replies) > 0 {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, shown.String())
	}
	text := strings.ReplaceAll(shown.String(), filepath.Join(p.folder, "tmp"), "/tmp")
	for pattern, fixed := range map[*regexp.Regexp]string{
		madeSession: "5f6725cc-ffc7-4799-afe6-f528af74451f", madeFolder: "/tmp/bmad-demo-1234567890", pasteMode: "",
	} {
		text = pattern.ReplaceAllString(text, fixed)
	}
	return text
}

var (
	madeSession = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	pasteMode   = regexp.MustCompile(`\x1b\[\?2004[hl]`)
	madeFolder  = regexp.MustCompile(`/tmp/bmad-demo-\d+`)
)

// command returns what stands before the output of a command on the screen.
func command(text string) string { return "\x1b[32m$\x1b[0m \x1b[1m" + text + "\x1b[0m\n" }

func image(name string) string { return filepath.Join("..", "..", "docs", "images", name) }

// TestPictures: the pictures of the documentation show what the program shows at a terminal today.
// -update draws them anew.
func TestPictures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ locale, of, objective, users, overdue string }{
		{"en_US.UTF-8", "", "Build a to-do list for the terminal", "Just me, on one laptop", "Overdue ones should stand out"},
		{"zh_CN.UTF-8", ".zh", "做一个终端里的待办清单", "只有我自己，用一台笔记本", "过期的任务应当醒目"},
	} {
		t.Run(c.locale, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, "LC_ALL="+c.locale)
			drafts := filepath.Join(p.project, "drafts")
			if err := os.CopyFS(drafts, os.DirFS(filepath.Join("cmd", "start", "demo"))); err != nil {
				t.Fatal(err)
			}
			p.types(t, nil, "bmad-mcp", "task", "start", "--name", "todo", c.objective)
			p.types(t, nil, "bmad-mcp", "task", "submit", "--stage", "po", "--claude-result-path", "drafts/po-1"+c.of+".md")
			p.types(t, nil, "bmad-mcp", "task", "answer", "q1="+c.users, "q2="+c.overdue)
			p.types(t, nil, "bmad-mcp", "task", "submit", "--stage", "po", "--claude-result-path", "drafts/po-2"+c.of+".md")
			gate := command("bmad-mcp decide todo") + p.types(t, []reply{{prompt: "[acvn]", text: "a"}}, "bmad-mcp", "confirm", "todo")
			for name, colours := range map[string]palette{"light": lightScreen, "dark": darkScreen} {
				rows := colours.rows(gate)
				drawn := colours.picture("bmad-mcp decide todo", len(rows), "", colours.draw(rows))
				golden.Bytes(t, image("gate-"+name+c.of+".svg"), []byte(drawn))
			}
			demo := command("bmad-mcp demo") + p.types(t, nil, "bmad-mcp", "demo")
			golden.Bytes(t, image("demo"+c.of+".svg"), []byte(darkScreen.film("bmad-mcp demo", demo)))
		})
	}
}
