# Shows on standard error what takes long, and for how long already; to be sourced. On a terminal one line is rewritten each
# second; elsewhere a line follows every $progress_interval seconds. Nothing is shown if $quiet is not empty.
progress_interval=10

# progress_start TEXT [FIGURES]: shows TEXT until progress_stop. FIGURES is a command whose output follows TEXT; it runs for
# each line, so it must be quick. The time counts from $progress_since (seconds since 1970), or from now if that is empty.
progress_start() {
  progress_stop
  [ -z "${quiet:-}" ] || return 0
  progress_show "$1" "${2:-}" "${progress_since:-$(date +%s)}" "$$" >/dev/null 9>&- &
  progress_shower=$!
}

progress_stop() {
  [ -n "${progress_shower:-}" ] || return 0
  # The shell would report the end of a process that it does not wait for.
  kill "$progress_shower" 2>/dev/null || true
  wait "$progress_shower" 2>/dev/null || true
  progress_shower=
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

# Ends with its caller, also if that was killed.
progress_show() {
  shown=$3
  while kill -0 "$4" 2>/dev/null; do
    # Without the output of the script, whose readers would wait for this.
    sleep 1 2>/dev/null
    now=$(date +%s 2>/dev/null)
    if [ -t 2 ]; then
      columns=$(stty size <&2 2>/dev/null | cut -d ' ' -f 2)
      [ "${columns:-0}" -ge 20 ] 2>/dev/null || columns=80
      # The cursor stays at the beginning, so that other lines replace this one.
      printf '\r\033[K%.*s\r' $((columns - 1)) "$(progress_line "$1" "$2" $((now - $3)))" >&2
    elif [ $((now - shown)) -ge "$progress_interval" ]; then
      shown=$now
      progress_line "$1" "$2" $((now - $3)) >&2
    fi
  done
}

# progress_line TEXT FIGURES SECONDS: TEXT, the time, and what the command FIGURES prints.
progress_line() {
  figures=
  [ -z "$2" ] || figures=$($2)
  echo "$1, $(progress_time "$3")${figures:+: $figures}"
}

# progress_time SECONDS: as in 1m5s.
progress_time() {
  if [ "$1" -lt 60 ]; then echo "${1}s"; else echo "$(($1 / 60))m$(($1 % 60))s"; fi
}

# maven_figures: how far Maven is by the log $maven_log that it writes: the modules that it has begun, of all, and the
# files that it has downloaded. How long a module takes is not known before, so there is no percentage.
maven_figures() {
  begun=$(sed -n 's/^\[INFO\] Building .*\[\([0-9]*\/[0-9]*\)\]$/\1/p' "$maven_log" 2>/dev/null | sort -n | tail -n 1)
  files=$(grep -c 'Downloaded from' "$maven_log" 2>/dev/null) || files=0
  [ -z "$begun" ] || echo "module ${begun%/*} of ${begun#*/} begun$([ "$files" = 0 ] || echo ", $files files downloaded")"
}

# run_maven TEXT LOG COMMAND...: runs Maven, with its output in the file LOG, and shows how far it is. After a failure it
# shows the errors. Ctrl-C ends it, and then the script, with exit code 130, and 143 after SIGTERM.
run_maven() {
  maven_text=$1
  maven_log=$2
  shift 2
  progress_since=$(date +%s)
  mkdir -p "$(dirname -- "$maven_log")"
  # In the background, so that a signal is handled at once.
  "$@" >"$maven_log" 2>&1 </dev/null &
  maven_worker=$!
  trap 'maven_ended 130' INT
  trap 'maven_ended 143' TERM
  progress_start "$maven_text" maven_figures
  maven_status=0
  wait "$maven_worker" || maven_status=$?
  progress_stop
  trap - INT TERM
  maven_took=$(($(date +%s) - progress_since))
  progress_since=
  [ "$maven_status" != 0 ] || return 0
  grep -E '^\[ERROR\]' "$maven_log" | head -n 20 >&2 || true
  echo "$maven_text: failed after $(progress_time "$maven_took"); all of the output is in $maven_log" >&2
  return 1
}

maven_ended() {
  trap '' INT TERM
  kill "$maven_worker" 2>/dev/null || true
  wait "$maven_worker" 2>/dev/null || true
  progress_stop
  echo "$(progress_line "$maven_text" maven_figures $(($(date +%s) - progress_since))): interrupted; the log is in $maven_log" >&2
  exit "$1"
}

# run_shown TEXT EXPECTED COMMAND...: runs a command, and shows for how long already. Beside it stands what the command does, which
# it writes as one line into the file $shown_state (BenchReport does), or before that EXPECTED, how long it usually takes. Nothing
# is shown if EXPECTED is empty. The command prints each result when it has it. Ctrl-C ends the command; the script then says that
# what was printed is partial, and exits with 130, or 143 after SIGTERM.
shown_state=it/target/bench-state
run_shown() {
  shown_text=$1
  shown_expected=$2
  shift 2
  progress_since=$(date +%s)
  rm -f "$shown_state"
  # In the background, so that a signal is handled at once, also one that only the script gets.
  "$@" </dev/null &
  shown_worker=$!
  trap 'shown_ended 130' INT
  trap 'shown_ended 143' TERM
  [ -z "$shown_expected" ] || progress_start "$shown_text" shown_figures
  shown_status=0
  wait "$shown_worker" || shown_status=$?
  progress_stop
  trap - INT TERM
  return "$shown_status"
}

shown_figures() {
  cat "$shown_state" 2>/dev/null || echo "$shown_expected"
}

shown_ended() {
  trap '' INT TERM
  kill "$shown_worker" 2>/dev/null || true
  wait "$shown_worker" 2>/dev/null || true
  progress_stop
  echo "$shown_text: PARTIAL: interrupted after $(progress_time $(($(date +%s) - progress_since))); only what is printed above was done" >&2
  exit "$1"
}
