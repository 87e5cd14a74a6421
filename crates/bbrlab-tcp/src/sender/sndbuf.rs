//! The send buffer, which grows with cwnd. When enough space is free, an application that waits for
//! space is woken.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_sndbuf_expand`, `tcp_should_expand_sndbuf`,
//! `tcp_new_space`, `tcp_check_space`; `net/core/stream.c`: `sk_stream_write_space`.
//! Deviations:
//! 1. A simulated host has no global memory pressure.
//!
//! With [`Sockbuf::Payload`] the buffer counts the bytes that were written and not yet
//! acknowledged, as in ns-3. As in ns-3, such a buffer calls the application whenever any byte is
//! free. ns-3: `tcp-tx-buffer.cc`, `Available`; `tcp-socket-base.cc`, `NewAck`.

use bbrlab_cc::CongestionControl as _;
use bbrlab_cc::linux_int::trunc_u32;
use bbrlab_stack::{Sockbuf, SocketBuffer};

use super::{Sender, SenderConfig};

/// Bytes of headroom for headers in each segment. Linux: `MAX_TCP_HEADER` in a kernel built without
/// wireless drivers, such as the kernel of the runs with which bbrlab is compared. With wireless
/// drivers the headroom is 320, and each full segment counts as 4352 bytes instead of 2304.
const MAX_TCP_HEADER: u32 = 256;

/// Bytes of memory of an skb's `skb_shared_info`, aligned to cache lines, on x86-64. Linux:
/// `SKB_DATA_ALIGN(sizeof(struct skb_shared_info))`.
const SHARED_INFO: u32 = 320;

/// Bytes of memory of an skb's `sk_buff`. Linux: `SKB_DATA_ALIGN(sizeof(struct sk_buff))`.
const SK_BUFF: u32 = 256;

/// Initial cwnd in segments. Linux: `TCP_INIT_CWND`.
const INIT_CWND: u32 = 10;

/// Returns the number of bytes of memory that a full segment can take. Payload, headers and
/// `skb_shared_info` are in one allocation, whose size is a power of two. The `sk_buff` is added to
/// this size.
fn bytes_per_segment(config: &SenderConfig) -> u32 {
    let timestamps = if config.timestamps { 12 } else { 0 };
    let mss_clamp = config.mss + timestamps;
    (mss_clamp + MAX_TCP_HEADER + SHARED_INFO).next_power_of_two() + SK_BUFF
}

/// The send buffer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Sndbuf {
    /// Size in bytes of memory or, if `counts_payload` is true, in bytes of payload. Linux:
    /// `sk_sndbuf`.
    size: u32,
    /// Number of packets for which the buffer was last sized.
    segs: u32,
    /// Number of bytes in use below which the application is woken: see [`wake_below`].
    wake_below: u32,
    /// Whether the application waits for space, and in which kind of buffer. Linux: `SOCK_NOSPACE`.
    waiting: Waiting,
    /// Whether the buffer grows with cwnd.
    grows: bool,
    /// Whether `size` counts payload, not memory.
    counts_payload: bool,
    /// Whether `tcp_notsent_lowat` limits the unsent bytes.
    has_lowat: bool,
}

/// Whether an application waits for space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    No,
    /// The application waits for free memory, in a buffer that grows: the usual case.
    ForMemory,
    /// The application waits for free memory, in a buffer that does not grow.
    ForFixedMemory,
    /// The application waits for space in a buffer that counts payload.
    ForPayload,
    /// The application waits until memory is free and the unsent bytes are fewer than half of
    /// `tcp_notsent_lowat`.
    ForUnsent,
}

/// Returns the number of bytes in use below which a buffer of `size` bytes wakes a waiting
/// application: free space is then at least half of the used space. A buffer that counts payload
/// wakes the application when any byte is free. Linux: `sk_stream_is_writeable`.
const fn wake_below(size: u32, counts_payload: bool) -> u32 {
    // One more than the largest number `used` with `used + (used >> 1) <= size`.
    let beyond = trunc_u32((2 * size as u64 + 1) / 3) + 1;
    if counts_payload || size < beyond { size } else { beyond }
}

impl Sndbuf {
    /// Creates the buffer at the start of a connection.
    pub(super) fn new(config: &SenderConfig) -> Self {
        let sockbuf = config.stack.socket.sockbuf;
        let size = config.stack.sndbuf.fixed_size(sockbuf).unwrap_or(config.stack.tcp_wmem.initial);
        let counts_payload = sockbuf == Sockbuf::Payload;
        Self {
            size,
            segs: 0,
            wake_below: wake_below(size, counts_payload),
            waiting: Waiting::No,
            grows: config.stack.sndbuf == SocketBuffer::Auto,
            counts_payload,
            has_lowat: config.stack.notsent_lowat.is_some(),
        }
    }

    /// Returns the size of the buffer in bytes of memory, or in bytes of payload if the buffer
    /// counts payload.
    #[inline]
    pub(super) const fn size(&self) -> u32 {
        self.size
    }

    /// Whether the size of the buffer counts payload, not memory.
    #[inline]
    pub(super) const fn counts_payload(&self) -> bool {
        self.counts_payload
    }

    /// Whether the application waits for space.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.waiting != Waiting::No
    }

    /// Grows the buffer so that it holds `segs` packets, each of which takes `per_seg` bytes. The
    /// buffer grows to at most `most` bytes.
    fn expand(&mut self, segs: u32, per_seg: u32, most: u32) {
        let segs = segs.max(INIT_CWND);
        if segs <= self.segs {
            return;
        }
        self.segs = segs;
        let bytes = u64::from(per_seg) * u64::from(segs);
        self.size = self.size.max(trunc_u32(bytes.min(u64::from(most))));
        self.wake_below = wake_below(self.size, self.counts_payload);
    }

    /// Wakes the application if enough of the buffer is free; `used` bytes are in use.
    #[inline]
    fn wake(&mut self, used: u32) {
        if used < self.wake_below {
            self.waiting = Waiting::No;
        }
    }
}

impl Sender {
    /// Whether the application must not write: the buffer is full, or too much of its data is
    /// unsent. Linux: `sk_stream_memory_free`, `tcp_stream_memory_free`.
    #[inline]
    pub(super) fn is_write_blocked(&self) -> bool {
        self.sndbuf_used() >= self.sndbuf.size()
            || (self.sndbuf.has_lowat && self.unsent_bytes() >= self.notsent_lowat())
    }

    /// Returns the number of unsent bytes from which on the application must not write. Linux:
    /// `tcp_notsent_lowat`.
    fn notsent_lowat(&self) -> u32 {
        self.config.stack.notsent_lowat.unwrap_or(u32::MAX)
    }

    /// Returns the number of bytes that were written and never sent.
    fn unsent_bytes(&self) -> u32 {
        self.app.write_seq.wrapping_sub(self.conn.snd_nxt)
    }

    /// Records that the application waits for space.
    pub(super) fn note_full(&mut self) {
        self.sndbuf.waiting = match (self.sndbuf.counts_payload, self.sndbuf.grows) {
            (true, _) => Waiting::ForPayload,
            (false, _) if self.sndbuf.has_lowat => Waiting::ForUnsent,
            (false, true) => Waiting::ForMemory,
            (false, false) => Waiting::ForFixedMemory,
        };
    }

    /// Grows the buffer to the size that cwnd requires, unless the size is fixed. Linux:
    /// `tcp_sndbuf_expand`.
    #[inline]
    pub(super) fn expand_sndbuf(&mut self) {
        if self.sndbuf.grows {
            self.expand_growing_sndbuf();
        }
    }

    #[inline]
    fn expand_growing_sndbuf(&mut self) {
        let segs = self.conn.ctl.cwnd.max(self.reordering.packets() + 1);
        if segs > self.sndbuf.segs {
            self.expand_sndbuf_for(segs);
        }
    }

    #[cold]
    #[inline(never)]
    fn expand_sndbuf_for(&mut self, segs: u32) {
        // `factor` is the number of congestion windows that the buffer must hold.
        let factor = self.cc.sndbuf_expand(&self.conn);
        let per_seg = bytes_per_segment(&self.config).wrapping_mul(factor);
        self.sndbuf.expand(segs, per_seg, self.config.stack.tcp_wmem.most);
    }

    /// If the application waits for space, first grows the buffer, then wakes the application if
    /// enough of the buffer is free. The buffer does not grow if cwnd is full or the buffer has a
    /// fixed size. `in_flight` counts the packets in flight. Linux: `tcp_check_space`,
    /// `tcp_new_space`, `sk_stream_write_space`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every packet and every ACK")]
    pub(super) fn check_space(&mut self, in_flight: u32) {
        if self.sndbuf.waiting == Waiting::ForMemory {
            if in_flight < self.conn.ctl.cwnd {
                self.expand_growing_sndbuf();
                self.usage.snd_cwnd_stamp = self.conn.jiffies;
            }
            self.sndbuf.wake(self.board.memory());
        } else if self.sndbuf.waiting != Waiting::No {
            self.check_unusual_space(in_flight);
        }
    }

    /// The part of [`Self::check_space`] for an application that waits in one of three rarer cases:
    /// the buffer has a fixed size, the buffer counts payload, or the socket has `notsent_lowat`.
    #[cold]
    #[inline(never)]
    fn check_unusual_space(&mut self, in_flight: u32) {
        match self.sndbuf.waiting {
            Waiting::No | Waiting::ForMemory => {
                unreachable!("`check_space` itself handles `No` and `ForMemory`")
            }
            Waiting::ForFixedMemory => self.sndbuf.wake(self.board.memory()),
            Waiting::ForPayload => self.check_payload_space(in_flight),
            Waiting::ForUnsent => self.check_unsent(in_flight),
        }
    }

    /// The part of [`Self::check_space`] for a socket with `notsent_lowat`. Grows the buffer if it
    /// may grow and cwnd is not full. Wakes the application if the unsent bytes are fewer than half
    /// of `notsent_lowat`, and enough of the buffer is free. Linux: `__sk_stream_is_writeable` with
    /// `wake` 1.
    fn check_unsent(&mut self, in_flight: u32) {
        if self.sndbuf.grows && in_flight < self.conn.ctl.cwnd {
            self.expand_growing_sndbuf();
            self.usage.snd_cwnd_stamp = self.conn.jiffies;
        }
        if u64::from(self.unsent_bytes()) << 1 < u64::from(self.notsent_lowat()) {
            self.sndbuf.wake(self.board.memory());
        }
    }

    /// The part of [`Self::check_space`] for a buffer that counts payload. Grows the buffer if it
    /// may grow and cwnd is not full, and wakes the application if any byte is free.
    fn check_payload_space(&mut self, in_flight: u32) {
        if in_flight < self.conn.ctl.cwnd && self.sndbuf.grows {
            self.expand_sndbuf();
            self.usage.snd_cwnd_stamp = self.conn.jiffies;
        }
        self.sndbuf.wake(self.app.write_seq.wrapping_sub(self.conn.snd_una));
    }

    /// Returns the number of bytes of the buffer that are in use.
    #[inline]
    pub(super) fn sndbuf_used(&self) -> u32 {
        if self.sndbuf.counts_payload() {
            self.app.write_seq.wrapping_sub(self.conn.snd_una)
        } else {
            self.board.memory()
        }
    }

    /// Returns the number of bytes of payload that still fit into the buffer; `None` if the buffer
    /// counts memory.
    #[inline]
    pub(super) fn sndbuf_room(&self) -> Option<u32> {
        let room = || self.sndbuf.size().saturating_sub(self.sndbuf_used());
        self.sndbuf.counts_payload().then(room)
    }
}

#[cfg(test)]
mod tests {
    use super::{SenderConfig, bytes_per_segment, wake_below};

    /// A waiting application is woken when a third of the buffer is free or, if the buffer counts
    /// payload (ns-3), when any byte is free. Linux: `sk_stream_wspace`, `sk_stream_min_wspace`.
    #[test]
    fn an_application_that_waits_is_woken_when_a_third_is_free() {
        let sizes = (0..200).chain([16_384, 87_380, 1 << 26, u32::MAX - 1, u32::MAX]);
        for (size, counts_payload) in sizes.flat_map(|size| [(size, false), (size, true)]) {
            let is_woken = |used: u32| {
                let room = size.saturating_sub(used);
                room > 0 && (room >= used >> 1 || counts_payload)
            };
            let below = wake_below(size, counts_payload);
            assert!(!is_woken(below), "{size}");
            assert!(below == 0 || is_woken(below - 1), "{size}");
        }
    }

    /// Payload, headers and the kernel's data after the payload are rounded up to a power of two.
    #[test]
    fn a_segment_takes_a_power_of_two_and_an_skb() {
        for (mss, timestamps, bytes) in [
            (448, false, 1024),
            (449, false, 2048),
            (436, true, 1024),
            (437, true, 2048),
            (1448, true, 2048),
            (1473, false, 4096),
            (8948, true, 16_384),
        ] {
            let config = SenderConfig { mss, timestamps, ..SenderConfig::default() };
            assert_eq!(bytes_per_segment(&config) - super::SK_BUFF, bytes, "{mss}");
        }
    }
}
