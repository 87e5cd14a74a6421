//! Receive-buffer autotuning: the receiver measures how much the application reads per round trip,
//! and enlarges the buffer.
//!
//! A receiver sends no data, so ACKs give it no RTT samples. Instead, the receiver measures the RTT
//! by the echoes of its timestamps on full segments or, without timestamps, by the time in which
//! one receive window of data arrives.
//!
//! Sources: [linux] `tcp_input.c` (`tcp_rcv_rtt_update`, `tcp_rcv_rtt_measure`,
//! `tcp_rcv_rtt_measure_ts`, `tcp_rcv_space_adjust`).
//! Deviations: none.

use bbrlab_cc::linux_int::{before, stamp_us_delta};
use bbrlab_units::{Span, Time};

use super::window::Window;

/// The state of autotuning. Linux: `rcv_rtt_est`, `rcvq_space`, `rcv_rtt_last_tsecr`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Autotune {
    // The fields up to `rtt_us` are used at many segments.
    /// Start of the round trip being measured, in microseconds.
    space_time: u64,
    /// The end of the round trip being measured. A read by the application before this time changes
    /// nothing.
    next_read: Time,
    /// The timestamp echo processed last.
    last_tsecr: Option<u32>,
    /// The RTT is measured in two ways: from timestamps, and as the time in which one receive
    /// window of data arrives. This sequence number is the end of the window that is being timed;
    /// before the first such measurement, it is the first byte of the stream.
    rtt_seq: u32,
    /// Round-trip time that the receiver measured, in units of 1/8 microsecond; 0 before the first
    /// measurement.
    pub(super) rtt_us: u32,
    // The following fields are used once per round trip.
    /// Time in microseconds at which the timing of the window began. The timing ends when all data
    /// before `rtt_seq` has arrived.
    rtt_time: Option<u64>,
    /// Largest number of bytes read in one round trip.
    space: u32,
    /// First byte read in the round trip being measured.
    space_seq: u32,
}

impl Autotune {
    /// Size in bytes of the struct's first part, the fields that are used at many segments.
    pub(super) const HOT: usize = std::mem::offset_of!(Self, rtt_time);

    /// Creates the autotuning state of a new socket.
    pub(super) const fn new() -> Self {
        Self {
            next_read: Time::NEVER,
            last_tsecr: None,
            rtt_seq: 0,
            rtt_us: 0,
            rtt_time: None,
            space: 0,
            space_seq: 0,
            space_time: 0,
        }
    }

    /// Starts the measurements; called when the connection is established.
    pub(super) fn init(&mut self, mstamp_us: u64, window: &Window) {
        self.space_time = mstamp_us;
        self.space_seq = window.copied_seq;
        self.space = window.initial_space();
        self.rtt_seq = window.rcv_nxt;
        self.find_next_read();
    }

    /// Sets `next_read` to one round trip after `space_time`.
    fn find_next_read(&mut self) {
        // The product cannot overflow: `space_time` is a 64-bit time in nanoseconds divided by
        // 1000.
        let over = Time(self.space_time * 1000) + Span::from_micros(u64::from(self.rtt_us >> 3));
        self.next_read = if self.rtt_us == 0 { Time::NEVER } else { over };
    }

    /// Returns the largest number of bytes read in one round trip.
    pub(super) const fn space(&self) -> u32 {
        self.space
    }

    /// Limits `space`, the bytes read per round trip, to `clamp`, the window's new upper bound.
    /// Linux: in `tcp_measure_rcv_mss`.
    pub(super) fn clamp_changed(&mut self, clamp: u32) {
        self.space = self.space.min(clamp);
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "in a recovery, this function runs for nearly every segment that arrives"
    )]
    fn update_rtt(&mut self, sample_us: u32, by_window: bool) {
        let old = self.rtt_us;
        let scaled = u64::from(sample_us) << 3;
        if old == 0 || scaled < u64::from(old) {
            self.rtt_us = bbrlab_cc::linux_int::trunc_u32(scaled);
        } else if !by_window {
            self.rtt_us = (old - (old >> 3)).wrapping_add(sample_us);
        }
        self.find_next_read();
    }

    /// Whether `rcv_nxt` has reached the end of the receive window whose arrival is timed, or no
    /// window is timed.
    pub(super) const fn is_window_over(&self, rcv_nxt: u32) -> bool {
        !before(rcv_nxt, self.rtt_seq)
    }

    /// Whether a timestamp echo differs from the echo processed last.
    pub(super) fn is_new_echo(&self, tsecr: u32) -> bool {
        self.last_tsecr != Some(tsecr)
    }

    /// Continues the measurement of the time in which a whole receive window of data arrives. The
    /// caller calls this function when in-order data has arrived; `now` is the time of the arrival.
    /// Linux: `tcp_rcv_rtt_measure`.
    #[inline]
    pub(super) fn on_data(&mut self, now: Time, window: &Window) {
        if self.is_window_over(window.rcv_nxt) {
            self.time_window(now.0 / 1000, window);
        }
    }

    #[cold]
    fn time_window(&mut self, mstamp_us: u64, window: &Window) {
        if let Some(began) = self.rtt_time {
            self.update_rtt(stamp_us_delta(mstamp_us, began).max(1), true);
        }
        self.rtt_seq = window.rcv_nxt.wrapping_add(window.rcv_wnd);
        self.rtt_time = Some(mstamp_us);
    }

    /// Takes an RTT sample from the timestamp echo `tsecr` of an arriving segment, if the echo is
    /// new and the segment has full size (`full`). Linux: `tcp_rcv_rtt_measure_ts`.
    #[inline]
    pub(super) fn on_echo(&mut self, tsecr: u32, now_ms: u32, full: bool) {
        if self.last_tsecr == Some(tsecr) {
            return;
        }
        self.last_tsecr = Some(tsecr);
        if full {
            let delta_us = i64::from(now_ms.wrapping_sub(tsecr).cast_signed()) * 1000;
            if let Ok(sample) = u32::try_from(delta_us)
                && sample > 0
            {
                self.update_rtt(sample, false);
            }
        }
    }

    /// Measures the bytes read per round trip, after a read at `now`. Linux:
    /// `tcp_rcv_space_adjust`.
    #[inline]
    pub(super) fn on_read(&mut self, now: Time, window: &mut Window) {
        if now >= self.next_read {
            self.adjust_space(now.0 / 1000, window);
        }
    }

    #[cold]
    fn adjust_space(&mut self, mstamp_us: u64, window: &mut Window) {
        let time = stamp_us_delta(mstamp_us, self.space_time);
        if self.rtt_us == 0 || time < self.rtt_us >> 3 {
            return;
        }
        let read = window.copied_seq.wrapping_sub(self.space_seq);
        let copied = read.wrapping_sub(window.available()).cast_signed();
        if copied > self.space.cast_signed() {
            let copied = copied.cast_unsigned();
            window.enlarge_buffer(copied, self.space);
            self.space = copied;
        }
        self.space_seq = window.copied_seq;
        self.space_time = mstamp_us;
        self.find_next_read();
    }
}
