#!/bin/sh
# Installs bmad-mcp for this account, on macOS or Linux:
#
#   curl -fsSL https://github.com/bmad-mcp/bmad-mcp/releases/latest/download/install.sh | sh
#   sh install.sh [--prefix DIR] [--version VERSION] [--from URL]
#
#   --prefix   where bin/bmad-mcp goes (default: ~/.local)
#   --version  which release (default: the latest)
#   --from     where the files of the release are (default: its page on GitHub)
#
# It downloads, compares the checksum, starts the program once, and then puts it in place in one
# step. Whatever fails before that changes nothing.
# Exit codes: 0 installed, 2 wrong arguments, 3 no program for this system, 4 not downloaded,
# 5 wrong checksum, 6 cannot be written.
set -eu

main() {
  releases=https://github.com/bmad-mcp/bmad-mcp/releases
  prefix='' version='' from=''
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix | --version | --from)
        [ $# -ge 2 ] || fail 2 "$1 needs a value"
        case $1 in
          --prefix) prefix=$2 ;;
          --version) version=${2#v} ;;
          --from) from=${2%/} ;;
        esac
        shift 2
        ;;
      *) fail 2 "unknown argument: $1; there are --prefix DIR, --version VERSION and --from URL" ;;
    esac
  done
  if [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || fail 2 "HOME is not set: say with --prefix where it should go"
    prefix=$HOME/.local
  fi
  case $prefix in
    /usr | /usr/) fail 2 "/usr belongs to the package manager: take /usr/local, or install the deb or rpm" ;;
    /*) ;;
    *) prefix=$PWD/$prefix ;;
  esac
  if [ -z "$from" ]; then
    from=$releases/latest/download
    [ -z "$version" ] || from=$releases/download/v$version
  fi

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
    fail 3 "there is no program for $system on $machine, only for macOS and Linux on x86_64 and arm64; with Go: go install github.com/bmad-mcp/bmad-mcp/cmd/bmad-mcp@latest"
  fi
  archive=bmad-mcp-$os-$arch.tar.gz

  fresh=
  work=$(mktemp -d) || fail 6 "there is no folder for temporary files"
  trap 'rm -rf "$work" ${fresh:+"$fresh"}' EXIT
  trap 'exit 130' HUP INT TERM

  fetch "$from/SHA256SUMS" "$work/SHA256SUMS"
  fetch "$from/$archive" "$work/$archive"
  want=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$archive\$/\1/p" "$work/SHA256SUMS")
  [ -n "$want" ] || fail 5 "SHA256SUMS of $from does not name $archive"
  got=$(sha256 "$work/$archive")
  [ "$got" = "$want" ] || fail 5 "$archive is not what was released: its checksum is $got, not $want. Try again later; if it stays so, tell the developers"

  mkdir "$work/unpacked"
  tar -xzf "$work/$archive" -C "$work/unpacked" || fail 5 "$archive cannot be unpacked"
  bin=$prefix/bin
  # The place is tried here, beside the program that is to be replaced: a file moves in one step only
  # within one disk.
  if ! mkdir -p "$bin" 2>/dev/null || ! fresh=$(mktemp "$bin/.bmad-mcp.XXXXXX" 2>/dev/null); then
    fail 6 "$bin cannot be written: take another folder with --prefix, or ask who owns it"
  fi
  if ! cat "$work/unpacked/bmad-mcp" >"$fresh" || ! chmod 755 "$fresh"; then
    fail 6 "$bin cannot be written: is the disk full?"
  fi
  said=$("$fresh" version 2>&1) || fail 6 "the program does not start from $bin: $said"
  papers=$prefix/share/doc/bmad-mcp
  if ! mkdir -p "$papers" 2>/dev/null || ! cp "$work/unpacked/LICENSE" "$work/unpacked/THIRD_PARTY_LICENSES" "$papers/" 2>/dev/null; then
    fail 6 "$papers cannot be written"
  fi
  [ ! -d "$bin/bmad-mcp" ] || fail 6 "$bin/bmad-mcp is a folder"
  mv -f "$fresh" "$bin/bmad-mcp" || fail 6 "$bin/bmad-mcp cannot be replaced"
  fresh=

  echo "$said is in $bin"
  # As the shell finds it, without what it remembers.
  hash -r 2>/dev/null || true
  first=$(command -v bmad-mcp || true)
  if [ -z "$first" ]; then
    echo "warning: $bin is not on your PATH; add it, for example in ~/.profile: export PATH=\"$bin:\$PATH\"" >&2
  elif [ "$(cd "$(dirname "$first")" && pwd -P)" != "$(cd "$bin" && pwd -P)" ]; then
    echo "warning: another one comes first on your PATH: $first ($("$first" version 2>/dev/null || echo 'which does not start')); remove it, or put $bin before it" >&2
  fi
  echo "next: $([ -n "$first" ] && echo bmad-mcp || echo "$bin/bmad-mcp") install"
}

fail() {
  code=$1
  shift
  printf 'install.sh: %s\n' "$*" >&2
  exit "$code"
}

# fetch URL FILE
fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 2 --connect-timeout 20 -o "$2" "$1" 2>"$work/said" || unreachable "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q --tries=3 --timeout=20 -O "$2" "$1" 2>"$work/said" || unreachable "$1"
  else
    fail 4 "there is neither curl nor wget here"
  fi
}

unreachable() {
  fail 4 "$1 could not be downloaded: $(tail -n 1 "$work/said"). Is there a network, and does the version exist?"
}

sha256() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif command -v openssl >/dev/null 2>&1; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail 5 "the checksum cannot be compared: there is none of sha256sum, shasum and openssl"
  fi
}

# Last, so that a script that was cut in its download does nothing.
main "$@"
