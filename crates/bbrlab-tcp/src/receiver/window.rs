//! The receive window: which part of the buffer may be advertised, and how the buffer grows.
//!
//! The window counts bytes of payload; the buffer counts bytes of memory. `scaling_ratio` (in units
//! of 1/256) converts memory to payload, and is measured from the segments that arrive.
//! `rcv_ssthresh` limits the window. `rcv_ssthresh` grows with each segment whose payload is a
//! large part of the segment's memory, up to the payload that fits into the free memory. The buffer
//! grows when the application has read more in one round trip than in any earlier round trip.
//!
//! Sources: [linux] `tcp_input.c` (`tcp_grow_window`, `tcp_init_buffer_space`, `tcp_clamp_window`,
//! `tcp_rcv_space_adjust`, `tcp_rcv_rtt_update`), `tcp_output.c` (`tcp_select_initial_window`,
//! `__tcp_select_window`, `tcp_select_window`), `tcp_minisocks.c` (`tcp_openreq_init_rwin`).
//! Deviations:
//! 1. A simulated host never has memory pressure (`tcp_under_memory_pressure`).
//! 2. The setting `rwnd` bounds the advertised window; no kernel setting has exactly this effect.

use bbrlab_stack::Sockbuf;

use super::config::ReceiverConfig;
use super::skb::truesize_of;

/// Base-2 logarithm of 256: `scaling_ratio` is in 1/256. Linux: `TCP_RMEM_TO_WIN_SCALE`.
const RATIO_SHIFT: u32 = 8;
/// The ratio before the first measurement: half of the memory counts as payload. Linux:
/// `TCP_DEFAULT_SCALING_RATIO`.
const DEFAULT_RATIO: u8 = 128;
/// Largest window scale. Linux: `TCP_MAX_WSCALE`.
const MAX_WSCALE: u32 = 14;
/// Largest value of the header's window field.
const FIELD_MAX: u32 = 65_535;
/// Initial cwnd in segments. Linux: `TCP_INIT_CWND`.
const INIT_CWND: u32 = 10;

/// The advertised window, the buffer, and the ratio of payload to memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[expect(clippy::struct_field_names, reason = "the kernel's names")]
pub(super) struct Window {
    // The field `steady`, at the end of this struct, is computed from the other fields.
    /// Whether the buffer counts memory or payload, and whether it grows.
    buffer: Buffer,
    /// Upper bound of the advertised window in bytes; `u32::MAX` for none.
    rwnd: u32,
    /// Size of the buffer in bytes of memory.
    rcvbuf: i32,
    /// Current limit of the window in bytes, which grows up to `window_clamp`.
    rcv_ssthresh: u32,
    /// Payload bytes of a full segment.
    pub(super) advmss: u32,
    /// Payload bytes per byte of memory, in 1/256.
    scaling_ratio: u8,
    /// Shift of the header's window field.
    wscale: u8,
    // The processing of every segment reads or writes the following fields.
    /// Next byte expected.
    pub(super) rcv_nxt: u32,
    /// `rcv_nxt` when the window was last advertised.
    pub(super) rcv_wup: u32,
    /// The window that was last advertised, in bytes.
    pub(super) rcv_wnd: u32,
    /// Next byte that the application reads.
    pub(super) copied_seq: u32,
    /// Upper bound of `rcv_ssthresh`, in bytes.
    window_clamp: u32,
    /// Bytes of memory that the received data takes up.
    pub(super) rmem_alloc: i32,
    steady: Steady,
}

/// Whether a buffer counts memory or payload, and whether it grows.
#[derive(Clone, Copy, Debug)]
enum Buffer {
    /// The buffer counts memory, and has a fixed size. The number is `tcp_rmem[2]`.
    Fixed(i32),
    /// The buffer counts memory, and grows up to this many bytes: `tcp_rmem[2]`.
    Grows(i32),
    /// The buffer counts payload.
    Payload(PayloadBuffer),
}

/// A buffer that counts payload: it advertises its size minus the unread data. ns-3:
/// `tcp-rx-buffer.cc`, `MaxRxSequence`; `tcp-socket-base.cc`, `AdvertisedWindowSize`.
#[derive(Clone, Copy, Debug)]
struct PayloadBuffer {
    /// Size of the buffer in bytes of payload.
    size: u32,
    /// Whether the application reads arriving data before an ACK is sent for it.
    is_read_at_once: bool,
}

/// Results of [`Window::select`] and [`Window::grow`] for a buffer that holds one full segment and
/// nothing else, as on the fast path. The results are stored until `rcv_ssthresh`, `window_clamp`,
/// `rcvbuf` or `scaling_ratio` changes: the methods that write these fields discard the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Steady {
    /// Bytes of the full segment; 0 if nothing is stored.
    len: u32,
    /// The result of [`Window::select`], or 0 if that result must not be stored. The result must
    /// not be stored if the buffer is more than half full: `select_window` must then also end quick
    /// mode, and the use of a stored result would skip this step. The result must also not be
    /// stored if it depends on a field whose changes do not discard the stored results.
    choice: u32,
    /// The window in bytes that the peer computes from the header if `choice` is advertised.
    advertised: u32,
    /// Whether [`Window::grow`] may still raise `rcv_ssthresh`.
    pub(super) may_grow: bool,
    /// Whether `choice` is also valid while the buffer is empty.
    holds_when_empty: bool,
}

impl Window {
    /// Creates the window of a listening socket. The window's size and scale do not depend on the
    /// SYN, so they are chosen before the SYN arrives.
    pub(super) fn new(config: &ReceiverConfig) -> Self {
        Self::in_multiples_of(config.mss, config)
    }

    /// Creates the window of a socket that sends the SYN. In a buffer that counts memory, the
    /// window is rounded down to a multiple of the sum of the MSS and the timestamp option's bytes.
    pub(super) fn active(config: &ReceiverConfig) -> Self {
        let options = if config.timestamps { 12 } else { 0 };
        Self::in_multiples_of(config.mss + options, config)
    }

    fn in_multiples_of(mss: u32, config: &ReceiverConfig) -> Self {
        if config.stack.socket.sockbuf == Sockbuf::Payload {
            return Self::of_payload(config);
        }
        let rmem = config.stack.tcp_rmem;
        let most = i32::try_from(rmem.most).unwrap_or(i32::MAX);
        let (rcvbuf, rmem_max) = match config.stack.rcvbuf.fixed_size(Sockbuf::Memory) {
            None => (rmem.initial, Some(most)),
            Some(bytes) => (bytes, None),
        };
        let rcvbuf = i32::try_from(rcvbuf).unwrap_or(i32::MAX);
        let full_space = win_from_space(DEFAULT_RATIO, rcvbuf).cast_unsigned();
        let mut clamp = config.window_clamp.or(config.rwnd());
        if rmem_max.is_none() {
            clamp = Some(clamp.map_or(full_space, |clamp| clamp.min(full_space)));
        }
        let clamp = clamp.unwrap_or(FIELD_MAX << MAX_WSCALE);
        let mut space = clamp.min(full_space);
        if space > mss {
            space -= space % mss;
        }
        let wscale = config.wscale.unwrap_or_else(|| {
            // As in the kernel, `tcp_rmem[2]` affects the window scale even if the buffer does not
            // grow.
            let most = space.max(rmem.most).max(config.rmem_max).min(clamp);
            let log = most.max(1).ilog2();
            u8::try_from(log.saturating_sub(15).min(MAX_WSCALE)).expect("at most 14")
        });
        Self {
            rcv_nxt: 0,
            rcv_wup: 0,
            rcv_wnd: space,
            copied_seq: 0,
            rcv_ssthresh: space,
            window_clamp: clamp.min(FIELD_MAX << wscale),
            rcvbuf,
            rmem_alloc: 0,
            steady: Steady::default(),
            scaling_ratio: DEFAULT_RATIO,
            wscale,
            advmss: config.mss,
            buffer: rmem_max.map_or(Buffer::Fixed(most), Buffer::Grows),
            rwnd: config.rwnd().unwrap_or(u32::MAX),
        }
    }

    /// Creates the window of a buffer that counts payload. From the start, the window is the whole
    /// buffer. Memory is unlimited.
    fn of_payload(config: &ReceiverConfig) -> Self {
        let largest = config.stack.tcp_rmem.most;
        let size = config.stack.rcvbuf.fixed_size(Sockbuf::Payload).unwrap_or(largest);
        let advertised = config.rwnd().map_or(size, |rwnd| size.min(rwnd));
        // The smallest shift with which the window fits into the header field. ns-3:
        // `CalculateWScale`.
        let fits = |shift: &u32| advertised >> shift <= FIELD_MAX;
        let wscale = (0..MAX_WSCALE).find(fits).unwrap_or(MAX_WSCALE);
        let wscale = config.wscale.unwrap_or(u8::try_from(wscale).expect("at most 14"));
        Self {
            rcv_nxt: 0,
            rcv_wup: 0,
            rcv_wnd: advertised,
            copied_seq: 0,
            rcv_ssthresh: size,
            window_clamp: size,
            rcvbuf: i32::MAX,
            rmem_alloc: 0,
            steady: Steady::default(),
            scaling_ratio: DEFAULT_RATIO,
            wscale,
            advmss: config.mss,
            buffer: Buffer::Payload(PayloadBuffer {
                size,
                is_read_at_once: config.rcvlowat() == 1,
            }),
            rwnd: config.rwnd().unwrap_or(u32::MAX),
        }
    }

    /// Returns the current limit of the window in bytes, which grows up to `window_clamp`.
    pub(super) const fn rcv_ssthresh(&self) -> u32 {
        self.rcv_ssthresh
    }

    /// Returns the upper bound of `rcv_ssthresh`, in bytes.
    pub(super) const fn window_clamp(&self) -> u32 {
        self.window_clamp
    }

    /// Returns the size of the buffer in bytes of memory.
    pub(super) const fn rcvbuf(&self) -> i32 {
        self.rcvbuf
    }

    /// Returns the number of payload bytes per byte of memory, in 1/256.
    pub(super) const fn scaling_ratio(&self) -> u8 {
        self.scaling_ratio
    }

    /// Whether the buffer counts payload.
    pub(super) const fn counts_payload(&self) -> bool {
        matches!(self.buffer, Buffer::Payload(_))
    }

    /// Returns the size in bytes up to which the buffer grows; `None` if the size is fixed.
    const fn rmem_max(&self) -> Option<i32> {
        match self.buffer {
            Buffer::Grows(most) => Some(most),
            Buffer::Fixed(_) | Buffer::Payload(_) => None,
        }
    }

    /// Sets `window_clamp` when the connection is established. Linux: `tcp_init_buffer_space` with
    /// the default `tcp_app_win` of 31, which makes the kernel subtract only one segment from the
    /// clamp.
    pub(super) fn init_buffer_space(&mut self) {
        let full = self.full_space().max(0).cast_unsigned();
        if self.window_clamp >= full {
            self.window_clamp = full;
            if full > 4 * self.advmss {
                self.window_clamp = full.max(4 * self.advmss);
            }
        }
        if self.window_clamp > 2 * self.advmss && self.window_clamp + self.advmss > full {
            self.window_clamp = (2 * self.advmss).max(full.saturating_sub(self.advmss));
        }
        self.rcv_ssthresh = self.rcv_ssthresh.min(self.window_clamp);
        self.steady = Steady::default();
    }

    /// Returns the initial estimate of the bytes that the application reads per round trip, at most
    /// ten segments. Linux: `rcvq_space.space`.
    pub(super) fn initial_space(&self) -> u32 {
        self.rcv_ssthresh.min(self.rcv_wnd).min(INIT_CWND * self.advmss)
    }

    /// Returns the payload that `space` bytes of memory hold. Linux: `tcp_win_from_space`.
    pub(super) const fn win_from_space(&self, space: i32) -> i32 {
        win_from_space(self.scaling_ratio, space)
    }

    /// Returns the payload that the whole buffer holds. Linux: `tcp_full_space`.
    const fn full_space(&self) -> i32 {
        self.win_from_space(self.rcvbuf)
    }

    /// Returns the payload that the free memory holds; negative if the memory in use exceeds the
    /// buffer. Linux: `tcp_space`.
    const fn space(&self) -> i32 {
        self.win_from_space(self.rcvbuf - self.rmem_alloc)
    }

    /// Returns the unused part of the advertised window. Linux: `tcp_receive_window`.
    pub(super) const fn receive_window(&self) -> u32 {
        let left = self.rcv_wup.wrapping_add(self.rcv_wnd).wrapping_sub(self.rcv_nxt);
        if left.cast_signed() < 0 { 0 } else { left }
    }

    /// Whether the unused part of the advertised window is at most half of `window_clamp`. Linux:
    /// in `__tcp_cleanup_rbuf`.
    pub(super) const fn is_half_used(&self) -> bool {
        // `receive_window` raises a negative `left` to 0. This is not needed here, because the
        // comparison is true for a negative `left` as well as for 0.
        let left = self.rcv_wup.wrapping_add(self.rcv_wnd).wrapping_sub(self.rcv_nxt);
        left.cast_signed() <= (self.window_clamp / 2).cast_signed()
    }

    /// Returns the number of bytes that the application could read. A FIN counts as one byte.
    pub(super) const fn available(&self) -> u32 {
        self.rcv_nxt.wrapping_sub(self.copied_seq)
    }

    /// Computes the ratio of payload to memory for segments of `len` bytes. The caller calls this
    /// function only when the size of full segments has changed to `len`. Returns the new
    /// `window_clamp` if the ratio changed. Linux: in `tcp_measure_rcv_mss`.
    pub(super) fn measure_ratio(&mut self, len: u32) -> Option<u32> {
        let ratio = (u64::from(len) << RATIO_SHIFT) / u64::from(truesize_of(len));
        let ratio = u8::try_from(ratio).unwrap_or(u8::MAX).max(1);
        if ratio == self.scaling_ratio {
            return None;
        }
        self.scaling_ratio = ratio;
        self.steady = Steady::default();
        self.window_clamp = self.full_space().max(0).cast_unsigned();
        Some(self.window_clamp)
    }

    /// Grows the window after a segment of `len` bytes that counts as `truesize` bytes of memory.
    /// Returns whether the window grew. Linux: `tcp_grow_window`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "in a recovery, this function runs for nearly every segment that arrives"
    )]
    pub(super) fn grow(&mut self, len: u32, truesize: u32, rcv_mss: u32) -> bool {
        let room = self.room_to_grow();
        room > 0 && self.grow_into(room, len, truesize, rcv_mss)
    }

    /// The part of [`Self::grow`] for the case that `rcv_ssthresh` may grow, by at most `room`
    /// bytes.
    #[inline(never)]
    fn grow_into(&mut self, room: i32, len: u32, truesize: u32, rcv_mss: u32) -> bool {
        let fits = self.win_from_space(truesize.cast_signed()) <= len.cast_signed();
        let increment =
            if fits { 2 * self.advmss } else { self.slow_growth(len, truesize, rcv_mss) };
        if increment == 0 {
            return false;
        }
        self.rcv_ssthresh += room.cast_unsigned().min(increment.max(2 * len));
        self.steady = Steady::default();
        true
    }

    /// Grows the window, as [`Self::grow`] does, after a full segment of `len` bytes. The buffer
    /// must hold only this segment, and `rcv_ssthresh` must be able to grow. Also updates `steady`,
    /// where possible without a call of [`Self::select`], and returns `steady`.
    #[inline(never)]
    pub(super) fn grow_steadily(&mut self, len: u32) -> Steady {
        let space = self.space();
        let bound = self.window_clamp.cast_signed().min(space);
        let room = bound.wrapping_sub(self.rcv_ssthresh.cast_signed());
        debug_assert!(room > 0 && self.steady.len == len);
        self.rcv_ssthresh += room.cast_unsigned().min(2 * self.advmss.max(len));
        let ssthresh = self.rcv_ssthresh.cast_signed();
        if self.steady.choice == 0 || self.counts_payload() {
            self.steady = self.find_steady(len);
        } else {
            // The stored `choice` is not 0, so `find_steady` found the buffer at most half full.
            // In this case, only the free space, `rcv_ssthresh` and `rwnd` limit the window.
            let choice = align_up(space.min(ssthresh).cast_unsigned(), self.wscale).min(self.rwnd);
            self.steady.choice = choice;
            self.steady.advertised = self.as_advertised(choice);
            self.steady.may_grow = ssthresh < bound;
            self.steady.holds_when_empty = space >= ssthresh;
        }
        debug_assert_eq!(self.steady, self.find_steady(len));
        self.steady
    }

    /// Returns the number of bytes by which `rcv_ssthresh` may grow; 0 or negative if it must not
    /// grow.
    #[inline]
    fn room_to_grow(&self) -> i32 {
        let bound = self.window_clamp.cast_signed().min(self.space());
        bound.wrapping_sub(self.rcv_ssthresh.cast_signed())
    }

    /// Returns by how many bytes `rcv_ssthresh` grows after a segment whose payload is a small part
    /// of its memory: 0, unless the window is small compared with the largest buffer. Linux:
    /// `__tcp_grow_window`.
    #[cold]
    fn slow_growth(&self, len: u32, truesize: u32, rcv_mss: u32) -> u32 {
        let rmem_max = match self.buffer {
            Buffer::Fixed(most) | Buffer::Grows(most) => most,
            // This limit has no effect: with a buffer that counts payload, the advertised window
            // does not depend on `rcv_ssthresh`.
            Buffer::Payload(_) => 64 << 20,
        };
        let mut truesize = self.win_from_space(truesize.cast_signed()) >> 1;
        let mut window = self.win_from_space(rmem_max) >> 1;
        while self.rcv_ssthresh.cast_signed() <= window {
            if truesize <= len.cast_signed() {
                return 2 * rcv_mss;
            }
            truesize >>= 1;
            window >>= 1;
        }
        0
    }

    /// Returns the window that could be advertised now, and whether the buffer is more than half
    /// full (which ends quick mode). Linux: `__tcp_select_window`.
    #[inline]
    pub(super) fn select(&self, rcv_mss: u32) -> (u32, bool) {
        if let Buffer::Payload(PayloadBuffer { size, is_read_at_once }) = self.buffer {
            let unread = if is_read_at_once { 0 } else { self.available() };
            let window = size.saturating_sub(unread);
            return (window.min(self.rwnd), false);
        }
        let mut mss = rcv_mss.cast_signed();
        let mut free = self.space();
        let allowed = self.full_space();
        let full = self.window_clamp.cast_signed().min(allowed);
        if mss > full {
            mss = full;
            if mss <= 0 {
                return (0, false);
            }
        }
        let crowded = free < full >> 1;
        if crowded {
            free &= !((1 << self.wscale) - 1);
            if free < allowed >> 4 || free < mss {
                return (0, true);
            }
        }
        let free = free.min(self.rcv_ssthresh.cast_signed());
        let window = if self.wscale != 0 {
            align_up(free.cast_unsigned(), self.wscale)
        } else {
            let window = self.rcv_wnd.cast_signed();
            if window <= free - mss || window > free {
                (free - free % mss).cast_unsigned()
            } else if mss == full && free > window + (full >> 1) {
                free.cast_unsigned()
            } else {
                self.rcv_wnd
            }
        };
        (window.min(self.rwnd), crowded)
    }

    /// Closes the window because a segment was dropped for lack of memory. Returns what
    /// [`Self::advertise`] returns, for a window of 0. Linux: in `tcp_select_window`.
    #[cold]
    pub(super) fn close(&mut self) -> (u32, bool) {
        self.rcv_wnd = 0;
        self.rcv_wup = self.rcv_nxt;
        (0, false)
    }

    /// Chooses the window of a segment that is sent now. Returns the bytes to advertise and whether
    /// the buffer is more than half full. Linux: `tcp_select_window`.
    #[inline]
    pub(super) fn advertise(&mut self, rcv_mss: u32) -> (u32, bool) {
        let current = self.receive_window();
        let (chosen, crowded) = self.select(rcv_mss);
        let new = if chosen < current {
            // The right edge of the window never moves back.
            align_up(current, self.wscale).min(self.rwnd).max(current)
        } else {
            chosen
        };
        self.rcv_wnd = new;
        self.rcv_wup = self.rcv_nxt;
        (self.as_advertised(new), crowded)
    }

    /// Returns the window in bytes that the peer computes from the header if `window` is
    /// advertised.
    fn as_advertised(&self, window: u32) -> u32 {
        let field = window.min(FIELD_MAX << self.wscale) >> self.wscale;
        field << self.wscale
    }

    /// Returns the stored [`Steady`]; computes it first if none is stored. The receive buffer must
    /// hold one full segment of `len` bytes and nothing else.
    #[inline]
    pub(super) fn steady(&mut self, len: u32) -> Steady {
        if self.steady.len != len {
            self.steady = self.find_steady(len);
        }
        self.steady
    }

    #[cold]
    fn find_steady(&self, len: u32) -> Steady {
        debug_assert_eq!(self.rmem_alloc, truesize_of(len).cast_signed());
        let (choice, crowded) = self.select(len);
        let depends_on_more = match self.buffer {
            Buffer::Payload(buffer) => !buffer.is_read_at_once,
            Buffer::Fixed(_) | Buffer::Grows(_) => self.wscale == 0,
        };
        let choice = if crowded || depends_on_more { 0 } else { choice };
        Steady {
            len,
            choice,
            advertised: self.as_advertised(choice),
            may_grow: self.room_to_grow() > 0,
            // If the free space does not limit the window now, it does not limit the window of an
            // empty buffer either.
            holds_when_empty: self.counts_payload()
                || self.space() >= self.rcv_ssthresh.cast_signed(),
        }
    }

    /// Returns the stored [`Steady`] if its results are also valid while the buffer is empty.
    #[inline]
    pub(super) fn steady_when_empty(&self) -> Option<Steady> {
        (self.steady.len != 0 && self.steady.holds_when_empty).then_some(self.steady)
    }

    /// Advertises the window stored in `steady`, instead of choosing a window as
    /// [`Self::advertise`] does. Returns the bytes to advertise; `None`, without any change, if the
    /// stored window is smaller than the window advertised last.
    #[inline]
    pub(super) fn advertise_steady(&mut self, steady: Steady) -> Option<u32> {
        if steady.choice < self.rcv_wnd {
            return None;
        }
        self.rcv_wnd = steady.choice;
        self.rcv_wup = self.rcv_nxt;
        Some(steady.advertised)
    }

    /// Returns the window field of the SYN-ACK, which is not scaled.
    pub(super) const fn syn_window(&self) -> u32 {
        if self.rcv_wnd < FIELD_MAX { self.rcv_wnd } else { FIELD_MAX }
    }

    /// Enlarges the buffer because the application read more in the last round trip (`copied`
    /// bytes) than in any earlier round trip (`space` bytes). Linux: in `tcp_rcv_space_adjust`.
    pub(super) fn enlarge_buffer(&mut self, copied: u32, space: u32) {
        let Some(rmem_max) = self.rmem_max() else { return };
        let mut window = (u64::from(copied) << 1) + 16 * u64::from(self.advmss);
        let grow = window * u64::from(copied - space) / u64::from(space.max(1));
        window += grow << 1;
        // The kernel passes the 64-bit value to a function that takes 32 bits, so the upper bits
        // are lost.
        let window =
            u64::from(bbrlab_cc::linux_int::trunc_u32(window).cast_signed().max(0).cast_unsigned());
        let rcvbuf = (window << RATIO_SHIFT) / u64::from(self.scaling_ratio);
        let rcvbuf = i32::try_from(rcvbuf).unwrap_or(i32::MAX).min(rmem_max);
        if rcvbuf > self.rcvbuf {
            self.rcvbuf = rcvbuf;
            self.window_clamp = self.full_space().cast_unsigned();
            self.steady = Steady::default();
        }
    }

    /// Enlarges a full buffer if possible. If the memory in use still exceeds the buffer, limits
    /// the window to two segments. Linux: `tcp_clamp_window`.
    #[cold]
    pub(super) fn clamp(&mut self) {
        if let Some(rmem_max) = self.rmem_max()
            && self.rcvbuf < rmem_max
        {
            self.rcvbuf = self.rmem_alloc.min(rmem_max);
        }
        if self.rmem_alloc > self.rcvbuf {
            self.rcv_ssthresh = self.window_clamp.min(2 * self.advmss);
        }
        self.steady = Steady::default();
    }

    /// Whether less than an eighth of the buffer is free. If so, the application must be woken up
    /// even if it can read fewer than `rcvlowat` bytes. Linux: `tcp_rmem_pressure`.
    pub(super) const fn is_pressed(&self) -> bool {
        self.rmem_alloc > self.rcvbuf - (self.rcvbuf >> 3)
    }

    /// Sets `SO_RCVLOWAT` to at most half of the largest buffer, and enlarges a growing buffer to
    /// hold that many bytes. Returns the value set. Linux: `tcp_set_rcvlowat`.
    pub(super) fn set_rcvlowat(&mut self, rcvlowat: u32) -> u32 {
        let cap = self.rmem_max().unwrap_or(self.rcvbuf) >> 1;
        let rcvlowat = rcvlowat.min(cap.cast_unsigned()).max(1);
        if self.rmem_max().is_some() {
            let space = (u64::from(rcvlowat) << RATIO_SHIFT) / u64::from(self.scaling_ratio);
            let space = i32::try_from(space).unwrap_or(i32::MAX);
            if space > self.rcvbuf {
                self.rcvbuf = space;
                self.window_clamp = self.window_clamp.max(rcvlowat);
                self.steady = Steady::default();
            }
        }
        rcvlowat
    }
}

/// Returns the payload that `space` bytes of memory hold at `ratio`. Linux: `__tcp_win_from_space`.
#[expect(clippy::cast_possible_truncation, reason = "`space` is multiplied by less than 1")]
const fn win_from_space(ratio: u8, space: i32) -> i32 {
    ((space as i64 * ratio as i64) >> RATIO_SHIFT) as i32
}

/// Rounds `value` up to a multiple of `1 << shift`.
const fn align_up(value: u32, shift: u8) -> u32 {
    let mask = (1 << shift) - 1;
    (value.wrapping_add(mask)) & !mask
}

#[cfg(test)]
mod tests {
    use super::Window;
    use crate::receiver::ReceiverConfig;

    #[test]
    fn memory_is_under_pressure_above_seven_eighths_of_the_buffer() {
        let mut window = Window::new(&ReceiverConfig::default());
        window.rcvbuf = 80_000;
        let pressed = |window: &mut Window, rmem_alloc| {
            window.rmem_alloc = rmem_alloc;
            window.is_pressed()
        };
        assert!(!pressed(&mut window, 0) && !pressed(&mut window, 70_000));
        assert!(pressed(&mut window, 70_001) && pressed(&mut window, 200_000));
    }
}
