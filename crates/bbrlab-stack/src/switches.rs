//! What ns-3's sender does differently from Linux's in loss recovery, rate sampling and pacing: one
//! field a difference.
//!
//! Each default is what Linux does, and each value is valid beside any other.

use bbrlab_units::Bytes;

/// How losses are found and repaired, in detail. [`Recovery`](crate::Recovery) says which of the
/// two state machines does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossSwitches {
    /// Loss detection by RACK, and its reordering timer. `None`: with `Recovery::Linux` only.
    /// Without it a packet is lost when three above it are SACKed; a lost retransmission then costs
    /// a timeout.
    pub rack: Option<bool>,
    /// Tail loss probes. `None`: with `Recovery::Linux` only.
    pub tlp: Option<bool>,
    /// Undo of reductions that prove spurious, F-RTO, adaptation to reordering. `None`: with
    /// `Recovery::Linux` only.
    pub undo: Option<bool>,
    /// What a sender in recovery retransmits when no loss is left to repair and no new data waits.
    pub rule3: Rule3,
    /// What the peer's window bounds.
    pub rwnd_bounds: RwndBounds,
    /// A retransmitted packet that is then SACKed counts as in flight until it is acknowledged
    /// cumulatively.
    pub pipe_keeps_sacked_retrans: bool,
    /// What a partial ACK in recovery sends at once, beyond cwnd and pacing.
    pub partial_ack: PartialAck,
    /// What a timeout marks lost.
    pub rto: Rto,
    /// In recovery only the first partial ACK restarts the timeout.
    pub rto_impatient: bool,
    /// How the timeout follows from RTT samples.
    pub rto_estimate: RtoEstimate,
    /// Recovery ends with cwnd = ssthresh, whatever the algorithm, and no algorithm restores cwnd
    /// after a timeout.
    pub exit_sets_ssthresh: bool,
    /// Whether a cwnd that is not filled may grow, and whether it decays.
    pub cwnd_validation: CwndValidation,
}

impl Default for LossSwitches {
    fn default() -> Self {
        Self {
            rack: None,
            tlp: None,
            undo: None,
            rule3: Rule3::Off,
            rwnd_bounds: RwndBounds::Edge,
            pipe_keeps_sacked_retrans: false,
            partial_ack: PartialAck::Nothing,
            rto: Rto::Linux,
            rto_impatient: false,
            rto_estimate: RtoEstimate::Linux,
            exit_sets_ssthresh: false,
            cwnd_validation: CwndValidation::Linux,
        }
    }
}

/// Rule 3 of RFC 6675's `NextSeg`: in recovery, with no loss to repair and no new data, retransmit
/// packets that are neither SACKed nor marked lost, each once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule3 {
    /// No such retransmission.
    #[default]
    Off,
    /// Only below the highest SACKed packet; losses above it wait as well (ns-3 since 3.43).
    BelowHighSack,
    /// Anything not SACKed (ns-3 up to 3.42): a sender whose buffer is the limit sends its whole
    /// flight again.
    Any,
}

/// What a partial ACK in recovery sends at once, beyond cwnd and pacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialAck {
    /// Nothing.
    #[default]
    Nothing,
    /// Unless the head is retransmitted already: the first lost segment, else new data, else the
    /// head (ns-3).
    Segment,
    /// Unless it is retransmitted already, the head, which counts as lost (ns-3 3.27, which sends
    /// it in any case).
    Head,
}

/// What the peer's window bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RwndBounds {
    /// The right edge of what is sent.
    #[default]
    Edge,
    /// The packets in flight (ns-3 up to 3.30).
    Pipe,
    /// The right edge, and the packets in flight (ns-3 since 3.31).
    Both,
}

/// What a timeout marks lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rto {
    /// With RACK, the head and what was sent long enough ago. The pacing of later packets goes on.
    #[default]
    Linux,
    /// All that is not SACKed, retransmissions included; with `Pacing::Timer` the timer is
    /// cancelled (ns-3).
    MarkAllKeepSack,
}

/// How the timeout follows from RTT samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RtoEstimate {
    /// Linux's estimator; `min_rto` is the lower bound of the variance term; at most 120 s.
    #[default]
    Linux,
    /// srtt + max(1 ms, 4 rttvar) of RFC 6298; `min_rto` is the lower bound of the sum; at most 60
    /// s (ns-3).
    Rfc6298,
}

/// Whether a cwnd that is not filled may grow, and whether it decays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CwndValidation {
    /// Linux's rules: growth if cwnd was filled within the round; decay while it is not, and after
    /// idle times.
    #[default]
    Linux,
    /// Growth if the last packet sent left room for less than one more; no decay (ns-3 since 3.42).
    LastSent,
    /// Growth always; no decay (ns-3 up to 3.41).
    Off,
}

/// How delivery-rate samples are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSwitches {
    /// Where the ACK phase of a sample begins.
    pub ack_interval: AckInterval,
    /// An ACK that delivers no packet newer than the last sample's keeps that sample's interval,
    /// while the count of what was delivered goes on.
    pub is_sticky: bool,
    /// What the loss of a sample counts.
    pub loss: LossCount,
    /// What a congestion control gets in place of an invalid sample.
    pub invalid: InvalidSample,
    /// The RTT below which an interval makes a sample invalid.
    pub min_rtt: SampleBound,
    /// No sample is ever valid, so that an algorithm that models the path learns nothing of its
    /// rate.
    pub is_blind: bool,
}

/// What the loss of a rate sample counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossCount {
    /// The packets that the ACK marked lost.
    #[default]
    New,
    /// The absolute change of the packets marked lost: a repair that arrives counts again (ns-3).
    Change,
    /// All packets that are marked lost, anew with each ACK ([lanigan-code]).
    Marked,
}

/// Where the ACK phase of a rate sample begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckInterval {
    /// With the latest delivery before the sampled packet was sent.
    #[default]
    This,
    /// With the same of the packet sampled before it, or with the start of the connection if that
    /// sample was invalid (ns-3 up to 3.40).
    Previous,
}

/// What a congestion control gets in place of an invalid rate sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvalidSample {
    /// Nothing.
    #[default]
    Drop,
    /// The last valid rate once more (ns-3's BBR up to 3.41).
    Reuse,
}

/// The RTT below which an interval makes a rate sample invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleBound {
    /// The windowed minimum of the RTT samples.
    #[default]
    Sample,
    /// The minimum of the smoothed RTT (ns-3).
    Srtt,
}

/// How packets are paced, and what an application writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacingSwitches {
    /// Which timer paces.
    pub pacing: Pacing,
    /// Whether a packet takes the time of its headers too. In neither Linux
    /// (`tcp_update_skb_after_send`, whose departure times `fq` keeps) nor ns-3 it does.
    pub counts_headers: bool,
    /// Whether the initial window is paced.
    pub pace_initial_window: bool,
    /// An application without end writes so much at a time, and each write is checked for being
    /// application-limited after its bytes are in the buffer (ns-3). `None`: 1 MiB at a time,
    /// checked before, as Linux does.
    pub app_write: Option<Bytes>,
}

/// Which timer paces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// Linux's: departure times, with up to half a packet's time of credit for lateness.
    #[default]
    Linux,
    /// ns-3's: one timer from each packet to the next, no credit, at most 4 Gbit/s. What is sent
    /// while the timer runs (the first retransmission of a recovery) does not restart it.
    Timer,
}
