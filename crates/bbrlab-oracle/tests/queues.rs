//! Our queue disciplines against packet logs of the kernel's.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_oracle::queues;

/// The excerpts that the repository holds: the first packets of some episodes.
fn excerpts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/queues")
}

/// Every episode of `dir`, one line each, and what differs: packets and inner states.
fn table(dir: &Path) -> (String, u64) {
    let mut lines = String::new();
    let mut mismatches = 0;
    for episode in queues::episodes(dir).unwrap() {
        let packets = queues::validate_episode(&episode).unwrap();
        let states = queues::validate_states(&episode).unwrap();
        mismatches += packets.mismatches + states.mismatches;
        writeln!(
            lines,
            "{}: packets {}/{} states {}/{} first {:?} {:?}",
            packets.name,
            packets.mismatches,
            packets.packets,
            states.mismatches,
            states.packets,
            packets.first,
            states.first
        )
        .unwrap();
    }
    (lines, mismatches)
}

#[test]
fn every_episode_of_the_reference_is_reproduced_packet_by_packet() {
    let Some(reference) = bbrlab_oracle::reference("queues") else { return };
    let (lines, mismatches) = table(&reference.join("linux-aqm/packets"));
    assert_eq!(mismatches, 0, "{lines}");
}

#[test]
fn the_excerpts_are_reproduced_packet_by_packet() {
    let (lines, mismatches) = table(&excerpts());
    assert_eq!(mismatches, 0, "{lines}");
    // Two files each, the list and a page.
    assert_eq!(lines.lines().count(), fs::read_dir(excerpts()).unwrap().count() / 2 - 1, "{lines}");
}
