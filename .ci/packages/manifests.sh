# shellcheck shell=bash
# Part of .ci/package: checksums, and what the package managers and the registry are told.

step "scripts that install"
cp packaging/install.sh packaging/install.ps1 "$out/"

step "checksums"
(cd "$out" && sha256 bmad-mcp[-_]* install.* >SHA256SUMS && cat SHA256SUMS)

step "manifests of package managers"
manifest() { # manifest TEMPLATE OUT
  "$parcel" fill "$1" "$out/$2" "$out/SHA256SUMS" version="$version" home="$home" day="$(date -u -r "$SOURCE_DATE_EPOCH" +%F 2>/dev/null || date -u -d "@$SOURCE_DATE_EPOCH" +%F)"
  echo "$2"
}
mkdir -p "$out/winget"
manifest packaging/homebrew/bmad-mcp.rb.tmpl bmad-mcp.rb
manifest packaging/scoop/bmad-mcp.json.tmpl bmad-mcp.json
for file in packaging/winget/*.tmpl; do
  name=${file##*/}
  manifest "$file" "winget/${name%.tmpl}"
done
if command -v ruby >/dev/null; then ruby -c "$out/bmad-mcp.rb"; else echo "not looked at by ruby: it is not installed"; fi

step "entry for the registry"
if [ "$have_npm" = yes ]; then
  digest=$(sha256 "$out/$bundle" | cut -d ' ' -f 1)
  node -e '
    const fs = require("fs");
    const [from, to, bundle, fileSha256, image] = process.argv.slice(1);
    const entry = JSON.parse(fs.readFileSync(from, "utf8"));
    const transport = { type: "stdio" }, version = entry.version;
    const environmentVariables = [{
      name: "BMAD_PROJECTS", format: "string", isRequired: false,
      description: "Folders that the assistant may work in, separated as in PATH",
    }];
    entry.packages = [
      { registryType: "npm", identifier: "bmad-mcp", version, runtimeHint: "npx", transport, environmentVariables },
      { registryType: "oci", identifier: `${image}:${version}`, runtimeHint: "docker", transport,
        runtimeArguments: [{
          type: "named", name: "--mount", value: "type=bind,src={folder},dst=/projects", isRequired: true,
          description: "The folder with your projects",
          variables: { folder: { description: "The folder with your projects", format: "filepath", isRequired: true } },
        }] },
      { registryType: "mcpb", identifier: bundle, fileSha256, version, transport, environmentVariables },
    ];
    fs.writeFileSync(to, JSON.stringify(entry, null, 2) + "\n");
  ' packaging/server.json "$out/server.json" "$url/$bundle" "$digest" "$image"

  # Into the module cache, from outside of this module, so that go.mod stays as it is.
  module=$(cd "$work" && go mod download -json "$registry" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')
  [ -f "$module/$schema" ] || fail "$registry has no $schema"
  cp "$module/$schema" "$work/schema.json"
  valid() {
    npx --yes -p "$ajv" -p "$ajv_formats" ajv validate --spec=draft7 --strict=false -c ajv-formats -s "$work/schema.json" -d "$1"
  }
  valid packaging/server.json
  valid "$out/server.json"
  # What accepts everything checks nothing.
  sed 's/"stdio"/"pipe"/' "$out/server.json" >"$work/broken.json"
  if valid "$work/broken.json" >/dev/null 2>&1; then
    fail "the schema accepts a transport that does not exist"
  fi
else
  echo "skipped: $why"
fi
