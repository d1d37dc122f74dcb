package hook_test

import (
	"testing"
)

// ordinary are commands of a developer's day; none decides anything.
var ordinary = []string{
	`go build ./...`, `go test ./... -run 'TestConfirm|TestApprove' -count=1 -v 2>&1 | tail -40`, `go vet ./... && gofmt -l .`, `GOFLAGS=-mod=mod go run ./cmd/server --port 8080 &`, `$(go env GOPATH)/bin/golangci-lint run`,
	`npm ci`, `npm run build && npm test -- --watch=false`, `npx tsc --noEmit`, `npx eslint 'src/**/*.{ts,tsx}' --fix`, `yarn workspace web add zod`, `pnpm -r exec vitest run`, `node scripts/build.mjs --out dist`, `node -e "console.log(require('./package.json').version)"`,
	`python3 -m venv .venv && source .venv/bin/activate && pip install -r requirements.txt`, `.venv/bin/python -m pytest -x -q tests/test_orders.py::test_confirm`, `python3 manage.py migrate && python3 manage.py runserver 0.0.0.0:8000 &`,
	`python3 -c "import json,sys; print(json.load(sys.stdin)['name'])" < package.json`, `python3 -c "import base64; print(base64.b64decode('aGk=').decode())"`, `python3 -c 'import sqlite3; c=sqlite3.connect("a.db"); print(c.execute("select status from approvals").fetchall())'`,
	"python3 - <<'EOF'\nimport re, pathlib\np = pathlib.Path('app/orders.py')\np.write_text(re.sub('pending', 'confirmed', p.read_text()))\nEOF", "cat > app/gate.py <<'EOF'\nimport subprocess\ndef approve():\n    return subprocess.run(['git', 'rev-parse'])\nEOF\npython3 app/gate.py",
	`python3 -c "import subprocess; print(subprocess.check_output(['git','log','-1']).decode())"`, `curl -s localhost:8080/api/orders | jq '.[] | select(.status=="confirmed")'`, `curl -s localhost:8080/healthz | python3 -m json.tool`, `curl -X POST localhost:8080/orders/1/approve -H 'Content-Type: application/json' -d '{"answer":"yes"}'`,
	`curl -fsSL https://example.com/x.tar.gz | tar -xz -C /tmp`, `curl -fsSLo install.sh https://example.com/install.sh && less install.sh`, `wget -q https://example.com/data.csv`, `psql -c "select * from orders where state = 'cancelled'"`, `psql "$DATABASE_URL" < schema.sql`,
	`docker compose up -d --build && docker compose logs -f api | head -50`, `docker run --rm -v "$PWD:/app" -w /app golang:1.26 go test ./...`, `docker exec -it $(docker ps -q | head -1) sh`, `docker run --rm -it -v "$(pwd)":/src node:22 bash -c "cd /src && npm ci && npm test"`, `docker build -t app:$(git rev-parse --short HEAD) .`,
	`kubectl get pods -n "$NS" -o json | jq -r '.items[].metadata.name' | xargs -n1 kubectl logs`, `helm upgrade --install web ./chart -f values.yaml`, `terraform plan -out=tf.plan && terraform show tf.plan`,
	`make`, `make test lint`, `make -j"$(nproc)" build`, `make -C backend run ARGS="--confirm"`, `cmake -S . -B build && cmake --build build -j8 && ctest --test-dir build`, `cargo test confirm -- --nocapture`, `cargo run -- cancel 3`, `./gradlew test --tests '*ApprovalTest'`, `mvn -q -DskipTests package`,
	`bundle exec rspec spec/models/approval_spec.rb`, `bin/rails db:migrate`, `php artisan test --filter=Confirm`, `composer install`, `dotnet test --filter Approve`, `swift test`, `mix test`, `./scripts/build.sh --release`, `bash scripts/deploy.sh staging`, `sh -c 'cd web && npm run build'`, `bash -c "cd $dir && go test ./..."`,
	`for f in $(git diff --name-only | grep '\.go$'); do gofmt -w "$f"; done`, `for i in {1..5}; do curl -s -o /dev/null -w '%{http_code}\n' localhost:8080/; done`, `for i in $(seq 1 10); do go test ./... || break; done`, `for d in services/*; do (cd "$d" && npm test); done`, `for c in "go vet" "go test"; do $c ./...; done`,
	`while ! curl -s localhost:8080/healthz; do sleep 1; done`, `until pg_isready; do sleep 1; done`, `find . -name '*.py' | while read -r f; do python3 -m py_compile "$f"; done`, `find . -name '*.sh' -exec shellcheck {} +`, `find . -name '*.orig' -delete`, `git ls-files | xargs wc -l | sort -n | tail`, `find src -name '*.ts' | xargs sed -i 's/approve/accept/g'`,
	`kill $(lsof -ti:3000)`, `kill $(ps aux | grep '[s]erver' | awk '{print $2}')`, `ps aux | grep node | awk '{print $2}' | xargs kill -9`, `pkill -f vite || true`, `lsof -i :8080`, `export PATH="$HOME/go/bin:$PATH" && which gopls`, `eval "$(ssh-agent -s)" && ssh-add`, `eval "$(direnv export bash)"`, `source <(kubectl completion bash)`,
	`source ~/.nvm/nvm.sh && nvm use 22`, `. "$HOME/.cargo/env" && cargo build`, `. $(dirname "$0")/env.sh`, `VERSION=$(grep '"version"' package.json | cut -d'"' -f4); echo "$VERSION"; git tag "v$VERSION"`, `x=$(mktemp -d) && cp -r src "$x" && (cd "$x" && go build ./...)`, `PY=$(command -v python3 || command -v python); $PY -m pytest`, `$PYTHON -m pip install -e .`, `"$EDITOR" notes.md`,
	`run() { echo "+ $*"; "$@"; }; run go build ./...; run go test ./...`, `test_all() { for p in "$@"; do (cd "$p" && npm test) || return 1; done; }; test_all web api`, `set -euo pipefail; go build ./... | tee build.log`, `git add -A && git commit -m "confirm dialog: approve orders on Enter"`, "git commit -m \"$(cat <<'EOF'\nAdd the approve button\n\nIt asks to confirm.\nEOF\n)\"",
	`git log --oneline -20 | grep -i cancel`, `git diff HEAD~1 -- src/approve.ts | head -100`, `git stash && git checkout main && git pull --rebase`, `git rebase -i HEAD~3`, `git bisect run go test ./...`, `git show HEAD:scripts/x.sh | head`, `gh pr create --title "Approve orders" --body "$(cat body.md)"`, `gh run cancel 123`, `gh api repos/o/r/pulls/1/reviews -f event=APPROVE`,
	`sed -i 's/cancel/abort/' src/*.ts`, `sed -n '/confirm/,/}/p' src/app.ts`, `sed -i "s/version = .*/version = \"$V\"/" pyproject.toml`, `awk -F, '{ if ($3 == "confirmed") n++ } END { print n }' orders.csv`, `awk '{sum += $1} END {print sum/NR}' times.txt`, `grep -rn "approve" src | cut -d: -f1 | sort -u`, `rg -n 'confirm|cancel' --type go`, `jq '.scripts' package.json`, `perl -pi -e 's/foo/bar/g' src/*.c`, `perl -ne 'print if /cancel/' log.txt`,
	`tar czf out.tgz dist`, `unzip -o x.zip -d /tmp/x`, `chmod +x scripts/*.sh && ./scripts/test.sh`, `base64 -w0 logo.png > logo.b64`, `echo "$TOKEN" | base64 -d | jq .`, `openssl rand -base64 24`, `echo hello | tr a-z A-Z`, `date +%s`, `sleep 5; cat server.log`, `timeout 60 npm run e2e -- --grep "confirm order"`, `nohup npm run dev > /tmp/dev.log 2>&1 &`, `watch -n1 'kubectl get pods'`,
	`xcodebuild -scheme App test`, `adb shell am start -n com.x/.Main`, `flutter test`, `redis-cli get order:1`, `mysql -e "update orders set state='approved'"`, `sqlite3 app.db "select count(*) from answers"`, `ssh host 'cd /srv/app && git pull && systemctl restart app'`, `rsync -az dist/ host:/srv/www`, `ssh host 'bash -s' < deploy.sh`, `cat setup.sh | bash`, `sudo apt-get install -y python3 make`, `tmux new -d -s dev 'npm run dev'`,
	`time go test -bench . ./internal/orders`, `strace -f -o /tmp/t ./server`, `perf stat ./bench`, `diff <(sort a.txt) <(sort b.txt)`, `comm -13 <(git branch | cut -c3-) <(ls)`, `cat <<EOF > .env
CONFIRM_URL=http://localhost
EOF`, `printf '%s\n' a b | sort`, `printf 'y\n' | npx create-vite app`, `yes | npx create-react-app x`, `echo y | pip uninstall foo`, `echo 'select 1' | psql`, `cat dump.sql | docker exec -i db psql -U postgres`, `echo "{}" | node scripts/read.js`, `seq 10 | xargs -P4 -I{} sh -c 'echo {}; sleep 1'`, `ls *.json | xargs -I{} jq .name {}`,
	`curl -s localhost:8080/a > a.json && node check.js a.json`, `awk 'NR>1' data.csv > clean.csv && python3 load.py clean.csv`, `openssl req -x509 > cert.pem; ./server`,
	`claude --version`, `bmad-mcp task submit x --stage dev --claude-result-path .bmad-task/work/x/dev.md`, `bmad-mcp status --all --json | python3 -m json.tool`, `bmad-mcp log | awk '{print $1}'`, `for s in po dev; do bmad-mcp show x --stage "$s"; done`, `BIN=$(which bmad-mcp); "$BIN" doctor`, `bmad-mcp serve --http 127.0.0.1:7777 > log 2>&1 &`, `cat .claude/specs/x/01-product-requirements.md | head -40`, `ls $(dirname $(which bmad-mcp))`, `M=$(npm bin); "$M/jest" --ci`,
	`if [ -f go.mod ]; then go test ./...; elif [ -f package.json ]; then npm test; fi`, `case "$(uname)" in Darwin) brew install jq;; *) sudo apt install jq;; esac`, `[[ -n "$CI" ]] && echo ci || echo local`, `(( n = 3 + 4 )); echo $n`, `a=(web api); for s in "${a[@]}"; do npm --prefix "$s" test; done`, `head -c 100 /dev/urandom | xxd`, `xxd -r -p key.hex > key.bin`, `trap 'kill $PID' EXIT; npm start & PID=$!; sleep 2; curl -s localhost:3000`,
	`python3 - <<'EOF'
import subprocess
out = subprocess.run(['go', 'test', './...'], capture_output=True, text=True)
print(out.stdout[-500:])
EOF`, `node --input-type=module -e "import fs from 'fs'; const r=/x/.exec(fs.readFileSync('a','utf8')); console.log(r && r[0].substr(1))"`, `ruby -e 'puts [1,2].reverse.inspect'`, `GIT_EDITOR=true git rebase --continue`, `cp .env.example .env && sed -i "s/SECRET=.*/SECRET=$(openssl rand -hex 16)/" .env`, `export $(grep -v '^#' .env | xargs) && npm start`, `echo "$(date): approve done" >> notes.md`,
}

func TestOrdinary(t *testing.T) {
	turn := handedIn()
	for _, command := range ordinary {
		if reason := turn.Refuse(bash(command)); reason != "" {
			t.Errorf("held up: %s", command)
		}
	}
}
