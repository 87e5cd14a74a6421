//! The C4 test cases: the time at which the main connection ends.
//!
//! Sources: [c4-tests] for the percentile; [picoquic] for the end of a run, in `picoquic_ns.c`, and
//! for the closing of a connection, in `sender.c`.

use bbrlab_run::{Run, RunSummary};
use bbrlab_units::Span;

use super::{Formulas, RunRow};
use crate::known::start_s;
use crate::locate::{self, Keys};
use crate::papers::{Experiment, Key};
use crate::row::MeasuredRow;

/// The functions that compute the keys and metrics of this corpus.
pub(super) const FORMULAS: Formulas = Formulas {
    place: |_, run| place(run),
    rows: |_, of| Ok(vec![RunRow::of_run(vec![("end_s", end_s(of.run, of.summary))])]),
    with_compared,
};

/// Returns the algorithm of the main connection, and the scenario's name without `c4.`.
fn place(run: &Run) -> Keys {
    let name = run.scenario.rsplit('.').next().unwrap_or_default();
    vec![("algorithm", Key::word(run.class(0).cc.name())), ("scenario", Key::word(name))]
}

/// Returns the time at which the main connection, which is the first flow, has ended, in seconds
/// from the start of the simulation. `None` if the connection's transfer is not complete.
///
/// A QUIC connection closes with a packet and a reply, which take one base RTT after the last byte
/// was read. The result does not include the time that the reply waits in a queue.
fn end_s(run: &Run, summary: &RunSummary) -> Option<f64> {
    let main = &summary.flows[0];
    let read_s = start_s(main) + main.fct_ms.mean? / 1e3;
    Some(read_s + seconds(closing_rtt(run)))
}

/// Returns the base RTT of the first flow at the end of the run. If the bottleneck's delay changes
/// during the run, the delay of both directions changes.
fn closing_rtt(run: &Run) -> Span {
    let first = run.class(0).base_rtt;
    let Some(link) = locate::bottleneck(run) else { return first };
    let last = link.delay_steps.as_ref().and_then(|it| it.steps.last()).map(|(_, delay)| *delay);
    let last = last.unwrap_or(link.delay);
    Span(first.0 + 2 * last.0 - 2 * link.delay.0)
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds below 2^53")]
fn seconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}

/// Adds the metric `p90_s`, the 90th percentile of `end_s` over the seeds. All seeds that have an
/// `end_s` get the same `p90_s`.
fn with_compared(_: &Experiment, mut rows: Vec<MeasuredRow>) -> Vec<MeasuredRow> {
    for row in &mut rows {
        let ends = row.metric("end_s").unwrap_or_default();
        let mut known: Vec<f64> = ends.iter().copied().flatten().collect();
        known.sort_by(f64::total_cmp);
        let p90 = percentile_90(&known);
        let of_seeds = ends.iter().map(|end| end.and(p90)).collect();
        row.metrics.push(("p90_s".to_owned(), of_seeds));
    }
    rows
}

/// Returns the 90th percentile of ascending values as the authors' script computes it: by linear
/// interpolation at the rank 0.9 (n - 1), with ranks counted from 0. `None` without values.
fn percentile_90(sorted: &[f64]) -> Option<f64> {
    let tenths = 9 * sorted.len().checked_sub(1)?;
    let (rank, part) = (tenths / 10, tenths % 10);
    let low = sorted[rank];
    let high = sorted.get(rank + 1).copied().unwrap_or(low);
    #[expect(clippy::cast_precision_loss, reason = "a digit")]
    let part = part as f64 / 10.0;
    Some(low + part * (high - low))
}

#[cfg(test)]
mod tests {
    use super::percentile_90;

    #[test]
    fn a_percentile_between_two_values_is_interpolated() {
        assert_eq!(percentile_90(&[]), None);
        assert_eq!(percentile_90(&[4.0]), Some(4.0));
        let ten: Vec<f64> = (0..=10).map(f64::from).collect();
        assert_eq!(percentile_90(&ten), Some(9.0));
        // The rank is 0.9 * 3 = 2.7, counted from 0: between the third and the fourth value.
        let found = percentile_90(&[1.0, 2.0, 3.0, 5.0]).expect("there are values");
        assert!((found - 4.4).abs() < 1e-12, "{found}");
    }
}
