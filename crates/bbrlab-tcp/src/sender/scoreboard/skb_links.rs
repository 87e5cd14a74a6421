//! Fields of an skb that few senders need: links, and values for recovery, CE marks and BBRv3.
//!
//! Most senders lose nothing for a long time and need none of the fields of [`SkbLinks`]. The
//! fields are therefore in a separate ring with as many slots as the ring of skbs. This separate
//! ring is allocated when an skb needs one of the fields.
//!
//! Sources: [linux] `include/linux/skbuff.h`, `include/net/tcp.h`: links of `struct sk_buff`, `tx`
//! of `struct tcp_skb_cb`.
//! Deviations: none.

use super::place::{NIL, SkbId};
use crate::rate::Notes;

/// The additional fields of one skb.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct SkbLinks {
    /// Neighbours in order of sequence number, if the skb is linked.
    pub(super) prev: SkbId,
    pub(super) next: SkbId,
    /// Neighbours in the order by time, if the skb is linked. Both neighbours are `NIL` if the skb
    /// is alone in the order by time, or not in that order.
    pub(super) sorted_prev: SkbId,
    pub(super) sorted_next: SkbId,
    /// Further delivery counters at the skb's latest transmission, if the scoreboard records them.
    pub(super) notes: Notes,
    /// Number of transmissions before the latest one, if the skb is linked or was retransmitted.
    pub(super) retransmission: u16,
}

const _: () = assert!(size_of::<SkbLinks>() == 32, "the fields of two skbs fit in a cache line");

impl SkbLinks {
    /// The fields of a slot that was never used.
    pub(super) const EMPTY: Self = Self {
        prev: NIL,
        next: NIL,
        sorted_prev: NIL,
        sorted_next: NIL,
        notes: Notes::NONE,
        retransmission: 0,
    };
}
