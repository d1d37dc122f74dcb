package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const command = "sh check.sh"

// newCheckedBench returns a bench whose project or person names the command, with a script that ends
// with the given code.
func newCheckedBench(t *testing.T, byPerson bool, code string) *bench {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for sh")
	}
	b := newBench(t)
	b.own = t.TempDir()
	b.restart()
	b.script(code)
	if byPerson {
		b.personal("verify: " + command)
	} else {
		b.settings("verify: " + command)
	}
	return b
}

func (b *bench) script(code string) { b.write("check.sh", "echo checked\nexit "+code+"\n") }

// personal writes the person's own file.
func (b *bench) personal(text string) {
	b.t.Helper()
	put(b.t, filepath.Join(b.own, "bmad-mcp", "config.yaml"), text)
}

func put(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// allow allows everything that the project would have allowed, and returns the allowances.
func (b *bench) allow() []string {
	b.t.Helper()
	_, wants, err := b.engine.Wants(project.Address{Cwd: b.dir})
	if err != nil {
		b.t.Fatal(err)
	}
	var out []string
	for _, w := range wants {
		if !w.Allowed {
			if err := b.engine.Allow(ctx, w); err != nil {
				b.t.Fatal(err)
			}
			out = append(out, w.Kind+" "+w.Text)
		}
	}
	return out
}

// again goes back to the plan and comes to dev once more.
func (b *bench) again() {
	b.t.Helper()
	b.do(request.Request{Action: workflow.ActionReopen, Stage: "sm"})
	b.do(submit(workflow.SM, "# S again\n## Sprint 1: one"))
	b.at("dev/generating", approve(true, ""))
}

// rewrite changes the stored session as a text editor would.
func (b *bench) rewrite(change func(map[string]any)) {
	b.t.Helper()
	name := filepath.Join(b.dir, ".bmad-task", "session-"+b.session+".json")
	data, err := os.ReadFile(name)
	if err != nil {
		b.t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(data, &s); err != nil {
		b.t.Fatal(err)
	}
	change(s)
	if data, err = json.Marshal(s); err != nil {
		b.t.Fatal(err)
	}
	put(b.t, name, string(data))
}

// outcome is the result of handing in dev, review and qa with stated passes.
type outcome struct {
	held     bool // a person had to decide
	messages string
}

// finish hands in the work, a review and a QA report that state a pass, and accepts the
// risk wherever the person is asked.
func (b *bench) finish() outcome {
	b.t.Helper()
	var o outcome
	for _, req := range []request.Request{submit(workflow.Dev, "# D"), submit(workflow.Review, passes("# R")), submit(workflow.QA, passes("# Q"))} {
		r := b.do(req)
		o.messages += r.UserMessage + "\n"
		if r.State == workflow.AwaitingApproval {
			o.held = true
			if s := b.stored(); len(s.Current().Objections) == 0 {
				b.t.Errorf("held without an objection on record: %+v", s.Current())
			}
			o.messages += b.do(approve(true, "I know")).UserMessage + "\n"
		}
	}
	if s := b.stored(); s.CurrentState != workflow.Completed {
		b.t.Fatalf("the run ends at %s", s.Place())
	}
	return o
}

// policyNews returns the entries of the history about changes of the configuration.
func (b *bench) policyNews() string {
	var out []string
	for _, e := range b.stored().History {
		if e.Event == workflow.EventPolicyChanged {
			out = append(out, e.Policy)
		}
	}
	return strings.Join(out, "\n")
}

// TestEvidenceCannotBeTakenAway: what somebody does who can edit the project, and more.
// Each time the person has to decide, and is told why.
func TestEvidenceCannotBeTakenAway(t *testing.T) {
	t.Parallel()
	const asks, fails, differs = "was not run", "the verify command says no", "changed during the run"
	all := func(b *bench) { b.allow() }
	for _, tt := range []struct {
		name     string
		byPerson bool
		code     string
		before   func(b *bench) // before the start; nil allows everything
		attack   func(b *bench)
		words    string
		news     string // of the history's entries on the configuration
	}{
		{"a blank more", false, "1", nil, func(b *bench) { b.settings("verify: sh  check.sh") }, fails, ""},
		{"a blank more, before the start", false, "1", func(b *bench) { b.allow(); b.settings("verify: sh   check.sh") }, func(*bench) {}, fails, ""},
		{"a line break for the blank", false, "0", nil, func(b *bench) { b.settings("verify: \"sh\\ncheck.sh\"") }, differs, "instead"},
		{"the line deleted", false, "0", nil, func(b *bench) { b.settings("") }, differs, "no longer names one"},
		{"the line deleted, and it fails", false, "1", nil, func(b *bench) { b.settings("") }, fails, "no longer names one"},
		{"the line made a comment", false, "0", nil, func(b *bench) { b.settings("# verify: sh check.sh") }, differs, "no longer names one"},
		{"the file deleted", false, "0", nil, func(b *bench) { remove(b, ".claude/bmad-task.yaml") }, differs, "no longer names one"},
		{"the folder deleted", false, "1", nil, func(b *bench) { remove(b, ".claude") }, fails, "no longer names one"},
		{"moved to the other stage", false, "0", nil, func(b *bench) { b.settings("stages: {qa: {verify: sh check.sh}}") }, differs, "verify of dev: the configuration no longer names one"},
		{"overruled for a stage", false, "0", nil, func(b *bench) { b.settings("verify: sh check.sh\nstages: {qa: {verify: 'true'}}") }, differs, "verify of qa: the configuration names `true` instead"},
		{"other letters", false, "0", nil, func(b *bench) { b.settings("verify: sh CHECK.sh") }, differs, "sh CHECK.sh"},
		{"something after it", false, "1", nil, func(b *bench) { b.settings("verify: sh check.sh || true") }, fails, "|| true"},
		{"another command", false, "0", nil, func(b *bench) { b.settings("verify: 'true'") }, differs, "names `true` instead"},
		{"another command that was allowed before", false, "1", func(b *bench) {
			b.settings("verify: 'true'")
			b.allow()
			b.settings("verify: sh check.sh")
			b.allow()
		}, func(b *bench) { b.settings("verify: 'true'") }, fails, "names `true` instead"},
		{"an empty text", false, "0", nil, func(b *bench) { b.settings("verify: ''") }, differs, "no longer names one"},
		{"null", false, "0", nil, func(b *bench) { b.settings("verify: null") }, differs, "no longer names one"},
		{"another command before the start", false, "0", func(b *bench) { b.allow(); b.settings("verify: 'true'") }, func(*bench) {}, asks, ""},
		{"a variable", false, "1", nil, func(b *bench) { b.variable("BMAD_VERIFY=true") }, fails, "names `true` instead"},
		{"a variable of each stage", false, "1", nil, func(b *bench) { b.variable("BMAD_DEV_VERIFY=true", "BMAD_QA_VERIFY=true") }, fails, "names `true` instead"},
		{"a variable before the start", false, "0", func(b *bench) { b.allow(); b.variable("BMAD_VERIFY=true") }, func(*bench) {}, asks, ""},
		{"a variable over the person's", true, "0", nil, func(b *bench) { b.variable("BMAD_VERIFY=true") }, differs, "(your own file) still counts"},
		{"a variable over the person's before the start", true, "0", func(b *bench) { b.allow(); b.variable("BMAD_VERIFY=true") }, func(*bench) {}, asks, ""},
		{"the project's file over the person's", true, "1", nil, func(b *bench) { b.settings("verify: 'true'") }, fails, ""},
		{"the person's file moved into the project", true, "0", nil, func(b *bench) {
			b.write("cfg/bmad-mcp/config.yaml", "verify: 'true'")
			b.own = filepath.Join(b.dir, "cfg")
			b.restart()
		}, asks, "`true` (the project's file)"},
		{"never allowed", false, "0", func(*bench) {}, func(*bench) {}, asks, ""},
		{"the person's own, never allowed here", true, "0", func(*bench) {}, func(*bench) {}, asks, ""},
		{"taken back", false, "0", nil, func(b *bench) { b.takeBack() }, asks, ""},
		{"a list that cannot be read", false, "0", nil, func(b *bench) { put(b.t, filepath.Join(b.state, "allowed.json"), "{") }, "what you have allowed cannot be read", ""},
		{"a copy of the project", false, "0", nil, func(b *bench) { b.copy() }, "each is asked about by itself, a copy or worktree too", ""},
		{"a copy, for the person's own", true, "0", nil, func(b *bench) { b.copy() }, "each is asked about by itself, a copy or worktree too", ""},
		{"a copy before the start", false, "0", func(b *bench) { b.allow(); b.copy() }, func(*bench) {}, "each is asked about by itself, a copy or worktree too", ""},
		{"another repository at the same path", false, "0", func(b *bench) {
			b.allow()
			remove(b, ".bmad-task")
			b.script("0")
		}, func(*bench) {}, "was for another project", ""},
		{"the project's mark deleted", false, "0", nil, func(b *bench) { remove(b, ".bmad-task/project-id") }, asks, ""},
		{"the project's mark changed", false, "0", nil, func(b *bench) { b.write(".bmad-task/project-id", strings.Repeat("a", 32)+"\n") }, asks, ""},
		{"the time cut short", false, "0", nil, func(b *bench) {
			b.write("check.sh", "sleep 20\n")
			b.settings("verify: sh check.sh\nverify_timeout: 1s")
		}, "was ended after", ""},
		{"the script deleted", false, "0", nil, func(b *bench) { remove(b, "check.sh") }, fails, ""},
		{"the run's commands deleted with the line", false, "1", nil, func(b *bench) {
			b.settings("")
			b.rewrite(func(s map[string]any) { delete(s, "verify") })
		}, fails, "the session file was edited"},
		{"the run's commands exchanged", false, "1", nil, func(b *bench) {
			b.settings("verify: 'true'")
			b.rewrite(func(s map[string]any) {
				for _, c := range s["verify"].(map[string]any) {
					c.(map[string]any)["command"] = "true"
				}
			})
		}, fails, "the session file was edited"},
		{"the run told that the person accepted it", false, "0", nil, func(b *bench) {
			b.settings("")
			b.again()
			b.rewrite(func(s map[string]any) {
				for _, c := range s["verify"].(map[string]any) {
					c.(map[string]any)["accepted"] = true
				}
			})
		}, differs, "the session file was edited"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newCheckedBench(t, tt.byPerson, tt.code)
			if tt.before == nil {
				tt.before = all
			}
			tt.before(b)
			b.to(workflow.Dev, workflow.Generating)
			tt.attack(b)
			o := b.finish()
			if !o.held || !strings.Contains(o.messages, tt.words) {
				t.Errorf("held %v, want %q:\n%s", o.held, tt.words, o.messages)
			}
			if news := b.policyNews(); !strings.Contains(news, tt.news) || tt.news == "" && news != "" {
				t.Errorf("the history says %q, want %q", news, tt.news)
			}
		})
	}
}

func remove(b *bench, name string) {
	b.t.Helper()
	if name == ".bmad-task" { // and all else, as with a clone in its place
		entries, err := os.ReadDir(b.dir)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != ".claude" {
				remove(b, e.Name()+"/.")
			}
		}
		return
	}
	if err := os.RemoveAll(filepath.Join(b.dir, filepath.Clean(name))); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) variable(environ ...string) {
	b.environ = environ
	b.restart()
}

// copy goes on in a copy of the project.
func (b *bench) copy() {
	b.t.Helper()
	to := filepath.Join(b.t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(b.dir)); err != nil {
		b.t.Fatal(err)
	}
	b.dir = to
}

func (b *bench) takeBack() {
	b.t.Helper()
	for _, kind := range trust.Kinds() {
		if _, err := trust.UserState(b.state).Disallow(ctx, b.dir, kind); err != nil {
			b.t.Fatal(err)
		}
	}
}

// TestConfigurationThatCannotBeReadLetsNothingThrough: neither does it change anything.
func TestConfigurationThatCannotBeReadLetsNothingThrough(t *testing.T) {
	b := newCheckedBench(t, false, "0")
	b.allow()
	b.to(workflow.QA, workflow.Generating)
	for text, words := range map[string]string{
		"verify: [sh check.sh, 'true']": "takes one value",
		"verify: {sh: check.sh}":        "takes a value, not a block",
		"Verify: sh check.sh":           "unknown key",
		"verify: sh check.sh\n\tx":      "line 2",
	} {
		b.settings(text)
		before := b.snapshot()
		b.refused(submit(workflow.QA, passes("# Q")), fault.InvalidArgument, words)
		if b.snapshot() != before {
			t.Errorf("%q: something was changed", text)
		}
	}
	remove(b, ".claude/bmad-task.yaml")
	if err := os.Mkdir(filepath.Join(b.dir, ".claude", "bmad-task.yaml"), 0o750); err != nil {
		t.Fatal(err)
	}
	b.refused(submit(workflow.QA, passes("# Q")), fault.Storage, "cannot be read")
}

// TestHonestEvidenceIsNoTrouble checks that none of these asks the person at a gate.
func TestHonestEvidenceIsNoTrouble(t *testing.T) {
	t.Parallel()
	none := func(*bench) {}
	for _, tt := range []struct {
		name     string
		byPerson bool
		before   func(b *bench)
		during   func(b *bench)
		words    string // of the replies
		news     string
	}{
		{"nothing configured", false, func(b *bench) { b.settings("") }, none, "", ""},
		{"the project's, allowed", false, func(b *bench) { b.allow() }, none, "`sh check.sh` passed", ""},
		{"the person's own, allowed here", true, func(b *bench) { b.allow() }, none, "`sh check.sh` passed", ""},
		{"the person's own, its text allowed by an older version", true, func(b *bench) { b.allowOld(command) }, none, "`sh check.sh` passed", ""},
		{"the project's, allowed by an older version", false, func(b *bench) { b.allowOld(command) }, none, "`sh check.sh` passed", ""},
		{"allowed after the start", false, none, func(b *bench) { b.allow() }, "`sh check.sh` passed", ""},
		{"changed and allowed", false, func(b *bench) { b.allow() }, func(b *bench) {
			b.settings("verify: sh check.sh -v")
			b.allow()
		}, "`sh check.sh -v` passed", "verify of dev, qa: `sh check.sh` (the project's file) → `sh check.sh -v` (the project's file)"},
		{"changed, noted and allowed then", false, func(b *bench) { b.allow() }, func(b *bench) {
			b.settings("verify: sh check.sh -v")
			b.again()
			b.allow()
		}, "`sh check.sh -v` passed", "→ `sh check.sh -v`"},
		{"changed to what was allowed before, and allowed once more", false, func(b *bench) {
			b.settings("verify: sh check.sh -v")
			b.allow()
			b.settings("verify: sh check.sh")
			b.allow()
		}, func(b *bench) {
			b.settings("verify: sh check.sh -v")
			b.again()
			if got := b.allow(); !slices.Equal(got, []string{"verify sh check.sh -v"}) {
				b.t.Errorf("asked about %q", got)
			}
		}, "`sh check.sh -v` passed", "→ `sh check.sh -v`"},
		{"removed and put back", false, func(b *bench) { b.allow() }, func(b *bench) {
			b.settings("")
			b.again()
			b.settings("verify: sh check.sh")
		}, "`sh check.sh` passed", "is configured again"},
		{"switched on during the run", false, func(b *bench) { b.settings("") }, func(b *bench) {
			b.settings("verify: sh check.sh")
			b.allow()
		}, "`sh check.sh` passed", "verify of dev, qa: none → `sh check.sh` (the project's file)"},
		{"switched on by the person during the run", false, func(b *bench) { b.settings("") }, func(b *bench) {
			b.personal("verify: sh check.sh")
			b.allow()
		}, "`sh check.sh` passed", "none → `sh check.sh` (your own file)"},
		{"the person changed theirs", true, func(b *bench) { b.allow() }, func(b *bench) { b.personal("verify: sh check.sh --all") },
			"`sh check.sh --all` passed", "`sh check.sh` (your own file) → `sh check.sh --all` (your own file)"},
		{"the person took theirs out", true, func(b *bench) { b.allow() }, func(b *bench) { b.personal("") }, "", "`sh check.sh` (your own file) → none"},
		{"the person wants none of the project's", false, func(b *bench) { b.allow() }, func(b *bench) { b.personal("verify: ''") }, "", "`sh check.sh` (the project's file) → none"},
		{"the person took over the project's", false, func(b *bench) { b.allow() }, func(b *bench) { b.settings(""); b.personal("verify: sh check.sh") }, "`sh check.sh` passed", "→ `sh check.sh` (your own file)"},
		{"a session of an older version", false, func(b *bench) { b.allow() }, func(b *bench) {
			b.rewrite(func(s map[string]any) {
				delete(s, "verify")
				for _, e := range s["history"].([]any) {
					delete(e.(map[string]any), "verify")
				}
			})
		}, "`sh check.sh` passed", "verify of dev, qa: none → `sh check.sh`"},
		{"a blank more", false, func(b *bench) { b.allow() }, func(b *bench) { b.settings("verify:  'sh   check.sh '") }, "`sh check.sh` passed", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newCheckedBench(t, tt.byPerson, "0")
			tt.before(b)
			b.to(workflow.Dev, workflow.Generating)
			tt.during(b)
			o := b.finish()
			if o.held || !strings.Contains(o.messages, tt.words) || strings.Contains(o.messages, "note: ") {
				t.Errorf("held %v, want %q:\n%s", o.held, tt.words, o.messages)
			}
			if news := b.policyNews(); !strings.Contains(news, tt.news) || tt.news == "" && news != "" {
				t.Errorf("the history says %q, want %q", news, tt.news)
			}
			if got := b.allow(); len(got) > 0 {
				t.Errorf("there is still to allow: %q", got)
			}
		})
	}
}

// allowOld allows a command as an older version did: for the path, without its files.
func (b *bench) allowOld(text string) {
	b.t.Helper()
	real, err := filepath.EvalSymlinks(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	list := map[string]any{"allowed": []any{map[string]any{"project": real, "kind": "verify", "text": text, "sha256": workflow.Hash([]byte(text)), "at": "2025-01-02T03:04:05Z"}}}
	data, err := json.Marshal(list)
	if err != nil {
		b.t.Fatal(err)
	}
	put(b.t, filepath.Join(b.state, "allowed.json"), string(data))
}

// TestChangedScriptsAreTold checks that changed scripts run, and the person is told until they have
// allowed them.
func TestChangedScriptsAreTold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, command string
		before        func(b *bench)
		change        func(b *bench)
		words         string
	}{
		{"another content", command, nil, func(b *bench) { b.write("check.sh", "true\n") }, "check.sh has changed since you allowed it on 2026-01-02"},
		{"a link in its place", command, nil, func(b *bench) {
			b.write("other.sh", "exit 0\n")
			remove(b, "check.sh")
			if err := os.Symlink("other.sh", filepath.Join(b.dir, "check.sh")); err != nil {
				b.t.Skip(err)
			}
		}, "check.sh has changed"},
		{"it is gone and nobody minds", "sh check.sh || true", nil, func(b *bench) { remove(b, "check.sh") }, "check.sh is gone since you allowed it"},
		{"it came later", command, func(b *bench) { remove(b, "check.sh") }, func(b *bench) { b.script("0") }, "check.sh was not there when you allowed the command"},
		{"a file of the program", "sh check.sh; : make", func(b *bench) { b.write("Makefile", "all:\n") }, func(b *bench) { b.write("Makefile", "all: ; true\n") }, "Makefile has changed"},
		{"another file of the program", "sh check.sh; : make", func(b *bench) { b.write("Makefile", "all:\n") }, func(b *bench) { b.write("GNUmakefile", "all: ; true\n") }, "GNUmakefile was not there"},
		{"the scripts of a package", "sh check.sh; : npm test", func(b *bench) { b.write("package.json", `{"scripts":{"test":"jest"}}`) }, func(b *bench) { b.write("package.json", `{"scripts":{"test":"true"}}`) }, "package.json has changed"},
		{"a file in a folder that is named", "cd sub && sh run.sh", func(b *bench) { b.write("sub/run.sh", "exit 0") }, func(b *bench) { b.write("sub/run.sh", "exit 0 # changed") }, "sub/run.sh has changed"},
		{"of an older version, bound at its first use", command, func(b *bench) {
			b.allowOld(command)
			b.to(workflow.Dev, workflow.Generating)
			b.finish()
		}, func(b *bench) { b.write("check.sh", "true\n") }, "check.sh has changed"},
	} {
		for _, byPerson := range []bool{false, true} {
			t.Run(tt.name+map[bool]string{true: ", the person's own"}[byPerson], func(t *testing.T) {
				t.Parallel()
				b := newCheckedBench(t, byPerson, "0")
				if byPerson {
					b.personal("verify: '" + tt.command + "'")
				} else {
					b.settings("verify: '" + tt.command + "'")
				}
				if tt.before != nil {
					tt.before(b)
				}
				b.allow()
				b.to(workflow.Dev, workflow.Generating)
				tt.change(b)
				o := b.finish()
				if o.held || strings.Count(o.messages, tt.words) < 2 || !strings.Contains(o.messages, "bmad-mcp allow") {
					t.Errorf("held %v, want %q:\n%s", o.held, tt.words, o.messages)
				}
				s := b.stored()
				if e := s.Record(workflow.QA).Evidence; e == nil || e.NotRun != "" || e.Failed() || len(e.Notes) != 1 || !strings.Contains(e.Notes[0], tt.words) {
					t.Errorf("%+v", e)
				}
				if !strings.Contains(s.Last().Evidence, tt.words) {
					t.Errorf("the history says %q", s.Last().Evidence)
				}
				// Told until it is allowed.
				if got := b.allow(); len(got) != 1 || !strings.HasPrefix(got[0], trust.KindScript+" ") {
					t.Errorf("asked about %q", got)
				}
				b.do(request.Request{Action: workflow.ActionReopen, Stage: "dev"})
				if o := b.finish(); o.held || strings.Contains(o.messages, tt.words) {
					t.Errorf("still:\n%s", o.messages)
				}
			})
		}
	}
}

// TestAcceptedChangeIsNotAskedAboutAgain: not for the same, and for another it is.
func TestAcceptedChangeIsNotAskedAboutAgain(t *testing.T) {
	t.Parallel()
	b := newCheckedBench(t, false, "0")
	b.allow()
	b.to(workflow.Dev, workflow.Generating)
	b.settings("")
	r := b.at("review/generating", submit(workflow.Dev, "# D"))
	if r.Evidence == nil && !strings.Contains(r.UserMessage, "changed during the run: the configuration no longer names one") {
		t.Errorf("%+v\n%s", r.Evidence, r.UserMessage)
	}
	r = b.at("review/awaiting_approval", submit(workflow.Review, passes("# R")))
	if r.Evidence == nil || r.Evidence.Changed == "" || *r.Evidence.ExitCode != 0 || len(r.Objections) != 1 {
		t.Errorf("%+v %q", r.Evidence, r.Objections)
	}
	b.at("qa/generating", approve(true, "we have dropped it"))
	if last := b.stored().Last(); !last.VerifyCommands[workflow.Dev].Accepted || !last.VerifyCommands[workflow.QA].Accepted || last.Grant == nil {
		t.Errorf("%+v", last)
	}
	r = b.at("qa/completed", submit(workflow.QA, passes("# Q")))
	if !strings.Contains(r.UserMessage, "`sh check.sh` passed; note: the configuration no longer names one, which you have accepted") {
		t.Errorf("%s", r.UserMessage)
	}
	b.settings("verify: 'true'")
	b.do(request.Request{Action: workflow.ActionReopen, Stage: "qa"})
	r = b.at("qa/awaiting_approval", submit(workflow.QA, passes("# Q agai")))
	if !strings.Contains(strings.Join(r.Objections, ""), "the configuration names `true` instead") {
		t.Errorf("%q", r.Objections)
	}
	// A decision is for the documents as shown: a change since is not accepted with it.
	b.settings("verify: ':'")
	b.at("qa/completed", approve(true, "fine"))
	for stage, c := range b.stored().VerifyCommands {
		if c.Accepted || *c.Instead != ":" {
			t.Errorf("%s: %+v", stage, c)
		}
	}
}

// TestAllowedBetweenDevAndReview checks that the review is not held for a command that could not
// run earlier.
func TestAllowedBetweenDevAndReview(t *testing.T) {
	for code, place := range map[string]string{"0": "qa/generating", "1": "review/awaiting_approval"} {
		b := newCheckedBench(t, false, code)
		b.to(workflow.Dev, workflow.Generating)
		r := b.at("review/generating", submit(workflow.Dev, "# D"))
		if !strings.Contains(r.UserMessage, "was not run: you have not allowed it in this project yet") {
			t.Errorf("%s", r.UserMessage)
		}
		b.allow()
		r = b.at(place, submit(workflow.Review, passes("# R")))
		if e := b.stored().Record(workflow.Review).Evidence; e == nil || e.NotRun != "" || e.Failed() == (code == "0") {
			t.Errorf("%+v\n%s", e, r.UserMessage)
		}
	}
}

// TestEvidenceTakenOutOfTheSession checks that the review then runs the command itself.
func TestEvidenceTakenOutOfTheSession(t *testing.T) {
	t.Parallel()
	b := newCheckedBench(t, false, "1")
	b.allow()
	b.to(workflow.Dev, workflow.Generating)
	b.at("review/generating", submit(workflow.Dev, "# D"))
	b.rewrite(func(s map[string]any) { delete(s["stages"].(map[string]any)["dev"].(map[string]any), "evidence") })
	r := b.at("review/awaiting_approval", submit(workflow.Review, passes("# R")))
	if !strings.Contains(strings.Join(r.Objections, ""), "the verify command says no") {
		t.Errorf("%q", r.Objections)
	}
}

// TestWantsSayWhoAndWhat names the command, who has set it and the files that it names.
func TestWantsSayWhoAndWhat(t *testing.T) {
	b := newCheckedBench(t, false, "0")
	wants := func() []permission.Want {
		t.Helper()
		_, list, err := b.engine.Wants(project.Address{Cwd: b.dir})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	list := wants()
	if len(list) != 1 || list[0].SetBy != workflow.SetByProject || list[0].Kind != trust.KindVerify || len(list[0].Scripts) != 1 || list[0].Scripts[0].Text != "check.sh" {
		t.Errorf("%+v", list)
	}
	if _, err := os.Stat(filepath.Join(b.dir, ".bmad-task")); err == nil {
		t.Error("asking has changed the project")
	}
	b.variable("BMAD_DEV_VERIFY=make")
	list = wants()
	if len(list) != 2 || list[0].SetBy != workflow.SetByEnvironment || list[0].Text != "make" || list[0].Use != "dev" || list[1].Use != "qa" {
		t.Errorf("%+v", list)
	}
	b.variable()
	b.personal("verify: make all")
	list = wants()
	if len(list) != 1 || list[0].SetBy != workflow.SetByPerson || list[0].Kind != trust.KindOwnVerify || list[0].Text != "make all" {
		t.Errorf("%+v", list)
	}
	// A script that a run keeps can be allowed, though nothing names it any more.
	b.personal("")
	b.to(workflow.Dev, workflow.Generating)
	b.settings("verify: 'true'")
	b.again()
	list = wants()
	if len(list) != 2 || list[0].Text != "true" || list[1].Text != command || list[1].Use != "dev of the run build-a-thing, qa of the run build-a-thing" {
		t.Errorf("%+v", list)
	}
}
