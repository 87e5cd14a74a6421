//! The differences between the senders of ns-3 and Linux in loss recovery, rate sampling and
//! pacing. Each difference is one field.
//!
//! Each field's default is Linux's behaviour. All combinations of the fields' values are valid. In
//! the description of a value, "ns-3" with version numbers names the versions of ns-3 that behave
//! in this way.

use bbrlab_units::Bytes;

/// The text that describes the default of `rack`, `tlp` and `undo` in the documentation.
const AS_RECOVERY: &str = "`true` with `recovery = \"linux\"`, else `false`";

crate::settings! {
    /// Switches (keys that each change one mechanism) for loss detection and repair.
    /// [`Recovery`](crate::Recovery) selects the state machine of recovery.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LossSwitches {
        /// `None` means on with `Recovery::Linux`, and off with other recoveries. Without RACK, a
        /// packet counts as lost when three packets above it are SACKed, and only a timeout repairs
        /// a lost retransmission.
        pub rack: Option<bool> = None, "rack", "0.1.0",
            "loss detection by RACK",
            without: AS_RECOVERY;
        /// `None`: on with `Recovery::Linux`, otherwise off.
        pub tlp: Option<bool> = None, "tlp", "0.1.0",
            "tail loss probes, which also need `sack = true`",
            without: AS_RECOVERY;
        /// `None`: on with `Recovery::Linux`, otherwise off.
        pub undo: Option<bool> = None, "undo", "0.1.0",
            "undo of spurious reductions, F-RTO, adaptation to reordering",
            without: AS_RECOVERY;
        pub rule3: Rule3 = Rule3::Off, "nextseg_rule3", "0.1.0",
            "what recovery sends when no lost segment and no new data waits. `\"off\"`: nothing. `\"below_high_sack\"`: \
             each segment that is not SACKed and is below the highest SACKed segment, once (ns-3 since 3.43). \
             `\"any\"`: each segment that is not SACKed, once (ns-3 up to 3.42)";
        pub rwnd_bounds: RwndBounds = RwndBounds::Edge, "rwnd_bounds", "0.1.0",
            "what the peer's window bounds: the right edge of what is sent, the segments in flight (ns-3 up to 3.30), or both \
             (ns-3 since 3.31)";
        pub pipe_keeps_sacked_retrans: bool = false, "pipe_keeps_sacked_retrans", "0.1.0",
            "a retransmitted segment that is SACKed counts as in flight until it is acknowledged";
        /// Which segment a partial ACK in recovery makes the sender send immediately, even beyond
        /// cwnd and pacing.
        pub partial_ack: PartialAck = PartialAck::Nothing, "partial_ack_sends";
        pub rto: Rto = Rto::Linux, "rto", "0.1.0",
            "the segments that a timeout marks lost: as in Linux, or all that are not SACKed";
        pub rto_impatient: bool = false, "rto_impatient", "0.1.0",
            "in recovery, only the first partial ACK restarts the timeout";
        pub rto_estimate: RtoEstimate = RtoEstimate::Linux, "rto_estimate", "0.1.0",
            "the timeout. `\"linux\"`: as in Linux, where `min_rto` is the lower bound of the variance term. \
             `\"rfc6298\"`: srtt + max(1 ms, 4 rttvar), where `min_rto` is the lower bound of the whole timeout";
        pub exit_sets_ssthresh: bool = false, "exit_sets_ssthresh", "0.1.0",
            "recovery ends with cwnd = ssthresh for every algorithm, and no algorithm restores cwnd after a timeout";
        pub cwnd_validation: CwndValidation = CwndValidation::Linux, "cwnd_validation", "0.1.0",
            "growth of a cwnd that is not filled: as in Linux; only if the last segment sent filled it (ns-3 since 3.42); \
             or always";
    }
}

/// Which packets rule 3 of RFC 6675's `NextSeg` retransmits. In a recovery with no lost packets to
/// retransmit and no new data to send, rule 3 retransmits packets that are neither SACKed nor
/// marked lost, each once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule3 {
    /// No packets.
    #[default]
    Off,
    /// Rule 3 retransmits only packets below the highest SACKed packet (ns-3 since 3.43). This
    /// variant also changes rule 1, which retransmits packets marked lost: a lost packet above the
    /// highest SACKed packet is not retransmitted until a higher packet is SACKed.
    BelowHighSack,
    /// Rule 3 retransmits all packets that are not SACKed (ns-3 up to 3.42). A sender that the send
    /// buffer limits has no new data, so it retransmits all packets in flight.
    Any,
}

crate::choices!(Rule3: Off = "off", BelowHighSack = "below_high_sack", Any = "any");

/// Which segment a partial ACK in recovery makes the sender send immediately, even beyond cwnd and
/// pacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialAck {
    /// No segment.
    #[default]
    Nothing,
    /// The first lost segment or, if no segment is marked lost, new data or, if there is no new
    /// data either, the first unacknowledged segment (the head). Nothing is sent if a
    /// retransmission of the head is in flight. The profiles `ns3`, `ns3-3.40` and `piotrowska` use
    /// this variant.
    Segment,
    /// The first unacknowledged segment (the head), which is then marked lost. Nothing is sent if
    /// the head is SACKed or already retransmitted. This variant imitates ns-3 3.27, but with one
    /// difference: ns-3 3.27 retransmits the head in these two cases, too.
    Head,
}

/// Which quantity the peer's advertised window limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RwndBounds {
    /// The highest sequence number sent.
    #[default]
    Edge,
    /// The packets in flight (ns-3 up to 3.30).
    Pipe,
    /// Both the highest sequence number sent and the packets in flight (ns-3 since 3.31).
    Both,
}

crate::choices!(RwndBounds: Edge = "edge", Pipe = "pipe", Both = "both");

/// Which packets a timeout marks lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rto {
    /// The first unacknowledged packet. With RACK, also the packets that were sent so long ago that
    /// RACK counts them as lost; without RACK, all packets that are not SACKed. Pacing does not
    /// change.
    #[default]
    Linux,
    /// All packets that are not SACKed, including retransmissions. The pacing timer of
    /// `Pacing::Timer` is cancelled (ns-3).
    MarkAllKeepSack,
}

crate::choices!(Rto: Linux = "linux", MarkAllKeepSack = "mark_all_keep_sack");

/// How the timeout is computed from RTT samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RtoEstimate {
    /// Linux's estimator: the timeout is srtt plus a variance term. The variance term is at least
    /// `min_rto`, and the whole timeout is at most 120 s.
    #[default]
    Linux,
    /// The timeout is srtt + max(1 ms, 4 rttvar), as in RFC 6298, but at least `min_rto` and at
    /// most 60 s (ns-3).
    Rfc6298,
}

crate::choices!(RtoEstimate: Linux = "linux", Rfc6298 = "rfc6298");

/// Whether cwnd may grow, and whether cwnd decays, while the sender does not fill cwnd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CwndValidation {
    /// Linux's rules. cwnd may grow if the sender filled cwnd at some time in the round. cwnd
    /// decays while the sender does not fill cwnd, and after idle times.
    #[default]
    Linux,
    /// The rules of ns-3 since 3.42. cwnd may grow if the packets in flight filled cwnd after the
    /// latest packet was sent. cwnd does not decay.
    LastSent,
    /// The rules of ns-3 up to 3.41. cwnd may always grow and does not decay.
    Off,
}

crate::choices!(CwndValidation: Linux = "linux", LastSent = "last_sent", Off = "off");

crate::settings! {
    /// Switches for delivery-rate samples.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RateSwitches {
        pub ack_interval: AckInterval = AckInterval::This, "rate_ack_interval", "0.1.0",
            "the ACK phase of a rate sample begins at the latest delivery before the sampled segment was sent, or before \
             the segment of the previous sample was sent (ns-3 up to 3.40)";
        /// Whether the previous rate sample's interval is used again at an ACK that delivers no
        /// segment newer than the previous sample's segment. The number of delivered packets in the
        /// new sample still includes the packets that this ACK delivers.
        pub is_sticky: bool = false, "rate_sample_sticky", "0.1.0",
            "the previous rate sample's interval is used again at an ACK that delivers no segment newer than the previous sample's segment";
        /// Which packets a sample counts as lost.
        pub loss: LossCount = LossCount::New, "rate_loss_abs";
        pub invalid: InvalidSample = InvalidSample::Drop, "rate_invalid", "0.1.0",
            "an invalid rate sample is dropped, or the last valid rate is used again (ns-3 up to 3.41)";
        pub min_rtt: SampleBound = SampleBound::Sample, "rate_min_rtt", "0.1.0",
            "a rate sample is invalid if its interval is below the minimum of the RTT samples, or of the smoothed RTT";
        /// Whether every sample is invalid, so that a congestion control that models the path never
        /// measures the path's rate.
        pub is_blind: bool = false, "rate_samples";
    }
}

/// Which packets a rate sample counts as lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossCount {
    /// The packets that the ACK marked lost.
    #[default]
    New,
    /// The absolute value of the change, at the ACK, of the number of packets marked lost. The
    /// number also changes when a retransmission arrives, so a lost packet counts again then
    /// (ns-3).
    Change,
    /// All packets that are marked lost when the ACK arrives, so a packet counts again at every ACK
    /// while it is marked ([lanigan-code]).
    Marked,
}

/// When a rate sample's ACK phase starts. The ACK phase is the time in which the ACKs of the
/// sampled data arrive. A sample's interval is the longer of the ACK phase and the send phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckInterval {
    /// At the latest delivery before the sampled packet was sent.
    #[default]
    This,
    /// At the latest delivery before the packet of the previous sample was sent, or at the start of
    /// the connection if the previous sample was invalid (ns-3 up to 3.40).
    Previous,
}

crate::choices!(AckInterval: This = "this", Previous = "previous");

/// The rate that the congestion control receives if a rate sample is invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvalidSample {
    /// No rate: the congestion control ignores the ACK's sample.
    #[default]
    Drop,
    /// The last valid rate again (ns-3's BBR up to 3.41).
    Reuse,
}

crate::choices!(InvalidSample: Drop = "drop", Reuse = "reuse");

/// The RTT with which a rate sample's interval is compared: a shorter interval makes the sample
/// invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleBound {
    /// The windowed minimum of the RTT samples.
    #[default]
    Sample,
    /// The minimum of the smoothed RTT (ns-3).
    Srtt,
}

crate::choices!(SampleBound: Sample = "sample", Srtt = "srtt");

crate::settings! {
    /// Switches (keys that each change one mechanism) for pacing and application writes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PacingSwitches {
        pub pacing: Pacing = Pacing::Linux, "pacing", "0.1.0",
            "the timer that paces. `\"linux\"`: each segment has a departure time, with credit after a segment that left \
             late. `\"timer\"`: ns-3's timer, without credit";
        /// In Linux, `tcp_update_skb_after_send` computes departure times from the payload alone.
        /// The qdisc `fq` uses these departure times, so headers do not count with `fq` either.
        pub counts_headers: bool = false, "pacing_counts_headers", "0.1.0",
            "the time that a paced segment takes includes its headers, unlike in Linux and ns-3";
        pub pace_initial_window: bool = false, "pace_initial_window", "0.1.0",
            "the initial window is paced too";
        /// Bytes per write of an application that sends without end. After each write, the sender
        /// checks whether the connection is application-limited (ns-3). `None`: 1 MiB per write,
        /// with the check before each write, as in Linux.
        pub app_write: Option<Bytes> = None, "app_write";
    }
}

/// Which timer paces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// Linux's timer: each packet has a departure time. If a packet leaves late, the next packet
    /// may leave earlier, by at most half of the late packet's transmission time at the pacing
    /// rate.
    #[default]
    Linux,
    /// ns-3's timer: it runs from each packet to the next, gives no credit for late packets, and
    /// paces at 4 Gbit/s at most. A packet that is sent in spite of the running timer, such as the
    /// first retransmission of a recovery, does not restart the timer.
    Timer,
}

crate::choices!(Pacing: Linux = "linux", Timer = "timer");
