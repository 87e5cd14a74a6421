//! BBR+, a variant for high-speed trains. "BBRPlus" (`bbrplus`) is another variant.
//!
//! A train at 300 km/h changes cells every few seconds: the bandwidth changes, and the RTT varies
//! even without a queue. BBR+ therefore probes with larger gains, and adds the variation of the RTT
//! to RTprop:
//!
//! ```text
//! gains  = 1.5, 0.5, 1.5, 0.5, 1.5, 0.5, 1.5, 0.5
//! rtprop = min(rtt) + lambda * sqrt(Var(rtt)),  over the same window of 10 s
//! ```
//!
//! The stored minimum is `min(rtt)`, without the second term. The code of the thesis [lanigan]
//! compares RTT samples with the sum of minimum and second term. With that comparison, nearly every
//! sample would be a new minimum, and PROBE_RTT would rarely be entered.
//!
//! Sources: [lanigan] 2.2.5.3, listing 3.1, 3.3.2, after [wang].
//! Deviations:
//! 1. The variance covers the last 5 to 10 s, because RTT samples are summed separately in two
//!    halves of the 10 s window, as in Linux's estimate of ACK aggregation. The second term is
//!    updated once per round trip, not at every ACK.
//! 2. `lambda` is a multiple of 1/65536; the square root is rounded down to a microsecond.

use crate::linux_int::trunc_u32;
use crate::{Conn, ParamError, ParamSpec, ParamTable, Params, RateSample};

use super::Bbr;
use super::model::MinRtt;
use super::ns3::Ns3Steps;
use super::variant::Variant;

/// Length in seconds of each of the two halves of the window over which the variance is computed.
/// Together, the halves cover 10 s, as does the window of the minimum RTT.
const HALF_WINDOW_S: u32 = 5;

/// RTTs above 268 s count as 268 s, so that no sum can overflow.
const RTT_US_MAX: u32 = (1 << 28) - 1;

/// The variant "BBR+", which differs from BBR v1 in the gain cycle and in `rtprop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BbrHsr {
    lambda_q16: u32,
    /// The second term of `rtprop`, in microseconds: `lambda` times the standard deviation of the
    /// RTT.
    margin_us: u32,
    /// Start of the newer half of the variance's window, in jiffies.
    half_stamp: u32,
    newer: Moments,
    older: Moments,
}

impl BbrHsr {
    /// The parameters of BBR+.
    pub const PARAMS: &'static [ParamSpec] = &[
        ParamSpec {
            name: "lambda",
            default: "0.5",
            summary: "weight of the RTT's standard deviation in RTprop (0 to 16); Lanigan's thesis also uses 0.125",
        },
        ParamSpec {
            name: "integer_lambda",
            default: "false",
            summary: "whether lambda loses its fraction, as in the code of Lanigan's thesis: 0.5 and 0.125 are then both 0",
        },
    ];

    /// Makes an instance from the parameters that a scenario sets.
    ///
    /// # Errors
    /// Fails if `lambda` or `integer_lambda` has the wrong type or is out of range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let table = ParamTable::new(Self::PARAMS, params);
        let lambda_q16 = table.ratio_q16("lambda", 0..=16)?;
        let lambda_q16 =
            if table.switch("integer_lambda")? { lambda_q16 & !0xffff } else { lambda_q16 };
        Ok(Self {
            lambda_q16,
            margin_us: 0,
            half_stamp: 0,
            newer: Moments::default(),
            older: Moments::default(),
        })
    }

    fn on_rtt(&mut self, conn: &Conn, rtt_us: u32) {
        let is_first = self.newer.count == 0 && self.older.count == 0;
        let age = conn.jiffies.wrapping_sub(self.half_stamp);
        if is_first || age >= HALF_WINDOW_S * conn.hz {
            self.older = self.newer;
            self.newer = Moments::default();
            self.half_stamp = conn.jiffies;
        }
        self.newer.add(rtt_us);
    }

    fn update_margin(&mut self) {
        let deviation_us = self.newer.and(self.older).standard_deviation();
        self.margin_us = trunc_u32((u64::from(deviation_us) * u64::from(self.lambda_q16)) >> 16);
    }
}

impl Variant for BbrHsr {
    type Steps = Ns3Steps;

    const GAIN_CYCLE_Q8: [u32; 8] = [384, 128, 384, 128, 384, 128, 384, 128];

    #[inline]
    fn observe(bbr: &mut Bbr<Self>, conn: &Conn, rs: &RateSample) {
        if let Ok(rtt_us) = u32::try_from(rs.rtt_us) {
            bbr.variant.on_rtt(conn, rtt_us);
        }
        if bbr.model.is_round_start() {
            bbr.variant.update_margin();
        }
    }

    #[inline]
    fn rtprop_us(bbr: &Bbr<Self>) -> u32 {
        if bbr.min_rtt.us == MinRtt::NONE {
            return MinRtt::NONE;
        }
        bbr.min_rtt.us.saturating_add(bbr.variant.margin_us).min(MinRtt::NONE - 1)
    }
}

/// Count, sum and sum of squares of RTT samples in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Moments {
    count: u32,
    sum: u64,
    sum_of_squares: u128,
}

impl Moments {
    fn add(&mut self, rtt_us: u32) {
        let rtt_us = u64::from(rtt_us.min(RTT_US_MAX));
        // The count reaches 2^31 - 1 only with 430 million ACKs per second for five seconds.
        // Further samples are ignored, so that the count does not wrap.
        if self.count < u32::MAX >> 1 {
            self.count += 1;
            self.sum += rtt_us;
            self.sum_of_squares += u128::from(rtt_us * rtt_us);
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            sum_of_squares: self.sum_of_squares + other.sum_of_squares,
        }
    }

    /// Returns the standard deviation of the samples (divided by n, not n - 1) in microseconds,
    /// rounded down; 0 without samples.
    fn standard_deviation(self) -> u32 {
        let count = u128::from(self.count);
        let sum = u128::from(self.sum);
        // n^2 Var = n sum(x^2) - sum(x)^2. This fits into 128 bits: n sum(x^2) is below 2^32 * 2^32
        // * 2^56. A sample x is below 2^28 (`RTT_US_MAX`); n is below 2^32, the sum of two counts
        // below 2^31.
        let scaled = count * self.sum_of_squares - sum * sum;
        let variance = scaled.checked_div(count * count).unwrap_or(0);
        let deviation = trunc_u64(variance).isqrt();
        trunc_u32(deviation)
    }
}

/// Converts a variance to 64 bits. A variance fits, because it is below `RTT_US_MAX`
/// squared, 2^56.
#[expect(clippy::cast_possible_truncation, reason = "see above")]
fn trunc_u64(variance: u128) -> u64 {
    variance as u64
}

#[cfg(test)]
mod tests {
    use super::Moments;

    fn standard_deviation(samples: &[u32]) -> u32 {
        let mut moments = Moments::default();
        for &sample in samples {
            moments.add(sample);
        }
        moments.standard_deviation()
    }

    #[test]
    fn deviation_is_that_of_the_population() {
        assert_eq!(standard_deviation(&[]), 0);
        assert_eq!(standard_deviation(&[30_000]), 0);
        assert_eq!(standard_deviation(&[20_000, 40_000]), 10_000);
        assert_eq!(standard_deviation(&[2, 4, 4, 4, 5, 5, 7, 9]), 2);
    }

    #[test]
    fn deviation_of_absurd_samples_does_not_overflow() {
        assert_eq!(standard_deviation(&[0, u32::MAX]), ((1 << 28) - 1) / 2);
    }
}
