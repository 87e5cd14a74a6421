//! Replays the service `rtt`. Event 1 updates the smoothed RTT and its variance, event 2 the
//! windowed minimum RTT.

use bbrlab_cc::WindowedFilter;
use bbrlab_cc::windowed_filter::Measured;
use bbrlab_tcp::rtt::{RTO_MIN_US, RttEstimator};

use super::{Service, named, u32_of};

pub(super) struct Rtt {
    hz: u32,
}

impl Rtt {
    pub(super) fn new(hz: u32) -> Self {
        Self { hz }
    }
}

impl Service for Rtt {
    const INPUTS: &'static [&'static str] = &[
        "event",
        "mrtt_us",
        "snd_una",
        "snd_nxt",
        "jiffies",
        "ack_maybe_delayed",
        "srtt_us",
        "mdev_us",
        "mdev_max_us",
        "rttvar_us",
        "rtt_seq",
        "min0_t",
        "min0_v",
        "min1_t",
        "min1_v",
        "min2_t",
        "min2_v",
    ];
    const COMPARED: &'static [&'static str] = &[
        "o_srtt_us",
        "o_mdev_us",
        "o_mdev_max_us",
        "o_rttvar_us",
        "o_rtt_seq",
        "o_min0_t",
        "o_min0_v",
        "o_min1_t",
        "o_min1_v",
        "o_min2_t",
        "o_min2_v",
    ];

    fn step(
        &mut self,
        input: &[i64],
        output: &mut impl FnMut(&'static str, i64),
    ) -> Result<(), String> {
        named!(input; event, mrtt_us, snd_una, snd_nxt, jiffies, maybe_delayed, srtt_us, mdev_us, mdev_max_us,
            rttvar_us, rtt_seq, min0_t, min0_v, min1_t, min1_v, min2_t, min2_v);
        let sample = |t, v| Measured { t: u32_of(t), v: u32_of(v) };
        let mut rtt = RttEstimator {
            srtt_us: u32_of(srtt_us),
            mdev_us: u32_of(mdev_us),
            mdev_max_us: u32_of(mdev_max_us),
            rttvar_us: u32_of(rttvar_us),
            rtt_seq: u32_of(rtt_seq),
            rtt_min: WindowedFilter::from_samples([
                sample(min0_t, min0_v),
                sample(min1_t, min1_v),
                sample(min2_t, min2_v),
            ]),
            rto_min_us: RTO_MIN_US,
        };
        match event {
            1 => rtt.sample(mrtt_us, u32_of(snd_una), u32_of(snd_nxt)),
            2 => rtt.update_min(u32_of(mrtt_us), maybe_delayed != 0, u32_of(jiffies), self.hz),
            _ => return Err(format!("event {event} is not known")),
        }
        output("o_srtt_us", i64::from(rtt.srtt_us));
        output("o_mdev_us", i64::from(rtt.mdev_us));
        output("o_mdev_max_us", i64::from(rtt.mdev_max_us));
        output("o_rttvar_us", i64::from(rtt.rttvar_us));
        output("o_rtt_seq", i64::from(rtt.rtt_seq));
        let names = [["o_min0_t", "o_min0_v"], ["o_min1_t", "o_min1_v"], ["o_min2_t", "o_min2_v"]];
        for ([t, v], sample) in names.into_iter().zip(rtt.rtt_min.samples()) {
            output(t, i64::from(sample.t));
            output(v, i64::from(sample.v));
        }
        Ok(())
    }
}
