//! `bbrlab validate queues`: compares, packet by packet, the actions of our queue disciplines with
//! Linux's.

use std::fmt::Write as _;

use bbrlab_lab::QueueReplays;
use bbrlab_report::{Align, Table, count};
use serde::Serialize;

use super::damage;
use crate::output::{Output, Stopped, Verdict};

pub(super) fn verdict(replays: &QueueReplays, output: &mut Output) -> Verdict {
    damage(&replays.damaged, output)?;
    if replays.report.mismatches > 0 {
        return Err(Stopped::Status(1));
    }
    Ok(())
}

pub(super) fn describe(replays: &QueueReplays) -> String {
    let report = &replays.report;
    let mut table = Table::new()
        .column("episode", "", Align::Left)
        .column("packets", "", Align::Right)
        .column("mismatches", "", Align::Right);
    for episode in &report.episodes {
        let name = episode.name.clone();
        table.row(vec![name, count(episode.packets), count(episode.mismatches)]);
    }
    let mut text = table.render();
    let (packets, mismatches) = (count(report.packets), count(report.mismatches));
    let _ = writeln!(text, "\n{packets} packets, {mismatches} mismatches");
    let first = report.episodes.iter().find_map(|e| e.first.as_ref().map(|first| (e, first)));
    if let Some((episode, first)) = first {
        let _ = writeln!(
            text,
            "first difference: {}, packet {}, {}: expected {}, got {}",
            episode.name, first.n, first.field, first.expected, first.got
        );
    }
    text
}

/// The JSON document that `validate queues --json` prints.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    episodes: Vec<OfEpisode<'a>>,
    packets: u64,
    mismatches: u64,
}

#[derive(Serialize)]
struct OfEpisode<'a> {
    name: &'a str,
    packets: u64,
    mismatches: u64,
    first: Option<First<'a>>,
}

/// The first packet of a recorded packet log (episode) that our discipline treats differently from
/// Linux's discipline.
#[derive(Serialize)]
struct First<'a> {
    n: u64,
    field: &'a str,
    expected: &'a str,
    got: &'a str,
}

pub(super) fn document(replays: &QueueReplays) -> Document<'_> {
    let report = &replays.report;
    let episodes = report.episodes.iter().map(|e| OfEpisode {
        name: &e.name,
        packets: e.packets,
        mismatches: e.mismatches,
        first: e.first.as_ref().map(|first| First {
            n: first.n,
            field: &first.field,
            expected: &first.expected,
            got: &first.got,
        }),
    });
    Document {
        episodes: episodes.collect(),
        packets: report.packets,
        mismatches: report.mismatches,
    }
}
