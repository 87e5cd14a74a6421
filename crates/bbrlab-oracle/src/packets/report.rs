//! The result that `validate packets --json` prints.

use crate::error::Unsupported;

/// The first packet, or the first logged state of a socket, in which our stack differs from Linux's
/// log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstMismatch {
    /// The time in nanoseconds at which Linux sent the packet. If only our stack sent the packet,
    /// the time at which our stack sent it.
    pub time_ns: u64,
    /// The field that differs, or `missing` if only Linux sent the packet, or `additional` if only
    /// our stack sent it.
    pub field: &'static str,
    /// Linux's value of this field. For `missing`: Linux's packet as text; for `additional`:
    /// `nothing`.
    pub expected: String,
    /// Our value of this field. For `missing`: `nothing`; for `additional`: our packet as text.
    pub got: String,
}

/// The comparison of one side of an episode (a packet log): sender or receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideReport {
    /// Packets that Linux sent.
    pub packets: u64,
    /// Packets that differ, are missing or are additional.
    pub mismatches: u64,
}

/// The result of one episode (one packet log).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeReport {
    /// The episode's name.
    pub name: String,
    /// The result of the sender.
    pub sender: SideReport,
    /// The result of the receiver.
    pub receiver: SideReport,
    /// Whether the path was simulated: then our sender and our receiver got each other's packets.
    /// If false, they got the packets that the log has.
    pub closed: bool,
    /// The number of events whose times the replay took from the log: the sum of two counts. The
    /// first counts the paced bursts of the sender. The second counts the interrupts of the
    /// sender's pacing timer at which our receiver sent packets. In the recorded runs, sender and
    /// receiver share one kernel. When the sender's pacing timer fires, the kernel can therefore
    /// also run the receiver's timer of compressed ACKs.
    pub handed: u64,
    /// The error if the congestion control is not implemented, otherwise `None`. If there is an
    /// error, the sender's counts are zero.
    pub unsupported: Option<Unsupported>,
    /// The first difference of the sender or, if the sender has none, of the receiver.
    pub first: Option<FirstMismatch>,
}

impl EpisodeReport {
    /// Returns the number of mismatches of both sides together.
    #[must_use]
    pub const fn mismatches(&self) -> u64 {
        self.sender.mismatches + self.receiver.mismatches
    }
}

/// The results of a folder of episodes (packet logs).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketsReport {
    /// The episodes that were omitted, or whose sender was omitted.
    pub unsupported: Vec<Unsupported>,
    /// The episodes, in the order of `episodes.csv`.
    pub episodes: Vec<EpisodeReport>,
    /// Number of packets in all episodes together.
    pub packets: u64,
    /// Number of mismatches in all episodes together.
    pub mismatches: u64,
}

impl PacketsReport {
    /// Adds the result of an episode.
    pub fn add(&mut self, episode: EpisodeReport) {
        self.packets += episode.sender.packets + episode.receiver.packets;
        self.mismatches += episode.mismatches();
        self.unsupported.extend(episode.unsupported.clone());
        self.episodes.push(episode);
    }
}
