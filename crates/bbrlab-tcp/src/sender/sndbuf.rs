//! The send buffer: its size, which follows cwnd, and when the application hears that there is room.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_sndbuf_expand`, `tcp_should_expand_sndbuf`,
//! `tcp_new_space`, `tcp_check_space`; `net/core/stream.c`: `sk_stream_write_space`.
//! Deviations:
//! 1. No global memory pressure.

use bbrlab_cc::linux_int::trunc_u32;

use super::{SendBuffer, Sender, SenderConfig};

/// Room for headers in front of each segment. Linux: `MAX_TCP_HEADER` in a kernel without wireless links, as
/// the reference's; with them it is 320, and each segment counts 4352 bytes instead of 2304.
const MAX_TCP_HEADER: u32 = 256;

/// Linux: `SKB_DATA_ALIGN(sizeof(struct skb_shared_info))` on x86-64.
const SHARED_INFO: u32 = 320;

/// Linux: `SKB_DATA_ALIGN(sizeof(struct sk_buff))`.
const SK_BUFF: u32 = 256;

/// Linux: `TCP_INIT_CWND`.
const INIT_CWND: u32 = 10;

/// Memory that a full segment may take, head and all: allocations are powers of two.
pub(super) fn bytes_per_segment(config: &SenderConfig) -> u32 {
    let timestamps = if config.timestamps { 12 } else { 0 };
    let mss_clamp = config.mss + timestamps;
    (mss_clamp + MAX_TCP_HEADER + SHARED_INFO).next_power_of_two() + SK_BUFF
}

impl Sender {
    /// Grows the buffer to a few windows. Linux: `tcp_sndbuf_expand`.
    #[inline]
    pub(super) fn expand_sndbuf(&mut self) {
        let SendBuffer::Auto { max, .. } = self.config.sndbuf else { return };
        let segs = INIT_CWND.max(self.conn.ctl.cwnd).max(self.reordering + 1);
        if segs <= self.sndbuf_segs {
            return;
        }
        self.sndbuf_segs = segs;
        let bytes = u64::from(self.sndbuf_per_seg) * u64::from(segs);
        self.sndbuf = self.sndbuf.max(trunc_u32(bytes.min(u64::from(max))));
    }

    /// Space may have come free: tells the application if it waits. Linux: `tcp_check_space`,
    /// `tcp_new_space`, `sk_stream_write_space`.
    #[inline]
    pub(super) fn check_space(&mut self) {
        if !self.is_nospace {
            return;
        }
        if self.board.in_flight() < self.conn.ctl.cwnd
            && matches!(self.config.sndbuf, SendBuffer::Auto { .. })
        {
            self.expand_sndbuf();
            self.usage.snd_cwnd_stamp = self.conn.jiffies;
        }
        let room = self.sndbuf.saturating_sub(self.board.memory());
        if room > 0 && room >= self.board.memory() >> 1 {
            self.is_nospace = false;
        }
    }
}
