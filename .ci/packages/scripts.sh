# shellcheck shell=bash
# Part of .ci/package: the scripts of the release, read by tools for their languages, and one run.

step "install.sh installs this release"
# What it does when something is wrong: go test ./packaging
if [ "$host_os" != windows ] && command -v curl >/dev/null; then
  mkdir "$work/nobody"
  HOME=$work/nobody sh "$out/install.sh" --from "file://$out" 2>&1
  [[ $("$work/nobody/.local/bin/bmad-mcp" upgrade) == *"install.sh"* ]] || fail "upgrade does not know the script: $("$work/nobody/.local/bin/bmad-mcp" upgrade)"
else
  echo "skipped: no curl here"
fi

step "scripts are read by other tools"
sh -n packaging/mcpb/launch.sh
sh -n packaging/install.sh
if command -v shellcheck >/dev/null; then
  shellcheck packaging/mcpb/launch.sh packaging/install.sh
  shellcheck -x .ci/package .ci/publish .ci/build
else
  echo "not looked at by shellcheck: it is not installed"
fi
if [ "$have_npm" = yes ]; then
  mkdir "$work/powershell"
  (cd "$work/powershell" && npm install --silent --no-save --ignore-scripts "$powershell" "$tree_sitter" >/dev/null)
  cat >"$work/powershell/parse.js" <<'JS'
const { Parser, Language } = require("web-tree-sitter");
(async () => {
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(require.resolve("tree-sitter-powershell/tree-sitter-powershell.wasm")));
  const wrong = [];
  (function walk(node) {
    if (node.isError || node.isMissing) wrong.push(`line ${node.startPosition.row + 1}: ${node.text.slice(0, 80)}`);
    node.children.forEach(walk);
  })(parser.parse(require("fs").readFileSync(process.argv[2], "utf8")).rootNode);
  console.log(wrong.join("\n") || "install.ps1 parses");
  process.exit(wrong.length ? 1 : 0);
})();
JS
  node "$work/powershell/parse.js" "$out/install.ps1"
else
  echo "install.ps1 is not parsed: $why"
fi
