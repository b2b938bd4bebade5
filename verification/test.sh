#!/usr/bin/env bash
# Every gate and test, one after the other, to the end even when one fails; the closing line sums them
# up. Called by `./space test`, which has found the JDK. --fast leaves out what needs a VM or a server.
set -uo pipefail
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." || exit 1

fast=false
case ${1:-} in
    '') ;;
    --fast) fast=true ;;
    -h | --help)
        echo "Usage: ./space test [--fast]    --fast leaves out what needs a VM or a server"
        exit 0
        ;;
    *)
        echo "space: unknown option $1 of \`test\` (only --fast)" >&2
        exit 2
        ;;
esac

export JAVA_HOME=${SPACE_JDK:?set by ./space} PATH=$PATH:${HOME:-/root}/.cargo/bin
logs=.space/log/test
mkdir -p "$logs"
passed=0 failed=0 skipped=0
faults=()

headline() {
    printf '\n=== %s [%d s]\n' "$1" "$SECONDS"
}

# gate NAME COMMAND… : one check that passes or fails as a whole.
gate() {
    local name=$1
    shift
    headline "$name"
    if "$@" 2>&1 | tee "$logs/$name.log" | tail -n 40; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        faults+=("$name (log: $logs/$name.log)")
    fi
}

skip() {
    headline "$1"
    echo "not run: $2"
    skipped=$((skipped + 1))
}

# Adds up what surefire and failsafe wrote.
count_java() {
    local file line tests errors failures ignored
    while IFS= read -r file; do
        line=$(grep -m1 -o '<testsuite [^>]*>' "$file")
        tests=$(attribute tests "$line")
        errors=$(attribute errors "$line")
        failures=$(attribute failures "$line")
        ignored=$(attribute skipped "$line")
        passed=$((passed + tests - errors - failures - ignored))
        failed=$((failed + errors + failures))
        skipped=$((skipped + ignored))
        ((errors + failures == 0)) || faults+=("${file##*/}")
    done < <(reports)
}

reports() {
    find . -path '*/target/*-reports/TEST-*.xml' -not -path './.space/*'
}

attribute() {
    sed -n "s/.* $1=\"\([0-9]*\)\".*/\1/p" <<<"$2"
}

java_tests() {
    local options=(-B --no-transfer-progress --fail-at-end)
    $fast && options+=(-DskipITs)
    headline java
    reports | xargs -r rm -f
    local ok=true
    mvn "${options[@]}" verify >"$logs/java.log" 2>&1 || ok=false
    grep -E 'Tests run:.*(Time|FAIL)|BUILD|^\[ERROR\]' "$logs/java.log" | tail -n 120
    local before=$failed
    count_java
    if ! $ok && ((failed == before)); then
        failed=$((failed + 1))
        faults+=("mvn verify (log: $logs/java.log)")
    fi
}

# Each crate: format, lints, tests. The tests' own figures are counted.
rust_tests() {
    local crate=$1 name=${1//\//-} good bad
    gate "$name-fmt" cargo fmt --manifest-path "$crate/Cargo.toml" --check
    gate "$name-clippy" cargo clippy --quiet --manifest-path "$crate/Cargo.toml" --all-targets -- -D warnings
    headline "$name-test"
    local ok=true
    cargo test --manifest-path "$crate/Cargo.toml" >"$logs/$name-test.log" 2>&1 || ok=false
    grep -E '^test result|panicked|FAILED' "$logs/$name-test.log"
    good=$(sum_of passed "$logs/$name-test.log")
    bad=$(sum_of failed "$logs/$name-test.log")
    passed=$((passed + good))
    failed=$((failed + bad))
    skipped=$((skipped + $(sum_of ignored "$logs/$name-test.log")))
    if ! $ok; then
        ((bad)) || failed=$((failed + 1))
        faults+=("$name-test (log: $logs/$name-test.log)")
    fi
}

sum_of() {
    sed -n "s/^test result:.* \([0-9]*\) $1.*/\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

# The tests of guest and node run the static binaries of this clone; a release of the same sources
# in the cache does not leave them here.
rust_binaries() {
    local crate
    for crate in guest/daemon node-worker/jail; do
        cargo build --quiet --release --target "$(uname -m)-unknown-linux-musl" \
            --manifest-path "$crate/Cargo.toml" || return 1
    done
}

shell_gate() {
    if ! command -v shellcheck >/dev/null; then
        skip shellcheck "shellcheck is not installed (apt-get install shellcheck)"
        return
    fi
    local scripts
    mapfile -t scripts < <({
        git ls-files -co --exclude-standard -- '*.sh' 2>/dev/null
        git grep --untracked -lIE '^#!.*\b(ba)?sh\b' 2>/dev/null
    } | sort -u)
    gate shellcheck shellcheck -x -S warning "${scripts[@]}"
}

compose_gate() {
    if command -v docker-compose >/dev/null; then
        gate compose docker-compose -f docker-compose.yml config --quiet
    else
        skip compose "docker-compose is not installed (apt-get install docker-compose)"
    fi
}

life() {
    if ((EUID != 0)); then
        skip life "needs root: it makes VMs, mounts and namespaces"
        return
    fi
    gate life verification/life.sh
}

# What only the tests need; a user without root is told by the tests that skip.
test_tools() {
    local missing=() tool
    for tool in busybox:busybox-static shellcheck:shellcheck docker-compose:docker-compose \
        jq:jq curl:curl; do
        command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}")
    done
    ((${#missing[@]})) || return 0
    echo "installing ${missing[*]}"
    { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y \
        --no-install-recommends "${missing[@]}"; } >"$logs/apt.log" 2>&1
}

if ((EUID == 0)); then
    gate tools test_tools
fi
if ! $fast && ((EUID == 0)); then
    export SPACE_TEMPLATES="default minimal"
    gate prepare ./space prepare
    SPACE_RELEASE=$(./space release-path) && export SPACE_RELEASE
fi
shell_gate
gate launcher verification/launcher-test.sh
compose_gate
rust_tests guest/daemon
rust_tests node-worker/jail
$fast || gate rust-binaries rust_binaries
java_tests
$fast || life

printf '\n'
if ((${#faults[@]})); then
    printf 'FAILED: %s\n' "${faults[@]}"
fi
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
