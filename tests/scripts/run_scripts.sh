#!/bin/sh
# Runs scripts and compares what they print: run_scripts.sh PROGRAM SOURCE_DIR [NAME ...]
#
# A test is a script in good/ (exit status 0) or bad/ (exit status 1). Lines at its head say more:
#   -- flags: ...      flags of `eciton run`; the word OUT is a fresh folder
#   -- command: check  instead of run
#   -- env: NAME=VALUE
#   -- expect: text    must occur in what it prints (stdout and stderr together)
#   -- refuse: text    must not occur
#   -- file: NAME      must exist in OUT afterwards
#   -- holds: NAME TEXT    the text must occur in this file of OUT
#   -- long: reason    not run where ECITON_SCRIPTS=short
# Every example runs to its end with --quick; with ECITON_SCRIPTS=short it is only checked. NAME
# limits the run to tests whose name contains it: good/, bad/NAME, examples/, section/cli, ...
set -u
program=$1
source=$2
shift 2
here=$source/tests/scripts
length=${ECITON_SCRIPTS:-whole}
work=$(mktemp -d "${TMPDIR:-/tmp}/eciton_scripts.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
passed=0
failed=0

wanted() { # NAME FILTERS...
    name=$1
    shift
    [ $# -eq 0 ] && return 0
    for filter in "$@"; do
        case $name in *"$filter"*) return 0 ;; esac
    done
    return 1
}

fail() { # NAME REASON
    echo "FAILED $1: $2"
    sed 's/^/    /' "$work/output" | head -n 20
    failed=$((failed + 1))
}

head_lines() { # WORD FILE
    sed -n "s/^-- $1: //p" "$2"
}

# report NAME STATUS WANTED_STATUS FILE_WITH_EXPECTATIONS
report() {
    if [ "$2" -ne "$3" ]; then
        fail "$1" "exit status $2, expected $3"
        return
    fi
    if grep -q -e 'Sanitizer' -e 'runtime error:' "$work/output"; then
        fail "$1" "a sanitizer spoke"
        return
    fi
    reason=
    head_lines expect "$4" >"$work/lines"
    while IFS= read -r text; do
        grep -qF -e "$text" "$work/output" || reason="'$text' is missing"
    done <"$work/lines"
    head_lines refuse "$4" >"$work/lines"
    while IFS= read -r text; do
        ! grep -qF -e "$text" "$work/output" || reason="'$text' should not be there"
    done <"$work/lines"
    for file in $(head_lines file "$4"); do
        [ -s "$work/out/$file" ] || reason="the file $file is missing"
    done
    head_lines holds "$4" >"$work/lines"
    while read -r file text; do
        grep -qaF -e "$text" "$work/out/$file" || reason="'$text' is missing in $file"
    done <"$work/lines"
    if [ -n "$reason" ]; then
        fail "$1" "$reason"
    else
        passed=$((passed + 1))
    fi
}

run_test() { # SCRIPT WANTED_STATUS
    if [ "$length" = short ] && grep -q '^-- long: ' "$1"; then
        return
    fi
    rm -rf "$work/out"
    flags=$(head_lines flags "$1" | sed "s#OUT#$work/out#g")
    command=$(head_lines command "$1")
    variables=$(head_lines env "$1")
    # shellcheck disable=SC2086 # lists
    env $variables "$program" "${command:-run}" "$1" $flags >"$work/output" 2>&1 </dev/null
    report "$(basename "$(dirname "$1")")/$(basename "$1")" $? "$2" "$1"
}

for script in "$here"/good/*.lua; do
    wanted "good/${script##*/}" "$@" && run_test "$script" 0
done
for script in "$here"/bad/*.lua; do
    wanted "bad/${script##*/}" "$@" && run_test "$script" 1
done

# ---- the command line itself -----------------------------------------------------------------------

# cli NAME WANTED_STATUS EXPECTED_TEXT ARGUMENTS...
cli() {
    name=cli/$1
    wanted_status=$2
    printf -- '-- expect: %s\n' "$3" >"$work/expected"
    shift 3
    "$program" "$@" >"$work/output" 2>&1 </dev/null
    report "$name" $? "$wanted_status" "$work/expected"
}

if wanted section/cli "$@"; then
    good=$here/good/small.lua
    printf '\033LuaS\000\031\223\r\n' >"$work/bytecode.lua"
    cli bytecode 1 "bytecode.lua: this is bytecode; only scripts as text are run" run "$work/bytecode.lua"
    cli missing_script 1 "nowhere.lua" run "$work/nowhere.lua"
    cli folder_as_script 1 "not a file" run "$work"
    cli no_script 2 "which script? eciton run SCRIPT" run
    cli no_script_check 2 "which script? eciton check SCRIPT" check
    cli unknown_flag 2 "unknown flag '--quik' (did you mean '--quick'?)" run "$good" --quik
    cli unknown_command 2 "unknown command 'rnu'" rnu "$good"
    cli threads 2 "--threads wants a whole number" run "$good" --threads none
    cli seed 2 "--seed wants a whole number" run "$good" --seed -1
    cli set 2 "--set wants NAME=VALUE" run "$good" --set 3
    cli seed_too_large 2 "--seed wants a whole number from 0 to 9e15" run "$good" --seed 9007199254740992
    cli seed_largest 0 "feasible" run "$good" --json --seed 9000000000000000
    cli backend 2 "--backend wants cpu, cuda, cuda:N, cuda:all, auto and lists like cuda:0,cuda:1, got 'gpu'" run "$good" --backend gpu
    cli backend_empty 2 "--backend needs a value" run "$good" --backend=
    cli out_empty 2 "--out needs a value" run "$good" --out=
    cli data 1 "there is no such folder" run "$good" --data "$work/nowhere"
    cli data_file 1 "it is a file, not a folder" run "$good" --data "$good"
    if ! "$program" info | grep -q '^  cuda:0'; then
        cli no_cuda 1 "cuda" run "$good" --backend cuda
    fi
    cli json 0 '"best":{"status":"feasible","objectives":{"f":' run "$good" --json --quiet
    case $(tail -n 1 "$work/output") in
    '{"name":"small"'*'}}') ;;
    *) fail cli/json_last_line "the last line is no JSON object" ;;
    esac
    cli json_without_search 0 '"best":null' run "$here/good/expressions.lua" --json --quiet
    cli check 0 "us an evaluation" check "$good"
    cli check_polish 0 "the polish not included" check "$source/examples/aperiodic_17.lua"
    cli check_without_search 0 "no job:solve or job:sweep is reached" check "$here/good/expressions.lua"
    cli check_sweep 0 "sweep of 441 designs: pedestal 21 x steer_deg 21" check "$source/examples/array_sweep.lua"
    cli json_sweep 0 '"stop":"complete","message":"6561 rows, 0 found, 6561 run, 0 failed"' \
        run "$here/sweep_kill.lua" --json --quiet
    cli quick_sweep 0 "27 rows, 0 found, 27 run, 0 failed" run "$here/sweep_kill.lua" --quick --quiet
    cli info 0 "libraries" info
    cli help 0 "topics of eciton help NOUN" help
    # the rows of a sweep that are there are taken
    cat >"$work/sheet.lua" <<'END'
local ec = require "eciton"
local job = ec.job{ name = "sheet" }
local a, b = job:real{ name = "a", min = 0, max = 1 }, job:real{ name = "b", min = 0, max = 2 }
job:record("y", a * b)
print(job:sweep{ points = { a = 20, b = 10 * ec.arg("tens", 1) }, name = "rows" })
END
    cli sheet 0 "200 rows, 0 found, 200 run" run "$work/sheet.lua" --quiet --out "$work/sheet"
    cli sheet_again 0 "200 rows, 200 found, 0 run" run "$work/sheet.lua" --quiet --out "$work/sheet"
    cli sheet_more 0 "380 rows, 200 found, 180 run" \
        run "$work/sheet.lua" --quiet --out "$work/sheet" --set tens=1.9
    cli sheet_shown 0 "sweep rows: 380 rows, 0 of them failed" show "$work/sheet"
    [ "$(wc -l <"$work/sheet/rows.csv")" -eq 381 ] || fail cli/sheet_file "rows.csv has not all rows"
    cli export_csv 0 "written to" export "$work/sheet" --csv
    sed 's/^[^,]*,[^,]*,[^,]*,//' "$work/sheet/export/rows.csv" | tail -n +2 >"$work/exported"
    sed 's/,0$//' "$work/sheet/rows.csv" | tail -n +2 | cmp -s - "$work/exported" || fail cli/export_csv "other rows"
    cli export_json 0 "written to" export "$work/sheet" --json --to "$work/exports"
    [ "$(grep -c '"status":0,"reason":null,"a":' "$work/exports/run.json")" -eq 380 ] || fail cli/export_json "not all rows"
    grep -q '"number":1,"name":"rows"' "$work/exports/run.json" || fail cli/export_json "no name of the sweep"
    cli export_which 2 "eciton export DIR --csv|--json" export "$work/sheet"
    cli export_nothing 1 "holds no run" export "$work/nowhere" --csv
    cli report 0 "written to" report "$work/sheet" --output "$work/sheet.html"
    # its rows have the figures of rows.csv
    sed -n '/"rows":{"total":380,"shown":380,/,$p' "$work/sheet.html" | sed -n '/^"values":\[/,/\]\]}/p' |
        head -3 | tr -d '[]}"a-z:' | tr ',' '\n' | sed '/^$/d' | head -1140 >"$work/drawn"
    for column in 1 2 3; do
        tail -n +2 "$work/sheet/rows.csv" | cut -d, -f$column
    done | awk '{ printf "%.7g\n", $1 }' | cmp -s - "$work/drawn" || fail cli/report "other rows"
    cli report_which 2 "which run?" report
    cli report_nothing 1 "holds no run" report "$work/nowhere"
    cli export_no_files 1 "the run wrote no far fields (.ffd) into '$work/sheet': there are export, rows.csv" \
        export "$work/sheet" --ffd
    for name in a.s2p b.s2p c.s4p; do
        printf '# GHz S RI R 50\n! %s\n' "$name" >"$work/sheet/$name"
    done
    cli export_touchstone 0 "written: $work/sheet/export/b.s2p" export "$work/sheet" --touchstone
    cli export_one 0 "written: $work/one/d.s4p" export "$work/sheet" --touchstone --to "$work/one/d.s4p"
    cmp -s "$work/sheet/c.s4p" "$work/one/d.s4p" || fail cli/export_one "another file"
    cli export_which_file 1 "several that end in .s2p: a.s2p, b.s2p, c.s4p" \
        export "$work/sheet" --touchstone --to "$work/one/d.s2p"
    cli export_no_such 1 "ends in .s3p: there are a.s2p, b.s2p, c.s4p" \
        export "$work/sheet" --touchstone --to "$work/one/d.s3p"
    cli export_itself 1 "would be written over itself" export "$work/sheet" --touchstone --to "$work/sheet"
    cli export_two 2 "got '--csv'" export "$work/sheet" --touchstone --csv
    cli compare_one 2 "which runs?" compare "$work/sheet"
    cli force 2 "--force is a flag of eciton resume" run "$good" --force
    mkfifo "$work/pipe.lua" "$work/pipe_module.lua"
    printf 'require "pipe_module"\n' >"$work/pipe_require.lua"
    cli pipe_as_script 1 "a pipe or a device" run "$work/pipe.lua"
    cli pipe_as_module 1 "pipe_module.lua' is not a file" run "$work/pipe_require.lua"
    cp "$here/good/expressions.lua" "$work/$(printf 'n\377"q').lua"
    cli json_name 0 '{"name":"n\ufffd\"q.lua","stop":"no search"' run "$work/$(printf 'n\377"q').lua" --json
    # a search without a design: its numbers, its history, its exit status
    cli all_failed 1 '"stop":"generations","message":"all 4 generations were run; every design failed' \
        run "$here/all_failed.lua" --json --quiet --out "$work/failed"
    cli all_failed_causes 1 "x the cost or a constraint is not a finite number" run "$here/all_failed.lua"
    [ "$(wc -l <"$work/failed/history.csv")" -eq 5 ] || fail cli/all_failed_history "history.csv is not kept"
    # the result stays when the script fails behind it
    cli json_then_error 1 '"best":{"status":"feasible"' run "$here/error_after.lua" --json
    cli help_array 0 "exclude_u" help sll_db
    cli help_method 0 "smallest population" help lshade
    cli help_family 0 "sequential least-squares programming" help nlopt
    cli help_of_family 0 "search_evaluations" help nlopt_ld_slsqp
    cli help_unknown 2 "no help on 'antena'" help antena
    cli help_near 2 "no help on 'ec.taper.chebishev'; near it: chebyshev" help ec.taper.chebishev
    cli help_see_also 0 "see also: array:sll_db" help array
    cli help_link 0 "link:delay_spread()" help link
    cli help_link_method 0 "default with normalize" help link:capacity
    cli help_options 0 "see also: link:capacity" help capacity
    cli help_materials 0 "0.1 to 100, 220 to 450 GHz" help materials
    cli help_methods 0 "NSGA-II: genetic algorithm for several objectives" help methods
    cli help_resume 0 "eciton resume DIR [--backend NAME]" help resume
    cli help_run 0 "usage: eciton COMMAND" help run
    cli help_report 0 "eciton report DIR [--output FILE]" help report
    cli help_show 0 "eciton show DIR" help show
    cli show_nothing 1 "holds no run: there is no" show "$work/nowhere"
    # a run of values alone is told of too, but not in the place of a search
    cli values_run 0 "" run "$here/good/expressions.lua" --quiet --out "$work/values"
    cli values_shown 0 "expressions.lua, finished" show "$work/values"
    cli values_report 0 "written to" report "$work/values"
    cli values_search 0 "" run "$here/good/small.lua" --quiet --fresh --out "$work/values"
    cli values_again 0 "" run "$here/good/expressions.lua" --quiet --fresh --out "$work/values"
    cli values_left 0 "small.lua, finished" show "$work/values"
    cli runs_nothing 1 "is no folder" runs "$work/nowhere"
    cli help_units 0 "kHz, MHz, GHz" help units
    cli run_help 0 "usage: eciton COMMAND" run --help
    cli check_help 0 "usage: eciton COMMAND" check "$good" --help
    cli markdown 0 "# Reference of the Lua module" help --markdown
fi

# ---- output that cannot be written ---------------------------------------------------------------------

# written NAME WANTED_STATUS EXPECTED_TEXT: of a command whose status is in $status
written() {
    printf -- '-- expect: %s\n' "$3" >"$work/expected"
    report "output/$1" "$status" "$2" "$work/expected"
}

if wanted section/output "$@"; then
    good=$here/good/small.lua
    slow="$here/good/interrupt.lua --set seconds=1"
    gone="the output cannot be written"
    for command in "help" "info" "help --markdown" "run $good --quiet" "check $good"; do
        # shellcheck disable=SC2086 # a list
        "$program" $command >/dev/full 2>"$work/output" </dev/null
        status=$?
        written "full: ${command% *}" 1 "$gone"
        # shellcheck disable=SC2086 # a list
        "$program" $command >&- 2>"$work/output" </dev/null
        status=$?
        written "closed: ${command% *}" 1 "$gone"
    done
    # a reader that goes away does not cost the files, nor the closed output a file's content
    for reader in gone closed; do
        rm -rf "$work/out"
        # shellcheck disable=SC2086 # a list
        if [ $reader = closed ]; then
            "$program" run $slow --out "$work/out" >&- 2>"$work/output" </dev/null
            status=$?
        else
            {
                "$program" run $slow --out "$work/out" 2>"$work/output" </dev/null
                echo $? >"$work/status"
            } | true
            status=$(cat "$work/status")
        fi
        written "reader $reader" 1 "$gone"
        if ! grep -q '^f,1,' "$work/out/best.csv" || ! grep -q '^1,' "$work/out/history.csv"; then
            fail "output/reader $reader" "files are missing or spoilt"
        fi
    done
    # what a killed run has left is taken over; a link of that name is not followed
    rm -rf "$work/out"
    mkdir "$work/out"
    echo left >"$work/out/best.csv.part"
    echo mine >"$work/mine"
    ln -s "$work/mine" "$work/out/history.csv.part"
    ln -s "$work/mine" "$work/out/saved.csv"
    "$program" run "$here/good/save.lua" --out "$work/out" >"$work/output" 2>&1 </dev/null
    status=$?
    written left 0 ""
    if [ -n "$(find "$work/out" -name '*.part')" ] || [ "$(cat "$work/mine")" != mine ]; then
        fail output/left "a part is left, or a link was followed"
    fi
    head -n 1 "$work/out/saved.csv" | grep -q '^"x,""1""",' || fail output/left "names are not quoted"
    # a file of an array that has no place; the result is printed all the same
    rm -rf "$work/out"
    mkdir -p "$work/out/pattern_2.cut"
    "$program" run "$here/good/array_files.lua" --out "$work/out" >"$work/output" 2>&1 </dev/null
    status=$?
    written array 1 "pattern_2.cut' cannot be written: it is a folder"
    grep -q 'directivity_db' "$work/output" || fail output/array "the result is not printed"
    # a folder that cannot take a file whole keeps the old one
    rm -rf "$work/out"
    "$program" run "$here/save_large.lua" --out "$work/out" >"$work/output" 2>&1 </dev/null
    cp "$work/out/large.csv" "$work/large"
    (
        ulimit -f 100
        trap '' XFSZ
        "$program" run "$here/save_large.lua" --out "$work/out" >"$work/output" 2>&1 </dev/null
    )
    status=$?
    written whole 1 "large.csv' cannot be written: File too large"
    cmp -s "$work/large" "$work/out/large.csv" || fail output/whole "the old file is not whole"
fi

# ---- the same seed gives the same bits ---------------------------------------------------------------

if wanted section/determinism "$@"; then
    for flags in "--threads 1" "--threads 2" "--threads 7" "--threads 2 --set chunk=32"; do
        # shellcheck disable=SC2086 # a list
        "$program" run "$here/good/determinism.lua" --backend cpu --json --quiet $flags 2>/dev/null </dev/null |
            tail -n 1 | sed 's/"seconds":[^,]*,//' >>"$work/bits"
    done
    : >"$work/output"
    if [ "$(sort -u "$work/bits" | wc -l)" -eq 1 ] && grep -q '"evaluations"' "$work/bits"; then
        passed=$((passed + 1))
    else
        cp "$work/bits" "$work/output"
        fail determinism "threads or chunks change the result"
    fi
fi

# ---- a signal ends a search with the best so far -------------------------------------------------------

# interrupt NAME SIGNAL FLAGS...
interrupt() {
    name=interrupt/$1-$2
    signal=$2
    script=$here/good/$1.lua
    shift 2
    : >"$work/errors"
    "$program" run "$script" "$@" --json >"$work/output" 2>"$work/errors" </dev/null &
    process=$!
    waited=0
    until grep -q searching "$work/errors" || [ $waited -ge 100 ]; do
        sleep 0.1
        waited=$((waited + 1))
    done
    sleep 0.3
    kill -"$signal" $process
    wait $process
    status=$?
    printf -- '-- expect: "stop":"interrupted"\n-- expect: "status":"feasible"\n' >"$work/expected"
    cat "$work/errors" >>"$work/output"
    report "$name" $status 0 "$work/expected"
}

if wanted section/interrupt "$@"; then
    interrupt interrupt INT --set seconds=60
    interrupt interrupt TERM --set seconds=60
    interrupt interrupt_host INT --set generations=1000000
    interrupt interrupt_polish INT
    printf -- '-- expect: interrupted in the polish\n' >"$work/expected"
    report interrupt/polish $status 0 "$work/expected"
    # also one that evaluates its best designs again, alone and by several workers
    interrupt interrupt_final TERM
    interrupt interrupt_final INT --backend cpu,cpu
    grep -q '"sll_db":null' "$work/output" || fail interrupt/final "there are final figures"
    # and a value that takes long
    "$program" run "$here/value_long.lua" >"$work/output" 2>&1 </dev/null &
    process=$!
    sleep 1
    kill -TERM $process
    wait $process
    status=$?
    printf -- '-- expect: value_long.lua:6: interrupted\n' >"$work/expected"
    report interrupt/value $status 143 "$work/expected"
fi

# wait_shown FOLDER TEXT TWENTIETHS: until `eciton show` says TEXT of the folder, or so many twentieths of a second.
wait_shown() {
    waited=0
    until "$program" show "$1" 2>/dev/null | grep -q "$2" || [ $waited -ge "$3" ]; do
        sleep 0.05
        waited=$((waited + 1))
    done
}

# kill_shown FOLDER TEXT TWENTIETHS [PAUSE]: kills what was started last, PAUSE seconds after that.
kill_shown() {
    process=$!
    wait_shown "$@"
    sleep "${4:-0}"
    kill -KILL $process
    wait $process 2>/dev/null
}

# ---- a run that is killed goes on to the same bits -------------------------------------------------------

# What a run leaves, less the times.
left_by() {
    for folder in "$1" "$1/search_2"; do
        cat "$folder/best.csv"
        cut -d, -f1-3,5- "$folder/history.csv"
    done
}

if wanted section/resume "$@"; then
    script=$here/resumed.lua
    "$program" run "$script" --quiet --out "$work/whole" --checkpoint 0.01 >"$work/output" 2>&1 </dev/null
    left_by "$work/whole" >"$work/bits"
    for pause in 0 0.2 0.4 0.6 0.8; do
        rm -rf "$work/out"
        "$program" run "$script" --quiet --out "$work/out" --checkpoint 0.01 >"$work/output" 2>&1 </dev/null &
        kill_shown "$work/out" begun 200 $pause
        "$program" resume "$work/out" --quiet >"$work/output" 2>&1 </dev/null
        left_by "$work/out" >"$work/again"
        if cmp -s "$work/bits" "$work/again"; then
            passed=$((passed + 1))
        else
            diff "$work/bits" "$work/again" >"$work/output"
            fail "resume/$pause" "a killed run does not go on to the same bits"
        fi
    done
    "$program" compare "$work/whole" "$work/out" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect:   1: f \n-- expect:   2: x \n-- expect: * seconds\n-- refuse: * 1: f \n-- refuse: * 2: f \n' \
        >"$work/expected"
    report resume/compare $status 0 "$work/expected"
    # a killed one is not given up unasked, also when it could not be resumed
    rm -rf "$work/killed"
    cp "$script" "$work/edited.lua"
    "$program" run "$work/edited.lua" --quiet --out "$work/killed" --checkpoint 0.01 >"$work/output" 2>&1 </dev/null &
    kill_shown "$work/killed" "a state to go on from" 200
    echo '-- a line more' >>"$work/edited.lua"
    "$program" resume "$work/killed" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: belongs to another script\n' >"$work/expected"
    report resume/edited $status 1 "$work/expected"
    "$program" run "$work/edited.lua" --quiet --out "$work/killed" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: holds an unfinished run\n' >"$work/expected"
    report resume/unfinished $status 1 "$work/expected"
    "$program" run "$work/edited.lua" --quiet --out "$work/killed" --fresh >"$work/output" 2>&1 </dev/null
    status=$?
    printf '' >"$work/expected"
    report resume/fresh $status 0 "$work/expected"
    "$program" resume "$work/out" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: the search was over: generation 100, 2218 evaluations\n' >"$work/expected"
    report resume/finished $status 0 "$work/expected"
    # the files of a finished run are written again, by the search and by the script
    rm -rf "$work/link"
    "$program" run "$here/good/mimo_files.lua" --quiet --out "$work/link" >"$work/output" 2>&1 </dev/null
    cp -r "$work/link" "$work/written"
    rm "$work/link/antennas.csv" "$work/link/channel.npy" "$work/link/paths.csv" "$work/link/coverage.csv" "$work/link/h.npy"
    "$program" resume "$work/link" --quiet >"$work/output" 2>&1 </dev/null
    status=$?
    printf '' >"$work/expected"
    report resume/files $status 0 "$work/expected"
    for file in antennas.csv channel.npy paths.csv coverage.csv h.npy; do
        cmp -s "$work/link/$file" "$work/written/$file" || fail resume/files "$file is another one"
    done
    # a script that has changed
    cp "$script" "$work/changed.lua"
    "$program" run "$work/changed.lua" --quick --quiet --out "$work/changed" >"$work/output" 2>&1 </dev/null
    sed -i 's/1.5/1.25/' "$work/changed.lua"
    "$program" resume "$work/changed" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: belongs to another script: the script, or a file that it reads, has changed\n' \
        >"$work/expected"
    report resume/changed $status 1 "$work/expected"
    "$program" resume "$work/changed" --force >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: the search was over: generation 8\n' >"$work/expected"
    report resume/force $status 0 "$work/expected"
    # the folder of another script
    "$program" run "$script" --quick --quiet --out "$work/changed" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: changed.lua'\'': give another --out, or --fresh\n' >"$work/expected"
    report resume/another $status 1 "$work/expected"
    "$program" run "$script" --quick --quiet --out "$work/changed" --fresh >"$work/output" 2>&1 </dev/null
    status=$?
    printf '' >"$work/expected"
    report resume/another_fresh $status 0 "$work/expected"
    "$program" runs "$work" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: finished     resumed.lua  f \n-- expect: finished     mimo_files.lua\n' >"$work/expected"
    report resume/runs $status 0 "$work/expected"
    "$program" resume "$work/out" --seed 3 >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: --seed is not for resume\n' >"$work/expected"
    report resume/flag $status 2 "$work/expected"
    # another version, of as many characters
    version=$("$program" --version | cut -d ' ' -f 2)
    other=$(echo "$version" | tr 0-9 9)
    LC_ALL=C sed -i "s/$version/$other/g" "$work/changed/run.db"
    "$program" resume "$work/changed" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: was begun by version %s\n' "$other" >"$work/expected"
    report resume/version $status 1 "$work/expected"
    echo 'no store' >"$work/changed/run.db"
    "$program" resume "$work/changed" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: is damaged, or no run store\n' >"$work/expected"
    report resume/damaged $status 1 "$work/expected"
    "$program" resume "$work/nothing" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: holds no run\n' >"$work/expected"
    report resume/nothing $status 1 "$work/expected"
fi

# ---- several workers give the bits of one ----------------------------------------------------------------

if wanted section/workers "$@"; then
    script=$here/workers.lua
    one=${ECITON_WORKERS:-cpu} # or a GPU, as cuda:0
    for list in $one $one,$one $one,$one,$one; do
        "$program" run "$script" --backend "$list" --threads 3 >"$work/output" 2>&1 </dev/null
        grep '^bits ' "$work/output" >"$work/again"
        [ "$list" = "$one" ] && cp "$work/again" "$work/bits"
        if [ "$(wc -l <"$work/again")" -eq 5 ] && cmp -s "$work/bits" "$work/again" &&
            { [ "$list" = "$one" ] || grep -q "workers: $list (" "$work/output"; }; then
            passed=$((passed + 1))
        else
            diff "$work/bits" "$work/again" >>"$work/output"
            fail "workers/$list" "not the bits of one worker"
        fi
    done
    # one that is killed goes on, with another number of them too, to the same bits
    "$program" run "$script" --backend "$one,$one" --quiet --out "$work/out" --checkpoint 0.01 >"$work/output" 2>&1 </dev/null &
    kill_shown "$work/out" "a state to go on from" 200
    "$program" show "$work/out" | grep -q ", $one,$one (" || fail workers/list "the store has no list"
    "$program" resume "$work/out" --backend "$one,$one,$one" >"$work/output" 2>&1 </dev/null
    grep '^bits ' "$work/output" >"$work/again"
    if grep -q "workers: $one,$one,$one (" "$work/output" && cmp -s "$work/bits" "$work/again"; then
        passed=$((passed + 1))
    else
        diff "$work/bits" "$work/again" >>"$work/output"
        fail workers/resume "a killed run does not go on to the same bits"
    fi
fi

# ---- a sweep goes on where it was killed ---------------------------------------------------------------

# table NAME: whether the table in out has every row of the unbroken one, each once
table() {
    tail -n +2 "$work/out/rows.csv" | sort >"$work/rows"
    if cmp -s "$work/rows" "$work/unbroken"; then
        passed=$((passed + 1))
    else
        fail "sweep_kill/$1" "$(wc -l <"$work/rows") rows, $(sort -u "$work/rows" | wc -l) of them different"
    fi
}

if wanted section/sweep_kill "$@"; then
    # shellcheck disable=SC2086 # a list
    killed="$here/sweep_kill.lua --threads 1"
    rm -rf "$work/out"
    "$program" run $killed --quiet --out "$work/out" >"$work/output" 2>&1 </dev/null
    tail -n +2 "$work/out/rows.csv" | sort >"$work/unbroken"
    rm -rf "$work/out"
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$program" run $killed --quiet --out "$work/out" >"$work/output" 2>&1 </dev/null &
        process=$!
        sleep "0.$((i * 37 % 20 + 10))"
        kill -KILL $process 2>/dev/null
        wait $process 2>/dev/null
    done
    "$program" run $killed --out "$work/out" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: 6561 rows\n' >"$work/expected"
    report sweep_kill/end $status 0 "$work/expected"
    table killed
    # a signal ends it with the rows so far
    rm -rf "$work/out"
    "$program" run $killed --out "$work/out" >"$work/output" 2>&1 </dev/null &
    process=$!
    wait_shown "$work/out" begun 400
    kill -INT $process
    wait $process
    status=$?
    printf -- '-- expect: interrupted after\n' >"$work/expected"
    report sweep_kill/interrupted $status 0 "$work/expected"
    "$program" run $killed --out "$work/out" >"$work/output" 2>&1 </dev/null
    table interrupted
    # eciton resume does the same
    rm -rf "$work/out"
    "$program" run $killed --quiet --out "$work/out" >"$work/output" 2>&1 </dev/null &
    kill_shown "$work/out" begun 400
    "$program" resume "$work/out" >"$work/output" 2>&1 </dev/null
    table resumed
    # the model's own keys count: its rows are not those of another main beam
    "$program" run $killed --out "$work/out" --set exclude=0.12 >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: were computed from another objective sll_db\n' >"$work/expected"
    report sweep_kill/other_model $status 1 "$work/expected"
    # two processes share it, and one that would search has to wait
    rm -rf "$work/out"
    # shellcheck disable=SC2086 # a list
    "$program" run $killed --quiet --out "$work/out" >"$work/first" 2>&1 </dev/null &
    process=$!
    waited=0
    until "$program" show "$work/out" 2>/dev/null | grep -q "^sweep rows: [1-9]" || [ $waited -ge 200 ]; do
        sleep 0.02
        waited=$((waited + 1))
    done
    "$program" run "$here/good/small.lua" --quiet --fresh --out "$work/out" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: is being written by another run, which a search cannot share\n' >"$work/expected"
    report sweep_kill/search_beside $status 1 "$work/expected"
    # shellcheck disable=SC2086 # a list
    "$program" run $killed --quiet --out "$work/out" >"$work/output" 2>&1 </dev/null
    status=$?
    printf -- '-- expect: killed: 6561 rows\n-- refuse: 6561 rows, 0 found\n-- refuse: 6561 found\n' >"$work/expected"
    report sweep_kill/second_writer $status 0 "$work/expected"
    wait $process
    status=$?
    cp "$work/first" "$work/output"
    report sweep_kill/first_writer $status 0 "$work/expected"
    table shared
fi

# ---- the same of structures on grids, whose rows come a few at a time --------------------------------------

if wanted section/fdtd_sweep_kill "$@"; then
    killed="$here/fdtd_sweep_kill.lua --threads 1"
    rm -rf "$work/out"
    # shellcheck disable=SC2086 # a list
    "$program" run $killed --quiet --out "$work/out" >"$work/output" 2>&1 </dev/null
    tail -n +2 "$work/out/rows.csv" | sort >"$work/unbroken"
    for signal in KILL INT; do
        rm -rf "$work/out"
        # shellcheck disable=SC2086 # a list
        "$program" run $killed --quiet --out "$work/out" >"$work/output" 2>&1 </dev/null &
        process=$!
        waited=0
        rows=0
        until [ "${rows:-0}" -gt 0 ] || [ $waited -ge 400 ]; do
            sleep 0.02
            waited=$((waited + 1))
            rows=$("$program" show "$work/out" 2>/dev/null | sed -n 's/^sweep rows: \([0-9]*\) .*/\1/p')
        done
        kill -$signal $process 2>/dev/null
        wait $process 2>/dev/null
        if [ "${rows:-0}" -eq 0 ] || [ "$rows" -gt 15 ]; then
            fail "fdtd_sweep_kill/$signal" "rows do not come a few at a time"
        fi
        "$program" resume "$work/out" >"$work/output" 2>&1 </dev/null
        table "fdtd_$signal"
    done
fi

# ---- examples ------------------------------------------------------------------------------------------

for script in "$source"/examples/*.lua; do
    wanted "examples/${script##*/}" "$@" || continue
    rm -rf "$work/out"
    if [ "$length" = short ]; then
        "$program" check "$script" --quick >"$work/output" 2>&1 </dev/null
    else
        "$program" run "$script" --quick --out "$work/out" >"$work/output" 2>&1 </dev/null
    fi
    printf '' >"$work/expected"
    report "examples/$(basename "$script")" $? 0 "$work/expected"
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
