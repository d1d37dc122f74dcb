# shellcheck shell=bash
# Part of .ci/package: an archive for each system, with everything that a package has.

step "archives"
common=(LICENSE=LICENSE README.md=README.md "THIRD_PARTY_LICENSES=$work/papers/THIRD_PARTY_LICENSES")
for file in "$work"/papers/man/*.1 "$work"/papers/completions/*; do
  common+=("${file#"$work"/papers/}=$file")
done
for target in $targets; do
  name=bmad-mcp-${target%/*}-${target#*/}
  case $target in
    windows/*) "$parcel" archive "$out/$name.zip" "bmad-mcp.exe=$work/programs/$name.exe" "${common[@]:0:3}" ;;
    *) "$parcel" archive "$out/$name.tar.gz" "bmad-mcp=$work/programs/$name" "${common[@]}" ;;
  esac
done
tar -tzf "$out/bmad-mcp-linux-amd64.tar.gz" | sed -n '1,4p'
