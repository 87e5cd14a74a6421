//! The mechanisms of a sender that the settings of its TCP stack ([`Stack`]) turn on, turn off or
//! replace.
//!
//! [`Mechanisms`] is computed once per sender, because the code checks it for each packet and ACK.
//! `ns3/` implements the behaviour of ns-3 that these settings can select.

use bbrlab_stack::{
    CwndValidation, LossCount, Pacing, PacingSwitches, PartialAck, Recovery, RtoEstimate, Rule3,
    RwndBounds, SenderQdisc, Stack, Tso,
};

use super::SenderConfig;
use super::scoreboard::Counting;

/// The short code paths for sending new data. Only a *plain* sender uses them: a sender without a
/// queueing discipline and without a modelled device, whose stack has no setting that changes how
/// Linux sends. In a plain sender, only the peer's window limits the highest sequence number that
/// may be sent, TCP paces, cwnd is validated as in Linux, and only packets marked lost are
/// retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// The path that sends full segments one by one, with [`Tso::Off`].
    Segments,
    /// The path that sends bursts of full segments.
    Bursts,
    /// The sender uses no short path, because it is not a plain sender.
    Otherwise,
}

impl Sending {
    pub(super) fn of(config: &SenderConfig) -> Self {
        let stack = &config.stack;
        let is_plain = config.device.is_none()
            && stack.sender_qdisc == SenderQdisc::None
            && stack.pacing == PacingSwitches::default()
            && stack.loss.rwnd_bounds == RwndBounds::Edge
            && stack.loss.cwnd_validation == CwndValidation::Linux
            && stack.loss.rule3 == Rule3::Off;
        match (is_plain, stack.tso) {
            (false, _) => Self::Otherwise,
            (true, Tso::Off) => Self::Segments,
            (true, _) => Self::Bursts,
        }
    }
}

/// Where data may wait in the sender's host. TCP Small Queues limit the data that waits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostQueue {
    /// Nowhere: packets leave the host at once.
    None,
    /// In the network device.
    Device,
    /// In the queueing discipline and, if a device is modelled, in the device, too.
    Fq,
}

/// The settings of the TCP stack that are checked for each packet or ACK. All other settings are
/// read from [`Stack`].
#[expect(clippy::struct_excessive_bools, reason = "each flag is for one mechanism")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Mechanisms {
    /// Where data may wait in the host.
    pub(super) host_queue: HostQueue,
    /// Whether segments carry the timestamp option.
    pub(super) has_timestamps: bool,
    /// Whether the host cuts bursts into packets, transmits them whole, or has no bursts.
    pub(super) tso: Tso,
    /// Whether recovery follows ns-3's state machine, not Linux's.
    pub(super) is_ns3: bool,
    /// Whether RACK detects losses.
    pub(super) has_rack: bool,
    /// Whether tail loss probes are sent; they also need SACK.
    pub(super) has_tlp: bool,
    /// Whether reductions of cwnd can be undone and the degree of reordering adapts.
    pub(super) has_undo: bool,
    /// Whether the peer's window limits the packets in flight.
    pub(super) rwnd_bounds_pipe: bool,
    /// Whether the peer's window limits the right edge of the data sent.
    pub(super) rwnd_bounds_edge: bool,
    /// Whether one timer paces, as in ns-3: each packet starts the timer unless it is running.
    pub(super) is_paced_by_timer: bool,
    /// Which packets recovery retransmits although they are not marked lost.
    pub(super) rule3: Rule3,
    /// Whether only the first partial ACK of a recovery restarts the timeout.
    pub(super) is_rto_impatient: bool,
    /// Whether the timeout is computed by RFC 6298, as in ns-3.
    pub(super) has_rfc6298_rto: bool,
    /// Whether the socket sets cwnd as in ns-3 when a recovery or the Loss state ends
    /// (`ns3/exit.rs`). After a recovery, an algorithm with `cong_control` then continues from a
    /// cwnd of ssthresh; after the Loss state, it continues from the cwnd of that state.
    pub(super) exit_sets_ssthresh: bool,
    /// When cwnd may grow, and when an unused cwnd decays.
    pub(super) cwnd_validation: CwndValidation,
    /// The packets that a rate sample counts as lost.
    pub(super) loss_count: LossCount,
}

impl Mechanisms {
    /// Whether the host has a queueing discipline, which can only be `fq`.
    #[inline]
    pub(super) fn has_fq(&self) -> bool {
        self.host_queue == HostQueue::Fq
    }

    /// Whether TCP Small Queues limit the data that waits in the host.
    #[inline]
    pub(super) fn has_small_queue(&self) -> bool {
        self.host_queue != HostQueue::None
    }

    /// Computes the mechanisms from the settings in `config`.
    pub(super) fn of(config: &SenderConfig) -> Self {
        let stack = &config.stack;
        let loss = &stack.loss;
        let is_linux = stack.recovery == Recovery::Linux;
        Self {
            host_queue: match (stack.sender_qdisc, config.device) {
                (SenderQdisc::Fq, _) => HostQueue::Fq,
                (SenderQdisc::None, Some(_)) => HostQueue::Device,
                (SenderQdisc::None, None) => HostQueue::None,
            },
            has_timestamps: config.timestamps,
            tso: stack.tso,
            is_ns3: !is_linux,
            has_rack: loss.rack.unwrap_or(is_linux),
            has_tlp: loss.tlp.unwrap_or(is_linux) && stack.sack,
            has_undo: loss.undo.unwrap_or(is_linux),
            rwnd_bounds_pipe: loss.rwnd_bounds != RwndBounds::Edge,
            rwnd_bounds_edge: loss.rwnd_bounds != RwndBounds::Pipe,
            is_paced_by_timer: stack.pacing.pacing == Pacing::Timer
                && stack.sender_qdisc == SenderQdisc::None,
            rule3: loss.rule3,
            is_rto_impatient: loss.rto_impatient,
            has_rfc6298_rto: loss.rto_estimate == RtoEstimate::Rfc6298,
            exit_sets_ssthresh: loss.exit_sets_ssthresh,
            cwnd_validation: loss.cwnd_validation,
            loss_count: stack.rate.loss,
        }
    }

    /// Returns how the scoreboard counts retransmissions with the settings in `stack`.
    pub(super) fn counting(&self, stack: &Stack) -> Counting {
        if stack.loss.pipe_keeps_sacked_retrans {
            Counting::SpareKept
        } else if self.is_ns3
            || self.rule3 != Rule3::Off
            || stack.loss.partial_ack != PartialAck::Nothing
        {
            Counting::Spare
        } else {
            Counting::Linux
        }
    }
}
