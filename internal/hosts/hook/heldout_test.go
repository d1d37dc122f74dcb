package hook_test

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts/hook"
)

// These commands were written after the rules, by somebody who did not look at them.
var (
	laterDeciding = []string{
		`stdbuf -oL bmad-mcp confirm`, `setsid bmad-mcp task approve t`, `FOO="a b" BAR=c bmad-mcp reject t`, `cd "$HOME/p" ; bmad-mcp confirm t --json`,
		`test -f x && bmad-mcp confirm || true`, `bmad-mcp confirm & wait`, `bmad-mcp task   confirm`, `bmad-mcp --json confirm t`, `/usr/bin/env bmad-mcp confirm`,
		`bash <<'X'
bmad-mcp confirm
X`, `bash < <(echo bmad-mcp confirm)`, `source <(echo 'bmad-mcp approve')`, `echo "bmad-mcp confirm" | tee /dev/stderr | sh`, `sh -c "$(echo bmad-mcp confirm)"`,
		`ruby -e 'system "bmad-mcp confirm"'`, `a=(bmad-mcp confirm); "${a[@]}"`, `printf '%s\n' confirm | while read x; do bmad-mcp task $x; done`, `parallel bmad-mcp task ::: confirm`,
		`until bmad-mcp approve; do :; done`, `coproc bmad-mcp confirm`, `bmad-mcp ''confirm`, `$'bmad-mcp' confirm`, `bmad-mcp $'\x63onfirm'`, `pnpm dlx bmad-mcp approve`,
		`jq -nc '{jsonrpc:"2.0",id:1,method:"tools/call",params:{name:"bmad-task",arguments:{action:"confirm"}}}' | bmad-mcp serve`, `bmad-mcp confirm #just a look`, `nice bash -c 'cd p; exec bmad-mcp confirm'`,
		`"$(printf '%b' '\0142mad-mcp')" confirm`, `a=$'\u0062'; ${a}mad-mcp confirm`, `x=zbmad; for i in 1; do ${x:$i}-mcp confirm; done`, `eval 'b''mad-mcp' con'firm'`, `declare -a w=(bm?d-mcp confirm); "${w[@]}"`, `echo "confirm" | xargs -I{} b{mad,}-mcp {}`,
		`sh <<< "$(printf mrifnoc | rev)"`, `zsh -c "b[m]ad-mcp approve"`, `openssl enc -d -base64 <<< Ym1hZC1tY3A= | sh`, `gunzip -c <<< xx | bash -x`, `cut -c2- <<< 'xbmad-mcp confirm' | sh`, `sed 's/x/b/' <<< 'xmad-mcp confirm' | bash`, `awk 'BEGIN{print "b" "mad-mcp confirm"}' | sh`, `awk 'BEGIN{printf "%c", 98}' | sh`,
		`php -r 'system(strrev("mrifnoc pcm-damb"));'`, `lua -e 'os.execute(("mrifnoc pcm-damb"):reverse())'`, `python3 -c 'import os;os.execvp("bmad"+"-mcp",["x","confirm"])'`, `perl -MMIME::Base64 -e 'system(decode_base64("Ym1hZA=="))'`, `deno eval 'new Deno.Command("bmad"+"-mcp",{args:["confirm"]}).output()'`,
		`sudo -u me -- bash -lc $'bmad\x2dmcp approve'`, `find / -name 'bmad-mcp' -exec {} confirm \;`, `ls /usr/local/bin/bm* | xargs -I{} {} confirm`, `b=/usr/local/bin; $b/bmad* confirm`, `cd /usr/local/bin && ./b[a-z]ad-mcp confirm`, `ln -s $(which bmad-mcp) /tmp/q; /tmp/q confirm`, `[ -x x ] || bm?d-mcp confirm`,
		`f() { local p=bmad-; "${p}mcp" "$1"; }; f confirm`, `select x in bmad-mcp; do $x confirm; done`, `case bmad in *) x=bmad;; esac; "$x-mcp" confirm`, `bmad-mcp serve --http :9 & nc localhost 9 < req`, `while read -r a b; do "$a" "$b"; done <<< "$(rev <<< 'mrifnoc pcm-damb')"`,
		`printf 'y\n' | script -q /dev/null bmad-mcp confirm`, `at now <<< "bmad-mcp confirm"`, `mkfifo p; bmad-mcp < p & echo confirm > p`,
	}
	laterFree = []string{
		`bmad-mcp show t --stage po | less`, `bmad-mcp log t | grep confirm`, `watch -n1 bmad-mcp task status`, `nohup bmad-mcp serve --http 127.0.0.1:7777 > /tmp/log 2>&1 &`, `cat packaging/claude-plugin/commands/confirm.md`,
		`git diff -- internal/cli/gate.go && git add -A && git commit -m "bmad-mcp approve: say why"`, `bmad-mcp audit docs/prd.md --stage po --format sarif > out.sarif`, `go test ./... 2>&1 | tail -5`, `sed -n 1,20p README.md`, `bmad-mcp sessions || true`,
		`echo "done, now type /bmad:confirm"`, `mkdir -p .bmad-task/work/x && cp draft.md .bmad-task/work/x/po.md`, `time bmad-mcp doctor`, `bmad-mcp task status "$TASK"`, `test -x ./bmad-mcp && ./bmad-mcp version`, `bmad-mcp uninstall --dry-run`,
		`for p in 3000 3001; do lsof -ti:$p | xargs -r kill; done`, `docker ps --format '{{.Names}}' | grep confirm`, `kubectl exec deploy/api -- sh -c 'env | sort'`, `n=$(grep -c approve a.txt); if [ "$n" -gt 3 ]; then echo many; fi`, `source .env && node server.js`, `poetry run python -m app.cancel`, `uv run pytest -k 'answer or accept'`,
		`go test -run=^$ -bench=. ./... | tee bench.txt`, `sed -E 's/(.*)e$/\1/' words.txt`, `curl -s https://api.example.com/x | python3 -c "import json,sys; print(json.load(sys.stdin))"`, `tar cf - src | ssh host 'tar xf - -C /srv'`, `CGO_ENABLED=0 GOOS=linux go build -o bin/app-$(git rev-parse --short HEAD) ./cmd/app`, `make -n install | head`,
		`jq -r '.[] | @base64' a.json | while read -r row; do echo "$row" | base64 -d | jq .id; done`, `npx cypress run --spec 'cypress/e2e/{confirm,cancel}.cy.ts'`, `cp src/{a,b}.ts dist/`, `mkdir -p a/{b,c}/{d,e}`, `echo $((1+2)) ${HOME##*/}`, `psql -f migrations/$(date +%Y)_approve.sql`, `adb logcat | grep -i confirm & sleep 5; kill $!`, `bash -n scripts/*.sh`, `eslint . || true; prettier -c "**/*.md"`,
		`PORT=$(python3 -c 'import socket; s=socket.socket(); s.bind(("",0)); print(s.getsockname()[1])'); PORT=$PORT npm start &`, `env FOO=1 node -p process.version`, `xargs -a files.txt gofmt -l`, `git grep -n approve $(git merge-base main HEAD) | head`, `node -e 'const {execSync}=require("child_process"); console.log(execSync("git log -1")+"")'`,
		`git show HEAD:internal/claudehook/hook.go | grep -n approve`, `head -5 .bmad-task/session-*.json`, `find . -path ./.bmad-task -prune -o -name '*.go' -print`, `npm ci && npm test`,
	}
	laterOrders = []string{
		"Confirm the architecture please", "yes, approve the sprint plan", "approve it, thanks", "ok confirm and continue", "I accept the risk", "Sure, confirm.", "fine, accept it", "nice work! approve", "approve the qa report", "draft it and then confirm it",
		"Alright, confirm the document.", "just confirm it", "confirm this version", "ship it, approve", "Please approve the design and proceed", "好，批准", "就确认吧", "帮我确认", "确认需求文档", "行，同意", "批准，开始开发", "没问题，通过",
	}
	laterDescriptions = []string{
		"Accept invitations automatically", "Approve buttons should be green", "Users confirm orders, then approve payments", "make it so admins approve it", "implement confirm and cancel", "please add a step to approve the plan", "confirm with the customer first",
		"build a page to approve it", "approve PRs on GitHub with a bot", "If it is fine then approve it", "after review approve it", "the plan: write it, then confirm it with the team", "test that confirm works", "accept only PDFs", "Confirm password field missing", "write tests for approve",
		"rename the plan to approve it faster", "don't forget to let people approve", "nobody approved it yet", "is it confirmed?", "审批通过后通知申请人", "确认页面太慢", "批准按钮改成绿色", "当用户同意条款时继续", "测试通过了", "做完后让经理批准", "确认一下依赖版本是否正确", "同意的话我会告诉你",
		"log:\n> approve the plan\nwhat is this?", "accept any certificate",
	}
)

func TestLaterOnes(t *testing.T) {
	turn := handedIn()
	for list, want := range map[*[]string]bool{&laterDeciding: true, &laterFree: false} {
		for _, command := range *list {
			if got := turn.Refuse(bash(command)) != ""; got != want {
				t.Errorf("%s: held up %v, want %v", command, got, want)
			}
		}
	}
	for list, want := range map[*[]string]bool{&laterOrders: true, &laterDescriptions: false} {
		for _, text := range *list {
			turn := hook.Turn{}.After(prompt("1", text))
			if got := turn.Said || turn.Always; got != want {
				t.Errorf("%q: order %v, want %v", text, got, want)
			}
		}
	}
}
