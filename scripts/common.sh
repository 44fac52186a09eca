# Sourced by the scripts beside it: the folder they work in, and how they talk.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
venv=$root/.venv
build=$root/build
: "${TORCH:=2.11.0}"
# Processors this process may use.
jobs=$(nproc)

say() { printf 'facebench: %s\n' "$*"; }

# die WHAT WHAT-TO-DO
die() {
  printf 'facebench: %s\nfacebench: %s\n' "$1" "$2" >&2
  exit 1
}

# step TITLE COMMAND...: runs the command with its output in a log, prints title and time taken.
# Where the command fails: the end of the log, and the variable `advice` as what to do.
step() {
  local title=$1 started=$SECONDS log
  shift
  mkdir -p "$build/logs"
  log=$build/logs/$(tr -cs 'a-zA-Z0-9' '-' <<<"${title,,}" | sed 's/-*$//').log
  say "$title ..."
  if "$@" >"$log" 2>&1 </dev/null; then
    say "$title: done in $((SECONDS - started)) s"
  else
    tail -n 40 "$log" >&2
    die "$title failed after $((SECONDS - started)) s; the whole output is in $log." \
      "${advice:-Mend what the lines above name, then run the same command again.}"
  fi
}

# A command that fails unexpectedly must not end the script without a word.
trap 'printf "facebench: %s stopped at line %s: %s\n" "$0" "$LINENO" "$BASH_COMMAND" >&2' ERR

# One number for the names, sizes and times of all files below the given folders.
fingerprint() {
  find "$@" -name __pycache__ -prune -o -type f -printf '%p %s %T@\n' | sort | sha256sum | cut -c1-64
}
