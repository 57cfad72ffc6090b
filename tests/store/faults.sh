#!/bin/sh
# What becomes of a run store that is damaged, of a newer version, full, read-only or another run's:
# faults.sh PROGRAM SOURCE TOOL [SHIM]; without SHIM no disk is full.
#
# Bits are turned and ends are cut off at places drawn at random. Nothing may crash, and what is not as it was
# written may not be silent: what export writes, and what resume ends with, is what was there, or it is said
# that something is lost. ECITON_FULL_STORE=1 draws 30 places and 30 lengths of each store, and fills a real
# file system of a megabyte where one can be mounted.
set -u
program=$1
here=$2/tests/store
tool=$3
shim=${4:-}
whole=${ECITON_FULL_STORE:-0}
places=4
[ "${ECITON_SCRIPTS:-whole}" = short ] && places=2
[ "$whole" = 1 ] && places=30
work=$(mktemp -d "${TMPDIR:-/tmp}/eciton_faults.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
passed=0
failed=0

fail() { # NAME REASON
    echo "FAILED $1: $2"
    sed 's/^/    /' "$work/output" | head -n 20
    failed=$((failed + 1))
}

# tell NAME WANTED_STATUS TEXT COMMAND...: its exit status, and what it says
tell() {
    name=$1
    wanted=$2
    text=$3
    shift 3
    "$@" >"$work/output" 2>&1 </dev/null
    status=$?
    if [ $status -ne "$wanted" ]; then
        fail "$name" "exit status $status, expected $wanted"
    elif ! grep -qF -e "$text" "$work/output"; then
        fail "$name" "'$text' is missing"
    elif grep -q -e Sanitizer -e 'runtime error:' "$work/output"; then
        fail "$name" "a sanitizer spoke"
    else
        passed=$((passed + 1))
    fi
}

left_by() { # FOLDER
    "$tool" dump "$1"
    for file in best.csv rows.csv; do
        [ ! -e "$1/$file" ] || sort "$1/$file"
    done
    [ ! -e "$1/history.csv" ] || cut -d, -f1-3,5- "$1/history.csv"
}

make() { # NAME SCRIPT FLAGS...
    name=$1
    shift
    "$program" run "$@" --quiet --threads 1 --out "$work/$name" >"$work/output" 2>&1 </dev/null ||
        fail "$name" "the run fails"
    left_by "$work/$name" >"$work/$name.bits"
    "$program" export "$work/$name" --csv --to "$work/$name.csv" >"$work/output" 2>&1
}

make best "$here/killed_search.lua"
make all "$here/killed_search.lua" --set keep=all --set generations=100
make sweep "$here/killed_sweep.lua"

# ---- damage ----

# Exit status 0 or 1, and no sanitizer.
stands() { # NAME STATUS
    if [ "$2" -gt 1 ] || grep -q -e Sanitizer -e 'runtime error:' "$work/output"; then
        fail "$1" "exit status $2, or a sanitizer spoke"
        return 1
    fi
}

# `alike FILE FILE`, or the output says that something is not
said_or_same() { # NAME STATUS COMMAND...
    at=$1
    status=$2
    shift 2
    stands "$at" "$status" || return
    if [ "$status" -eq 1 ] || grep -q -e 'is damaged' "$work/output" || "$@" >/dev/null 2>&1; then
        passed=$((passed + 1))
    else
        fail "$at" "it is silent about what is not as it was"
    fi
}

damage() { # NAME flip|cut SEED
    rm -rf "$work/out" "$work/csv"
    cp -R "$work/$1" "$work/out"
    at="$1, $2 at $("$tool" "$2" "$work/out" "$3")"
    "$program" show "$work/out" >"$work/output" 2>&1 </dev/null
    stands "$at, show" $?
    "$program" report "$work/out" --output "$work/page.html" >"$work/output" 2>&1 </dev/null
    stands "$at, report" $?
    "$program" export "$work/out" --csv --to "$work/csv" >"$work/output" 2>&1 </dev/null
    said_or_same "$at, export" $? diff -r "$work/$1.csv" "$work/csv"
    "$program" resume "$work/out" --quiet >"$work/output" 2>&1 </dev/null
    status=$?
    left_by "$work/out" >"$work/again" 2>&1
    said_or_same "$at, resume" $status cmp "$work/$1.bits" "$work/again"
    [ $status -eq 0 ] || return
    # what was mended is a store like any other
    "$tool" check "$work/out" >"$work/output" 2>&1 || fail "$at" "it is not whole afterwards"
    "$program" show "$work/out" >"$work/output" 2>&1 </dev/null
    ! grep -q 'is damaged' "$work/output" || fail "$at" "it is still damaged afterwards"
    # what a row of a sweep has lost is computed again
    [ "$1" != sweep ] || grep -q 'not as it was written: .eciton show' "$work/output" ||
        [ "$(grep '^rows_1 ' "$work/again" | cut -d' ' -f2- | cksum)" = "$(grep '^rows_1 ' "$work/$1.bits" |
            cut -d' ' -f2- | cksum)" ] || fail "$at" "the sweep has other rows"
}

for store in best all sweep; do
    i=0
    while [ $i -lt "$places" ]; do
        i=$((i + 1))
        damage $store flip $((i + 100))
        damage $store cut $((i + 200))
    done
done

# ---- a newer version ----

rm -rf "$work/out"
cp -R "$work/best" "$work/out"
"$tool" query "$work/out" "PRAGMA user_version = 99" >/dev/null
cksum <"$work/out/run.db" >"$work/before"
newer="was written by a newer version of Eciton"
for command in show resume report "export --csv"; do
    # shellcheck disable=SC2086 # a list
    set -- $command
    tell "newer, $1" 1 "$newer" "$program" "$1" "$work/out" ${2:-}
done
tell "newer, run" 1 "$newer" "$program" run "$here/killed_search.lua" --quiet --out "$work/out"
tell "newer, fresh" 1 "$newer" "$program" run "$here/killed_search.lua" --quiet --fresh --out "$work/out"
cksum <"$work/out/run.db" | cmp -s - "$work/before" || fail newer "the store was changed"

# ---- another run ----

tell "another" 1 "holds a run of" "$program" run "$here/killed_sweep.lua" --quiet --out "$work/best"
tell "another's rows" 1 "were computed from another objective" \
    "$program" run "$here/killed_sweep.lua" --quiet --set directions=101 --out "$work/sweep"

# ---- readers ----

rm -rf "$work/out"
cp -R "$work/best" "$work/out"
find "$work/out" | sort >"$work/before"
tell "reads, show" 0 "winner" "$program" show "$work/out"
tell "reads, runs" 0 "finished" "$program" runs "$work/out"
tell "reads, compare" 0 "finished" "$program" compare "$work/out" "$work/out"
tell "reads, report" 0 "written to" "$program" report "$work/out" --output "$work/page.html"
tell "reads, export" 0 "written to" "$program" export "$work/out" --csv --to "$work/csv"
find "$work/out" | sort | cmp -s - "$work/before" || {
    find "$work/out" >"$work/output"
    fail reads "readers leave files behind"
}
rm -rf "$work/csv"
"$tool" copies "$work/out" 1200 2>"$work/output" || fail "many searches" "they cannot be made"
"$program" export "$work/out" --csv --to "$work/csv" >"$work/output" 2>&1 </dev/null ||
    fail "many searches" "they cannot be exported"
cmp -s "$work/csv/search_1200_designs.csv" "$work/csv/search_1_designs.csv" ||
    fail "many searches" "the last one is another one"

# ---- a folder that cannot be written ----

# As root, for whom every folder can be, in a name space of mounts where the folder cannot.
if [ "$(id -u)" -ne 0 ]; then
    chmod -R a-w "$work/best"
    as_reader() { "$@"; }
    can_read=1
elif unshare -m sh -c "mount --bind '$work' '$work' && mount -o remount,bind,ro '$work'" 2>/dev/null; then
    as_reader() {
        # shellcheck disable=SC2016 # of the inner shell
        unshare -m sh -c 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"' "$work/best" "$@"
    }
    can_read=1
else
    can_read=0
    echo "left out: a folder that cannot be written (this is root, who may not mount)"
fi
if [ $can_read = 1 ]; then
    tell "read-only, show" 0 "winner" as_reader "$program" show "$work/best"
    tell "read-only, export" 0 "written to" as_reader "$program" export "$work/best" --csv --to "$work/csv"
    tell "read-only, export into it" 1 "cannot be" as_reader "$program" export "$work/best" --csv
    tell "read-only, resume" 1 "run.db' cannot be" as_reader "$program" resume "$work/best"
    tell "read-only, run" 1 "cannot be written" as_reader \
        "$program" run "$here/killed_search.lua" --quiet --fresh --out "$work/best"
    chmod -R u+w "$work/best"
fi

# ---- a full disk ----

# What was found is told all the same, and when there is room again the run goes on.
full() { # NAME: after a run whose output is there, of status $status
    if [ $status -ne 0 ] || ! grep -q '^  f  *-3.60' "$work/output"; then
        fail "$1" "exit status $status, or the best is not told"
    elif ! grep -q -e 'the disk is full' -e 'No space left' "$work/output"; then
        fail "$1" "it is not said that the disk is full"
    else
        passed=$((passed + 1))
    fi
}

if [ -n "$shim" ]; then
    # one that is full before the run has begun ends it
    STORE_SHIM_FULL=20 LD_PRELOAD=$shim tell "full at the begin" 1 "cannot be written: the disk is full" \
        "$program" run "$here/killed_search.lua" --quiet --out "$work/none"
    for first in 80 150 250; do
        rm -rf "$work/out"
        STORE_SHIM_FULL=$first LD_PRELOAD=$shim "$program" run "$here/killed_search.lua" --quiet --checkpoint 0.001 \
            --out "$work/out" >"$work/output" 2>&1 </dev/null
        status=$?
        full "full from call $first"
        tell "full from call $first, show" 0 "killed_search.lua" "$program" show "$work/out"
        tell "full from call $first, whole" 0 ok "$tool" check "$work/out"
        tell "full from call $first, resume" 0 "-3.60" "$program" resume "$work/out" --quiet
        left_by "$work/out" >"$work/again"
        cmp -s "$work/best.bits" "$work/again" || {
            diff "$work/best.bits" "$work/again" >"$work/output"
            fail "full from call $first" "the run does not end as the unbroken one"
        }
    done
fi

if [ "$whole" = 1 ] && mkdir "$work/disk" && mount -t tmpfs -o size=1m none "$work/disk" 2>/dev/null; then
    trap 'umount "$work/disk"; rm -rf "$work"' EXIT
    "$program" run "$here/killed_search.lua" --quiet --set keep=all --set generations=4000 --set method=best1bin \
        --out "$work/disk/out" >"$work/output" 2>&1 </dev/null
    status=$?
    cp "$work/output" "$work/said"
    # best.csv has no room either, which is an error of the run
    [ $status -eq 1 ] && status=0
    full "a disk of a megabyte"
    tell "a disk of a megabyte, whole" 0 ok "$tool" check "$work/disk/out"
    "$program" show "$work/disk/out" >"$work/output" 2>&1
    stands "a disk of a megabyte, show" $?
    sed 's/^/    /' "$work/said"
fi

: >"$work/output"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
