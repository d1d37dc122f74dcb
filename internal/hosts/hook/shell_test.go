package hook_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts/hook"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/mention"
)

func bash(command string) hook.Event {
	input, _ := json.Marshal(map[string]string{"command": command})
	return hook.Event{Name: "PreToolUse", PromptID: "1", Tool: "Bash", Input: input, Program: "/opt/tools/bm"}
}

// handedIn returns a turn in which a draft was handed in and the person ordered nothing.
func handedIn() hook.Turn {
	return hook.Turn{}.After(prompt("1", "build it")).After(submitted("1", "null"))
}

// deciding are commands that may decide for the person.
var deciding = []string{
	`bmad-mcp confirm`,
	`bmad-mcp 'confirm'`,
	`bmad-mcp "confirm"`,
	`bmad-mcp con"fir"m`,
	`bmad-mcp confirm --feedback --help --yes`,
	`GIT_EXTERNAL_DIFF='bmad-mcp confirm --yes #' git diff`,
	`rg --pre 'bmad-mcp decide --yes' x`,
	`git grep -O'bmad-mcp decide --yes' x`,
	`gh alias set x '!bmad-mcp decide --yes'`,
	`bmad-mcp conf\irm`,
	"bmad-mcp \\\n  confirm",
	"bmad-mcp con\\\nfirm",
	`"bmad-mcp" confirm`,
	`'/usr/local/bin/bmad-mcp' task confirm`,
	`./bmad-mcp approve`,
	`../bin/bmad-mcp.exe confirm`,
	`bmad-mcp-linux-amd64 confirm`,
	`bmad-mcp reject build-a-clock --feedback no`,
	`bmad-mcp reopen po`,
	`bmad-mcp cancel`,
	`bmad-mcp answer q1=x`,
	`bmad-mcp task confirm_save`,
	`bmad-mcp task reopen --stage po`,
	`bmad-mcp task answer q1=yes`,
	`bmad-mcp task cancel`,
	`bmad-mcp --cwd /p --json task confirm`,
	`bmad-mcp task --cwd=/p approve`,
	`bmad-mcp allow`,
	`bmad-mcp adopt build-a-clock`,
	`sh -c 'bmad-mcp confirm'`,
	`bash -lc "bmad-mcp task confirm"`,
	`bash -c "bash -c 'bmad-mcp confirm'"`,
	`env X=1 bmad-mcp confirm`,
	`X=1 bmad-mcp confirm`,
	`env -i PATH=$PATH bmad-mcp approve`,
	`time bmad-mcp confirm`,
	`timeout 5 bmad-mcp confirm`,
	`nohup bmad-mcp confirm &`,
	`sudo -u me bmad-mcp confirm`,
	`nice -n 5 bmad-mcp confirm`,
	`exec bmad-mcp confirm`,
	`command bmad-mcp confirm`,
	`eval "bmad-mcp confirm"`,
	`eval bmad-mcp confirm`,
	`if true; then bmad-mcp confirm; fi`,
	`while ! bmad-mcp confirm; do sleep 1; done`,
	`! bmad-mcp confirm`,
	`echo $(bmad-mcp confirm)`,
	"echo `bmad-mcp confirm`",
	`{ bmad-mcp confirm; }`,
	`(cd p && bmad-mcp confirm)`,
	`echo confirm | xargs bmad-mcp`,
	`echo build-a-clock | xargs -n1 bmad-mcp task confirm`,
	`find . -maxdepth 0 -exec bmad-mcp confirm \;`,
	`npx bmad-mcp confirm`,
	`npx -y bmad-mcp@latest confirm`,
	`go run ./cmd/bmad-mcp confirm`,
	`cd cmd/bmad-mcp && go run . confirm`,
	`c=confirm; bmad-mcp $c`,
	`b=bmad-mcp; $b confirm`,
	`b=bmad; $b-mcp confirm`,
	`BIN=$(which bmad-mcp); "$BIN" task confirm`,
	`$(printf bmad-mcp) confirm`,
	`alias b='bmad-mcp confirm'; b`,
	`f() { bmad-mcp "$@"; }; f confirm`,
	`bmad-mcp {confirm,}`,
	`bm*-mcp confirm bmad-x`,
	`bmad-mcp <<< '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bmad-task","arguments":{"action":"confirm","confirmed":true}}}'`,
	`echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bmad-task","arguments":{"action":"approve"}}}' | bmad-mcp`,
	"bmad-mcp <<'EOF'\n{\"action\":\"confirm\"}\nEOF",
	`curl -s localhost:7777/mcp -d '{"method":"tools/call","params":{"name":"bmad-task","arguments":{"action":"confirm"}}}'`,
	`python3 -c "import subprocess; subprocess.run(['bmad-mcp','confirm'])"`,
	`node -e 'require("child_process").execSync("bmad-mcp confirm")'`,
	`perl -e 'system("bmad-mcp", "approve")'`,
	`script -qc "bmad-mcp confirm" /dev/null`,
	`expect -c 'spawn bmad-mcp confirm; send "y\r"; interact'`,
	`tmux send-keys 'bmad-mcp confirm' Enter`,
	`ssh localhost bmad-mcp confirm`,
	`docker exec box bmad-mcp task approve`,
	`yes | bmad-mcp confirm`,
	"cat <<EOF | sh\nbmad-mcp confirm\nEOF",
	"echo 'bmad-mcp confirm' > x.sh; sh x.sh",
	"printf 'bmad-mcp confirm' | bash",
	`echo '{"hook_event_name":"UserPromptExpansion","command_name":"bmad:confirm"}' | bmad-mcp hook claude-code`,
	`cp $(which bmad-mcp) /tmp/x && /tmp/x confirm`,
	`trap 'bmad-mcp confirm' EXIT`,
	`case x in x) bmad-mcp confirm;; esac`,
	`for a in confirm; do bmad-mcp task $a; done`,
	`cmd /c "bmad-mcp confirm"`,
	`powershell -Command "bmad-mcp confirm"`,
	`git -c alias.x='!bmad-mcp confirm' x`,
	`claude -p "confirm the gate" --mcp-config bmad.json`,
	`/opt/tools/bm confirm`,
	`bmad-mcp task "$ACTION"`,
	`bmad-mcp confirm 'unfinished`,
}

// seen are commands by which the program is run under a name, or with a word, that a shell puts in.
var seen = []string{
	`bm?d-mcp confirm`, `/usr/local/bin/bm[a]d-mcp approve`, `b=bmad-mcp; $b confirm`, `bmad-mcp c?nfirm`, `bmad-mcp confirm --feedback --help --yes`,
}

// unseen are commands that decide, which the hook does not see: they name neither the program nor a decision.
var unseen = []string{`echo mrifnoc pcm-damb | rev | sh`, `b{mad,}-mcp confirm`, `bmad-mcp < calls.jsonl`, `sh confirm.sh`}

// free are commands that decide nothing, though some speak of it.
var free = []string{
	`bmad-mcp task status`,
	`bmad-mcp task status build-a-clock --json`,
	`bmad-mcp task resume`,
	`bmad-mcp show`,
	`bmad-mcp show confirm`,
	`bmad-mcp log --verify`,
	`bmad-mcp --cwd /p log approve-the-plan`,
	`bmad-mcp doctor`,
	`bmad-mcp doctor --fix`,
	`bmad-mcp status --all --json | jq -r '.sessions[].task_name'`,
	`bmad-mcp audit .claude/specs/confirm-dialog/01-product-requirements.md`,
	`bmad-mcp diff build-a-clock --stage po`,
	`bmad-mcp method search "confirm"`,
	`bmad-mcp method list agents`,
	`bmad-mcp --version && bmad-mcp --help`,
	`bmad-mcp confirm --help`,
	`bmad-mcp task --help`,
	`bmad-mcp help confirm`,
	`bmad-mcp allow --list`,
	`bmad-mcp task start "Build a dialog to confirm orders"`,
	`bmad-mcp task submit build-a-clock --stage po --claude-result-path .bmad-task/work/confirm-flow/po.md`,
	`bmad-mcp graph`,
	`timeout 5 bmad-mcp task status`,
	`env X=1 bmad-mcp doctor`,
	`sh -c 'bmad-mcp task status'`,
	`if bmad-mcp doctor; then echo ok; fi`,
	`for t in $(bmad-mcp status --all --json | jq -r .id); do bmad-mcp show "$t"; done`,
	`echo "$(bmad-mcp --version)"`,
	`which bmad-mcp && ls -l "$(which bmad-mcp)"`,
	`command -v bmad-mcp`,
	`grep -rn 'bmad-mcp confirm' docs`,
	`git commit -m 'bmad-mcp: confirm gates'`,
	`git log --grep='bmad-mcp confirm' --oneline`,
	`gh pr create --title "bmad-mcp confirm" --body "approve it"`,
	`cat .bmad-task/session-*.json | jq .current_state`,
	`jq . .bmad-task/work/confirm/po.md`,
	`cd ~/src/bmad-mcp && go test ./internal/claudehook -run TestConfirm`,
	`go build -o bmad-mcp ./cmd/bmad-mcp`,
	`go vet ./cmd/bmad-mcp`,
	`npm test -- --grep "confirm dialog"`,
	`npm run confirm`,
	`make test && git commit -m "bmad-mcp: reject bad names"`,
	`rg -n "approve" internal/ | head`,
	`ps aux | grep bmad-mcp`,
	`pkill bmad-mcp`,
	`npx prettier --write .bmad-task/work/confirm-flow/po.md`,
	`find . -name 'confirm*.go' | xargs wc -l`,
	`echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' | bmad-mcp`,
	`bmad-mcp < /dev/null`,
	`python3 -m pytest -k confirm`,
	`docker compose up -d && curl -s localhost:8080/approve`,
	`ls .bmad-core && cat .bmad-core/agents/approve.md`,
	``,
}

func TestShell(t *testing.T) {
	turn := handedIn()
	for _, command := range slices.Concat(deciding, seen) {
		if turn.Refuse(bash(command)) == "" {
			t.Errorf("let through: %s", command)
		}
	}
	for _, command := range slices.Concat(free, unseen) {
		if reason := turn.Refuse(bash(command)); reason != "" {
			t.Errorf("held up: %s\n  %s", command, reason)
		}
	}
}

// TestNothing checks that a call that is about nothing of the program has no effect in any turn.
func TestNothing(t *testing.T) {
	said, nothing := hook.Turn{}.After(prompt("1", "confirm")), 0
	for _, command := range slices.Concat(deciding, seen, free, unseen) {
		for _, name := range []string{"PreToolUse", "PostToolUse"} {
			e := bash(command)
			e.Name = name
			if !mention.Nothing(e.Name, e.Tool, e.Input, e.Program) {
				continue
			}
			nothing++
			for _, turn := range []hook.Turn{said, handedIn()} {
				if turn.Refuse(e) != "" || turn.After(e) != turn {
					t.Errorf("%s %s has an effect on %+v", name, command, turn)
				}
			}
		}
	}
	if nothing < len(free) {
		t.Errorf("only %d commands are about nothing", nothing)
	}
	for _, e := range []hook.Event{
		prompt("1", "x"), typed("1", "bmad:confirm"), submitted("1", "null"), calls("1", other, `{}`), {Name: "PostToolUse", Tool: "AskUserQuestion"},
		file("Write", ".bmad-task/session-079dce48.json"), bash(`rm -rf .bmad-task`), bash(`bmad-mcp task submit`),
	} {
		if mention.Nothing(e.Name, e.Tool, e.Input, e.Program) {
			t.Errorf("about nothing: %+v", e)
		}
	}
	if e := file("Write", "a.go"); !mention.Nothing(e.Name, e.Tool, e.Input, "") {
		t.Error("another file is about the program")
	}
}

// TestShellSubmits checks that a draft that a command hands in counts as handed in.
func TestShellSubmits(t *testing.T) {
	turn := hook.Turn{}.After(prompt("1", "build it"))
	after := bash(`bmad-mcp task submit x --stage po --claude-result-path po.md`)
	after.Name = "PostToolUse"
	if turn = turn.After(after); turn.Refuse(bash(`bmad-mcp task confirm x`)) == "" || turn.Refuse(calls("1", task, `{"action":"confirm","confirmed":true}`)) == "" {
		t.Error("a draft that was handed in by a command is confirmed in the same turn")
	}
	if (hook.Turn{}).After(prompt("1", "confirm")).After(after).Refuse(bash(`bmad-mcp task confirm x`)) != "" {
		t.Error("the person has said so")
	}
}

func file(tool, path string) hook.Event {
	key := "file_path"
	if tool == "NotebookEdit" {
		key = "notebook_path"
	}
	input, _ := json.Marshal(map[string]string{key: path, "content": "{}"})
	return hook.Event{Name: "PreToolUse", PromptID: "1", Tool: tool, Input: input}
}

// TestRecordsAreKept checks that only the program writes its records, even if the person has ordered
// a decision.
func TestRecordsAreKept(t *testing.T) {
	const session = ".bmad-task/session-079dce48-48fa-42c2-9c33-5cb3b22b326b.json"
	said := hook.Turn{}.After(prompt("1", "confirm"))
	for _, turn := range []hook.Turn{{}, said, handedIn()} {
		for _, e := range []hook.Event{
			file("Edit", session), file("Write", "/home/me/project/"+session), file("MultiEdit", "./"+session), file("NotebookEdit", session),
			file("Write", ".bmad-task/task-mapping.json"), file("Write", ".bmad-task/names/x"), file("Edit", ".bmad-task/temp/x/po_1.md"),
			file("Write", ".bmad-task/work/../session-079dce48.json"), file("Write", `C:\p\.bmad-task\session-079dce48.json`), file("Edit", ".BMAD-TASK/locks/x"),
			file("Write", "/home/me/.local/state/bmad-mcp/typed/x.json"),
			bash(`echo '{}' > ` + session), bash(`cat x >> "` + session + `"`), bash(`jq '.current_state="completed"' s.json > ` + session),
			bash(`sed -i 's/generating/completed/' ` + session), bash(`jq . x | tee ` + session), bash(`cp x.json ` + session), bash(`mv x.json ` + session),
			bash(`rm ` + session), bash(`rm -rf .bmad-task`), bash(`cd .bmad-task && echo x > session-079dce48-48fa-42c2-9c33-5cb3b22b326b.json`),
			bash(`python3 -c "open('` + session + `','w').write('{}')"`), bash(`truncate -s 0 .bmad-task/task-mapping.json`), bash(`ln -sf /tmp/x ` + session),
			bash(`sh -c 'echo {} > ` + session + `'`), bash(`dd if=x of=` + session), bash(`find .bmad-task -name 'session-*' -delete`),
			bash(`git checkout HEAD~1 -- ` + session), bash(`f=` + session + `; sed -i s/a/b/ .bmad-task/session-*.json`), bash(`perl -pi -e 's/a/b/' ` + session),
			bash(`echo x > ~/.local/state/bmad-mcp/trust/key`), bash(`cp new.json .bmad*/ses*`), bash(`cd .bmad*; cp ../new.json ses*`),
			bash(`sort -o ` + session + ` x`), bash(`uniq x ` + session), bash(`xxd -r x ` + session), bash(`less -O ` + session + ` x`),
			bash(`tree -o ` + session), bash(`cp -t .bmad-task x`), bash(`cp --target-directory=.bmad-task x`),
			bash(`for f in .bmad*/ses*; do cp new.json $f; done`), bash(`cat new.json > $(ls -d .b*/ses*)`),
		} {
			if turn.Refuse(e) == "" {
				t.Errorf("%+v: let through %s %s", turn, e.Tool, e.Input)
			}
		}
		for _, e := range []hook.Event{
			file("Edit", ".bmad-task/work/build-a-clock/po.md"), file("Write", "/p/.bmad-task/work/x/architect.md"), file("Write", "internal/session-store.json"),
			file("Edit", ".claude/specs/x/01-product-requirements.md"), file("Write", "docs/bmad-task.md"), file("Edit", "src/session.json"), file("Write", ""),
			bash(`cat ` + session), bash(`jq . ` + session + ` | head -20`), bash(`grep -c stage .bmad-task/session-*.json`), bash(`ls -la .bmad-task`),
			bash(`echo '# PRD' > .bmad-task/work/x/po.md`), bash(`sed -i 's/a/b/' .bmad-task/work/x/po.md`), bash(`cp ` + session + ` /tmp/backup.json`),
			bash(`git status .bmad-task`), bash(`sort .bmad-task/names/x`), bash(`uniq -c ` + session), bash(`xxd ` + session + ` | head`), bash(`grep -o stage ` + session),
			bash(`diff ` + session + ` old.json`), bash(`jq .current_state ` + session + ` > /tmp/state`), bash(`rm -rf .bmad-task/work/old`),
			bash(`echo 2>/dev/null; wc -l .bmad-task/names/x`), bash(`echo session > sessions.txt`),
		} {
			if reason := turn.Refuse(e); reason != "" {
				t.Errorf("%+v: held up %s %s: %s", turn, e.Tool, e.Input, reason)
			}
		}
	}
}
