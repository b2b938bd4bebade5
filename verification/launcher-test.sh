#!/usr/bin/env bash
# The launcher's own logic, without network, root or a build.
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

# Packages: with a path on which little is.
mkdir -p "$work/few"
for tool in bash sort cat grep sed cut id stat xargs getent cargo; do
    ln -sf "$(command -v "$tool" || echo /bin/true)" "$work/few/$tool"
done
lacking=$(PATH=$work/few missing_packages build platform | xargs)
contains "a machine without anything lacks QEMU" " qemu-system-x86 qemu-utils " "$lacking "
contains "and what a build needs" "gcc git" "$lacking"
for tool in "${!PLATFORM_PACKAGES[@]}"; do
    ln -sf /bin/true "$work/few/$tool"
done
check "a package that is there is not asked for" "" "$(PATH=$work/few missing_packages platform)"
listed=$(sed -n '/for tool in qemu/,/; do/p' "$here/space" | tr ' \\;' '\n\n\n' |
    grep -vxE 'for|tool|in|do|' | LC_ALL=C sort | xargs)
check "the launcher's quick look knows every tool of the platform" \
    "$(printf '%s\n' "${!PLATFORM_PACKAGES[@]}" | LC_ALL=C sort | xargs)" "$listed"
output=$(
    codename() { echo bookworm; }
    needs_backports() { true; }
    own_backports_source() { echo "deb http://one.test/debian bookworm-backports main"; }
    package_commands jq qemu-utils
)
check "whoever is not root gets commands to copy" \
    "    cat >/etc/apt/sources.list.d/space-backports.list <<'END'
deb http://one.test/debian bookworm-backports main
END
    apt-get update
    apt-get install -y --no-install-recommends jq
    apt-get install -y --no-install-recommends -t bookworm-backports qemu-utils" "$output"

# The launcher's functions, looking for JDKs below $work only.
functions=$(sed -n '/^die()/,/^}/p; /^jdk_major()/,/^# One hash/p' "$here/space" |
    sed "s#/usr/lib/jvm/#$work/jvm/#; s# /opt/# $work/opt/#g")
eval "$functions"
jdk() {
    mkdir -p "$1/bin"
    printf '#!/bin/sh\n' >"$1/bin/java"
    cp "$1/bin/java" "$1/bin/javac"
    chmod +x "$1"/bin/*
    printf 'JAVA_VERSION="%s"\n' "$2" >"$1/release"
}
jdk "$work/jvm/old" 17.0.9
check "the JDK's version is read from its release file" 17 "$(jdk_major "$work/jvm/old")"
check "a directory without a JDK has no version" none "$(jdk_major "$work" || echo none)"
found() {
    (export HOME=$work PATH=$work/few JAVA_HOME=; unset SUDO_USER; find_jdk && echo "$JDK") 2>&1
}
output=$(found || true)
contains "an old JDK is named" "too old: JDK 17 at $work/jvm/old" "$output"
contains "with the command that installs another" "apt-get install -y temurin-25-jdk" "$output"
rm -r "$work/jvm/old"
contains "no JDK at all is said" "none was found" "$(found || true)"
jdk "$work/.sdkman/candidates/java/25" 25.0.1
check "a JDK at home is found" "$work/.sdkman/candidates/java/25" "$(found)"

cargo_says() {
    printf '#!/bin/sh\necho "cargo %s (abc 2025)"\n' "$1" >"$work/few/cargo.new"
    chmod +x "$work/few/cargo.new"
    mv "$work/few/cargo.new" "$work/few/cargo"
    (export HOME=$work PATH=$work/few; unset SUDO_USER; require_cargo && echo fits) 2>&1
}
contains "an old cargo is refused" "is too old: SPACE needs Rust ≥ 1.85" "$(cargo_says 1.63.0 || true)"
check "a new one fits" fits "$(cargo_says 1.95.0)"
rm "$work/few/cargo"
output=$( (export HOME=$work PATH=$work/few; unset SUDO_USER; require_cargo) 2>&1 || true)
contains "no cargo: the command that installs it" "https://sh.rustup.rs | sh" "$output"

# What was fetched and then touched is fetched again.
eval "$(sed -n '/^shape_of()/,/^# Sets/p' "$here/space")"
mkdir -p "$work/server/bin"
echo one >"$work/server/bin/postgres"
check "a server without a record is not trusted" no "$(is_intact "$work/server" && echo yes || echo no)"
stage() {
    mkdir -p "$work/stage/bin"
    echo "$1" >"$work/stage/bin/postgres"
    publish_server "$work/stage" "$work/server"
    rm -rf "$work/stage" "$work"/stage.*
}
stage one
check "after fetching the same it is" yes "$(is_intact "$work/server" && echo yes || echo no)"
echo two >"$work/server/bin/postgres"
touch -d 2020-01-01 "$work/server/bin/postgres"
check "touched, it is not" no "$(is_intact "$work/server" && echo yes || echo no)"
stage three
check "and is replaced" "three yes" \
    "$(cat "$work/server/bin/postgres") $(is_intact "$work/server" && echo yes || echo no)"

# Two clones share the cache: which template a name means is written beside each one's release.
eval "$(sed -n '/^template_stamp()/,/^}/p; /^what_is_missing()/,/^}/p' "$here/space")"
clone() {
    mkdir -p "$work/$1/guest/templates" "$work/cache/templates/$2"
    # Whoever built last is named in the cache.
    cat >"$work/$1/guest/templates/build" <<TEXT
#!/bin/sh
mkdir -p "\$3/templates/by-name"
echo $2 >"\$3/templates/by-name/\$1"
echo "progress" >&2
echo $2
TEXT
    chmod +x "$work/$1/guest/templates/build"
    (
        SPACE_HOME=$work/$1 SPACE_CACHE=$work/cache RELEASE=$work/release-$1
        TEMPLATE_NAMES=$RELEASE/templates/$(template_stamp)
        umask 077
        build_template minimal 2>/dev/null
    )
}
template_of() {
    (
        SPACE_HOME=$work/$1 RELEASE=$work/release-$1
        cat "$RELEASE/templates/$(template_stamp)/minimal"
    )
}
clone first 111
clone second 222
check "a clone's template is the one that it built" "111 222" \
    "$(template_of first) $(template_of second)"
check "any node may read its name" 644 "$(stat -c %a "$work"/release-first/templates/*/minimal)"
# shellcheck disable=SC2034 # read by what_is_missing
misses_template() {
    (
        SPACE_HOME=$work/$1 SPACE_CACHE=$work/cache RELEASE=$work/release-$1 SPACE_TEMPLATES=minimal
        TEMPORAL_DIR=none POSTGRES_DIR=none
        TEMPLATE_NAMES=$RELEASE/templates/$(template_stamp) needs=platform
        is_intact() { true; }
        what_is_missing
        [[ " ${missing[*]} " == *" template "* ]] && echo yes || echo no
    )
}
if ((EUID == 0)); then
    check "what is built is not missing" no "$(misses_template first)"
    echo "# changed" >>"$work/first/guest/templates/build"
    check "a changed definition is built again" yes "$(misses_template first)"
    rmdir "$work/cache/templates/222"
    check "and so is what the cache lost" yes "$(misses_template second)"
fi

# `down` and `status` take the build that the platform runs with.
eval "$(sed -n '/^any_release()/,/^}/p' "$here/space")"
mkdir -p "$work/data/run" "$work/cache/releases/running" "$work/cache/releases/newer"
touch "$work/cache/releases"/{running,newer}/complete
printf '{"pid":1,"release":"%s","services":[]}' "$work/cache/releases/running" \
    >"$work/data/run/supervisor.json"
any() {
    (export SPACE_DATA=$work/data SPACE_CACHE=$work/cache RELEASE=none; any_release; echo "${RELEASE##*/}")
}
check "the running build serves to stop it" running "$(any)"
rm "$work/cache/releases/running/complete"
check "else another complete one" newer "$(any)"

# A launcher that is interrupted takes all of its builds along.
bash -c 'sleep 300 & sleep 301 & wait' &
tree=$!
for _ in {1..100}; do
    mapfile -t below < <(descendants "$tree")
    ((${#below[@]} < 2)) || break
    sleep 0.05
done
check "every process below a build is found" 2 "${#below[@]}"
kill "${below[@]}" "$tree" 2>/dev/null || true
wait "$tree" 2>/dev/null || true

check "an unknown command is told at once" 2 "$("$here/space" bogus 2>/dev/null; echo $?)"
contains "and where to look" "./space --help" "$("$here/space" bogus 2>&1 || true)"
unknown=()
while read -r name; do
    # Parts of `snapshot`, `node`, `credential`, `customer-key` and `audit`.
    [[ $name != @(verify|delete|stop|start|set|show|export|key|rewrap|remove) ]] || continue
    grep -qE "^    (.*[ |])?$name( \\|.*)?\\) " "$here/space" || unknown+=("$name")
done < <(grep -rhoP '^ +name = "\K[a-z-]+(?=")' "$here/api/cli/src/main/java/dev/space/cli/command")
check "every command of the program is let through" "" "${unknown[*]-}"
output=$("$here/space" --version)
version=$(sed -n 's/^ *<version>\([^<]*\)<.*/\1/p' "$here/pom.xml" | head -n 1)
contains "the version is told" "space $version (commit " "$output"
contains "with the Java that it would run with" ", Java " "$output"
contains "help needs no build" "./space run" "$("$here/space" --help)"
echo "$checks checks passed"
