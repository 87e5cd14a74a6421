//! The result that `validate queues --json` prints.

use super::row::{Fate, Row};

/// The first packet that our discipline handles differently from Linux's log, or the first logged
/// state that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstMismatch {
    /// The packet's number, from 1. The log numbers the packets separately at each point of the
    /// network.
    pub n: u64,
    /// The point of the network and the field that differs, such as `bn.dep_ns`. The field is
    /// `dep_ns`, `drop_ns` or `mark`.
    pub field: String,
    /// The value in Linux's log; `-` if the log has no value.
    pub expected: String,
    /// Our value.
    pub got: String,
}

/// The result of one episode (one packet log).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeReport {
    /// The episode's name.
    pub name: String,
    /// Number of packets. A packet counts once at each point of the network where it was logged.
    pub packets: u64,
    /// Number of packets that differ from the log in the time of departure, in the time of the
    /// drop, or in whether they were marked CE.
    pub mismatches: u64,
    /// The first of these packets.
    pub first: Option<FirstMismatch>,
}

impl EpisodeReport {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), packets: 0, mismatches: 0, first: None }
    }

    pub(super) fn compare(&mut self, row: &Row, ours: &Fate) {
        self.packets += 1;
        let (linux, got) = (&row.fate, ours);
        let time = |time: Option<u64>| time.map_or_else(|| "-".to_owned(), |ns| ns.to_string());
        let fields = [
            ("dep_ns", time(linux.departed_ns), time(got.departed_ns)),
            ("drop_ns", time(linux.dropped_ns), time(got.dropped_ns)),
            ("mark", linux.marked.to_string(), got.marked.to_string()),
        ];
        let Some((field, expected, got)) = fields.into_iter().find(|(_, linux, got)| linux != got)
        else {
            return;
        };
        self.mismatches += 1;
        if self.first.is_none() {
            let field = format!("{}.{field}", row.point);
            self.first = Some(FirstMismatch { n: row.n, field, expected, got });
        }
    }
}

/// The results of a folder of episodes (packet logs).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuesReport {
    /// The episodes, in the order of `episodes.csv`.
    pub episodes: Vec<EpisodeReport>,
    /// Number of packets in all episodes together.
    pub packets: u64,
    /// Number of mismatches in all episodes together.
    pub mismatches: u64,
}

impl QueuesReport {
    /// Adds the result of an episode.
    pub fn add(&mut self, episode: EpisodeReport) {
        self.packets += episode.packets;
        self.mismatches += episode.mismatches;
        self.episodes.push(episode);
    }
}
