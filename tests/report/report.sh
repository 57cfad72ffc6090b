#!/bin/sh
# Pages of `eciton report` in a browser: report.sh PROGRAM SOURCE_DIR
#
# Runs the scripts beside it, and opens the page of each run in chromium, 1400 and 380 px wide. A failure is an
# error in the browser's console, a request to anywhere, a section that is missing or twice, a plot that is
# not drawn in the view or has no data, a page that is wider than its window or larger than 8 MB, or one that
# newer data spoil. Exits with 77 where there is no chromium.
set -u
program=$1
here=$2/tests/report
browser=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v "$name")
done
if [ -z "$browser" ]; then
    echo "skipped: no chromium is installed"
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/eciton_report.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED $*"
    failed=1
}

# make NAME STATUS TITLES: runs NAME.lua and adds its page to those to be looked at.
: >"$work/pages"
make() {
    "$program" run "$here/$1.lua" --out "$work/$1" --seed 1 >"$work/log" 2>&1
    status=$?
    [ "$status" = "$2" ] || { fail "$1.lua: exit status $status"; tail -n 5 "$work/log"; }
    "$program" report "$work/$1" >"$work/log" 2>&1 || { fail "report of $1"; cat "$work/log"; return; }
    [ "$(wc -c <"$work/$1/report.html")" -lt 8000000 ] || fail "$1: the page is larger than 8 MB"
    { cat "$work/$1/report.html"; echo "<script>"; cat "$here/check.js"; echo "</script>"; } >"$work/$1.html"
    echo "    [\"$1\", \"$3\"]," >>"$work/pages"
}

make array 0 "Search 1: line|Search 2: surface|Elements|Pattern|Pattern over two angles|Environment|Script"
make front 0 "Search: front|Sweep: sweep|Environment|Script"
make link 0 "Search: link|Antennas and paths|Coverage|Channel|Environment|Script"
make filter 0 "Search: step|Structure|Field in a plane|S-parameters|Environment|Script"
make failed 1 "Search: failed|Environment|Script"
make nothing 0 "Environment|Script"

# One browser for all: a page that shows the others, one after the other, in frames of both widths, and says in
# the console what they answer.
cat >"$work/all.html" <<END
<!DOCTYPE html><meta charset="utf-8"><body>
<script>
(async () => {
  const pages = [
$(cat "$work/pages")
  ];
  for (const [name, titles] of pages)
    for (const width of [1400, 380]) {
      const frame = document.createElement("iframe");
      frame.style = "border: 0; width: " + width + "px; height: 900px; position: fixed; top: 0; left: 0";
      frame.src = name + ".html#" + encodeURIComponent(titles);
      const answer = await new Promise(resolve => {
        addEventListener("message", event => resolve(event.data), {once: true});
        setTimeout(() => resolve({wrong: ["it did not answer"], plots: 0}), 100000);
        document.body.append(frame);
      });
      frame.remove();
      for (const text of answer.wrong) console.log("@FAILED " + name + " at " + width + " px: " + text + "@");
      console.log("@seen " + name + " at " + width + " px, " + answer.plots + " plots@");
    }
  console.log("@seen all@");
})();
</script>
END
"$browser" --headless=new --no-sandbox --disable-gpu --use-angle=swiftshader --enable-unsafe-swiftshader \
    --no-first-run --disable-background-networking --disable-component-update --user-data-dir="$work/profile" \
    --window-size=1400,900 --remote-debugging-port=0 --enable-logging=stderr --v=0 "file://$work/all.html" \
    >"$work/log" 2>"$work/console" &
pid=$!
for _ in $(seq 1 300); do
    sleep 0.5
    if grep -q '@seen all@' "$work/console" || ! kill -0 $pid 2>/dev/null; then
        break
    fi
done
kill $pid 2>/dev/null
wait $pid 2>/dev/null
sed -n 's/.*"@\(.*\)@".*/\1/p' "$work/console" | tee "$work/said"
grep -q '^FAILED ' "$work/said" && failed=1
grep -q '^seen all$' "$work/said" || { fail "the browser did not come to the end"; tail -n 20 "$work/console"; }
# What the browser says of its own of canvases is no fault of a page.
grep ':CONSOLE' "$work/console" | grep -v -e '"@.*@"' -e willReadFrequently -e 'GPU stall' >"$work/others" &&
    { fail "the console says"; cut -c 1-300 "$work/others" | head -n 10; }
exit "$failed"
