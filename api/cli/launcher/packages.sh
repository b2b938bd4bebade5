# shellcheck shell=bash
# The Debian packages that the launcher needs: which are missing, how to install them as root, and
# the commands that say the same to whoever is not root. Sourced by prepare.sh and by the tests.

# Package by the command that proves it, for each need: a build, the platform, and the tests.
# shellcheck disable=SC2034 # read by name
declare -A BUILD_PACKAGES=(
    [git]=git [mvn]=maven [cc]=gcc [python3]=python3 [curl]=curl [xz]=xz-utils
)
# shellcheck disable=SC2034
declare -A PLATFORM_PACKAGES=(
    [qemu-system-x86_64]=qemu-system-x86 [qemu-img]=qemu-utils [mmdebstrap]=mmdebstrap
    [mkfs.btrfs]=btrfs-progs [nft]=nftables [ip]=iproute2 [mkfs.ext4]=e2fsprogs [zstd]=zstd
    [lz4]=lz4 [xz]=xz-utils [kmod]=kmod [jq]=jq [busybox]=busybox-static [mount]=mount
    [useradd]=passwd [setpriv]=util-linux [pgrep]=procps
)
# shellcheck disable=SC2034
declare -A TEST_PACKAGES=(
    [shellcheck]=shellcheck [docker-compose]=docker-compose [busybox]=busybox-static [jq]=jq
    [curl]=curl
)
BACKPORTS_FILE=/etc/apt/sources.list.d/space-backports

# missing_packages NEED… : the packages that are not there for build, platform or test, sorted.
missing_packages() {
    local need tool
    for need in "$@"; do
        local -n of=${need^^}_PACKAGES
        for tool in "${!of[@]}"; do
            command -v "$tool" >/dev/null || echo "${of[$tool]}"
        done
        if [[ $need == build ]]; then
            python3 -m pip --version >/dev/null 2>&1 || echo python3-pip
            # A compiler alone links nothing.
            compgen -G '/usr/lib/*/crt1.o' >/dev/null || echo libc6-dev
        fi
    done | sort -u
}

codename() {
    # shellcheck source=/dev/null
    (. /etc/os-release && echo "${VERSION_CODENAME:-}")
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

# Bookworm's own QEMU is too old; later releases have a new one in their main suite.
needs_backports() {
    [[ $(codename) == bookworm ]] || return 1
    ! apt-cache policy | grep -q 'a=bookworm-backports\|n=bookworm-backports'
}

# The source to add and the file it goes to, which depends on the form of the machine's own source.
own_backports_source() {
    backports_source "$(codename)" /etc/apt/sources.list /etc/apt/sources.list.d/*
}

backports_file() {
    case $1 in
        deb\ *) echo "$BACKPORTS_FILE.list" ;;
        *) echo "$BACKPORTS_FILE.sources" ;;
    esac
}

ensure_backports() {
    local text
    needs_backports || return 0
    text=$(own_backports_source)
    [[ -n $text ]] || {
        echo "no APT source for bookworm main found to derive bookworm-backports from"
        return 1
    }
    printf '%s\n' "$text" >"$(backports_file "$text")"
}

# split_packages PACKAGE… : sets `plain` and `qemu`; QEMU comes from another suite on bookworm.
split_packages() {
    local package
    plain=() qemu=()
    for package in "$@"; do
        case $package in
            qemu-*) qemu+=("$package") ;;
            *) plain+=("$package") ;;
        esac
    done
}

qemu_suite() {
    if [[ $(codename) == bookworm ]]; then
        echo "-t bookworm-backports"
    fi
}

install_packages() {
    local plain qemu suite
    split_packages "$@"
    export DEBIAN_FRONTEND=noninteractive
    ((${#qemu[@]} == 0)) || ensure_backports
    apt-get -q update
    if ((${#plain[@]})); then
        apt-get -q install -y --no-install-recommends "${plain[@]}"
    fi
    if ((${#qemu[@]})); then
        read -ra suite <<<"$(qemu_suite)"
        apt-get -q install -y --no-install-recommends "${suite[@]}" "${qemu[@]}"
    fi
}

# The same as commands that a person can copy.
package_commands() {
    local plain qemu text
    split_packages "$@"
    if ((${#qemu[@]})) && needs_backports; then
        text=$(own_backports_source)
        [[ -n $text ]] || text='deb http://deb.debian.org/debian bookworm-backports main'
        printf "    cat >%s <<'END'\n%s\nEND\n" "$(backports_file "$text")" "$text"
    fi
    echo "    apt-get update"
    ((${#plain[@]} == 0)) ||
        echo "    apt-get install -y --no-install-recommends ${plain[*]}"
    ((${#qemu[@]} == 0)) ||
        echo "    apt-get install -y --no-install-recommends $(qemu_suite) ${qemu[*]}"
}

# ensure_packages NEED… : installs them as root; else says which commands root has to type.
ensure_packages() {
    local packages
    read -ra packages <<<"$(missing_packages "$@" | xargs)"
    ((${#packages[@]})) || return 0
    command -v apt-get >/dev/null || die "these Debian packages are missing, and there is no" \
        "apt-get to install them with: ${packages[*]} (SPACE is built for Debian 12)."
    if ((EUID != 0)); then
        die "Debian packages are missing. Type as root, then run this command again:
$(package_commands "${packages[@]}")"
    fi
    step packages "installing Debian packages: ${packages[*]}" install_packages "${packages[@]}"
}
