//! The largest work that a command accepts by default.
//!
//! The limit is a number of data packets. Other costs are converted to packets: four events count
//! as one packet, one row of the time series as a hundred, and one byte of memory as one. On a
//! dumbbell, a packet has two or three events. None of the four costs may exceed the limit; the
//! costs are not added. The default of 10^10 packets therefore allows up to 4 x 10^10 events, up to
//! 10^8 rows and up to 10 GB at the same time.

use bbrlab_cost::Estimate;

/// Data packets that a command accepts by default.
pub const DEFAULT_LIMIT: u64 = 10_000_000_000;

/// Number of events that the limit counts as one packet.
const EVENTS_PER_PACKET: u64 = 4;

/// For the limit, one row of the time series counts as this number of packets.
const PACKETS_PER_ROW: u64 = 100;

/// Returns an error if the estimate exceeds the limit.
///
/// `jobs` runs are in memory at the same time. In addition, the program keeps `kept_bytes` of data
/// on all runs until the end: `estimate.sweep_bytes`, or `records_bytes` if the caller needs all
/// results at once.
///
/// # Errors
/// Fails if the estimate is above the limit. The message says how to raise the limit.
pub fn check_limit(
    estimate: &Estimate,
    jobs: usize,
    kept_bytes: u64,
    limit: u64,
) -> Result<(), String> {
    let at_once = estimate.runs.min(jobs as u64);
    let at_most = estimate.at_most();
    let wanted = [
        (estimate.data_packets, at_most.packets, (1, 1), "data packets", ""),
        (estimate.events, at_most.packets, (1, EVENTS_PER_PACKET), "events", ""),
        (
            estimate.series_rows,
            at_most.rows,
            (PACKETS_PER_ROW, 1),
            "rows of time series",
            ", or keep fewer rows with --set sample=...",
        ),
        (
            estimate.memory_bytes.saturating_mul(at_once).saturating_add(kept_bytes),
            at_most.memory,
            (1, 1),
            "bytes of memory",
            if kept_bytes > limit / 2 {
                ", or divide the sweep"
            } else if at_once > 1 {
                ", or fewer runs in parallel with --jobs"
            } else {
                ""
            },
        ),
    ];
    let needed =
        |amount: u64, (packets, of): (u64, u64)| amount.saturating_mul(packets).div_ceil(of);
    // The smallest limit that allows the packets, the events, the rows and the memory. A user who
    // raises the limit to this number gets no second message about another of these four.
    let enough = wanted.iter().map(|&(amount, _, of, ..)| needed(amount, of)).max().unwrap_or(0);
    for (amount, is_at_most, (packets, of), what, or) in wanted {
        if needed(amount, (packets, of)) > limit {
            let takes = if is_at_most { "can take up to" } else { "takes about" };
            return Err(format!(
                "this {takes} {} {what}, and --limit {} allows {}; use --limit {}{or}",
                power(amount),
                power(limit),
                power(limit.saturating_mul(of) / packets),
                power_up(enough),
            ));
        }
    }
    Ok(())
}

/// Formats a value for messages: `830`, or from 10,000 on with two significant digits, `1.2e11`.
fn power(value: u64) -> String {
    if value < 10_000 {
        return value.to_string();
    }
    let (digits, exponent) = two_digits(value, false);
    written(digits, exponent)
}

/// Like [`power`], but rounded up.
fn power_up(value: u64) -> String {
    let (digits, exponent) = two_digits(value, true);
    written(digits, exponent)
}

fn two_digits(value: u64, up: bool) -> (u64, u32) {
    let mut exponent = 0;
    let mut digits = value;
    let mut is_exact = true;
    while digits >= 100 {
        is_exact &= digits.is_multiple_of(10);
        digits /= 10;
        exponent += 1;
    }
    if up && !is_exact {
        digits += 1;
    }
    if digits == 100 { (10, exponent + 1) } else { (digits, exponent) }
}

fn written(digits: u64, exponent: u32) -> String {
    if digits < 10 {
        return format!("{digits}");
    }
    match digits % 10 {
        0 => format!("{}e{}", digits / 10, exponent + 1),
        last => format!("{}.{last}e{}", digits / 10, exponent + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_LIMIT, check_limit};
    use bbrlab_cost::Estimate;
    use expect_test::{Expect, expect};

    fn check(estimate: &Estimate, jobs: usize, expected: &Expect) {
        let told = match check_limit(estimate, jobs, estimate.records_bytes, DEFAULT_LIMIT) {
            Ok(()) => "taken on".to_owned(),
            Err(text) => text,
        };
        expected.assert_eq(&told);
    }

    #[test]
    fn what_is_within_the_limit_is_taken_on() {
        let estimate = Estimate {
            runs: 1,
            data_packets: DEFAULT_LIMIT,
            series_rows: 100_000_000,
            memory_bytes: 1_000_000,
            ..Estimate::default()
        };
        check(&estimate, 2, &expect!["taken on"]);
    }

    #[test]
    fn a_run_above_the_limit_is_refused_with_the_limit_that_it_needs() {
        let packets = Estimate { data_packets: 99_100_000_001, ..Estimate::default() };
        check(
            &packets,
            2,
            &expect![
                "this takes about 9.9e10 data packets, and --limit 1e10 allows 1e10; use --limit 1e11"
            ],
        );
        let bound = Estimate { data_packets_unsure: 90_000_000_000, ..packets };
        check(
            &bound,
            2,
            &expect![
                "this can take up to 9.9e10 data packets, and --limit 1e10 allows 1e10; use --limit 1e11"
            ],
        );
        let events = Estimate { events: 90_000_000_000, ..Estimate::default() };
        check(
            &events,
            2,
            &expect![
                "this takes about 9e10 events, and --limit 1e10 allows 4e10; use --limit 2.3e10"
            ],
        );
        let rows = Estimate { series_rows: 500_000_000, ..Estimate::default() };
        check(
            &rows,
            2,
            &expect![
                "this takes about 5e8 rows of time series, and --limit 1e10 allows 1e8; use --limit 5e10, or keep fewer rows with --set sample=..."
            ],
        );
        let memory = Estimate { runs: 10, memory_bytes: 6_000_000_000, ..Estimate::default() };
        check(
            &memory,
            2,
            &expect![
                "this takes about 1.2e10 bytes of memory, and --limit 1e10 allows 1e10; use --limit 1.2e10, or fewer runs in parallel with --jobs"
            ],
        );
        check(&memory, 1, &expect!["taken on"]);
        let records = Estimate { runs: 10_000_000, records_bytes: 42_000_000_000, ..memory };
        check(
            &records,
            1,
            &expect![
                "this takes about 4.8e10 bytes of memory, and --limit 1e10 allows 1e10; use --limit 4.8e10, or divide the sweep"
            ],
        );
    }
}
