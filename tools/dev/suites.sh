# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How check.sh, check-sanitized.sh and .ci/run run a suite, count its tests and close. To be sourced, with the top of the
# checkout as the current folder.
#
#   suite NAME SECONDS COUNT COMMAND...   run one; SECONDS is its budget, and over twice that it is stopped and fails
#   close_suites                          the runners' closing lines, then `N passed, M failed`
#
# COUNT says how the output is counted: `step` is one test, `plain` ends in `N passed, M failed`, `lit` is lit's own.

suites_passed=0
suites_failed=0
suites_closing=()
suites_logs=build/check
mkdir -p "$suites_logs"

# Print the number before a word in a log: "  Passed: 12", or "12 passed".
lit_number() { sed -nE "s/^ *$1 *: *([0-9]+).*/\1/p" "$2" | tail -1; }
plain_number() { grep -E '^[0-9]+ passed, [0-9]+ failed' "$2" | tail -1 | sed -nE "s/.*\b([0-9]+) $1.*/\1/p"; }

# Set `passed` and `failed` of a finished suite from its log.
count_suite() {
  local log=$1 how=$2 name
  passed=0 failed=0
  case $how in
    lit)
      passed=$(lit_number Passed "$log")
      for name in Failed Unresolved 'Timed Out' 'Unexpectedly Passed'; do
        failed=$((failed + $(lit_number "$name" "$log" | grep . || echo 0)))
      done ;;
    plain)
      passed=$(plain_number passed "$log")
      failed=$(plain_number failed "$log") ;;
  esac
  passed=${passed:-0} failed=${failed:-0}
}

# Keep the lines with which a runner itself ended.
close_suite() {
  local name=$1 how=$2 log=$3 line mark=
  ((failed == 0)) || mark='FAILED '
  case $how in
    lit) line=$(sed -n '/^Total Discovered Tests/,$p' "$log") ;;
    *) line=$(grep . "$log" | tail -1) ;;
  esac
  suites_closing+=("$mark$name: $line")
}

suite() {
  local name=$1 seconds=$2 how=$3 status=0 start=$SECONDS log passed failed seconds_taken
  shift 3
  log=$suites_logs/${name// /-}.log
  printf '\n== %s (budget %s s): %s\n' "$name" "$seconds" "$*"
  timeout --kill-after=10 $((2 * seconds)) "$@" </dev/null 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  ((status != 124 && status != 137)) ||
    printf '%s: stopped after twice its %s seconds\n' "$name" "$seconds" | tee -a "$log"
  count_suite "$log" "$how"
  # A suite that fails, or counts no test, is at least one failure; a good step is one test.
  [[ $how != step || $status -ne 0 ]] || passed=1
  if ((status != 0 && failed == 0)); then failed=1; fi
  if ((passed + failed == 0)); then
    printf '%s: ran no test\n' "$name" | tee -a "$log"
    failed=1 status=1
  fi
  suites_passed=$((suites_passed + passed))
  suites_failed=$((suites_failed + failed))
  close_suite "$name" "$how" "$log"
  seconds_taken=$((SECONDS - start))
  printf -- '-- %s: %s in %s s%s\n' "$name" \
    "$( ((failed == 0)) && echo good || echo FAILED)" $seconds_taken \
    "$( ((seconds_taken > seconds)) && echo ', over its budget')"
  ((failed == 0))
}

close_suites() {
  printf '\n'
  printf '%s\n' "${suites_closing[@]}"
  printf '\n%d passed, %d failed\n' "$suites_passed" "$suites_failed"
  exit $((suites_failed > 0))
}
