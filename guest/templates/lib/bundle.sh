# shellcheck shell=bash
# shellcheck disable=SC2154  # what `build` sets before it sources this
# The engine bundle: a whole read-only root for the jail (QEMU, its loader, libraries and firmware)
# and what the guest starts from (boot/vmlinux, boot/initrd). Named by the digest of its files.

declare -A engine=()

load_engine() {
  read_definition "$here/engine.bundle" engine \
    'kernel suite qemu machine cpu modules firmware'
}

# Everything that decides what a bundle will be, without making it.
bundle_inputs() {
  local daemon=$1
  {
    cat "$here/engine.bundle" "$here/lib/bundle.sh" "$here/lib/initrd.sh" "$here/lib/vmlinux.sh"
    sha256sum <"$daemon"
    # shellcheck disable=SC2046,SC2086  # lists of words
    printf '%s\n' "${engine[qemu]}" ${engine[firmware]} $(libraries) |
      xargs stat -L -c '%n %s %Y'
  } | digest
}

# The loader and the shared libraries of QEMU, as the loader finds them.
libraries() {
  ldd "${engine[qemu]}" | grep -o '/[^ ]*' | LC_ALL=C sort -u
}

# build_bundle DAEMON: makes the bundle when it is not there; its digest on standard output.
build_bundle() {
  local daemon=$1 inputs known
  inputs=$(bundle_inputs "$daemon")
  known=$cache/bundles/by-input/$inputs
  if [[ -f $known && -f $cache/bundles/$(<"$known")/bundle.json ]]; then
    say "engine bundle $(<"$known") is there"
    cat "$known"
    return
  fi
  local work=$temp/bundle
  rm -rf "$work"
  mkdir -p "$work/root/boot"
  say "engine bundle: QEMU, libraries, firmware"
  copy_engine "$work/root"
  say "engine bundle: kernel (package ${engine[kernel]})"
  fetch_kernel "$work"
  say "engine bundle: initrd"
  collect_modules "$work/kernel" "$(<"$work/version")" "${engine[modules]}" "$work/modules"
  write_initrd "$daemon" "$work/modules" "$work/root/boot/initrd"
  finish_bundle "$work" "$inputs"
}

copy_engine() {
  local root=$1 file target
  mkdir -p "$root"/{usr/bin,usr/lib,usr/lib64,vm,dev,proc,tmp}
  ln -s usr/lib "$root/lib"
  ln -s usr/lib64 "$root/lib64"
  install -m 0755 "${engine[qemu]}" "$root/usr/bin/qemu-system-x86_64"
  while IFS= read -r file; do
    target=$root/usr/${file#/}
    [[ $file == /usr/* ]] && target=$root$file
    install -D -m 0755 "$(readlink -f "$file")" "$target"
  done < <(libraries)
  for file in ${engine[firmware]}; do
    [[ -f $file ]] || fail "$file is missing; install seabios and qemu-system-data"
    install -D -m 0644 "$file" "$root/usr/share/qemu/$(basename "$file")"
  done
  # SeaBIOS, the microvm machine's own choice, puts its ACPI tables at the top of memory, where
  # QEMU then loads the initrd: whether the guest boots depends on the initrd's size. qboot keeps
  # them low, so here it is what the machine finds under the default name.
  cp "$root/usr/share/qemu/qboot.rom" "$root/usr/share/qemu/bios-microvm.bin"
}

# The package of the newest kernel of the suite itself, security included, backports not.
newest_kernel() {
  local version
  version=$(apt-cache madison "${engine[kernel]}" 2>/dev/null |
    grep -E " ${engine[suite]}(-security|-updates)?/" | head -1 | cut -d'|' -f2 | tr -d ' ')
  [[ -n $version ]] || return 0
  apt-cache show "${engine[kernel]}=$version" | grep -o 'linux-image-[0-9][^ ,]*' | head -1
}

fetch_kernel() {
  local work=$1 package image
  package=$(newest_kernel)
  if [[ -z $package ]]; then
    say "engine bundle: apt-get update (no package list here)"
    timeout 120 apt-get -qq update >&2 || fail "apt-get update failed; is the network there?"
    package=$(newest_kernel)
    [[ -n $package ]] || fail "no apt source of this machine has ${engine[kernel]}"
  fi
  (cd "$work" && timeout 180 apt-get -qq -o APT::Sandbox::User=root download "$package") ||
    fail "apt-get download $package failed; run apt-get update and try again"
  dpkg-deb -x "$work/$package"_*.deb "$work/kernel"
  image=$(find "$work/kernel/boot" -name 'vmlinuz-*')
  printf '%s\n' "${image##*/vmlinuz-}" >"$work/version"
  extract_vmlinux "$image" "$work/root/boot/vmlinux"
}

# Manifest, digest, name. The digest is over the sorted list of files and links, not over times.
finish_bundle() {
  local work=$1 inputs=$2 root=$1/root id qemu_version
  chmod -R go-w,a+rX "$root"
  (cd "$root" && find . -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum) \
    >"$work/files"
  (cd "$root" && find . -type l -printf '%P -> %l\n' | LC_ALL=C sort) >"$work/links"
  id=$(cat "$work/files" "$work/links" | digest)
  qemu_version=$("${engine[qemu]}" --version | sed -n '1s/.*(\(Debian [^)]*\)).*/\1/p')
  jq -n --arg digest "$id" --arg qemu "$qemu_version" --arg kernel "$(<"$work/version")" \
    --arg machine "${engine[machine]}" --arg cpu "${engine[cpu]}" --rawfile files "$work/files" '
    {digest: $digest, engine: "qemu", qemuVersion: $qemu, machine: $machine, cpu: $cpu,
     kernelVersion: $kernel,
     files: ($files | split("\n") | map(select(. != "") | {key: .[66:], value: .[:64]})
             | from_entries)}' >"$root/bundle.json"
  chmod 0644 "$root/bundle.json"
  mkdir -p "$cache/bundles/by-input"
  if [[ ! -f $cache/bundles/$id/bundle.json ]]; then
    rm -rf "${cache:?}/bundles/$id"
    publish "$root" "$cache/bundles/$id"
  fi
  printf '%s\n' "$id" >"$temp/input"
  mv "$temp/input" "$cache/bundles/by-input/$inputs"
  say "engine bundle $id is made (QEMU $qemu_version, kernel $(<"$work/version"))"
  printf '%s\n' "$id"
}
