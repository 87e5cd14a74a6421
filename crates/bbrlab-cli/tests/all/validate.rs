//! Tests of `bbrlab validate golden` on the excerpts of recordings in the repository, with files
//! that are unchanged, altered, cut off or missing.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::Shell;
use expect_test::{Expect, expect};

/// Returns the folder of the excerpts that the tests of the crate `bbrlab-oracle` use.
fn excerpts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../bbrlab-oracle/tests/data/golden")
}

/// Copies the excerpts of one algorithm, with the manifest.
fn copy_of(shell: &Shell, algorithm: &str) {
    let to = shell.folder().join("golden");
    fs::create_dir_all(to.join(algorithm)).unwrap();
    fs::copy(excerpts().join("MANIFEST.csv"), to.join("MANIFEST.csv")).unwrap();
    for entry in fs::read_dir(excerpts().join(algorithm)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(algorithm).join(path.file_name().unwrap())).unwrap();
    }
}

/// Returns the first file of the copied excerpts of this algorithm.
fn first_file(shell: &Shell, algorithm: &str) -> PathBuf {
    let entries = fs::read_dir(shell.folder().join("golden").join(algorithm)).unwrap();
    entries.map(|entry| entry.unwrap().path()).min().unwrap()
}

/// Checks the output of `bbrlab` with the arguments `args`. Counts and hashes in the output are
/// masked, because they change if the excerpts of recordings in the repository change.
fn check_words(shell: &Shell, args: &[&str], expected: &Expect) {
    let here = fs::canonicalize(shell.folder()).unwrap();
    let words: Vec<String> = shell
        .transcript(args)
        .replace(here.to_str().unwrap(), "HERE")
        .lines()
        .map(|line| {
            let masked: Vec<String> = line
                .split_whitespace()
                .map(|word| {
                    let digits = word.trim_end_matches([',', ':']);
                    let is_hash =
                        digits.len() == 64 && digits.chars().all(|c| c.is_ascii_hexdigit());
                    let is_count =
                        digits.len() > 1 && digits.chars().all(|c| c.is_ascii_digit() || c == ',');
                    match (is_hash, is_count) {
                        (true, _) => word.replace(digits, "HASH"),
                        (_, true) => word.replace(digits, "#"),
                        _ if digits.chars().all(|c| c == '─') => "─".to_owned(),
                        _ => word.to_owned(),
                    }
                })
                .collect();
            masked.join(" ") + "\n"
        })
        .collect();
    expected.assert_eq(&words.concat());
}

#[test]
fn excerpts_of_all_that_is_built_replay_without_a_mismatch() {
    let shell = Shell::new("golden");
    let dir = excerpts();
    let output = shell.output(&["validate", "golden", dir.to_str().unwrap(), "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["mismatches"], 0, "{document}");
    assert!(document["rows"].as_u64().unwrap() > 100);
    assert!(document["first"].is_null());
    let is_complete = document["unsupported"].as_array().unwrap().is_empty();
    assert_eq!(output.status.code(), Some(if is_complete { 0 } else { 2 }));
}

#[test]
fn a_folder_of_one_algorithm_gives_a_table() {
    let shell = Shell::new("golden-one");
    let dir = excerpts().join("reno");
    check_words(
        &shell,
        &["validate", "golden", dir.to_str().unwrap()],
        &expect![[r#"
        algorithm traces rows mismatches columns compared
        ─
        reno 2 # 0 4
        all 2 # 0
        --- exit 0
    "#]],
    );
}

#[test]
fn an_altered_a_cut_off_and_a_missing_file_are_errors() {
    let shell = Shell::new("golden-damaged");
    copy_of(&shell, "reno");
    let file = first_file(&shell, "reno");
    let whole = fs::read(&file).unwrap();
    let args = ["validate", "golden", "golden/reno"];
    let mut altered = whole.clone();
    altered[20] ^= 1;
    fs::write(&file, altered).unwrap();
    check_words(
        &shell,
        &args,
        &expect![[r#"
        algorithm traces rows mismatches columns compared
        ─
        reno 1 # 0 4
        all 1 # 0
        --- stderr
        reno/c04_loss1pct_hz250.csv.gz: altered: sha256 is HASH, the manifest says HASH
        error: 1 file is damaged or missing
        --- exit 2
    "#]],
    );
    fs::write(&file, &whole[..whole.len() - 7]).unwrap();
    check_words(
        &shell,
        &args,
        &expect![[r#"
        algorithm traces rows mismatches columns compared
        ─
        reno 1 # 0 4
        all 1 # 0
        --- stderr
        reno/c04_loss1pct_hz250.csv.gz: truncated: # bytes, the manifest says #
        error: 1 file is damaged or missing
        --- exit 2
    "#]],
    );
    fs::remove_file(&file).unwrap();
    check_words(
        &shell,
        &args,
        &expect![[r#"
        algorithm traces rows mismatches columns compared
        ─
        reno 1 # 0 4
        all 1 # 0
        --- stderr
        reno/c04_loss1pct_hz250.csv.gz: listed in the manifest, but missing
        error: 1 file is damaged or missing
        --- exit 2
    "#]],
    );
}

#[test]
fn an_unknown_name_and_a_folder_without_traces_are_bad_input() {
    let shell = Shell::new("golden-unknown");
    copy_of(&shell, "reno");
    check_words(
        &shell,
        &["validate", "golden", "golden", "--only", "bbr9"],
        &expect![[r#"
        --- stderr
        error: `bbr9`: the manifest has no such name; it has bbr1, bbr2, bbr3, bbr2_2020, bbr2exp, cubic, reno, vegas, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla, dctcp, minmax, prr, pacing, cwndval, rtt, cubicroot, rate_v1, rate_v3
        --- exit 2
    "#]],
    );
    fs::create_dir(shell.folder().join("golden/empty")).unwrap();
    check_words(
        &shell,
        &["validate", "golden", "golden/empty"],
        &expect![[r#"
        --- stderr
        error: HERE/golden/empty: HERE/golden/MANIFEST.csv lists no file under it
        --- exit 2
    "#]],
    );
}

/// Copies two packet logs of the tests of the crate `bbrlab-oracle`, one under the name `other`.
fn copy_packets(shell: &Shell, other: &str, alter: impl Fn(&str) -> String) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bbrlab-oracle/tests/data/packets");
    let to = shell.folder().join("packets");
    fs::create_dir_all(&to).unwrap();
    let list = fs::read_to_string(from.join("episodes.csv")).unwrap();
    let line = list.lines().find(|line| line.starts_with("d_mid5_cubic,")).unwrap();
    let altered = alter(&line.replacen("d_mid5_cubic", other, 1));
    let header = list.lines().next().unwrap();
    fs::write(to.join("episodes.csv"), format!("{header}\n{altered}\n{line}\n")).unwrap();
    for kind in ["packets", "state", "rcv"] {
        for name in ["d_mid5_cubic", other] {
            let log = from.join(format!("d_mid5_cubic.{kind}.csv.gz"));
            fs::copy(log, to.join(format!("{name}.{kind}.csv.gz"))).unwrap();
        }
    }
}

#[test]
fn an_episode_with_unknown_settings_is_left_out_and_the_others_are_replayed() {
    let shell = Shell::new("packets-unknown");
    copy_packets(&shell, "red", |line| line.replace("7240B,,0", "7240B,colour=red,0"));
    shell.check(&["validate", "packets", "packets"], &expect![[r#"
        episode       sent by sender  mismatches  by receiver  mismatches  times supplied
        ─────────────────────────────────────────────────────────────────────────────────
        d_mid5_cubic              13           0           11           0               0

        24 packets, 0 mismatches
        left out: red: settings: found `colour=red`, expected `tso=on at the sender`, `sender qdisc fq`, `TCP_NODELAY`, `timestamps=0`, `tcp_ecn=1`, `CC on both sockets`, `SO_RCVBUF N`, `SO_RCVLOWAT N`, `window scale N at the receiver`
        --- stderr
        error: not supported: red
        --- exit 2
    "#]]);
    shell.check(
        &["validate", "packets", "packets", "--json"],
        &expect![[r#"
        {
          "unsupported": [
            "red"
          ],
          "episodes": [
            {
              "name": "d_mid5_cubic",
              "sender": {
                "packets": 13,
                "mismatches": 0
              },
              "receiver": {
                "packets": 11,
                "mismatches": 0
              },
              "closed": false,
              "handed": 0,
              "first": null
            }
          ],
          "packets": 24,
          "mismatches": 0
        }
        --- stderr
        error: not supported: red
        --- exit 2
    "#]],
    );
}
