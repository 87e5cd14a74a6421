//! The internal state of queue disciplines, for traces and tests.

/// The state of a discipline, in the kernel's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisciplineInfo {
    /// The state of `codel`.
    Codel(CodelInfo),
    /// The state of the queue that `fq_codel` serves next. Just after a packet was dequeued, this
    /// is the packet's queue.
    FqCodel {
        /// The state of the queue's control law.
        codel: CodelInfo,
        /// The queue's number.
        bucket: u32,
        /// Bytes that the queue may send before the next queue has its turn.
        deficit: i32,
        /// Whether the queue is among the new queues.
        is_new: bool,
    },
    /// The state of `pie`.
    Pie(PieInfo),
    /// The state of `red`.
    Red {
        /// Number of packets since a random number was drawn; -1 if no number is in use.
        qcount: i32,
        /// The random number that was drawn last; it determines when the next packet is dropped.
        qr: u32,
        /// The average queue length in bytes, times `2^wlog`.
        qavg: u64,
    },
}

/// The state of `CoDel`'s control law. Times are in units of 1,024 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelInfo {
    /// The number that sets the rate of drops: drops follow at intervals of `interval /
    /// sqrt(count)`. Each drop or mark in the dropping state adds 1.
    pub count: u32,
    /// The value of `count` when the dropping state was entered.
    pub lastcount: u32,
    /// Time of the next drop.
    pub drop_next: u32,
    /// Time at which waiting times will have been above the target for an interval; 0 if they are
    /// not above the target.
    pub first_above_time: u32,
    /// Whether the law is in the dropping state.
    pub dropping: bool,
    /// The reciprocal square root of `count`, in 1/2^16.
    pub rec_inv_sqrt: u16,
}

/// The state of PIE's control law. Times are in units of 64 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieInfo {
    /// The measured waiting time in the queue.
    pub qdelay: u64,
    /// The remaining time in which no packet is dropped or marked early. Set to 150 ms at the
    /// start, and again while waits are short and the probability is 0.
    pub burst_time: u64,
    /// The drop probability, as a share of 2^56 - 1.
    pub prob: u64,
    /// The sum of the drop probabilities of the packets that arrived since the last drop or mark,
    /// as a share of 2^56 - 1.
    pub accu_prob: u64,
}
