//! `bbrlab validate packets`: compares the packets of our sender and receiver with Linux's.

use std::fmt::Write as _;

use bbrlab_lab::{LabError, PacketReplays};
use bbrlab_report::{Align, Table, count};
use serde::Serialize;
use serde_json::Value;

use super::damage;
use crate::output::{Output, Stopped, Verdict};

pub(super) fn verdict(packets: &PacketReplays, output: &mut Output) -> Verdict {
    damage(&packets.damaged, output)?;
    let left_out = &packets.report.unsupported;
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(|u| u.episode.as_str()).collect();
        return Err(LabError::Usage(format!("not supported: {}", names.join(", "))).into());
    }
    if packets.report.mismatches > 0 {
        return Err(Stopped::Status(1));
    }
    Ok(())
}

pub(super) fn describe(packets: &PacketReplays) -> String {
    let report = &packets.report;
    let mut table = Table::new()
        .column("episode", "", Align::Left)
        .column("sent by sender", "", Align::Right)
        .column("mismatches", "", Align::Right)
        .column("by receiver", "", Align::Right)
        .column("mismatches", "", Align::Right)
        .column("times supplied", "", Align::Right);
    for e in &report.episodes {
        let name = if e.closed { format!("{} (closed)", e.name) } else { e.name.clone() };
        table.row(vec![
            name,
            count(e.sender.packets),
            count(e.sender.mismatches),
            count(e.receiver.packets),
            count(e.receiver.mismatches),
            count(e.handed),
        ]);
    }
    let mut text = table.render();
    let _ = writeln!(
        text,
        "\n{} packets, {} mismatches",
        count(report.packets),
        count(report.mismatches)
    );
    for unsupported in &report.unsupported {
        let _ = writeln!(text, "left out: {unsupported}");
    }
    let first = report.episodes.iter().find_map(|e| e.first.as_ref().map(|first| (e, first)));
    if let Some((e, first)) = first {
        let _ = writeln!(
            text,
            "first difference: {}, {} ns, {}: expected {}, got {}",
            e.name, first.time_ns, first.field, first.expected, first.got
        );
    }
    text
}

/// The JSON document that `validate packets --json` prints.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    unsupported: Vec<&'a str>,
    episodes: Vec<OfEpisode<'a>>,
    packets: u64,
    mismatches: u64,
}

#[derive(Serialize)]
struct OfEpisode<'a> {
    name: &'a str,
    sender: OfSide,
    receiver: OfSide,
    closed: bool,
    handed: u64,
    first: Option<First<'a>>,
}

/// The comparison of the packets that one host, the sender or the receiver, sent. `packets` counts
/// Linux's packets; `mismatches` counts our packets that differ from Linux's, Linux's packets that
/// we did not send, and our additional packets.
#[derive(Serialize)]
struct OfSide {
    packets: u64,
    mismatches: u64,
}

/// The first field, in one packet log (episode), whose value in our packet differs from the value
/// in Linux's packet.
#[derive(Serialize)]
struct First<'a> {
    time_ns: u64,
    field: &'a str,
    expected: Value,
    got: Value,
}

pub(super) fn document(packets: &PacketReplays) -> Document<'_> {
    let report = &packets.report;
    let episodes = report.episodes.iter().map(|e| OfEpisode {
        name: &e.name,
        sender: OfSide { packets: e.sender.packets, mismatches: e.sender.mismatches },
        receiver: OfSide { packets: e.receiver.packets, mismatches: e.receiver.mismatches },
        closed: e.closed,
        handed: e.handed,
        first: e.first.as_ref().map(|first| First {
            time_ns: first.time_ns,
            field: first.field,
            expected: value(&first.expected),
            got: value(&first.got),
        }),
    });
    Document {
        unsupported: report.unsupported.iter().map(|u| u.episode.as_str()).collect(),
        episodes: episodes.collect(),
        packets: report.packets,
        mismatches: report.mismatches,
    }
}

/// Converts a text to a JSON number if it is an unsigned 64-bit integer, otherwise to a JSON
/// string.
fn value(text: &str) -> Value {
    text.parse::<u64>().map_or_else(|_| text.into(), Value::from)
}
