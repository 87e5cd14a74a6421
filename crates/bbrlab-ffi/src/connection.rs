//! A connection of a C program (the host): each event that the program reports calls the algorithm.
//!
//! The algorithm's functions are called in the same order as in Linux. The program passes its own
//! values, such as time and packets in flight, with every event. The connection derives the other
//! inputs of the algorithm from the events: the counts of delivered and lost packets, the rate
//! sample and the state of loss recovery.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_ack`, `tcp_cong_control`, `tcp_init_transfer`;
//! `net/ipv4/tcp_output.c`: `tcp_event_data_sent`, `tcp_cwnd_validate`, `tcp_tso_autosize`.
//! Deviations:
//! 1. PRR is the C program's task: a program with PRR passes its cwnd to [`Connection::set_cwnd`],
//!    and a program without PRR may leave cwnd unchanged until the reduction ends.

use bbrlab_abi::{self as abi, Error, Event};
use bbrlab_cc::linux_int::{before, trunc_u32};
use bbrlab_cc::{
    AckSample, CaState, Cc, CongestionControl as _, Conn, Control, CwndEvent, Hooks, PacingStatus,
    RateSample,
};
use bbrlab_rate::{AckRate, RateSampler, SamplerVersion};
use bbrlab_stack::RateSwitches;

use crate::border::{Failed, refused};
use crate::note::Sent;
use crate::seeded::Seeded;

/// The TCP clock in nanoseconds when the C program's clock is 0. The TCP clock starts above 0,
/// because a time stamp of 0 means "none". Runs of the simulator begin with the same value.
pub(crate) const EPOCH_NS: u64 = 32_768_000_000;

/// Linux's default of `sk_pacing_shift`, the largest burst in bytes (`GSO_LEGACY_MAX_SIZE`), and
/// the default of `tcp_min_tso_segs`.
const PACING_SHIFT: u32 = 10;
const GSO_MAX_SIZE: u32 = 65_536;
const MIN_TSO_SEGS: u32 = 2;

/// The ACK that is being processed.
#[derive(Clone, Debug)]
struct OpenAck {
    rate: AckRate,
    ack_seq: u32,
    pkts_acked: u32,
    ce_count: u32,
    delivered: u32,
    lost: u32,
    /// Whether the acknowledged packets were counted and reported to the algorithm.
    is_reported: bool,
    /// Whether the C program forbids that this ACK raises cwnd.
    is_held: bool,
}

/// The current episode of loss recovery: the values that are needed when the episode ends or is
/// undone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Episode {
    /// `snd_nxt` when the episode began.
    pub(crate) high_seq: u32,
    /// ssthresh before the episode; `None` if there is nothing to undo.
    pub(crate) prior_ssthresh: Option<u32>,
    /// True for fast recovery and the repair of a timeout, unless this episode's reduction of
    /// cwnd was undone.
    pub(crate) can_undo: bool,
}

impl Episode {
    const fn new(isn: u32) -> Self {
        Self { high_seq: isn, prior_ssthresh: None, can_undo: false }
    }
}

/// A connection of a C program.
#[derive(Debug)]
pub struct Connection {
    pub(crate) conn: Conn,
    pub(crate) cc: Cc,
    pub(crate) hooks: Hooks,
    pub(crate) draw: Seeded,
    pub(crate) episode: Episode,
    sampler: RateSampler,
    ack: Option<OpenAck>,
    last: RateSample,
    initial_cwnd: u32,
    /// When `snd_una` has reached this sequence number, the next [`Event::WindowUsed`] replaces
    /// `is_cwnd_limited` and `max_packets_out` in `conn`. Linux: `cwnd_usage_seq`.
    usage_seq: u32,
    is_established: bool,
}

impl Connection {
    /// Makes a connection with the algorithm `cc`.
    pub(crate) fn new(cc: Cc, setup: &abi::Setup) -> Self {
        let hooks = cc.hooks();
        let version = if hooks.notes_in_flight { SamplerVersion::V3 } else { SamplerVersion::V1 };
        let or = |value: u32, default: u32| if value == 0 { default } else { value };
        let max_pacing_rate = match setup.max_pacing_rate {
            0 => u64::MAX,
            rate => rate,
        };
        let ctl = Control {
            cwnd: setup.initial_cwnd,
            cwnd_clamp: or(setup.cwnd_clamp, u32::MAX),
            ssthresh: Control::INFINITE_SSTHRESH,
            pacing_rate: max_pacing_rate,
            app_limited: u32::MAX,
            ecn_flags: setup.ecn_flags.to_le_bytes()[0],
            ..Control::default()
        };
        let conn = Conn {
            ctl,
            max_pacing_rate,
            hz: or(setup.hz, 1000),
            mss: setup.mss,
            min_rtt_us: u32::MAX,
            snd_una: setup.isn,
            snd_nxt: setup.isn,
            // As in Linux, the SYN counts as a delivered packet.
            delivered: 1,
            pacing_shift: PACING_SHIFT,
            gso_max_size: GSO_MAX_SIZE,
            ..Conn::default()
        };
        Self {
            conn,
            cc,
            hooks,
            draw: Seeded::new(setup.seed),
            episode: Episode::new(setup.isn),
            sampler: RateSampler::new(version, RateSwitches::default()),
            ack: None,
            last: RateSample::default(),
            initial_cwnd: setup.initial_cwnd,
            usage_seq: setup.isn,
            is_established: false,
        }
    }

    /// Copies the values that the C program passes with every event, such as time and packets in
    /// flight.
    fn refresh(&mut self, socket: &abi::Socket) -> Result<(), Failed> {
        let conn = &mut self.conn;
        let clock_ns = EPOCH_NS.saturating_add(socket.now_ns);
        if clock_ns < conn.clock_ns {
            return refused(
                Error::Order,
                "now_ns: expected no earlier time than in the call before",
            );
        }
        conn.clock_ns = clock_ns;
        conn.wstamp_ns = clock_ns.max(EPOCH_NS.saturating_add(socket.departure_ns));
        let ticks = u128::from(clock_ns) * u128::from(conn.hz) / 1_000_000_000;
        #[expect(clippy::cast_possible_truncation, reason = "the kernel's field has 32 bits")]
        {
            conn.jiffies = ticks as u32;
        }
        conn.inflight = socket.inflight;
        conn.snd_una = socket.snd_una;
        conn.snd_nxt = socket.snd_nxt;
        conn.srtt_us = socket.srtt_us;
        conn.min_rtt_us = if socket.min_rtt_us == 0 { u32::MAX } else { socket.min_rtt_us };
        conn.rcv_nxt = socket.rcv_nxt;
        Ok(())
    }

    /// Begins an event: copies the C program's values. Fails if the connection is not established.
    fn begin(&mut self, socket: &abi::Socket) -> Result<(), Failed> {
        if !self.is_established {
            return refused(Error::Order, "expected bbrlab_cc_init first");
        }
        self.refresh(socket)
    }

    /// Sets the initial cwnd and initialises the algorithm, when the connection is established.
    /// Linux: `tcp_init_transfer`.
    pub(crate) fn init(&mut self, socket: &abi::Socket) -> Result<(), Failed> {
        if self.is_established {
            return refused(Error::Order, "bbrlab_cc_init: expected one call, found a second");
        }
        self.refresh(socket)?;
        self.is_established = true;
        self.conn.ctl.cwnd = self.initial_cwnd.min(self.conn.ctl.cwnd_clamp);
        self.conn.ctl = self.cc.init(&self.conn, &mut self.draw);
        Ok(())
    }

    /// Passes `event` to the algorithm, and stores the `Control` struct that the algorithm returns.
    pub(crate) fn cwnd_event(&mut self, event: CwndEvent) {
        self.conn.ctl = self.cc.cwnd_event(&self.conn, event, &mut self.draw);
    }

    /// Records that a packet is sent, and returns the packet's note. If no packet is in flight,
    /// reports the start of sending to the algorithm. Linux: `tcp_event_data_sent`,
    /// `tcp_rate_skb_sent`.
    pub(crate) fn sent(
        &mut self,
        socket: &abi::Socket,
        packet: &abi::Packet,
    ) -> Result<abi::Note, Failed> {
        self.begin(socket)?;
        if packet.segments == 0 {
            return refused(Error::Argument, "segments: expected at least 1, found 0");
        }
        if socket.inflight == 0 {
            self.cwnd_event(CwndEvent::TxStart);
        }
        self.conn.lsndtime = self.conn.jiffies;
        let (segments, tx_mstamp) = (packet.segments, self.conn.wstamp_ns / 1000);
        let stamps = self.sampler.skb_sent(&mut self.conn, socket.packets_out, segments, tx_mstamp);
        let sent = Sent {
            stamps,
            tx_mstamp,
            seq: packet.seq,
            end_seq: packet.end_seq,
            segments,
            is_retrans: packet.flags & abi::ack_sent_flags::RETRANSMISSION != 0,
        };
        Ok(sent.note())
    }

    /// Begins the processing of an ACK. Linux: `tcp_in_ack_event`.
    pub(crate) fn ack_begin(&mut self, socket: &abi::Socket, ack: &abi::Ack) -> Result<(), Failed> {
        self.begin(socket)?;
        if self.ack.is_some() {
            return refused(Error::Order, "bbrlab_cc_ack_begin: expected bbrlab_cc_ack_end first");
        }
        let mut rate = AckRate::default();
        rate.rs.rtt_us = ack.rtt_us;
        rate.rs.prior_in_flight = ack.prior_in_flight;
        rate.rs.is_ack_delayed = ack.is_delayed != 0;
        rate.rs.is_ece = ack.flags & bbrlab_cc::ack_flags::ECE != 0;
        if self.hooks.in_ack_event {
            self.conn.ctl = self.cc.in_ack_event(&self.conn, ack.flags);
        }
        self.ack = Some(OpenAck {
            rate,
            ack_seq: ack.ack_seq,
            pkts_acked: ack.pkts_acked,
            ce_count: ack.ce_count,
            delivered: 0,
            lost: 0,
            is_reported: false,
            is_held: false,
        });
        Ok(())
    }

    /// Counts a packet that the current ACK delivers, and adds the packet to the rate sample.
    /// Linux: `tcp_rate_skb_delivered`.
    pub(crate) fn acked(&mut self, sent: &Sent) -> Result<(), Failed> {
        let Some(ack) = self.ack.as_mut().filter(|ack| !ack.is_reported) else {
            return refused(
                Error::Order,
                "bbrlab_cc_acked: expected a call after bbrlab_cc_ack_begin and before bbrlab_cc_lost, bbrlab_cc_event and bbrlab_cc_ack_end",
            );
        };
        ack.delivered = ack.delivered.wrapping_add(sent.segments);
        self.conn.delivered = self.conn.delivered.wrapping_add(sent.segments);
        let mut stamps = sent.stamps;
        self.sampler.skb_delivered(&mut ack.rate, &mut stamps, sent.delivered());
        Ok(())
    }

    /// Reports the acknowledged packets of the current ACK to the algorithm, once per ACK and
    /// before losses and changes of the loss-recovery state. Linux: `tcp_newly_delivered`, and the
    /// end of `tcp_clean_rtx_queue`.
    fn report_acked(&mut self) {
        let Some(ack) = self.ack.as_mut().filter(|ack| !ack.is_reported) else { return };
        ack.is_reported = true;
        self.conn.delivered_ce = self.conn.delivered_ce.wrapping_add(ack.ce_count);
        if self.hooks.pkts_acked {
            let delivered = self.conn.delivered.wrapping_sub(ack.rate.rs.prior_delivered);
            #[expect(clippy::cast_possible_truncation, reason = "the kernel's field has 32 bits")]
            let sample = AckSample {
                pkts_acked: ack.pkts_acked,
                rtt_us: ack.rate.rs.rtt_us as i32,
                in_flight: self.conn.mss.wrapping_mul(delivered),
            };
            self.cc.apply_pkts_acked(&mut self.conn, &sample);
        }
    }

    /// Counts a packet that the C program marks lost, and reports it to an algorithm that has
    /// `skb_marked_lost`.
    pub(crate) fn lost(&mut self, socket: &abi::Socket, sent: &Sent) -> Result<(), Failed> {
        self.begin(socket)?;
        self.report_acked();
        self.conn.lost = self.conn.lost.wrapping_add(sent.segments);
        if let Some(ack) = &mut self.ack {
            ack.lost = ack.lost.wrapping_add(sent.segments);
        }
        if self.hooks.skb_marked_lost {
            let skb = sent.lost();
            self.conn.ctl = self.cc.skb_marked_lost(&self.conn, &skb, &mut self.draw);
        }
        Ok(())
    }

    /// Ends the processing of an ACK: completes the rate sample and calls the algorithm. If the C
    /// program passes its own rate sample, `own`, this sample replaces the rate sample of the
    /// connection. Linux: `tcp_rate_gen`, `tcp_cong_control`.
    pub(crate) fn ack_end(
        &mut self,
        socket: &abi::Socket,
        own: Option<RateSample>,
    ) -> Result<(), Failed> {
        self.begin(socket)?;
        if self.ack.is_none() {
            return refused(Error::Order, "bbrlab_cc_ack_end: expected bbrlab_cc_ack_begin first");
        }
        self.report_acked();
        let Some(mut ack) = self.ack.take() else { return Ok(()) };
        let (delivered, lost) = (ack.delivered, ack.lost);
        self.sampler.generate(&mut self.conn, &mut ack.rate, delivered, lost, false);
        self.last = own.unwrap_or(ack.rate.rs);
        if self.hooks.cong_control {
            self.cc.apply_cong_control(&mut self.conn, &self.last, &mut self.draw);
        } else if !matches!(self.conn.ca_state, CaState::Cwr | CaState::Recovery)
            && ack.pkts_acked > 0
            && !ack.is_held
        {
            self.cc.apply_cong_avoid(&mut self.conn, ack.ack_seq, delivered);
        }
        Ok(())
    }

    /// Carries out an event that the C program reports with `bbrlab_cc_event`, such as a change of
    /// the state of loss recovery.
    pub(crate) fn event(
        &mut self,
        socket: &abi::Socket,
        event: Event,
        value: u32,
    ) -> Result<(), Failed> {
        self.begin(socket)?;
        self.report_acked();
        match event {
            Event::AppLimited => {
                let delivered = self.conn.delivered;
                self.conn.ctl.app_limited = delivered.wrapping_add(self.conn.inflight).max(1);
            }
            Event::WindowUsed => self.note_window(socket.packets_out, value != 0),
            Event::Mss if value == 0 => {
                return refused(Error::Argument, "expected a segment of at least 1 byte, found 0");
            }
            Event::Mss => self.conn.mss = value,
            Event::Hold => match &mut self.ack {
                Some(ack) => ack.is_held = true,
                None => return refused(Error::Order, "expected bbrlab_cc_ack_begin first"),
            },
            Event::IdleRestart if value == 0 => {
                return refused(Error::Argument, "expected a cwnd of at least 1 packet, found 0");
            }
            Event::IdleRestart => self.restart_after_idle(value),
            Event::DisorderEntered
            | Event::CwrEntered
            | Event::RecoveryEntered
            | Event::Timeout
            | Event::Left
            | Event::Spurious => self.change_episode(event, value),
        }
        Ok(())
    }

    /// Records whether cwnd limits the sender. Linux: the first half of `tcp_cwnd_validate`.
    fn note_window(&mut self, packets_out: u32, is_limited: bool) {
        let conn = &mut self.conn;
        if !before(conn.snd_una, self.usage_seq)
            || is_limited
            || (!conn.is_cwnd_limited && packets_out > conn.max_packets_out)
        {
            conn.is_cwnd_limited = is_limited;
            conn.max_packets_out = packets_out;
            self.usage_seq = conn.snd_nxt;
        }
    }

    /// Stores the cwnd that the C program computed.
    pub(crate) fn set_cwnd(&mut self, cwnd: u32) -> Result<(), Failed> {
        if cwnd == 0 {
            return refused(Error::Argument, "cwnd: expected at least 1 packet, found 0");
        }
        self.conn.ctl.cwnd = cwnd;
        Ok(())
    }

    /// Returns the rate sample of the last ACK.
    pub(crate) fn rate_sample(&self) -> &RateSample {
        &self.last
    }

    /// Returns the largest burst in packets. Linux: `tcp_tso_segs`, without the term that depends
    /// on the minimum RTT.
    pub(crate) fn quantum(&self) -> u32 {
        let conn = &self.conn;
        if self.hooks.tso_segs {
            return self.cc.tso_segs(conn, conn.mss).max(1);
        }
        let least = if self.hooks.min_tso_segs { self.cc.min_tso_segs(conn) } else { MIN_TSO_SEGS };
        let bytes = (conn.ctl.pacing_rate >> conn.pacing_shift).min(conn.gso_max_size.into());
        trunc_u32(bytes / u64::from(conn.mss)).max(least)
    }

    /// Returns whether the algorithm has requested pacing, so that the C program must pace packets.
    pub(crate) fn is_paced(&self) -> bool {
        self.conn.ctl.pacing_status != PacingStatus::None
    }
}
