package mcpserver_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// team returns a folder with projects of several people.
func team(t *testing.T, projects ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range projects {
		if err := os.MkdirAll(filepath.Join(root, name, ".git"), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// holders returns the folders below a folder that have sessions, with slashes.
func holders(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".bmad-task" {
			rel, err := filepath.Rel(root, filepath.Dir(path))
			out = append(out, filepath.ToSlash(rel))
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rooted is a client that tells its roots when it is asked for them on the answer to its call,
// as hosts do.
type rooted struct {
	speaker
	roots []string
	asked int
}

// does calls bmad-task and answers the question for the roots.
func (p *rooted) does(args object) object {
	p.s.t.Helper()
	m, next := p.call("bmad-task", args, nil)
	list := []object{}
	for _, root := range p.roots {
		list = append(list, object{"uri": "file://" + filepath.ToSlash(root)})
	}
	switch result, _ := m["result"].(object); {
	case m["method"] == "roots/list":
		p.asked++
		res := p.post(object{"id": m["id"], "result": object{"roots": list}})
		_ = res.Body.Close()
		if res.StatusCode != http.StatusAccepted {
			p.s.t.Fatalf("the roots are not taken: %d", res.StatusCode)
		}
		var err error
		if m, err = next(); err != nil {
			p.s.t.Fatal(err)
		}
	case result["resultType"] == "input_required":
		p.asked++
		m, _ = p.call("bmad-task", args, object{"inputResponses": object{"roots": object{"roots": list}}, "requestState": result["requestState"]})
	}
	return replyIn(m)
}

// TestHTTPFindsTheProject starts tasks on servers of many projects and of one, as clients that
// say which they mean in one way, in another, and in none.
func TestHTTPFindsTheProject(t *testing.T) {
	t.Parallel()
	unclear := []string{"invalid_argument", "not clear which project", "pass cwd"}
	for _, c := range []struct {
		name string
		// mark makes the served folder itself a project.
		mark string
		// here starts the server in the folder without --root.
		here  bool
		roots []string // of the client, below the served folder
		cwd   string   // the same; "" for none
		want  string   // the folder in which it lands, or the words of the refusal
		words []string
	}{
		{name: "the client's root", roots: []string{"p1"}, want: "p1"},
		{name: "a root deep below", roots: []string{"org/p3"}, want: "org/p3"},
		{name: "cwd before the root", roots: []string{"p1"}, cwd: "p2", want: "p2"},
		{name: "the only one of several roots that is served", roots: []string{"../elsewhere", "p2"}, want: "p2"},
		{name: "two roots", roots: []string{"p1", "p2"}, words: unclear},
		{name: "no root", words: append([]string{"p1", "p2", "org/p3"}, unclear...)},
		{name: "a root elsewhere", roots: []string{"../elsewhere"}, words: unclear},
		{name: "the folder of all projects as root", roots: []string{"."}, words: unclear},
		{name: "above it", roots: []string{".."}, words: unclear},
		{name: "a root that does not exist", roots: []string{"p9"}, words: unclear},
		{name: "a root that leads out", roots: []string{"link"}, words: unclear},
		{name: "the folder of all projects as cwd", cwd: ".", words: []string{"invalid_argument", "folder of several projects", "p1"}},

		{name: "a repository", mark: ".git", want: "."},
		{name: "a Go module", mark: "go.mod", want: "."},
		{name: "a package", mark: "package.json", want: "."},
		{name: "a repository, by its own root", mark: ".git", roots: []string{"."}, want: "."},
		{name: "a part of a repository", mark: ".git", roots: []string{"p1"}, want: "p1"},
		{name: "sessions that landed there do not make it one", mark: ".bmad-task", words: unclear},

		{name: "started in it", here: true, want: "."},
		{name: "started in it, the client in a part", here: true, roots: []string{"p2"}, want: "p2"},
		{name: "started in it, cwd", here: true, cwd: "p1", want: "p1"},
	} {
		for _, modern := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,modern=%v", c.name, modern), func(t *testing.T) {
				t.Parallel()
				root := team(t, "p1", "p2", "org/p3")
				if err := os.Symlink(t.TempDir(), filepath.Join(root, "link")); err != nil {
					t.Skip(err)
				}
				if c.mark != "" {
					if err := os.Mkdir(filepath.Join(root, c.mark), 0o750); err != nil {
						t.Fatal(err)
					}
				}
				before := holders(t, root)
				served := []string{root}
				if c.here {
					served = nil
				}
				p := &rooted{speaker: speaker{s: serveInside(t, root, nil, served...), modern: modern, capabilities: object{"roots": object{}}}}
				p.greet()
				for _, r := range c.roots {
					p.roots = append(p.roots, filepath.Join(root, filepath.FromSlash(r)))
				}
				call := object{"action": "start", "objective": "Build a clock"}
				if c.cwd != "" {
					call["cwd"] = filepath.Join(root, filepath.FromSlash(c.cwd))
				}
				reply := p.does(call)
				if c.want == "" {
					for _, word := range append(c.words, "failed") {
						if !strings.Contains(fmt.Sprint(reply), word) {
							t.Errorf("no %q in %v", word, reply)
						}
					}
					if after := holders(t, root); !slices.Equal(after, before) {
						t.Errorf("refused, and made %v", after)
					}
					return
				}
				if reply["status"] == "failed" || !slices.Contains(holders(t, root), c.want) {
					t.Errorf("landed in %v: %v", holders(t, root), reply)
				}
				// The task is found again by its name alone, from anywhere.
				if again := p.does(object{"action": "status", "session_id": "build-a-clock"}); again["session_id"] != reply["session_id"] {
					t.Errorf("by its name: %v", again)
				}
				if want := map[bool]int{true: 2, false: 1}[modern && c.cwd == ""]; p.asked != want {
					t.Errorf("asked for its roots %d times, want %d", p.asked, want)
				}
			})
		}
	}
}

// TestHTTPClientsWithoutRoots checks that clients that have none are not asked, and one that does
// not answer the question is asked once.
func TestHTTPClientsWithoutRoots(t *testing.T) {
	t.Parallel()
	root := team(t, "p1")
	s := serveInside(t, root, nil, root)
	for _, modern := range []bool{false, true} {
		p := (&speaker{s: s, modern: modern}).greet()
		if reply := p.task(object{"action": "start", "objective": "x"}); reply["code"] != "invalid_argument" {
			t.Errorf("modern %v: %v", modern, reply)
		}
	}
	deaf := (&speaker{s: s, capabilities: object{"roots": object{}}}).greet()
	m, next := deaf.call("bmad-task", object{"action": "start", "objective": "x"}, nil)
	if m["method"] != "roots/list" {
		t.Fatalf("not asked: %v", m)
	}
	if m, err := afterWithdrawal(next); err != nil || replyIn(m)["code"] != "invalid_argument" {
		t.Errorf("without an answer: %v, %v", m, err)
	}
	if m, _ := deaf.call("bmad-task", object{"action": "start", "objective": "x"}, nil); replyIn(m)["code"] != "invalid_argument" {
		t.Errorf("asked again: %v", m)
	}
	// Nobody else answers for it.
	asking := (&speaker{s: s, capabilities: object{"roots": object{}}}).greet()
	m, next = asking.call("bmad-task", object{"action": "start", "objective": "x"}, nil)
	other := (&speaker{s: s}).greet()
	for _, p := range []*speaker{other, {s: s, session: asking.session, header: []string{"Origin", strings.TrimSuffix(s.url, "/mcp")}}} {
		res := p.post(object{"id": m["id"], "result": object{"roots": []object{{"uri": "file://" + filepath.Join(root, "p1")}}}})
		_ = res.Body.Close()
		if res.StatusCode == http.StatusAccepted {
			t.Error("another's answer was taken")
		}
	}
	if m, err := afterWithdrawal(next); err != nil || replyIn(m)["code"] != "invalid_argument" {
		t.Errorf("%v, %v", m, err)
	}
}

// afterWithdrawal returns the message after the one that withdraws a question.
func afterWithdrawal(next func() (object, error)) (object, error) {
	if m, err := next(); err != nil || m["method"] != "notifications/cancelled" {
		return m, err
	}
	return next()
}

// TestHTTPSaysWhenCwdIsNeeded in the descriptions that the model reads.
func TestHTTPSaysWhenCwdIsNeeded(t *testing.T) {
	t.Parallel()
	many, one := team(t, "p1", "p2"), team(t, ".")
	for _, c := range []struct {
		s    *served
		want string
	}{
		{serve(t, many, nil, "--root", many), "absolute path of the project folder, in " + many + "; required unless session_id is given or your host tells its roots"},
		{serve(t, one, nil, "--root", one), "absolute path of the project folder, in " + one + "; default: " + one},
		{serve(t, many, nil), "absolute path of the project folder, in " + many + "; default: " + many},
	} {
		status, body := c.s.send("POST", c.s.url, hello)
		if status != http.StatusOK {
			t.Fatal(status, body)
		}
		p := (&speaker{s: c.s}).greet()
		res := p.post(object{"id": 1, "method": "tools/list", "params": object{}})
		m, err := messages(res)()
		_ = res.Body.Close()
		if err != nil || strings.Count(fmt.Sprint(m), c.want) < 1 || strings.Contains(fmt.Sprint(m), "the folder the host works in") {
			t.Errorf("no %q, %v, in %v", c.want, err, m)
		}
	}
}
