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
export SPACE_HOME=$PWD
# shellcheck source=api/cli/launcher/packages.sh
source api/cli/launcher/packages.sh
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
    if component rustfmt "$name-fmt"; then
        gate "$name-fmt" cargo fmt --manifest-path "$crate/Cargo.toml" --check
    fi
    if component clippy "$name-clippy"; then
        gate "$name-clippy" cargo clippy --quiet --manifest-path "$crate/Cargo.toml" \
            --all-targets -- -D warnings
    fi
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

# component NAME GATE: has or gets a part of the toolchain; else the gate is skipped with the reason.
component() {
    local tool=$1
    [[ $1 != clippy ]] || tool=cargo-clippy
    # rustup puts a stand-in for every tool on the path: only starting it tells.
    "$tool" --version >/dev/null 2>&1 && return
    if command -v rustup >/dev/null; then
        echo "adding $1 to the Rust toolchain"
        rustup component add "$1" >"$logs/rustup.log" 2>&1 && return
        skip "$2" "$1 is missing and rustup could not add it: $(tail -n 1 "$logs/rustup.log")"
    else
        skip "$2" "$1 is missing (rustup component add $1)"
    fi
    return 1
}

sum_of() {
    sed -n "s/^test result:.* \([0-9]*\) $1.*/\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

# The tests of guest and node run the static binaries of this clone; a release of the same sources
# in the cache does not leave them here. They look where a musl build puts them; where that target
# cannot be had, the static gnu binaries stand there.
rust_binaries() {
    local binary
    bash -euo pipefail -c 'source api/cli/launcher/prepare.sh; build_rust' || return 1
    for binary in guest/daemon:space-daemon node-worker/{jail:space-jail,reader:space-reader}; do
        install -D -m 0755 ".space/bin/${binary##*:}" \
            "${binary%%:*}/target/x86_64-unknown-linux-musl/release/${binary##*:}" || return 1
    done
}

shell_gate() {
    if ! command -v shellcheck >/dev/null; then
        skip shellcheck "shellcheck is not installed (apt-get install -y shellcheck)"
        return
    fi
    local scripts
    mapfile -t scripts < <({
        git ls-files -co --exclude-standard -- '*.sh' 2>/dev/null
        git grep --untracked -lIE '^#!.*\b(ba)?sh\b' -- ':!*.md' 2>/dev/null
    } | sort -u)
    gate shellcheck shellcheck -x -S warning "${scripts[@]}"
}

compose_gate() {
    if command -v docker-compose >/dev/null; then
        gate compose docker-compose -f docker-compose.yml config --quiet
    else
        skip compose "docker-compose is not installed (apt-get install -y docker-compose)"
    fi
}

life() {
    if ((EUID != 0)); then
        skip life "needs root: it makes VMs, mounts and namespaces"
        return
    fi
    gate life verification/life.sh
}

# What builds and tests need: installed by root, one after the other, so that a package that is not
# to be had takes no other one along. Its test then says what it misses.
test_tools() {
    local package
    for package in $(missing_packages build test); do
        if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
            echo "missing: $package (as root: apt-get install -y --no-install-recommends $package)"
            continue
        fi
        [[ -e $logs/apt-updated ]] || { apt-get -q update >"$logs/apt.log" 2>&1 &&
            touch "$logs/apt-updated"; }
        echo "installing $package"
        DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$package" \
            >>"$logs/apt.log" 2>&1 || echo "could not install $package: $(tail -n 1 "$logs/apt.log")"
    done
    rm -f "$logs/apt-updated"
}

# A real vault for the tests of credentials; where it cannot be had they say that they are skipped.
vault_server() {
    local load='source api/cli/launcher/prepare.sh;'
    [[ -z ${SPACE_BAO_BIN:-} ]] || return 0
    if bash -euo pipefail -c "$load fetch_openbao" >"$logs/openbao.log" 2>&1; then
        SPACE_BAO_BIN=$(bash -c "$load openbao_binary")
        export SPACE_BAO_BIN
    else
        skip openbao "the server could not be fetched: $(tail -n 1 "$logs/openbao.log")"
    fi
}

# The same for keys of organisations.
kms_server() {
    local load='source api/cli/launcher/prepare.sh;'
    [[ -z ${SPACE_KMS_BIN:-} ]] || return 0
    if bash -euo pipefail -c "$load build_local_kms" >"$logs/local-kms.log" 2>&1; then
        SPACE_KMS_BIN=$(bash -c "$load local_kms_binary")
        export SPACE_KMS_BIN
    else
        skip local-kms "the server could not be built: $(tail -n 1 "$logs/local-kms.log")"
    fi
}

# Without these nothing can be tested: better one clear line than a hundred failures.
demand_builders() {
    local tool lacking=()
    for tool in mvn cargo cc git python3; do
        command -v "$tool" >/dev/null || lacking+=("$tool")
    done
    ((${#lacking[@]} == 0)) || {
        echo "space: \`test\` needs ${lacking[*]}; as root \`./space prepare\` installs all but" \
            "cargo, which is had with: curl -fsSL https://sh.rustup.rs | sh -s -- -y" >&2
        exit 1
    }
}

test_tools
demand_builders
if ! $fast && ((EUID == 0)); then
    export SPACE_TEMPLATES="default minimal"
    gate prepare ./space prepare
    SPACE_RELEASE=$(./space release-path) && export SPACE_RELEASE
    SPACE_TEMPLATE_NAMES=$(./space template-names-path) && export SPACE_TEMPLATE_NAMES
fi
shell_gate
gate launcher verification/launcher-test.sh
compose_gate
rust_tests guest/daemon
rust_tests node-worker/jail
rust_tests node-worker/reader
$fast || gate rust-binaries rust_binaries
$fast || vault_server
$fast || ((EUID != 0)) || kms_server
java_tests
$fast || life

printf '\n'
if ((${#faults[@]})); then
    printf 'FAILED: %s\n' "${faults[@]}"
fi
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
