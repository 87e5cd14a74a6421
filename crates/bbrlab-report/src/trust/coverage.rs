//! The ranges of rates, round-trip times and buffers in which runs of each congestion control were
//! compared with a real Linux stack (`docs/fidelity.md`).

use super::subject::{Places, Range};

/// The documentation page with the table of these ranges. A range covers the test points of a
/// congestion control. A test point is one scenario whose runs on one Linux kernel were recorded.
pub(super) const PAGE: &str = "docs/fidelity.md";

/// The runs of a congestion control on a real Linux stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coverage {
    pub cc: &'static str,
    /// Number of test points with this congestion control at which Linux was recorded.
    pub points: u32,
    pub rate_mbps: Range,
    pub rtt_ms: Range,
    pub buffer_bdp: Range,
    /// The differences in goodput between the recorded Linux runs and bbrlab's runs: 95th
    /// percentile and largest, in percent. A difference is only the part of a deviation that
    /// exceeds two standard errors.
    pub goodput: (f64, f64),
}

const fn row(
    cc: &'static str,
    points: u32,
    rate_mbps: (f64, f64),
    rtt_ms: (f64, f64),
    buffer_bdp: (f64, f64),
    goodput: (f64, f64),
) -> Coverage {
    const fn range((least, most): (f64, f64)) -> Range {
        Range { least, most }
    }
    Coverage {
        cc,
        points,
        rate_mbps: range(rate_mbps),
        rtt_ms: range(rtt_ms),
        buffer_bdp: range(buffer_bdp),
        goodput,
    }
}

/// The rows of the table in [`PAGE`], one for each congestion control.
pub(super) const COVERAGE: &[Coverage] = &[
    row("bbr1", 87, (1.0, 1000.0), (10.0, 200.0), (0.1, 16.0), (0.1, 0.6)),
    row("bbr2", 63, (10.0, 1000.0), (4.0, 200.0), (0.1, 16.0), (1.6, 7.2)),
    row("bbr3", 58, (10.0, 1000.0), (4.0, 200.0), (0.1, 16.0), (0.6, 2.2)),
    row("cubic", 82, (1.0, 1000.0), (10.0, 200.0), (0.1, 16.0), (1.0, 1.5)),
    row("reno", 15, (10.0, 100.0), (20.0, 40.0), (0.1, 16.0), (0.0, 0.0)),
    row("vegas", 25, (10.0, 100.0), (20.0, 40.0), (0.1, 16.0), (0.6, 13.6)),
    row("dctcp", 6, (10.0, 50.0), (20.0, 30.0), (1.0, 4.0), (0.0, 0.0)),
    row("illinois", 1, (50.0, 50.0), (30.0, 30.0), (1.0, 1.0), (0.0, 0.0)),
    row("highspeed", 1, (50.0, 50.0), (30.0, 30.0), (1.0, 1.0), (0.0, 0.0)),
    row("scalable", 1, (50.0, 50.0), (30.0, 30.0), (1.0, 1.0), (0.0, 0.0)),
    row("veno", 1, (50.0, 50.0), (30.0, 30.0), (1.0, 1.0), (0.0, 0.0)),
    row("hybla", 1, (50.0, 50.0), (30.0, 30.0), (1.0, 1.0), (0.0, 0.0)),
];

impl Coverage {
    /// Returns a text such as `RTT of 300 ms` for each quantity of a result that is outside of the
    /// compared range.
    pub(super) fn outside(&self, places: &Places) -> Vec<String> {
        let quantities = [
            ("rate", "Mbit/s", places.rate_mbps, self.rate_mbps),
            ("RTT", "ms", places.rtt_ms, self.rtt_ms),
            ("buffer", "BDP", places.buffer_bdp, self.buffer_bdp),
        ];
        let beyond = |&(_, _, own, known): &(&str, &str, Option<Range>, Range)| {
            own.is_some_and(|own| {
                own.least < known.least * NEARLY.0 || own.most > known.most * NEARLY.1
            })
        };
        let words = |(name, unit, own, _): (&str, &str, Option<Range>, Range)| {
            format!("{name} of {} {unit}", own.map_or_else(String::new, Range::words))
        };
        quantities.into_iter().filter(beyond).map(words).collect()
    }

    /// Returns the coverage of this congestion control as a row of the table in [`PAGE`].
    #[cfg(test)]
    pub(super) fn markdown(&self) -> String {
        let Self { cc, points, rate_mbps, rtt_ms, buffer_bdp, goodput } = self;
        format!(
            "| {cc} | {points} | {} | {} | {} | {:.1}, {:.1} |",
            rate_mbps.words(),
            rtt_ms.words(),
            buffer_bdp.words(),
            goodput.0,
            goodput.1
        )
    }
}

/// Factors that widen a compared range. A result is within the range if the result is between the
/// lower end times the first factor and the upper end times the second factor. The tolerance is
/// needed because buffers are whole numbers of packets: a buffer that is, for example, 1 BDP in the
/// scenario differs from 1 BDP by a few percent.
const NEARLY: (f64, f64) = (0.9, 1.1);

impl Range {
    /// Returns the range as text, such as `5` or `5 to 100`.
    pub(super) fn words(self) -> String {
        let number = |value: f64| {
            let text = format!("{value:.2}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        let (least, most) = (number(self.least), number(self.most));
        if least == most { least } else { format!("{least} to {most}") }
    }
}
