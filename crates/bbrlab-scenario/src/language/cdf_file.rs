//! Files with a cumulative distribution of sizes, as measurements of traffic are given out.

use bbrlab_run::Cdf;

use crate::language::decimal::Decimal;
use crate::language::path_trace::STEPS_MAX;
use crate::language::quantity::parse_bytes;

/// Reads a file of two columns: bytes, and the share of sizes up to them, either in percent or as a
/// fraction; the last line, 100 or 1, tells which. The error completes a sentence that begins with
/// "the file".
pub(crate) fn parse(text: &str) -> Result<Cdf, String> {
    let percent = 100 * u64::from(Cdf::ONE);
    // Bytes, and shares in parts of 10^-9 of what the file counts in.
    let mut rows: Vec<(u64, u64)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let columns = line.split(|c: char| c == ',' || c.is_whitespace());
        let columns: Vec<&str> = columns.filter(|column| !column.is_empty()).collect();
        let &[bytes, share] = columns.as_slice() else {
            return Err(format!("has {} values on line {number} in place of 2", columns.len()));
        };
        if rows.len() == STEPS_MAX {
            return Err(format!("has more than {STEPS_MAX} lines"));
        }
        let wrong = |what: &str, value: &str| format!("has no {what} on line {number}: {value:?}");
        // As a quantity with its unit, so that both are bounded alike.
        let size = parse_bytes(&format!("{bytes}B")).ok().map(|bytes| bytes.0);
        let size = size.ok_or_else(|| wrong("whole number of bytes", bytes))?;
        let part = Decimal::parse(share)
            .and_then(|share| share.times_over_rounded(u128::from(Cdf::ONE), 1))
            .filter(|&part| part <= percent);
        let part = part.ok_or_else(|| wrong("share from 0 to 100", share))?;
        if rows.last().is_some_and(|last| size < last.0) {
            return Err(format!("has bytes on line {number} that fall: {bytes:?}"));
        }
        if rows.last().is_some_and(|last| part < last.1) {
            return Err(format!("has a share on line {number} that falls: {share:?}"));
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
        (bytes, u32::try_from((part + unit / 2) / unit).expect("at most the last one"))
    };
    Cdf::new(rows.into_iter().map(point).collect()).map_err(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::parse;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: &Expect) {
        expected.assert_eq(&match parse(text) {
            Ok(cdf) => format!("{:?} mean {}", cdf.points(), cdf.mean()),
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
    fn wrong_files_are_refused() {
        check("", &expect!["has no line with bytes and a share"]);
        check("# nothing\n", &expect!["has no line with bytes and a share"]);
        check("0 0\n10\n", &expect!["has 1 values on line 2 in place of 2"]);
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
        check("0 0\n10 50\n5 100\n", &expect![[r#"has bytes on line 3 that fall: "5""#]]);
        check(
            "0 0\n10 50\n20 40\n30 100\n",
            &expect![[r#"has a share on line 3 that falls: "40""#]],
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
