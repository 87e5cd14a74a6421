//! Tests that our stack reproduces packet logs of Linux hosts, and that errors report damaged logs.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use bbrlab_oracle::{LogError, packets};
use bbrlab_stack::SenderQdisc;
use expect_test::{Expect, expect};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Returns the folder in the repository with a selection of the recorded episodes.
fn selection() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/packets")
}

/// Replays every recorded episode of `dir`. Returns a line per episode, and the total number of
/// mismatches.
fn table(dir: &Path) -> (String, u64) {
    let mut lines = String::new();
    let mut mismatches = 0;
    let listed = packets::episodes(dir).unwrap();
    assert_eq!(listed.unsupported, []);
    for episode in listed.known {
        let report = packets::validate(dir, std::slice::from_ref(&episode.name)).unwrap();
        let [e] = report.episodes.as_slice() else { panic!("one was asked for") };
        mismatches += report.mismatches;
        write!(
            lines,
            "{}: sender {}/{} receiver {}/{} handed {}",
            e.name,
            e.sender.mismatches,
            e.sender.packets,
            e.receiver.mismatches,
            e.receiver.packets,
            e.handed
        )
        .unwrap();
        lines.push_str(if e.closed { ", closed" } else { "" });
        if let Some(unsupported) = &e.unsupported {
            write!(lines, ", {unsupported}").unwrap();
        }
        if let Some(first) = &e.first {
            write!(lines, ", first {first:?}").unwrap();
        }
        lines.push('\n');
    }
    (lines, mismatches)
}

#[test]
fn every_episode_of_the_reference_is_reproduced_packet_by_packet() {
    let Some(reference) = bbrlab_oracle::reference("packets") else { return };
    let (lines, mismatches) = table(&reference.join("linux-reference/packets"));
    assert_eq!(mismatches, 0, "{lines}");
}

#[test]
fn the_selection_is_reproduced_packet_by_packet() {
    let (lines, mismatches) = table(&selection());
    assert_eq!(mismatches, 0, "{lines}");
}

#[test]
fn the_receivers_inner_state_is_the_kernels_before_every_segment() {
    let mut dirs = vec![selection()];
    let reference = bbrlab_oracle::reference("receiver states");
    dirs.extend(reference.map(|reference| reference.join("linux-reference/packets")));
    for dir in dirs {
        let all = packets::episodes(&dir).unwrap().known;
        // Skip episodes whose receiving application replies. In these episodes, the receiver's
        // state also depends on the data that the receiver sends, which `receiver_states` does not
        // replay.
        for episode in all.iter().filter(|episode| episode.reply_bytes == 0) {
            let (report, first) = packets::receiver_states(episode, &all).unwrap();
            assert_eq!(report.mismatches, 0, "{}: {first:?}", episode.name);
        }
    }
}

/// Copies the episode `name` of the selection to a new folder, and returns the folder.
fn copy_of(name: &str, test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    let episodes = fs::read_to_string(selection().join("episodes.csv")).unwrap();
    let keep = |line: &&str| line.starts_with("name,") || line.starts_with(&format!("{name},"));
    let lines: Vec<&str> = episodes.lines().filter(keep).collect();
    fs::write(dir.join("episodes.csv"), lines.join("\n") + "\n").unwrap();
    for kind in ["packets", "state", "rcv"] {
        let file = format!("{name}.{kind}.csv.gz");
        fs::copy(selection().join(&file), dir.join(&file)).unwrap();
    }
    dir
}

/// Replays `dir`, and compares the error, without the folder's path, with `expected`.
fn check(dir: &Path, expected: &Expect) {
    let error = packets::validate(dir, &[]).unwrap_err();
    expected.assert_eq(&error.to_string().replace(&format!("{}/", dir.display()), ""));
}

/// Decompresses a file, lets `edit` change its text, and compresses it again.
fn edit(path: &Path, edit: impl FnOnce(String) -> String) {
    let mut text = String::new();
    GzDecoder::new(fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(edit(text).as_bytes()).unwrap();
    fs::write(path, encoder.finish().unwrap()).unwrap();
}

#[test]
fn a_missing_file_is_named() {
    let dir = copy_of("d_mid5_cubic", "missing");
    fs::remove_file(dir.join("d_mid5_cubic.rcv.csv.gz")).unwrap();
    check(&dir, &expect!["d_mid5_cubic.rcv.csv.gz: no such file"]);
    fs::remove_file(dir.join("episodes.csv")).unwrap();
    check(&dir, &expect!["episodes.csv: no such file"]);
}

#[test]
fn a_file_cut_off_is_damaged() {
    let dir = copy_of("d_mid5_cubic", "cut");
    let path = dir.join("d_mid5_cubic.packets.csv.gz");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    check(
        &dir,
        &expect!["d_mid5_cubic.packets.csv.gz: damaged gzip file: incomplete deflate stream"],
    );
}

#[test]
fn a_flipped_bit_is_found_by_the_checksum() {
    for byte in [200, 300, 400] {
        let dir = copy_of("d_mid5_cubic", "flipped");
        let path = dir.join("d_mid5_cubic.packets.csv.gz");
        let mut bytes = fs::read(&path).unwrap();
        bytes[byte] ^= 1;
        fs::write(&path, bytes).unwrap();
        let error = packets::validate(&dir, &[]).unwrap_err();
        assert!(matches!(error, LogError::BadGzip { .. }), "{error}");
    }
}

#[test]
fn missing_rows_are_noticed() {
    let dir = copy_of("d_mid5_cubic", "rows");
    let path = dir.join("d_mid5_cubic.packets.csv.gz");
    edit(&path, |text| text.lines().take(20).collect::<Vec<_>>().join("\n") + "\n");
    check(&dir, &expect!["d_mid5_cubic.packets.csv.gz: data_out is 5, but episodes.csv says 11"]);
    edit(&path, |text| text.trim_end().to_owned());
    check(&dir, &expect!["d_mid5_cubic.packets.csv.gz: row 19: the file ends inside a line"]);
}

#[test]
fn cells_that_make_no_sense_are_named() {
    let dir = copy_of("d_mid5_cubic", "cells");
    let path = dir.join("d_mid5_cubic.packets.csv.gz");
    edit(&path, |text| text.replacen(",1449,1448,", ",1449,x,", 1));
    check(&dir, &expect!["d_mid5_cubic.packets.csv.gz: row 8: len: found `x`, expected a number"]);
    edit(&path, |text| text.replacen("time_ns,", "time_us,", 1));
    check(
        &dir,
        &expect![
            "d_mid5_cubic.packets.csv.gz: found the columns `time_us,point,dir,flow,flags,seq,len,ack,wnd,sack,tsval,tsecr,ecn,lost`, expected `time_ns,point,dir,flow,flags,seq,len,ack,wnd,sack,tsval,tsecr,ecn,lost`"
        ],
    );
}

/// Replays `dir`, and compares the lists of omitted and of replayed episodes with `expected`.
fn check_left_out(dir: &Path, expected: &Expect) {
    let report = packets::validate(dir, &[]).unwrap();
    assert_eq!(report.mismatches, 0);
    let mut text = String::new();
    for unsupported in &report.unsupported {
        writeln!(text, "left out: {unsupported}").unwrap();
    }
    for episode in &report.episodes {
        writeln!(text, "{}: {} packets", episode.name, episode.receiver.packets).unwrap();
    }
    expected.assert_eq(&text);
}

/// Replaces `from` by `to` in the `episodes.csv` of `dir`, which lists only one episode.
fn alter_episode(dir: &Path, from: &str, to: &str) {
    let path = dir.join("episodes.csv");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(&path, text.replace(from, to)).unwrap();
}

#[test]
fn an_episode_with_settings_that_are_not_known_is_left_out() {
    let dir = copy_of("d_mid5_cubic", "settings");
    let path = dir.join("episodes.csv");
    let text = fs::read_to_string(&path).unwrap();
    let same = text.lines().nth(1).unwrap();
    let other = same.replace("d_mid5_cubic", "red").replace("7240B,,0", "7240B,colour=red,0");
    let third = same.replace("d_mid5_cubic", "walk").replace("script: 0.2s:7240B", "walk 0.2s");
    fs::write(&path, text.replace(same, &format!("{other}\n{same}\n{third}"))).unwrap();
    check_left_out(
        &dir,
        &expect![[r#"
        left out: red: settings: found `colour=red`, expected `tso=on at the sender`, `sender qdisc fq`, `TCP_NODELAY`, `timestamps=0`, `tcp_ecn=1`, `CC on both sockets`, `SO_RCVBUF N`, `SO_RCVLOWAT N`, `window scale N at the receiver`
        left out: walk: app: found `walk 0.2s 0.4s:7240B`, expected `unlimited`, `script: T:B ...` or `N transfers of B B; ...`
        d_mid5_cubic: 11 packets
    "#]],
    );
}

#[test]
fn the_sender_of_an_episode_with_an_algorithm_that_is_not_known_is_left_out() {
    let dir = copy_of("d_mid5_cubic", "algorithm");
    alter_episode(&dir, "d_mid5_cubic,cubic,", "d_mid5_cubic,lp,");
    check_left_out(
        &dir,
        &expect![[r#"
        left out: d_mid5_cubic: cc: found `lp`, expected an algorithm that bbrlab has (`bbrlab list algorithms`)
        d_mid5_cubic: 11 packets
    "#]],
    );
}

#[test]
fn the_qdisc_fq_and_nodelay_are_known() {
    let dir = copy_of("d_mid5_cubic", "known");
    alter_episode(&dir, "7240B,,0", "7240B,sender qdisc fq; TCP_NODELAY,0");
    let listed = packets::episodes(&dir).unwrap();
    assert_eq!(listed.unsupported, []);
    let config = packets::sender_config(&listed.known[0]);
    assert_eq!((config.stack.sender_qdisc, config.nodelay), (SenderQdisc::Fq, true));
}

#[test]
fn an_episode_that_is_not_there_is_bad_input() {
    let error = packets::validate(&selection(), &["d_tail9".to_owned()]).unwrap_err();
    assert!(error.to_string().starts_with("no episode `d_tail9`; the folder has: "), "{error}");
}

#[test]
fn a_changed_packet_is_one_mismatch() {
    let dir = copy_of("d_mid5_cubic", "changed");
    let path = dir.join("d_mid5_cubic.packets.csv.gz");
    edit(&path, |text| text.replacen("d,out,0,A,1,0,7241,81920", "d,out,0,A,1,0,7241,81921", 1));
    let report = packets::validate(&dir, &[]).unwrap();
    let [e] = report.episodes.as_slice() else { panic!("one episode") };
    assert_eq!((e.sender.mismatches, e.receiver.mismatches), (0, 1));
    let first = e.first.as_ref().unwrap();
    assert_eq!(
        (first.field, first.expected.as_str(), first.got.as_str()),
        ("wnd", "81921", "81920")
    );
}

#[test]
fn one_packet_too_many_is_one_mismatch_and_not_a_shift() {
    let dir = copy_of("d_mid5_cubic", "extra");
    let path = dir.join("d_mid5_cubic.packets.csv.gz");
    edit(&path, |text| {
        let line = text.lines().find(|line| line.contains("d,out,0,A,1,0,7241,81920")).unwrap();
        let twice = format!("{line}\n{line}");
        text.replacen(line, &twice, 1)
    });
    let report = packets::validate(&dir, &[]).unwrap();
    assert_eq!(report.mismatches, 1);
}

#[test]
fn the_senders_inner_state_is_the_kernels_before_every_ack() {
    let Some(reference) = bbrlab_oracle::reference("sender states") else { return };
    let dir = reference.join("linux-reference/packets");
    let mut table = String::new();
    let (mut rows, mut mismatches, mut by_a_step) = (0, 0, 0);
    for episode in &packets::episodes(&dir).unwrap().known {
        let (report, off_by_a_step, first) = packets::sender_states(episode).unwrap();
        rows += report.packets;
        mismatches += report.mismatches;
        by_a_step += off_by_a_step;
        writeln!(
            table,
            "{:24} {:5}/{:5} {first:?}",
            episode.name, report.mismatches, report.packets
        )
        .unwrap();
    }
    assert_eq!(mismatches, 0, "{table}");
    // In some rows, our application acts one clock step earlier or later than the logged
    // application. Less than 1 % of all logged rows may differ by such a step.
    assert!(by_a_step * 100 < rows, "{by_a_step} of {rows} rows differ by a step of the clock");
}
