//! The parameters of `sfq`.

use bbrlab_units::{Bytes, Span};

/// The parameters of `sfq`, with `tc`'s names and defaults. A slot is a queue for all flows that
/// have the same hash value. `tc`'s `limit` is the link's buffer, by default 127 packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SfqParams {
    /// Maximum number of packets per slot, from 1 to 127.
    pub depth: u32,
    /// Number of slots, from 1 to 65,408. If `divisor` or the limit in packets is smaller, only
    /// that number of slots is used.
    pub flows: u32,
    /// Number of hash values: a power of two, at most 65,536.
    pub divisor: u32,
    /// Bytes that a slot may send per round of the round robin over the slots.
    pub quantum: Bytes,
    /// Interval at which the hash changes. `None`: never.
    pub perturb: Option<Span>,
}

impl SfqParams {
    /// `tc`'s defaults.
    pub const DEFAULT: Self =
        Self { depth: 127, flows: 128, divisor: 1024, quantum: Bytes(1514), perturb: None };
}
