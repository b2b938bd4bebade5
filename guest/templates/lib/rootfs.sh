# shellcheck shell=bash
# shellcheck disable=SC2154  # what `build` sets before it sources this
# The root file system of a template: Debian packages, a user, and one flat ext4 image.

declare -A template=()

load_template() {
  read_definition "$here/$1.template" template \
    'name suite packages user uid sudo hostname image_spare_mib'
  [[ ${template[name]} == "$1" ]] || fail "$1.template names itself ${template[name]}"
  [[ ${template[user]} =~ ^[a-z][a-z0-9-]{0,30}$ ]] || fail "user: ${template[user]}"
  [[ ${template[uid]} =~ ^[1-9][0-9]{3,4}$ ]] || fail "uid must be 1000 to 99999"
  [[ ${template[sudo]} =~ ^(yes|no)$ ]] || fail "sudo must be yes or no"
  [[ ${template[image_spare_mib]} =~ ^[0-9]{1,4}$ ]] || fail "image_spare_mib must be a number"
  [[ ${template[hostname]} =~ ^[a-z][a-z0-9-]{0,30}$ ]] || fail "hostname: ${template[hostname]}"
}

# The name of the root file system: definition, extra files, and how it is made. Not the versions
# of packages: a root file system is made again when its definition changes, or with --refresh.
rootfs_digest() {
  { cat "$here/$1.template" "$here/lib/rootfs.sh"; tree_digest "$here/$1.files"; } | digest
}

# build_rootfs NAME: makes the image when it is not there; its digest on standard output.
build_rootfs() {
  local name=$1 id work
  id=$(rootfs_digest "$name")
  if [[ -f $cache/rootfs/$id/rootfs.ext4 && $refresh == no ]]; then
    say "root file system $id is there"
    printf '%s\n' "$id"
    return
  fi
  work=$temp/rootfs
  rm -rf "$work"
  mkdir -p "$work/out"
  say "root file system: Debian ${template[suite]}, $(wc -w <<<"${template[packages]}") packages and what they need"
  debootstrap_into "$work/tree"
  say "root file system: user, names, locale"
  configure_tree "$work/tree" "$name"
  say "root file system: ext4 image"
  make_image "$work/tree" "$work/out/rootfs.ext4" "$id"
  chmod 0755 "$work/out"
  mkdir -p "$cache/rootfs"
  rm -rf "${cache:?}/rootfs/$id"
  publish "$work/out" "$cache/rootfs/$id"
  say "root file system $id is made"
  printf '%s\n' "$id"
}

# In a mount and pid namespace of its own: nothing that it mounts or starts outlives it.
debootstrap_into() {
  local tree=$1 sources
  sources=$(debian_sources "${template[suite]}")
  timeout --kill-after=10 900 \
    unshare --mount --pid --fork --kill-child=KILL --mount-proc --propagation private \
    mmdebstrap --quiet --mode=root --variant=minbase --format=directory \
    --include="$(tr -s ' ' , <<<"${template[packages]}")" \
    --aptopt='APT::Install-Recommends "false"' \
    --aptopt='Acquire::Languages "none"' \
    --aptopt='Acquire::Retries "3"' \
    --dpkgopt=force-unsafe-io \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/info/*' \
    "${template[suite]}" "$tree" "$sources" >&2 </dev/null ||
    fail "mmdebstrap failed; its last lines are above"
}

configure_tree() {
  local tree=$1 name=$2 user=${template[user]} uid=${template[uid]}
  printf '%s\n' "${template[hostname]}" >"$tree/etc/hostname"
  printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "${template[hostname]}" >"$tree/etc/hosts"
  rm -f "$tree/etc/resolv.conf"
  chmod 0644 "$tree/etc/hostname" "$tree/etc/hosts"
  printf 'nameserver 10.200.0.1\n' >"$tree/etc/resolv.conf"
  printf 'LANG=C.UTF-8\n' >"$tree/etc/default/locale"
  # A sandbox's own name is given at its start; to look it up must not wait for a DNS server.
  if [[ " ${template[packages]} " == *" libnss-myhostname "* ]]; then
    sed -i 's/^hosts:.*/hosts: files myhostname dns/' "$tree/etc/nsswitch.conf"
  fi
  # Ids and keys must be each sandbox's own: nothing of the kind may be in the image.
  rm -f "$tree/etc/machine-id" "$tree/var/lib/dbus/machine-id" "$tree/var/lib/systemd/random-seed"
  : >"$tree/etc/machine-id"
  chroot "$tree" /usr/sbin/groupadd --gid "$uid" "$user"
  chroot "$tree" /usr/sbin/useradd --uid "$uid" --gid "$uid" --create-home --shell /bin/bash "$user"
  if [[ ${template[sudo]} == yes ]]; then
    printf '%s ALL=(ALL:ALL) NOPASSWD: ALL\n' "$user" >"$tree/etc/sudoers.d/$user"
    chmod 0440 "$tree/etc/sudoers.d/$user"
    chroot "$tree" /usr/sbin/visudo -cq
  fi
  if [[ -d $here/$name.files ]]; then
    cp -rT --no-preserve=ownership "$here/$name.files" "$tree"
  fi
  rm -rf "$tree"/var/lib/apt/lists/* "$tree"/var/cache/apt/*.bin "$tree"/var/log/*.log \
    "$tree"/var/log/apt "$tree"/etc/apt/apt.conf.d/*mmdebstrap "$tree"/etc/dpkg/dpkg.cfg.d/*mmdebstrap
  mkdir -p "$tree"/{proc,sys,dev,run,tmp}
  chmod 1777 "$tree/tmp"
}

# As small as its content and the spare room; grown in the guest to the size's disk. Inode tables
# are written now, so that no thread of the guest does it later and dirties the clone.
make_image() {
  local tree=$1 image=$2 id=$3 used inodes size
  used=$(du -sx --apparent-size --block-size=1M "$tree" | cut -f1)
  inodes=$(find "$tree" -xdev | wc -l)
  size=$(( used + used / 5 + inodes / 256 + ${template[image_spare_mib]} + 16 ))
  timeout 300 mke2fs -q -t ext4 -d "$tree" -L root -m 1 -N $((inodes * 2 + 16384)) \
    -U "$(uuid_of "$id")" -E "hash_seed=$(uuid_of "$id"),lazy_itable_init=0,lazy_journal_init=0,resize=8388608" \
    -J size=16 "$image" "${size}M" >&2
  chmod 0644 "$image"
}

uuid_of() {
  printf '%s-%s-4%s-8%s-%s\n' "${1:0:8}" "${1:8:4}" "${1:13:3}" "${1:17:3}" "${1:20:12}"
}
