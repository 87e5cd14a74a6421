//! Replays the services `rate_v1` and `rate_v3`: the delivery-rate sampler. Event 1 is the sending
//! of a packet, and event 2 its delivery. Event 3 completes the sample. Event 4 checks whether the
//! sender is application-limited.

use std::collections::BTreeMap;

use bbrlab_cc::Conn;
use bbrlab_stack::RateSwitches;
use bbrlab_tcp::rate::{
    AckRate, Backlog, DeliveredSkb, RateSampler, SamplerVersion, SkbStamps, check_app_limited,
};

use super::{Service, named, u32_of};

/// Bits of `skb_sacked`: `SACKED` if the packet was acknowledged selectively, `RETRANS` if it was
/// retransmitted.
const SACKED: i64 = 0x01;
const RETRANS: i64 = 0x82;

pub(super) struct Rate {
    sampler: RateSampler,
    /// The rate sample of the current ACK. A trace's event 3 (see the module's text) completes the
    /// sample; then a new sample begins.
    ack: AckRate,
    /// For each packet, by its `skb_id`, the sampler's stamps.
    stamps: BTreeMap<i64, SkbStamps>,
}

impl Rate {
    pub(super) fn v1() -> Self {
        Self::new(SamplerVersion::V1)
    }

    pub(super) fn v3() -> Self {
        Self::new(SamplerVersion::V3)
    }

    fn new(version: SamplerVersion) -> Self {
        let sampler = RateSampler::new(version, RateSwitches::default());
        Self { sampler, ack: AckRate::default(), stamps: BTreeMap::new() }
    }
}

impl Service for Rate {
    const INPUTS: &'static [&'static str] = &[
        "event",
        "tcp_mstamp",
        "packets_out",
        "inflight",
        "delivered",
        "delivered_ce",
        "lost",
        "app_limited",
        "first_tx_mstamp",
        "delivered_mstamp",
        "rtt_min_us",
        "snd_cwnd",
        "unsent_bytes",
        "mss",
        "wmem",
        "lost_out",
        "retrans_out",
        "skb_id",
        "skb_tstamp_us",
        "skb_end_seq",
        "skb_sacked",
        "gen_delivered",
        "gen_lost",
    ];
    const COMPARED: &'static [&'static str] = &[
        "o_first_tx_mstamp",
        "o_delivered_mstamp",
        "o_app_limited",
        "k_first_tx_mstamp",
        "k_delivered_mstamp",
        "k_delivered",
        "k_delivered_ce",
        "k_is_app_limited",
        "k_in_flight",
        "k_lost",
        "rs_prior_mstamp",
        "rs_prior_delivered",
        "rs_prior_delivered_ce",
        "rs_prior_lost",
        "rs_tx_in_flight",
        "rs_last_end_seq",
        "rs_is_app_limited",
        "rs_is_retrans",
        "rs_interval_us",
        "rs_delivered",
        "rs_delivered_ce",
        "rs_lost",
        "rs_snd_interval_us",
        "rs_rcv_interval_us",
        "rs_losses",
        "rs_acked_sacked",
        "rate_delivered",
        "rate_interval_us",
        "rate_app_limited",
    ];

    fn step(
        &mut self,
        input: &[i64],
        output: &mut impl FnMut(&'static str, i64),
    ) -> Result<(), String> {
        named!(input; event, tcp_mstamp, packets_out, inflight, delivered, delivered_ce, lost, app_limited,
            first_tx_mstamp, delivered_mstamp, rtt_min_us, snd_cwnd, unsent_bytes, mss, wmem, lost_out,
            retrans_out, skb_id, skb_tstamp_us, skb_end_seq, skb_sacked, gen_delivered, gen_lost);
        let mut conn = Conn {
            clock_ns: tcp_mstamp.cast_unsigned().wrapping_mul(1000),
            inflight: u32_of(inflight),
            delivered: u32_of(delivered),
            delivered_ce: u32_of(delivered_ce),
            lost: u32_of(lost),
            delivered_mstamp: delivered_mstamp.cast_unsigned(),
            min_rtt_us: u32_of(rtt_min_us),
            mss: u32_of(mss),
            ..Conn::default()
        };
        conn.ctl.app_limited = u32_of(app_limited);
        conn.ctl.cwnd = u32_of(snd_cwnd);
        self.sampler.first_tx_mstamp = first_tx_mstamp.cast_unsigned();
        let tx_mstamp = skb_tstamp_us.cast_unsigned();
        let stamps = self.stamps.entry(skb_id).or_default();
        match event {
            1 => *stamps = self.sampler.skb_sent(&mut conn, u32_of(packets_out), 1, tx_mstamp),
            2 => {
                let skb = DeliveredSkb {
                    tx_mstamp,
                    end_seq: u32_of(skb_end_seq),
                    is_sacked: skb_sacked & SACKED != 0,
                    is_retrans: skb_sacked & RETRANS != 0,
                };
                self.sampler.skb_delivered(&mut self.ack, stamps, skb);
            }
            3 => {
                let (delivered, lost) = (u32_of(gen_delivered), u32_of(gen_lost));
                self.sampler.generate(&mut conn, &mut self.ack, delivered, lost, false);
            }
            4 => {
                let backlog = Backlog {
                    unsent_bytes: u32_of(unsent_bytes),
                    wmem_alloc: u32_of(wmem),
                    lost_out: u32_of(lost_out),
                    retrans_out: u32_of(retrans_out),
                };
                check_app_limited(&mut conn, backlog);
            }
            _ => return Err(format!("event {event} is not known")),
        }
        output("o_first_tx_mstamp", self.sampler.first_tx_mstamp.cast_signed());
        output("o_delivered_mstamp", conn.delivered_mstamp.cast_signed());
        output("o_app_limited", i64::from(conn.ctl.app_limited));
        if matches!(event, 1 | 2) {
            put_stamps(stamps, output);
        }
        if matches!(event, 2 | 3) {
            put_sample(&self.ack, output);
        }
        output("rate_delivered", i64::from(self.sampler.rate_delivered));
        output("rate_interval_us", i64::from(self.sampler.rate_interval_us));
        output("rate_app_limited", i64::from(self.sampler.rate_app_limited));
        if event == 3 {
            self.ack = AckRate::default();
        }
        Ok(())
    }
}

fn put_stamps(stamps: &SkbStamps, output: &mut impl FnMut(&'static str, i64)) {
    output("k_first_tx_mstamp", stamps.first_tx_mstamp.cast_signed());
    output("k_delivered_mstamp", stamps.delivered_mstamp.cast_signed());
    output("k_delivered", i64::from(stamps.delivered));
    output("k_delivered_ce", i64::from(stamps.notes.delivered_ce));
    output("k_is_app_limited", i64::from(stamps.is_app_limited));
    output("k_in_flight", i64::from(stamps.notes.in_flight));
    output("k_lost", i64::from(stamps.notes.lost));
}

fn put_sample(ack: &AckRate, output: &mut impl FnMut(&'static str, i64)) {
    output("rs_prior_mstamp", ack.prior_mstamp.cast_signed());
    output("rs_prior_delivered", i64::from(ack.rs.prior_delivered));
    output("rs_prior_delivered_ce", i64::from(ack.prior_delivered_ce));
    output("rs_prior_lost", i64::from(ack.prior_lost));
    output("rs_tx_in_flight", i64::from(ack.rs.tx_in_flight));
    output("rs_last_end_seq", i64::from(ack.last_end_seq));
    output("rs_is_app_limited", i64::from(ack.rs.is_app_limited));
    output("rs_is_retrans", i64::from(ack.is_retrans));
    output("rs_interval_us", ack.rs.interval_us);
    output("rs_delivered", i64::from(ack.rs.delivered));
    output("rs_delivered_ce", i64::from(ack.rs.delivered_ce));
    output("rs_lost", i64::from(ack.rs.lost));
    output("rs_snd_interval_us", i64::from(ack.snd_interval_us));
    output("rs_rcv_interval_us", i64::from(ack.rcv_interval_us));
    output("rs_losses", i64::from(ack.rs.losses));
    output("rs_acked_sacked", i64::from(ack.rs.acked_sacked));
}
