#!/bin/sh
# The first process of a worker's container. It writes the password of the store and the key for the remote where
# their programs look for them, clones the project if it is not there yet, and becomes bmad-mcp with the arguments.
#
# PROJECT is the address of the project; SECRETS the folder with password, deploy_key and known_hosts.
set -eu
umask 077
secrets=${SECRETS:-/run/secrets}

if [ -r "$secrets/password" ]; then
  printf '*:*:*:*:%s\n' "$(cat "$secrets/password")" >"$HOME/.pgpass"
fi
if [ -r "$secrets/deploy_key" ]; then
  mkdir -p "$HOME/.ssh"
  cp "$secrets/deploy_key" "$HOME/.ssh/deploy_key"
  cp "$secrets/known_hosts" "$HOME/.ssh/known_hosts"
  printf 'IdentityFile ~/.ssh/deploy_key\nIdentitiesOnly yes\n' >"$HOME/.ssh/config"
fi
if ! git config --global user.name >/dev/null; then # the author of the commits
  git config --global user.name "${WORKER_NAME:-bmad-mcp worker}"
  git config --global user.email "${WORKER_EMAIL:-worker@$(hostname)}"
fi

if [ "${1:-}" = worker ]; then
  clone=$HOME/clones/$(basename "${PROJECT:?is the address of the project to clone}" .git)
  if [ ! -d "$clone/.git" ]; then
    rm -rf "$clone" # of a start that was cut off
    git clone "$PROJECT" "$clone"
  fi
  shift
  set -- worker --root "$HOME/clones" "$@"
fi
exec bmad-mcp "$@"
