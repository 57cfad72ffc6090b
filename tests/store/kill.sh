#!/bin/sh
# Kills runs with --out at moments of all kinds and lets them go on: kill.sh PROGRAM SOURCE TOOL SHIM
#
# TOOL is store_tool, SHIM is store_shim.so (both of this folder). A run is killed at calls of its own that change
# the store, drawn at random among all that an unbroken run makes: before, in the middle of and behind a
# write. After each kill the store has to open and to be whole for SQLite's own check, and with `eciton resume`,
# which is killed too, the run has to end with what the unbroken one leaves, to the bit.
#
# ECITON_FULL_STORE=1 draws 20 moments for each of all methods and policies, and 20 by the clock in searches and
# sweeps of some seconds, where it also says how much the kill cost. ECITON_STORE_SEED is another draw.
set -u
program=$1
here=$2/tests/store
tool=$3
shim=$4
whole=${ECITON_FULL_STORE:-0}
seed=${ECITON_STORE_SEED:-1}
work=$(mktemp -d "${TMPDIR:-/tmp}/eciton_store.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
passed=0
failed=0
begun=0 # kills that hit a run which had begun

fail() { # NAME REASON
    echo "FAILED $1: $2"
    sed 's/^/    /' "$work/output" | head -n 20
    failed=$((failed + 1))
}

draw() { # LIMIT: $drawn from 1 to LIMIT
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 8 % $1 + 1))
}

# What a run leaves, less the times.
left_by() { # FOLDER
    "$tool" dump "$1" || return 1
    for file in best.csv front.csv rows.csv; do
        [ ! -e "$1/$file" ] || sort "$1/$file"
    done
    [ ! -e "$1/history.csv" ] || cut -d, -f1-3,5- "$1/history.csv"
}

# What a kill has left: shown, and whole. The check is of a copy, for SQLite mends what it opens.
look_at() { # NAME
    if "$program" show "$work/out" >"$work/output" 2>&1 </dev/null; then
        begun=$((begun + 1))
    elif ! grep -q "holds no run" "$work/output"; then
        fail "$1" "the store cannot be shown"
        return 1
    fi
    rm -rf "$work/copy"
    cp -R "$work/out" "$work/copy" 2>/dev/null || return 0
    [ -e "$work/copy/run.db" ] || return 0
    "$tool" check "$work/copy" >"$work/output" 2>&1 || {
        fail "$1" "the store is not whole"
        return 1
    }
}

# Runs what was begun to its end.
go_on() {
    if ! "$program" resume "$work/out" --quiet >"$work/output" 2>&1 </dev/null; then
        grep -q "holds no run" "$work/output" || return 1
        # shellcheck disable=SC2086 # a list
        "$program" run $run --out "$work/out" >"$work/output" 2>&1 </dev/null
    fi
}

ended_alike() { # NAME
    if ! go_on; then
        fail "$1" "the run does not go on"
        return
    fi
    left_by "$work/out" >"$work/again"
    if cmp -s "$work/bits" "$work/again"; then
        passed=$((passed + 1))
    else
        diff "$work/bits" "$work/again" >"$work/output"
        fail "$1" "the run does not end as the unbroken one"
    fi
}

# The unbroken run, and of how many calls and tenths of a second it is.
run_whole() { # NAME
    rm -rf "$work/out"
    start=$(date +%s%N)
    # shellcheck disable=SC2086 # a list
    STORE_SHIM_COUNT=$work/count LD_PRELOAD=$shim "$program" run $run --out "$work/out" \
        >"$work/output" 2>&1 </dev/null
    tenths=$((($(date +%s%N) - start) / 100000000 + 1))
    left_by "$work/out" >"$work/bits"
    calls=$(cat "$work/count")
    [ "${calls:-0}" -gt 10 ] || fail "$1" "the unbroken run writes no store"
}

kill_at_calls() { # NAME KILLS
    run_whole "$1"
    i=0
    while [ $i -lt "$2" ]; do
        i=$((i + 1))
        rm -rf "$work/out"
        draw "$calls"
        at="$1, call $drawn of $calls"
        # shellcheck disable=SC2086 # a list
        STORE_SHIM_KILL=$drawn LD_PRELOAD=$shim "$program" run $run --out "$work/out" \
            >"$work/output" 2>&1 </dev/null
        look_at "$at" || continue
        draw "$calls"
        at="$at, then $drawn"
        STORE_SHIM_KILL=$drawn LD_PRELOAD=$shim "$program" resume "$work/out" >"$work/output" 2>&1 </dev/null
        look_at "$at" || continue
        ended_alike "$at"
    done
}

# Kills at moments of the clock; a store that lacks more than what two seconds found has lost a look.
kill_at_times() { # NAME KILLS
    i=0
    run_whole "$1"
    while [ $i -lt "$2" ]; do
        i=$((i + 1))
        rm -rf "$work/out"
        draw "$tenths"
        # shellcheck disable=SC2086 # a list
        "$program" run $run --out "$work/out" >"$work/output" 2>&1 </dev/null &
        process=$!
        sleep "$((drawn / 10)).$((drawn % 10))"
        kill -KILL $process 2>/dev/null
        wait $process 2>/dev/null
        at="$1, second $((drawn / 10)).$((drawn % 10))"
        look_at "$at" || continue
        lost=$("$tool" query "$work/copy" "SELECT $drawn / 10.0 - max(seconds) FROM history" 2>/dev/null)
        ended=$("$tool" query "$work/copy" "SELECT ended IS NOT NULL FROM search" 2>/dev/null)
        if [ "${ended:-0}" = 0 ] && [ -n "${lost:-}" ]; then
            echo "$at: what the last $lost s found was not in the store"
            case $lost in [0-1].* | -*) ;; *) fail "$at" "$lost s are lost" ;; esac
        fi
        ended_alike "$at"
    done
}

search() { # METHOD KEEP WORDS...: $run
    run="$here/killed_search.lua --quiet --threads 1 --set method=$1 --set keep=$2"
    shift 2
    run="$run $*"
}

sweep() { # WORDS...: $run
    run="$here/killed_sweep.lua --quiet --threads 1 $*"
}

if [ "$whole" = 1 ]; then
    for method in lshade rand1bin best1bin jde current_to_pbest cmaes acor nsga2; do
        for keep in best elite all; do
            search $method $keep --checkpoint 0.001
            kill_at_calls "$method, $keep" 20
        done
    done
    sweep
    kill_at_calls sweep 20
    search lshade best --set population=200 --set generations=100000
    kill_at_times "lshade, best" 20
    # what is written between two states is forgotten, and found again
    search lshade elite --set population=200 --set generations=100000 --checkpoint 2.3
    kill_at_times "lshade, elite, rare states" 20
    search cmaes elite --set population=200 --set generations=900
    kill_at_times "cmaes, elite" 20
    search nsga2 elite --set population=200 --set generations=8000
    kill_at_times "nsga2, elite" 20
    search best1bin all --set population=200 --set generations=3000
    kill_at_times "best1bin, all" 20
    sweep --set directions=40001
    kill_at_times sweep 20
else
    for case in "lshade best" "cmaes elite" "nsga2 elite" "best1bin all"; do
        # shellcheck disable=SC2086 # two words
        search $case --checkpoint 0.001
        kill_at_calls "$case" 4
    done
    sweep
    kill_at_calls sweep 4
fi

: >"$work/output"
[ $begun -gt $((passed / 2)) ] || fail kill "only $begun kills hit a run that had begun"
echo "$passed passed, $failed failed; $begun kills hit a run that had begun"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
