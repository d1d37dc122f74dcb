# shellcheck shell=bash
# Part of .ci/package: the packages for npm, one with the launcher and one for each system.

step "npm packages"
if [ "$have_npm" = yes ]; then
  mkdir -p "$work/npm/bmad-mcp" "$out/npm"
  "$parcel" fill packaging/npm/package.json.tmpl "$work/npm/bmad-mcp/package.json" - version="$version" mcp="$mcp" home="$home"
  cp packaging/npm/launch.js packaging/npm/README.md LICENSE "$work/papers/THIRD_PARTY_LICENSES" "$work/npm/bmad-mcp/"
  for target in $targets; do
    os=${target%/*} cpu=${target#*/} file=bmad-mcp
    case $os in windows) os=win32 file=bmad-mcp.exe ;; esac
    case $cpu in amd64) cpu=x64 ;; esac
    folder=$work/npm/$os-$cpu
    mkdir -p "$folder/bin"
    "$parcel" fill packaging/npm/platform.json.tmpl "$folder/package.json" - version="$version" home="$home" os="$os" cpu="$cpu"
    cp LICENSE "$work/papers/THIRD_PARTY_LICENSES" "$folder/"
    ln "$work"/programs/bmad-mcp-"${target%/*}-${target#*/}"* "$folder/bin/$file"
  done
  for folder in "$work"/npm/*/; do
    (cd "$out/npm" && npm pack --silent "$folder")
  done
  for file in "$out"/npm/*.tgz; do at_most "$file" "$max_npm"; done

  step "npm installs them, and they work"
  node_os=$(node -p process.platform) node_cpu=$(node -p process.arch)
  prefix=$work/prefix
  node .ci/packages/registry.js "$out/npm" >"$work/npm.port" &
  started=$!
  for _ in $(seq 100); do
    [ ! -s "$work/npm.port" ] || break
    sleep 0.1
  done
  began=$SECONDS
  # Scripts are forbidden: there are none.
  npm install --silent --ignore-scripts --cache "$work/cache" --registry "http://127.0.0.1:$(cat "$work/npm.port")/" --global --prefix "$prefix" bmad-mcp >/dev/null
  echo "installed in $((SECONDS - began)) s: $(cd "$prefix" && find . -path '*@bmad-mcp/*' -name package.json)"
  kill "$started"
  started=
  program=$prefix/bin/bmad-mcp
  [[ $("$program" version) == "bmad-mcp $version "* ]] || fail "it does not start"
  answer=$(printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"package","version":"0"}}}' |
    (cd "$work" && XDG_STATE_HOME=$work/state "$program" 2>/dev/null))
  [[ $answer == *'"serverInfo":{"name":"bmad-mcp","version":"'"$version"'"'* ]] || fail "it does not answer: $answer"
  code=0
  "$program" nonsense >/dev/null 2>&1 || code=$?
  [ "$code" = 2 ] || fail "the launcher ends with $code, not with the program's 2"
  # A signal for the launcher reaches the program.
  (cd "$work" && XDG_STATE_HOME=$work/state exec "$program" serve --http 127.0.0.1:0) 2>"$work/npm.log" &
  started=$!
  address=$(await 's/.*running on \(http:\/\/[^/,]*\).*/\1/p' "$work/npm.log")
  answers() { node -e 'fetch(process.argv[1] + "/healthz").then(() => process.exit(0), () => process.exit(1))' "$address"; }
  answers || fail "the server does not answer: $(cat "$work/npm.log")"
  kill "$started"
  wait "$started" || fail "the launcher ends with $?: $(cat "$work/npm.log")"
  started=
  if answers; then fail "the program goes on without its launcher"; fi
  # What hosts start is the program, not its launcher.
  mkdir -p "$work/home/.cursor"
  (cd "$work" && HOME=$work/home PATH=$prefix/bin:$PATH XDG_STATE_HOME=$work/state "$program" install cursor >"$work/said") || fail "$(cat "$work/said")"
  started_by=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).mcpServers.bmad.command' "$work/home/.cursor/mcp.json")
  echo "hosts start ${started_by#"$work"/}"
  [[ $started_by == "$prefix"/*/@bmad-mcp/"$node_os-$node_cpu"/bin/bmad-mcp ]] || fail "install writes $started_by"
  cmp "$started_by" "$own"
  [[ $("$program" upgrade) == *"npm install -g bmad-mcp@latest"* ]] || fail "upgrade does not know npm: $("$program" upgrade)"
  # Without a program for this machine there are words.
  if node -e 'Object.defineProperty(process, "platform", { value: "sunos" }); require(process.argv[1])' "$prefix/lib/node_modules/bmad-mcp/launch.js" 2>"$work/said"; then
    fail "it starts on another system"
  fi
  grep -q "there is no program for sunos-$node_cpu, only for darwin-arm64, " "$work/said" || fail "$(cat "$work/said")"
  rm -rf "$prefix"/lib/node_modules/@bmad-mcp "$prefix"/lib/node_modules/bmad-mcp/node_modules
  if "$program" version 2>"$work/said"; then fail "it starts without its program"; fi
  grep -q 'is missing: install again' "$work/said" || fail "$(cat "$work/said")"
  rm -rf "$prefix" "$work/cache" "$work/npm"
else
  echo "skipped: $why"
fi
