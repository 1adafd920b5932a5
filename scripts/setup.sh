#!/usr/bin/env bash
# Checks that this machine has what the build and the tests need. On Debian and Ubuntu it
# installs what is missing, after printing what and why; elsewhere it names it.
# Safe to run again and again, and without a terminal.
#
#   setup.sh --build    only what the program's build needs
set -euo pipefail
shopt -s nullglob

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Where rustup puts cargo, in case the shell's start-up files do not say so.
PATH="$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin"

only_build=
[ "${1:-}" != --build ] || only_build=1

say() { printf 'setup: %s\n' "$*"; }
fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

# Cargo and Rust -------------------------------------------------------------

how_to_get_rust='Install or update Rust with rustup (https://rustup.rs; then "rustup update stable") and try again.'

check_rust() {
    local wanted found
    wanted=$(sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' "$root/Cargo.toml" | head -n 1)
    command -v cargo >/dev/null ||
        fail "cargo was not found; Rust $wanted or newer builds this program." "$how_to_get_rust"
    found=$(rustc --version 2>&1) ||
        fail "cargo is here, but rustc does not run: $found" "$how_to_get_rust"
    rust_version=$(printf '%s\n' "$found" | sed -n 's/^rustc \([0-9.]*\).*/\1/p')
    [ -n "$rust_version" ] || fail "rustc did not say its version: $found" "$how_to_get_rust"
    at_least "$rust_version" "$wanted" ||
        fail "Rust $rust_version is too old; this program needs $wanted or newer." "$how_to_get_rust"
}

# at_least 1.95.0 1.89: compares the first two numbers.
at_least() {
    local have_major have_minor want_major want_minor
    IFS=. read -r have_major have_minor _ <<<"$1"
    IFS=. read -r want_major want_minor _ <<<"$2"
    ((have_major > want_major || (have_major == want_major && have_minor >= want_minor)))
}

# The C++ compiler -----------------------------------------------------------

have_compiler() {
    command -v "${CXX:-c++}" >/dev/null && command -v "${CC:-cc}" >/dev/null
}

# RocksDB is C++20. A compiler that is there but too old would otherwise be
# found out minutes later, in the middle of the build.
check_cpp20() {
    printf '#include <atomic>\n#include <concepts>\nint main() {}\n' |
        "${CXX:-c++}" -std=c++20 -x c++ -fsyntax-only - 2>/dev/null
}

# libclang -------------------------------------------------------------------

# bindgen looks for these folders in this order; so do we.
libclang_folders() {
    if [ -n "${LIBCLANG_PATH:-}" ]; then
        printf '%s\n' "$LIBCLANG_PATH" "$(dirname "$LIBCLANG_PATH")"
        return
    fi
    local prefix
    if prefix=$("${LLVM_CONFIG_PATH:-llvm-config}" --prefix 2>/dev/null); then
        printf '%s\n' "$prefix/lib" "$prefix/lib64"
    fi
    printf '%s\n' "${LD_LIBRARY_PATH:-}" "${LIBRARY_PATH:-}" | tr ':' '\n'
    printf '%s\n' /usr/local/llvm*/lib* /usr/local/lib*/*/* /usr/local/lib*/* /usr/local/lib* \
        /usr/lib*/*/* /usr/lib*/* /usr/lib* \
        /usr/local/opt/llvm*/lib /Library/Developer/CommandLineTools/usr/lib
}

# Prints the first libclang shared library found.
find_libclang() {
    local folder file
    while IFS= read -r folder; do
        [ -d "$folder" ] || continue
        for file in "$folder"/libclang.so "$folder"/libclang-*.so "$folder"/libclang.so.* \
            "$folder"/libclang-*.so.* "$folder"/libclang.dylib; do
            case $file in *-cpp.*) continue ;; esac
            [ -e "$file" ] || continue # a link to nowhere
            printf '%s\n' "$file"
            return 0
        done
    done < <(libclang_folders)
    return 1
}

# libclang without its own stddef.h finds no C header at all.
have_clang_headers() {
    local found=("$(dirname "$libclang")"/clang/*/include/stddef.h
        /usr/lib*/clang/*/include/stddef.h /usr/lib/llvm*/lib*/clang/*/include/stddef.h
        /usr/local/lib*/clang/*/include/stddef.h /usr/local/llvm*/lib*/clang/*/include/stddef.h
        /usr/local/opt/llvm*/lib/clang/*/include/stddef.h
        /Library/Developer/CommandLineTools/usr/lib/clang/*/include/stddef.h)
    ((${#found[@]} > 0))
}

have_libclang() {
    libclang=$(find_libclang) && have_clang_headers
}

# Python ---------------------------------------------------------------------

have_python() { command -v python3 >/dev/null; }

# What the fault tests need --------------------------------------------------

# Linux only, both of them. Elsewhere those tests say that they did not run.
on_linux() { [ "$(uname -s)" = Linux ]; }

have_fusermount() { ! on_linux || command -v fusermount3 >/dev/null; }

have_strace() { ! on_linux || command -v strace >/dev/null; }

# What the store on PostgreSQL is tried on -------------------------------------

# Wanted where it can be installed. Elsewhere those tests say that they did not run. Nothing but the programs is used:
# the tests start a server of their own, in a temporary folder.
have_postgres() {
    local found=(/usr/lib/postgresql/*/bin/initdb)
    ! on_debian || ((${#found[@]} > 0))
}

# What the guard counts with --------------------------------------------------

# Wanted where it can be installed. Elsewhere all but `make bench-guard` works without it.
have_valgrind() { ! on_debian || command -v valgrind >/dev/null; }

# What the pages are tried in --------------------------------------------------

# Wanted where it can be installed. Elsewhere the viewer's test in a browser says that it did not run.
have_browser() { ! on_debian || { command -v chromium && command -v chromedriver; } >/dev/null; }

# Fetches axe-core, where it was not fetched before. Wanted like the browser.
axe=${XDG_CACHE_HOME:-${HOME:-}/.cache}/annals/axe
have_npm() { ! on_debian || compgen -G "$axe/axe-*.js" >/dev/null || command -v npm >/dev/null; }

# Installing -----------------------------------------------------------------

on_debian() { command -v apt-get >/dev/null && [ -e /etc/debian_version ]; }

# Fills the two lists: what is missing with its reason, and Debian's packages.
find_missing() {
    reasons=()
    packages=()
    have_compiler || {
        reasons+=("a C and C++ compiler (cc, c++): compiles RocksDB, the embedded store")
        packages+=(g++)
    }
    have_libclang || {
        reasons+=("libclang with its headers: bindgen reads RocksDB's C headers with it")
        packages+=(libclang-dev)
    }
    have_python || {
        reasons+=("python3: finds RocksDB's sources, and recounts recordings")
        packages+=(python3)
    }
    [ -z "$only_build" ] || return 0
    have_fusermount || {
        reasons+=("fusermount3: mounts the file system whose power the tests cut, for users other than root")
        packages+=(fuse3)
    }
    have_strace || {
        reasons+=("strace: the tests see with it what is synced, and kill programs within a system call")
        packages+=(strace)
    }
    have_postgres || {
        reasons+=("the PostgreSQL server: the store on it is tried on one that the tests start")
        packages+=(postgresql)
    }
    have_valgrind || {
        reasons+=("valgrind: counts the instructions of the hot paths, for make bench-guard")
        packages+=(valgrind)
    }
    have_browser || {
        reasons+=("chromium and its driver: the viewer's pages are tried in a browser")
        packages+=(chromium chromium-driver)
    }
    have_npm || {
        reasons+=("npm: fetches axe-core, with which the viewer's pages are checked for people who see or type in other ways")
        packages+=(npm)
    }
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif ! command -v sudo >/dev/null; then
        say "this needs root, and sudo is not here." >&2
        return 1
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@" # there is no terminal to type a password at
    fi
}

install_packages() {
    local command=(env DEBIAN_FRONTEND=noninteractive
        apt-get install -y --no-install-recommends "${packages[@]}")
    say "missing on this machine:"
    printf 'setup:   - %s\n' "${reasons[@]}"
    say "installing ${packages[*]} with apt-get."
    as_root apt-get update -q </dev/null ||
        say "the package lists could not be refreshed; trying with those that are here." >&2
    as_root "${command[@]}" </dev/null ||
        fail "apt-get could not install ${packages[*]}. Install them and try again:" \
            "  sudo apt-get install ${packages[*]}"
}

check_rust
find_missing
if ((${#reasons[@]} > 0)); then
    if on_debian; then
        install_packages
        hash -r
        find_missing
        ((${#reasons[@]} == 0)) ||
            fail "installed, but still not found:" "${reasons[@]/#/  - }"
    else
        fail "missing on this machine:" "${reasons[@]/#/  - }" \
            "Install them and try again. Their packages: Fedora: gcc-c++ clang-devel python3 fuse3 strace;" \
            "openSUSE: gcc-c++ clang-devel python3 fuse3 strace; Arch: gcc clang python fuse3 strace;" \
            "Alpine: g++ clang-dev python3 fuse3 strace;" \
            "macOS: xcode-select --install. LIBCLANG_PATH names a libclang elsewhere."
    fi
    say "done."
fi
check_cpp20 ||
    fail "${CXX:-c++} does not compile C++20, which RocksDB is written in: $("${CXX:-c++}" --version | head -n 1)" \
        "Install a newer one (g++ 11 or clang 14 and up), name it in CXX, and try again."
[ -z "$only_build" ] || exit 0
# Without it the viewer's test in a browser says that it did not check for people who see or type in other ways.
"$root/scripts/axe.sh" "$axe" || say "axe-core was not fetched into $axe; the viewer's pages are not checked with it." >&2
say "all there: Rust $rust_version, ${CXX:-c++}, $libclang"
