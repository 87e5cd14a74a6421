//! The differences between the senders of ns-3 and Linux in loss recovery, rate sampling and
//! pacing. Each difference is one field.
//!
//! Each field's default is Linux's behaviour. All combinations of the switches' values are valid.
//! In the description of a value, "ns-3" with version numbers names the versions of ns-3 that
//! behave in this way.

use bbrlab_units::Bytes;

crate::settings! {
    /// Switches for loss detection and repair. [`Recovery`](crate::Recovery) selects the state
    /// machine.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LossSwitches {
        /// Whether RACK detects losses, with its reordering timer. `None` means on with
        /// `Recovery::Linux`, and off with other recoveries. Without RACK, a packet counts as lost
        /// when three packets above it are SACKed, and only a timeout repairs a lost
        /// retransmission.
        pub rack: Option<bool> = None, "rack";
        /// Whether the sender sends tail loss probes. `None`: on with `Recovery::Linux`, otherwise
        /// off.
        pub tlp: Option<bool> = None, "tlp";
        /// Whether the sender undoes spurious reductions, uses F-RTO and adapts to reordering.
        /// `None`: on with `Recovery::Linux`, otherwise off.
        pub undo: Option<bool> = None, "undo";
        /// The packets that a sender in recovery retransmits when it has no lost packets to
        /// retransmit and no new data to send.
        pub rule3: Rule3 = Rule3::Off, "nextseg_rule3";
        /// Which quantity the peer's advertised window limits.
        pub rwnd_bounds: RwndBounds = RwndBounds::Edge, "rwnd_bounds";
        /// Whether the retransmission of a packet still counts as in flight after the packet is
        /// SACKed, until a cumulative ACK covers the packet.
        pub pipe_keeps_sacked_retrans: bool = false, "pipe_keeps_sacked_retrans";
        /// Which segment a partial ACK in recovery makes the sender send immediately, even beyond
        /// cwnd and pacing.
        pub partial_ack: PartialAck = PartialAck::Nothing, "partial_ack_sends";
        /// Which packets a timeout marks lost.
        pub rto: Rto = Rto::Linux, "rto";
        /// Whether only the first partial ACK in recovery restarts the timeout.
        pub rto_impatient: bool = false, "rto_impatient";
        /// How the timeout is computed from RTT samples.
        pub rto_estimate: RtoEstimate = RtoEstimate::Linux, "rto_estimate";
        /// Whether recovery ends with cwnd = ssthresh for every congestion control, and no
        /// congestion control restores cwnd after a timeout.
        pub exit_sets_ssthresh: bool = false, "exit_sets_ssthresh";
        /// Whether cwnd may grow, and whether it decays, while the sender does not fill it.
        pub cwnd_validation: CwndValidation = CwndValidation::Linux, "cwnd_validation";
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
    /// Retransmits only packets below the highest SACKed packet. Moreover, lost packets above the
    /// highest SACKed packet are not retransmitted until a higher packet is SACKed (ns-3 since
    /// 3.43).
    BelowHighSack,
    /// Retransmits all packets that are not SACKed (ns-3 up to 3.42). A sender that the send buffer
    /// limits has no new data, so it retransmits all packets in flight.
    Any,
}

/// Which segment a partial ACK in recovery makes the sender send immediately, even beyond cwnd and
/// pacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialAck {
    /// No segment.
    #[default]
    Nothing,
    /// The first lost segment or, if no segment is marked lost, new data or, if there is no new
    /// data either, the first unacknowledged segment (the head). Nothing is sent if a
    /// retransmission of the head is in flight (ns-3).
    Segment,
    /// The first unacknowledged segment (the head), which is then marked lost. Retransmits nothing
    /// if the head is SACKed or already retransmitted (ns-3 3.27, except that ns-3 sends the head
    /// in any case).
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

/// How the timeout is computed from RTT samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RtoEstimate {
    /// Linux's estimator: the timeout is srtt plus a variance term of at least `min_rto`, and at
    /// most 120 s.
    #[default]
    Linux,
    /// The timeout is srtt + max(1 ms, 4 rttvar), as in RFC 6298, but at least `min_rto` and at
    /// most 60 s (ns-3).
    Rfc6298,
}

/// Whether cwnd may grow, and whether it decays, while the sender does not fill it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CwndValidation {
    /// Linux's rules: cwnd may grow if the sender filled it at some time in the round, and decays
    /// while the sender does not fill it and after idle times.
    #[default]
    Linux,
    /// cwnd may grow if the packets in flight filled it after the latest packet was sent. cwnd does
    /// not decay (ns-3 since 3.42).
    LastSent,
    /// cwnd may always grow and does not decay (ns-3 up to 3.41).
    Off,
}

crate::settings! {
    /// Switches for delivery-rate samples.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RateSwitches {
        /// When a sample's ACK phase starts: see [`AckInterval`].
        pub ack_interval: AckInterval = AckInterval::This, "rate_ack_interval";
        /// Whether an ACK that delivers no packet newer than the previous sample's packet reuses
        /// the interval of that sample. The count of delivered packets is updated in any case.
        pub is_sticky: bool = false, "rate_sample_sticky";
        /// Which packets a sample counts as lost.
        pub loss: LossCount = LossCount::New, "rate_loss_abs";
        /// The rate that the congestion control receives if a sample is invalid.
        pub invalid: InvalidSample = InvalidSample::Drop, "rate_invalid";
        /// The RTT with which a sample's interval is compared: a shorter interval makes the sample
        /// invalid.
        pub min_rtt: SampleBound = SampleBound::Sample, "rate_min_rtt";
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
    /// The absolute change of the number of packets marked lost: a lost packet counts again when
    /// its retransmission arrives (ns-3).
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

/// The rate that the congestion control receives if a rate sample is invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvalidSample {
    /// No rate: the congestion control ignores the ACK's sample.
    #[default]
    Drop,
    /// The last valid rate again (ns-3's BBR up to 3.41).
    Reuse,
}

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

crate::settings! {
    /// Switches for pacing and application writes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PacingSwitches {
        /// Which timer paces.
        pub pacing: Pacing = Pacing::Linux, "pacing";
        /// Whether the bytes of headers count for pacing. Headers count neither in Linux
        /// (`tcp_update_skb_after_send`, whose departure times `fq` uses) nor in ns-3.
        pub counts_headers: bool = false, "pacing_counts_headers";
        /// Whether the initial window is paced.
        pub pace_initial_window: bool = false, "pace_initial_window";
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
    /// paces at 4 Gbit/s at most. If a packet is sent while the timer runs (the first
    /// retransmission of a recovery), the timer is not restarted.
    Timer,
}
