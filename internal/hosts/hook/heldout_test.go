package hook_test

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts/hook"
)

// These commands and prompts were written after the rules, by somebody who did not look at them.
var (
	laterFree = []string{
		`bmad-mcp show t --stage po | less`, `bmad-mcp log t | grep confirm`, `watch -n1 bmad-mcp task status`, `nohup bmad-mcp serve --http 127.0.0.1:7777 > /tmp/log 2>&1 &`, `cat packaging/claude-plugin/commands/confirm.md`,
		`git diff -- internal/cli/gate.go && git add -A && git commit -m "bmad-mcp approve: say why"`, `bmad-mcp audit docs/prd.md --stage po --format sarif > out.sarif`, `go test ./... 2>&1 | tail -5`, `sed -n 1,20p README.md`, `bmad-mcp status --all || true`,
		`echo "done"`, `mkdir -p .bmad-task/work/x && cp draft.md .bmad-task/work/x/po.md`, `time bmad-mcp doctor`, `bmad-mcp task status "$TASK"`, `test -x ./bmad-mcp && ./bmad-mcp --version`, `bmad-mcp uninstall --dry-run`,
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
	for _, command := range laterFree {
		if turn.Refuse(bash(command)) != "" {
			t.Errorf("held up: %s", command)
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
