# shellcheck shell=bash
# Takes the uncompressed kernel out of a bzImage: it boots 0.5 s faster under emulation (PVH entry).

# field FILE OFFSET SIZE: an unsigned little-endian number.
field() {
  od -An -v -tu"$3" -j"$2" -N"$3" "$1" | tr -d ' '
}

# extract_vmlinux BZIMAGE OUT
extract_vmlinux() {
  local image=$1 out=$2 setup offset length magic payload
  [[ $(od -An -c -j514 -N4 "$image" | tr -d ' ') == HdrS ]] || fail "$image is no bzImage"
  setup=$(field "$image" $((0x1f1)) 1)
  offset=$(( (setup + 1) * 512 + $(field "$image" $((0x248)) 4) ))
  length=$(field "$image" $((0x24c)) 4)
  payload=$out.payload
  # The last four bytes of the payload are the size of what comes out.
  tail -c +$((offset + 1)) "$image" | head -c $((length - 4)) >"$payload" || true
  magic=$(od -An -v -tx1 -N4 "$payload" | tr -d ' ')
  case $magic in
    02214c18) need lz4 lz4 && lz4 -dcq "$payload" >"$out" ;;
    28b52ffd) need zstd zstd && zstd -dcq "$payload" >"$out" ;;
    *) fail "$image has a payload of unknown compression ($magic)" ;;
  esac
  rm -f "$payload"
  [[ $(od -An -v -tx1 -N4 "$out" | tr -d ' ') == 7f454c46 ]] || fail "what came out is no ELF file"
}
