# shellcheck shell=bash
# Part of .ci/package: an image of the program and the certificates of the authorities, and nothing else.

step "image"
# From a module of Go, so that every machine has the same ones.
mkdir "$work/roots"
cat >"$work/roots/main.go" <<'GO'
package main

import (
	"encoding/pem"
	"log"
	"os"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func main() {
	for root := range bundle.Roots() {
		if root.Constraint != nil { // which a file of certificates cannot say
			continue
		}
		if err := pem.Encode(os.Stdout, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			log.Fatal(err)
		}
	}
}
GO
(cd "$work/roots" && go mod init roots >/dev/null 2>&1 && go get "$roots" >/dev/null 2>&1 && go run . >"$work/ca-certificates.crt")
[ "$(grep -c BEGIN "$work/ca-certificates.crt")" -gt 50 ] || fail "there are too few authorities"
printf 'root:x:0:0::/:\nbmad:x:%s:%s::/home/bmad:\n' $uid $uid >"$work/passwd"
printf 'root:x:0:\nbmad:x:%s:\n' $uid >"$work/group"

tool "$crane"
"$work/tools/crane" registry serve --address 127.0.0.1:0 >"$work/registry.log" 2>&1 &
started=$!
port=$(await 's/.*serving on port \([0-9]*\).*/\1/p' "$work/registry.log")
[ -n "$port" ] || fail "the registry does not start: $(cat "$work/registry.log")"
local=127.0.0.1:$port/bmad-mcp
crane() { "$work/tools/crane" "$@" 2>"$work/crane.log" || fail "crane $1: $(cat "$work/crane.log")"; }
for arch in amd64 arm64; do
  # Whoever starts it as another account needs a home too: both folders are open as /tmp is.
  "$parcel" archive "$work/layer-$arch.tar.gz" etc/=755 "etc/passwd=$work/passwd" "etc/group=$work/group" etc/ssl/=755 etc/ssl/certs/=755 \
    "etc/ssl/certs/ca-certificates.crt=$work/ca-certificates.crt" home/=755 home/bmad/=1777 projects/=1777 tmp/=1777 \
    licenses/=755 licenses/LICENSE=LICENSE "licenses/THIRD_PARTY_LICENSES=$work/papers/THIRD_PARTY_LICENSES" "bmad-mcp=$work/programs/bmad-mcp-linux-$arch"
  at_most "$work/layer-$arch.tar.gz" "$max_image"
  crane append --oci-empty-base -f "$work/layer-$arch.tar.gz" -t "$local:$arch-layer" >/dev/null
  crane mutate "$local:$arch-layer" -t "$local:$arch" --set-platform "linux/$arch" --user $uid:$uid --workdir /projects --entrypoint /bmad-mcp \
    --env HOME=/home/bmad --label "io.modelcontextprotocol.server.name=$mcp" --label "org.opencontainers.image.source=$home" \
    --label "org.opencontainers.image.version=$version" --label org.opencontainers.image.licenses=MIT >/dev/null
  crane validate --remote "$local:$arch"
done
crane index append -m "$local:amd64" -m "$local:arm64" -t "$local:$version" >/dev/null
crane pull --format oci "$local:$version" "$work/image"
files=()
while IFS= read -r file; do files+=("${file#"$work"/image/}=$file"); done < <(find "$work/image" -type f | LC_ALL=C sort)
"$parcel" archive "$out/bmad-mcp-$version.oci.tar" "${files[@]}"
rm -rf "$work/image"
crane config "$local:amd64" >"$work/config.json"
grep -q "\"User\":\"$uid:$uid\"" "$work/config.json" || fail "the image has root for its user: $(cat "$work/config.json")"
grep -q '"WorkingDir":"/projects"' "$work/config.json" || fail "the image has another folder: $(cat "$work/config.json")"
kill "$started" && wait "$started" 2>/dev/null || true
started=

step "the image answers"
if [ "$host_os" = linux ] && may_be_root && command -v chroot >/dev/null && command -v curl >/dev/null; then
  mkdir "$work/chroot"
  as_root tar -xzf "$work/layer-$host_arch.tar.gz" -C "$work/chroot"
  # No function here: a signal has to reach the program, not a shell that waits for it.
  sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo -n)
  "${sudo[@]}" env -i "PATH=$PATH" HOME=/home/bmad chroot --userspec=$uid:$uid "$work/chroot" /bmad-mcp --cwd /projects serve --http 127.0.0.1:0 >/dev/null 2>"$work/chroot.log" &
  started=$!
  address=$(await 's/.*running on \(http:\/\/[^/,]*\).*/\1/p' "$work/chroot.log")
  [ -n "$address" ] || fail "it does not start: $(cat "$work/chroot.log")"
  curl -fsS "$address/healthz"
  echo
  # Whatever has started it, the program itself has the user.
  program=$(as_root grep -lsz '^/bmad-mcp$' /proc/[0-9]*/cmdline | cut -d / -f 3 | while read -r process; do
    if as_root test "/proc/$process/root" -ef "$work/chroot"; then echo "$process"; fi
  done || true) # some processes have ended meanwhile
  as_root grep -q "^Uid:[[:space:]]$uid[[:space:]]" "/proc/$program/status" || fail "it does not run as $uid"
  as_root kill "$started"
  wait "$started" || fail "it did not end well"
  started=
  as_root rm -rf "$work/chroot"
else
  echo "skipped: it takes root, chroot and curl on Linux"
fi
