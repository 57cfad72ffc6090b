#!/bin/sh
# Files that the program writes from its own tables: pages.sh PROGRAM SOURCE_DIR [current|write]
#
# current: compares those of the source tree with what the program prints now. write: writes them again.
# Without a word: compares, and looks whether the manual page, the completions and the annotations for
# editors are taken by groff, bash, zsh and Lua, those of these that are there.
set -u
program=$1
source=$2
what=${3:-all}
work=$(mktemp -d "${TMPDIR:-/tmp}/eciton_pages.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED $*"
    failed=1
}

for page in markdown=docs/reference.md man=docs/eciton.1 luals=scripts/eciton.meta.lua \
    bash=completions/eciton.bash zsh=completions/_eciton; do
    file=$source/${page#*=}
    "$program" help "--${page%%=*}" >"$work/page" || fail "eciton help --${page%%=*}"
    [ "$what" != write ] || cp "$work/page" "$file"
    if ! cmp -s "$file" "$work/page"; then
        fail "${page#*=} is old: eciton help --${page%%=*} >${page#*=} (./dev pages writes all)"
        diff "$file" "$work/page" | head -n 10
    fi
done
if [ "$what" != all ]; then
    [ "$failed" -ne 0 ] || echo "generated pages are current"
    exit "$failed"
fi

if command -v groff >/dev/null; then
    groff -man -ww -Tascii "$source/docs/eciton.1" 2>&1 >"$work/text" | grep . && fail "groff warns"
    grep -q 'eciton - optimization' "$work/text" || fail "groff: the page is empty"
fi

# The annotations are Lua and name what the module has, no more and no less.
"$program" run "$source/tests/pages/meta.lua" --trust --set "path=$source/scripts/eciton.meta.lua" >"$work/meta" 2>&1 || {
    fail "annotations"
    cat "$work/meta"
}

if command -v zsh >/dev/null; then
    zsh -n "$source/completions/_eciton" || fail "zsh: syntax"
fi

if command -v bash >/dev/null; then
    mkdir -p "$work/here/out" "$work/here/runs/first" "$work/here/empty"
    touch "$work/here/out/run.db" "$work/here/data.csv"
    printf 'local n = ec.arg("count", 3) + ec.arg("width", 1)\n' >"$work/here/a script.lua"
    # complete EXPECTED WORDS...: the last word is the one to be completed
    cat >"$work/complete.bash" <<'END'
cd "$1" && . "$2" || exit 1
shift 2
COMP_WORDS=(eciton "$@")
COMP_CWORD=$#
_eciton
printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ,
END
    complete() {
        expected=$1
        shift
        found=$(LC_ALL=C bash --norc "$work/complete.bash" "$work/here" "$completions" "$@" 2>&1)
        [ "$found" = "$expected" ] || fail "bash: '$*' gives '$found', expected '$expected'"
    }
    completions=$(cd "$source" && pwd)/completions/eciton.bash
    complete "run,runs" ru
    complete "a script.lua,empty,out,runs" run ""
    complete "--quick,--quiet" run --qui
    complete "--force" resume --f
    complete "" resume --quick
    complete "out" show o
    complete "runs" compare out r
    complete "" show e
    complete "data.csv" export out --to d
    complete "cpu,cuda" run "a script.lua" --backend c
    complete "cpu,cuda" run "a script.lua" --backend = c
    complete "count=,width=" run "a script.lua" --set ""
    complete "" run "a script.lua" --seed = 3
    complete "lshade" help lsh
    complete "sll_db,sll_mean_db" help sll
fi

[ "$failed" -ne 0 ] || echo "pages: passed"
exit "$failed"
