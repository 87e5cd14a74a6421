//! The digest of a run: a hash of records of what happened to each packet, when and where. The
//! digest does not depend on the order of these records.
//!
//! A record is added when a data packet arrives at a link with a rate, departs, is dropped, or
//! arrives at the receiver. A record is also added when an ACK arrives at the sender, and when a
//! host discards a corrupt packet. Each record is hashed with the packet's identity (flow, sequence
//! number, retransmission number), the time and the link. The digest is the sum of the hashes
//! modulo 2^64. The digest is therefore equal whether links compute departures on arrival (virtual
//! clock) or have departure events.

use bbrlab_units::Time;

use crate::packet::{FlowId, LinkId};

/// The kind of a record: what happened to a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Record {
    LinkArrival = 1,
    Departure = 2,
    DropFull = 3,
    DropAqm = 4,
    DropRandom = 5,
    AtReceiver = 6,
    AtSender = 7,
    DropPoliced = 8,
    DiscardedByHost = 9,
}

/// The digest of a run: the sum of the hashes of its packet records, modulo 2^64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(pub u64);

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Returns the hash of a packet's identity, which is computed once, when the packet is sent.
#[inline]
pub(crate) fn identity(flow: FlowId, seq: u64, retransmission: u16) -> u64 {
    let who = (u64::from(flow.0) << 16) | u64::from(retransmission);
    fold(who ^ 0x9e37_79b9_7f4a_7c15, seq ^ 0xd1b5_4a32_d192_ed03)
}

impl Digest {
    #[inline]
    pub(crate) fn add(&mut self, record: Record, place: LinkId, identity: u64, at: Time) {
        let what = (u64::from(place.0) << 8) | record as u64;
        let hash =
            fold(identity ^ what.wrapping_mul(0xa076_1d64_78bd_642f), at.0 ^ 0xe703_7ed1_a0b4_28db);
        self.0 = self.0.wrapping_add(fold(hash, identity ^ 0x8ebc_6af0_9c88_c6e3));
    }
}

/// Returns the XOR of both halves of the 128-bit product. Each output bit depends on all input bits
/// (the mixing step of wyhash).
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    let low = product as u64;
    low ^ (product >> 64) as u64
}
