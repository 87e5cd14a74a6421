//! Computes the difference between two sets of runs, without the part that chance explains.

use bbrlab_run::{mean, percentile, variance};

/// A metric in which our runs are compared with Linux's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// Payload that the receivers get, in Mbit/s.
    Goodput,
    /// Bytes sent at the bottleneck, divided by the bytes that its rate allows.
    Utilization,
    /// Mean of the sampled smoothed RTT, in ms.
    MeanRtt,
    /// 95th percentile of the sampled smoothed RTT, in ms.
    P95Rtt,
    /// Mean length of the queue in packets.
    MeanQueue,
    /// Retransmitted packets of all flows.
    Retransmissions,
    /// Packets dropped at the bottleneck.
    Drops,
    /// Jain's index in the steady state.
    Jain,
    /// Mean completion time of transfers in ms.
    Fct,
    /// Number of CE marks at the bottleneck.
    Marks,
    /// Drops at the second link with a rate: the second bottleneck, or the link of the reverse
    /// path.
    SecondDrops,
    /// Utilization of the second link with a rate: the second bottleneck, or the link of the
    /// reverse path.
    SecondUtilization,
}

impl Metric {
    /// All metrics, in the order of the summary.
    pub const ALL: [Self; 12] = [
        Self::Goodput,
        Self::Utilization,
        Self::MeanRtt,
        Self::P95Rtt,
        Self::MeanQueue,
        Self::Retransmissions,
        Self::Drops,
        Self::Jain,
        Self::Fct,
        Self::Marks,
        Self::SecondDrops,
        Self::SecondUtilization,
    ];

    /// Returns the metric's name in the output of `validate linux` and `compare --on`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::Utilization => "utilization",
            Self::MeanRtt => "mean_rtt",
            Self::P95Rtt => "p95_rtt",
            Self::MeanQueue => "mean_queue",
            Self::Retransmissions => "retransmissions",
            Self::Drops => "drops",
            Self::Jain => "jain",
            Self::Fct => "fct",
            Self::Marks => "marks",
            Self::SecondDrops => "second_drops",
            Self::SecondUtilization => "second_utilization",
        }
    }

    /// Returns the largest difference at which a comparison passes. `AIMS` states the project's
    /// aims for all comparisons together.
    #[must_use]
    pub const fn tolerance(self) -> f64 {
        match self {
            Self::Goodput | Self::Utilization | Self::SecondUtilization | Self::Fct => 0.05,
            Self::MeanRtt | Self::P95Rtt => 0.08,
            Self::MeanQueue | Self::Retransmissions | Self::Drops | Self::SecondDrops => 0.15,
            Self::Jain => 0.03,
            Self::Marks => 0.20,
        }
    }

    /// Returns the smallest divisor of differences: a difference is divided by Linux's value, or by
    /// this number if Linux's value is smaller. A queue of two packets instead of one therefore
    /// does not count as a difference of 100 %. Returns `None` for a metric whose differences are
    /// not divided.
    const fn floor(self) -> Option<f64> {
        match self {
            Self::MeanQueue => Some(5.0),
            Self::Retransmissions | Self::Drops | Self::SecondDrops | Self::Marks => Some(130.0),
            Self::Jain => None,
            _ => Some(0.0),
        }
    }
}

/// The comparison of a metric at a test point, between our runs and Linux's.
#[derive(Clone, Debug, PartialEq)]
pub struct LinuxComparison {
    /// The metric whose values are compared.
    pub metric: Metric,
    /// The index of the flow if the metric is compared for each flow, which requires that flows can
    /// be told apart; otherwise `None`.
    pub flow: Option<usize>,
    /// The mean of the metric over our seeds.
    pub ours: f64,
    /// The mean of the metric over Linux's seeds.
    pub linux: f64,
    /// max(0, |ours - Linux| - 2 SE) / max(Linux, floor), where SE is the standard error of the
    /// difference, and floor is the metric's smallest divisor. For Jain's index, the result is the
    /// numerator alone.
    pub difference: f64,
}

/// If Linux has fewer seeds than this number, the spread of Linux's values is too uncertain, so the
/// spread of our values is used for both.
const SEEDS_MIN: usize = 5;

impl LinuxComparison {
    /// Compares our values of a metric, one per seed, with Linux's; returns `None` if either side
    /// has no value.
    pub(super) fn new(
        metric: Metric,
        flow: Option<usize>,
        ours: &[f64],
        linux: &[f64],
    ) -> Option<Self> {
        let (our_mean, linux_mean) = (mean(ours)?, mean(linux)?);
        let our_sd = variance(ours).sqrt();
        let linux_sd = if linux.len() < SEEDS_MIN { our_sd } else { variance(linux).sqrt() };
        #[expect(clippy::cast_precision_loss, reason = "there are only a few seeds")]
        let variance =
            our_sd * our_sd / ours.len() as f64 + linux_sd * linux_sd / linux.len() as f64;
        let beyond_chance = ((our_mean - linux_mean).abs() - 2.0 * variance.sqrt()).max(0.0);
        let difference = match metric.floor() {
            None => beyond_chance,
            Some(_) if beyond_chance == 0.0 => 0.0,
            Some(floor) => beyond_chance / linux_mean.max(floor),
        };
        Some(Self { metric, flow, ours: our_mean, linux: linux_mean, difference })
    }

    /// Whether the difference is within the metric's tolerance.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.difference <= self.metric.tolerance()
    }
}

/// Returns the lines below a table of [`LinuxComparison::difference`] in percent. The lines explain
/// these percentages and the metrics of RTTs. `reference` is the name of Linux's column.
#[must_use]
pub fn explain_differences(reference: &str) -> String {
    let floor = |metric: Metric| metric.floor().unwrap_or_default();
    format!(
        "beyond seeds: the difference minus two of its standard errors, divided by the value of {reference}, \
         in percent. The divisor is at least {} for counts of packets, and at least {} packets for \
         queues. Differences of jain are not divided, and are in hundredths\n\
         {} and {} are of the smoothed RTT (srtt_ms), sampled at equal intervals; rtt_ms has the RTTs of all packets\n\
         agrees: `beyond seeds` is at most the metric's tolerance. With fewer than {SEEDS_MIN} seeds on {reference}, \
         the spread of the other side's seeds is used for both sides\n",
        floor(Metric::Drops),
        floor(Metric::MeanQueue),
        Metric::MeanRtt.name(),
        Metric::P95Rtt.name()
    )
}

/// Statistics of a metric's differences over all test points. The differences are values of
/// [`LinuxComparison::difference`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricSummary {
    /// The number of compared values of the metric.
    pub n: usize,
    /// Median difference.
    pub median: f64,
    /// 95th percentile of the differences.
    pub p95: f64,
    /// Largest difference.
    pub worst: f64,
    /// Share of the comparisons within the tolerance.
    pub within: f64,
}

impl MetricSummary {
    /// Summarises the differences of one metric; returns `None` if there are none.
    pub(super) fn new(metric: Metric, mut differences: Vec<f64>) -> Option<Self> {
        differences.sort_by(f64::total_cmp);
        let n = differences.len();
        #[expect(clippy::cast_precision_loss, reason = "a count of comparisons is far below 2^52")]
        Some(Self {
            n,
            median: percentile(&differences, 500)?,
            p95: percentile(&differences, 950)?,
            worst: *differences.last()?,
            within: differences.iter().filter(|&&off| off <= metric.tolerance()).count() as f64
                / n as f64,
        })
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact by construction")]
mod tests {
    use super::{LinuxComparison, Metric, MetricSummary, explain_differences};

    #[test]
    fn what_chance_explains_is_no_difference() {
        let ours = [9.0, 11.0, 10.0, 10.0];
        let same = LinuxComparison::new(Metric::Goodput, None, &ours, &[10.5]).unwrap();
        assert_eq!(same.difference, 0.0);
        let other = LinuxComparison::new(Metric::Goodput, None, &[10.0; 10], &[8.0; 5]).unwrap();
        assert!((other.difference - 0.25).abs() < 1e-12);
    }

    #[test]
    fn small_queues_are_measured_against_the_floor() {
        let queue = LinuxComparison::new(Metric::MeanQueue, None, &[2.0; 10], &[1.0; 5]).unwrap();
        assert!((queue.difference - 0.2).abs() < 1e-12);
        let jain = LinuxComparison::new(Metric::Jain, None, &[0.90; 10], &[0.95; 5]).unwrap();
        assert!((jain.difference - 0.05).abs() < 1e-12);
        let nothing = LinuxComparison::new(Metric::Goodput, None, &[0.0], &[0.0]).unwrap();
        assert_eq!(nothing.difference, 0.0);
    }

    /// 15 and 91 drops differ by 76. This difference is divided by the smallest divisor for counts
    /// of packets, 130. The text of [`explain_differences`] must state this divisor.
    #[test]
    fn few_drops_are_in_percent_of_the_number_in_the_explanation() {
        let drops = LinuxComparison::new(Metric::Drops, None, &[15.0], &[91.0]).unwrap();
        assert_eq!(format!("{:.2}", drops.difference * 100.0), "58.46");
        let text = explain_differences("ns3");
        let floors =
            "The divisor is at least 130 for counts of packets, and at least 5 packets for queues";
        assert!(text.contains(floors), "{text}");
    }

    #[test]
    fn percentiles_are_of_the_comparisons_themselves() {
        let differences = (1..=20).map(f64::from).collect();
        let summary = MetricSummary::new(Metric::Goodput, differences).unwrap();
        assert_eq!((summary.median, summary.p95, summary.worst), (10.0, 19.0, 20.0));
    }
}
