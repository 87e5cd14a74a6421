//! `prague`: TCP Prague, the scalable congestion control of L4S.
//!
//! ```text
//! each RTT or 25 ms: alpha = 15/16 alpha + 1/16 (share of packets with a mark)
//! on a mark: w -= alpha / 2 w, once per RTT or 25 ms; on a loss: w / 2
//! each packet without a mark: w += (RTT / 25 ms)^2 / w below an RTT of 25 ms, 1 / w above
//! pacing at w per RTT, twice that in early slow start; bursts of at most 1/4096 s
//! ```
//!
//! The window w has a fractional part of 20 bits. At each ACK, cwnd moves by at most one packet
//! towards the value of w rounded up to whole packets.
//!
//! If cwnd is at most four packets and a mark has been seen, Prague adapts a rate instead of w. The
//! rate follows the same rules as w, but an RTT below 25 ms counts as 25 ms. While Prague adapts a
//! rate, the pacing rate is 3 % above the adapted rate for half an RTT after each update of alpha
//! (with an RTT below 25 ms: for 12.5 ms). From then until the next update, the pacing rate is 3 %
//! below the adapted rate.
//!
//! Sources: [linux-prague] `net/ipv4/tcp_prague.c`, version 0.7; [rfc9331].
//! Deviations:
//! 1. Marks are counted by DCTCP's echo: ECE on every ACK of marked packets, and an immediate ACK
//!    when the marking changes. The kernel uses Accurate ECN, which counts marks correctly even if
//!    ACKs are lost, and needs no immediate ACKs. SYNs are not ECN-capable.
//! 2. Below about 1 Mbit/s the kernel sends smaller packets. In bbrlab, packets keep their size.
//! 3. Without ECN, the kernel's Prague changes to Reno with PRR. In bbrlab, Reno reduces cwnd at
//!    once.
//! 4. The product `alpha * w`, by which a mark reduces the window w, has 128 bits. In the kernel,
//!    this product overflows if w is above 2^20 packets.

use std::cmp::Ordering;

use crate::linux_int::{before, stamp_us_delta};
use crate::params::ParamTable;
use crate::reno;
use crate::{
    CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks, Info, PacingStatus,
    ParamError, ParamSpec, Params, RateSample, ecn_flags,
};

/// The parameters of Prague that a scenario can set.
pub const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "prague_burst_shift",
        default: "12",
        summary: "longest burst: the data of 2^-n seconds, where n is this number",
    },
    ParamSpec {
        name: "prague_max_tso_segs",
        default: "0",
        summary: "longest burst in segments; 0 for no such limit",
    },
    ParamSpec {
        name: "prague_rtt_transition",
        default: "4",
        summary: "rounds after slow start until the RTT no longer matters",
    },
    ParamSpec {
        name: "prague_rtt_target",
        default: "25000",
        summary: "flows with an RTT below this many microseconds behave as if they had this RTT",
    },
    ParamSpec {
        name: "prague_alpha_mode",
        default: "0",
        summary: "0: the first mark halves the window, and alpha begins with 0; 1: alpha begins with 1",
    },
    ParamSpec {
        name: "prague_cwnd_mode",
        default: "2",
        summary: "what limits sending: a window (0), a rate (1), or a rate while cwnd is small and a window otherwise (2)",
    },
    ParamSpec {
        name: "prague_cwnd_transit",
        default: "4",
        summary: "largest cwnd, in packets of 1,500 bytes, that counts as small",
    },
];

/// Smallest cwnd in packets. Linux: `MIN_CWND_RTT`.
const MIN_CWND: u32 = 2;
/// Lowest pacing rate in bytes per second. Linux: `MINIMUM_RATE`.
const MINIMUM_RATE: u64 = 12_500;
const ALPHA_BITS: u32 = 24;
/// The value of alpha that means 1. Linux: `PRAGUE_MAX_ALPHA`.
const ALPHA_MAX: u64 = 1 << ALPHA_BITS;
/// The number of fraction bits of `frac_cwnd`, the window w.
const CWND_UNIT: u32 = 20;
/// A window of one packet. Linux: `ONE_CWND`.
const ONE_CWND: u64 = 1 << CWND_UNIT;
/// The gain of alpha is 2 to the power of minus this number. Linux: `PRAGUE_SHIFT_G`.
const SHIFT_G: u32 = 4;
/// RTT in microseconds above which the increase of the window is not scaled. Linux:
/// `MAX_SCALED_RTT`.
const MAX_SCALED_RTT: u32 = 100_000;
/// The window grows as if every packet had this many bytes. Linux: `MTU_SYS`.
const MTU_SYS: u64 = 1500;
/// The pacing rate varies by the share `RATE_OFFSET / 2^OFFSET_UNIT` of the rate: 4/128, about 3 %.
/// Linux: `RATE_OFFSET`, `OFFSET_UNIT`.
const RATE_OFFSET: u64 = 4;
const OFFSET_UNIT: u32 = 7;
/// The number of fraction bits that `hsrtt_us`, the slow average of the RTT, has in addition to
/// those of `srtt_us`. Linux: `HSRTT_SHIFT`.
const HSRTT_SHIFT: u32 = 7;
/// The base-2 logarithm of [`SECOND`], rounded. Linux:
/// `RTT2SEC_SHIFT`.
const RTT2SEC_SHIFT: u32 = 23;
/// Bytes of the IP and TCP headers, with timestamps. Linux: `tcp_mss_to_mtu`.
const HEADERS: u32 = 52;
/// Number of units of `srtt_us` in a second.
const SECOND: u64 = 1_000_000 << 3;

/// The parameters of the kernel module; [`PARAMS`] describes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Settings {
    burst_shift: u32,
    max_tso_segs: u32,
    rtt_transition: u32,
    rtt_target: u32,
    alpha_mode: u32,
    cwnd_mode: u32,
    cwnd_transit: u32,
}

/// TCP Prague. Linux: `struct prague`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the kernel's flags, independent of each other")]
pub struct Prague {
    settings: Settings,
    /// Whether ECN was not negotiated. Linux: `prague_reno`.
    is_reno: bool,
    /// The time in microseconds at which marks last reduced the window or the rate.
    cwr_stamp: u64,
    /// The time of the last update of alpha, in microseconds.
    alpha_stamp: u64,
    /// The average share of marked packets, `<< 28`.
    upscaled_alpha: u64,
    /// The growth of the window per window of packets without a CE mark, in packets `<< 20`.
    ai_ack_increase: u64,
    /// A slow average of the smoothed RTT, in microseconds `<< 10`.
    hsrtt_us: u64,
    /// The window w in packets `<< 20`.
    frac_cwnd: u64,
    /// The rate in bytes per second, which replaces the window while cwnd is small.
    rate_bytes: u64,
    /// The rate before the last loss, in bytes per second.
    loss_rate_bytes: u64,
    /// cwnd before the last loss, in packets.
    loss_cwnd: u32,
    /// Number of segments in the longest burst.
    max_tso_burst: u32,
    /// The connection's `delivered` at the start of the round. A round is a round trip or, if the
    /// flow is independent of its RTT, lasts at least the target RTT.
    old_delivered: u32,
    /// The connection's `delivered_ce` at the start of the round.
    old_delivered_ce: u32,
    /// The connection's `delivered_ce` at the previous ACK.
    prior_delivered_ce: u32,
    /// The round cannot end before this sequence number is acknowledged.
    next_seq: u32,
    /// Number of rounds since slow start.
    round: u32,
    /// Whether a CE mark has ever been echoed to this sender.
    saw_ce: bool,
    /// Whether the rate, and not the window, determines how much is sent. Exception: while
    /// `is_rtt_independent` returns false, the window determines how much is sent, even if this
    /// field is true. Linux: `cwnd_mode`.
    is_by_rate: bool,
    /// Whether cwnd is currently reduced because of a loss.
    in_loss: bool,
}

/// Returns `value * factor >> shift`. Linux: `mul_u64_u64_shr`.
fn mul_shr(value: u64, factor: u64, shift: u32) -> u64 {
    u64::try_from((u128::from(value) * u128::from(factor)) >> shift).unwrap_or(u64::MAX)
}

/// Returns `value / divisor`, rounded to the nearest integer. Linux: `DIV64_U64_ROUND_CLOSEST`.
fn div_closest(value: u64, divisor: u64) -> u64 {
    (value + divisor / 2) / divisor
}

/// Returns the bytes of a full packet without framing. Linux: `tcp_mss_to_mtu`.
fn mtu(conn: &Conn) -> u64 {
    u64::from(conn.mss + HEADERS)
}

impl Prague {
    /// Makes an instance with the parameters `params`. All other state is zero until `init` is
    /// called.
    ///
    /// # Errors
    /// Fails if a parameter has the wrong type or is out of range.
    pub fn new(params: &Params) -> Result<Self, ParamError> {
        let params = ParamTable::new(PARAMS, params);
        let settings = Settings {
            burst_shift: params.integer("prague_burst_shift", 0..=31)?,
            max_tso_segs: params.integer("prague_max_tso_segs", 0..=65_535)?,
            rtt_transition: params.integer("prague_rtt_transition", 0..=1_000_000)?,
            rtt_target: params.integer("prague_rtt_target", 1..=1_000_000)?,
            alpha_mode: params.integer("prague_alpha_mode", 0..=1)?,
            cwnd_mode: params.integer("prague_cwnd_mode", 0..=2)?,
            cwnd_transit: params.integer("prague_cwnd_transit", 0..=1_000_000)?,
        };
        Ok(Self { settings, ..Self::default() })
    }

    /// Whether the flow behaves as if its RTT were at least the target RTT. This begins
    /// `rtt_transition` round trips after slow start. Linux: `prague_is_rtt_indep`.
    fn is_rtt_independent(&self, ctl: &Control) -> bool {
        ctl.cwnd >= ctl.ssthresh && self.round >= self.settings.rtt_transition
    }

    /// Whether the rate, and not the window, determines how much is sent.
    fn is_rate_based(&self, ctl: &Control) -> bool {
        self.is_by_rate && self.is_rtt_independent(ctl)
    }

    /// Returns the target RTT in microseconds `<< 3`. Linux: `prague_target_rtt`.
    fn target_rtt(&self) -> u64 {
        u64::from(self.settings.rtt_target) << 3
    }

    /// Returns the larger of the RTT and the target RTT, in microseconds `<< 3`. A flow that is
    /// independent of its RTT behaves as if its RTT were this value. Linux: `prague_virtual_rtt`.
    fn virtual_rtt(&self, conn: &Conn) -> u64 {
        self.target_rtt().max(u64::from(conn.srtt_us))
    }

    /// Returns the microseconds since the last update of alpha. Linux:
    /// `prague_elapsed_since_alpha_update`.
    fn since_alpha_update(&self, conn: &Conn) -> u64 {
        u64::from(stamp_us_delta(conn.tcp_mstamp(), self.alpha_stamp))
    }

    /// Whether alpha must be updated: at the end of each round trip but, if round trips are shorter
    /// than the target RTT, at most once per target RTT. Linux: `prague_should_update_ewma`.
    fn should_update_alpha(&self, conn: &Conn, ctl: &Control) -> bool {
        !before(conn.snd_una, self.next_seq)
            && (!self.is_rtt_independent(ctl)
                || u64::from(self.settings.rtt_target) <= self.since_alpha_update(conn))
    }

    /// Returns the window w in whole packets, rounded up, within the bounds of cwnd. Linux:
    /// `prague_frac_cwnd_to_snd_cwnd`.
    fn whole_cwnd(&self, ctl: &Control) -> u32 {
        let whole = self.frac_cwnd.saturating_add(ONE_CWND - 1) >> CWND_UNIT;
        u32::try_from(whole).unwrap_or(u32::MAX).max(MIN_CWND).min(ctl.cwnd_clamp)
    }

    /// Returns the window that corresponds to `rate_bytes`, in packets `<< 20`. Linux:
    /// `prague_pacing_rate_to_frac_cwnd`.
    fn cwnd_of_rate(&self, conn: &Conn) -> u64 {
        let rtt = match self.hsrtt_us >> HSRTT_SHIFT {
            0 => u64::from(conn.srtt_us),
            rtt => rtt,
        };
        mul_shr(self.rate_bytes, rtt, RTT2SEC_SHIFT - CWND_UNIT).div_ceil(mtu(conn))
    }

    /// Returns the rate that corresponds to `frac_cwnd`, in bytes per second. Linux:
    /// `prague_frac_cwnd_to_pacing_rate`.
    fn rate_of_cwnd(&self, conn: &Conn) -> u64 {
        let rate = SECOND * mtu(conn) / u64::from(conn.srtt_us).max(1);
        mul_shr(rate, self.frac_cwnd, CWND_UNIT).max(MINIMUM_RATE)
    }

    /// Computes by how much a packet without a CE mark enlarges the window. With a short RTT the
    /// amount is smaller, so that the flow grows like a flow with the target RTT. Linux:
    /// `prague_ai_ack_increase`, `prague_rate_scaled_ai_ack_increase`.
    fn update_increase(&mut self, conn: &Conn) {
        let (rtt, target) = (u64::from(conn.srtt_us), self.target_rtt());
        let is_unscaled = self.round < self.settings.rtt_transition
            || rtt == 0
            || conn.srtt_us > MAX_SCALED_RTT << 3
            || rtt >= target;
        self.ai_ack_increase = if is_unscaled {
            ONE_CWND
        } else {
            div_closest((rtt << CWND_UNIT) * rtt, target * target)
        };
    }

    /// Sets the pacing rate and the length of the longest burst. Linux:
    /// `prague_update_pacing_rate`.
    fn update_pacing_rate(&mut self, conn: &Conn, ctl: &mut Control) {
        let mut rate = if self.is_rate_based(ctl) {
            let offset = mul_shr(RATE_OFFSET, self.rate_bytes, OFFSET_UNIT);
            if self.virtual_rtt(conn) >> (3 + 1) <= self.since_alpha_update(conn) {
                self.rate_bytes - offset
            } else {
                self.rate_bytes + offset
            }
        } else {
            let in_flight = (self.frac_cwnd >> CWND_UNIT).max(u64::from(conn.inflight));
            let each = SECOND * mtu(conn) / u64::from(conn.srtt_us).max(1);
            self.rate_bytes = each.saturating_mul(in_flight).max(MINIMUM_RATE);
            self.rate_bytes
        };
        if ctl.cwnd < ctl.ssthresh / 2 {
            rate = rate.saturating_mul(2);
        }
        rate = rate.min(conn.max_pacing_rate);
        let burst = (rate / mtu(conn)) >> self.settings.burst_shift;
        self.max_tso_burst = u32::try_from(burst).unwrap_or(u32::MAX).max(1);
        ctl.pacing_rate = rate;
    }

    /// Starts a round. Linux: `prague_new_round`.
    fn begin_round(&mut self, conn: &Conn, ctl: &Control) {
        self.next_seq = conn.snd_nxt;
        self.old_delivered = conn.delivered;
        self.old_delivered_ce = conn.delivered_ce;
        if ctl.cwnd >= ctl.ssthresh {
            self.round = match self.round.wrapping_add(1) {
                0 => self.settings.rtt_transition,
                round => round,
            };
        }
        self.update_increase(conn);
    }

    /// If a CE mark has ever been seen, updates alpha with the share of marked packets since the
    /// round began. Starts a new round in any case. Linux: `prague_update_alpha`.
    fn update_alpha(&mut self, conn: &Conn, ctl: &Control) {
        if self.saw_ce {
            let marked = conn.delivered_ce.wrapping_sub(self.old_delivered_ce);
            let delivered = conn.delivered.wrapping_sub(self.old_delivered);
            let share = (u64::from(marked) << ALPHA_BITS) / u64::from(delivered.max(1));
            let alpha = self.upscaled_alpha - (self.upscaled_alpha >> SHIFT_G) + share;
            self.alpha_stamp = conn.tcp_mstamp();
            self.upscaled_alpha = alpha.min(ALPHA_MAX << SHIFT_G);
        }
        self.hsrtt_us += u64::from(conn.srtt_us);
        self.hsrtt_us -= self.hsrtt_us >> HSRTT_SHIFT;
        self.begin_round(conn, ctl);
    }

    /// Enlarges the window for packets without a mark, and moves cwnd towards the window. Linux:
    /// `prague_update_cwnd`.
    fn update_cwnd(&mut self, conn: &Conn, ctl: &mut Control, acked_sacked: u32) {
        let marked = conn.delivered_ce.wrapping_sub(self.prior_delivered_ce);
        self.prior_delivered_ce = conn.delivered_ce;
        if marked > 0 {
            if !self.saw_ce && self.settings.alpha_mode == 0 {
                self.frac_cwnd = (self.frac_cwnd + 1) >> 1;
            }
            self.saw_ce = true;
        }
        let mut acked = acked_sacked.saturating_sub(marked);
        if acked > 0 && !self.in_loss && reno::is_cwnd_limited(conn) {
            if ctl.cwnd < ctl.ssthresh {
                acked = reno::slow_start(ctl, acked);
                self.frac_cwnd = u64::from(ctl.cwnd) << CWND_UNIT;
                if acked == 0 {
                    self.update_increase(conn);
                    return;
                }
            }
            self.grow(conn, ctl, u64::from(acked));
        }
        let window = self.whole_cwnd(ctl);
        match ctl.cwnd.cmp(&window) {
            Ordering::Greater => {
                ctl.cwnd -= 1;
                ctl.ssthresh = ctl.cwnd;
            }
            Ordering::Less => ctl.cwnd += 1,
            Ordering::Equal => return,
        }
        self.update_increase(conn);
    }

    /// Enlarges the window, or the rate, for `acked` packets without a mark.
    fn grow(&mut self, conn: &Conn, ctl: &Control, acked: u64) {
        if self.is_rate_based(ctl) {
            let virtual_rtt = self.virtual_rtt(conn);
            let increase = ((acked * MTU_SYS) << RTT2SEC_SHIFT) / virtual_rtt;
            let window =
                mul_shr(self.rate_bytes, virtual_rtt, 0).div_ceil(mtu(conn) << RTT2SEC_SHIFT);
            if window > 0 {
                self.rate_bytes += div_closest(increase, window);
            }
            self.frac_cwnd = (self.frac_cwnd + acked).max(self.cwnd_of_rate(conn));
        } else {
            let mut increase = acked * self.ai_ack_increase;
            if self.frac_cwnd > 0 {
                increase = div_closest(increase << CWND_UNIT, self.frac_cwnd);
            }
            increase = increase * MTU_SYS / mtu(conn);
            self.frac_cwnd += acked.max(increase);
            self.rate_bytes = (self.rate_bytes + acked).max(self.rate_of_cwnd(conn));
        }
    }

    /// Halves the window, or the rate, after a loss. Linux: `prague_enter_loss`.
    fn enter_loss(&mut self, conn: &Conn) {
        self.loss_cwnd = conn.ctl.cwnd;
        self.loss_rate_bytes = self.rate_bytes;
        if self.is_rate_based(&conn.ctl) {
            self.rate_bytes -= self.rate_bytes >> 1;
            self.frac_cwnd = self.cwnd_of_rate(conn);
        } else {
            self.frac_cwnd -= self.frac_cwnd >> 1;
            self.rate_bytes = self.rate_of_cwnd(conn);
        }
        self.in_loss = true;
    }

    /// Multiplies the window, or the rate, by 1 - alpha / 2. If the flow is independent of its RTT,
    /// at most one such reduction is made per target RTT. Linux: `prague_enter_cwr`.
    fn enter_cwr(&mut self, conn: &Conn) {
        let since = stamp_us_delta(conn.tcp_mstamp(), self.cwr_stamp);
        if self.is_rtt_independent(&conn.ctl) && self.settings.rtt_target > since {
            return;
        }
        self.cwr_stamp = conn.tcp_mstamp();
        let alpha = self.upscaled_alpha >> SHIFT_G;
        if self.is_rate_based(&conn.ctl) {
            let reduction = mul_shr(self.rate_bytes, alpha, ALPHA_BITS + 1);
            self.rate_bytes = (self.rate_bytes - reduction).max(MINIMUM_RATE);
            self.frac_cwnd = self.cwnd_of_rate(conn);
        } else {
            let product = u128::from(alpha) * u128::from(self.frac_cwnd) + u128::from(ALPHA_MAX);
            let reduction = u64::try_from(product >> (ALPHA_BITS + 1)).unwrap_or(u64::MAX);
            self.frac_cwnd = self.frac_cwnd.saturating_sub(reduction);
            self.rate_bytes = self.rate_of_cwnd(conn);
        }
    }

    /// With `prague_cwnd_mode` 2, selects the rate if a mark has been seen and cwnd is small, and
    /// otherwise the window. Linux: in `prague_cong_control`.
    fn choose_mode(&mut self, conn: &Conn, ctl: &Control) {
        if self.settings.cwnd_mode != 2 {
            return;
        }
        let is_small =
            u64::from(ctl.cwnd) * mtu(conn) <= u64::from(self.settings.cwnd_transit) * MTU_SYS;
        self.is_by_rate = self.saw_ce && is_small;
        if self.is_by_rate {
            self.frac_cwnd = self.cwnd_of_rate(conn);
        } else {
            self.rate_bytes = self.rate_of_cwnd(conn);
        }
    }

    /// Changes cwnd as Reno does, at an ACK on a connection without ECN.
    fn reno_ack(conn: &Conn, acked: u32) -> Control {
        if matches!(conn.ca_state, CaState::Cwr | CaState::Recovery) {
            let cwnd = conn.ctl.cwnd.min(conn.ctl.ssthresh).max(1);
            return Control { cwnd, ..conn.ctl };
        }
        reno::cong_avoid(conn, acked)
    }
}

impl CongestionControl for Prague {
    fn hooks(&self) -> Hooks {
        Hooks { cong_control: true, tso_segs: true, needs_ecn: true, ..Hooks::default() }
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        let mut ctl = conn.ctl;
        self.is_reno = ctl.ecn_flags & ecn_flags::OK == 0;
        if self.is_reno {
            return ctl;
        }
        if ctl.pacing_status == PacingStatus::None {
            ctl.pacing_status = PacingStatus::Needed;
        }
        self.alpha_stamp = conn.tcp_mstamp();
        self.upscaled_alpha = if self.settings.alpha_mode == 0 { 0 } else { ALPHA_MAX << SHIFT_G };
        self.frac_cwnd = u64::from(ctl.cwnd) << CWND_UNIT;
        self.max_tso_burst = 1;
        self.rate_bytes = MINIMUM_RATE;
        self.update_pacing_rate(conn, &mut ctl);
        self.saw_ce = conn.delivered_ce != 0;
        self.prior_delivered_ce = conn.delivered_ce;
        self.hsrtt_us = u64::from(conn.srtt_us.max(1 << 3)) << HSRTT_SHIFT;
        self.is_by_rate = self.settings.cwnd_mode == 1;
        self.begin_round(conn, &ctl);
        ctl
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, _draw: &mut impl Draw) -> Control {
        if !self.is_reno && event == CwndEvent::Loss {
            self.enter_loss(conn);
        }
        conn.ctl
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        if !self.is_reno && new != conn.ca_state {
            match new {
                CaState::Recovery => self.enter_loss(conn),
                CaState::Cwr => self.enter_cwr(conn),
                CaState::Open => self.in_loss = false,
                CaState::Disorder | CaState::Loss => {}
            }
        }
        conn.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        if self.is_reno { reno::ssthresh(conn) } else { conn.ctl.ssthresh }
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        if self.is_reno {
            return reno::undo_cwnd(conn);
        }
        self.in_loss = false;
        self.rate_bytes = self.rate_bytes.max(self.loss_rate_bytes);
        self.frac_cwnd = self.cwnd_of_rate(conn);
        self.loss_cwnd.max(conn.ctl.cwnd)
    }

    fn cong_control(&mut self, conn: &Conn, rs: &RateSample, _draw: &mut impl Draw) -> Control {
        if self.is_reno {
            return Self::reno_ack(conn, rs.acked_sacked);
        }
        let mut ctl = conn.ctl;
        self.update_cwnd(conn, &mut ctl, rs.acked_sacked);
        if self.should_update_alpha(conn, &ctl) {
            self.update_alpha(conn, &ctl);
        }
        self.update_pacing_rate(conn, &mut ctl);
        self.choose_mode(conn, &ctl);
        ctl
    }

    fn tso_segs(&self, _conn: &Conn, _mss_now: u32) -> u32 {
        match self.settings.max_tso_segs {
            _ if self.is_reno => 2,
            0 => self.max_tso_burst,
            most => self.max_tso_burst.min(most),
        }
    }

    fn info(&self, conn: &Conn) -> Info {
        let state = match () {
            () if self.is_reno => "RENO",
            () if conn.in_slow_start() => "SLOW_START",
            () if self.is_by_rate => "RATE",
            () => "WINDOW",
        };
        Info { state, ..Info::default() }
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("upscaled_alpha", self.upscaled_alpha.cast_signed());
        field("ai_ack_increase", self.ai_ack_increase.cast_signed());
        field("frac_cwnd", self.frac_cwnd.cast_signed());
        field("rate_bytes", self.rate_bytes.cast_signed());
        field("round", i64::from(self.round));
        field("saw_ce", i64::from(self.saw_ce));
        field("in_loss", i64::from(self.in_loss));
    }
}

#[cfg(test)]
mod tests {
    use super::{ALPHA_MAX, CWND_UNIT, Prague, SHIFT_G};
    use crate::no_draw::NoDraw;
    use crate::{CaState, CongestionControl as _, Conn, Params, RateSample, ecn_flags};

    /// Makes a connection after slow start, whose cwnd is `cwnd` packets of 1,448 bytes.
    fn conn(cwnd: u32, srtt_ms: u32) -> Conn {
        let mut conn = Conn {
            is_cwnd_limited: true,
            mss: 1448,
            hz: 1000,
            srtt_us: (srtt_ms * 1000) << 3,
            max_pacing_rate: u64::MAX,
            inflight: cwnd,
            max_packets_out: cwnd,
            ..Conn::default()
        };
        conn.ctl.cwnd = cwnd;
        conn.ctl.cwnd_clamp = u32::MAX;
        conn.ctl.ssthresh = cwnd;
        conn.ctl.ecn_flags = ecn_flags::OK;
        conn
    }

    /// Returns the growth of the window in packets per RTT, `rounds` round trips after slow start.
    fn growth(srtt_ms: u32, rounds: u32) -> f64 {
        let mut prague = Prague::new(&Params::new()).unwrap();
        let mut conn = conn(100, srtt_ms);
        conn.snd_nxt = 100 * 1448;
        prague.init(&conn, &mut NoDraw);
        let mut before = prague.frac_cwnd;
        for _ in 0..rounds {
            before = prague.frac_cwnd;
            conn.snd_nxt = conn.snd_una + 100 * 1448;
            for _ in 0..100 {
                conn.delivered += 1;
                conn.snd_una += 1448;
                conn.clock_ns += u64::from(srtt_ms) * 10_000;
                let rs = RateSample { acked_sacked: 1, ..RateSample::default() };
                conn.ctl = prague.cong_control(&conn, &rs, &mut NoDraw);
            }
        }
        f64::from(u32::try_from(prague.frac_cwnd - before).unwrap()) / f64::from(1 << CWND_UNIT)
    }

    #[test]
    fn a_flow_with_a_short_rtt_grows_as_fast_in_rate_as_one_with_25_ms() {
        // At an RTT of 5 ms, the growth is one packet per RTT at first, and later (5 / 25)^2
        // packets per RTT. The rate then grows as fast as with an RTT of 25 ms.
        assert!((0.9..1.0).contains(&growth(5, 1)), "{}", growth(5, 1));
        assert!((0.035..0.041).contains(&growth(5, 10)), "{}", growth(5, 10));
        assert!((0.9..1.0).contains(&growth(50, 10)), "{}", growth(50, 10));
    }

    #[test]
    fn a_mark_reduces_the_window_by_half_of_alpha_and_a_loss_by_half() {
        let mut prague = Prague::new(&Params::new()).unwrap();
        let conn = conn(100, 50);
        prague.init(&conn, &mut NoDraw);
        prague.saw_ce = true;
        prague.upscaled_alpha = (ALPHA_MAX / 10) << SHIFT_G;
        prague.set_state(&conn, CaState::Cwr, &mut NoDraw);
        assert_eq!((prague.frac_cwnd + (1 << 19)) >> CWND_UNIT, 95);
        prague.set_state(&conn, CaState::Recovery, &mut NoDraw);
        assert_eq!(prague.frac_cwnd >> CWND_UNIT, 47);
    }

    #[test]
    fn alpha_approaches_the_share_of_marks() {
        let mut prague = Prague::new(&Params::new()).unwrap();
        let mut conn = conn(100, 50);
        prague.init(&conn, &mut NoDraw);
        prague.saw_ce = true;
        for _ in 0..200 {
            conn.delivered += 100;
            conn.delivered_ce += 20;
            prague.update_alpha(&conn, &conn.ctl);
        }
        let share = prague.upscaled_alpha >> SHIFT_G;
        assert!(share.abs_diff(ALPHA_MAX / 5) < ALPHA_MAX / 1000, "{share}");
    }

    #[test]
    fn a_burst_lasts_a_quarter_of_a_millisecond_at_the_pacing_rate() {
        let mut prague = Prague::new(&Params::new()).unwrap();
        // 1,000 packets of 1,500 bytes per 10 ms are 100,000 packets per second, so 2^-12 s hold 24
        // packets.
        let conn = conn(1000, 10);
        let ctl = prague.init(&conn, &mut NoDraw);
        assert_eq!(ctl.pacing_rate, 150_000_000);
        assert_eq!(prague.tso_segs(&conn, 1448), 24);
    }

    #[test]
    fn without_ecn_it_is_reno() {
        let mut prague = Prague::new(&Params::new()).unwrap();
        let mut conn = conn(100, 50);
        conn.ctl.ecn_flags = 0;
        prague.init(&conn, &mut NoDraw);
        assert_eq!(prague.ssthresh(&conn), 50);
    }
}
