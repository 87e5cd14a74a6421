//! A minimal sender for testing a congestion control: it updates the socket's counters, stamps
//! packets, takes delivery-rate samples and calls the callbacks in the kernel's order. The test
//! sender checks that the result of every call fulfils the contract.
//!
//! The test sender is not the sender of the simulator (`bbrlab-tcp`): with the test sender, a test
//! chooses which packets are lost. A test can therefore produce any sequence of events that TCP
//! allows.

use std::collections::VecDeque;

use bbrlab_cc::{
    AckSample, Algorithm, CaState, Cc, CongestionControl, Conn, Control, CwndEvent, Draw, LostSkb,
    PacingStatus, Params, RateSample, ecn_flags,
};

/// A generator of random numbers that are the same on every platform.
#[derive(Clone, Debug)]
struct Xorshift(u64);

impl Draw for Xorshift {
    fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "the bound of a random number must be above 0");
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 % u64::from(bound)).expect("below a u32")
    }
}

/// The sender's record of an outstanding packet, which was sent and is neither acknowledged nor
/// lost.
#[derive(Clone, Copy, Debug)]
struct Packet {
    number: u64,
    sent_us: u64,
    first_tx_us: u64,
    delivered: u32,
    delivered_ce: u32,
    delivered_us: u64,
    lost: u32,
    tx_in_flight: u32,
    is_app_limited: bool,
}

/// The initial state of a connection. A test chooses the initial values of the connection's
/// counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) mss: u32,
    pub(crate) hz: u32,
    pub(crate) clock_ns: u64,
    pub(crate) jiffies: u32,
    pub(crate) delivered: u32,
    pub(crate) has_rtt: bool,
    pub(crate) ecn_flags: u8,
    pub(crate) cwnd_clamp: u32,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            mss: 1448,
            hz: 1000,
            clock_ns: 5_000_000_000,
            jiffies: u32::MAX - 300_000,
            delivered: 1,
            has_rtt: true,
            ecn_flags: 0,
            cwnd_clamp: u32::MAX,
        }
    }
}

/// The packets that an ACK acknowledges.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Acked {
    /// This number of the oldest outstanding packets. With 0, the ACK is a duplicate ACK without
    /// new information.
    Oldest(usize),
    /// The packet with this number.
    Number(u64),
    /// The packets whose number is a multiple of this value, as SACK blocks would report them.
    EveryNth(u64),
}

/// The tested connection with its algorithm.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    algorithm: Algorithm,
    pub(crate) conn: Conn,
    cc: Cc,
    draw: Xorshift,
    start: Start,
    outstanding: VecDeque<Packet>,
    next_number: u64,
    /// The number of the first packet sent after the current recovery or timeout began. The
    /// recovery ends when no packet with a smaller number is outstanding.
    recovery_point: u64,
    first_tx_us: u64,
    prior_ssthresh: u32,
    pending_losses: i32,
    /// Number of packets delivered since the start. Unlike `conn.delivered`, this count starts at 0
    /// and does not wrap.
    pub(crate) delivered_total: u64,
}

impl Sender {
    pub(crate) fn new(algorithm: Algorithm, params: &Params, start: Start) -> Self {
        let (srtt_us, min_rtt_us) =
            if start.has_rtt { (20_000 << 3, 20_000) } else { (0, u32::MAX) };
        let mut conn = Conn {
            clock_ns: start.clock_ns,
            wstamp_ns: start.clock_ns,
            delivered_mstamp: start.clock_ns / 1000,
            jiffies: start.jiffies,
            hz: start.hz,
            max_pacing_rate: u64::MAX,
            mss: start.mss,
            srtt_us,
            min_rtt_us,
            delivered: start.delivered,
            pacing_shift: 10,
            gso_max_size: 65536,
            ..Conn::default()
        };
        conn.ctl = Control {
            cwnd: start.cwnd_clamp.min(10),
            cwnd_clamp: start.cwnd_clamp,
            ssthresh: Control::INFINITE_SSTHRESH,
            pacing_rate: u64::MAX,
            app_limited: u32::MAX,
            ecn_flags: start.ecn_flags,
            ..Control::default()
        };
        let cc = algorithm.build(params).expect("the parameters are legal");
        let mut sender = Self {
            algorithm,
            conn,
            cc,
            draw: Xorshift(0x9e37_79b9_7f4a_7c15),
            start,
            outstanding: VecDeque::new(),
            next_number: 0,
            recovery_point: 0,
            first_tx_us: start.clock_ns / 1000,
            prior_ssthresh: 0,
            pending_losses: 0,
            delivered_total: 0,
        };
        let ctl = sender.cc.init(&sender.conn, &mut sender.draw);
        sender.take(ctl, "init");
        sender
    }

    /// Whether the algorithm has the callback `cong_control`, which replaces TCP's own reduction of
    /// cwnd.
    fn has_cong_control(&self) -> bool {
        self.cc.hooks().cong_control
    }

    fn is_bbr_with_bounds(&self) -> bool {
        let name = self.algorithm.name();
        name.starts_with("bbr2") || name.starts_with("bbr3")
    }

    /// Stores `ctl`, which the callback named `call` returned, and checks that the values fulfil
    /// the contract.
    fn take(&mut self, ctl: Control, call: &str) {
        let before = self.conn.ctl;
        self.conn.ctl = ctl;
        let name = self.algorithm.name();
        assert!(ctl.cwnd >= 1, "{name}: cwnd is 0 after {call}: {:?}", self.conn);
        // The clamp (`cwnd_clamp`) is an upper bound of cwnd. Only the calls at ACKs,
        // `cong_control` and `cong_avoid`, must respect the clamp. After a timeout, TCP itself sets
        // cwnd to the packets in flight plus one, even if the result is above the clamp.
        //
        // Window-based algorithms do not grow cwnd beyond the clamp, but do not shrink cwnd to the
        // clamp either (Westwood sets cwnd regardless of the clamp). Vegas and Veno keep two
        // packets even if the clamp is one packet. Prague moves cwnd towards the clamp by one
        // packet per ACK.
        let bound = match call {
            "cong_control" if self.algorithm == Algorithm::Prague => {
                ctl.cwnd_clamp.max(before.cwnd - 1)
            }
            "cong_control" => ctl.cwnd_clamp,
            "cong_avoid" => ctl.cwnd_clamp.max(before.cwnd).max(2),
            _ => u32::MAX,
        };
        assert!(ctl.cwnd <= bound, "{name}: cwnd {} above its clamp", ctl.cwnd);
        if ctl.pacing_rate != before.pacing_rate {
            assert!(
                ctl.pacing_rate <= self.conn.max_pacing_rate,
                "{name}: pacing rate {} above its bound after {call}",
                ctl.pacing_rate
            );
        }
        if self.is_bbr_with_bounds() {
            assert!(ctl.pacing_rate >= 1, "{name}: pacing rate 0 after {call}");
        }
        self.check_reports(call);
    }

    /// Checks the results of the callbacks that only read the algorithm's state. One of these
    /// results is the size of a burst.
    fn check_reports(&self, call: &str) {
        let name = self.algorithm.name();
        let hooks = self.cc.hooks();
        if hooks.tso_segs {
            assert!(
                self.cc.tso_segs(&self.conn, self.conn.mss) >= 1,
                "{name}: no burst after {call}"
            );
        }
        assert!(self.cc.min_tso_segs(&self.conn) >= 1, "{name}: no burst after {call}");
        assert!((1..=4).contains(&self.cc.sndbuf_expand(&self.conn)), "{name}: send buffer factor");
        let info = self.cc.info(&self.conn);
        if hooks.cong_control {
            assert!(!info.state.is_empty(), "{name}: a state without a name after {call}");
        }
    }

    /// Returns the name of the algorithm's state.
    pub(crate) fn state(&self) -> &'static str {
        self.cc.info(&self.conn).state
    }

    /// Adds the algorithm's outputs and its whole private state to a digest.
    pub(crate) fn add_to(&self, digest: &mut u64) {
        let mut add = |value: u64| {
            *digest = (digest.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
        };
        let Control { cwnd, cwnd_cnt, ssthresh, pacing_rate, app_limited, ecn_flags, .. } =
            self.conn.ctl;
        for value in [cwnd, cwnd_cnt, ssthresh, app_limited, u32::from(ecn_flags)] {
            add(u64::from(value));
        }
        add(pacing_rate);
        for byte in self.cc.info(&self.conn).state.bytes() {
            add(u64::from(byte));
        }
        self.cc.snapshot(&mut |_, value| add(value.cast_unsigned()));
    }

    fn now_us(&self) -> u64 {
        self.conn.tcp_mstamp()
    }

    /// Advances the clock by `by_ns`.
    pub(crate) fn advance(&mut self, by_ns: u64) {
        self.advance_to(self.conn.clock_ns + by_ns);
    }

    /// Advances the clock to `clock_ns`.
    pub(crate) fn advance_to(&mut self, clock_ns: u64) {
        assert!(clock_ns >= self.conn.clock_ns, "time never goes back");
        self.conn.clock_ns = clock_ns;
        let since_ns = u128::from(clock_ns - self.start.clock_ns);
        let ticks = since_ns * u128::from(self.conn.hz) / 1_000_000_000;
        let ticks = u32::try_from(ticks % (1 << 32)).expect("reduced");
        self.conn.jiffies = self.start.jiffies.wrapping_add(ticks);
    }

    pub(crate) fn inflight(&self) -> u32 {
        self.conn.inflight
    }

    pub(crate) fn sendable(&self) -> u32 {
        self.conn.ctl.cwnd.saturating_sub(self.conn.inflight)
    }

    /// Returns the nanoseconds between two paced packets; 0 without pacing.
    pub(crate) fn pacing_gap_ns(&self) -> u64 {
        let ctl = self.conn.ctl;
        // As in the kernel, a rate of zero means no pacing.
        if ctl.pacing_status == PacingStatus::None || ctl.pacing_rate == 0 {
            return 0;
        }
        u64::from(self.conn.mss) * 1_000_000_000 / ctl.pacing_rate
    }

    /// Sends a packet now; returns its number.
    pub(crate) fn send(&mut self) -> u64 {
        if self.conn.inflight == 0 {
            let ctl = self.cc.cwnd_event(&self.conn, CwndEvent::TxStart, &mut self.draw);
            self.take(ctl, "TX_START");
        }
        let now_us = self.now_us();
        if self.conn.inflight == 0 {
            self.first_tx_us = now_us;
            self.conn.delivered_mstamp = now_us;
        }
        self.conn.inflight += 1;
        let number = self.next_number;
        self.next_number += 1;
        self.outstanding.push_back(Packet {
            number,
            sent_us: now_us,
            first_tx_us: self.first_tx_us,
            delivered: self.conn.delivered,
            delivered_ce: self.conn.delivered_ce,
            delivered_us: self.conn.delivered_mstamp,
            lost: self.conn.lost,
            tx_in_flight: self.conn.inflight,
            is_app_limited: self.conn.ctl.app_limited != 0,
        });
        self.conn.snd_nxt = self.conn.snd_nxt.wrapping_add(self.conn.mss);
        self.conn.lsndtime = self.conn.jiffies;
        self.conn.max_packets_out = self.conn.max_packets_out.max(self.conn.inflight);
        self.conn.is_cwnd_limited = self.conn.inflight >= self.conn.ctl.cwnd;
        self.conn.wstamp_ns = self.conn.wstamp_ns.max(self.conn.clock_ns);
        self.conn.wstamp_ns = self.conn.wstamp_ns.saturating_add(self.pacing_gap_ns().min(1 << 40));
        number
    }

    /// Records that the application has no more data to send for now.
    pub(crate) fn app_limit(&mut self) {
        let mark = self.conn.delivered.wrapping_add(self.conn.inflight);
        self.conn.ctl.app_limited = mark.max(1);
        self.conn.is_cwnd_limited = false;
    }

    /// Marks up to `count` of the oldest packets lost. If a recovery begins, calls the algorithm's
    /// `ssthresh` at once. The algorithm gets the number of losses in the rate sample of the next
    /// ACK.
    pub(crate) fn lose(&mut self, count: usize) {
        let count = count.min(self.outstanding.len());
        if count == 0 {
            return;
        }
        for _ in 0..count {
            self.mark_oldest_lost();
        }
        if self.conn.ca_state < CaState::Recovery {
            self.begin_episode(CaState::Recovery);
        }
    }

    fn mark_oldest_lost(&mut self) {
        let packet = self.outstanding.pop_front().expect("the caller counted");
        self.conn.lost = self.conn.lost.wrapping_add(1);
        self.conn.inflight -= 1;
        self.pending_losses += 1;
        if self.cc.hooks().skb_marked_lost {
            let mss = u64::from(self.conn.mss);
            let seq = u32::try_from(packet.number * mss % (1 << 32)).expect("reduced");
            let skb = LostSkb {
                seq,
                end_seq: seq.wrapping_add(self.conn.mss),
                pcount: 1,
                in_flight: packet.tx_in_flight,
                lost: packet.lost,
                is_app_limited: packet.is_app_limited,
                delivered_mstamp: packet.delivered_us,
            };
            let ctl = self.cc.skb_marked_lost(&self.conn, &skb, &mut self.draw);
            self.take(ctl, "skb_marked_lost");
        }
    }

    fn begin_episode(&mut self, new: CaState) {
        self.recovery_point = self.next_number;
        self.conn.prior_cwnd = self.conn.ctl.cwnd;
        self.prior_ssthresh = self.conn.ctl.ssthresh;
        self.conn.ctl.cwnd_cnt = 0;
        let ssthresh = self.cc.ssthresh(&self.conn);
        assert!(ssthresh >= 1, "{}: ssthresh is 0", self.algorithm.name());
        self.conn.ctl.ssthresh = ssthresh;
        if new == CaState::Loss {
            let ctl = self.cc.cwnd_event(&self.conn, CwndEvent::Loss, &mut self.draw);
            self.take(ctl, "LOSS");
        } else if !self.has_cong_control() {
            // Unlike in the kernel, where PRR reduces cwnd gradually, here cwnd falls to ssthresh
            // at once.
            self.conn.ctl.cwnd = self.conn.ctl.cwnd.min(ssthresh).max(1);
            self.enter(new);
        } else {
            self.enter(new);
        }
    }

    fn enter(&mut self, new: CaState) {
        let ctl = self.cc.set_state(&self.conn, new, &mut self.draw);
        self.take(ctl, "set_state");
        self.conn.ca_state = new;
    }

    /// Simulates a retransmission timeout, which marks every outstanding packet lost.
    pub(crate) fn rto(&mut self) {
        while !self.outstanding.is_empty() {
            self.mark_oldest_lost();
        }
        if self.conn.ca_state != CaState::Loss {
            self.begin_episode(CaState::Loss);
        }
        self.conn.ctl.cwnd = self.conn.inflight + 1;
        self.recovery_point = self.next_number;
        self.enter(CaState::Loss);
    }

    /// Undoes the last reduction of cwnd, as after a spurious loss or timeout.
    pub(crate) fn undo(&mut self) {
        if self.conn.ca_state < CaState::Cwr {
            return;
        }
        let cwnd = self.cc.undo_cwnd(&self.conn);
        assert!(cwnd >= 1, "{}: undo leaves no window", self.algorithm.name());
        self.conn.ctl.cwnd = cwnd;
        self.conn.ctl.ssthresh = self.conn.ctl.ssthresh.max(self.prior_ssthresh);
        self.enter(CaState::Open);
    }

    /// Acknowledges the packets `acked`, which carried a CE mark if `is_ce` is true.
    pub(crate) fn ack(&mut self, is_ce: bool, acked: Acked) {
        let now_us = self.now_us();
        let before = self.outstanding.len();
        let prior_in_flight = self.conn.inflight;
        let newest = self.remove(acked);
        let acked = u32::try_from(before - self.outstanding.len()).expect("a window's worth");
        self.conn.inflight -= acked;
        self.conn.delivered = self.conn.delivered.wrapping_add(acked);
        self.delivered_total += u64::from(acked);
        if is_ce {
            self.conn.delivered_ce = self.conn.delivered_ce.wrapping_add(acked);
        }
        let una = self.outstanding.front().map_or(self.next_number, |packet| packet.number);
        let una = u32::try_from(una * u64::from(self.conn.mss) % (1 << 32)).expect("reduced");
        self.conn.snd_una = una;

        let rtt_us =
            newest.map_or(-1, |packet| now_us.saturating_sub(packet.sent_us).cast_signed());
        self.take_rtt(rtt_us);
        let hooks = self.cc.hooks();
        if hooks.pkts_acked && acked > 0 {
            let rtt_us = i32::try_from(rtt_us).unwrap_or(i32::MAX);
            let in_flight = prior_in_flight.saturating_mul(self.conn.mss);
            let sample = AckSample { pkts_acked: acked, rtt_us, in_flight };
            let ssthresh = self.cc.pkts_acked(&self.conn, &sample);
            self.take(Control { ssthresh, ..self.conn.ctl }, "pkts_acked");
        }
        if hooks.in_ack_event {
            let flags = if is_ce { bbrlab_cc::ack_flags::ECE } else { 0 };
            let ctl = self.cc.in_ack_event(&self.conn, flags);
            self.take(ctl, "in_ack_event");
        }
        self.end_episode_if_over();
        let rs = self.rate_sample(newest, acked, prior_in_flight, rtt_us, is_ce);
        if hooks.cong_control {
            let ctl = self.cc.cong_control(&self.conn, &rs, &mut self.draw);
            self.take(ctl, "cong_control");
        } else if acked > 0 && !matches!(self.conn.ca_state, CaState::Cwr | CaState::Recovery) {
            let ctl = self.cc.cong_avoid(&self.conn, una, acked);
            self.take(ctl, "cong_avoid");
        }
    }

    /// Removes the packets `acked` from the outstanding packets. Returns the removed packet that
    /// was sent last.
    fn remove(&mut self, acked: Acked) -> Option<Packet> {
        match acked {
            Acked::Oldest(count) => {
                let count = count.min(self.outstanding.len());
                self.outstanding.drain(..count).next_back()
            }
            Acked::Number(number) => {
                let at = self.outstanding.iter().position(|packet| packet.number == number);
                at.and_then(|at| self.outstanding.remove(at))
            }
            Acked::EveryNth(nth) => {
                let mut newest = None;
                self.outstanding.retain(|packet| {
                    let is_acked = packet.number % nth == 0;
                    if is_acked {
                        newest = Some(*packet);
                    }
                    !is_acked
                });
                newest
            }
        }
    }

    /// Begins a recovery without a loss, as packet reordering can do.
    pub(crate) fn pretend_recovery(&mut self) {
        if self.conn.ca_state < CaState::Recovery {
            self.begin_episode(CaState::Recovery);
        }
    }

    fn end_episode_if_over(&mut self) {
        let oldest = self.outstanding.front().map_or(self.next_number, |packet| packet.number);
        if self.conn.ca_state < CaState::Cwr || oldest < self.recovery_point {
            return;
        }
        let was_reduced = self.conn.ca_state != CaState::Loss;
        if was_reduced && !self.has_cong_control() {
            self.conn.ctl.cwnd = self.conn.ctl.ssthresh.min(self.conn.ctl.cwnd_clamp).max(1);
            let ctl = self.cc.cwnd_event(&self.conn, CwndEvent::CompleteCwr, &mut self.draw);
            self.take(ctl, "COMPLETE_CWR");
        }
        self.enter(CaState::Open);
    }

    fn take_rtt(&mut self, rtt_us: i64) {
        let Ok(rtt_us) = u32::try_from(rtt_us) else {
            return;
        };
        self.conn.min_rtt_us = self.conn.min_rtt_us.min(rtt_us);
        let srtt = u64::from(self.conn.srtt_us);
        let rtt = u64::from(rtt_us);
        let srtt = if srtt == 0 { rtt << 3 } else { srtt - (srtt >> 3) + rtt };
        self.conn.srtt_us = u32::try_from(srtt).unwrap_or(u32::MAX).max(1);
    }

    fn rate_sample(
        &mut self,
        newest: Option<Packet>,
        acked: u32,
        prior_in_flight: u32,
        rtt_us: i64,
        is_ece: bool,
    ) -> RateSample {
        let losses = std::mem::take(&mut self.pending_losses);
        let conn = &mut self.conn;
        let mark = conn.ctl.app_limited;
        if mark != 0 && bbrlab_cc::linux_int::after(conn.delivered, mark) {
            conn.ctl.app_limited = 0;
        }
        let nothing = RateSample {
            delivered: -1,
            interval_us: -1,
            rtt_us,
            losses,
            acked_sacked: acked,
            prior_in_flight,
            is_ece,
            ..RateSample::default()
        };
        let Some(packet) = newest else {
            return nothing;
        };
        let now_us = conn.clock_ns / 1000;
        conn.delivered_mstamp = now_us;
        self.first_tx_us = packet.sent_us;
        let snd_us = packet.sent_us - packet.first_tx_us.min(packet.sent_us);
        let ack_us = now_us - packet.delivered_us;
        let interval_us = snd_us.max(ack_us);
        let is_short = interval_us < u64::from(conn.min_rtt_us);
        RateSample {
            delivered: conn.delivered.wrapping_sub(packet.delivered).cast_signed(),
            delivered_ce: conn.delivered_ce.wrapping_sub(packet.delivered_ce).cast_signed(),
            interval_us: if is_short { -1 } else { interval_us.cast_signed() },
            lost: conn.lost.wrapping_sub(packet.lost).cast_signed(),
            prior_delivered: packet.delivered,
            tx_in_flight: packet.tx_in_flight,
            is_app_limited: packet.is_app_limited,
            ..nothing
        }
    }

    /// Receives a packet, which carries a CE mark if `is_ce` is true.
    pub(crate) fn receive_mark(&mut self, is_ce: bool) {
        if self.conn.ctl.ecn_flags & ecn_flags::OK == 0 {
            return;
        }
        let event = if is_ce { CwndEvent::EcnIsCe } else { CwndEvent::EcnNoCe };
        let ctl = self.cc.cwnd_event(&self.conn, event, &mut self.draw);
        self.take(ctl, "ECN event");
    }
}
