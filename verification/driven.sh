#!/usr/bin/env bash
# What scripts share that drive a platform of their own through its API with curl and jq alone. To be
# sourced after NAME, SLOTS and UID_BASES (one for each node) are set; the script sets `step` before
# each check. Whatever happens, the platform is taken down and its directory removed.

HOME_DIR=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd -P)
WAIT_S=60
STATE_WAIT_S=120
# Lists come in an object, under their own name.
export ITEMS='def items: ([.[] | arrays] | first) // [];'

step=start
data=
instance=
api=

fail() {
    printf '%s: FAILED at "%s": %s\n' "$NAME" "$step" "$*" >&2
    exit 1
}

passed() {
    printf 'ok  %4d s  %s\n' "$SECONDS" "$step"
}

skip() {
    printf '%s: SKIPPED: %s\n' "$NAME" "$*" >&2
    exit 77
}

space() {
    "$HOME_DIR/space" "$@" >>"$data.log" 2>&1 ||
        fail "\`./space $1\` ended with code $?; last lines of $data.log: $(tail -n 15 "$data.log")"
}

finish() {
    local code=$?
    trap - EXIT
    set +e
    if [[ -n $data ]]; then
        "$HOME_DIR/space" down >>"$data.log" 2>&1 || code=${code/#0/1}
        if ((code != 0)); then
            printf '%s: log of the commands: %s\n' "$NAME" "$data.log" >&2
        else
            rm -f "$data.log"
        fi
        [[ -n ${KEEP:-} ]] || rm -rf --one-file-system "$data"
    fi
    exit "$code"
}

# call METHOD PATH [CURL ARGUMENT…]: the answer's body; fails unless the status is 2xx.
call() {
    local method=$1 path=$2 status body
    shift 2
    body=$(mktemp -p "$data")
    local headers=(-H @"$data/auth")
    if [[ $method == POST || $method == DELETE ]]; then
        headers+=(-H "Idempotency-Key: $(</proc/sys/kernel/random/uuid)")
    fi
    status=$(curl -sS -o "$body" -w '%{http_code}' --max-time 330 -X "$method" "${headers[@]}" \
        "$@" "$api$path") || fail "$method $path got no answer"
    if [[ $status != 2* ]]; then
        fail "$method $path answered $status: $(head -c 2000 "$body")"
    fi
    cat "$body"
    rm -f "$body"
}

post() {
    call POST "$1" -H 'Content-Type: application/json' -d "$2"
}

# sh_in SESSION LINE: stdout of a shell line that must end with code 0.
sh_in() {
    local answer
    answer=$(post "/v1/sessions/$1/exec" "$(jq -cn --arg c "$2" '{command: $c}')") || exit 1
    [[ $(jq -r .exitCode <<<"$answer") == 0 ]] || fail "\`$2\` in the sandbox: $answer"
    jq -r .stdout <<<"$answer"
}

session() {
    call GET "/v1/sessions/$1" | jq -r ".$2"
}

await_state() {
    local id=$1 wanted=$2 until=$((SECONDS + STATE_WAIT_S)) now=
    while ((SECONDS < until)); do
        now=$(session "$id" state) || exit 1
        [[ $now == "$wanted" ]] && return
        [[ $now == FAILED && $wanted != FAILED ]] && break
        sleep 0.3
    done
    fail "$id is $now, not $wanted: $(call GET "/v1/sessions/$id")"
}

create() {
    post "/v1/sessions?wait=$WAIT_S" \
        "$(jq -cn --arg t "$TEMPLATE" --arg s "$SIZE" '{template: $t, size: $s}')" | jq -er .id
}

connect() {
    local port
    port=$(jq -r '.byName.control' "$data/run/ports.json")
    api=http://127.0.0.1:$port
    (umask 077 && printf 'Authorization: Bearer %s\n' "$(<"$data/secrets/api-key")" >"$data/auth")
}

whole_lines() {
    local text
    text=$(cat; echo x)
    text=${text%x}
    printf '%s' "${text%"${text##*$'\n'}"}"
}

vmm_pid() {
    local dir pid
    for dir in /proc/[0-9]*; do
        pid=${dir#/proc/}
        [[ $(cat "$dir/comm" 2>/dev/null) == qemu* ]] || continue
        grep -qs "/sessions/$1/" "$dir/mountinfo" && echo "$pid" && return
    done
    fail "no VMM of $1 found"
}

# Everything that belongs to this platform's sandboxes, a line each; empty when nothing is left.
remains() {
    local id pid uid base
    for pid in /proc/[0-9]*; do
        uid=$(stat -c %u "$pid" 2>/dev/null) || continue
        # Where pid 1 reaps slowly, a zombie is no leak: it holds nothing.
        grep -qs '^State:.Z' "$pid/status" && continue
        for base in "${UID_BASES[@]}"; do
            ((uid >= base && uid < base + SLOTS)) && echo "process $pid of uid $uid"
        done
    done
    for id in "$@"; do
        find "$data"/node*/volumes -path "*/sessions/$id*" -print 2>/dev/null | head -5
        grep -h "/sessions/$id/" /proc/[0-9]*/mountinfo 2>/dev/null | head -5
    done
    return 0
}

await_nothing_left() {
    local until=$((SECONDS + 30)) left=
    while ((SECONDS < until)); do
        left=$(remains "$@")
        [[ -z $left ]] && return
        sleep 0.5
    done
    fail "left behind: $left"
}

# Each node-manager names what it makes after the platform's data directory.
namespaces() {
    find /run/netns -mindepth 1 -name "space-$instance*-*" -printf '%f\n' 2>/dev/null | sort
}

cgroups() {
    find /sys/fs/cgroup -type d -path "*/space/$instance*" 2>/dev/null | sort
}

# begin TEMPLATE: checks what is needed, and makes the platform's directory.
begin() {
    local tool
    for tool in curl jq qemu-system-x86_64 ip awk; do
        command -v "$tool" >/dev/null || skip "$tool is not installed"
    done
    ((EUID == 0)) || skip "it starts a platform, which needs root"
    data=$(mktemp -d "/var/tmp/space-${NAME%.sh}.XXXXXX")
    chmod 0755 "$data"
    instance=$(printf %s "$data" | sha256sum | cut -c1-8)
    trap finish EXIT
    export SPACE_DATA=$data SPACE_CONFIG=$data/space.yaml SPACE_TEMPLATES=$1
    unset SPACE_API_URL SPACE_API_KEY
}

# The platform is down: no process, mount, namespace or loop device is left of it.
nothing_is_left() {
    local left
    left=$(
        pgrep -af -- "$data" || true
        grep " $data" /proc/self/mountinfo || true
        losetup -l -n -O BACK-FILE 2>/dev/null | grep "$data" || true
        namespaces
        cgroups
        remains
    )
    [[ -z $left ]] || fail "left behind: $left"
}
