#!/usr/bin/env bash
# A session's whole life, driven through the API with curl and jq alone, on a platform of its own:
# own data directory, own ports, own slot uids. Prints each check as it passes; the first failure
# ends it with a message and exit code 1. Whatever happens, the platform is taken down and its
# directory removed.
#
#   verification/life.sh            needs root, QEMU, curl and jq
#   KEEP=1 verification/life.sh     leaves the directory (not the processes) for a look afterwards
set -euo pipefail

NAME=life.sh
TEMPLATE=minimal
SIZE=xs
SLOTS=6
UID_BASES=($((62000 + $$ % 500 * 8)))
CLOCK_SLACK_S=1
# shellcheck source=verification/driven.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/driven.sh"

counter_lines() {
    call GET "/v1/sessions/$1/processes/$2/output?stream=stdout&offset=0"
}

# The numbers on stdin are 1, 2, 3 … without gap or repeat; prints the last. A last line without
# its end is still being written.
check_sequence() {
    awk '!/^[0-9]+$/ { print "line " NR " is \"" $0 "\"" >"/dev/stderr"; exit 1 }
         $0 != NR { print "line " NR " is " $0 >"/dev/stderr"; exit 1 }
         END { print NR }'
}

last_count() {
    counter_lines "$1" "$2" | whole_lines | check_sequence || fail "the counter's output is torn"
}

await_count_above() {
    local until=$((SECONDS + 30)) now
    while ((SECONDS < until)); do
        now=$(last_count "$1" "$2") || exit 1
        ((now > $3)) && return
        sleep 0.3
    done
    fail "the counter stays at $now"
}

# A value that a process of the sandbox holds in a variable and nowhere else.
remember() {
    sh_in "$1" "timeout 20 sh -c 'echo set $2 >in'" >/dev/null
}

remembered() {
    sh_in "$1" "timeout 20 sh -c 'echo get >in; cat out'"
}

begin "$TEMPLATE"
cat >"$SPACE_CONFIG" <<YAML
space:
  node:
    id: life
    prepare: $TEMPLATE:$SIZE
    slots: $SLOTS
    slot-uid-base: ${UID_BASES[0]}
    volume-gib: 6
    rolling:
      disk-seconds: 0
      full-seconds: 0
    pool:
      hot: 0
      prepared: 0
YAML

step="the platform comes up"
space up
connect
passed

step="two sessions are created"
a=$(create) || exit 1
b=$(create) || exit 1
passed

step="they differ in /dev/urandom and in a uuid of a process that ran in the start snapshot"
random='head -c 32 /dev/urandom | base64 -w0'
# The template's uuid service ran when the start snapshot was taken; each read is a new uuid.
uuid='timeout 10 head -n 1 /tmp/space-uuid'
ra=$(sh_in "$a" "$random") rb=$(sh_in "$b" "$random")
ua=$(sh_in "$a" "$uuid") ub=$(sh_in "$b" "$uuid")
[[ ${#ra} == 44 && ${#rb} == 44 ]] || fail "no random bytes: \"$ra\", \"$rb\""
[[ $ra != "$rb" ]] || fail "both read the same random bytes"
[[ $ua =~ ^[0-9a-f]{8}-[0-9a-f-]{27}$ && $ub =~ ^[0-9a-f]{8}-[0-9a-f-]{27}$ ]] ||
    fail "no uuids: \"$ua\", \"$ub\""
[[ $ua != "$ub" ]] || fail "both made the uuid $ua"
passed

step="a file is written and read back"
content="kept $(</proc/sys/kernel/random/uuid)"
printf '%s' "$content" | call PUT "/v1/sessions/$a/files?path=kept.txt" \
    -H 'Content-Type: application/octet-stream' --data-binary @- >/dev/null
[[ $(call GET "/v1/sessions/$a/files?path=kept.txt") == "$content" ]] || fail "it reads otherwise"
passed

step="a counter runs in the background"
# shellcheck disable=SC2016 # expanded in the sandbox
counter=$(post "/v1/sessions/$a/processes" "$(jq -cn \
    --arg c 'i=0; while :; do i=$((i+1)); echo $i; sleep 0.2; done' '{command: $c}')" |
    jq -er '.processId // .id') || fail "the process has no id"
await_count_above "$a" "$counter" 3
passed

step="pause"
[[ $(post "/v1/sessions/$a/pause?wait=$WAIT_S" '{}' | jq -r .state) == PAUSED ]] ||
    fail "it is $(session "$a" state)"
passed

step="down"
space down
[[ -z $(remains) ]] || fail "still there: $(remains)"
! grep -q " $data" /proc/self/mountinfo || fail "mounted: $(grep " $data" /proc/self/mountinfo)"
passed

step="up; the session that ran is resumed, the paused one is not"
space up
connect
await_state "$b" RUNNING
[[ $(session "$a" state) == PAUSED ]] || fail "$a is $(session "$a" state)"
passed

step="resume; the clock is right within $CLOCK_SLACK_S s"
[[ $(post "/v1/sessions/$a/resume?wait=$WAIT_S" '{}' | jq -r .state) == RUNNING ]] ||
    fail "it is $(session "$a" state)"
from=$(date +%s.%N)
guest=$(sh_in "$a" 'date +%s.%N')
to=$(date +%s.%N)
awk -v f="$from" -v g="$guest" -v t="$to" -v s="$CLOCK_SLACK_S" \
    'BEGIN { exit !(g >= f - s && g <= t + s) }' || fail "guest $guest, host $from to $to"
passed

step="the counter goes on from where it was, without gap or repeat"
seen=$(last_count "$a" "$counter") || exit 1
await_count_above "$a" "$counter" $((seen + 3))
[[ $(call GET "/v1/sessions/$a/files?path=kept.txt") == "$content" ]] || fail "the file changed"
passed

step="a process keeps a value in its memory alone"
# shellcheck disable=SC2016 # expanded in the sandbox
cell='rm -f in out; mkfifo in out; exec 3<>in; value=none; echo ready
while read -r verb word <&3; do
    case $verb in set) value=$word ;; get) echo "$value" >out ;; esac
done'
cell_id=$(post "/v1/sessions/$a/processes" "$(jq -cn --arg c "$cell" '{command: $c}')" |
    jq -er '.processId // .id') || fail "the process has no id"
until=$((SECONDS + 30))
while [[ $(counter_lines "$a" "$cell_id") != ready ]]; do
    ((SECONDS < until)) || fail "the process does not start"
    sleep 0.3
done
remember "$a" at-checkpoint
[[ $(remembered "$a") == at-checkpoint ]] || fail "it remembers $(remembered "$a")"
passed

step="kill -9 of the VMM: RECOVER from the last checkpoint"
sh_in "$a" 'echo before >before; sync' >/dev/null
[[ $(post "/v1/sessions/$a/checkpoint?wait=$WAIT_S" '{}' | jq -r .state) == RUNNING ]] ||
    fail "checkpoint left it $(session "$a" state)"
at_checkpoint=$(last_count "$a" "$counter") || exit 1
sh_in "$a" 'echo after >after; sync' >/dev/null
remember "$a" later
[[ $(remembered "$a") == later ]] || fail "it remembers $(remembered "$a")"
epoch=$(session "$a" epoch)
snapshots_before=$(call GET "/v1/sessions/$a/snapshots" |
    jq -c "$ITEMS [items[].id]")
kill -9 "$(vmm_pid "$a")"
until=$((SECONDS + STATE_WAIT_S))
while [[ $(session "$a" epoch) == "$epoch" ]]; do
    ((SECONDS < until)) || fail "no new sandbox: $(call GET "/v1/sessions/$a")"
    sleep 0.3
done
await_state "$a" RUNNING
[[ $(sh_in "$a" 'cat before; ls after 2>/dev/null || echo gone') == $'before\ngone' ]] ||
    fail "the files are not those of the checkpoint: $(sh_in "$a" ls)"
passed

step="the memory is that of the checkpoint, and the newer disk is listed as a snapshot"
until=$((SECONDS + 30))
while alive=$(sh_in "$a" 'pgrep -fc "[w]hile :; do i=" || true') && [[ $alive == 0 ]]; do
    ((SECONDS < until)) || fail "the counter does not run any more"
    sleep 0.3
done
value=$(remembered "$a")
[[ $value == at-checkpoint ]] || fail "the value in memory is $value, not the checkpoint's"
fresh=$(call GET "/v1/sessions/$a/snapshots" | jq -c --argjson old "$snapshots_before" \
    "$ITEMS"' [items[] | select(.kind == "DISK" and (.id | IN($old[]) | not))]')
[[ $(jq length <<<"$fresh") == 1 ]] ||
    fail "snapshots: $(call GET "/v1/sessions/$a/snapshots"); counter was at $at_checkpoint"
passed

step="destroy: nothing is left"
for id in "$a" "$b"; do
    call DELETE "/v1/sessions/$id?wait=$WAIT_S" >/dev/null
done
await_nothing_left "$a" "$b"
for name in $(namespaces); do
    # The node may keep empty slots for later.
    [[ -z $(ip netns pids "$name") ]] || fail "network namespace $name still has processes"
done
for dir in $(cgroups); do
    [[ -z $(cat "$dir/cgroup.procs" 2>/dev/null) ]] || fail "cgroup $dir still has processes"
done
open=$(call GET "/v1/sessions?limit=100" |
    jq -c "$ITEMS"' [items[] | select(.state != "DESTROYED")]')
[[ $open == '[]' ]] || fail "rows in a running state: $open"
for id in "$a" "$b"; do
    open=$(call GET "/v1/sessions/$id/operations" |
        jq -c "$ITEMS"' [items[] | select(.state == "REQUESTED" or .state == "ACCEPTED")]')
    [[ $open == '[]' ]] || fail "operations without an end: $open"
done
passed

step="down: no process, mount, namespace or loop device"
space down
nothing_is_left
passed
echo "life.sh: all checks passed in $SECONDS s"
