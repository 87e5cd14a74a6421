//! Quantities with a unit: `"50Mbit/s"`, `"30ms"`, `"131072B"`, `"100pkt"`, `"1.5bdp"`.
//!
//! Common spellings are accepted (`50mbit`, `50Mbps`, `1.5 Gbit/s`, `64KB`). An ambiguous quantity
//! such as `6MBps` or `64kb` is an error, and the message shows both readings. A number without a
//! unit is an error, too. All arithmetic is exact.

use bbrlab_units::{BitRate, Bytes, NS_PER_MS, NS_PER_S, NS_PER_US, Span};

use crate::language::decimal::{Decimal, Misfit};
use crate::language::nearest::nearest;

/// The reason why a quantity was rejected, and perhaps a suggestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) found: String,
    pub(crate) help: Option<String>,
}

/// The longest time that a scenario may contain: about 31 years.
const SPAN_MAX_S: u64 = 1_000_000_000;

/// The highest rate that a scenario may contain: 10 Tbit/s, at which a full packet takes about a
/// nanosecond.
const RATE_MAX_BPS: u64 = 10_000_000_000_000;

/// The largest number of bytes in a quantity of a scenario.
const BYTES_MAX: u64 = 1 << 50;

/// The largest number of packets in a quantity of a scenario.
const PACKETS_MAX: u64 = 1 << 31;

/// The size of a queue, in the unit in which the scenario gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueSize {
    Unlimited,
    Packets(u64),
    Bytes(u64),
    /// The number of bytes that the link sends in this time.
    Time(Span),
    /// A multiple of the bandwidth-delay product.
    Bdp(Decimal),
}

impl QueueSize {
    /// Returns whether the size is zero, whatever its unit.
    pub(crate) fn is_zero(self) -> bool {
        match self {
            Self::Unlimited => false,
            Self::Packets(n) | Self::Bytes(n) | Self::Time(Span(n)) => n == 0,
            Self::Bdp(multiple) => multiple.is_zero(),
        }
    }
}

const SPAN_UNITS: [(&str, u64); 16] = [
    ("ns", 1),
    ("us", NS_PER_US),
    ("µs", NS_PER_US),
    ("μs", NS_PER_US),
    ("ms", NS_PER_MS),
    ("s", NS_PER_S),
    ("sec", NS_PER_S),
    ("secs", NS_PER_S),
    ("second", NS_PER_S),
    ("seconds", NS_PER_S),
    ("min", 60 * NS_PER_S),
    ("mins", 60 * NS_PER_S),
    ("minute", 60 * NS_PER_S),
    ("minutes", 60 * NS_PER_S),
    ("h", 3600 * NS_PER_S),
    ("hours", 3600 * NS_PER_S),
];

const PREFIXES: [(&str, u64); 9] = [
    ("", 1),
    ("k", 1_000),
    ("m", 1_000_000),
    ("g", 1_000_000_000),
    ("t", 1_000_000_000_000),
    ("ki", 1 << 10),
    ("mi", 1 << 20),
    ("gi", 1 << 30),
    ("ti", 1 << 40),
];

/// Converts a quantity to a number in the base unit of its kind, with the name of the unit: bits
/// per second, seconds, bytes, packets or BDPs. `None` for `unlimited`, and if the text is not a
/// quantity.
pub(crate) fn base_value(text: &str) -> Option<(f64, &'static str)> {
    #[expect(clippy::cast_precision_loss, reason = "axes and tables need no more precision")]
    let number = |value: u64| value as f64;
    if let Ok(BitRate(rate)) = parse_rate(text) {
        return Some((number(rate), "bps"));
    }
    if let Ok(span) = parse_span(text) {
        return Some((span.as_secs_f64(), "s"));
    }
    match parse_queue_size(text).ok()? {
        QueueSize::Packets(packets) => Some((number(packets), "packets")),
        QueueSize::Bytes(bytes) => Some((number(bytes), "bytes")),
        QueueSize::Time(span) => Some((span.as_secs_f64(), "s")),
        QueueSize::Bdp(bdps) => Some((bdps.to_string().parse().ok()?, "bdp")),
        QueueSize::Unlimited => None,
    }
}

/// Reads a length of time as scenarios write it, such as `30ms`.
///
/// # Errors
/// Fails if the text is not a length of time. The error gives the text found and perhaps a
/// suggestion.
pub fn read_span(text: &str) -> Result<Span, String> {
    parse_span(text).map_err(|refusal| match refusal.help {
        Some(help) => format!("found {}; {help}", refusal.found),
        None => format!("found {}", refusal.found),
    })
}

/// Reads a length of time.
pub(crate) fn parse_span(text: &str) -> Result<Span, Refusal> {
    let (number, unit) = split(text, "\"30ms\"")?;
    let factor = span_factor(unit).ok_or_else(|| {
        let help = if unit == "m" {
            Some("`m` could be minutes or milliseconds: write `min` or `ms`".to_owned())
        } else {
            meant(number, unit, SPAN_UNITS.iter().map(|&(name, _)| name))
        };
        unknown_unit(text, unit, "ns, us, ms, s, min or h", help)
    })?;
    let limit = Limit { max: SPAN_MAX_S * NS_PER_S, max_text: "1000000000s", least: "1 ns" };
    limit.fit(text, number.times(factor)).map(Span)
}

fn span_factor(unit: &str) -> Option<u64> {
    let unit = unit.to_lowercase();
    SPAN_UNITS.iter().find(|&&(name, _)| name == unit).map(|&(_, factor)| factor)
}

/// Reads a rate in bits per second.
pub(crate) fn parse_rate(text: &str) -> Result<BitRate, Refusal> {
    let (number, unit) = split(text, "\"50Mbit/s\"")?;
    let factor = match rate_unit(unit) {
        RateUnit::Bits(factor) => factor,
        RateUnit::PerhapsBytes { factor, prefix } => {
            return Err(Refusal {
                found: format!("{text:?}, which can be read as bits or as bytes"),
                help: byte_rate_readings(number, factor, prefix),
            });
        }
        RateUnit::Unknown => {
            let known =
                ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "bps", "kbps", "Mbps", "Gbps"];
            let help = meant(number, unit, known);
            return Err(unknown_unit(text, unit, "bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s", help));
        }
    };
    let limit = Limit { max: RATE_MAX_BPS, max_text: "10Tbit/s", least: "1 bit/s" };
    limit.fit(text, number.times(factor)).map(BitRate)
}

enum RateUnit<'a> {
    Bits(u64),
    PerhapsBytes { factor: u64, prefix: &'a str },
    Unknown,
}

/// Classifies the unit of a rate. A unit of `BITS` with any prefix, in upper or lower case, means
/// bits. A unit of `BYTES`, which have a capital `B`, or of `BYTE_WORDS`, with any prefix, is
/// `PerhapsBytes`; the caller reports such a unit as a mistake. Any other unit is `Unknown`.
fn rate_unit(unit: &str) -> RateUnit<'_> {
    const BITS: [&str; 6] = ["bit/s", "bits/s", "bit", "bits", "bps", "b/s"];
    const BYTES: [&str; 4] = ["Bps", "BPS", "B/s", "B/S"];
    const BYTE_WORDS: [&str; 4] = ["byte/s", "bytes/s", "byteps", "bytesps"];
    let lower = unit.to_lowercase();
    let byte_ending =
        BYTES.iter().find(|ending| unit.ends_with(**ending)).map(|ending| ending.len());
    let word_ending =
        BYTE_WORDS.iter().find(|ending| lower.ends_with(**ending)).map(|ending| ending.len());
    if let Some(ending) = byte_ending.or(word_ending)
        && let Some(prefix) = unit.get(..unit.len() - ending)
        && let Some(factor) = prefix_factor(prefix)
    {
        return RateUnit::PerhapsBytes { factor, prefix };
    }
    for ending in BITS {
        if let Some(prefix) = lower.strip_suffix(ending)
            && let Some(factor) = prefix_factor(prefix)
        {
            return RateUnit::Bits(factor);
        }
    }
    RateUnit::Unknown
}

fn byte_rate_readings(number: Decimal, factor: u64, prefix: &str) -> Option<String> {
    let bits = number.times(factor).ok()?;
    let as_bits = show_rate(BitRate(bits));
    let as_bytes = show_rate(BitRate(bits.checked_mul(8)?));
    let prefix = if prefix.eq_ignore_ascii_case("k") { "k" } else { prefix };
    Some(format!(
        "write \"{as_bits}\" if {prefix}bit per second is meant, \"{as_bytes}\" if {prefix}byte per second is"
    ))
}

fn prefix_factor(prefix: &str) -> Option<u64> {
    let prefix = prefix.to_lowercase();
    PREFIXES.iter().find(|&&(name, _)| name == prefix).map(|&(_, factor)| factor)
}

/// Reads a number of bytes.
pub(crate) fn parse_bytes(text: &str) -> Result<Bytes, Refusal> {
    let (number, unit) = split(text, "\"131072B\"")?;
    if let Some(factor) = byte_factor(text, number, unit)? {
        return bytes_limit().fit(text, number.times(factor)).map(Bytes);
    }
    let help = if SPAN_UNITS.iter().any(|&(known, _)| known == unit) {
        Some("at 20Mbit/s, 1ms corresponds to 2500B".to_owned())
    } else {
        meant(number, unit, ["B", "KB", "KiB", "MB", "MiB", "GB", "GiB"])
    };
    Err(unknown_unit(text, unit, "B, KB, KiB, MB, MiB, GB or GiB", help))
}

fn bytes_limit() -> Limit {
    Limit { max: BYTES_MAX, max_text: "1PiB", least: "1 B" }
}

/// Returns the number of bytes in a unit: `B`, `byte` or `bytes` with any prefix; `None` for other
/// units. Returns an error for a small `b`, which could mean bits.
fn byte_factor(text: &str, number: Decimal, unit: &str) -> Result<Option<u64>, Refusal> {
    let lower = unit.to_lowercase();
    for ending in ["bytes", "byte", "b"] {
        let Some(factor) = lower.strip_suffix(ending).and_then(prefix_factor) else { continue };
        if ending == "b" && unit.ends_with('b') {
            let prefix = &unit[..unit.len() - 1];
            let in_bits =
                number.times(factor).ok().filter(|bits| bits % 8 == 0).map(|bits| bits / 8);
            let bits =
                in_bits.map_or(String::new(), |bytes| format!(", \"{bytes}B\" for that many bits"));
            return Err(Refusal {
                found: format!("{text:?}, which can be read as bytes or as bits"),
                help: Some(format!("write \"{number}{prefix}B\" for bytes{bits}")),
            });
        }
        return Ok(Some(factor));
    }
    Ok(None)
}

/// Reads a frequency such as `50/s`, in times per second.
pub(crate) fn parse_frequency(text: &str) -> Result<Decimal, Refusal> {
    let (number, unit) = split(text, "\"50/s\"")?;
    if number.is_negative() {
        return Err(negative(text));
    }
    match unit {
        "/s" => Ok(number),
        unit => Err(unknown_unit(text, unit, "/s", meant(number, unit, ["/s"]))),
    }
}

/// Reads the size of a queue.
pub(crate) fn parse_queue_size(text: &str) -> Result<QueueSize, Refusal> {
    if text.trim() == "unlimited" {
        return Ok(QueueSize::Unlimited);
    }
    let (number, unit) = split(text, "\"100pkt\"")?;
    match unit.to_lowercase().as_str() {
        "p" | "pkt" | "pkts" | "packet" | "packets" => {
            let limit = Limit { max: PACKETS_MAX, max_text: "2147483648pkt", least: "1 packet" };
            return limit.fit(text, number.times(1)).map(QueueSize::Packets);
        }
        "bdp" | "bdps" => {
            if number.is_negative() {
                return Err(negative(text));
            }
            return Ok(QueueSize::Bdp(number));
        }
        _ => {}
    }
    if span_factor(unit).is_some() {
        return parse_span(text).map(QueueSize::Time);
    }
    if let Some(factor) = byte_factor(text, number, unit)? {
        return bytes_limit().fit(text, number.times(factor)).map(QueueSize::Bytes);
    }
    let help = meant(number, unit, ["pkt", "B", "KB", "KiB", "MB", "MiB", "ms", "bdp", "packets"]);
    Err(unknown_unit(text, unit, "pkt, B (KB, KiB, MB ...), ms or bdp", help))
}

/// Reads a percentage such as `30%` as a share.
pub(crate) fn parse_percent(text: &str) -> Option<Decimal> {
    let number = text.trim().strip_suffix('%')?.trim_end();
    Decimal::parse(number).map(Decimal::percent)
}

struct Limit {
    max: u64,
    max_text: &'static str,
    least: &'static str,
}

impl Limit {
    fn fit(&self, text: &str, value: Result<u64, Misfit>) -> Result<u64, Refusal> {
        let refuse = |found| Err(Refusal { found, help: None });
        match value {
            Ok(value) if value <= self.max => Ok(value),
            Ok(_) | Err(Misfit::TooLarge) => {
                refuse(format!("{}, more than the largest, {}", quoted(text), self.max_text))
            }
            Err(Misfit::TooFine) => {
                refuse(format!("{}, which is not a multiple of {}", quoted(text), self.least))
            }
            Err(Misfit::Negative) => Err(negative(text)),
        }
    }
}

fn negative(text: &str) -> Refusal {
    Refusal { found: format!("{}, which is negative", quoted(text)), help: None }
}

/// Returns a text in quotes for a message, cut if it has more than 60 characters.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    if text.chars().count() <= SHOWN {
        return format!("{text:?}");
    }
    let head: String = text.chars().take(SHOWN).collect();
    format!("{head:?}...")
}

fn unknown_unit(text: &str, unit: &str, known: &str, help: Option<String>) -> Refusal {
    let found = format!("{}, whose unit is none of {known}", quoted(text));
    let found =
        if unit.is_empty() { format!("{}, which has no unit", quoted(text)) } else { found };
    Refusal { found, help }
}

fn meant<'a>(
    number: Decimal,
    unit: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(unit, known).map(|right| format!("did you mean \"{number}{right}\"?"))
}

/// Splits a quantity into number and unit.
fn split<'a>(text: &'a str, example: &str) -> Result<(Decimal, &'a str), Refusal> {
    let text = text.trim();
    let end = number_end(text);
    if end == 0 {
        return Err(Refusal {
            found: format!("{}, which does not begin with a number", quoted(text)),
            help: None,
        });
    }
    let Some(number) = Decimal::parse(&text[..end]) else {
        return Err(Refusal {
            found: format!("{}, whose number is too long or malformed", quoted(text)),
            help: None,
        });
    };
    let unit = text[end..].trim_start();
    if unit.is_empty() {
        return Err(Refusal {
            found: format!("{}, which has no unit", quoted(text)),
            help: Some(format!("write the unit, as in {example}")),
        });
    }
    Ok((number, unit))
}

/// Returns the index at which the number at the start of a quantity ends; 0 without a number. An
/// `e` is part of the number only if digits follow.
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits_from = |mut at: usize| {
        while at < bytes.len() && (bytes[at].is_ascii_digit() || bytes[at] == b'_') {
            at += 1;
        }
        at
    };
    let sign = usize::from(bytes.first().is_some_and(|b| matches!(b, b'+' | b'-')));
    let mut end = digits_from(sign);
    if bytes.get(end) == Some(&b'.') {
        end = digits_from(end + 1);
    }
    if end == sign || (end == sign + 1 && bytes[sign] == b'.') {
        return 0;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(bytes.get(end + 1).is_some_and(|b| matches!(b, b'+' | b'-')));
        let exponent = digits_from(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}

/// Returns a rate as a scenario would write it, such as `50Mbit/s`.
pub(crate) fn show_rate(rate: BitRate) -> String {
    const UNITS: [(&str, u64); 5] = [
        ("Tbit/s", 1_000_000_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Mbit/s", 1_000_000),
        ("kbit/s", 1_000),
        ("bit/s", 1),
    ];
    show(rate.0, &UNITS)
}

/// Returns a length of time as a scenario would write it, such as `30ms`.
pub(crate) fn show_span(span: Span) -> String {
    const UNITS: [(&str, u64); 4] =
        [("s", NS_PER_S), ("ms", NS_PER_MS), ("us", NS_PER_US), ("ns", 1)];
    if span.0 == 0 {
        return "0s".to_owned();
    }
    show(span.0, &UNITS)
}

/// Writes `value`, which is given in the smallest of `units`, in the largest unit that is at most
/// `value`. The number has decimals if necessary.
fn show(value: u64, units: &[(&str, u64)]) -> String {
    let &(name, unit) = units
        .iter()
        .find(|&&(_, unit)| value >= unit)
        .unwrap_or(units.last().expect("a list of units"));
    let fraction_digits = unit.ilog10() as usize;
    let whole = value / unit;
    let fraction = format!("{:0fraction_digits$}", value % unit);
    match fraction.trim_end_matches('0') {
        "" => format!("{whole}{name}"),
        fraction => format!("{whole}.{fraction}{name}"),
    }
}

/// Returns the size of a queue as a scenario would write it, such as `100pkt`.
pub(crate) fn show_queue_size(size: QueueSize) -> String {
    match size {
        QueueSize::Unlimited => "unlimited".to_owned(),
        QueueSize::Packets(packets) => format!("{packets}pkt"),
        QueueSize::Bytes(bytes) => format!("{bytes}B"),
        QueueSize::Time(span) => show_span(span),
        QueueSize::Bdp(multiple) => format!("{multiple}bdp"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rates_are_read_as_people_type_them() {
        for text in [
            "50Mbit/s",
            "50 Mbit/s",
            "50mbit",
            "50Mbps",
            "50mbps",
            "50 mb/s",
            "50Mb/s",
            "50000kbit",
            "0.05Gbit/s",
            "50e6bit/s",
            "50_000_000bps",
            "5e1Mbit",
            "50MBIT",
            "50Mbits/s",
            " 50Mbit/s ",
        ] {
            assert_eq!(parse_rate(text), Ok(BitRate(50_000_000)), "{text}");
        }
        assert_eq!(parse_rate("1.5 Gbit/s"), Ok(BitRate(1_500_000_000)));
        assert_eq!(parse_rate("1Mibit/s"), Ok(BitRate(1_048_576)));
    }

    #[test]
    fn times_are_read_as_people_type_them() {
        for text in ["30ms", "30 ms", "0.03s", "30000us", "30000µs", "30e6ns", "0.0005min", "30MS"]
        {
            assert_eq!(parse_span(text), Ok(Span::from_millis(30)), "{text}");
        }
        assert_eq!(parse_span("2min"), Ok(Span::from_secs(120)));
        assert_eq!(parse_span("1h"), Ok(Span::from_secs(3600)));
    }

    #[test]
    fn sizes_are_read_as_people_type_them() {
        for (text, bytes) in [
            ("131072B", 131_072),
            ("64KB", 64_000),
            ("64kB", 64_000),
            ("64KiB", 65_536),
            ("1.5MB", 1_500_000),
            ("1 MiB", 1_048_576),
            ("10 bytes", 10),
        ] {
            assert_eq!(parse_bytes(text), Ok(Bytes(bytes)), "{text}");
            assert_eq!(parse_queue_size(text), Ok(QueueSize::Bytes(bytes)), "{text}");
        }
        assert_eq!(parse_queue_size("100p"), Ok(QueueSize::Packets(100)));
        assert_eq!(parse_queue_size("100 packets"), Ok(QueueSize::Packets(100)));
        assert_eq!(parse_queue_size("50ms"), Ok(QueueSize::Time(Span::from_millis(50))));
        assert_eq!(parse_queue_size("1.50BDP"), Ok(QueueSize::Bdp(Decimal::parse("1.5").unwrap())));
        assert_eq!(parse_queue_size("unlimited"), Ok(QueueSize::Unlimited));
    }

    fn check<T: std::fmt::Debug>(result: &Result<T, Refusal>, expected: &Expect) {
        let Refusal { found, help } = result.as_ref().unwrap_err();
        let help = help.as_ref().map_or(String::new(), |help| format!(" [{help}]"));
        expected.assert_eq(&format!("{found}{help}"));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused_with_both() {
        check(
            &parse_rate("6MBps"),
            &expect![[
                r#""6MBps", which can be read as bits or as bytes [write "6Mbit/s" if Mbit per second is meant, "48Mbit/s" if Mbyte per second is]"#
            ]],
        );
        check(
            &parse_rate("6 MB/s"),
            &expect![[
                r#""6 MB/s", which can be read as bits or as bytes [write "6Mbit/s" if Mbit per second is meant, "48Mbit/s" if Mbyte per second is]"#
            ]],
        );
        check(
            &parse_rate("6KiB/s"),
            &expect![[
                r#""6KiB/s", which can be read as bits or as bytes [write "6.144kbit/s" if Kibit per second is meant, "49.152kbit/s" if Kibyte per second is]"#
            ]],
        );
        check(
            &parse_bytes("64kb"),
            &expect![[
                r#""64kb", which can be read as bytes or as bits [write "64kB" for bytes, "8000B" for that many bits]"#
            ]],
        );
        check(
            &parse_span("5m"),
            &expect![[
                r#""5m", whose unit is none of ns, us, ms, s, min or h [`m` could be minutes or milliseconds: write `min` or `ms`]"#
            ]],
        );
    }

    #[test]
    fn refusals_say_what_was_found() {
        check(
            &parse_rate("50"),
            &expect![[r#""50", which has no unit [write the unit, as in "50Mbit/s"]"#]],
        );
        check(
            &parse_rate("50Mbt/s"),
            &expect![[
                r#""50Mbt/s", whose unit is none of bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s [did you mean "50Mbit/s"?]"#
            ]],
        );
        check(
            &parse_rate("50ms"),
            &expect![[r#""50ms", whose unit is none of bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s"#]],
        );
        check(
            &parse_bytes("10ms"),
            &expect![[
                r#""10ms", whose unit is none of B, KB, KiB, MB, MiB, GB or GiB [at 20Mbit/s, 1ms corresponds to 2500B]"#
            ]],
        );
        check(&parse_rate("-5Mbit/s"), &expect![[r#""-5Mbit/s", which is negative"#]]);
        check(&parse_rate("fast"), &expect![[r#""fast", which does not begin with a number"#]]);
        check(
            &parse_rate("1e9Gbit/s"),
            &expect![[r#""1e9Gbit/s", more than the largest, 10Tbit/s"#]],
        );
        check(
            &parse_rate("0.5bit/s"),
            &expect![[r#""0.5bit/s", which is not a multiple of 1 bit/s"#]],
        );
        check(
            &parse_span("1e99s"),
            &expect![[r#""1e99s", whose number is too long or malformed"#]],
        );
        check(&parse_span("1e12s"), &expect![[r#""1e12s", more than the largest, 1000000000s"#]]);
        check(&parse_span("0.1ns"), &expect![[r#""0.1ns", which is not a multiple of 1 ns"#]]);
        check(
            &parse_queue_size("1.5pkt"),
            &expect![[r#""1.5pkt", which is not a multiple of 1 packet"#]],
        );
        check(&parse_queue_size("-1bdp"), &expect![[r#""-1bdp", which is negative"#]]);
        check(
            &parse_queue_size("2pdb"),
            &expect![[r#""2pdb", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp"#]],
        );
    }

    proptest! {
        #[test]
        fn a_rate_reads_back(bps in 0..=RATE_MAX_BPS) {
            prop_assert_eq!(parse_rate(&show_rate(BitRate(bps))), Ok(BitRate(bps)));
        }

        #[test]
        fn a_span_reads_back(ns in 0..=SPAN_MAX_S * NS_PER_S) {
            prop_assert_eq!(parse_span(&show_span(Span(ns))), Ok(Span(ns)));
        }

        #[test]
        fn a_room_reads_back(packets in 0..=PACKETS_MAX, digits: u32, scale in 0_u32..9) {
            let bdp = QueueSize::Bdp(Decimal::parse(&format!("{digits}e-{scale}")).unwrap());
            for size in [QueueSize::Packets(packets), QueueSize::Bytes(packets), QueueSize::Time(Span(packets)), bdp] {
                prop_assert_eq!(parse_queue_size(&show_queue_size(size)), Ok(size));
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,30}", number in "[-+0-9._e]{0,12}", unit in "[a-zA-Z/µ%]{0,8}") {
            for text in [text, format!("{number}{unit}")] {
                let _ = (parse_rate(&text), parse_span(&text), parse_bytes(&text), parse_queue_size(&text));
                let _ = parse_percent(&text);
            }
        }
    }
}
