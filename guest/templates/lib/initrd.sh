# shellcheck shell=bash
# Writes the initrd: a cpio archive (newc) with fixed times and numbers, so that equal content is
# equal bytes.

cpio_inode=0

# cpio_entry NAME MODE(octal) FILE|'' [MAJOR MINOR] : one entry on standard output.
cpio_entry() {
  local name=$1 mode=$2 file=$3 major=${4:-0} minor=${5:-0} size=0
  [[ -z $file ]] || size=$(stat -c %s "$file")
  cpio_inode=$((cpio_inode + 1))
  printf '070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\0' \
    "$cpio_inode" $((8#$mode)) 0 0 1 0 "$size" 0 0 "$major" "$minor" $((${#name} + 1)) 0 "$name"
  pad $((110 + ${#name} + 1))
  if [[ -n $file ]]; then
    cat "$file"
    pad "$size"
  fi
}

# pad LENGTH: zeros up to the next multiple of four.
pad() {
  local missing=$(( (4 - $1 % 4) % 4 ))
  [[ $missing -eq 0 ]] || head -c "$missing" /dev/zero
}

# write_initrd DAEMON MODULE_DIR OUT: /init is the daemon, /modules.list names the modules in the
# order of loading, one absolute path a line.
write_initrd() {
  local daemon=$1 modules=$2 out=$3 directory
  cpio_inode=0
  {
    for directory in dev proc sys new lib lib/modules; do
      cpio_entry "$directory" 40755 ''
    done
    # Without it the kernel starts /init with no standard streams.
    cpio_entry dev/console 20600 '' 5 1
    cpio_entry init 100755 "$daemon"
    cpio_entry modules.list 100644 "$modules/modules.list"
    while IFS= read -r module; do
      cpio_entry "${module#/}" 100644 "$modules/$(basename "$module")"
    done <"$modules/modules.list"
    cpio_entry 'TRAILER!!!' 0 ''
  } >"$out"
}

# collect_modules KERNEL_ROOT VERSION NAMES OUT_DIR: the modules and what they need, uncompressed,
# with modules.list in dependency order.
collect_modules() {
  local root=$1 version=$2 names=$3 out=$4 name line path plain
  depmod -b "$root" "$version"
  mkdir -p "$out"
  : >"$out/modules.list"
  for name in $names; do
    modprobe -d "$root" -S "$version" --show-depends "$name" >"$out/depends" 2>/dev/null ||
      fail "kernel $version has no module $name"
    while read -r line path _; do
      [[ $line == insmod ]] || continue
      plain=$(basename "$path")
      plain=${plain%.xz}
      plain=${plain%.zst}
      grep -qx "/lib/modules/$plain" "$out/modules.list" && continue
      case $path in
        *.xz) xz -dc "$path" >"$out/$plain" ;;
        *.zst) zstd -dcq "$path" >"$out/$plain" ;;
        *) cp "$path" "$out/$plain" ;;
      esac
      printf '/lib/modules/%s\n' "$plain" >>"$out/modules.list"
    done <"$out/depends"
  done
  rm "$out/depends"
}
