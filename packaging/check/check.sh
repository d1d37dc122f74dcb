#!/usr/bin/env bash
# Runs bmad-mcp check in a workflow of GitHub, and tells what it finds: as annotations of files, as the summary of the
# job, and in one comment on the pull request, which later runs replace. It needs git, jq and curl. Nothing of the
# repository is run, and the token is for the comment alone.
# Exit codes are those of bmad-mcp check: 0, 1 for findings, 2 if it cannot be said.
set -euo pipefail

token=${CHECK_TOKEN:-}
unset CHECK_TOKEN
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mark='<!-- bmad-mcp check -->'

install() {
  command -v bmad-mcp >/dev/null && return
  local version=()
  [ -z "${CHECK_VERSION:-}" ] || version=(--version "$CHECK_VERSION")
  sh "$GITHUB_ACTION_PATH/../install.sh" --prefix "$work/program" ${version[@]+"${version[@]}"} >&2
  PATH=$work/program/bin:$PATH
}

# fetch brings what a clone of a workflow lacks: the first commit, and the base branch.
fetch() {
  if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
    git fetch --quiet --no-tags --unshallow origin || true # the check says what is missing
  fi
  case $base in
    refs/remotes/origin/*) git fetch --quiet --no-tags origin "+refs/heads/${base#refs/remotes/origin/}:$base" || true ;;
  esac
}

# what the jq programs share: texts of a repository, as parts of a command of the workflow and of Markdown
texts='
  def data: gsub("%"; "%25") | gsub("\r"; "%0D") | gsub("\n"; "%0A");
  def property: data | gsub(":"; "%3A") | gsub(","; "%2C");
  def at: if $folder == "." then . else $folder + "/" + . end;
  def markdown: gsub("(?<c>[\\\\`*_{}\\[\\]<>|~#&$])"; "\\\(.c)") | gsub("://"; "\\://") | gsub("@"; "@&#8203;");
'
annotations=$texts'
  def tell($kind): "::\($kind) file=\(.path | at | property),title=bmad-mcp check (\(.rule | property))::\(.what + " → " + .do | data)";
  if .runs == null then "::error title=bmad-mcp check::\(.error + (if .hint then " → " + .hint else "" end) | data)" else
  (.runs[] | (.findings[] | tell("error")), (.notes[] | tell(if $strict == "true" then "error" else "notice" end))),
  (.notes[] | tell(if $strict == "true" then "error" else "warning" end)) end
'
summary=$texts'
  def row: "| \(if .ok then "✓" else "✗" end) \(.task | markdown) | \(if .finished then "finished" else "in work" end) | \(.documents) | \(.people | map(markdown) | join(", ")) | \(.risks | length) |";
  def line: "- \(.path | at | markdown): \(.what | markdown) → \(.do | markdown)";
  def part($title; $lines): if ($lines | length) == 0 then empty else "\n**\($title)**\n", $lines[] end;
  if .runs == null then "bmad-mcp check cannot say: \(.error | markdown)" + (if .hint then "\n\nWhat to do: \(.hint | markdown)" else "" end)
  elif (.runs | length) == 0 then "bmad-mcp check: no run in this repository."
  else
    "### bmad-mcp check: \(if .ok then "every decision holds" else "there are findings" end)\n",
    "Signers and rules are those of \(.base | markdown) (\(.base_commit[:12])).\n",
    "| Run | State | Documents | Approved by | Accepted risks |", "|---|---|---|---|---|", (.runs[:50][] | row),
    (if (.runs | length) > 50 then "\nand \((.runs | length) - 50) more runs" else empty end),
    part("Findings"; [.runs[].findings[] | line][:50]),
    part("Accepted risks"; [.runs[] | .task as $task | .risks[] | "- \($task | markdown), \(.stage | markdown): \(.verdict // "below its gate" | markdown), by \(.subject | markdown)"][:50]),
    part("Notes"; [(.runs[].notes[], .notes[]) | line][:50])
  end
'

# call METHOD PATH [BODY] asks the API, prints what it says into $work/answer, and fails if it refuses.
call() {
  local args=(--silent --show-error --max-time 30 --output "$work/answer" --write-out '%{http_code}' --request "$1"
    --header @"$work/header" --header 'Accept: application/vnd.github+json')
  [ $# -lt 3 ] || args+=(--data-binary "@$3")
  local code
  code=$(curl "${args[@]}" "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/$2" 2>"$work/said") || code=0
  case $code in
    2??) return 0 ;;
    *) return 1 ;;
  esac
}

# comment writes the summary into the comment of the last run, or a new one.
comment() {
  local number page id=
  number=$(jq -r '.pull_request.number // empty' "${GITHUB_EVENT_PATH:-/dev/null}" 2>/dev/null || true)
  [ "${CHECK_COMMENT:-true}" = true ] && [ -n "$token" ] && [ -n "$number" ] || return 0
  (umask 077 && printf 'Authorization: Bearer %s\n' "$token" >"$work/header")
  for page in 1 2 3 4 5 6 7 8 9 10; do
    call GET "issues/$number/comments?per_page=100&page=$page" || break
    id=$(jq -r --arg mark "$mark" '[.[] | select((.body | startswith($mark)) and .user.type == "Bot")][0].id // empty' "$work/answer")
    [ -z "$id" ] && [ "$(jq length "$work/answer")" -eq 100 ] || break
  done
  jq -n --arg mark "$mark" --rawfile text "$work/summary" '{body: ($mark + "\n" + $text[:60000])}' >"$work/body"
  if [ -n "$id" ]; then
    call PATCH "issues/comments/$id" "$work/body" && return
  else
    call POST "issues/$number/comments" "$work/body" && return
  fi
  echo "::notice title=bmad-mcp check::There is no comment on the pull request: the token may not write one, as in workflows of forks. The summary of the job has the same."
}

install
base=${CHECK_BASE:-}
[ -n "$base" ] || base=refs/remotes/origin/${GITHUB_BASE_REF:-$GITHUB_REF_NAME} # in full: a tag can have the name origin/main
folder=${CHECK_FOLDER:-.}
cd "$GITHUB_WORKSPACE"
fetch
strict=()
[ "${CHECK_STRICT:-false}" != true ] || strict=(--strict)
code=0
BMAD_LANGUAGE=en bmad-mcp check --cwd "$folder" --base "$base" --json ${strict[@]+"${strict[@]}"} >"$work/found" || code=$?
if ! jq -e type "$work/found" >/dev/null 2>&1; then # a program that does not know the command
  echo "::error title=bmad-mcp check::bmad-mcp check ended with $code and no result"
  exit 2
fi
jq -r --arg folder "$folder" --arg strict "${CHECK_STRICT:-false}" "$annotations" "$work/found"
jq -r --arg folder "$folder" "$summary" "$work/found" >"$work/summary"
cat "$work/summary" >>"$GITHUB_STEP_SUMMARY"
comment
exit "$code"
