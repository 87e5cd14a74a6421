//! The result that `validate packets --json` prints.

use crate::error::Unsupported;

/// The first packet that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstMismatch {
    /// When Linux sent it (or we, if it is additional), in nanoseconds.
    pub time_ns: u64,
    /// The field that differs, or `missing` or `additional`.
    pub field: &'static str,
    /// Linux's value.
    pub expected: String,
    /// Ours.
    pub got: String,
}

/// One side of an episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideReport {
    /// Packets that Linux sent.
    pub packets: u64,
    /// Packets that differ, are missing or additional.
    pub mismatches: u64,
}

/// One episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeReport {
    /// Its name.
    pub name: String,
    /// The sender's packets.
    pub sender: SideReport,
    /// The receiver's packets.
    pub receiver: SideReport,
    /// Whether it was run in a simulated path, not fed from the log.
    pub closed: bool,
    /// Clock readings supplied: times of paced bursts, and to the receiver the pacing timer's
    /// expiries.
    pub handed: u64,
    /// The congestion control, if it is not built; the sender's side then counts nothing.
    pub unsupported: Option<Unsupported>,
    /// The first difference, the sender's if both have one.
    pub first: Option<FirstMismatch>,
}

impl EpisodeReport {
    /// Mismatches of both sides.
    #[must_use]
    pub const fn mismatches(&self) -> u64 {
        self.sender.mismatches + self.receiver.mismatches
    }
}

/// A folder of episodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketsReport {
    /// Episodes, or their senders, that were left out.
    pub unsupported: Vec<Unsupported>,
    /// The episodes, in the order of `episodes.csv`.
    pub episodes: Vec<EpisodeReport>,
    /// Packets in all.
    pub packets: u64,
    /// Mismatches in all.
    pub mismatches: u64,
}

impl PacketsReport {
    /// Adds an episode.
    pub fn add(&mut self, episode: EpisodeReport) {
        self.packets += episode.sender.packets + episode.receiver.packets;
        self.mismatches += episode.mismatches();
        self.unsupported.extend(episode.unsupported.clone());
        self.episodes.push(episode);
    }
}
