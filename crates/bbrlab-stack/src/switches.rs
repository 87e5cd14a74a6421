//! The differences between ns-3's sender and Linux's in loss recovery, rate sampling and pacing,
//! with one field per difference.
//!
//! Each default is Linux's behaviour. All combinations of values are valid.

use bbrlab_units::Bytes;

/// Switches for loss detection and repair. [`Recovery`](crate::Recovery) selects the state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossSwitches {
    /// Loss detection by RACK, and its reordering timer. `None`: only with `Recovery::Linux`.
    /// Without RACK, a packet is lost when three packets above it are SACKed, and a lost
    /// retransmission costs a timeout.
    pub rack: Option<bool>,
    /// Tail loss probes. `None`: only with `Recovery::Linux`.
    pub tlp: Option<bool>,
    /// Undo of spurious reductions, F-RTO, and adaptation to reordering. `None`: only with
    /// `Recovery::Linux`.
    pub undo: Option<bool>,
    /// The packets that a sender in recovery retransmits when there is no loss to repair and no new
    /// data.
    pub rule3: Rule3,
    /// The quantity that the peer's window bounds.
    pub rwnd_bounds: RwndBounds,
    /// Whether a retransmitted packet that is then SACKed counts as in flight until it is
    /// acknowledged cumulatively.
    pub pipe_keeps_sacked_retrans: bool,
    /// The segment that a partial ACK in recovery sends immediately, beyond cwnd and pacing.
    pub partial_ack: PartialAck,
    /// The packets that a timeout marks lost.
    pub rto: Rto,
    /// Whether only the first partial ACK in recovery restarts the timeout.
    pub rto_impatient: bool,
    /// How the timeout is computed from RTT samples.
    pub rto_estimate: RtoEstimate,
    /// Whether recovery ends with cwnd = ssthresh with every algorithm, and no algorithm restores
    /// cwnd after a timeout.
    pub exit_sets_ssthresh: bool,
    /// Whether an unfilled cwnd may grow, and whether it decays.
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
/// packets that are neither SACKed nor marked lost, once each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule3 {
    /// No such retransmission.
    #[default]
    Off,
    /// Only below the highest SACKed packet. Losses above it also wait (ns-3 since 3.43).
    BelowHighSack,
    /// All packets that are not SACKed (ns-3 up to 3.42). A sender that its buffer limits
    /// retransmits its whole flight.
    Any,
}

/// The segment that a partial ACK in recovery sends immediately, beyond cwnd and pacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialAck {
    /// Nothing.
    #[default]
    Nothing,
    /// Unless the head is already retransmitted: the first lost segment, otherwise new data,
    /// otherwise the head (ns-3).
    Segment,
    /// The head, which counts as lost, unless it is already retransmitted (ns-3 3.27, which always
    /// sends it).
    Head,
}

/// The quantity that the peer's window bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RwndBounds {
    /// The right edge of the data sent.
    #[default]
    Edge,
    /// The packets in flight (ns-3 up to 3.30).
    Pipe,
    /// The right edge, and the packets in flight (ns-3 since 3.31).
    Both,
}

/// The packets that a timeout marks lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rto {
    /// With RACK, the head and the packets sent long enough ago. Pacing of later packets continues.
    #[default]
    Linux,
    /// All packets that are not SACKed, including retransmissions; with `Pacing::Timer` the timer
    /// is cancelled (ns-3).
    MarkAllKeepSack,
}

/// How the timeout is computed from RTT samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RtoEstimate {
    /// Linux's estimator. `min_rto` is the lower bound of the variance term; at most 120 s.
    #[default]
    Linux,
    /// srtt + max(1 ms, 4 rttvar) of RFC 6298. `min_rto` is the lower bound of the sum; at most 60
    /// s (ns-3).
    Rfc6298,
}

/// Whether an unfilled cwnd may grow, and whether it decays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CwndValidation {
    /// Linux's rules: cwnd grows if it was filled within the round. It decays while it is unfilled,
    /// and after idle times.
    #[default]
    Linux,
    /// cwnd grows if the last packet sent left room for less than one more; no decay (ns-3 since
    /// 3.42).
    LastSent,
    /// cwnd always grows; no decay (ns-3 up to 3.41).
    Off,
}

/// Switches for delivery-rate samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSwitches {
    /// The start of a sample's ACK phase.
    pub ack_interval: AckInterval,
    /// Whether an ACK that delivers no packet newer than the last sample's keeps that sample's
    /// interval, while the count of delivered packets continues.
    pub is_sticky: bool,
    /// The packets that a sample counts as lost.
    pub loss: LossCount,
    /// The rate that a congestion control gets instead of an invalid sample.
    pub invalid: InvalidSample,
    /// The RTT below which an interval makes a sample invalid.
    pub min_rtt: SampleBound,
    /// Whether every sample is invalid, so that an algorithm that models the path does not learn
    /// its rate.
    pub is_blind: bool,
}

/// The packets that a rate sample counts as lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossCount {
    /// The packets that the ACK marked lost.
    #[default]
    New,
    /// The absolute change of the number of packets marked lost: a repair that arrives counts again
    /// (ns-3).
    Change,
    /// All packets that are marked lost, again with each ACK ([lanigan-code]).
    Marked,
}

/// The start of a rate sample's ACK phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckInterval {
    /// The latest delivery before the sampled packet was sent.
    #[default]
    This,
    /// The same delivery for the previously sampled packet, or the start of the connection if that
    /// sample was invalid (ns-3 up to 3.40).
    Previous,
}

/// The rate that a congestion control gets instead of an invalid rate sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvalidSample {
    /// Nothing.
    #[default]
    Drop,
    /// The last valid rate again (ns-3's BBR up to 3.41).
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

/// Switches for pacing and application writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacingSwitches {
    /// The timer that paces.
    pub pacing: Pacing,
    /// Whether the headers of a packet also take time. Neither Linux (`tcp_update_skb_after_send`,
    /// whose departure times `fq` keeps) nor ns-3 counts them.
    pub counts_headers: bool,
    /// Whether the initial window is paced.
    pub pace_initial_window: bool,
    /// Bytes per write of an application without end. Each write is checked for being
    /// application-limited after its bytes are in the buffer (ns-3). `None`: 1 MiB per write,
    /// checked before, as in Linux.
    pub app_write: Option<Bytes>,
}

/// The timer that paces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// Linux's: departure times, with credit for lateness of up to half a packet's time.
    #[default]
    Linux,
    /// ns-3's: one timer from each packet to the next, no credit, at most 4 Gbit/s. A packet sent
    /// while the timer runs (the first retransmission of a recovery) does not restart it.
    Timer,
}
