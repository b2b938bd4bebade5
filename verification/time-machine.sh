#!/usr/bin/env bash
# Done-when 1 of the time machine, driven through the API with curl and jq alone, on a platform of
# its own with two nodes: an agent-like job runs with snapshots each 20 s and each minute; `rm -rf`
# of its work is undone by a disk rollback; `kill -9` of the VMM recovers from the last checkpoint; a
# fork of five goes on in each; suspended on one node, that node stopped, restored on the other, and
# back: memory and files are the same, by hash.
#
#   verification/time-machine.sh [MINUTES]     how long the job runs before (default 10)
#   KEEP=1 verification/time-machine.sh        leaves the directory for a look afterwards
set -euo pipefail

NAME=time-machine.sh
MINUTES=${1:-10}
TEMPLATE=default
SIZE=xs
SLOTS=8
# The second node's begin 1024 higher (docs/contracts.md).
UID_BASES=($((66000 + $$ % 100 * 8)))
UID_BASES+=($((UID_BASES[0] + 1024)))
CHILDREN=5
JOB=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/time-machine/job.py
# shellcheck source=verification/driven.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/driven.sh"

[[ $MINUTES =~ ^[1-9][0-9]*$ ]] || fail "minutes are a number from 1, not \"$MINUTES\""

output() {
    call GET "/v1/sessions/$1/processes/$2/output?stream=stdout&offset=0" | whole_lines
}

# The job's last step as it printed it; every line that is there fits the one before it.
last_step() {
    output "$1" "$2" | awk '
        $1 == "from" { last = $2; next }
        $1 != last + 1 { print "line " NR " is \"" $0 "\" after " last >"/dev/stderr"; exit 1 }
        { last = $1 }
        END { print last + 0 }' || fail "the job's output is torn"
}

await_step_above() {
    local until=$((SECONDS + 90)) now=
    while ((SECONDS < until)); do
        now=$(last_step "$1" "$2") || exit 1
        ((now > $3)) && return
        sleep 0.5
    done
    fail "the job of $1 stays at step $now"
}

# Every line of the file and every row of the database; prints the last step.
checked() {
    sh_in "$1" 'python3 job.py check'
}

# The same of what is on the disk, whatever became of the output.
await_checked_above() {
    local until=$((SECONDS + 90)) now=
    while ((SECONDS < until)); do
        now=$(checked "$1") || exit 1
        ((now > $2)) && return
        sleep 0.5
    done
    fail "the job of $1 stays at step $now"
}

start_job() {
    post "/v1/sessions/$1/processes" '{"command": "exec python3 job.py run"}' |
        jq -er '.processId // .id' || fail "the job has no id"
}

job_pid() {
    sh_in "$1" 'pgrep -f "job.py ru[n]"'
}

# The newest snapshot that a jq condition holds for; fails when there is none.
newest() {
    call GET "/v1/sessions/$1/snapshots" |
        jq -er "$ITEMS [items[] | select($2)] | max_by(.takenAt) | .id" ||
        fail "no snapshot with $2: $(call GET "/v1/sessions/$1/snapshots")"
}

count() {
    call GET "/v1/sessions/$1/snapshots" | jq "$ITEMS [items[] | select($2)] | length"
}

# await_newer SESSION CONDITION OLD: a snapshot like that which is not OLD.
await_newer() {
    local until=$((SECONDS + 150)) now=
    while ((SECONDS < until)); do
        now=$(call GET "/v1/sessions/$1/snapshots" |
            jq -r "$ITEMS [items[] | select($2)] | max_by(.takenAt) | .id // empty")
        [[ -n $now && $now != "$3" ]] && echo "$now" && return
        sleep 1
    done
    fail "no newer snapshot with $2 than \"$3\""
}

# Reads every byte of the guest's disk, which takes its time under emulation.
hashes() {
    local answer command
    # The memory as the job's own user, whom /proc shows it; files of root as root.
    command="python3 job.py memory $2 && sudo -n python3 job.py files"
    answer=$(post "/v1/sessions/$1/exec" \
        "$(jq -cn --arg c "$command" '{command: $c, timeoutMillis: 300000}')") || exit 1
    [[ $(jq -r .exitCode <<<"$answer") == 0 ]] || fail "no hashes: $answer"
    jq -r .stdout <<<"$answer"
}

node_of() {
    session "$1" 'node // "none"'
}

# travel SESSION: suspended, its node stopped, restored on another; nothing is different.
travel() {
    local from to pid before after at
    from=$(node_of "$1")
    pid=$(job_pid "$1")
    sh_in "$1" "kill -STOP $pid; sync" >/dev/null
    at=$(checked "$1") || exit 1
    before=$(hashes "$1" "$pid") || exit 1
    post "/v1/sessions/$1/suspend?wait=300" '{}' >/dev/null
    [[ $(call GET "/v1/sessions/$1" | jq -r '[.state, .durability, .node // "none"] | join(" ")') \
        == "SUSPENDED DURABLE none" ]] || fail "it is $(call GET "/v1/sessions/$1")"
    space node stop "$from"
    ! grep -q "/sessions/$1/" /proc/[0-9]*/mountinfo 2>/dev/null || fail "a VM of $1 is left"
    post "/v1/sessions/$1/restore?wait=300" '{}' >/dev/null
    to=$(node_of "$1")
    [[ $to != "$from" && $to != none ]] || fail "restored on $to, suspended on $from"
    after=$(hashes "$1" "$pid") || exit 1
    [[ $after == "$before" ]] || fail "before: $before; after: $after"
    sh_in "$1" "kill -CONT $pid" >/dev/null
    await_checked_above "$1" $((at + 4))
    space node start "$from"
    printf '         %s to %s: memory and files by hash: %s\n' "$from" "$to" "${before//$'\n'/, }"
}

begin "$TEMPLATE"
cat >"$SPACE_CONFIG" <<YAML
space:
  nodes: 2
  node:
    id: one
    prepare: $TEMPLATE:$SIZE
    slots: $SLOTS
    slot-uid-base: ${UID_BASES[0]}
    volume-gib: 6
    pool:
      hot: 0
      prepared: 0
YAML

step="a platform with two nodes comes up"
space up
connect
until=$((SECONDS + STATE_WAIT_S))
while [[ $(call GET /v1/nodes | jq -c "$ITEMS [items[] | select(.alive) | .id] | sort") != \
    '["one","one-2"]' ]]; do
    ((SECONDS < until)) || fail "nodes: $(call GET /v1/nodes)"
    sleep 0.5
done
passed

step="the job runs"
s=$(create) || exit 1
call PUT "/v1/sessions/$s/files?path=job.py" -H 'Content-Type: application/octet-stream' \
    --data-binary @"$JOB" >/dev/null
job=$(start_job "$s")
await_step_above "$s" "$job" 3
passed

step="it runs for $MINUTES min; snapshots are taken by themselves"
begun=$SECONDS
while ((SECONDS < begun + MINUTES * 60)); do
    sleep 15
    await_step_above "$s" "$job" 0
done
checked "$s" >/dev/null
disks=$(count "$s" '.kind == "DISK" and .reason == "ROLLING"')
fulls=$(count "$s" '.kind == "FULL" and .reason == "ROLLING"')
# Retention keeps the disks of ten minutes; a loaded machine may be late, but not by half.
((disks >= MINUTES * 3 / 2 && fulls * 2 >= MINUTES)) ||
    fail "$disks disk snapshots and $fulls checkpoints in $MINUTES min"
printf '         %d disk snapshots, %d checkpoints, step %d\n' \
    "$disks" "$fulls" "$(last_step "$s" "$job")"
passed

step="rm -rf of its work is undone by a disk rollback"
disk=$(await_newer "$s" '.kind == "DISK"' "$(newest "$s" '.kind == "DISK"')")
sh_in "$s" 'rm -rf work; sync; ! ls work 2>/dev/null' >/dev/null
[[ $(post "/v1/sessions/$s/rollback?wait=300" "$(jq -cn --arg s "$disk" '{snapshot: $s}')" |
    jq -r .state) == RUNNING ]] || fail "it is $(call GET "/v1/sessions/$s")"
back=$(checked "$s") || exit 1
((back > 3)) || fail "only $back steps are there"
job=$(start_job "$s")
await_step_above "$s" "$job" $((back + 3))
passed

step="kill -9 of the VMM recovers from the last checkpoint"
rolling='.kind == "FULL" and .reason == "ROLLING"'
full=$(await_newer "$s" "$rolling" "$(newest "$s" "$rolling")")
pid=$(job_pid "$s")
epoch=$(session "$s" epoch)
kill -9 "$(vmm_pid "$s")"
until=$((SECONDS + STATE_WAIT_S))
while [[ $(session "$s" epoch) == "$epoch" ]]; do
    ((SECONDS < until)) || fail "no new sandbox: $(call GET "/v1/sessions/$s")"
    sleep 0.3
done
await_state "$s" RUNNING
[[ $(job_pid "$s") == "$pid" ]] || fail "the job is not the process that it was ($full)"
now=$(checked "$s") || exit 1
await_checked_above "$s" $((now + 3))
passed

step="a fork of $CHILDREN goes on in each"
at=$(checked "$s") || exit 1
fork=$(post "/v1/sessions/$s/fork?wait=300" "{\"count\": $CHILDREN}")
mapfile -t children < <(jq -r '.children[] | select(.creation == "DONE") | .id' <<<"$fork")
((${#children[@]} == CHILDREN)) || fail "children: $fork"
for child in "${children[@]}"; do
    [[ $(job_pid "$child") == "$pid" ]] || fail "the job of $child is another process"
    await_checked_above "$child" $((at + 3))
done
randoms=$(for id in "$s" "${children[@]}"; do
    sh_in "$id" 'head -c 32 /dev/urandom | base64 -w0; echo'
done | sort -u | grep -c .)
((randoms == CHILDREN + 1)) || fail "$randoms different random values of $((CHILDREN + 1))"
for child in "${children[@]}"; do
    call DELETE "/v1/sessions/$child?wait=$WAIT_S" >/dev/null
done
passed

step="suspended on one node, that one stopped, restored on the other"
travel "$s"
passed

step="and back again"
travel "$s"
passed

step="destroy: nothing is left on either node"
call DELETE "/v1/sessions/$s?wait=$WAIT_S" >/dev/null
await_nothing_left "$s" "${children[@]}"
passed

step="down: no process, mount, namespace or loop device"
space down
nothing_is_left
passed
echo "time-machine.sh: all checks passed in $SECONDS s"
