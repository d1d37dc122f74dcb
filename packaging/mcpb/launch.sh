#!/bin/sh
# Starts the bmad-mcp of this machine, out of those beside this file. Standard output
# belongs to the protocol: whatever there is to say goes to standard error.
set -eu

fail() {
  printf 'bmad-mcp: %s\n' "$1" >&2
  exit 1
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
system=$(uname -s)
machine=$(uname -m)

case $system in
  Darwin) os=darwin ;;
  Linux) os=linux ;;
  *) os= ;;
esac
case $machine in
  x86_64 | amd64) arch=amd64 ;;
  arm64 | aarch64) arch=arm64 ;;
  *) arch= ;;
esac

if [ -z "$os" ] || [ -z "$arch" ]; then
  fail "this bundle has no program for $system on $machine, only for macOS and Linux on x86_64 and arm64; build it from source: go install ./cmd/bmad-mcp"
fi

program=$here/bmad-mcp-$os-$arch
[ -f "$program" ] || fail "the bundle is incomplete: $program is missing; install it again"
# Not everything that unpacks a bundle keeps the right to run what is in it.
[ -x "$program" ] || chmod +x "$program" || fail "$program cannot be made executable; check the rights of the folder"

exec "$program" "$@"
