//! The peer's window: how far it lets the sender go.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_may_update_window`; `net/ipv4/tcp.c`: `tcp_bound_to_half_wnd`,
//! `forced_push`.
//! Deviations: none.

use bbrlab_cc::linux_int::after;

/// Linux: `TCP_MSS_DEFAULT`.
const MSS_DEFAULT: u32 = 536;

/// What the peer has advertised.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerWindow {
    /// Bytes from `snd_una` on. Linux: `snd_wnd`.
    size: u32,
    /// The peer's sequence number when it said so. Linux: `snd_wl1`.
    seq: u32,
    /// The largest it has ever advertised. Linux: `max_window`.
    max: u32,
}

impl PeerWindow {
    /// Bytes from `snd_una` on.
    #[inline]
    pub(super) const fn size(&self) -> u32 {
        self.size
    }

    /// The largest that was ever advertised.
    #[inline]
    pub(super) const fn max(&self) -> u32 {
        self.max
    }

    /// A segment with `seq` says nothing new of the window.
    #[inline]
    pub(super) fn note_seq(&mut self, seq: u32) {
        self.seq = seq;
    }

    /// The window of the SYN-ACK.
    pub(super) fn open(&mut self, size: u32) {
        self.size = size;
    }

    /// The window of a connection that was accepted.
    pub(super) fn accept(&mut self, seq: u32, size: u32) {
        *self = Self { size, seq, max: size };
    }

    /// Whether a segment may change the window: it acknowledges something new, is later, or tells of more.
    /// Linux: `tcp_may_update_window`.
    pub(super) fn may_update(&self, is_new_ack: bool, seq: u32, size: u32) -> bool {
        is_new_ack || after(seq, self.seq) || (seq == self.seq && (size > self.size || size == 0))
    }

    /// Takes the window of a segment with `seq`; whether it is another one.
    pub(super) fn update(&mut self, seq: u32, size: u32) -> bool {
        self.seq = seq;
        std::mem::replace(&mut self.size, size) != size
    }

    /// Whether the window is larger than ever before; from now on it is not.
    pub(super) fn take_record(&mut self) -> bool {
        let is_record = self.size > self.max;
        self.max = self.max.max(self.size);
        is_record
    }

    /// `bytes`, but no more than half of the largest window. Linux: `tcp_bound_to_half_wnd`.
    pub(super) fn bound_to_half(&self, bytes: u32, header: u32) -> u32 {
        let cutoff = if self.max > MSS_DEFAULT { self.max >> 1 } else { self.max };
        if cutoff == 0 || bytes <= cutoff {
            return bytes;
        }
        cutoff.max(68 - header)
    }
}
