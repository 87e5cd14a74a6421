//! Congestion controls as pure state machines.
//!
//! An algorithm has no access to a clock, socket or simulator. An algorithm reads a [`Conn`], a
//! [`RateSample`], an [`AckSample`] or a [`LostSkb`], and returns the fields that it writes as a
//! [`Control`]. The callbacks are those of Linux's `tcp_congestion_ops`, with values instead of
//! pointers. Because of this, the simulator, the replay of kernel traces, an ns-3 module, a C
//! interface and a notebook can all use one implementation.
//!
//! Sources: [linux] `include/net/tcp.h`, `struct tcp_congestion_ops`, and its callers.

mod algorithm;
pub mod bbr1;
pub mod bbr2;
pub mod bbr3;
pub mod bbr3_ietf;
pub mod bbr_bounded;
pub mod bic;
mod conn;
pub mod cubic;
pub mod dctcp;
pub mod fields;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
pub mod illinois;
pub mod linux_int;
#[cfg(test)]
mod no_draw;
mod params;
mod plugin;
pub mod prague;
pub mod reno;
mod runtime_params;
pub mod scalable;
pub mod vegas;
pub mod veno;
pub mod westwood;
pub mod windowed_filter;
#[cfg(test)]
mod xorshift;
pub mod yeah;

pub use algorithm::{Algorithm, Cc, Family, Marks, Window};
pub use conn::{
    AckSample, CaState, Conn, Control, CwndEvent, LostSkb, PacingStatus, RateSample, ack_flags,
    ecn_flags,
};
pub use cubic::Cubic;
pub(crate) use params::ParamTable;
pub use params::{ParamError, ParamSpec, ParamValue, Params};
pub use plugin::{Controls, Maker, Place, Plugged};
pub use reno::Reno;
pub use vegas::Vegas;
pub use windowed_filter::WindowedFilter;

/// The source of an algorithm's random integers. In a replay, the integers are those that the
/// kernel drew.
pub trait Draw {
    /// Returns a random integer in `0..bound`. Linux: `get_random_u32_below`.
    fn below(&mut self, bound: u32) -> u32;

    /// Returns a copy of this source for a custom algorithm ([`Plugged`]) to use until
    /// [`Self::take_back`]. The copy draws the numbers that this source would have drawn.
    ///
    /// # Panics
    /// Panics if this is not the source of a run: only runs have custom algorithms.
    fn lend(&mut self) -> Lent {
        unreachable!("only the source of a run is lent")
    }

    /// Continues from the state of the copy that [`Self::lend`] returned.
    fn take_back(&mut self, _lent: Lent) {}
}

/// A copy of a source of random integers, which a custom algorithm uses during a call.
///
/// The copy is a value, so a custom algorithm needs no pointer to the simulated host, the struct
/// that contains the sender. With such a pointer, the compiler would have to reload the struct's
/// fields after every call, even after calls of built-in algorithms.
#[derive(Clone, Debug)]
pub struct Lent {
    state: [u64; 4],
    below: fn(&mut [u64; 4], u32) -> u32,
}

impl Lent {
    /// Makes a source of random integers from its current state. `below` draws an integer below the
    /// bound that it gets, and advances the state.
    #[must_use]
    pub const fn new(state: [u64; 4], below: fn(&mut [u64; 4], u32) -> u32) -> Self {
        Self { state, below }
    }

    /// Returns the generator's state after the draws so far.
    #[must_use]
    pub const fn state(&self) -> [u64; 4] {
        self.state
    }
}

impl Draw for Lent {
    fn below(&mut self, bound: u32) -> u32 {
        (self.below)(&mut self.state, bound)
    }

    fn lend(&mut self) -> Lent {
        self.clone()
    }

    fn take_back(&mut self, lent: Lent) {
        *self = lent;
    }
}

/// The callbacks that an algorithm implements. In the kernel, these are the pointers in
/// `tcp_congestion_ops` that are not null.
///
/// The sender reads this struct once, when the connection is set up, and does not call callbacks
/// that are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one fact per callback, independent of each other"
)]
pub struct Hooks {
    /// `cong_control`, which replaces `cong_avoid` and PRR.
    pub cong_control: bool,
    /// `pkts_acked`.
    pub pkts_acked: bool,
    /// `in_ack_event`.
    pub in_ack_event: bool,
    /// `skb_marked_lost` (BBRv2 and v3).
    pub skb_marked_lost: bool,
    /// `tso_segs` (BBRv2 and v3), which sets the burst size.
    pub tso_segs: bool,
    /// `min_tso_segs` (BBRv1), which sets only a lower bound of the burst size.
    pub min_tso_segs: bool,
    /// `TCP_CONG_NEEDS_ECN`: the algorithm requests ECN itself and sets ECT on every packet (DCTCP
    /// and Prague).
    pub needs_ecn: bool,
    /// Whether the algorithm's kernel tree records `lost` and the packets in flight for each packet
    /// sent (BBRv2 and v3).
    pub notes_in_flight: bool,
}

/// Which events, beyond those of `tcp_congestion_ops`, a [`Plugged`] algorithm receives. Built-in
/// algorithms receive none of these events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// [`CongestionControl::note_owd`].
    pub owd: bool,
    /// [`CongestionControl::on_sent`].
    pub sent: bool,
    /// [`CongestionControl::on_timer`] and [`CongestionControl::timer_ns`].
    pub timer: bool,
}

impl Extras {
    /// Whether the algorithm receives any event that `tcp_congestion_ops` does not have.
    #[must_use]
    pub const fn is_any(self) -> bool {
        self.owd || self.sent || self.timer
    }
}

/// The values of an algorithm's state that time series and plots show. A value is `None` if the
/// algorithm does not have it, or if it is a bound that is not set. Linux: `get_info`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Info {
    /// The name of the algorithm's state in time series; `""` for algorithms without states.
    pub state: &'static str,
    /// Bandwidth estimate in payload bytes per second.
    pub bw: Option<u64>,
    /// The algorithm's own minimum RTT in microseconds.
    pub min_rtt_us: Option<u32>,
    /// Long-term bound on inflight in packets. Linux v2, v3: `inflight_hi`.
    pub inflight_hi: Option<u32>,
    /// Short-term bound on inflight in packets. Linux v2, v3: `inflight_lo`.
    pub inflight_lo: Option<u32>,
    /// Long-term bandwidth bound in bytes per second. Linux v2, v3: `bw_hi`.
    pub bw_hi: Option<u64>,
    /// Short-term bandwidth bound in bytes per second. Linux v2, v3: `bw_lo`.
    pub bw_lo: Option<u64>,
}

/// One congestion control: Linux's `tcp_congestion_ops` as a state machine.
///
/// Most methods receive the connection as it is before the call, and return the connection's
/// writable fields as they should be after the call. A method that changes no field returns
/// `conn.ctl`. A method that an algorithm does not implement behaves like the kernel with a null
/// callback.
pub trait CongestionControl {
    /// Returns the callbacks that the algorithm has.
    fn hooks(&self) -> Hooks;

    /// Called when the connection is established. The kernel zeroes the private state before this
    /// call.
    fn init(&mut self, conn: &Conn, draw: &mut impl Draw) -> Control;

    /// Called for an event other than the arrival of an ACK.
    fn cwnd_event(&mut self, conn: &Conn, _event: CwndEvent, _draw: &mut impl Draw) -> Control {
        conn.ctl
    }

    /// Called before the loss-recovery state becomes `new`; `conn.ca_state` still holds the old
    /// state.
    fn set_state(&mut self, conn: &Conn, _new: CaState, _draw: &mut impl Draw) -> Control {
        conn.ctl
    }

    /// Called after a packet was marked lost; `conn.lost` already includes this packet.
    fn skb_marked_lost(&mut self, conn: &Conn, _skb: &LostSkb, _draw: &mut impl Draw) -> Control {
        conn.ctl
    }

    /// Returns the slow start threshold for a new loss episode, in packets; the caller stores it.
    fn ssthresh(&mut self, conn: &Conn) -> u32;

    /// Returns the cwnd to restore after a spurious loss episode, in packets; the caller stores it.
    fn undo_cwnd(&mut self, conn: &Conn) -> u32;

    /// Called for an ACK, if the algorithm has [`Hooks::cong_control`].
    fn cong_control(&mut self, conn: &Conn, _rs: &RateSample, _draw: &mut impl Draw) -> Control {
        conn.ctl
    }

    /// Called for an ACK that may raise cwnd. All data up to `ack` is acknowledged cumulatively.
    /// `acked` is the number of packets newly acknowledged, cumulatively or by SACK.
    fn cong_avoid(&mut self, conn: &Conn, _ack: u32, _acked: u32) -> Control {
        conn.ctl
    }

    /// Called when an ACK shows that packets have left the network. Returns the slow start
    /// threshold in packets, the only field that an algorithm may change here; the caller stores
    /// it.
    fn pkts_acked(&mut self, conn: &Conn, _sample: &AckSample) -> u32 {
        conn.ctl.ssthresh
    }

    /// Called when an ACK arrives. `flags` is a combination of the bits in [`ack_flags`].
    fn in_ack_event(&mut self, conn: &Conn, _flags: u32) -> Control {
        conn.ctl
    }

    /// Returns the size of the next burst in segments of `mss_now` bytes. The sender calls this
    /// function only for algorithms with [`Hooks::tso_segs`].
    fn tso_segs(&self, _conn: &Conn, _mss_now: u32) -> u32 {
        0
    }

    /// Returns the smallest burst in segments. The sender calls this function only for algorithms
    /// with [`Hooks::min_tso_segs`]. The default, 2, is also the default of the sysctl
    /// `tcp_min_tso_segs`.
    fn min_tso_segs(&self, _conn: &Conn) -> u32 {
        2
    }

    /// Returns the events that the algorithm receives and the kernel does not have. The sender
    /// calls this function only for [`Plugged`] algorithms.
    fn extras(&self) -> Extras {
        Extras::default()
    }

    /// Called for algorithms with [`Extras::owd`], before the other events of an ACK with
    /// timestamps. The ACK echoes the timestamp of a segment. `owd_us` is the time from the
    /// transmission of this segment to the transmission of the ACK, in microseconds and in steps of
    /// 1000. Linux: `tcp_lp_owd_calculator`.
    fn note_owd(&mut self, _owd_us: u32) {}

    /// Called for algorithms with [`Extras::sent`], at the end of an event in which `sent` data
    /// packets were sent. `retransmitted` is the number of retransmissions among them.
    fn on_sent(
        &mut self,
        conn: &Conn,
        _sent: u32,
        _retransmitted: u32,
        _draw: &mut impl Draw,
    ) -> Control {
        conn.ctl
    }

    /// Called for algorithms with [`Extras::timer`], when the timer that [`Self::timer_ns`] has set
    /// fires. If the returned [`Control`] differs from `conn.ctl`, the sender then sends what the
    /// new values allow.
    fn on_timer(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        conn.ctl
    }

    /// Returns when [`Self::on_timer`] is to be called, on the clock of [`Conn::clock_ns`]; `None`
    /// for never. For algorithms with [`Extras::timer`], the sender calls this function after each
    /// event that it has processed. If the returned time is not later than the event, no timer is
    /// armed. Otherwise the timer fires at this time, but at least one microsecond after the event.
    fn timer_ns(&self) -> Option<u64> {
        None
    }

    /// Returns the size of the send buffer as a multiple of cwnd.
    fn sndbuf_expand(&self, _conn: &Conn) -> u32 {
        2
    }

    /// Returns the bandwidth estimate that the kernel reports to tools such as `ss`, in bytes per
    /// second.
    fn bw(&self, _conn: &Conn) -> u64 {
        0
    }

    /// Returns the values that time series and plots show.
    fn info(&self, _conn: &Conn) -> Info {
        Info::default()
    }

    /// Calls `field` with each field of the private state, under the kernel's names (without the
    /// prefix `s_` of traces).
    fn snapshot(&self, _field: &mut dyn FnMut(&'static str, i64)) {}
}
