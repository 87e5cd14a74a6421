//! The parameters of `dualpi2`.

use bbrlab_units::{Packets, Span};

/// The parameters of `dualpi2`, with `tc`'s names and defaults. The L queue has the packets of
/// scalable senders (L4S), the classic queue all other packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualPi2Params {
    /// The waiting time that the control law tries to reach.
    pub target: Span,
    /// Interval between two computations of the control law's probability.
    pub tupdate: Span,
    /// Weight of the difference between waiting time and `target`, in 1/256 Hz (`tc` takes Hz).
    pub alpha: u32,
    /// Weight of the change of the waiting time, in 1/256 Hz (`tc` takes Hz).
    pub beta: u32,
    /// Factor by which the control law's probability is multiplied to give the probability of a
    /// mark in the L queue. At least 1.
    pub coupling_factor: u8,
    /// The threshold above which every packet of the L queue is marked.
    pub step_thresh: StepThreshold,
    /// A packet is marked because of `step_thresh` only if at least this many packets were in the L
    /// queue when the packet arrived.
    pub min_qlen_step: u32,
    /// Minimum share of the link for the classic queue, in percent. At most 100.
    pub classic_protection: u8,
    /// Whether the control law drops some packets of the L queue, and marks the others, while the
    /// probability of a mark would exceed 1 (`drop_on_overload`). If false, packets of the L queue
    /// are only marked, and the queue may overflow (`overflow`).
    pub drop_on_overload: bool,
    /// Whether the control law drops and marks packets on arrival (`drop_enqueue`). If false, the
    /// control law does so when packets leave (`drop_dequeue`).
    pub drop_enqueue: bool,
    /// Whether ECT(0) also belongs to the L queue (`any_ect`). If false, only ECT(1) and CE belong
    /// to the L queue (`l4s_ect`).
    pub any_ect: bool,
}

/// The threshold above which packets of the L queue are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepThreshold {
    /// A packet is marked if it has waited longer than this.
    Wait(Span),
    /// A packet that leaves is marked if more than this number of packets are left in the L queue.
    Packets(Packets),
}

impl DualPi2Params {
    /// `tc`'s defaults.
    pub const DEFAULT: Self = Self {
        target: Span::from_millis(15),
        tupdate: Span::from_millis(16),
        alpha: 41,
        beta: 819,
        coupling_factor: 2,
        step_thresh: StepThreshold::Wait(Span::from_millis(1)),
        min_qlen_step: 0,
        classic_protection: 10,
        drop_on_overload: true,
        drop_enqueue: false,
        any_ect: false,
    };
}
