//! Our stack against packet logs of a real one.

use std::fmt::Write as _;

use bbrlab_oracle::packets;

#[test]
fn every_episode_of_the_reference_comes_out_packet_by_packet() {
    let Some(reference) = bbrlab_oracle::reference("packets") else { return };
    let dir = reference.join("linux-reference/packets");
    let mut table = String::new();
    let mut receiver = 0;
    for episode in packets::episodes(&dir).unwrap() {
        match packets::validate(&dir, std::slice::from_ref(&episode.name), None) {
            Ok(report) => {
                let e = &report.episodes[0];
                receiver += e.receiver.mismatches;
                writeln!(
                    table,
                    "{:24} sender {:5}/{:5} receiver {:5}/{:5} handed {} {:?}{:?}",
                    e.name,
                    e.sender.mismatches,
                    e.sender.packets,
                    e.receiver.mismatches,
                    e.receiver.packets,
                    e.handed,
                    e.unsupported,
                    e.first,
                )
                .unwrap();
            }
            Err(error) => writeln!(table, "{error}").unwrap(),
        }
    }
    eprintln!("{table}");
    // Four ACKs leave when the sender's pacing timer goes off; the replies of one episode need a
    // socket that sends, too.
    assert!(receiver <= 40, "{receiver} packets of the receiver differ");
}

#[test]
fn the_receivers_inner_state_is_the_kernels_before_every_segment() {
    let Some(reference) = bbrlab_oracle::reference("receiver states") else { return };
    let dir = reference.join("linux-reference/packets");
    let mut table = String::new();
    let mut mismatches = 0;
    let all = packets::episodes(&dir).unwrap();
    for episode in &all {
        let (report, first) = packets::receiver_states(episode, &all).unwrap();
        if episode.reply_bytes == 0 {
            mismatches += report.mismatches;
        }
        writeln!(
            table,
            "{:24} {:5}/{:5} {first:?}",
            episode.name, report.mismatches, report.packets
        )
        .unwrap();
    }
    eprintln!("{table}");
    assert_eq!(mismatches, 0);
}
