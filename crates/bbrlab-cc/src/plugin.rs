//! Custom congestion controls, which are not in the list of [`Algorithm`](crate::Algorithm).
//!
//! Any [`CongestionControl`] can be put into a [`Plugged`], which is one variant of
//! [`Cc`](crate::Cc). Only calls to this variant go through a table of functions, so built-in
//! algorithms are not slowed down. A [`Maker`] makes an instance for each connection, and a
//! [`Controls`] holds the makers of a run by their names.

use std::fmt;
use std::sync::Arc;

use crate::{
    AckSample, CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks, Info, Lent,
    LostSkb, Params, RateSample,
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
pub struct Plugged(Box<dyn Erased>);

impl Plugged {
    /// Wraps any congestion control.
    pub fn new(cc: impl CongestionControl + Clone + fmt::Debug + Send + 'static) -> Self {
        Self(Box::new(cc))
    }
}

impl Clone for Plugged {
    fn clone(&self) -> Self {
        Self(self.0.boxed_clone())
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
        self.0.hooks()
    }

    fn init(&mut self, conn: &Conn, draw: &mut impl Draw) -> Control {
        lending(draw, |draw| self.0.init(conn, draw))
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, draw: &mut impl Draw) -> Control {
        lending(draw, |draw| self.0.cwnd_event(conn, event, draw))
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, draw: &mut impl Draw) -> Control {
        lending(draw, |draw| self.0.set_state(conn, new, draw))
    }

    fn skb_marked_lost(&mut self, conn: &Conn, skb: &LostSkb, draw: &mut impl Draw) -> Control {
        lending(draw, |draw| self.0.skb_marked_lost(conn, skb, draw))
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        self.0.ssthresh(conn)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        self.0.undo_cwnd(conn)
    }

    fn cong_control(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) -> Control {
        lending(draw, |draw| self.0.cong_control(conn, rs, draw))
    }

    fn cong_avoid(&mut self, conn: &Conn, ack: u32, acked: u32) -> Control {
        self.0.cong_avoid(conn, ack, acked)
    }

    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        self.0.pkts_acked(conn, sample)
    }

    fn in_ack_event(&mut self, conn: &Conn, flags: u32) -> Control {
        self.0.in_ack_event(conn, flags)
    }

    fn tso_segs(&self, conn: &Conn, mss_now: u32) -> u32 {
        self.0.tso_segs(conn, mss_now)
    }

    fn min_tso_segs(&self, conn: &Conn) -> u32 {
        self.0.min_tso_segs(conn)
    }

    fn sndbuf_expand(&self, conn: &Conn) -> u32 {
        self.0.sndbuf_expand(conn)
    }

    fn bw(&self, conn: &Conn) -> u64 {
        self.0.bw(conn)
    }

    fn info(&self, conn: &Conn) -> Info {
        self.0.info(conn)
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        self.0.snapshot(field);
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

    /// Makes an instance. If that fails, [`Self::has_failed`] returns true, and the instance
    /// returned must still answer every call without a panic.
    fn make(&self, params: &Params, place: Place) -> Plugged;

    /// Whether instances may be used in several threads at once, each by one thread at a time, and
    /// the hash in the scenario identifies their behaviour. If so, a sweep runs them in parallel
    /// and keeps complete runs.
    fn is_native(&self) -> bool {
        false
    }

    /// Whether an instance could not be made, or a call of an instance has failed. The run then
    /// continues for a short time with the values that the instances return, before it is aborted.
    /// The maker stores the reason of the failure.
    fn has_failed(&self) -> bool {
        false
    }

    /// Returns the text of the failure, with the flow, the event and its time; `None` if the
    /// maker's program reports it by other means.
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

    /// Returns a table of these congestion controls.
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

    /// Returns the failure of the first congestion control that has failed, if any.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        let (name, maker) = self.0.iter().find(|(_, maker)| maker.has_failed())?;
        let of_name = || format!("the custom congestion control `{name}` has failed");
        Some(maker.failure().unwrap_or_else(of_name))
    }
}
