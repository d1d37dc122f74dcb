# shellcheck shell=bash
# Part of .ci/package: the programs, and the papers that every package has.

step "programs"
for target in $targets; do
  os=${target%/*} arch=${target#*/} suffix=''
  [ "$os" != windows ] || suffix=.exe
  RELEASE=$version .ci/build "$work/programs/bmad-mcp-$os-$arch$suffix" "$target"
  [ "$os" = linux ] && max=$max_linux || max=$max_other
  at_most "$work/programs/bmad-mcp-$os-$arch$suffix" "$max"
done
own=$work/programs/bmad-mcp-$host_os-$host_arch
said=$("$own" version)
[[ $said == "bmad-mcp $version "* ]] || fail "the program says it is: $said"

step "a second build in another folder has the same bytes"
mkdir "$work/twice"
# Without a repository, as from an archive of the source.
tar -c --exclude ./.git --exclude ./dist . | tar -x -C "$work/twice"
for target in "$host_os/$host_arch" windows/arm64; do
  (cd "$work/twice" && RELEASE=$version .ci/build "$work/twice/program" "$target")
  first=$(find "$work/programs" -name "bmad-mcp-${target%/*}-${target#*/}*")
  cmp "$first" "$work/twice/program" || fail "two builds for $target differ"
  echo "$target: $(sha256 "$first" | cut -d ' ' -f 1)"
done
rm -rf "$work/twice"

step "papers"
go build -o "$work/tools/parcel" ./.ci/parcel
parcel=$work/tools/parcel
"$parcel" papers "$work/papers" "$version" "$work"/programs/*
cp "$work/papers/bmad-mcp-$version.cdx.json" "$out/"
"$parcel" manual "$own" "$work/papers/man"
gzip -9 -n -k "$work"/papers/man/*.1
for shell in bash fish zsh; do
  case $shell in
    zsh) file=_bmad-mcp ;;
    *) file=bmad-mcp.$shell ;;
  esac
  "$own" completion $shell >"$work/papers/completions/$file"
  ! command -v $shell >/dev/null || $shell -n "$work/papers/completions/$file" || fail "$shell does not read its completion"
done
if command -v man >/dev/null; then
  for page in bmad-mcp bmad-mcp-install bmad-mcp-task-submit; do
    said=$(man --warnings -l "$work/papers/man/$page.1" 2>&1 >/dev/null) || fail "man does not show $page"
    [ -z "$said" ] || fail "man warns of $page: $said"
  done
fi
echo "$(find "$work/papers/man" -name '*.1' | wc -l) manual pages, licences of $(grep -c '"bom-ref"' "$out/bmad-mcp-$version.cdx.json") parts"
if [ "$have_npm" = yes ]; then
  mkdir "$work/cyclonedx"
  (cd "$work/cyclonedx" && npm install --silent --no-save --ignore-scripts "$cyclonedx" >/dev/null)
  for schema_name in bom-1.6 spdx jsf-0.82; do # they refer to each other by the names that they are published under
    sed 's/\.SNAPSHOT\.schema\.json/.schema.json/g' "$work/cyclonedx/node_modules/@cyclonedx/cyclonedx-library/res/schema/$schema_name.SNAPSHOT.schema.json" \
      >"$work/cyclonedx/$schema_name.json"
  done
  check_bill() {
    npx --yes -p "$ajv" -p "$ajv_formats" ajv validate --spec=draft7 --strict=false --validate-formats=false \
      -s "$work/cyclonedx/bom-1.6.json" -r "$work/cyclonedx/spdx.json" -r "$work/cyclonedx/jsf-0.82.json" -d "$1"
  }
  check_bill "$out/bmad-mcp-$version.cdx.json"
  sed 's/"MIT"/"Mitt"/' "$out/bmad-mcp-$version.cdx.json" >"$work/broken.cdx.json"
  if check_bill "$work/broken.cdx.json" >/dev/null 2>&1; then fail "the schema accepts a licence that does not exist"; fi
fi
