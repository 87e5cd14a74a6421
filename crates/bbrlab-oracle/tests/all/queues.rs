//! Tests that our queue disciplines reproduce packet logs of the kernel's disciplines.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_link::{Buffer, CodelParams, FqCodelParams, FqPieParams, Queue};
use bbrlab_oracle::queues::{self, Child};
use bbrlab_units::Packets;

/// Returns the folder in the repository with excerpts of packet logs: the first packets of some
/// recorded episodes.
fn excerpts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/queues")
}

/// Replays every recorded episode of `dir`. Returns a line per episode, and the total number of
/// differing packets and internal states.
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
    for folder in ["linux-aqm/packets", "trials/queues"] {
        let dir = reference.join(folder);
        if dir.is_dir() {
            let (lines, mismatches) = table(&dir);
            assert_eq!(mismatches, 0, "{lines}");
        }
    }
}

/// An episode with the setting `ecn` must load. The setting states whether the hosts negotiated
/// ECN, and the replay of the queues ignores the setting. The error for an unknown setting must
/// name the setting.
#[test]
fn ecn_of_the_hosts_is_accepted_and_other_settings_are_named() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("settings");
    fs::create_dir_all(&dir).unwrap();
    let with = |settings: &str| {
        let row = format!("q_x,codel limit 1000 ecn,10,20,cubic,0.1,{settings},2000000000");
        let header = "name,qdisc,rate_mbps,rtt_ms,ccs,starts_s,settings,t0_ns";
        fs::write(dir.join("episodes.csv"), format!("{header}\n{row}\n")).unwrap();
        match queues::episodes(&dir) {
            Ok(episodes) => {
                episodes[0].points.iter().map(|point| point.name).collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string().replace(dir.to_str().unwrap(), "DIR"),
        }
    };
    assert_eq!(with("ecn=True"), "bn");
    assert_eq!(with("ecn=1;data_slot=5ms 5ms packets 4 bytes 5000"), "bn data");
    assert_eq!(
        with("ecn=maybe"),
        "DIR/episodes.csv: row 1: settings: found `ecn=maybe`, expected ecn=True, ecn=1, \
         ecn=False or ecn=0"
    );
    assert_eq!(
        with("loss=0.1"),
        "DIR/episodes.csv: row 1: settings: found `loss`, expected police, data_slot, ack_slot, ecn"
    );
    assert_eq!(
        with("data_slot=5ms 5ms distribution 4"),
        "DIR/episodes.csv: row 1: settings: found `distribution`, expected packets, bytes"
    );
}

#[test]
fn the_excerpts_are_reproduced_packet_by_packet() {
    let (lines, mismatches) = table(&excerpts());
    assert_eq!(mismatches, 0, "{lines}");
    // The folder has two files per episode, and also two other files: `episodes.csv` and a README.
    assert_eq!(lines.lines().count(), fs::read_dir(excerpts()).unwrap().count() / 2 - 1, "{lines}");
}

/// With only one flow, a discipline that has a queue per flow acts like a discipline with one
/// queue. With the same parameters, `fq_codel` and `fq_pie` must therefore reproduce the kernel's
/// logs of `codel` and `pie` with one flow.
#[test]
fn a_lone_flow_in_fq_codel_and_fq_pie_is_that_in_codel_and_pie() {
    let mut dirs = vec![excerpts()];
    let reference = bbrlab_oracle::reference("lone flows");
    dirs.extend(reference.map(|reference| reference.join("linux-aqm/packets")));
    for dir in dirs {
        let mut replayed = 0;
        for mut episode in queues::episodes(&dir).unwrap() {
            // The logs of `codel` and `pie` were recorded with the default parameters of `tc`,
            // without ECN.
            let queue = match episode.name.as_str() {
                "q_codel_cubic" => Queue::FqCodel(FqCodelParams {
                    codel: CodelParams::DEFAULT,
                    ..FqCodelParams::DEFAULT
                }),
                "q_pie_cubic" => Queue::FqPie(FqPieParams::DEFAULT),
                _ => continue,
            };
            episode.points[0].child = Child::Queue { queue, limit: Buffer::Packets(Packets(1000)) };
            let report = queues::validate_episode(&episode).unwrap();
            assert_eq!(report.mismatches, 0, "{report:?}");
            replayed += 1;
        }
        assert_eq!(replayed, 2);
    }
}
