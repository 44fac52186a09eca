# Sourced by the scripts beside it: the folder they work in, and how they talk.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
venv=$root/.venv
build=$root/build
# The torch of requirements.lock.
tested_torch=2.11.0
: "${TORCH:=$tested_torch}"
# Processors this process may use.
jobs=$(nproc)

say() { printf 'facebench: %s\n' "$*"; }

# die WHAT WHAT-TO-DO
die() {
  printf 'facebench: %s\nfacebench: %s\n' "$1" "$2" >&2
  exit 1
}

# step TITLE COMMAND...: runs the command with its output in a log; says how far it is, and at the end
# how long it took. Where the command fails: the end of the log, and `advice` as what to do.
step() {
  local title=$1 started=$SECONDS log reporter failed=
  shift
  mkdir -p "$build/logs"
  log=$build/logs/$(tr -cs 'a-zA-Z0-9' '-' <<<"${title,,}" | sed 's/-*$//').log
  : >"$log"
  [ -t 1 ] || say "$title ..."
  report "$title" "$log" &
  reporter=$!
  "$@" >"$log" 2>&1 </dev/null || failed=1
  kill "$reporter" 2>/dev/null || true
  wait "$reporter" 2>/dev/null || true
  [ ! -t 1 ] || printf '\r\033[K'
  if [ -z "$failed" ]; then
    say "$title: done in $((SECONDS - started)) s"
  else
    tail -n 40 "$log" >&2
    die "$title failed after $((SECONDS - started)) s; the whole output is in $log." \
      "${advice:-Mend what the lines above name, then run the same command again.}"
  fi
}

# report TITLE LOG: until this script ends, how far the command is that writes the log: on a terminal
# each second in the same line, elsewhere a line every 15 seconds.
report() {
  local started=$SECONDS due=15 passed line columns
  read -r _ columns < <(stty size 2>/dev/null <&1) || columns=80
  while kill -0 $$ 2>/dev/null; do
    passed=$((SECONDS - started))
    if [ -t 1 ]; then
      line="facebench: $1 ... $passed s $(progress "$2")"
      printf '\r\033[K%s' "${line:0:columns-1}"
    elif [ "$passed" -ge "$due" ]; then
      due=$((passed + 15))
      say "$1 ... $passed s $(progress "$2")"
    fi
    sleep 1
  done
}

# progress LOG: how far the command is that writes it; ninja says it this way. Scripts that run others
# put their own in its place.
progress() { grep -oE '\[[0-9]+/[0-9]+\]' "$1" | tail -n 1 || true; }

# A command that fails unexpectedly must not end the script without a word.
trap 'printf "facebench: %s stopped at line %s: %s\n" "$0" "$LINENO" "$BASH_COMMAND" >&2' ERR

# begin LOG COMMAND...: starts the command in a process group of its own, which ends with this script;
# its output goes to a log. `follow` waits for it, as a step does for its command.
begin() {
  begun_log=$1
  shift
  mkdir -p "$(dirname "$begun_log")"
  set -m
  "$@" >"$begun_log" 2>&1 </dev/null &
  set +m
  begun=$!
  trap end_begun EXIT
}
end_begun() { kill -- "-$begun" 2>/dev/null || true; }
follow() {
  tail --pid="$begun" -n +1 -f "$begun_log"
  wait "$begun"
}

# One number for the names, sizes and times of all files below the given folders.
fingerprint() {
  find "$@" -name __pycache__ -prune -o -type f -printf '%p %s %T@\n' | sort | sha256sum | cut -c1-64
}
