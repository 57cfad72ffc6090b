#!/bin/sh
# Processes share a sweep of 10,000 points in one store: share.sh PROGRAM SOURCE TOOL SHIM
#
# Two and four of them begin together; then one is killed in the middle and started again, while the others go
# on. None may fail or wait in vain, and the store has every row once, as one process alone writes them.
# ECITON_FULL_STORE=1 kills twenty times.
set -u
program=$1
here=$2/tests/store
tool=$3
shim=$4
kills=2
[ "${ECITON_FULL_STORE:-0}" = 1 ] && kills=20
work=$(mktemp -d "${TMPDIR:-/tmp}/eciton_share.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
run="$here/killed_sweep.lua --quiet --threads 1 --set directions=20001"
passed=0
failed=0

fail() { # NAME REASON
    echo "FAILED $1: $2"
    sed 's/^/    /' "$work"/output* | head -n 20
    failed=$((failed + 1))
}

# begin NUMBER [NAME=VALUE ...]: a process, whose number is added to $processes
begin() {
    output=$work/output$1
    shift
    # shellcheck disable=SC2086 # a list
    env "$@" "$program" run $run --out "$work/out" >"$output" 2>&1 </dev/null &
    processes="$processes $!"
}

# ended NAME: waits for all, and compares
ended() {
    for process in $processes; do
        wait "$process" || fail "$1" "a process failed"
    done
    processes=
    if grep -q -e warning -e error: -e eciton: "$work"/output*; then
        fail "$1" "a process complains"
        return
    fi
    "$tool" check "$work/out" >"$work/output" 2>&1 || fail "$1" "the store is not whole"
    "$tool" dump "$work/out" >"$work/again"
    tail -n +2 "$work/out/rows.csv" | sort >>"$work/again"
    rows=$("$tool" query "$work/out" "SELECT count(*) || ' ' || count(DISTINCT key) FROM rows_1")
    if cmp -s "$work/bits" "$work/again"; then
        passed=$((passed + 1))
    else
        fail "$1" "the table is another one, rows and different ones of them: $rows"
    fi
}

processes=
mkdir "$work/out"
begin 1 "STORE_SHIM_COUNT=$work/count" "LD_PRELOAD=$shim"
wait "$processes"
processes=
"$tool" dump "$work/out" >"$work/bits"
tail -n +2 "$work/out/rows.csv" | sort >>"$work/bits"
calls=$(cat "$work/count")
[ "$(grep -c '^rows_1 ' "$work/bits")" -eq 10000 ] || fail alone "one process does not write 10,000 rows"

for n in 2 4; do
    rm -rf "$work/out" "$work"/output*
    for i in $(seq $n); do
        begin "$i"
    done
    ended "$n processes"
done

i=0
while [ $i -lt $kills ]; do
    i=$((i + 1))
    rm -rf "$work/out" "$work"/output*
    at=$((i * 7919 % (calls * 3 / 4) + calls / 8))
    # the one that is killed; others have begun before it ends
    # shellcheck disable=SC2086 # a list
    STORE_SHIM_KILL=$at LD_PRELOAD=$shim "$program" run $run --out "$work/out" >"$work/output" 2>&1 </dev/null &
    victim=$!
    begin 1
    begin 2
    wait $victim 2>/dev/null
    rm -f "$work/output"
    begin 3
    ended "killed at call $at of $calls"
done

: >"$work/output"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
