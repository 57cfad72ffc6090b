#!/bin/sh
# Links between the pages: links.sh SOURCE_DIR
#
# Each relative link of a .md file leads to a file or folder of the tree, each #anchor to a heading of its page (by
# GitHub's rule: lower case, spaces as hyphens, all other signs left out), and a link leads to each page below docs/.
# A fenced block behind a line <!-- from PATH --> is a part of that file, as it stands there.
# Links to other sites are not followed. Code, fenced or between backquotes, has no links.
set -u
cd "$1" || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/eciton_links.XXXXXX")
trap 'rm -rf "$work"' EXIT

find README.md CHANGELOG.md docs examples tests -name '*.md' | sort >"$work/pages"
# shellcheck disable=SC2046 # a list, of names without blanks
LC_ALL=C awk '
function fail(place, what) {
    print "FAILED " place ": " what
    failed = 1
}
function slug(heading) {
    gsub(/`/, "", heading)
    while (match(heading, /\]\([^)]*\)/))
        heading = substr(heading, 1, RSTART - 1) substr(heading, RSTART + RLENGTH)
    heading = tolower(heading)
    gsub(/[^a-z0-9_ -]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
}
# The path of a link from the folder of its page, without . and ..
function resolve(page, path,    part, kept, n, i, m) {
    sub(/[^\/]*$/, "", page)
    n = split(page path, part, "/")
    m = 0
    for (i = 1; i <= n; i++)
        if (part[i] == ".." && m > 0)
            m--
        else if (part[i] != "." && part[i] != "")
            kept[++m] = part[i]
    path = m ? kept[1] : "."
    for (i = 2; i <= m; i++)
        path = path "/" kept[i]
    return path
}
function text_of(path,    text, line, found) {
    while ((found = (getline line < path)) > 0)
        text = text line "\n"
    close(path)
    return found < 0 ? "" : text
}
function remember(link) {
    if (link !~ /^[a-z]+:/) {
        links++
        from[links] = FILENAME ":" FNR
        page[links] = FILENAME
        to[links] = link
    }
}
FNR == 1 {
    pages[FILENAME] = 1
    fenced = 0
}
/^<!-- from / {
    source = $3
    quoted = ""
    next
}
/^ *```/ {
    fenced = !fenced
    if (!fenced && source != "") {
        if (quoted == "" || !index(text_of(source), quoted))
            fail(FILENAME ":" FNR, "the block above is not in " source " as it stands here")
        source = ""
    }
    next
}
fenced {
    quoted = quoted $0 "\n"
    next
}
/^#+ / {
    heading = $0
    sub(/^#+ +/, "", heading)
    heading = slug(heading)
    count = seen[FILENAME "#" heading]++
    anchors[FILENAME "#" heading (count ? "-" count : "")] = 1
}
{
    gsub(/`[^`]*`/, "")
    while (match($0, /\]\([^) ]*/)) {
        remember(substr($0, RSTART + 2, RLENGTH - 2))
        $0 = substr($0, RSTART + RLENGTH)
    }
    if (match($0, /^\[[^]]*\]: +[^ ]+/)) {
        sub(/^\[[^]]*\]: +/, "")
        remember($1)
    }
}
END {
    for (i = 1; i <= links; i++) {
        path = to[i]
        anchor = ""
        if (match(path, /#.*/)) {
            anchor = substr(path, RSTART + 1)
            path = substr(path, 1, RSTART - 1)
        }
        path = path == "" ? page[i] : resolve(page[i], path)
        if (path ~ /^\.\./ || (!(path in pages) && system("test -e \"" path "\"") != 0))
            fail(from[i], "no " path " for the link " to[i])
        else if (anchor != "" && !((path "#" anchor) in anchors))
            fail(from[i], "no heading of " path " for the link " to[i])
        if (path != page[i])
            reached[path] = 1
    }
    for (path in pages)
        if (path ~ /^docs\// && !(path in reached))
            fail(path, "no link leads to this page")
    if (links == 0)
        fail("links", "none were found")
    if (!failed)
        print "links: " links " lead somewhere"
    exit failed
}' $(cat "$work/pages")
