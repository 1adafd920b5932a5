#!/usr/bin/env bash
# Compiles librocksdb.a once for all builds on this machine, from the sources that the crate
# librocksdb-sys brings, and prints its folder. Cargo links it when ROCKSDB_LIB_DIR names that
# folder and ROCKSDB_STATIC is set, as the Makefile does.
#
#   rocksdb.sh --dir    prints the folder, without compiling
#   rocksdb.sh          compiles if the library is missing
#
# About 30 sources are compiled as one file, which parses RocksDB's headers 12 times instead of 343.
# The key of the folder covers the version, the compiler, the flags and the features. On systems
# other than Linux this script prints nothing, and cargo compiles RocksDB as the crate does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH="$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin"

[ "$(uname -s)" = Linux ] || exit 0
cxx=${CXX:-c++}
ar=${AR:-ar}
command -v "$cxx" >/dev/null || exit 0
machine=$(uname -m)
cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/annals/rocksdb
per_file=30

# locked_version CRATE: its version in Cargo.lock.
locked_version() {
    awk -v name="\"$1\"" '$1 == "name" { found = $3 == name } found && $1 == "version" { gsub(/"/, "", $3); print $3; exit }' Cargo.lock
}

# The flags that the crate's build.rs and the crate cc give at opt-level 3, and those of
# .cargo/config.toml. The features are those of `rocksdb` in Cargo.toml: lz4 and zstd.
flags=(-O3 -ffunction-sections -fdata-sections -fPIC -fno-omit-frame-pointer -std=c++20 -include cstdint -w
    -DLZ4=1 -DZSTD=1 -DNDEBUG=1 -DHAVE_ALIGNED_NEW -DHAVE_UINT128_EXTENSION -DOS_LINUX -DROCKSDB_PLATFORM_POSIX
    -DROCKSDB_LIB_IO_POSIX -DROCKSDB_SCHED_GETCPU_PRESENT -DROCKSDB_AUXV_GETAUXVAL_PRESENT
    -DROCKSDB_FALLOCATE_PRESENT -DROCKSDB_RANGESYNC_PRESENT)
[ "$machine" != x86_64 ] || flags+=(-m64 -msse2)
read -ra configured < <(sed -n "s/^\"CXXFLAGS_$machine-unknown-linux-gnu\" = \"\(.*\)\"/\1/p" .cargo/config.toml) || true
read -ra chosen <<<"${CXXFLAGS:-}" || true
flags+=(${configured[@]+"${configured[@]}"} ${chosen[@]+"${chosen[@]}"})

version=$(locked_version librocksdb-sys)
key=$({
    printf '%s\n' "$version" "$(locked_version lz4-sys)" "$(locked_version zstd-sys)" "$machine" "$per_file" "${flags[@]}"
    "$cxx" --version
} | cksum | cut -d ' ' -f 1)
folder=$cache/${version//+/-}-$machine-$key

if [ "${1:-}" = --dir ]; then
    printf '%s\n' "$folder"
    exit 0
fi
[ ! -e "$folder/librocksdb.a" ] || exit 0

# Where cargo keeps the sources of a crate.
crate_dir() {
    python3 -c 'import json, os, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == sys.argv[1]: print(os.path.dirname(package["manifest_path"]))' "$1" <"$work/metadata"
}

mkdir -p "$cache"
# Two builds at once would only compile twice: the second waits and finds the library.
exec 9>"$cache/lock"
flock 9
[ ! -e "$folder/librocksdb.a" ] || exit 0

# Processes that compile, at 2 GiB each.
memory=$(awk '/^MemAvailable:/ { print int($2 / 2097152) }' /proc/meminfo)
jobs=$(nproc)
((memory >= jobs)) || jobs=$memory
((jobs > 0)) || jobs=1

echo "rocksdb: compiling RocksDB ${version#*+} once for this machine, with $jobs processes: about 4 minutes on two cores"
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
cargo metadata --format-version 1 --locked >"$work/metadata"
sources=$(crate_dir librocksdb-sys)
include=(-I"$sources/rocksdb/include" -I"$sources/rocksdb" -I"$sources"
    -I"$(crate_dir lz4-sys)/liblz4/lib" -I"$(crate_dir zstd-sys)/zstd/lib")

# The largest files first would need their sizes; the list's own order keeps neighbours, which
# include the same headers, together.
{
    tr -d '\r' <"$sources/rocksdb_lib_sources.txt" | sed 's/[[:space:]]//g' | grep -v -e '^$' -e '^util/build_version.cc$' |
        sed "s|^|$sources/rocksdb/|"
    echo "$sources/build_version.cc"
} | awk -v per="$per_file" -v work="$work" '
    { printf "#include \"%s\"\n", $0 >sprintf("%s/unity%02d.cc", work, int((NR - 1) / per)) }'

# A compiler that refuses a joined file gets its sources one by one.
compile() {
    local unity=$1 line source number=0
    if "$cxx" "${@:2}" -c "$unity" -o "${unity%.cc}.o" 2>"${unity%.cc}.log"; then
        echo "rocksdb: $(basename "${unity%.cc}") compiled"
        return
    fi
    echo "rocksdb: $(basename "${unity%.cc}") does not compile as one file; compiling its sources one by one" >&2
    while read -r line; do
        source=${line#*\"}
        number=$((number + 1))
        "$cxx" "${@:2}" -c "${source%\"}" -o "${unity%.cc}-$number.o" || return 255 # xargs starts no more
    done <"$unity"
}
export -f compile
export cxx
printf '%s\0' "$work"/unity*.cc |
    xargs -0 -P "$jobs" -I FILE bash -c 'set -euo pipefail; compile "$@"' compile FILE "${flags[@]}" "${include[@]}"

"$ar" crs "$work/librocksdb.a" "$work"/unity*.o
mkdir -p "$folder"
mv "$work/librocksdb.a" "$folder/librocksdb.a.new"
mv "$folder/librocksdb.a.new" "$folder/librocksdb.a"
echo "rocksdb: $folder/librocksdb.a"
