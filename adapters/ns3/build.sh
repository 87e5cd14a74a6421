#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds bbrlab's module, libbbrlab-ns3.so, for an installed ns-3.
#
#   build.sh [--ns3 FOLDER] [--out FOLDER] [--library FILE] [--programs]
#
# FOLDER of --ns3 contains include/ns3: /usr, or the folder `ns3` of the Python package. Without
# --ns3, the Python package, /usr/local and /usr are tried in this order. --library names bbrlab's C
# library; without it, cargo builds the library. --programs also builds the examples and the tests.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
ns3=
out=$PWD
library=
programs=no
stop() {
    echo "build.sh: $1" >&2
    exit 1
}
while [ $# -gt 0 ]; do
    case $1 in
    --ns3 | --out | --library)
        [ $# -gt 1 ] || stop "$1: expected a value"
        case $1 in --ns3) ns3=$2 ;; --out) out=$2 ;; --library) library=$2 ;; esac
        shift 2
        ;;
    --programs) programs=yes && shift ;;
    *) stop "$1: expected --ns3 FOLDER, --out FOLDER, --library FILE or --programs" ;;
    esac
done

cxx=${CXX:-g++}
command -v "$cxx" >/dev/null || stop "no C++ compiler: expected $cxx, or CXX"

# Refuse a file without the functions of bbrlab's C library. The linker accepts missing functions of the module, so they
# would be found only when a program loads the module.
check_library() {
    expected="--library $1: expected bbrlab's C library libbbrlab_ffi.a"
    [ -f "$1" ] || stop "$expected, found no such file"
    printf '#include "bbrlab.h"\nint main() { return bbrlab_abi_version() != BBRLAB_ABI_VERSION; }\n' |
        "$cxx" -I "$root/crates/bbrlab-ffi/include" -o /dev/null -x c++ - -x none "$1" -lpthread -ldl -lm 2>/dev/null ||
        stop "$expected, found a file that does not define its function bbrlab_abi_version"
}
[ -z "$library" ] || check_library "$library"

# Find the folder of ns-3.
if [ -z "$ns3" ]; then
    found=$(python3 -c 'import importlib.util as u; s = u.find_spec("ns3")
print(s.submodule_search_locations[0] if s else "")' 2>/dev/null || true)
    for folder in "$found" /usr/local /usr; do
        if [ -n "$folder" ] && [ -e "$folder/include/ns3/core-module.h" ]; then
            ns3=$folder
            break
        fi
    done
    [ -n "$ns3" ] || stop "no ns-3 found; install libns3-dev or the Python package ns3, or use --ns3 FOLDER"
fi
[ -e "$ns3/include/ns3/core-module.h" ] || stop "--ns3 $ns3: expected include/ns3/core-module.h in it"
ns3=$(cd "$ns3" && pwd)
core=
for file in "$ns3"/lib64/libns3*-core.so "$ns3"/lib/libns3*-core.so "$ns3"/lib/*/libns3*-core.so; do
    if [ -e "$file" ]; then
        core=$file
        break
    fi
done
[ -n "$core" ] || stop "$ns3: expected libns3*-core.so in lib or lib64"
folder=$(dirname "$core")
prefix=${core%-core.so}

# Find the release of ns-3: in the names of the libraries, in the version of one library, or in the
# name of the Python package's folder.
case $(basename "$prefix") in
libns3.*) release=$(basename "$prefix" | sed 's/^libns\(3\.[0-9]*\).*/\1/') ;;
*)
    release=$(ls "$core".* 2>/dev/null | sed -n 's/.*-core\.so\.\([0-9][0-9]*\)$/3.\1/p' | head -n 1)
    [ -n "$release" ] || release=$(ls -d "$ns3"/../ns3-*.dist-info 2>/dev/null |
        sed -n 's/.*ns3-\(3\.[0-9]*\).*/\1/p' | head -n 1)
    ;;
esac
[ -n "$release" ] || release="of unknown release"

# Find the C++ standard with which ns-3's headers compile.
standard=
for candidate in c++20 c++17; do
    if echo '#include "ns3/tcp-socket-base.h"' |
        "$cxx" -std=$candidate -I "$ns3/include" -fsyntax-only -x c++ - 2>/dev/null; then
        standard=$candidate
        break
    fi
done
[ -n "$standard" ] || stop "$ns3: its headers compile neither as C++20 nor as C++17 with $cxx"
case $release in
3.3[0-9]) standard=c++17 ;;
esac

if [ -z "$library" ]; then
    target=${CARGO_TARGET_DIR:-$root/target}
    (cd "$root" && cargo build --quiet --release -p bbrlab-ffi)
    library=$target/release/libbbrlab_ffi.a
fi
flags="-std=$standard -O2 -fPIC -Wall -I $ns3/include -I $root/crates/bbrlab-ffi/include -I $here/model -I $here/helper"
echo "ns-3 $release in $ns3; $cxx $flags"
mkdir -p "$out"
out=$(cd "$out" && pwd)
libraries() {
    for name in "$@"; do
        [ ! -e "$prefix-$name.so" ] || printf '%s ' "$prefix-$name.so"
    done
}
# Compile all sources as one file, because most of the time is spent on ns-3's headers.
# shellcheck disable=SC2086
for source in "$here"/model/*.cc "$here"/helper/*.cc; do
    echo "#include \"$source\""
done | "$cxx" $flags -shared -o "$out/libbbrlab-ns3.so" -x c++ - -x none \
    "$library" $(libraries internet network core) -Wl,--exclude-libs,ALL -Wl,-z,defs \
    -Wl,-rpath,"$folder" -lpthread -ldl -lm
echo "$out/libbbrlab-ns3.so"
[ $programs = yes ] || exit 0

# ns-3's libraries do not name all libraries that they need, so each program is linked with all of
# them.
# shellcheck disable=SC2086
program() {
    name=$1
    shift
    "$cxx" $flags "$@" -o "$out/$name" -Wl,--no-as-needed "$out/libbbrlab-ns3.so" \
        $(libraries core network internet point-to-point applications traffic-control bridge mpi stats \
            wifi mobility propagation spectrum antenna energy) \
        -Wl,--allow-shlib-undefined -Wl,-rpath,"$folder" -Wl,-rpath,"$out"
    echo "$out/$name"
}
program run-tests "$here"/test/*.cc
program one-flow "$here/one-flow.cc"
for source in "$here"/examples/*.cc; do
    program "$(basename "$source" .cc)" "$source"
done
