//! The window that the peer advertises.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_may_update_window`; `net/ipv4/tcp.c`:
//! `tcp_bound_to_half_wnd`, `forced_push`.
//! Deviations: none.

use bbrlab_cc::linux_int::after;

/// The MSS in bytes if the peer has sent no MSS option. Linux: `TCP_MSS_DEFAULT`.
const MSS_DEFAULT: u32 = 536;

/// The peer's window. Linux: `snd_wnd`, `snd_wl1` and `max_window`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerWindow {
    /// Window in bytes, from `snd_una` on. Linux: `snd_wnd`.
    size: u32,
    /// Sequence number of the segment that last updated the window. Linux: `snd_wl1`.
    seq: u32,
    /// Largest window that the peer has advertised. Linux: `max_window`.
    max: u32,
}

impl PeerWindow {
    /// Returns the window in bytes, from `snd_una` on.
    #[inline]
    pub(super) const fn size(&self) -> u32 {
        self.size
    }

    /// Returns the largest window that the peer has advertised.
    #[inline]
    pub(super) const fn max(&self) -> u32 {
        self.max
    }

    /// Records the sequence number of a segment that leaves the window's size unchanged. Linux:
    /// `tcp_update_wl`.
    #[inline]
    pub(super) fn note_seq(&mut self, seq: u32) {
        self.seq = seq;
    }

    /// Sets the window to `size`, which the SYN-ACK advertises.
    pub(super) fn open(&mut self, size: u32) {
        self.size = size;
    }

    /// Sets the window of an accepted connection.
    pub(crate) fn accept(&mut self, seq: u32, size: u32) {
        *self = Self { size, seq, max: size };
    }

    /// Whether a segment may update the window. The segment must acknowledge new data, have a later
    /// sequence number than the segment that last updated the window, or have the same sequence
    /// number and advertise a larger window or a window of 0. Linux: `tcp_may_update_window`.
    pub(crate) fn may_update(&self, is_new_ack: bool, seq: u32, size: u32) -> bool {
        is_new_ack || after(seq, self.seq) || (seq == self.seq && (size > self.size || size == 0))
    }

    /// Sets the window to `size` bytes, which a segment with the sequence number `seq` advertises.
    /// Returns true if the size of the window has changed.
    pub(crate) fn update(&mut self, seq: u32, size: u32) -> bool {
        self.seq = seq;
        std::mem::replace(&mut self.size, size) != size
    }

    /// Updates the largest window. Returns true if the segment size must be computed again: the
    /// current window is larger than all earlier windows, and half of the largest earlier window
    /// may have limited the segment size to `mss`.
    pub(super) fn take_record(&mut self, mss: u32) -> bool {
        let is_record = self.size > self.max && mss >= self.half();
        self.max = self.max.max(self.size);
        is_record
    }

    /// Returns half of the largest window, or the whole largest window if it has at most
    /// [`MSS_DEFAULT`] bytes; 0 if no window was advertised.
    fn half(&self) -> u32 {
        if self.max > MSS_DEFAULT { self.max >> 1 } else { self.max }
    }

    /// Returns `bytes`. If `bytes` exceeds [`Self::half`], returns `half` instead, but at least 68
    /// bytes minus the bytes of the `header`. Before a window was advertised, returns `bytes`.
    /// Linux: `tcp_bound_to_half_wnd`.
    pub(super) fn bound_to_half(&self, bytes: u32, header: u32) -> u32 {
        let cutoff = self.half();
        if cutoff == 0 || bytes <= cutoff {
            return bytes;
        }
        cutoff.max(68 - header)
    }
}

#[cfg(test)]
mod tests {
    use super::PeerWindow;

    #[test]
    fn a_window_is_a_record_if_it_is_larger_than_all_before_and_they_bounded_a_segment() {
        let mut window = PeerWindow::default();
        window.accept(1, 1000);
        assert!(!window.take_record(2000));
        for (size, is_record) in
            [(4000, true), (4000, false), (2000, false), (3000, false), (5000, true)]
        {
            window.update(1, size);
            assert_eq!(window.take_record(2000), is_record, "{size}");
        }
        window.update(1, 6000);
        assert!(
            !window.take_record(1448),
            "the largest earlier window has 5000 bytes, and its half allows segments of 1448 bytes"
        );
    }
}
