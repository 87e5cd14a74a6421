//! The scoreboard: the skbs in flight, which of them are SACKed, lost or retransmitted, and the
//! unsent skbs.
//!
//! The counts of packets must agree with the skbs, so only the files of this folder change the skbs
//! and the counts. Other files refer to an skb by a [`Cursor`], and read copies of skbs ([`Sent`],
//! [`Acked`], [`Covered`], [`Unsent`]).
//!
//! | file | what |
//! |---|---|
//! | `unsent.rs` | unsent skbs: filling, merging, splitting, sending |
//! | `flight.rs` | skbs in flight: departure, splitting, merging; the next retransmission |
//! | `acked.rs` | skbs that a cumulative ACK removes |
//! | `sacked.rs` | skbs that SACK blocks cover; merging of SACKed neighbours |
//! | `hole.rs` | an skb between SACKed skbs that is SACKed too |
//! | `lost.rs` | marking skbs lost, and removing the marks |
//! | `reno.rs` | without SACK: duplicate ACKs instead of SACKed packets |
//! | `out.rs` | counts of the packets that are out but not in flight |
//! | `run.rs` | neighbouring skbs that an ACK delivers together |
//! | `queue.rs`, `skb.rs`, `skb_links.rs` | the skbs in flight and their order |
//!
//! Sources: [linux] `include/linux/tcp.h`: `packets_out` to `retransmit_skb_hint` of
//! `struct tcp_sock`.
//! Deviations: see the numbered lists in the files of this folder.

mod acked;
mod flight;
mod hole;
mod lost;
mod out;
mod place;
mod queue;
mod reno;
mod run;
mod sacked;
mod skb;
mod skb_links;
mod unsent;

#[cfg(test)]
mod tests;

pub(super) use acked::Acked;
pub(super) use flight::Sent;
pub(super) use reno::DupAcks;
pub(super) use run::Run;
pub(super) use sacked::{Blocks, Covered, NewFrom, Reported, SackVisitor};
pub(super) use skb::tag;
pub(super) use unsent::Unsent;

use std::collections::VecDeque;

use bbrlab_cc::Conn;

use lost::Search;
use out::Out;
use place::{NIL, SkbId};
use queue::Queue;
use unsent::{FirstUnsent, Written};

use crate::rate::Notes;

/// A reference to an skb in the scoreboard that is in flight or is about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor(SkbId);

impl Cursor {
    #[inline]
    const fn at(id: SkbId) -> Option<Self> {
        if id == NIL { None } else { Some(Self(id)) }
    }
}

/// Whether a retransmission of an skb with these `tags` is in flight although the skb is not marked
/// lost.
const fn is_spare(tags: u8) -> bool {
    tags & (tag::RETRANS | tag::LOST) == tag::RETRANS
}

/// The skbs of a connection and their counts.
///
/// The first field and the counts, 40 bytes in total, decide whether a packet may be sent. Sending
/// a packet and processing an ACK also use the next 64 bytes, which end in the first fields of
/// `queue`.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Scoreboard {
    unsent: FirstUnsent,
    packets_out: u32,
    out: Out,
    /// Number of retransmissions in flight whose packets are not marked lost. With
    /// [`Counting::Linux`] the number stays 0.
    spare_out: u32,
    wmem_queued: u32,
    is_sack: bool,
    count: Counting,
    /// Whether the number of packets in flight is stored with each skb, and adjusted when an skb is
    /// split, as in the kernel trees of BBRv2 and BBRv3.
    notes_in_flight: bool,
    /// Whether [`Notes`] are stored for each packet: always if `notes_in_flight`, otherwise after
    /// the first ACK that reports a CE mark.
    keeps_notes: bool,
    /// The first skb above all SACKed data, `NIL` if there is none. With SACK, the field has no
    /// meaning while no data is SACKed.
    highest_sack: SkbId,
    retransmit_hint: SkbId,
    /// The position of the search that finds lost packets by counting SACKed packets (`DupThresh`).
    search: Search,
    /// First sequence number of `highest_sack`, if something is SACKed.
    above_sacked: u32,
    queue: Queue,
    /// The unsent skbs after the first.
    behind: VecDeque<Written>,
    // Used in recovery.
    /// With [`Counting::Linux`], the value that `spare_out` would have with [`Counting::Spare`].
    uncounted_spare_out: u32,
    /// The blocks of the latest ACK. Linux: `recv_sack_cache`.
    sack_cache: Blocks,
}

/// How retransmissions in flight are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    /// As in Linux, which has no separate count of retransmissions whose packets are not marked
    /// lost: the field for this count, `spare_out`, stays 0.
    Linux,
    /// Retransmissions of packets that are not marked lost are counted in `spare_out`, because ns-3
    /// sends such retransmissions.
    Spare,
    /// As with `Spare`, but a SACKed retransmission stays in flight until a cumulative ACK covers
    /// it. ns-3: `TcpTxBuffer::Update`, `BytesInFlight`.
    SpareKept,
}

impl Scoreboard {
    /// Size in bytes of the struct's first part, which holds all fields that packets and ACKs need
    /// in a flow without losses.
    #[cfg(test)]
    pub(super) const HOT: usize = std::mem::offset_of!(Scoreboard, queue) + Queue::HOT;

    /// Creates an empty scoreboard.
    pub(super) fn new(is_sack: bool, notes_in_flight: bool, count: Counting) -> Self {
        Self {
            packets_out: 0,
            out: Out::default(),
            spare_out: 0,
            count,
            highest_sack: NIL,
            above_sacked: 0,
            retransmit_hint: NIL,
            uncounted_spare_out: 0,
            wmem_queued: 0,
            is_sack,
            notes_in_flight,
            keeps_notes: notes_in_flight,
            queue: Queue::new(),
            unsent: FirstUnsent::default(),
            behind: VecDeque::new(),
            sack_cache: Blocks::default(),
            search: Search::START,
        }
    }

    /// Whether SACK was negotiated.
    #[inline]
    pub(super) const fn is_sack(&self) -> bool {
        self.is_sack
    }

    /// Returns the number of packets sent and not cumulatively acknowledged.
    #[inline]
    pub(super) const fn packets_out(&self) -> u32 {
        self.packets_out
    }

    /// Returns the number of unacknowledged packets that are SACKed; without SACK, the number of
    /// duplicate ACKs.
    #[inline]
    pub(super) const fn sacked_out(&self) -> u32 {
        self.out.sacked()
    }

    /// Returns the number of unacknowledged packets that are marked lost.
    #[inline]
    pub(super) const fn lost_out(&self) -> u32 {
        self.out.lost()
    }

    /// Returns the number of retransmissions in flight.
    #[inline]
    pub(super) const fn retrans_out(&self) -> u32 {
        self.out.retrans()
    }

    /// Whether any packet is marked lost and not retransmitted. With [`Counting::Linux`] the result
    /// is an estimate: see `is_all_repaired`.
    #[inline]
    pub(super) const fn is_repair_due(&self) -> bool {
        self.out.unrepaired().wrapping_add(self.spare_out.cast_signed()) > 0
    }

    /// Returns the number of packets in flight. Linux: `tcp_packets_in_flight`.
    #[inline]
    pub(super) const fn in_flight(&self) -> u32 {
        self.packets_out.wrapping_sub(self.out.left())
    }

    /// Returns the memory of all skbs in bytes. Linux: `sk_wmem_queued`.
    #[inline]
    pub(super) const fn memory(&self) -> u32 {
        self.wmem_queued
    }

    /// Returns the first sequence number above all SACKed data. Linux: `tcp_highest_sack_seq`.
    #[inline]
    pub(super) fn highest_sack_seq(&self, conn: &Conn) -> u32 {
        if self.out.sacked() == 0 {
            conn.snd_una
        } else if self.highest_sack == NIL {
            conn.snd_nxt
        } else {
            self.above_sacked
        }
    }

    /// Returns the [`Notes`] that were stored at an skb's latest transmission.
    #[inline]
    fn notes(&self, id: SkbId) -> Notes {
        if self.keeps_notes { self.queue.notes(id) } else { Notes::NONE }
    }

    /// Makes `id` the first skb above all SACKed data. Must also be called when the first sequence
    /// number of this skb has changed.
    fn set_highest_sack(&mut self, id: SkbId) {
        self.highest_sack = id;
        if id != NIL {
            self.above_sacked = self.queue[id].seq;
        }
    }

    /// Returns a mutable reference to the number of retransmissions in flight whose packets are not
    /// marked lost.
    const fn spare(&mut self) -> &mut u32 {
        match self.count {
            Counting::Linux => &mut self.uncounted_spare_out,
            Counting::Spare | Counting::SpareKept => &mut self.spare_out,
        }
    }

    /// Whether every packet that is marked lost was retransmitted. [`Self::is_repair_due`] is
    /// Linux's estimate of whether any lost packet must still be retransmitted. The estimate can be
    /// wrong, because it also counts retransmissions of packets that are not marked lost.
    const fn is_all_repaired(&self) -> bool {
        self.out.lost() + self.spare_out + self.uncounted_spare_out == self.out.retrans()
    }

    /// Adjusts the counts after the number of segments of an skb with `tags` fell by `decrease`.
    /// Linux: `tcp_adjust_pcount`.
    fn adjust_pcount(&mut self, tags: u8, decrease: i32) {
        if decrease == 0 {
            return;
        }
        let adjusted = |count: u32| count.wrapping_add_signed(-decrease);
        self.packets_out = adjusted(self.packets_out);
        if tags & tag::SACKED != 0 {
            self.out.set_sacked(adjusted(self.out.sacked()));
        }
        if tags & tag::RETRANS != 0 {
            self.out.set_retrans(adjusted(self.out.retrans()));
        }
        if tags & tag::LOST != 0 {
            self.out.set_lost(adjusted(self.out.lost()));
        }
        if is_spare(tags) {
            *self.spare() = adjusted(*self.spare());
        }
        if !self.is_sack && decrease > 0 {
            self.out.set_sacked(self.out.sacked().saturating_sub(decrease.cast_unsigned()));
        }
    }
}
