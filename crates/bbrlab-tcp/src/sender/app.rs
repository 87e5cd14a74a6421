//! The application: `send()` calls that fill the write queue until the send buffer is full.
//!
//! An application is a list of `send()` calls, or an endless series of such calls. If the buffer
//! becomes full during a call, the application writes the call's remaining bytes when the socket is
//! writable again.
//!
//! Sources: [linux] `net/ipv4/tcp.c`: `tcp_sendmsg_locked`, `tcp_push`, `tcp_mark_push`,
//! `forced_push`, `tcp_xmit_size_goal`, `tcp_skb_entail`; `net/ipv4/tcp_output.c`: `tcp_send_fin`.
//! Deviations: none.

use std::collections::VecDeque;

use bbrlab_cc::linux_int::{after, trunc_u32};
use bbrlab_units::Time;

use super::output::Push;
use super::{Nonagle, Sender, State};
use crate::Host;

/// Default number of bytes per `send()` of an application that never runs out of data.
const UNLIMITED_SEND: u64 = 1 << 20;

/// Largest number of series of pending `send()` calls ([`Calls`]). When this number is reached, the
/// bytes of further calls are added to the last series.
const SERIES_MAX: usize = 1024;

/// Pending `send()` calls of the same size, one after the other. If an application writes faster
/// than the link sends, the number of pending calls grows.
#[derive(Clone, Copy, Debug)]
struct Calls {
    /// Bytes of the current call that are not written yet.
    left: u64,
    /// Bytes of each call.
    whole: u64,
    /// Number of calls after the current one.
    more: u64,
}

impl Calls {
    /// Records that `left` bytes of the current call are not written yet. Returns true if no call
    /// is left.
    const fn set_left(&mut self, left: u64) -> bool {
        self.left = left;
        if left == 0 && self.more > 0 {
            self.more -= 1;
            self.left = self.whole;
        }
        self.left == 0
    }
}

/// The data that the application has written or will write.
#[derive(Clone, Debug)]
pub(super) struct App {
    /// Sequence number of the next byte that the application writes.
    pub(super) write_seq: u32,
    /// End of the data that was last marked with PSH. Linux: `pushed_seq`.
    pub(super) pushed_seq: u32,
    /// Number of segments in a full skb. Linux: `gso_segs`.
    gso_segs: u32,
    /// The `send()` calls not completed yet, the current one first.
    calls: VecDeque<Calls>,
    is_unlimited: bool,
    is_closing: bool,
    is_fin_queued: bool,
}

impl App {
    /// Creates an application without data.
    pub(super) fn new(isn: u32) -> Self {
        Self {
            write_seq: isn,
            pushed_seq: isn,
            gso_segs: 0,
            calls: VecDeque::new(),
            is_unlimited: false,
            is_closing: false,
            is_fin_queued: false,
        }
    }

    /// Whether the application has data or a FIN left to write.
    pub(super) fn has_more(&self) -> bool {
        self.is_unlimited || !self.calls.is_empty() || (self.is_closing && !self.is_fin_queued)
    }

    /// Whether the application has nothing left to write.
    pub(super) fn is_done(&self) -> bool {
        !self.has_more()
    }
}

impl Sender {
    /// Writes `bytes` with one `send()`. If the buffer becomes full, [`Self::run_app`] writes the
    /// remaining bytes later. Several calls are processed in order. Before the connection is
    /// established, no byte enters the buffer. After [`Self::close`], does nothing.
    pub fn write(&mut self, now: Time, bytes: u64, host: &mut impl Host) {
        if bytes == 0 || self.app.is_closing {
            return;
        }
        let is_first = self.app.calls.is_empty();
        let is_full = self.app.calls.len() >= SERIES_MAX;
        match self.app.calls.back_mut() {
            Some(last) if last.whole == bytes => last.more += 1,
            Some(last) if is_full => last.left = last.left.saturating_add(bytes),
            _ => self.app.calls.push_back(Calls { left: bytes, whole: bytes, more: 0 }),
        }
        if self.is_established() && is_first && !self.sndbuf.is_full() {
            self.run_app(now, host);
        }
    }

    /// Makes the application write without end: it calls `send()` with 1 MiB until the buffer is
    /// full, and continues whenever the socket is writable. The setting `app_write` replaces the 1
    /// MiB.
    pub fn write_unlimited(&mut self, now: Time, host: &mut impl Host) {
        self.app.is_unlimited = true;
        if self.is_established() && !self.sndbuf.is_full() {
            self.run_app(now, host);
        }
    }

    /// Closes the sending side: a FIN follows the last byte written.
    pub fn close(&mut self, now: Time, host: &mut impl Host) {
        self.app.is_unlimited = false;
        self.app.is_closing = true;
        if self.is_established() && self.app.calls.is_empty() {
            self.run_app(now, host);
        }
    }

    /// Makes the application stop writing. Data in the buffer is still sent; no FIN follows.
    pub fn stop_writing(&mut self) {
        self.app.is_unlimited = false;
        self.app.calls.clear();
    }

    /// Whether the application has data or a FIN to write, and the socket is writable. If true, the
    /// caller must call [`Self::run_app`], immediately or when the application is scheduled.
    #[must_use]
    #[inline]
    pub fn app_is_ready(&self) -> bool {
        !self.sndbuf.is_full() && self.is_established() && self.app.has_more()
    }

    /// Whether a socket that has become writable calls the application immediately, as in ns-3. In
    /// Linux, the kernel only wakes the application's process.
    #[must_use]
    #[inline]
    pub fn calls_app(&self) -> bool {
        self.sndbuf.counts_payload()
    }

    /// Runs the application, which writes data until no data is left or the buffer is full. If the
    /// application has closed the connection, a FIN follows the last byte.
    pub fn run_app(&mut self, now: Time, host: &mut impl Host) {
        self.refresh_clock(now);
        while self.app_is_ready() {
            let asked = match self.app.calls.front() {
                Some(calls) => calls.left,
                None if self.app.is_unlimited => self.unlimited_send(),
                None => {
                    self.app.is_fin_queued = true;
                    self.send_fin(host);
                    break;
                }
            };
            let mut left = asked;
            // After a partial write the application calls `send()` again; with a full buffer, this
            // call writes 0 bytes and ends the loop.
            while left > 0 {
                let copied = self.sendmsg(left, host);
                left -= copied;
                if copied == 0 {
                    break;
                }
                if self.app.calls.is_empty() {
                    let whole = self.unlimited_send();
                    left = if copied < whole { whole } else { 0 };
                }
            }
            if self.app.calls.front_mut().is_some_and(|calls| calls.set_left(left)) {
                self.app.calls.pop_front();
            }
        }
        self.send_by_rule3(host);
        self.account_limit(now);
    }

    /// Returns the number of bytes per `send()` of an application that never runs out of data: the
    /// setting `app_write` or, without this setting, [`UNLIMITED_SEND`].
    fn unlimited_send(&self) -> u64 {
        self.config.stack.pacing.app_write.map_or(UNLIMITED_SEND, |bytes| bytes.0)
    }

    /// Performs one `send()`; returns the bytes written, 0 if the buffer is full. Linux:
    /// `tcp_sendmsg_locked`.
    fn sendmsg(&mut self, bytes: u64, host: &mut impl Host) -> u64 {
        let is_checked_after = self.config.stack.pacing.app_write.is_some();
        if !is_checked_after {
            self.check_app_limited();
        }
        let size_goal = self.size_goal();
        let mut left = bytes;
        while left > 0 {
            let mut room =
                self.board.last_unsent_len().map_or(0, |len| size_goal.saturating_sub(len));
            let payload_room = self.sndbuf_room();
            if room == 0 || payload_room == Some(0) {
                if self.is_write_blocked() {
                    self.note_full();
                    if left < bytes {
                        self.push(Nonagle::Push, size_goal, host);
                    }
                    break;
                }
                self.board.open_unsent(self.app.write_seq);
                self.check_idle_restart(host);
                room = size_goal;
            }
            let copied = u64::from(room.min(payload_room.unwrap_or(room))).min(left);
            let copied_u32 = trunc_u32(copied);
            let is_full = self.board.append(copied_u32, left == bytes) >= size_goal;
            self.app.write_seq = self.app.write_seq.wrapping_add(copied_u32);
            left -= copied;
            if left == 0 || !is_full {
                continue;
            }
            if after(self.app.write_seq, self.app.pushed_seq.wrapping_add(self.window.max() >> 1)) {
                self.mark_push();
                self.push_pending_frames(Nonagle::Push, host);
            } else if self.board.is_one_unsent() {
                self.write_new(Nonagle::Push, Push::One, host);
            }
        }
        if left < bytes {
            if is_checked_after {
                self.check_app_limited();
            }
            self.push(self.nonagle, size_goal, host);
        }
        bytes - left
    }

    /// Ends a `send()`: sets PSH on the last unsent skb, and sends the data that may be sent now.
    /// Linux: `tcp_push`.
    fn push(&mut self, nonagle: Nonagle, size_goal: u32, host: &mut impl Host) {
        let Some(last_len) = self.board.last_unsent_len() else { return };
        self.mark_push();
        if self.should_autocork(last_len, size_goal) {
            return;
        }
        self.push_pending_frames(nonagle, host);
    }

    /// Sets PSH on the last unsent skb. Linux: `tcp_mark_push`.
    fn mark_push(&mut self) {
        self.board.push_last();
        self.app.pushed_seq = self.app.write_seq;
    }

    /// Returns the size in bytes of a full skb: whole segments, at most half of the peer's largest
    /// window. Linux: `tcp_xmit_size_goal`.
    fn size_goal(&mut self) -> u32 {
        let mss = self.conn.mss;
        let goal = self.bound_to_half_window(self.conn.gso_max_size);
        let segs = self.app.gso_segs;
        if goal < segs * mss || goal >= (segs + 1) * mss {
            self.app.gso_segs = goal / mss;
        }
        (self.app.gso_segs * mss).max(mss)
    }

    /// Returns `bytes`, but at most half of the peer's largest window. If the largest window has at
    /// most 536 bytes, returns at most the whole window. Linux: `tcp_bound_to_half_wnd`.
    pub(super) fn bound_to_half_window(&self, bytes: u32) -> u32 {
        let header = if self.config.timestamps { 32 } else { 20 };
        self.window.bound_to_half(bytes, header)
    }

    /// Queues a FIN after the last byte. Linux: `tcp_send_fin`.
    fn send_fin(&mut self, host: &mut impl Host) {
        self.state = State::Closing;
        self.board.append_fin(self.app.write_seq);
        self.app.write_seq = self.app.write_seq.wrapping_add(1);
        self.push_pending_frames(Nonagle::Off, host);
    }
}
