//! The inner state of disciplines, for traces and tests.

/// The state of a discipline, in the kernel's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Info {
    /// `codel`.
    Codel(CodelInfo),
    /// `fq_codel`: the queue to be served next. Once a packet has been dequeued, this is the queue
    /// that it came from.
    FqCodel {
        /// Its law.
        codel: CodelInfo,
        /// Its number.
        bucket: u32,
        /// Bytes that it may send before the next queue has its turn.
        deficit: i32,
        /// Whether it is among the new queues.
        is_new: bool,
    },
    /// `pie`.
    Pie(PieInfo),
    /// `red`.
    Red {
        /// Packets since a number was drawn; -1 if no number holds.
        qcount: i32,
        /// The number drawn.
        qr: u32,
        /// The average in bytes, scaled by a power of two.
        qavg: u64,
    },
}

/// The state of `CoDel`'s law. Times in units of 1,024 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelInfo {
    /// Drops since the dropping state was entered.
    pub count: u32,
    /// `count` when it was entered.
    pub lastcount: u32,
    /// When the next drop is due.
    pub drop_next: u32,
    /// When packets will have waited too long for an interval; 0 if they do not wait too long.
    pub first_above_time: u32,
    /// Whether packets are being dropped.
    pub dropping: bool,
    /// The reciprocal root of `count`, in 1/2^16.
    pub rec_inv_sqrt: u16,
}

/// The state of PIE's law. Times in units of 64 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieInfo {
    /// The wait.
    pub qdelay: u64,
    /// Time for which no packet will be dropped.
    pub burst_time: u64,
    /// The probability, as a share of 2^56 - 1.
    pub prob: u64,
    /// The sum of the probabilities of the packets since a drop, as a share of 2^56 - 1.
    pub accu_prob: u64,
}
