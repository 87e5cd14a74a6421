//! Custom congestion controls, which are not in the list of [`Algorithm`](crate::Algorithm).
//!
//! Any [`CongestionControl`] can be put into a [`Plugged`], which is one variant of
//! [`Cc`](crate::Cc). Only calls to this variant go through a table of functions, so built-in
//! algorithms are not slowed down. A [`Maker`] makes an instance for each connection, and a
//! [`Controls`] holds the makers of a run by their names.

use std::fmt;
use std::sync::Arc;

use crate::{
    AckSample, CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Extras, Hooks, Info,
    Lent, LostSkb, Params, RateSample,
};

/// [`CongestionControl`] without generics, so that a `Box` can hold any implementation.
trait Erased: fmt::Debug + Send {
    fn boxed_clone(&self) -> Box<dyn Erased>;
    fn hooks(&self) -> Hooks;
    fn init(&mut self, conn: &Conn, draw: &mut Lent) -> Control;
    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, draw: &mut Lent) -> Control;
    fn set_state(&mut self, conn: &Conn, new: CaState, draw: &mut Lent) -> Control;
    fn skb_marked_lost(&mut self, conn: &Conn, skb: &LostSkb, draw: &mut Lent) -> Control;
    fn ssthresh(&mut self, conn: &Conn) -> u32;
    fn undo_cwnd(&mut self, conn: &Conn) -> u32;
    fn cong_control(&mut self, conn: &Conn, rs: &RateSample, draw: &mut Lent) -> Control;
    fn cong_avoid(&mut self, conn: &Conn, ack: u32, acked: u32) -> Control;
    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32;
    fn in_ack_event(&mut self, conn: &Conn, flags: u32) -> Control;
    fn extras(&self) -> Extras;
    fn note_owd(&mut self, owd_us: u32);
    fn on_sent(&mut self, conn: &Conn, sent: u32, again: u32, draw: &mut Lent) -> Control;
    fn on_timer(&mut self, conn: &Conn, draw: &mut Lent) -> Control;
    fn timer_ns(&self) -> Option<u64>;
    fn tso_segs(&self, conn: &Conn, mss_now: u32) -> u32;
    fn min_tso_segs(&self, conn: &Conn) -> u32;
    fn sndbuf_expand(&self, conn: &Conn) -> u32;
    fn bw(&self, conn: &Conn) -> u64;
    fn info(&self, conn: &Conn) -> Info;
    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64));
}

impl<C: CongestionControl + Clone + fmt::Debug + Send + 'static> Erased for C {
    fn boxed_clone(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn hooks(&self) -> Hooks {
        CongestionControl::hooks(self)
    }

    fn init(&mut self, conn: &Conn, draw: &mut Lent) -> Control {
        CongestionControl::init(self, conn, draw)
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, draw: &mut Lent) -> Control {
        CongestionControl::cwnd_event(self, conn, event, draw)
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, draw: &mut Lent) -> Control {
        CongestionControl::set_state(self, conn, new, draw)
    }

    fn skb_marked_lost(&mut self, conn: &Conn, skb: &LostSkb, draw: &mut Lent) -> Control {
        CongestionControl::skb_marked_lost(self, conn, skb, draw)
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        CongestionControl::ssthresh(self, conn)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        CongestionControl::undo_cwnd(self, conn)
    }

    fn cong_control(&mut self, conn: &Conn, rs: &RateSample, draw: &mut Lent) -> Control {
        CongestionControl::cong_control(self, conn, rs, draw)
    }

    fn cong_avoid(&mut self, conn: &Conn, ack: u32, acked: u32) -> Control {
        CongestionControl::cong_avoid(self, conn, ack, acked)
    }

    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        CongestionControl::pkts_acked(self, conn, sample)
    }

    fn in_ack_event(&mut self, conn: &Conn, flags: u32) -> Control {
        CongestionControl::in_ack_event(self, conn, flags)
    }

    fn extras(&self) -> Extras {
        CongestionControl::extras(self)
    }

    fn note_owd(&mut self, owd_us: u32) {
        CongestionControl::note_owd(self, owd_us);
    }

    fn on_sent(&mut self, conn: &Conn, sent: u32, again: u32, draw: &mut Lent) -> Control {
        CongestionControl::on_sent(self, conn, sent, again, draw)
    }

    fn on_timer(&mut self, conn: &Conn, draw: &mut Lent) -> Control {
        CongestionControl::on_timer(self, conn, draw)
    }

    fn timer_ns(&self) -> Option<u64> {
        CongestionControl::timer_ns(self)
    }

    fn tso_segs(&self, conn: &Conn, mss_now: u32) -> u32 {
        CongestionControl::tso_segs(self, conn, mss_now)
    }

    fn min_tso_segs(&self, conn: &Conn) -> u32 {
        CongestionControl::min_tso_segs(self, conn)
    }

    fn sndbuf_expand(&self, conn: &Conn) -> u32 {
        CongestionControl::sndbuf_expand(self, conn)
    }

    fn bw(&self, conn: &Conn) -> u64 {
        CongestionControl::bw(self, conn)
    }

    fn info(&self, conn: &Conn) -> Info {
        CongestionControl::info(self, conn)
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        CongestionControl::snapshot(self, field);
    }
}

/// An instance of a custom congestion control.
#[derive(Debug)]
pub struct Plugged {
    of: Box<dyn Erased>,
    told: Told,
}

/// The last values that were reported to an instance in the events of [`Extras`].
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    /// Number of packets sent so far.
    sent: u64,
    /// Number of retransmissions sent so far.
    retransmitted: u64,
    /// The newest timestamp of the peer.
    tsval: Option<u32>,
    /// The deadline of the timer in nanoseconds, on the clock of [`Conn::clock_ns`]; `None` if the
    /// timer is not armed.
    timer_ns: Option<u64>,
}

/// Shortest time in nanoseconds from an event to the firing of a timer that the algorithm requested
/// after this event.
const TIMER_MIN_NS: u64 = 1000;

impl Plugged {
    /// Wraps any congestion control.
    pub fn new(cc: impl CongestionControl + Clone + fmt::Debug + Send + 'static) -> Self {
        Self { of: Box::new(cc), told: Told::default() }
    }

    /// Reports the one-way delay of an ACK. `tsval` is the peer's timestamp in the ACK, and `tsecr`
    /// is our timestamp that the ACK echoes, both in milliseconds. Ignores an ACK if an earlier
    /// call had a newer `tsval`.
    pub fn take_timestamps(&mut self, tsval: u32, tsecr: u32) {
        let is_newest = |last: u32| tsval.wrapping_sub(last).cast_signed() >= 0;
        if self.of.extras().owd && self.told.tsval.is_none_or(is_newest) {
            self.told.tsval = Some(tsval);
            let owd_ms = u32::try_from(tsval.wrapping_sub(tsecr).cast_signed()).unwrap_or(0);
            self.of.note_owd(owd_ms.saturating_mul(1000));
        }
    }

    /// Reports the packets sent since the last call. `sent` and `retransmitted` are totals since
    /// the connection was opened. Returns `None` if no packet was sent since the last call, or if
    /// the algorithm does not receive reports of sent packets.
    pub fn report_sent(
        &mut self,
        conn: &Conn,
        sent: u64,
        retransmitted: u64,
        draw: &mut impl Draw,
    ) -> Option<Control> {
        if sent == self.told.sent || !self.of.extras().sent {
            return None;
        }
        let since = |now: u64, then| u32::try_from(now - then).unwrap_or(u32::MAX);
        let new = since(sent, self.told.sent);
        let again = since(retransmitted, self.told.retransmitted);
        self.told = Told { sent, retransmitted, ..self.told };
        Some(lending(draw, |draw| self.of.on_sent(conn, new, again, draw)))
    }

    /// Reports that the timer has fired.
    pub fn report_timer(&mut self, conn: &Conn, draw: &mut impl Draw) -> Control {
        self.told.timer_ns = None;
        lending(draw, |draw| self.of.on_timer(conn, draw))
    }

    /// Returns the change of the timer after an event at `now_ns`. `Some(Some(at))`: the timer must
    /// be armed for `at`. `Some(None)`: the timer must be disarmed. `None`: no change. Times are on
    /// the clock of [`Conn::clock_ns`].
    pub fn timer_change(&mut self, now_ns: u64) -> Option<Option<u64>> {
        let wanted = self.of.extras().timer.then(|| self.of.timer_ns()).flatten();
        if wanted == self.told.timer_ns {
            return None;
        }
        let due = wanted.filter(|&at| at > now_ns);
        let was_armed = self.told.timer_ns.take().is_some();
        self.told.timer_ns = due;
        (was_armed || due.is_some()).then_some(due.map(|at| at.max(now_ns + TIMER_MIN_NS)))
    }
}

impl Clone for Plugged {
    fn clone(&self) -> Self {
        Self { of: self.of.boxed_clone(), told: self.told }
    }
}

/// Calls a custom algorithm and lends it `draw`, the source of random numbers, for the duration of
/// the call.
fn lending(draw: &mut impl Draw, call: impl FnOnce(&mut Lent) -> Control) -> Control {
    let mut lent = draw.lend();
    let ctl = call(&mut lent);
    draw.take_back(lent);
    ctl
}

impl CongestionControl for Plugged {
    fn hooks(&self) -> Hooks {
        self.of.hooks()
    }

    fn init(&mut self, conn: &Conn, draw: &mut impl Draw) -> Control {
        lending(draw, |draw| self.of.init(conn, draw))
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, draw: &mut impl Draw) -> Control {
        lending(draw, |draw| self.of.cwnd_event(conn, event, draw))
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, draw: &mut impl Draw) -> Control {
        lending(draw, |draw| self.of.set_state(conn, new, draw))
    }

    fn skb_marked_lost(&mut self, conn: &Conn, skb: &LostSkb, draw: &mut impl Draw) -> Control {
        lending(draw, |draw| self.of.skb_marked_lost(conn, skb, draw))
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        self.of.ssthresh(conn)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        self.of.undo_cwnd(conn)
    }

    fn cong_control(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) -> Control {
        lending(draw, |draw| self.of.cong_control(conn, rs, draw))
    }

    fn cong_avoid(&mut self, conn: &Conn, ack: u32, acked: u32) -> Control {
        self.of.cong_avoid(conn, ack, acked)
    }

    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        self.of.pkts_acked(conn, sample)
    }

    fn in_ack_event(&mut self, conn: &Conn, flags: u32) -> Control {
        self.of.in_ack_event(conn, flags)
    }

    fn extras(&self) -> Extras {
        self.of.extras()
    }

    fn tso_segs(&self, conn: &Conn, mss_now: u32) -> u32 {
        self.of.tso_segs(conn, mss_now)
    }

    fn min_tso_segs(&self, conn: &Conn) -> u32 {
        self.of.min_tso_segs(conn)
    }

    fn sndbuf_expand(&self, conn: &Conn) -> u32 {
        self.of.sndbuf_expand(conn)
    }

    fn bw(&self, conn: &Conn) -> u64 {
        self.of.bw(conn)
    }

    fn info(&self, conn: &Conn) -> Info {
        self.of.info(conn)
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        self.of.snapshot(field);
    }
}

/// The connection for which an instance is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the connection's flow.
    pub flow: u32,
    /// The value of [`Conn::clock_ns`] when the run begins.
    pub epoch_ns: u64,
}

/// Makes the instances of a custom congestion control, one for each connection.
pub trait Maker: fmt::Debug + Send + Sync {
    /// Returns the callbacks that the instances implement.
    fn hooks(&self) -> Hooks;

    /// Makes an instance. On failure, [`Self::has_failed`] returns true, and the instance returned
    /// must still answer every call without a panic.
    fn make(&self, params: &Params, place: Place) -> Plugged;

    /// Whether the instances are native code. If so, several threads may use instances at once
    /// (each instance in one thread at a time). The scenario contains a hash of the congestion
    /// control (`sha256`), and for native code, this hash identifies the behaviour of the
    /// instances. A sweep runs native instances in parallel, and does not repeat complete runs.
    fn is_native(&self) -> bool {
        false
    }

    /// Whether an instance could not be made, or a call of an instance has failed. After such a
    /// failure, the run continues for a short time with the values that the instances return,
    /// before it is aborted. [`Self::failure`] returns the reason of the failure.
    fn has_failed(&self) -> bool {
        false
    }

    /// Returns the text of the failure, with the flow, the event and its time; `None` if the
    /// implementation of this trait reports the failure by other means.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// The custom congestion controls that runs may use, by name.
#[derive(Clone, Debug, Default)]
pub struct Controls(Vec<(String, Arc<dyn Maker>)>);

impl Controls {
    /// Returns an empty table.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Returns a table of the congestion controls in `named`.
    #[must_use]
    pub fn of(named: Vec<(String, Arc<dyn Maker>)>) -> Self {
        Self(named)
    }

    /// Whether the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the maker of the congestion control called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Maker>> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, maker)| maker)
    }

    /// Returns the text of the failure if a congestion control has failed; if several have failed,
    /// the text of the first in the table.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        let (name, maker) = self.0.iter().find(|(_, maker)| maker.has_failed())?;
        let of_name = || format!("the custom congestion control `{name}` has failed");
        Some(maker.failure().unwrap_or_else(of_name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An algorithm that stores the one-way delays it receives.
    #[derive(Clone, Debug)]
    struct Delays {
        is_told: bool,
        told: std::sync::Arc<std::sync::Mutex<Vec<u32>>>,
    }

    impl CongestionControl for Delays {
        fn hooks(&self) -> Hooks {
            Hooks::default()
        }

        fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
            conn.ctl
        }

        fn ssthresh(&mut self, _conn: &Conn) -> u32 {
            2
        }

        fn undo_cwnd(&mut self, _conn: &Conn) -> u32 {
            2
        }

        fn extras(&self) -> Extras {
            Extras { owd: self.is_told, ..Extras::default() }
        }

        fn note_owd(&mut self, owd_us: u32) {
            self.told.lock().unwrap().push(owd_us);
        }
    }

    #[test]
    fn a_one_way_delay_is_a_difference_of_wrapping_milliseconds_without_reordered_acks() {
        for is_told in [true, false] {
            let delays = Delays { is_told, told: std::sync::Arc::default() };
            let mut plugged = Plugged::new(delays.clone());
            for (tsval, tsecr) in [
                (u32::MAX - 4, u32::MAX - 24),
                (u32::MAX, u32::MAX - 30),
                (5, u32::MAX - 14),
                // This timestamp is older than the newest one, so the call is ignored.
                (3, 0),
                (5, 5),
                // The receiver's clock is behind the sender's, so the delay counts as 0.
                (6, 16),
                (7, 7_u32.wrapping_sub(2_000_000_000)),
            ] {
                plugged.take_timestamps(tsval, tsecr);
            }
            let wanted = [20_000, 30_000, 20_000, 0, 0, u32::MAX];
            assert_eq!(*delays.told.lock().unwrap(), if is_told { &wanted[..] } else { &[] });
        }
    }
}
