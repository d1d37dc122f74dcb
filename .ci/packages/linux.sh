# shellcheck shell=bash
# Part of .ci/package: the packages for Debian and RPM systems.

step "deb and rpm"
tool "$nfpm"
for arch in amd64 arm64; do
  "$parcel" fill packaging/linux/nfpm.yaml.tmpl "$work/nfpm-$arch.yaml" - version="$version" arch=$arch home="$home" \
    program="$work/programs/bmad-mcp-linux-$arch" papers="$work/papers" date="$(date -u -r "$SOURCE_DATE_EPOCH" +%FT%TZ 2>/dev/null || date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)"
  for packager in deb rpm; do
    "$work/tools/nfpm" pkg -f "$work/nfpm-$arch.yaml" -p $packager -t "$out/" >/dev/null
  done
done
deb=$(find "$out" -name "bmad-mcp_*_$host_arch.deb") rpm=$(find "$out" -name 'bmad-mcp-*.x86_64.rpm')
ls "$out"/*.deb "$out"/*.rpm

step "deb: installed, started, removed"
if [ "$host_os" = linux ] && command -v dpkg >/dev/null && may_be_root; then
  if dpkg -s bmad-mcp >/dev/null 2>&1 || [ -e /usr/bin/bmad-mcp ]; then
    echo "not installed: this machine has one already"
  else
    as_root dpkg -i "$deb" >/dev/null
    problem=
    [[ $(/usr/bin/bmad-mcp --version) == "bmad-mcp version $version "* ]] || problem="it does not start"
    # Some systems leave documentation out when they install.
    for file in bash-completion/completions/bmad-mcp zsh/vendor-completions/_bmad-mcp fish/vendor_completions.d/bmad-mcp.fish; do
      [ -f "/usr/share/$file" ] || problem="/usr/share/$file is missing"
    done
    as_root dpkg --purge bmad-mcp >/dev/null
    [ -z "$problem" ] || fail "$problem"
    [ ! -e /usr/bin/bmad-mcp ] || fail "it is still there when it is removed"
    echo "${deb##*/}"
  fi
  dpkg-deb -c "$deb" | awk '{ print $6 }' >"$work/deb"
  for file in usr/bin/bmad-mcp usr/share/man/man1/bmad-mcp-install.1.gz usr/share/doc/bmad-mcp/copyright usr/share/doc/bmad-mcp/THIRD_PARTY_LICENSES; do
    grep -q "/$file\$" "$work/deb" || fail "the deb has no $file"
  done
else
  echo "skipped: no dpkg here, or no rights to install"
fi

step "rpm: its files, installed in a root of its own, removed"
if ! command -v rpm >/dev/null && command -v apt-get >/dev/null && may_be_root; then
  { as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends rpm >/dev/null; } || true
fi
if command -v rpm >/dev/null; then
  rpm -K --nosignature "$rpm"
  rpm -qp --nosignature --list "$rpm" >"$work/rpm"
  for file in bin/bmad-mcp share/man/man1/bmad-mcp-install.1.gz share/zsh/site-functions/_bmad-mcp share/doc/bmad-mcp/THIRD_PARTY_LICENSES; do
    grep -qx "/usr/$file" "$work/rpm" || fail "the rpm has no /usr/$file"
  done
  if may_be_root; then
    mkdir "$work/root"
    as_root rpm --root "$work/root" --nosignature --nodeps -i "$rpm" 2>/dev/null
    as_root rpm --root "$work/root" -V bmad-mcp
    cmp "$work/root/usr/bin/bmad-mcp" "$work/programs/bmad-mcp-linux-amd64"
    as_root rpm --root "$work/root" --nodeps -e bmad-mcp 2>/dev/null
    [ ! -e "$work/root/usr/bin/bmad-mcp" ] || fail "it is still there when it is removed"
    echo "installed, verified, removed"
    as_root rm -rf "$work/root"
  fi
else
  echo "skipped: no rpm here, and it cannot be installed"
fi
