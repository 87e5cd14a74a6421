//! Processing of an arriving segment: header checks, timestamps, data.
//!
//! Sources: [linux] `tcp_input.c` (`tcp_validate_incoming`, `tcp_replace_ts_recent`,
//! `tcp_ecn_accept_cwr`, `tcp_data_queue`, `tcp_event_data_recv`, `tcp_data_queue_ofo`,
//! `tcp_ofo_queue`, `tcp_try_rmem_schedule`, `tcp_prune_queue`); RFC 7323 (PAWS).
//! Deviations: see `mod.rs`.

use bbrlab_cc::linux_int::{after, before};
use bbrlab_units::{Ecn, Time};

use super::delayed_ack::{MAX_QUICKACKS, MSS_DEFAULT, NOMEM, NOW, PUSHED, PUSHED2, TIMER};
use super::fast_path::Expected;
use super::out_of_order::Inserted;
use super::skb::Skb;
use super::{Receiver, State};
use crate::paws::{self, PAWS_WINDOW};
use crate::segment::flag;
use crate::{Host, Segment};

/// Length in bytes of the smallest segment that can make the receive window grow.
const GROWTH_MIN_LEN: u32 = 128;
/// Bytes of the TCP header without options.
const TCP_HEADER: u32 = 20;

impl Receiver {
    /// Checks a segment, and answers it if it is unacceptable. Returns whether the segment is
    /// acceptable; during the handshake, whether the segment completes the handshake.
    pub(crate) fn accept(&mut self, now: Time, segment: &Segment, host: &mut impl Host) -> bool {
        self.clock.now = now;
        self.expected = Expected::Nothing;
        if segment.flags & (flag::ACK | flag::SYN | flag::RST) == 0 {
            return false;
        }
        if matches!(self.state, State::Listen | State::SynSent | State::SynReceived)
            && !self.on_handshake(now, segment, host)
        {
            return false;
        }
        if segment.has(flag::SYN) {
            // The SYN is a duplicate of an earlier SYN. The only answer is a challenge ACK, even if
            // the timestamp or the sequence number of the SYN is old.
            self.send_challenge_ack(host);
            return false;
        }
        if segment.has(flag::RST) {
            return false;
        }
        if self.has_ts
            && segment.has_ts
            && self.config.stack.socket.has_paws()
            && !paws::passes(self.ts_recent, segment.tsval, PAWS_WINDOW)
            && !self.is_disordered_ack(segment)
        {
            self.refuse(segment, host);
            return false;
        }
        let window = &self.window;
        let end_seq = segment.end_seq();
        if before(end_seq, window.rcv_wup)
            || after(segment.seq, window.rcv_nxt.wrapping_add(window.receive_window()))
        {
            self.refuse(segment, host);
            return false;
        }
        true
    }

    /// Whether a segment with an old timestamp is a pure ACK that was only reordered. Linux:
    /// `tcp_disordered_ack`.
    fn is_disordered_ack(&self, segment: &Segment) -> bool {
        let &Segment { seq, ack, wnd, tsval, .. } = segment;
        segment.has(flag::ACK)
            && seq == segment.end_seq()
            && seq == self.window.rcv_nxt
            && ack == self.peer.snd_una
            && !self.peer.window.may_update(false, seq, wnd)
            && paws::is_reordered(self.ts_recent, tsval, self.send_side.rto, self.clock.hz())
    }

    /// Answers an unacceptable segment with a duplicate ACK. Segments without data are answered at
    /// most once per half second. Linux: `tcp_oow_rate_limited`, `tcp_send_dupack`.
    #[cold]
    fn refuse(&mut self, segment: &Segment, host: &mut impl Host) {
        let has_data = segment.end_seq() != segment.seq;
        if !has_data && self.is_rate_limited() {
            return;
        }
        if has_data && before(segment.seq, self.window.rcv_nxt) {
            self.duplicate_packets += self.packets_of(segment.len);
            self.enter_quickack_mode(MAX_QUICKACKS);
            let end = segment.end_seq();
            let end = if after(end, self.window.rcv_nxt) { self.window.rcv_nxt } else { end };
            self.sacks.set_duplicate(segment.seq, end);
        } else if has_data {
            self.dropped_packets += self.packets_of(segment.len);
        }
        self.send_ack(host);
    }

    /// Whether an answer to an unacceptable segment was sent less than half a second ago. If the
    /// result is false, the caller must send an answer now, and the current time is stored as the
    /// time of the last answer. Linux: `__tcp_oow_rate_limited`.
    pub(super) fn is_rate_limited(&mut self) -> bool {
        self.oow.holds_back(self.clock.jiffies(), self.clock.hz())
    }

    /// Sends a challenge ACK, unless an answer that [`Self::is_rate_limited`] counts was sent less
    /// than half a second ago. Linux: `tcp_send_challenge_ack`.
    #[cold]
    fn send_challenge_ack(&mut self, host: &mut impl Host) {
        if !self.is_rate_limited() {
            self.send_ack(host);
        }
    }

    /// Records the ACK number and window of an acceptable segment, for a socket that has sent
    /// nothing except SYN-ACK and, perhaps, FIN. Linux: in `tcp_ack`, `tcp_ack_update_window`.
    pub(super) fn note_peer(&mut self, segment: &Segment) {
        let is_new = after(segment.ack, self.peer.snd_una);
        if is_new && after(segment.ack, self.send_side.snd_nxt) {
            return;
        }
        if self.peer.window.may_update(is_new, segment.seq, segment.wnd) {
            self.peer.window.update(segment.seq, segment.wnd);
        }
        if is_new {
            self.peer.snd_una = segment.ack;
        }
    }

    /// Sends a challenge ACK for a segment that acknowledges data never sent (`is_unsent`) or data
    /// acknowledged long ago. In the Established state, an ACK of unsent data gets no challenge
    /// ACK. Linux: `tcp_ack`, `tcp_rcv_established`, `tcp_rcv_state_process`,
    /// `tcp_send_challenge_ack`.
    #[cold]
    pub(crate) fn challenge(&mut self, is_unsent: bool, host: &mut impl Host) {
        if !(is_unsent && self.state == State::Established) {
            self.send_challenge_ack(host);
        }
    }

    /// Takes an RTT sample from the segment's timestamp echo. The segment that completes the
    /// handshake is not passed to this function. Linux: the callers of `tcp_rcv_rtt_measure_ts`.
    pub(crate) fn take_echo(&mut self, segment: &Segment) {
        if self.has_ts && segment.has_ts {
            let full = segment.len >= self.ack.rcv_mss;
            self.autotune.on_echo(segment.tsecr, self.clock.timestamp(self.clock.now), full);
        }
    }

    /// Stores the timestamp of an acceptable segment, if ACKs have to echo it from now on. Linux:
    /// `tcp_replace_ts_recent`.
    pub(crate) fn replace_ts_recent(&mut self, segment: &Segment) {
        if self.has_ts
            && segment.has_ts
            && !after(segment.seq, self.window.rcv_wup)
            && (paws::passes(self.ts_recent, segment.tsval, 0)
                || !self.config.stack.socket.has_paws())
        {
            self.ts_recent = segment.tsval;
        }
    }

    /// Processes the timestamp and CWR of an acceptable segment. After the FINs of both ends,
    /// closes the connection. Linux: in `tcp_ack`.
    pub(crate) fn take_header(&mut self, segment: &Segment) {
        self.replace_ts_recent(segment);
        if segment.has(flag::CWR) {
            self.ecn.demand_cwr = false;
            if segment.end_seq() != segment.seq {
                self.ack.pending |= NOW;
            }
        }
        if self.state == State::FinWait && self.has_peer_fin {
            self.state = State::Closed;
        }
    }

    /// Queues the data of an acceptable segment. Data that has arrived before is reported as a
    /// duplicate; data beyond the receive window is dropped. Linux: `tcp_data_queue`.
    pub(crate) fn take_data(&mut self, segment: &Segment, host: &mut impl Host) {
        let seq = segment.seq;
        let end_seq = segment.end_seq();
        if seq == end_seq || self.has_peer_fin && !before(seq, self.window.rcv_nxt) {
            return;
        }
        self.sacks.forget_duplicate();
        let rcv_nxt = self.window.rcv_nxt;
        if seq == rcv_nxt {
            let bare_fin = segment.len == 0 && segment.has(flag::FIN);
            if self.window.receive_window() == 0 && !bare_fin {
                self.out_of_window(segment);
                return;
            }
            self.take_in_order(segment, host);
        } else if !after(end_seq, rcv_nxt) {
            self.sacks.set_duplicate(seq, end_seq);
            self.duplicate_packets += self.packets_of(segment.len);
            self.enter_quickack_mode(MAX_QUICKACKS);
            self.ack.schedule();
        } else if !before(seq, rcv_nxt.wrapping_add(self.window.receive_window())) {
            self.out_of_window(segment);
        } else if before(seq, rcv_nxt) {
            self.sacks.set_duplicate(seq, rcv_nxt);
            if self.window.receive_window() == 0 {
                self.out_of_window(segment);
                return;
            }
            self.take_in_order(segment, host);
        } else {
            self.take_out_of_order(segment, host);
        }
    }

    #[cold]
    fn out_of_window(&mut self, segment: &Segment) {
        self.dropped_packets += self.packets_of(segment.len);
        self.enter_quickack_mode(MAX_QUICKACKS);
        self.ack.schedule();
    }

    /// Queues the data of a segment that begins at or before the next expected byte. Most calls
    /// occur in a recovery.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only two call sites")]
    fn take_in_order(&mut self, segment: &Segment, host: &mut impl Host) {
        if self.window.rmem_alloc > self.window.rcvbuf() && !self.make_room(segment.seq) {
            self.ack.pending |= NOMEM | NOW;
            self.ack.schedule();
            if !self.queue.is_empty() && segment.len != 0 {
                self.dropped_packets += self.packets_of(segment.len);
                return;
            }
        }
        let fin = segment.has(flag::FIN);
        let skb = Skb::of_segment(segment.seq, segment.len, fin, self.stream_start);
        self.window.rmem_alloc += self.queue.push(skb).cast_signed();
        self.window.rcv_nxt = skb.end_seq;
        if segment.len != 0 {
            self.new_packets += self.packets_of(segment.len);
            self.on_data(segment, host);
        }
        if fin {
            self.on_fin(host);
        }
        if !self.out_of_order.is_empty() {
            self.fill_from_out_of_order(host);
        } else if self.sacks.has_blocks() {
            self.sacks.clear_blocks();
        }
    }

    /// Schedules an ACK and updates the estimates of segment size, RTT and ACK delay, after
    /// in-order data was queued. Linux: `tcp_event_data_recv`.
    fn on_data(&mut self, segment: &Segment, host: &mut impl Host) {
        self.ack.schedule();
        self.measure_rcv_mss(segment);
        self.autotune.on_data(self.clock.now, &self.window);
        let now = self.clock.jiffies();
        self.ack.on_data(now, self.window.rcv_wnd, self.send_side.rto);
        self.unacked_segments += 1;
        if self.ecn.is_ok {
            self.check_ce(segment, host);
        }
        // For the growth of the window, the segment counts as `len` bytes of memory. The payload is
        // in page fragments, and Linux then subtracts the memory of the skb's head, which holds no
        // payload. Linux: `truesize_adjust`.
        if segment.len >= GROWTH_MIN_LEN
            && self.window.grow(segment.len, segment.len, self.ack.rcv_mss)
        {
            self.ack.quick |= 1;
        }
    }

    /// Updates the estimated size of the peer's full segments, and records whether this segment
    /// ends a write. Linux: `tcp_measure_rcv_mss`.
    fn measure_rcv_mss(&mut self, segment: &Segment) {
        let last = self.ack.last_seg_size;
        self.ack.last_seg_size = 0;
        let len = segment.len.min(self.window.advmss);
        if len >= self.ack.rcv_mss {
            if len != self.ack.rcv_mss {
                if let Some(clamp) = self.window.measure_ratio(segment.len) {
                    self.autotune.clamp_changed(clamp);
                }
                self.ack.rcv_mss = len;
            }
            if segment.has(flag::PSH) {
                self.ack.pending |= PUSHED;
            }
        } else {
            self.measure_short(segment, last);
        }
    }

    /// Processes a segment that is shorter than the estimated full size. Lowers the estimate to the
    /// segment's length if the previous segment had this length, too (`last`), and full segments
    /// can have this length. If the estimate is not lowered, records that the segment ends a write.
    #[cold]
    fn measure_short(&mut self, segment: &Segment, last: u32) {
        let fixed = TCP_HEADER + if self.has_ts { 12 } else { 0 };
        let sacks = u32::from(segment.sack_count);
        let header = fixed + if sacks == 0 { 0 } else { 4 + 8 * sacks };
        let len = segment.len + header;
        let ends_a_write = segment.flags & (flag::FIN | flag::SYN | flag::PSH) != 0;
        if len >= MSS_DEFAULT + TCP_HEADER
            || (len >= super::delayed_ack::MIN_MSS + TCP_HEADER && !ends_a_write)
        {
            let len = len - fixed;
            self.ack.last_seg_size = len;
            if len == last {
                self.ack.rcv_mss = len;
                return;
            }
        }
        if self.ack.has(PUSHED) {
            self.ack.pending |= PUSHED2;
        }
        self.ack.pending |= PUSHED;
    }

    /// Processes the ECN field of a data segment. Linux: `__tcp_ecn_check_ce`,
    /// `dctcp_ece_ack_update`.
    fn check_ce(&mut self, segment: &Segment, host: &mut impl Host) {
        let is_ce = match segment.ecn {
            Ecn::NotEct => {
                if self.ecn.seen {
                    // A packet that is not ECN-capable is probably a retransmission, so the next
                    // ACKs are sent immediately.
                    self.enter_quickack_mode(2);
                }
                return;
            }
            Ecn::Ce => true,
            Ecn::Ect0 | Ecn::Ect1 => false,
        };
        if self.ecn.is_dctcp {
            if self.ecn.ce_state != is_ce {
                if self.ack.has(TIMER) {
                    // A delayed ACK for earlier packets is still due; it must report the CE state
                    // of those packets.
                    self.ecn.demand_cwr = self.ecn.ce_state;
                    self.send_ack_for(self.ecn.prior_rcv_nxt, host);
                }
                self.ack.pending |= NOW;
            }
            self.ecn.prior_rcv_nxt = self.window.rcv_nxt;
            self.ecn.ce_state = is_ce;
            self.ecn.demand_cwr = is_ce;
        }
        if is_ce && !self.ecn.demand_cwr {
            self.enter_quickack_mode(2);
            self.ecn.demand_cwr = true;
        }
        self.ecn.seen = true;
    }

    /// Queues a segment above a hole, if there is memory. Linux: `tcp_data_queue_ofo`.
    fn take_out_of_order(&mut self, segment: &Segment, host: &mut impl Host) {
        let packets = self.packets_of(segment.len);
        if self.ecn.is_ok {
            self.check_ce(segment, host);
        }
        if self.window.rmem_alloc > self.window.rcvbuf() && !self.make_room(segment.seq) {
            self.dropped_packets += packets;
            return;
        }
        self.measure_rcv_mss(segment);
        self.ack.schedule();
        let (len, fin) = (segment.len, segment.has(flag::FIN));
        let skb = Skb::of_segment(segment.seq, len, fin, self.stream_start);
        self.queue_out_of_order(skb, len, packets, host);
    }

    /// Queues `skb`, the buffer of a segment above a hole. The segment has `packets` packets and
    /// `len` bytes of payload. The caller must have made sure that there is memory. Linux:
    /// `tcp_data_queue_ofo`, after its check for memory.
    #[inline(never)]
    pub(super) fn queue_out_of_order(
        &mut self,
        skb: Skb,
        len: u32,
        packets: u64,
        host: &mut impl Host,
    ) {
        let is_first = self.out_of_order.is_empty();
        let (inserted, memory) = self.out_of_order.insert(skb, &mut self.sacks);
        match inserted {
            Inserted::Duplicate => self.duplicate_packets += packets,
            Inserted::Own | Inserted::Coalesced => {
                self.new_packets += packets;
                self.out_of_order_packets += packets;
            }
        }
        if self.config.stack.sack {
            // As in the kernel, the memory of a segment is added to `rmem_alloc` before the call of
            // `grow` if the segment was merged into an earlier buffer, otherwise after this call.
            let grown = match inserted {
                Inserted::Coalesced => {
                    self.window.rmem_alloc += memory;
                    self.window.grow(len, len, self.ack.rcv_mss)
                }
                Inserted::Own | Inserted::Duplicate => false,
            };
            self.ack.quick |= u8::from(grown);
            if is_first {
                self.sacks.start(skb.seq, skb.end_seq);
            } else {
                let touched = self.sacks.touch(skb.seq, skb.end_seq);
                if touched.must_flush() {
                    self.flush_compressed(host);
                }
                self.sacks.bring_to_front(touched, skb.seq, skb.end_seq);
            }
            if inserted == Inserted::Own && self.window.grow(len, skb.truesize, self.ack.rcv_mss) {
                self.ack.quick |= 1;
            }
            if inserted != Inserted::Coalesced {
                self.window.rmem_alloc += memory;
            }
        } else {
            self.window.rmem_alloc += memory;
        }
    }

    /// Moves out-of-order data that is now in order to the receive queue. The caller has just added
    /// in-order data to the receive queue; this data filled the first hole or made it smaller. If
    /// the hole only became smaller, no data is moved. Linux: `tcp_ofo_queue` and the code after
    /// its call.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    fn fill_from_out_of_order(&mut self, host: &mut impl Host) {
        let dsack_high = self.window.rcv_nxt;
        while let Some(&skb) = self.out_of_order.front() {
            if after(skb.seq, self.window.rcv_nxt) {
                break;
            }
            if before(skb.seq, dsack_high) {
                let end = if before(skb.end_seq, dsack_high) { skb.end_seq } else { dsack_high };
                self.sacks.extend_duplicate(skb.seq, end);
            }
            self.out_of_order.pop_front();
            self.window.rmem_alloc -= skb.truesize.cast_signed();
            if skb.ends_by(self.window.rcv_nxt) {
                continue;
            }
            self.window.rmem_alloc += self.queue.push(skb).cast_signed();
            self.window.rcv_nxt = skb.end_seq;
            if skb.fin {
                self.on_fin(host);
                break;
            }
        }
        if self.out_of_order.is_empty() {
            // RFC 5681, section 4.2, requires an immediate ACK when a gap is filled.
            self.ack.pending |= NOW;
            self.sacks.clear_blocks();
        } else {
            self.sacks.advance(self.window.rcv_nxt);
        }
    }

    /// Tries to make room when the memory in use exceeds the buffer: enlarges the buffer or, if
    /// that is not enough, drops out-of-order data. `seq` is the start of the segment that needs
    /// memory. Returns whether enough memory is free now. Linux: `tcp_prune_queue`.
    #[cold]
    fn make_room(&mut self, seq: u32) -> bool {
        self.ack.quick = 0;
        self.window.clamp();
        if self.window.rmem_alloc <= self.window.rcvbuf() {
            return true;
        }
        let pruned = self.out_of_order.prune(seq, self.window.rmem_alloc, self.window.rcvbuf());
        if let Some(freed) = pruned {
            self.window.rmem_alloc -= freed;
            self.sacks.clear();
        }
        self.window.rmem_alloc <= self.window.rcvbuf()
    }

    pub(super) fn enter_quickack_mode(&mut self, max: u8) {
        self.ack.enter_quickack_mode(self.window.rcv_wnd, max);
    }

    /// Returns the number of packets in `len` bytes of payload. A TSO burst counts as several
    /// packets.
    fn packets_of(&self, len: u32) -> u64 {
        if len <= self.window.advmss { 1 } else { u64::from(len.div_ceil(self.window.advmss)) }
    }
}
