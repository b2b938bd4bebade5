# shellcheck shell=bash
# Shared by the build: progress, failure, definitions, digests. Sourced, never run.

started_at=${EPOCHREALTIME/./}

# One line of progress with the seconds since the start.
say() {
  local elapsed=$(( (${EPOCHREALTIME/./} - started_at) / 100000 ))
  printf '[%4d.%d s] %s\n' $((elapsed / 10)) $((elapsed % 10)) "$*" >&2
}

# tell_packages ROOT: every few seconds how far the packages of a root file system are that grows
# there, until it is ended. Beside the build, which has nothing to say meanwhile.
tell_packages() {
  local root=$1 every=${2:-5} loaded known set_up line last=''
  while read -rt "$every" -u 7 || (($? > 128)); do
    loaded=$({ find "$root/var/cache/apt/archives" -name '*.deb' 2>/dev/null || true; } | wc -l)
    known=$(grep -c '^Package:' "$root/var/lib/dpkg/status" 2>/dev/null || true)
    set_up=$(grep -c '^Status: install ok installed' "$root/var/lib/dpkg/status" 2>/dev/null || true)
    line="$loaded packages fetched, ${known:-0} unpacked, ${set_up:-0} set up"
    [[ -d $root && $line != "$last" ]] || continue
    say "root file system: $line"
    last=$line
  done 7<> <(:)
}

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# need PACKAGE COMMAND...: every command must exist; the message names the cure.
need() {
  local package=$1 command
  shift
  for command in "$@"; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$command" >/dev/null ||
      fail "$command is missing; install it: apt-get install -y --no-install-recommends $package"
  done
}

# read_definition FILE ARRAY: key=value lines into an associative array. The file is data: nothing
# of it is evaluated, unknown keys and odd characters are refused.
read_definition() {
  local file=$1 line key value number=0
  local -n into=$2
  local known=" $3 "
  while IFS= read -r line || [[ -n $line ]]; do
    number=$((number + 1))
    [[ -z $line || $line == \#* ]] && continue
    [[ $line =~ ^([a-z_]+)=([A-Za-z0-9+./_:\ -]*)$ ]] ||
      fail "$file:$number: a line must be key=value, with letters, digits and + . / _ : -"
    key=${BASH_REMATCH[1]} value=${BASH_REMATCH[2]}
    [[ $known == *" $key "* ]] || fail "$file:$number: unknown key $key; known are$known"
    [[ -z ${into[$key]+set} ]] || fail "$file:$number: $key is there twice"
    into[$key]=$value
  done <"$file"
  for key in $known; do
    [[ -n ${into[$key]:-} ]] || fail "$file: $key is missing"
  done
}

# sha256 of standard input, bare.
digest() {
  sha256sum | cut -d' ' -f1
}

# tree_digest DIR: names, modes and contents of everything below; empty when there is none.
tree_digest() {
  [[ -d $1 ]] || return 0
  (cd "$1" && find . -printf '%y %m %p %l\n' | LC_ALL=C sort &&
    find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum)
}

# The apt source files of this machine that serve the suite itself, without backports.
debian_sources() {
  local suite=$1 file
  for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
    if [[ -s $file ]] && grep -Eq "^(Suites:|deb ).*\b$suite\b" "$file"; then
      printf '%s\n' "$file"
      return
    fi
  done
  fail "no apt source of this machine serves $suite" \
    "(looked into /etc/apt/sources.list.d/debian.sources and /etc/apt/sources.list)"
}

# publish TEMP FINAL: content first, then the name, so that a name means a whole directory.
publish() {
  sync -f "$1"
  mv -T "$1" "$2"
  sync "$(dirname "$2")"
}
