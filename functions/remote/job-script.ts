/**
 * The script that runs jobs on machines. It is uploaded under the hash of its text. Each job has a folder with all its state.
 *
 * - script, sha256, log, exit, claim.
 * - environment: the proxy variables.
 * - run: who runs it, as pid, start time and boot.
 * - group: its process group, as the same facts of its first process, or none.
 */
import { proxyVariables } from '../../shared/proxy-variables.js';

export const exits = { noTool: 120, damaged: 65, conflict: 66, notBegun: 67, ended: 143 } as const;

/**
 * Runs a script at most once. A link records the first process to begin, before the script runs. Only one process can make it.
 */
export const jobScript = `#!/bin/bash
set -u
export LC_ALL=C
if [ "$(id -u)" = 0 ]; then base=/var/lib/plinth/jobs; else base=$HOME/.plinth/jobs; fi
verb=$1 id=$2 dir=$base/$2

# Who a process is: a pid alone may be another's by now. The name may hold anything, so what stands after its last parenthesis counts.
identity() {
  local stat boot
  stat=$(cat "/proc/$1/stat" 2>/dev/null) && boot=$(cat /proc/sys/kernel/random/boot_id) || return 1
  stat=\${stat##*) }
  set -- $1 $stat
  [ "$2" != Z ] || return 1
  echo "$1 \${21} $boot"
}

# Of a file with such an identity: whether that process is still there.
alive() {
  local was
  was=$(cat "$1" 2>/dev/null) && [ -n "$was" ] && [ "$(identity "\${was%% *}")" = "$was" ]
}

state() {
  if [ -e "$dir/exit" ]; then echo "exited $(cat "$dir/exit")"
  elif [ ! -e "$dir/run" ]; then echo 'unknown -'
  elif alive "$dir/run"; then echo 'running -'
  # It may have ended since the first look.
  elif [ -e "$dir/exit" ]; then echo "exited $(cat "$dir/exit")"
  else echo 'lost -'; fi
}

# Makes a file with this content, unless it is there: all of it or nothing, for one of all who try.
once() {
  local mine
  mine=$(mktemp "$dir/.once.XXXXXXXX") || return 1
  printf '%s\\n' "$2" > "$mine" || { rm -f "$mine"; return 1; }
  ln "$mine" "$1" 2>/dev/null
  local won=$?
  rm -f "$mine"
  return $won
}

# Whether the machine stays up. While it goes down, whoever asks may be ended with all else before an answer is there.
stays() {
  [ -d /run/systemd/system ] || return 0
  for _ in 1 2 3; do
    case $(systemctl is-system-running 2>/dev/null) in
      stopping) return 1 ;;
      ?*) return 0 ;;
    esac
  done
  return 1
}

# A unit's environment is systemd's own. By a file, as a proxy's password may be in it, and command lines are seen.
way_out() {
  for name in ${proxyVariables.join(' ')}; do
    [ -z "\${!name:-}" ] || printf 'export %s=%q\\n' "$name" "\${!name}"
  done
}

begin() {
  if [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ] && command -v systemd-run >/dev/null; then
    way_out > "$dir/environment"
    systemd-run --quiet --collect --unit="plinth-job-$id" --setenv=HOME="\${HOME:-/root}" \\
      --property=OOMPolicy=continue /bin/bash "$0" wrap "$id" 9>&- 2>"$dir/.begin" || cat "$dir/.begin" >&2
  else
    setsid /bin/bash "$0" wrap "$id" </dev/null >/dev/null 2>&1 9>&- &
  fi
}

case $verb in
start)
  umask 077
  mkdir -p "$base" || exit 1
  # A folder comes with all that is in it, or not at all; a name that is taken stays as it is.
  new=$(mktemp -d "$base/.new.XXXXXXXX") || exit 1
  trap 'rm -rf "$new"' EXIT
  cat > "$new/script" || exit 1
  [ "$(sha256sum < "$new/script")" = "$3  -" ] || exit ${exits.damaged}
  echo "$3" > "$new/sha256" && : > "$new/log" || exit 1
  [ -e "$dir" ] || mv -T "$new" "$dir" 2>/dev/null || [ -e "$dir" ] || { mv -T "$new" "$dir"; exit 1; }
  [ "$(cat "$dir/sha256")" = "$3" ] || exit ${exits.conflict}
  exec 9>"$dir/lock"
  flock -w 30 9 || exit ${exits.notBegun}
  [ -e "$dir/run" ] || begin
  for _ in $(seq 200); do
    [ -e "$dir/run" ] && exit 0
    sleep 0.05
  done
  exit ${exits.notBegun}
  ;;
wrap)
  umask 077
  me=$(identity $$) && once "$dir/run" "$me" || exit 0
  [ ! -e "$dir/environment" ] || . "$dir/environment"
  cd /
  umask 022
  trap '' HUP
  trap : TERM INT
  # Job control gives the script a process group of its own, which kill can take down as a whole. It is noted before the
  # script begins, by the process that becomes it: whoever dies in between leaves nothing that cannot be ended.
  set -m
  (
    # Within $(…) it would be another's.
    pid=$BASHPID
    me=$(identity $pid) && once "$dir/group" "$me" || exit ${exits.ended}
    exec /bin/bash "$dir/script"
  ) </dev/null >>"$dir/log" 2>&1 9>&- &
  child=$!
  set +m
  while :; do
    wait $child
    code=$?
    kill -0 $child 2>/dev/null || break
  done
  # A machine that goes down, as a spot VM that is taken away, ends what runs on it: that is no outcome of the script.
  [ "$code" = 0 ] || stays || exit
  umask 077
  until echo "$code" > "$dir/.exit" && mv -f "$dir/.exit" "$dir/exit"; do sleep 5; done
  ;;
poll)
  # State first: what is exited has all of its log.
  offset=$3 most=$4 wait=$5
  began=\${EPOCHREALTIME/[.,]/}
  while :; do
    now=$(state)
    size=$(stat -c %s "$dir/log" 2>/dev/null || echo 0)
    passed=$(( (\${EPOCHREALTIME/[.,]/} - began) / 1000 ))
    [ "\${now%% *}" = running ] || break
    [ $passed -lt $((wait * 1000)) ] || break
    [ $((size - offset)) -lt "$most" ] || break
    [ "$size" -le "$offset" ] || [ $passed -lt 1000 ] || break
    sleep 0.2
  done
  echo "$now $size"
  [ "$size" -le "$offset" ] || tail -c "+$((offset + 1))" "$dir/log" | head -c "$most"
  exit 0
  ;;
claim)
  umask 077
  [ -d "$dir" ] || exit ${exits.notBegun}
  # Of what runs whoever asked last has it; of what has ended nobody takes it any more.
  if ! once "$dir/claim" "$3" && [ "$(state)" = 'running -' ]; then
    mine=$(mktemp "$dir/.claim.XXXXXXXX") && printf '%s\\n' "$3" > "$mine" && mv -f "$mine" "$dir/claim" || exit 1
  fi
  cat "$dir/claim"
  ;;
kill)
  # What has not noted its group has not begun its script: now it never will.
  [ ! -e "$dir/run" ] || once "$dir/group" none
  for sign in TERM TERM TERM KILL; do
    was=$(cat "$dir/group" 2>/dev/null) && [ "\${was##* }" = "$(cat /proc/sys/kernel/random/boot_id)" ] || break
    # A group lives on while anybody in it does, and its number is not given away so long; later it may be another's.
    now=$(identity "\${was%% *}") && [ "$now" != "$was" ] && break
    kill -$sign -- "-\${was%% *}" 2>/dev/null || break
    for _ in $(seq 30); do kill -0 -- "-\${was%% *}" 2>/dev/null || break 2; sleep 0.1; done
  done
  exit 0
  ;;
esac
`;
