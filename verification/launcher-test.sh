#!/usr/bin/env bash
# The launcher's own logic, without network, root or a build: finding a JDK, the stamp, and the APT
# source that it derives.
set -euo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0

check() {
    local name=$1 wanted=$2 got=$3
    if [[ $got != "$wanted" ]]; then
        printf 'FAILED %s\n  wanted: %s\n  got:    %s\n' "$name" "$wanted" "$got" >&2
        exit 1
    fi
    checks=$((checks + 1))
    echo "ok   $name"
}

contains() {
    local name=$1 part=$2 text=$3
    [[ $text == *"$part"* ]] || {
        printf 'FAILED %s: "%s" is not in:\n%s\n' "$name" "$part" "$text" >&2
        exit 1
    }
    checks=$((checks + 1))
    echo "ok   $name"
}

# Read by what is sourced.
export SPACE_HOME=$here
# shellcheck source=api/cli/launcher/prepare.sh
source "$here/api/cli/launcher/prepare.sh"
STEP_LOGS=$work

cat >"$work/debian.sources" <<'TEXT'
Types: deb
# a comment
URIs: http://mirror.test/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.test/security
Suites: bookworm-security
Components: main
TEXT
check "deb822 source gives backports of the same mirror and key" \
    "Types: deb
URIs: http://mirror.test/debian
Suites: bookworm-backports
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg" \
    "$(backports_source bookworm "$work/debian.sources")"

printf 'deb [signed-by=/k.gpg] http://one.test/debian bookworm main contrib\n' >"$work/sources.list"
check "one-line source gives backports, main only" \
    "deb [signed-by=/k.gpg] http://one.test/debian bookworm-backports main" \
    "$(backports_source bookworm "$work/sources.list")"
check "the first source that fits wins" \
    "deb [signed-by=/k.gpg] http://one.test/debian bookworm-backports main" \
    "$(backports_source bookworm "$work/sources.list" "$work/debian.sources")"

printf 'deb http://other.test/apt sdk-bookworm main\n' >"$work/other.list"
check "a foreign suite gives nothing" "" "$(backports_source bookworm "$work/other.list")"

printf 'right' >"$work/blob"
sha256_is "$work/blob" "$(sha256sum "$work/blob" | cut -d' ' -f1)"
check "a wrong checksum is refused" "refused" \
    "$(sha256_is "$work/blob" 0000 >/dev/null || echo refused)"

output=$( (step broken "a step that fails" bash -c 'echo the reason; exit 7') 2>&1 || true)
contains "a failed step shows its log's tail" "the reason" "$output"
contains "a failed step is named" "FAILED: a step that fails" "$output"
half_broken() {
    false
    echo "never reached"
}
export -f half_broken
output=$( (step half "a step that fails in the middle" half_broken) 2>&1 && echo passed || echo stopped)
contains "a step stops at its first failing command" "stopped" "$output"

mkdir -p "$work/jdk/bin"
printf '#!/bin/sh\n' >"$work/jdk/bin/java"
chmod +x "$work/jdk/bin/java"
printf 'JAVA_VERSION="17.0.9"\n' >"$work/jdk/release"
functions=$(sed -n '/^jdk_major()/,/^}/p' "$here/space")
eval "$functions"
check "the JDK's version is read from its release file" 17 "$(jdk_major "$work/jdk")"
check "a directory without a JDK has no version" none "$(jdk_major "$work" || echo none)"

contains "help needs no build" "./space run" "$("$here/space" --help)"
echo "$checks checks passed"
