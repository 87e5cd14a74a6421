//! Reads traces of a path: CSV files in which each line is a change of a link's rate, delay or
//! loss.
//!
//! The first line names the columns: `time_s` and at least one of `rate_mbps`, `delay_ms` and
//! `loss`. Other columns are ignored. Each later line applies from its time to the time of the next
//! line, the last line to the end of the run. Programs print floating-point numbers with many
//! decimals, so times and delays are rounded to whole nanoseconds, and rates to whole bits per
//! second.

use std::borrow::Cow;
use std::sync::Arc;

use bbrlab_units::{BitRate, Span, Time};

use crate::language::decimal::Decimal;
use crate::language::quantity::{Refusal, parse_rate, parse_span};
use crate::language::table_file::{Columns, Rounding};

/// The schedules of a trace; `None` for a missing column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathTrace {
    pub(crate) rate: Option<Arc<[(Time, BitRate)]>>,
    pub(crate) delay: Option<Arc<[(Time, Span)]>>,
    pub(crate) loss: Option<Arc<[(Time, Decimal)]>>,
    /// The lines of the file as they were read: without comments, empty lines and ignored columns,
    /// and with rounded values.
    pub(crate) lines: Vec<String>,
    /// Sentences for users about ignored columns and rounded values.
    pub(crate) notes: Vec<String>,
}

/// The largest number of steps of a schedule, and the largest number of lines that a trace may have
/// below its first line.
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
    let columns = Columns::named(header.split(','), &[TIME, RATE, DELAY, LOSS])
        .filter(|columns| columns.has(TIME) && columns.names().count() > 1)
        .ok_or_else(|| format!("has the columns {header:?} instead of {expected}"))?;
    let place = |name: &str| columns.names().position(|column| column == name);
    let at_place = place(TIME).expect("checked above");
    let (rate_at, delay_at, loss_at) = (place(RATE), place(DELAY), place(LOSS));
    let mut kept = vec![columns.names().collect::<Vec<_>>().join(",")];
    let (mut rate, mut delay, mut loss) = (Vec::new(), Vec::new(), Vec::new());
    let mut rounding = Rounding::default();
    let mut before = None;
    for (number, line) in lines {
        let mut values: Vec<Cow<'_, str>> =
            columns.of(line.split(',')).map_err(|(wanted, found)| {
                format!("has {wanted} columns, but {found} on line {number}")
            })?;
        if kept.len() > STEPS_MAX {
            return Err(format!("has more than {STEPS_MAX} lines"));
        }
        for (name, value) in columns.names().zip(&mut values) {
            // The last decimal place that is kept is a nanosecond or a bit per second. Ratios are
            // not rounded.
            let places = match name {
                TIME => 9,
                RATE | DELAY => 6,
                _ => continue,
            };
            rounding.apply(value, places, number);
        }
        let wrong = |what: &str, found: &str| format!("has no {what} on line {number}: {found}");
        // The number is read as a quantity with a unit, so that the precision and the bounds of
        // quantities apply.
        let span = |what: &str, unit: &str, value: &str| {
            let text = format!("{value}{unit}");
            let found = |refusal: Refusal| refusal.found.replacen(&text, value, 1);
            parse_span(&text).map_err(|refusal| wrong(what, &found(refusal)))
        };
        let at = span("time in seconds", "s", &values[at_place])?;
        match before {
            None if at > Span::ZERO => {
                return Err(format!(
                    "does not begin at 0, but on line {number} at {}",
                    values[at_place]
                ));
            }
            Some(before) if at <= before => {
                return Err(format!("has a time on line {number} that does not rise"));
            }
            _ => before = Some(at),
        }
        let at = Time(at.0);
        if let Some(place) = rate_at {
            let text = format!("{}Mbit/s", values[place]);
            let found = |refusal: Refusal| refusal.found.replacen(&text, &values[place], 1);
            let value = parse_rate(&text);
            push(&mut rate, at, value.map_err(|of| wrong("rate in Mbit/s", &found(of)))?);
        }
        if let Some(place) = delay_at {
            push(&mut delay, at, span("delay in ms", "ms", &values[place])?);
        }
        if let Some(place) = loss_at {
            let value = Decimal::parse(&values[place]).filter(|ratio| ratio.is_ratio());
            let found = || wrong("loss from 0 to 1", &format!("{:?}", values[place]));
            push(&mut loss, at, value.ok_or_else(found)?);
        }
        kept.push(values.join(","));
    }
    if kept.len() == 1 {
        return Err("has no line of values after the line of column names".to_owned());
    }
    if let Some(reason) = wrong_end(&rate) {
        return Err(reason.to_owned());
    }
    Ok(PathTrace {
        rate: rate_at.map(|_| rate.into()),
        delay: delay_at.map(|_| delay.into()),
        loss: loss_at.map(|_| loss.into()),
        lines: kept,
        notes: columns.note().into_iter().chain(rounding.note()).collect(),
    })
}

/// Returns the reason why a schedule's first or last rate is wrong; `None` if both are valid. The
/// first rate must not be 0, because a buffer in BDP needs a rate. The last rate must not be 0,
/// because the last packet must be able to leave.
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

/// Adds a step if `value` differs from the value of the last step.
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
    fn files_of_pandas_are_read_with_notes() {
        let trace = parse(
            ",signal_dbm,time_s,rate_mbps\n0,-80,0.0,28.03197311151155\n1,-81,0.30000000000000004,9.5\n"
                .lines(),
        )
        .unwrap();
        expect![[r#"
            [
                "time_s,rate_mbps",
                "0.0,28.031973",
                "0.3,9.5",
            ]
            [
                "the columns `` and `signal_dbm` are ignored",
                "2 values are rounded, the first on line 2: 28.03197311151155 to 28.031973",
            ]
        "#]]
        .assert_eq(&format!("{:#?}\n{:#?}\n", trace.lines, trace.notes));
        let again = parse(trace.lines.iter().map(String::as_str)).unwrap();
        assert_eq!((again.rate, again.lines), (trace.rate, trace.lines));
        assert!(again.notes.is_empty());
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
                r#"has the columns "0,50,20" instead of `time_s` and some of `rate_mbps`, `delay_ms`, `loss`"#
            ]],
        );
        check(
            "time_s,rate_mbps,rate_mbps\n0,1,1\n",
            &expect![[
                r#"has the columns "time_s,rate_mbps,rate_mbps" instead of `time_s` and some of `rate_mbps`, `delay_ms`, `loss`"#
            ]],
        );
        check(
            "time_s,delay_ms\n",
            &expect!["has no line of values after the line of column names"],
        );
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
