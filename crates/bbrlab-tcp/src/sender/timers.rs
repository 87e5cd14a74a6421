//! The sender's clock and its single retransmission timer, which serves four purposes.
//!
//! Sources: [linux] `include/net/inet_connection_sock.h`: `inet_csk_reset_xmit_timer`,
//! `inet_csk_clear_xmit_timer`; `include/net/tcp.h`: `tcp_reset_xmit_timer`, `tcp_pacing_delay`,
//! `tcp_rto_delta_us`; `net/ipv4/tcp_timer.c`: `tcp_write_timer_handler`; `net/ipv4/tcp_input.c`:
//! `tcp_rearm_rto`, `tcp_set_xmit_timer`; `net/ipv4/tcp_output.c`: `tcp_mstamp_refresh`.
//! Deviations: none.

use bbrlab_cc::linux_int::{trunc_u32, usecs_to_jiffies};
use bbrlab_units::Time;

use super::Sender;
use crate::rtt::RTO_MAX_S;
use crate::wheel::{Tick, WheelTimer};
use crate::{Host, TimerId};

/// The purpose of the retransmission timer. Linux: `ICSK_TIME_*`, same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum TimerPurpose {
    /// No purpose: if the timer fires, nothing happens.
    #[default]
    None = 0,
    /// The retransmission timeout.
    Retransmit = 1,
    /// The zero-window probe.
    ZeroWindowProbe = 3,
    /// The tail loss probe.
    LossProbe = 5,
    /// RACK's reordering timer.
    Reordering = 6,
}

/// Shortest timeout of a loss probe or of RACK's reordering timer in microseconds: two ticks of HZ
/// = 1000. Linux: `TCP_TIMEOUT_MIN_US`.
pub(super) const TIMEOUT_MIN_US: u32 = 2_000;

/// Up to this number of ticks, counting the ticks one by one is faster than a division.
const TICKS_COUNTED: u32 = 8;

/// The parts of the host's clock that are not in `Conn`, the struct that the congestion control
/// reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// The time of the current event in microseconds. Linux: `tcp_mstamp`.
    mstamp_us: u64,
    next_tick: Time,
    /// Length of a tick in microseconds, at most 10 ms.
    us_per_jiffy: u32,
    ts_offset: u32,
}

impl Clock {
    /// Returns the clock of a host that boots now and whose tick is `tick`. `ts_offset` is added to
    /// the clock's milliseconds in every timestamp.
    pub(super) const fn new(tick: Tick, ts_offset: u32) -> Self {
        Self {
            mstamp_us: 0,
            next_tick: tick.next_tick(Time::ZERO),
            us_per_jiffy: 1_000_000 / tick.hz(),
            ts_offset,
        }
    }

    /// Returns the length of a tick in nanoseconds.
    #[inline]
    const fn tick_ns(&self) -> u64 {
        self.us_per_jiffy as u64 * 1000
    }

    /// Returns the number that is added to the clock's milliseconds in every timestamp.
    #[inline]
    pub(super) const fn ts_offset(&self) -> u32 {
        self.ts_offset
    }

    /// Returns the number of whole ticks in `ns`, which must be at least one tick.
    fn whole_ticks(&self, ns: u64) -> u32 {
        let tick_ns = self.tick_ns();
        let (mut ticks, mut left_ns) = (1, ns - tick_ns);
        while left_ns >= tick_ns {
            if ticks == TICKS_COUNTED {
                return u32::try_from(ns / tick_ns).unwrap_or(u32::MAX);
            }
            left_ns -= tick_ns;
            ticks += 1;
        }
        ticks
    }

    /// Counts the ticks from the last counted tick until `now`. At least one tick must have passed
    /// in this time.
    #[inline]
    fn pass_ticks(&mut self, now: Time) -> u32 {
        let tick_ns = self.tick_ns();
        let late_ns = now.0 - self.next_tick.0;
        let ticks = if late_ns < tick_ns { 1 } else { late_ns / tick_ns + 1 };
        self.next_tick.0 += ticks * tick_ns;
        trunc_u32(ticks)
    }

    /// Returns the time of the current event in microseconds.
    #[inline]
    pub(super) const fn mstamp_us(&self) -> u64 {
        self.mstamp_us
    }

    /// Borrows the time of the current event in microseconds.
    #[inline]
    pub(super) const fn mstamp_us_ref(&self) -> &u64 {
        &self.mstamp_us
    }

    /// Returns the number of microseconds per jiffy.
    #[inline]
    pub(super) const fn us_per_jiffy(&self) -> u32 {
        self.us_per_jiffy
    }
}

/// The retransmission timer, its timeout, and its backoff.
#[derive(Clone, Copy, Debug)]
pub(super) struct XmitTimer {
    /// The purpose for which the timer is set. Linux: `icsk_pending`.
    pending: TimerPurpose,
    /// The jiffy at which the timer is due. Linux: `icsk_timeout`.
    timeout: u32,
    wheel: WheelTimer,
    /// The retransmission timeout in jiffies, backoff included. Linux: `icsk_rto`.
    rto: u32,
    /// Number of doublings of the timeout. Linux: `icsk_backoff`. This field and the next two have
    /// the kernel's width, but saturate, because this implementation never aborts a connection.
    backoff: u8,
    /// Number of timeouts, without those at a closed window, since an ACK last advanced `snd_una`
    /// or a timeout was undone. Linux: `icsk_retransmits`.
    retransmits: u8,
    /// Number of zero-window probes sent since the last ACK. Linux: `icsk_probes_out`.
    probes_out: u8,
}

impl XmitTimer {
    /// Creates a timer that is not set; the timeout is one second.
    pub(super) fn new(hz: u32) -> Self {
        Self {
            pending: TimerPurpose::None,
            timeout: 0,
            wheel: WheelTimer::default(),
            rto: hz,
            backoff: 0,
            retransmits: 0,
            probes_out: 0,
        }
    }

    /// Returns the purpose of the timer.
    #[inline]
    pub(super) const fn pending(&self) -> TimerPurpose {
        self.pending
    }

    /// Returns the jiffy at which the timer is due.
    pub(super) const fn timeout(&self) -> u32 {
        self.timeout
    }

    /// Clears the timer's purpose. The timer stays in the wheel and does nothing when it fires.
    /// Linux: `inet_csk_clear_xmit_timer`.
    pub(super) fn clear(&mut self) {
        self.pending = TimerPurpose::None;
    }

    /// Returns the retransmission timeout in jiffies.
    #[inline]
    pub(super) const fn rto(&self) -> u32 {
        self.rto
    }

    /// Sets the retransmission timeout to a value that does not come from an RTT sample; the
    /// backoff stays.
    pub(super) fn set_rto(&mut self, rto: u32) {
        self.rto = rto;
    }

    /// Sets the retransmission timeout to `rto` jiffies after an RTT sample, and ends the backoff.
    #[inline]
    pub(super) fn restart_rto(&mut self, rto: u32) {
        self.rto = rto;
        self.backoff = 0;
    }

    /// Doubles the timeout, up to `longest_s` seconds.
    pub(super) fn back_off(&mut self, hz: u32, longest_s: u32) {
        self.backoff = self.backoff.saturating_add(1);
        self.rto = crate::rtt::backed_off(self.rto, hz).min(longest_s * hz);
    }

    /// Returns the number of doublings of the timeout.
    pub(super) const fn backoff(&self) -> u8 {
        self.backoff
    }

    /// Counts a zero-window probe. Doubles the interval to the next probe, unless it was already
    /// doubled `most` times.
    pub(super) fn back_off_probes(&mut self, most: u32) {
        self.probes_out = self.probes_out.saturating_add(1);
        if u32::from(self.backoff) < most {
            self.backoff = self.backoff.saturating_add(1);
        }
    }

    /// Resets the number of doublings, because there was an RTT sample, a probe carried data, or
    /// the peer's window is open.
    pub(super) fn end_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Returns the number of zero-window probes since the last ACK.
    pub(super) const fn probes_out(&self) -> u8 {
        self.probes_out
    }

    /// Resets the count of probes: the peer has answered, or there is nothing to probe for.
    #[inline]
    pub(super) fn end_probes(&mut self) {
        self.probes_out = 0;
    }

    /// Counts a retransmission timeout that has expired.
    pub(super) fn note_timeout(&mut self) {
        self.retransmits = self.retransmits.saturating_add(1);
    }

    /// Resets the count of timeouts, because new data was acknowledged.
    #[inline]
    pub(super) fn note_progress(&mut self) {
        self.retransmits = 0;
    }

    /// Returns the number of timeouts; see the field `retransmits`.
    pub(super) const fn retransmits(&self) -> u8 {
        self.retransmits
    }

    /// Records that the timer is about to be set for a loss probe.
    #[inline]
    pub(super) fn expect_loss_probe(&mut self) {
        self.pending = TimerPurpose::LossProbe;
    }

    /// After this call, the next call that sets the timer chooses a wheel slot again, even if the
    /// timer is set for the same jiffy as before. See [`WheelTimer::forget_expiry`].
    #[inline]
    pub(super) fn forget_slot(&mut self, jiffies: u32) {
        self.wheel.forget_expiry(jiffies);
    }
}

impl Sender {
    /// Sets the sender's clock to `now`, which counts from the host's boot. Linux:
    /// `tcp_mstamp_refresh`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every event begins here")]
    pub(super) fn refresh_clock(&mut self, now: Time) {
        debug_assert!(now > Time::ZERO, "a stamp of 0 means: no stamp");
        self.conn.clock_ns = now.0;
        self.clock.mstamp_us = self.conn.tcp_mstamp();
        if now >= self.clock.next_tick {
            let ticks = self.clock.pass_ticks(now);
            self.conn.jiffies = self.conn.jiffies.wrapping_add(ticks);
        }
    }

    /// Converts microseconds to jiffies, rounded up. Linux: `usecs_to_jiffies`.
    #[inline]
    pub(super) fn us_to_jiffies(&self, us: u32) -> u32 {
        usecs_to_jiffies(us, self.conn.hz)
    }

    /// Sets the timer for `when` jiffies from now, at most [`RTO_MAX_S`] seconds ahead. Linux:
    /// `inet_csk_reset_xmit_timer`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "saves a call each time the timer is set")]
    pub(super) fn reset_timer(&mut self, what: TimerPurpose, when: u32, host: &mut impl Host) {
        if what == TimerPurpose::Retransmit && self.mechanisms.has_rfc6298_rto {
            self.set_exact_rto(when, host);
            return;
        }
        self.set_timer(what, when.min(RTO_MAX_S * self.conn.hz), host);
    }

    /// Sets the timer in the timer wheel for `when` jiffies from now. `when` must be at most
    /// [`RTO_MAX_S`] seconds.
    #[inline]
    pub(super) fn set_timer(&mut self, what: TimerPurpose, when: u32, host: &mut impl Host) {
        let jiffies = self.conn.jiffies;
        let timeout = jiffies.wrapping_add(when);
        self.timer.pending = what;
        self.timer.timeout = timeout;
        if !self.timer.wheel.keeps(timeout) {
            self.move_timer(timeout, host);
        }
    }

    /// Chooses a slot of the wheel for the jiffy `timeout`, and arms the host's timer if the slot
    /// changed. The wheel must not be set for `timeout` already.
    #[inline(never)]
    fn move_timer(&mut self, timeout: u32, host: &mut impl Host) {
        if let Some(slot) = self.timer.wheel.rearm(timeout, self.conn.jiffies) {
            host.arm(TimerId::Retransmit, self.time_of(slot));
        }
    }

    /// Sets the timer for a retransmission timeout that is computed by RFC 6298; `when` is this
    /// timeout in whole jiffies. The timer is not in the timer wheel. The timer fires exactly
    /// after the time that [`Self::exact_rto_ns`] returns, and this time need not be a whole number
    /// of jiffies.
    fn set_exact_rto(&mut self, when: u32, host: &mut impl Host) {
        self.timer.pending = TimerPurpose::Retransmit;
        self.timer.timeout = self.conn.jiffies.wrapping_add(when);
        self.timer.wheel.cancel();
        host.arm(TimerId::Retransmit, Time(self.conn.clock_ns + self.exact_rto_ns(when)));
    }

    /// Sets the timer for `when` jiffies after the time at which pacing allows the next packet.
    /// Linux: `tcp_reset_xmit_timer`.
    #[inline]
    pub(super) fn reset_timer_after_pacing(
        &mut self,
        what: TimerPurpose,
        when: u32,
        host: &mut impl Host,
    ) {
        let when = when.saturating_add(self.departure_delay());
        self.reset_timer(what, when, host);
    }

    /// Whether pacing delays the next packet by less than a jiffy, or not at all.
    #[inline]
    pub(super) fn is_departure_near(&self) -> bool {
        self.conn.wstamp_ns < self.conn.clock_ns + self.clock.tick_ns()
    }

    /// Returns how long pacing still delays the next packet, in whole jiffies. Linux:
    /// `tcp_pacing_delay`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only two call sites")]
    pub(super) fn departure_delay(&self) -> u32 {
        if self.is_departure_near() {
            return 0;
        }
        self.clock.whole_ticks(self.conn.wstamp_ns - self.conn.clock_ns)
    }

    /// Returns the time at which a future jiffy begins.
    fn time_of(&self, jiffies: u32) -> Time {
        let ahead = jiffies.wrapping_sub(self.conn.jiffies).wrapping_sub(1);
        Time(self.clock.next_tick.0 + u64::from(ahead) * self.clock.tick_ns())
    }

    /// Processes the retransmission timer when the time of its wheel slot has come. Linux:
    /// `tcp_write_timer_handler`.
    #[inline(never)]
    pub(super) fn on_retransmit_timer(&mut self, host: &mut impl Host) {
        self.timer.wheel.fired();
        if self.timer.pending == TimerPurpose::None {
            return;
        }
        let jiffies = self.conn.jiffies;
        let is_exact =
            self.timer.pending == TimerPurpose::Retransmit && self.mechanisms.has_rfc6298_rto;
        if !is_exact && self.timer.timeout.wrapping_sub(jiffies).cast_signed() > 0 {
            self.move_timer(self.timer.timeout, host);
            return;
        }
        self.check_app_limited_at_event();
        match self.timer.pending {
            TimerPurpose::None => {}
            TimerPurpose::Reordering => self.rack_reordering_timeout(host),
            TimerPurpose::LossProbe => self.send_loss_probe(host),
            TimerPurpose::Retransmit => {
                self.timer.pending = TimerPurpose::None;
                self.retransmit_timeout(host);
            }
            TimerPurpose::ZeroWindowProbe => {
                self.timer.pending = TimerPurpose::None;
                self.zero_window_probe_timeout(host);
            }
        }
    }

    /// Returns the number of microseconds until the first packet in flight times out; may be
    /// negative. If nothing is in flight, returns the whole timeout. Linux: `tcp_rto_delta_us`.
    pub(super) fn rto_delta_us(&self) -> i64 {
        match self.board.head_sent() {
            Some(head) => self.rto_delta_after_us(head.sent_us()),
            None => self.rto_us().cast_signed(),
        }
    }

    /// Returns the number of microseconds until a packet sent at `sent_us` times out; may be
    /// negative.
    #[inline]
    pub(super) fn rto_delta_after_us(&self, sent_us: u64) -> i64 {
        (sent_us + self.rto_us()).wrapping_sub(self.clock.mstamp_us()).cast_signed()
    }

    /// Returns the retransmission timeout in microseconds.
    #[inline]
    fn rto_us(&self) -> u64 {
        u64::from(self.timer.rto) * u64::from(self.clock.us_per_jiffy)
    }

    /// Restarts the retransmission timeout after progress or a probe; clears the timer if nothing
    /// is in flight. Linux: `tcp_rearm_rto`.
    pub(super) fn rearm_rto(&mut self, host: &mut impl Host) {
        if self.board.packets_out() == 0 {
            self.timer.clear();
            return;
        }
        self.restart_rto(host);
    }

    /// Restarts the retransmission timeout after an RTT sample, as [`Self::restart_rto`] does. May
    /// be called only in a sender that computes the timeout as Linux does. In the usual case,
    /// `restart_rto` is not called: the timer is set neither for RACK's reordering timeout nor for
    /// a loss probe, and pacing delays the next packet by less than a jiffy.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for most ACKs of a recovery")]
    pub(super) fn restart_exact_rto(&mut self, host: &mut impl Host) {
        let is_usual =
            !matches!(self.timer.pending, TimerPurpose::Reordering | TimerPurpose::LossProbe);
        if is_usual && self.is_departure_near() {
            debug_assert!(!self.mechanisms.has_rfc6298_rto);
            debug_assert!(
                self.timer.rto <= RTO_MAX_S * self.conn.hz,
                "an RTT sample sets an RTO of at most `RTO_MAX_S`"
            );
            self.set_timer(TimerPurpose::Retransmit, self.timer.rto, host);
        } else {
            self.restart_rto(host);
        }
    }

    /// Restarts the retransmission timeout, as [`Self::rearm_rto`] does. At least one packet must
    /// be in flight.
    #[inline(never)]
    fn restart_rto(&mut self, host: &mut impl Host) {
        let rto = match self.timer.pending {
            TimerPurpose::Reordering | TimerPurpose::LossProbe => self.rest_of_rto(),
            _ => self.timer.rto,
        };
        self.reset_timer_after_pacing(TimerPurpose::Retransmit, rto, host);
    }

    /// Returns the number of jiffies until the first packet in flight times out, rounded up; at
    /// least one.
    #[inline(never)]
    fn rest_of_rto(&self) -> u32 {
        let delta_us = u32::try_from(self.rto_delta_us().max(1)).unwrap_or(u32::MAX);
        self.us_to_jiffies(delta_us)
    }

    /// Sets the timer for a loss probe if a probe is allowed, otherwise for the retransmission
    /// timeout. Linux: `tcp_set_xmit_timer`.
    #[inline]
    pub(super) fn set_xmit_timer(&mut self, host: &mut impl Host) {
        if !self.schedule_loss_probe(host) {
            self.rearm_rto(host);
        }
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_cc::{Algorithm, Draw};
    use bbrlab_units::{NS_PER_S, Span, Time};

    use crate::{Host, Sender, SenderConfig, Tick, TimerId, Transmission};

    #[derive(Default)]
    struct Counter {
        sent: u32,
        armed: u32,
    }

    impl Draw for Counter {
        fn below(&mut self, _bound: u32) -> u32 {
            0
        }
    }

    impl Host for Counter {
        fn transmit(&mut self, what: Transmission<'_>) {
            what.for_each(|_| self.sent += 1);
        }
        fn arm(&mut self, _timer: TimerId, _at: Time) {
            self.armed += 1;
        }
        fn disarm(&mut self, _timer: TimerId) {}
    }

    /// A host may fire the timer before its wheel slot. A timer that fires early is set again, and
    /// acts only when its jiffy has come. Linux: `tcp_write_timer_handler`.
    #[test]
    fn a_timer_that_is_called_early_waits_for_its_jiffy() {
        let config =
            SenderConfig { tick: Tick::new(1000, 0, Span::ZERO), ..SenderConfig::default() };
        let reno = Algorithm::from_name("reno").expect("a known algorithm");
        let reno = reno.build(&Vec::new()).expect("the defaults are in range");
        let mut host = Counter::default();
        let mut sender = Sender::new(config, reno);
        sender.connect(Time(NS_PER_S), &mut host);
        assert_eq!(
            (host.sent, host.armed),
            (1, 1),
            "one SYN was sent, and its timeout of 1000 jiffies was set"
        );
        sender.on_timer(Time(NS_PER_S / 1000 * 1999), TimerId::Retransmit, &mut host);
        assert_eq!((host.sent, host.armed), (1, 2));
        sender.on_timer(Time(NS_PER_S * 2), TimerId::Retransmit, &mut host);
        assert_eq!((host.sent, host.armed), (2, 3));
    }
}
