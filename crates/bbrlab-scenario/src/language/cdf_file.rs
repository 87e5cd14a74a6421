//! Reads files with a cumulative distribution of sizes, a common format for traffic measurements.

use std::borrow::Cow;
use std::sync::Arc;

use bbrlab_run::Cdf;

use crate::language::decimal::Decimal;
use crate::language::path_trace::STEPS_MAX;
use crate::language::quantity::parse_bytes;
use crate::language::table_file::{Columns, Rounding};

/// A distribution that was read from a file.
#[derive(Debug)]
pub(crate) struct CdfFile {
    pub(crate) cdf: Arc<Cdf>,
    /// Sentences for users about ignored columns and rounded values.
    pub(crate) notes: Vec<String>,
}

const BYTES: &str = "bytes";
const SHARE: &str = "share";

/// Reads a file of two columns: a number of bytes, and the share of sizes that are at most this
/// number. A first line may name the columns, `bytes` and `share`; other columns are then ignored.
/// Bytes are rounded to whole numbers. Shares are percentages if the last share is 100, and
/// fractions if it is 1.
///
/// The error completes a sentence that begins with "the file".
pub(crate) fn parse(text: &str) -> Result<CdfFile, String> {
    let percent = 100 * u64::from(Cdf::ONE);
    // Each row has a number of bytes and a share. Shares are in units of 10^-9 of the file's own
    // unit, which is percent or 1.
    let mut rows: Vec<(u64, u64)> = Vec::new();
    let mut named: Option<Columns<'_>> = None;
    let mut rounding = Rounding::default();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let values = values_of(line);
        if named.is_none() && rows.is_empty() {
            named = Columns::named(values.iter().copied(), &[BYTES, SHARE])
                .filter(|columns| columns.has(BYTES) && columns.has(SHARE));
            if named.is_some() {
                continue;
            }
        }
        let mut values: Vec<Cow<'_, str>> = match &named {
            Some(columns) => columns.of(values.into_iter()).map_err(|(wanted, found)| {
                format!("has {wanted} columns, but {found} on line {number}")
            })?,
            None => {
                values.into_iter().filter(|value| !value.is_empty()).map(Cow::Borrowed).collect()
            }
        };
        if named.as_ref().and_then(|columns| columns.names().next()) == Some(SHARE) {
            values.reverse();
        }
        let [bytes, share] = values.as_mut_slice() else {
            return Err(format!("has {} instead of 2 values on line {number}", values.len()));
        };
        rounding.apply(bytes, 0, number);
        if rows.len() == STEPS_MAX {
            return Err(format!("has more than {STEPS_MAX} lines"));
        }
        let wrong = |what: &str, value: &str| format!("has no {what} on line {number}: {value:?}");
        // The number is read as a quantity with a unit, so that the bounds of quantities apply.
        let size = parse_bytes(&format!("{bytes}B")).ok().map(|bytes| bytes.0);
        let size = size.ok_or_else(|| wrong("whole number of bytes", bytes))?;
        let part = Decimal::parse(share)
            .and_then(|share| share.times_over_rounded(u128::from(Cdf::ONE), 1))
            .filter(|&part| part <= percent);
        let part = part.ok_or_else(|| wrong("share from 0 to 100", share))?;
        if rows.last().is_some_and(|last| size < last.0) {
            return Err(format!("has fewer bytes on line {number} than before: {bytes:?}"));
        }
        if rows.last().is_some_and(|last| part < last.1) {
            return Err(format!("has a lower share on line {number} than before: {share:?}"));
        }
        rows.push((size, part));
    }
    let Some(&(_, last)) = rows.last() else {
        return Err("has no line with bytes and a share".to_owned());
    };
    let unit = match last {
        last if last == percent => 100,
        last if last == u64::from(Cdf::ONE) => 1,
        _ => return Err("does not end with a share of 1 or of 100".to_owned()),
    };
    let point = |(bytes, part): (u64, u64)| {
        (bytes, u32::try_from((part + unit / 2) / unit).expect("no share exceeds the last"))
    };
    let cdf = Cdf::new(rows.into_iter().map(point).collect()).map_err(str::to_owned)?;
    let ignored = named.and_then(|columns| columns.note());
    let notes = ignored.into_iter().chain(rounding.note()).collect();
    Ok(CdfFile { cdf: Arc::new(cdf), notes })
}

/// Splits a line at commas or, if it has none, at white space. Values between commas may be empty,
/// such as the name of the index column in files that pandas writes.
fn values_of(line: &str) -> Vec<&str> {
    if line.contains(',') {
        line.split(',').map(str::trim).collect()
    } else {
        line.split_whitespace().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{CdfFile, parse};
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: &Expect) {
        expected.assert_eq(&match parse(text) {
            Ok(CdfFile { cdf, notes }) => {
                let notes = notes.iter().fold(String::new(), |text, note| text + "; " + note);
                format!("{:?} mean {}{notes}", cdf.points(), cdf.mean())
            }
            Err(error) => error,
        });
    }

    #[test]
    fn percent_and_fractions_say_the_same() {
        let points = expect!["[(0, 0), (1000, 500000000), (3000, 1000000000)] mean 1250"];
        check("# bytes percent\n0 0\n\n1000\t50\n3000 100\n", &points);
        check("0,0\n1000, 0.5\n3000,1.0\n", &points);
    }

    #[test]
    fn files_of_pandas_are_read_with_notes() {
        check(
            ",share,count,bytes\n0,0.0,1,0.0\n1,0.5,7,999.6\n2,1.0,3,3000.0\n",
            &expect![
                "[(0, 0), (1000, 500000000), (3000, 1000000000)] mean 1250; the columns `` and `count` are ignored; 1 value is rounded, on line 3: 999.6 to 1000"
            ],
        );
        check("bytes,share\n0,0\n10\n", &expect!["has 2 columns, but 1 on line 3"]);
    }

    #[test]
    fn wrong_files_are_refused() {
        check("", &expect!["has no line with bytes and a share"]);
        check("# nothing\n", &expect!["has no line with bytes and a share"]);
        check("0 0\n10\n", &expect!["has 1 instead of 2 values on line 2"]);
        check(
            "0 0\nten 50\n20 100\n",
            &expect![[r#"has no whole number of bytes on line 2: "ten""#]],
        );
        check(
            "0 0\n-10 50\n20 100\n",
            &expect![[r#"has no whole number of bytes on line 2: "-10""#]],
        );
        check(
            "0 0\n10 half\n20 100\n",
            &expect![[r#"has no share from 0 to 100 on line 2: "half""#]],
        );
        check(
            "0 0\n10 -50\n20 100\n",
            &expect![[r#"has no share from 0 to 100 on line 2: "-50""#]],
        );
        check("0 0\n10 50\n5 100\n", &expect![[r#"has fewer bytes on line 3 than before: "5""#]]);
        check(
            "0 0\n10 50\n20 40\n30 100\n",
            &expect![[r#"has a lower share on line 3 than before: "40""#]],
        );
        check("0 0\n10 50\n", &expect!["does not end with a share of 1 or of 100"]);
        check("0 0\n10 150\n", &expect![[r#"has no share from 0 to 100 on line 2: "150""#]]);
        check("0 0\n0 1\n", &expect!["has no value above zero"]);
        check(
            "0 0\n99999999999999999999 1\n",
            &expect![[r#"has no whole number of bytes on line 2: "99999999999999999999""#]],
        );
        check("0 0\n10 1e99\n", &expect![[r#"has no share from 0 to 100 on line 2: "1e99""#]]);
    }
}
