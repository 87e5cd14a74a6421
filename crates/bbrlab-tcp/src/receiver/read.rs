//! The application's reads.
//!
//! Sources: [linux] `tcp.c` (`tcp_recvmsg_locked`, `__tcp_cleanup_rbuf`), `include/net/tcp.h`
//! (`tcp_epollin_ready`).
//! Deviations: none.

use bbrlab_stack::DelAck;
use bbrlab_units::Time;

use super::Receiver;
use super::delayed_ack::SCHED;
use crate::Host;

/// The result of a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Bytes read.
    pub bytes: u64,
    /// Time at which the read was complete. A read takes
    /// [`skb_read_cost`](super::ReceiverConfig::skb_read_cost) for each buffer that it reads. The
    /// ACKs that the read triggered have timestamps no later than this time.
    pub until: Time,
}

impl Receiver {
    /// Whether the kernel reports the socket as readable: at least `rcvlowat` bytes are unread, or
    /// fewer if the peer has sent its FIN, memory is short, or the receive window is nearly closed.
    pub(super) fn is_readable(&self) -> bool {
        let available = self.window.available();
        if available == 0 {
            return false;
        }
        available >= self.rcvlowat
            || self.has_peer_fin
            || self.window.is_pressed()
            || self.window.receive_window() <= self.ack.rcv_mss
    }

    /// Reads all queued data with successive `recv()` calls.
    pub fn read(&mut self, now: Time, host: &mut impl Host) -> Read {
        let mut total = Read { bytes: 0, until: now };
        while !self.queue.is_empty() {
            let read = self.recv(total.until, host);
            total = Read { bytes: total.bytes + read.bytes, until: read.until };
        }
        total
    }

    /// Reads with one `recv()`.
    pub fn recv(&mut self, now: Time, host: &mut impl Host) -> Read {
        self.recv_up_to(self.config.recv_bytes, now, host)
    }

    /// Performs one `recv()` with a buffer of `size` bytes.
    pub fn recv_up_to(&mut self, size: u32, now: Time, host: &mut impl Host) -> Read {
        if self.queue.is_empty() {
            return Read { bytes: 0, until: now };
        }
        self.clock.now = now;
        let copied = self.copy(size);
        self.after_recv(copied, host);
        let bytes = u64::from(copied);
        self.bytes_read += bytes;
        Read { bytes, until: self.clock.now }
    }

    /// Removes from the queue the data that one `recv()` of at most `size` bytes reads; returns the
    /// number of bytes. Linux: `tcp_recvmsg_locked`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    fn copy(&mut self, size: u32) -> u32 {
        let mut copied = 0;
        while let Some(skb) = self.queue.front() {
            let left = skb.end_seq.wrapping_sub(self.window.copied_seq) - u32::from(skb.fin);
            let used = left.min(size - copied);
            if used != 0 {
                self.window.copied_seq = self.window.copied_seq.wrapping_add(used);
                copied += used;
                let (fin, truesize) = (skb.fin, skb.truesize);
                self.clock.now += self.config.skb_read_cost;
                self.autotune.on_read(self.clock.now, &mut self.window);
                if used < left {
                    return copied;
                }
                self.finish_skb(fin, truesize);
            } else if left == 0 {
                let (fin, truesize) = (skb.fin, skb.truesize);
                self.finish_skb(fin, truesize);
            } else {
                return copied;
            }
        }
        copied
    }

    fn finish_skb(&mut self, fin: bool, truesize: u32) {
        if fin {
            self.window.copied_seq = self.window.copied_seq.wrapping_add(1);
        }
        self.window.rmem_alloc -= truesize.cast_signed();
        self.queue.pop();
    }

    /// Sends an ACK after a `recv()`, if an ACK is due, or if the receive window could now be at
    /// least twice the unused part of the advertised window. Linux: `__tcp_cleanup_rbuf`.
    pub(super) fn after_recv(&mut self, copied: u32, host: &mut impl Host) {
        let window = &self.window;
        let mut ack_now = false;
        if self.ack.has(SCHED) && !matches!(self.config.stack.delack, DelAck::Every { .. }) {
            let two_segments = window.rcv_nxt.wrapping_sub(window.rcv_wup) > self.ack.rcv_mss;
            let pushed = self.ack.is_due_with_read();
            ack_now = two_segments || (copied > 0 && pushed && window.rmem_alloc == 0);
        }
        if copied > 0
            && !ack_now
            && !self.has_peer_fin
            && !window.counts_payload()
            && window.is_half_used()
        {
            let now = window.receive_window();
            let new = self.select_window();
            ack_now = new != 0 && u64::from(new) >= 2 * u64::from(now);
        }
        if ack_now {
            self.send_ack(host);
        }
    }
}
