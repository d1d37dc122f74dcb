# shellcheck shell=bash
# Part of .ci/package: the MCPB bundle.

bundle=bmad-mcp-$version.mcpb
step "bundle"
if [ "$have_npm" = yes ]; then
  mkdir -p "$work/bundle/server"
  cp packaging/mcpb/manifest.json packaging/mcpb/icon.png LICENSE "$work/papers/THIRD_PARTY_LICENSES" "$work/bundle/"
  cp packaging/mcpb/launch.sh "$work"/programs/bmad-mcp-{linux,darwin}-{amd64,arm64} "$work/programs/bmad-mcp-windows-amd64.exe" "$work/bundle/server/"
  chmod +x "$work"/bundle/server/*
  npx --yes "$mcpb" validate "$work/bundle/manifest.json"
  # The tool notes the time of each file, and packs in the order of the folder: the bytes are our own.
  files=()
  while IFS= read -r file; do files+=("${file#"$work"/bundle/}=$file"); done < <(find "$work/bundle" -type f | LC_ALL=C sort)
  "$parcel" archive "$work/bundle.zip" "${files[@]}"
  mv "$work/bundle.zip" "$out/$bundle"

  step "the bundle answers"
  npx --yes "$mcpb" info "$out/$bundle"
  npx --yes "$mcpb" unpack "$out/$bundle" "$work/unpacked" >/dev/null
  case $(uname -s) in
    Linux | Darwin)
      answer=$(printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"package","version":"0"}}}' |
        (cd / && sh "$work/unpacked/server/launch.sh" serve "$work" 2>/dev/null))
      [[ $answer == *'"serverInfo":{"name":"bmad-mcp","version":"'"$version"'"'* ]] || fail "it does not: $answer"
      echo "serverInfo: bmad-mcp $version"
      ;;
    *) echo "skipped: its launcher is for other systems than this one" ;;
  esac
else
  echo "skipped: $why"
fi
