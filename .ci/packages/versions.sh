# shellcheck shell=bash
# Part of .ci/package: one version everywhere, and the names that are made from the registry's.

step "versions agree with packaging/VERSION"
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "packaging/VERSION holds no version: $version"
agree=yes
for file in packaging/claude-plugin/.claude-plugin/plugin.json packaging/mcpb/manifest.json packaging/server.json; do
  grep -q '"version": *"' "$file" || { echo "$file names no version"; agree=no; }
done
while IFS=: read -r file found; do
  found=${found%\"} found=${found##*\"}
  [ "$found" = "$version" ] || { echo "$file has $found, packaging/VERSION has $version"; agree=no; }
done < <(grep -rEo --include='*.json' '"version": *"[^"]*"' .claude-plugin packaging)
for tag in $(git tag --points-at HEAD 'v[0-9]*' 2>/dev/null || true); do
  [ "$tag" = "v$version" ] || { echo "this commit is tagged $tag, packaging/VERSION has $version"; agree=no; }
done
[ "$agree" = yes ] || fail "raise packaging/VERSION and what has to agree with it together"
echo "$version"

mcp=$(sed -n 's/^  "name": "\(io\.github\..*\)",$/\1/p' packaging/server.json)
[ -n "$mcp" ] || fail "the entry's name is not one of GitHub"
home=https://github.com/${mcp#io.github.}
image=ghcr.io/${mcp#io.github.}
url=${url:-$home/releases/download/v$version}

mkdir -p "$out"
rm -rf "$out"/bmad-mcp[-_.]* "$out/npm" "$out/winget" "$out/install.sh" "$out/install.ps1" "$out/SHA256SUMS" "$out/server.json"
