//! The retransmit queue: which skb is sent again, how much of it, and when.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_xmit_retransmit_queue`, `tcp_retransmit_skb`,
//! `__tcp_retransmit_skb`, `tcp_fragment`, `tcp_retrans_try_collapse`.
//! Deviations:
//! 1. Small neighbours merge into one retransmission even while a copy of theirs is still on its way; the
//!    kernel merges only what has left the path.

use bbrlab_cc::linux_int::{after, before};

use super::limits::{Limit, Stop};
use super::skb::{NIL, OVERHEAD, SkbId, tag};
use super::timers::Pending;
use super::{Sender, timestamp_ms};
use crate::Host;
use crate::segment::flag;

impl Sender {
    /// Cuts an skb in flight after `len` bytes; returns the rest. Linux: `tcp_fragment`.
    pub(super) fn fragment_sent(&mut self, id: SkbId, len: u32, mss: u32) -> SkbId {
        let before = u32::from(self.queue[id].pcount);
        let rest = self.queue.split_sent(id, len, mss);
        self.wmem_queued += OVERHEAD;
        let after = u32::from(self.queue[id].pcount) + u32::from(self.queue[rest].pcount);
        self.adjust_pcount(self.queue[id].tags, before.cast_signed() - after.cast_signed());
        if self.hooks.notes_in_flight {
            // As if the two had been sent one after the other (v2's and v3's trees).
            let front = u32::from(self.queue[id].pcount);
            let base = self.queue[id].tx.in_flight.saturating_sub(before);
            self.queue[id].tx.in_flight = base + front;
            self.queue[rest].tx.in_flight = base + after;
        }
        rest
    }

    /// The number of segments of an skb with `tags` fell by `decrease`. Linux: `tcp_adjust_pcount`.
    fn adjust_pcount(&mut self, tags: u8, decrease: i32) {
        if decrease == 0 {
            return;
        }
        let adjust = |count: &mut u32| *count = count.wrapping_add_signed(-decrease);
        adjust(&mut self.packets_out);
        if tags & tag::SACKED != 0 {
            adjust(&mut self.sacked_out);
        }
        if tags & tag::RETRANS != 0 {
            adjust(&mut self.retrans_out);
        }
        if tags & tag::LOST != 0 {
            adjust(&mut self.lost_out);
        }
        if !self.is_sack && decrease > 0 {
            self.sacked_out = self.sacked_out.saturating_sub(decrease.cast_unsigned());
        }
    }

    /// Sends what is marked lost and notes what held back the rest.
    pub(super) fn retransmit_lost(&mut self, host: &mut impl Host) {
        if self.packets_out != 0 {
            let stop = self.xmit_retransmit_queue(host);
            self.limits.note_stop(stop);
        }
    }

    /// Sends what is marked lost, as far as cwnd and pacing allow. Linux: `tcp_xmit_retransmit_queue`.
    fn xmit_retransmit_queue(&mut self, host: &mut impl Host) -> Stop {
        let head = self.queue.head();
        let mut id = if self.retransmit_hint == NIL { head } else { self.retransmit_hint };
        let max_segs = self.tso_segs();
        let mut has_hole = false;
        let mut is_head_sent = false;
        let stop = loop {
            if id == NIL {
                break Stop::Done;
            }
            if self.is_held_by_pacing(host) {
                break Stop::Limited(Limit::Pacing);
            }
            if !has_hole {
                self.retransmit_hint = id;
            }
            let mut room = self.conn.ctl.cwnd.wrapping_sub(self.in_flight()).cast_signed();
            if self.dup_thresh.is_send_forced {
                room = room.max(1);
            }
            if room <= 0 {
                break Stop::Limited(Limit::Cwnd);
            }
            if self.retrans_out >= self.lost_out {
                break Stop::Done;
            }
            let tags = self.queue[id].tags;
            if tags & tag::LOST == 0 {
                has_hole |= tags & (tag::RETRANS | tag::SACKED) == 0;
            } else if tags & (tag::SACKED | tag::RETRANS) == 0 {
                if self.is_small_queue_full(self.queue[id].len(), 1) {
                    break Stop::Limited(Limit::Pacing);
                }
                if !self.retransmit_skb(id, room.cast_unsigned().min(max_segs), host) {
                    break Stop::Limited(Limit::Rwnd);
                }
                if self.is_in_cwnd_reduction() {
                    self.prr.out = self.prr.out.wrapping_add(u32::from(self.queue[id].pcount));
                }
                self.dup_thresh.is_send_forced = false;
                is_head_sent |= id == head && self.timer.pending != Pending::Reordering;
            }
            id = self.queue[id].next;
        };
        if is_head_sent {
            let rto = self.rto;
            self.reset_timer_after_pacing(Pending::Retransmit, rto, host);
        }
        stop
    }

    /// Sends up to `segs` segments of an skb again and tags it; false if the window forbids.
    /// Linux: `tcp_retransmit_skb`.
    pub(super) fn retransmit_skb(&mut self, id: SkbId, segs: u32, host: &mut impl Host) -> bool {
        let is_sent = self.retransmit_skb_quietly(id, segs, host);
        let skb = &mut self.queue[id];
        let pcount = u32::from(skb.pcount);
        if is_sent {
            skb.tags |= tag::ANY_RETRANS;
            self.retrans_out += pcount;
        }
        if self.retrans_stamp.is_none() {
            self.retrans_stamp = Some(timestamp_ms(self.queue[id].tstamp_ns));
        }
        self.undo.retrans = self.undo.retrans.max(0) + pcount.cast_signed();
        is_sent
    }

    /// Sends up to `segs` segments of an skb again without counting it as a retransmission in flight, as a
    /// loss probe does. Linux: `__tcp_retransmit_skb`.
    pub(super) fn retransmit_skb_quietly(
        &mut self,
        id: SkbId,
        segs: u32,
        host: &mut impl Host,
    ) -> bool {
        if self.is_in_host_queue(id) {
            return false;
        }
        let mss = self.conn.mss;
        let snd_una = self.conn.snd_una;
        let skb = &mut self.queue[id];
        if before(skb.seq, snd_una) && skb.flags & flag::SYN == 0 {
            let cut = snd_una.wrapping_sub(skb.seq);
            skb.seq = snd_una;
            if skb.pcount > 1 {
                skb.count_segments(u32::from(skb.gso_size));
            }
            self.wmem_queued -= cut;
        }
        let skb = &self.queue[id];
        let is_syn = skb.flags & flag::SYN != 0;
        let mut room = self.window_end().wrapping_sub(self.queue[id].seq).cast_signed();
        if room <= 0 {
            if self.queue[id].seq != snd_una && !is_syn {
                return false;
            }
            room = mss.cast_signed();
        }
        let room = room.cast_unsigned();
        let mut len = mss.saturating_mul(segs);
        if len > room {
            len = room / mss * mss;
            if len == 0 {
                len = room;
            }
        }
        if self.queue[id].len() > len {
            self.fragment_sent(id, len, mss);
        } else if !is_syn {
            let before = u32::from(self.queue[id].pcount);
            self.queue[id].count_segments(mss);
            let after = u32::from(self.queue[id].pcount);
            self.adjust_pcount(self.queue[id].tags, before.cast_signed() - after.cast_signed());
            let room = room.min(mss);
            if self.queue[id].len() < room {
                self.collapse_behind(id, room);
            }
        }
        let skb = &mut self.queue[id];
        skb.retransmission = skb.retransmission.wrapping_add(1);
        let pcount = u64::from(skb.pcount);
        if is_syn {
            self.syn_retrans += 1;
        } else {
            self.stats.retransmitted += pcount;
        }
        self.transmit_skb(id, host);
        self.queue[id].tags |= tag::EVER_RETRANS;
        true
    }

    /// Takes small skbs behind `id` into it, up to `space` bytes. Linux: `tcp_retrans_try_collapse`.
    fn collapse_behind(&mut self, id: SkbId, space: u32) {
        if self.queue[id].pcount > 1 || self.queue[id].has(tag::SACKED) {
            return;
        }
        let mut left = space - self.queue[id].len();
        loop {
            let next = self.queue[id].next;
            if next == NIL {
                return;
            }
            let skb = &self.queue[next];
            if skb.pcount > 1
                || skb.has(tag::SACKED)
                || skb.len() > left
                || after(skb.end_seq, self.window_end())
            {
                return;
            }
            left -= skb.len();
            let (len, tags) = (skb.len(), skb.tags);
            if self.highest_sack == next {
                self.highest_sack = id;
            }
            if self.retransmit_hint == next {
                self.retransmit_hint = id;
            }
            self.dup_thresh.forget();
            self.queue[id].tags |= tags & tag::EVER_RETRANS;
            self.queue.shift(id, next, len, 0);
            self.wmem_queued -= OVERHEAD;
            self.adjust_pcount(tags, 1);
        }
    }
}
