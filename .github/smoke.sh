#!/bin/sh
# Runs a built-in scenario with an installed or built `bbrlab` and prints the digest of its packets, which is the same
# on every platform.
#
#     sh .github/smoke.sh PROGRAM [DIGEST-FILE]
set -eu
program=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
said=$("$program" --version)
if [ "$said" != "bbrlab $version" ]; then
    echo "expected: bbrlab $version; found: $said" >&2
    exit 1
fi

"$program" run examples.dumbbell --quiet --no-pictures --out "$out/run" >&2
digest=$(sed -n 's/.*"digest": *"\([0-9a-f]*\)".*/\1/p' "$out/run/summary.json")
if [ -z "$digest" ]; then
    echo "no digest in summary.json" >&2
    exit 1
fi
echo "$digest"
if [ $# -gt 1 ]; then
    echo "$digest" >"$2"
fi
