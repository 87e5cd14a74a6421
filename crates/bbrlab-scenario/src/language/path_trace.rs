//! Traces of a path: how rate, delay and loss of a link change, one line of a CSV file per change.
//!
//! The first line names the columns: `time_s` and at least one of `rate_mbps`, `delay_ms` and
//! `loss`. Each later line holds from its time on, the last one to the end of the run.

use std::sync::Arc;

use bbrlab_units::{BitRate, Span, Time};

use crate::language::decimal::Decimal;
use crate::language::quantity::{Refusal, parse_rate, parse_span};

/// What a trace says; a column that it does not have is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathTrace {
    pub(crate) rate: Option<Arc<[(Time, BitRate)]>>,
    pub(crate) delay: Option<Arc<[(Time, Span)]>>,
    pub(crate) loss: Option<Arc<[(Time, Decimal)]>>,
    /// The text that it was read from, without comments and empty lines.
    pub(crate) lines: Vec<String>,
}

/// The longest schedule, and the longest trace.
pub(crate) const STEPS_MAX: usize = 100_000;

const TIME: &str = "time_s";
const RATE: &str = "rate_mbps";
const DELAY: &str = "delay_ms";
const LOSS: &str = "loss";

/// Reads the lines of a trace. The error completes a sentence that begins with "the trace".
pub(crate) fn parse<'t>(text: impl Iterator<Item = &'t str>) -> Result<PathTrace, String> {
    let mut lines = text
        .enumerate()
        // Some programs begin a file with a byte order mark.
        .map(|(index, line)| (index + 1, line.trim_start_matches('\u{feff}').trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let expected = format!("`{TIME}` and some of `{RATE}`, `{DELAY}`, `{LOSS}`");
    let Some((_, header)) = lines.next() else {
        return Err(format!("is empty; its first line should name its columns, {expected}"));
    };
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    let known = [TIME, RATE, DELAY, LOSS];
    let is_right = columns.len() > 1
        && columns[0] == TIME
        && columns.iter().all(|column| known.contains(column))
        && columns.iter().enumerate().all(|(at, column)| !columns[..at].contains(column));
    if !is_right {
        return Err(format!("has the columns {header:?} in place of {expected}"));
    }
    let place = |name: &str| columns.iter().position(|column| *column == name);
    let (rate_at, delay_at, loss_at) = (place(RATE), place(DELAY), place(LOSS));
    let mut kept = vec![columns.join(",")];
    let (mut rate, mut delay, mut loss) = (Vec::new(), Vec::new(), Vec::new());
    let mut before = None;
    for (number, line) in lines {
        let values: Vec<&str> = line.split(',').map(str::trim).collect();
        if values.len() != columns.len() {
            let (found, wanted) = (values.len(), columns.len());
            return Err(format!("has {wanted} columns, but {found} on line {number}"));
        }
        if kept.len() > STEPS_MAX {
            return Err(format!("has more than {STEPS_MAX} lines"));
        }
        let wrong = |what: &str, found: &str| format!("has no {what} on line {number}: {found}");
        // As a quantity with its unit, so that both are as exact and bounded alike.
        let span = |what: &str, unit: &str, value: &str| {
            let text = format!("{value}{unit}");
            let found = |refusal: Refusal| refusal.found.replacen(&text, value, 1);
            parse_span(&text).map_err(|refusal| wrong(what, &found(refusal)))
        };
        let at = span("time in seconds", "s", values[0])?;
        match before {
            None if at > Span::ZERO => {
                return Err(format!("does not begin at 0, but on line {number} at {}", values[0]));
            }
            Some(before) if at <= before => {
                return Err(format!("has a time on line {number} that does not rise"));
            }
            _ => before = Some(at),
        }
        let at = Time(at.0);
        if let Some(place) = rate_at {
            let text = format!("{}Mbit/s", values[place]);
            let found = |refusal: Refusal| refusal.found.replacen(&text, values[place], 1);
            let value = parse_rate(&text);
            push(&mut rate, at, value.map_err(|of| wrong("rate in Mbit/s", &found(of)))?);
        }
        if let Some(place) = delay_at {
            push(&mut delay, at, span("delay in ms", "ms", values[place])?);
        }
        if let Some(place) = loss_at {
            let value = Decimal::parse(values[place]).filter(|ratio| ratio.is_ratio());
            let found = || wrong("loss from 0 to 1", &format!("{:?}", values[place]));
            push(&mut loss, at, value.ok_or_else(found)?);
        }
        kept.push(values.join(","));
    }
    if kept.len() == 1 {
        return Err("has no line below its columns".to_owned());
    }
    if let Some(reason) = wrong_end(&rate) {
        return Err(reason.to_owned());
    }
    Ok(PathTrace {
        rate: rate_at.map(|_| rate.into()),
        delay: delay_at.map(|_| delay.into()),
        loss: loss_at.map(|_| loss.into()),
        lines: kept,
    })
}

/// Why a schedule cannot begin or end as it does: a buffer in BDP needs a rate, and so does the
/// last packet.
pub(crate) fn wrong_end(rates: &[(Time, BitRate)]) -> Option<&'static str> {
    let is_zero = |step: Option<&(Time, BitRate)>| step.is_some_and(|step| step.1 == BitRate(0));
    if is_zero(rates.first()) {
        Some("begins with a rate of 0")
    } else if is_zero(rates.last()) {
        Some("ends with a rate of 0, at which nothing would ever leave")
    } else {
        None
    }
}

/// Adds a step, if the value is another one.
fn push<T: PartialEq>(steps: &mut Vec<(Time, T)>, at: Time, value: T) {
    if steps.last().is_none_or(|last| last.1 != value) {
        steps.push((at, value));
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: &Expect) {
        expected.assert_eq(&match parse(text.lines()) {
            Ok(trace) => format!("{:?} {:?} {:?}", trace.rate, trace.delay, trace.loss),
            Err(error) => error,
        });
    }

    #[test]
    fn columns_may_be_missing_and_values_that_stay_make_no_step() {
        check(
            "\u{feff}# measured by nobody\ntime_s,rate_mbps,delay_ms,loss\n0,50,20,0\n\n0.5, 0, 20, 0.01\n1,50,25.5,0.01\n",
            &expect![
                "Some([(Time(0), BitRate(50000000)), (Time(500000000), BitRate(0)), (Time(1000000000), BitRate(50000000))]) Some([(Time(0), Span(20000000)), (Time(1000000000), Span(25500000))]) Some([(Time(0), Decimal { negative: false, digits: 0, scale: 0 }), (Time(500000000), Decimal { negative: false, digits: 1, scale: 2 })])"
            ],
        );
        check(
            "time_s,delay_ms\n0,20\n15,45\n",
            &expect![
                "None Some([(Time(0), Span(20000000)), (Time(15000000000), Span(45000000))]) None"
            ],
        );
    }

    #[test]
    fn wrong_traces_are_refused() {
        check(
            "",
            &expect![
                "is empty; its first line should name its columns, `time_s` and some of `rate_mbps`, `delay_ms`, `loss`"
            ],
        );
        check(
            "0,50,20\n",
            &expect![[
                r#"has the columns "0,50,20" in place of `time_s` and some of `rate_mbps`, `delay_ms`, `loss`"#
            ]],
        );
        check(
            "time_s,rate_mbps,rate_mbps\n0,1,1\n",
            &expect![[
                r#"has the columns "time_s,rate_mbps,rate_mbps" in place of `time_s` and some of `rate_mbps`, `delay_ms`, `loss`"#
            ]],
        );
        check("time_s,delay_ms\n", &expect!["has no line below its columns"]);
        check("time_s,delay_ms\n1,20\n", &expect!["does not begin at 0, but on line 2 at 1"]);
        check("time_s,delay_ms\n0,20\n0,30\n", &expect!["has a time on line 3 that does not rise"]);
        check("time_s,delay_ms\n0,20,1\n", &expect!["has 2 columns, but 3 on line 2"]);
        check(
            "time_s,delay_ms\n0,-20\n",
            &expect![[r#"has no delay in ms on line 2: "-20", which is negative"#]],
        );
        check("time_s,loss\n0,1.5\n", &expect![[r#"has no loss from 0 to 1 on line 2: "1.5""#]]);
        check(
            "time_s,rate_mbps\n0,fast\n",
            &expect![[
                r#"has no rate in Mbit/s on line 2: "fast", which does not begin with a number"#
            ]],
        );
        check(
            "time_s,rate_mbps\n0,50\n1,0\n",
            &expect!["ends with a rate of 0, at which nothing would ever leave"],
        );
    }
}
