//! Parses the arguments of `tc` that set up a queue discipline, a policer or `netem`'s slots.

mod fair;

use bbrlab_link::{
    Buffer, CodelParams, DualPi2Params, FqPieParams, PieParams, Policer, Probability, Queue,
    RedParams, SlotParams, StepThreshold,
};
use bbrlab_units::{BitRate, Bytes, Packets, Span};

/// A queue discipline or a policer at a point of the network.
#[derive(Clone, Debug, PartialEq)]
pub enum Child {
    /// A queue discipline.
    Queue {
        /// The discipline with its parameters.
        queue: Queue,
        /// The maximum number of packets or bytes that wait in the queue.
        limit: Buffer,
    },
    /// A policer.
    Police(Policer),
}

/// Parses a discipline, such as `codel limit 1000 target 5ms interval 100ms noecn`.
///
/// # Errors
/// Fails if a word is unknown, or if a value is wrong or missing. The error text says what was
/// found and what was expected.
pub fn qdisc(text: &str) -> Result<Child, String> {
    let mut words = Words::new(text);
    match words.next().unwrap_or_default() {
        "pfifo" => {
            let mut limit = Buffer::Packets(Packets(1000));
            while let Some(word) = words.next() {
                match word {
                    "limit" => limit = Buffer::Packets(Packets(words.number(word)?)),
                    _ => return Err(unknown(word, "limit")),
                }
            }
            Ok(Child::Queue { queue: Queue::DropTail, limit })
        }
        "codel" => {
            let mut limit = Buffer::Packets(Packets(1000));
            let mut params = CodelParams::DEFAULT;
            while let Some(word) = words.next() {
                match word {
                    "limit" => limit = Buffer::Packets(Packets(words.number(word)?)),
                    _ => words.codel(word, &mut params, "")?,
                }
            }
            Ok(Child::Queue { queue: Queue::Codel(params), limit })
        }
        "fq_codel" => fair::fq_codel(&mut words),
        "pie" => {
            let mut limit = Buffer::Packets(Packets(1000));
            let mut params = PieParams::DEFAULT;
            while let Some(word) = words.next() {
                match word {
                    "limit" => limit = Buffer::Packets(Packets(words.number(word)?)),
                    _ => words.pie(word, &mut params)?,
                }
            }
            Ok(Child::Queue { queue: Queue::Pie(params), limit })
        }
        "fq_pie" => {
            let mut limit = Buffer::Packets(Packets(10240));
            let mut params = FqPieParams::DEFAULT;
            while let Some(word) = words.next() {
                match word {
                    "limit" => limit = Buffer::Packets(Packets(words.number(word)?)),
                    "flows" => params.flows = words.number(word)?,
                    "quantum" => params.quantum = Bytes(words.number(word)?),
                    "ecn_prob" => params.ecn_prob = words.number(word)?,
                    // The kernel only counts how often this limit is exceeded, so the word has no
                    // effect on packets.
                    "memory_limit" => drop(words.value(word)?),
                    _ => words.pie(word, &mut params.pie)?,
                }
            }
            Ok(Child::Queue { queue: Queue::FqPie(params), limit })
        }
        "dualpi2" => {
            let mut limit = Buffer::Packets(Packets(10000));
            let mut params = DualPi2Params::DEFAULT;
            while let Some(word) = words.next() {
                match word {
                    "limit" => limit = Buffer::Packets(Packets(words.number(word)?)),
                    _ => words.dualpi2(word, &mut params)?,
                }
            }
            Ok(Child::Queue { queue: Queue::DualPi2(params), limit })
        }
        "red" => {
            let mut limit = Buffer::Unlimited;
            let mut params = RedParams::DEFAULT;
            while let Some(word) = words.next() {
                match word {
                    "limit" => limit = Buffer::Bytes(Bytes(words.number(word)?)),
                    _ => words.red(word, &mut params)?,
                }
            }
            if limit == Buffer::Unlimited {
                return Err("red: found no limit, expected one".to_owned());
            }
            Ok(Child::Queue { queue: Queue::Red(params), limit })
        }
        "sfq" => fair::sfq(&mut words),
        "fq" => fair::fq(&mut words),
        "cake" => fair::cake(&mut words),
        "prio" => fair::prio(&mut words),
        kind => Err(unknown(
            kind,
            "pfifo, codel, fq_codel, pie, fq_pie, dualpi2, red, sfq, fq, cake, prio",
        )),
    }
}

/// Parses a policer, such as `rate 10mbit burst 32k conform-exceed drop`.
///
/// # Errors
/// Fails if a word is unknown, or if a value is wrong or missing. The error text says what was
/// found and what was expected.
pub fn police(text: &str) -> Result<Child, String> {
    let mut words = Words::new(text);
    let (mut rate, mut burst) = (None, None);
    while let Some(word) = words.next() {
        match word {
            "rate" => rate = Some(words.rate(word)?),
            "burst" => burst = Some(words.size(word)?),
            "conform-exceed" => match words.value(word)? {
                "drop" => {}
                other => return Err(unknown(other, "drop")),
            },
            _ => return Err(unknown(word, "rate, burst, conform-exceed")),
        }
    }
    match (rate, burst) {
        (Some(rate), Some(burst)) if rate.0 > 0 => Ok(Child::Police(Policer { rate, burst })),
        _ => Err(unknown(text, "a rate and a burst")),
    }
}

/// Parses the slots of `netem`, such as `5ms 5ms`: the minimum and the maximum time from one slot
/// to the next. The limits of a slot may follow, such as `packets 4 bytes 5000`, where 0 means no
/// limit.
///
/// # Errors
/// Fails if a word is unknown, or if a value is wrong or missing. The error text says what was
/// found and what was expected.
pub fn slot(text: &str, delay: Span) -> Result<Child, String> {
    let mut words = Words::new(text);
    let (min, max) = (words.span("slot")?, words.span("slot")?);
    if max < min {
        return Err(unknown(text, "the shortest time first"));
    }
    let (mut packets, mut bytes) = (0, 0);
    while let Some(word) = words.next() {
        match word {
            "packets" => packets = words.number(word)?,
            "bytes" => bytes = words.number(word)?,
            _ => return Err(unknown(word, "packets, bytes")),
        }
    }
    let packets = (packets > 0).then_some(Packets(packets));
    let bytes = (bytes > 0).then_some(Bytes(bytes));
    let queue = Queue::Slots(SlotParams { delay, min, max, packets, bytes });
    Ok(Child::Queue { queue, limit: Buffer::Packets(Packets(1_000_000)) })
}

fn unknown(found: &str, expected: &str) -> String {
    format!("found `{found}`, expected {expected}")
}

/// Those words of the arguments of `tc` that have not been parsed yet.
struct Words<'a>(std::str::SplitWhitespace<'a>);

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        Self(text.split_whitespace())
    }

    fn next(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    fn value(&mut self, key: &str) -> Result<&'a str, String> {
        self.next().ok_or_else(|| format!("{key}: found nothing, expected a value"))
    }

    fn number<N: std::str::FromStr>(&mut self, key: &str) -> Result<N, String> {
        let value = self.value(key)?;
        value.parse().map_err(|_| format!("{key}: found `{value}`, expected a number"))
    }

    /// Parses a time, such as `5ms`, `100us` or `1s`.
    fn span(&mut self, key: &str) -> Result<Span, String> {
        let value = self.value(key)?;
        span(value).ok_or_else(|| format!("{key}: found `{value}`, expected a time such as 5ms"))
    }

    /// Parses a rate, such as `10mbit`.
    fn rate(&mut self, key: &str) -> Result<BitRate, String> {
        let value = self.value(key)?;
        rate(value).ok_or_else(|| format!("{key}: found `{value}`, expected a rate such as 10mbit"))
    }

    /// Parses a number of bytes, such as `1514`, `32k` (1 k is 1,024 bytes) or `32mb`.
    fn size(&mut self, key: &str) -> Result<Bytes, String> {
        let value = self.value(key)?;
        let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
        let (number, unit) = value.split_at(digits);
        let unit = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => Some(1_u64),
            "k" | "kb" => Some(1 << 10),
            "m" | "mb" => Some(1 << 20),
            "g" | "gb" => Some(1 << 30),
            _ => None,
        };
        let bytes =
            number.parse().ok().zip(unit).and_then(|(n, unit): (u64, _)| n.checked_mul(unit));
        bytes
            .map(Bytes)
            .ok_or_else(|| format!("{key}: found `{value}`, expected bytes such as 32k"))
    }

    /// Parses `word`, with its value, as a parameter that `codel` and `fq_codel` share.
    ///
    /// `more` lists the other words that the discipline accepts. The error message for an unknown
    /// word lists all accepted words.
    fn codel(&mut self, word: &str, params: &mut CodelParams, more: &str) -> Result<(), String> {
        match word {
            "target" => params.target = self.span(word)?,
            "interval" => params.interval = self.span(word)?,
            "ce_threshold" => params.ce_threshold = Some(self.span(word)?),
            "ecn" => params.ecn = true,
            "noecn" => params.ecn = false,
            _ => {
                let expected = format!("limit, target, interval, ce_threshold, ecn, noecn{more}");
                return Err(unknown(word, &expected));
            }
        }
        Ok(())
    }
}

impl Words<'_> {
    /// Parses `word`, with its value, as a parameter that `pie` and `fq_pie` share.
    fn pie(&mut self, word: &str, params: &mut PieParams) -> Result<(), String> {
        match word {
            "target" => params.target = self.span(word)?,
            "tupdate" => params.tupdate = self.span(word)?,
            "alpha" => params.alpha = self.number(word)?,
            "beta" => params.beta = self.number(word)?,
            "ecn" => params.ecn = true,
            "noecn" => params.ecn = false,
            "bytemode" => params.bytemode = true,
            "nobytemode" => params.bytemode = false,
            "dq_rate_estimator" => params.dq_rate_estimator = true,
            "no_dq_rate_estimator" => params.dq_rate_estimator = false,
            _ => {
                let expected = "limit, target, tupdate, alpha, beta, [no]ecn, [no]bytemode, \
                                [no_]dq_rate_estimator";
                return Err(unknown(word, expected));
            }
        }
        Ok(())
    }
}

impl Words<'_> {
    /// Parses `word`, with its value, as a parameter of `red`.
    fn red(&mut self, word: &str, params: &mut RedParams) -> Result<(), String> {
        match word {
            "min" => params.min = Some(Bytes(self.number(word)?)),
            "max" => params.max = Some(Bytes(self.number(word)?)),
            "avpkt" => params.avpkt = Bytes(self.number(word)?),
            "burst" => params.burst = Some(self.number(word)?),
            "probability" => {
                let value = self.value(word)?;
                let expected = || format!("{word}: found `{value}`, expected 0 to 1 such as 0.02");
                params.probability = probability(value).ok_or_else(expected)?;
            }
            "bandwidth" => {
                let value = self.value(word)?;
                let expected =
                    || format!("{word}: found `{value}`, expected a rate such as 10mbit");
                params.bandwidth = Some(rate(value).ok_or_else(expected)?);
            }
            "ecn" => params.ecn = true,
            "harddrop" => params.harddrop = true,
            "nodrop" => params.nodrop = true,
            "adaptive" | "adaptative" => params.adaptive = true,
            _ => {
                let expected = "limit, min, max, avpkt, burst, probability, bandwidth, ecn, \
                                harddrop, nodrop, adaptive";
                return Err(unknown(word, expected));
            }
        }
        Ok(())
    }
}

impl Words<'_> {
    /// Parses `word`, with its value, as a parameter of `dualpi2`.
    fn dualpi2(&mut self, word: &str, params: &mut DualPi2Params) -> Result<(), String> {
        match word {
            "target" => params.target = self.span(word)?,
            "tupdate" => params.tupdate = self.span(word)?,
            "alpha" => params.alpha = self.hertz(word)?,
            "beta" => params.beta = self.hertz(word)?,
            "coupling_factor" => params.coupling_factor = self.number(word)?,
            "step_thresh" => {
                let value = self.value(word)?;
                let expected =
                    || format!("{word}: found `{value}`, expected a time such as 1ms, or 10p");
                params.step_thresh = step_threshold(value).ok_or_else(expected)?;
            }
            "min_qlen_step" => params.min_qlen_step = self.number(word)?,
            "classic_protection" => {
                let value = self.value(word)?;
                let percent = value.strip_suffix('%').and_then(|digits| digits.parse().ok());
                let expected = || format!("{word}: found `{value}`, expected 0% to 100%");
                params.classic_protection =
                    percent.filter(|&percent| percent <= 100).ok_or_else(expected)?;
            }
            "drop_on_overload" => params.drop_on_overload = true,
            "overflow" => params.drop_on_overload = false,
            "drop_enqueue" => params.drop_enqueue = true,
            "drop_dequeue" => params.drop_enqueue = false,
            "any_ect" => params.any_ect = true,
            "l4s_ect" => params.any_ect = false,
            // The following words of `tc` have no effect, because the logs have no GSO packets that
            // could be split.
            "split_gso" | "no_split_gso" => {}
            _ => {
                let expected = "limit, target, tupdate, alpha, beta, coupling_factor, \
                                step_thresh, min_qlen_step, classic_protection, \
                                drop_on_overload or overflow, drop_enqueue or drop_dequeue, \
                                any_ect or l4s_ect";
                return Err(unknown(word, expected));
            }
        }
        Ok(())
    }

    /// Parses a frequency in Hz with at most nine decimals. The result is in 1/256 Hz, rounded
    /// down.
    fn hertz(&mut self, key: &str) -> Result<u32, String> {
        let value = self.value(key)?;
        let parsed = billionths(value).map(|billionths| billionths * 256 / 1_000_000_000);
        let parsed = parsed.and_then(|units| u32::try_from(units).ok());
        parsed.ok_or_else(|| format!("{key}: found `{value}`, expected Hz such as 0.16"))
    }
}

fn step_threshold(text: &str) -> Option<StepThreshold> {
    if let Some(wait) = span(text) {
        return Some(StepThreshold::Wait(wait));
    }
    let packets = text.strip_suffix('p')?.parse().ok()?;
    Some(StepThreshold::Packets(Packets(packets)))
}

/// Parses a number with at most nine decimals, and returns it in billionths.
fn billionths(text: &str) -> Option<u128> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.chars().all(|c| c.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 9 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let rest: u64 = format!("{decimals:0<9}").parse().ok()?;
    Some(u128::from(whole) * 1_000_000_000 + u128::from(rest))
}

/// Parses a probability from 0 to 1 with at most nine decimals. Rounds it down to a multiple of
/// 2^-32, as `tc` does.
fn probability(text: &str) -> Option<Probability> {
    let billionths = billionths(text).filter(|&billionths| billionths <= 1_000_000_000)?;
    u64::try_from((billionths << 32) / 1_000_000_000).ok().map(Probability)
}

/// Parses a rate, such as `10mbit` or `500kbit`.
fn rate(text: &str) -> Option<BitRate> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let bits_per_unit: u64 = match unit {
        "bit" => 1,
        "kbit" => 1000,
        "mbit" => 1_000_000,
        "gbit" => 1_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(bits_per_unit).map(BitRate)
}

fn span(text: &str) -> Option<Span> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let ns_per_unit: u64 = match unit {
        "us" => 1000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(ns_per_unit).map(Span)
}

#[cfg(test)]
mod tests {
    use super::{Child, qdisc};
    use bbrlab_link::{
        Buffer, CodelParams, DualPi2Params, FqCodelParams, FqPieParams, PieParams, Probability,
        Queue, RedParams, StepThreshold,
    };
    use bbrlab_units::{BitRate, Bytes, Packets, Span};
    use expect_test::{Expect, expect};

    fn check(words: &str, queue: Queue, limit: Buffer) {
        assert_eq!(qdisc(words), Ok(Child::Queue { queue, limit }), "{words}");
    }

    fn packets(packets: u64) -> Buffer {
        Buffer::Packets(Packets(packets))
    }

    #[test]
    fn without_words_the_parameters_are_those_of_tc() {
        check("codel", Queue::Codel(CodelParams::DEFAULT), packets(1000));
        check("fq_codel", Queue::FqCodel(FqCodelParams::DEFAULT), packets(10_240));
        check("pie", Queue::Pie(PieParams::DEFAULT), packets(1000));
        check("fq_pie", Queue::FqPie(FqPieParams::DEFAULT), packets(10_240));
        check("dualpi2", Queue::DualPi2(DualPi2Params::DEFAULT), packets(10_000));
    }

    #[test]
    fn the_words_of_the_reference_are_understood() {
        let pie = PieParams { target: Span::from_millis(5), ecn: true, ..PieParams::DEFAULT };
        check(
            "pie limit 500 target 5ms tupdate 15ms alpha 2 beta 20 ecn",
            Queue::Pie(pie),
            packets(500),
        );
        check(
            "fq_pie limit 10240 flows 1024 target 15ms tupdate 15ms alpha 2 beta 20 quantum 1514 noecn",
            Queue::FqPie(FqPieParams::DEFAULT),
            packets(10_240),
        );
        let red = RedParams {
            min: Some(Bytes(30_000)),
            max: Some(Bytes(90_000)),
            burst: Some(55),
            // The probability 0.02, in units of 2^-32: 85,899,345.92, rounded down.
            probability: Probability(85_899_345),
            bandwidth: Some(BitRate(10_000_000)),
            adaptive: true,
            ..RedParams::DEFAULT
        };
        check(
            "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.02 bandwidth 10mbit adaptive",
            Queue::Red(red),
            Buffer::Bytes(Bytes(400_000)),
        );
    }

    #[test]
    fn the_words_of_fq_codel_are_understood() {
        let codel = CodelParams::DEFAULT;
        let params = FqCodelParams { codel, flows: 16, quantum: Bytes(300), drop_batch: 4 };
        check(
            "fq_codel limit 20 flows 16 quantum 300 target 5ms interval 100ms memory_limit 32Mb drop_batch 4 noecn",
            Queue::FqCodel(params),
            packets(20),
        );
        check_error(
            "fq_codel limit 1000 memory_limit 100k",
            &expect![
                "memory_limit: found 102400 bytes, expected enough for 1000 packets: smaller limits are not supported"
            ],
        );
        check_error(
            "fq_codel ce_threshold_mask 1",
            &expect![
                "found `ce_threshold_mask`, expected limit, target, interval, ce_threshold, ecn, noecn, flows, quantum, drop_batch, memory_limit"
            ],
        );
    }

    #[test]
    fn the_words_of_dualpi2_are_understood() {
        let params = DualPi2Params {
            alpha: 40,
            step_thresh: StepThreshold::Packets(Packets(10)),
            classic_protection: 20,
            drop_on_overload: false,
            ..DualPi2Params::DEFAULT
        };
        check(
            "dualpi2 alpha 0.16 step_thresh 10p classic_protection 20% overflow split_gso",
            Queue::DualPi2(params),
            packets(10_000),
        );
    }

    fn check_error(words: &str, expected: &Expect) {
        expected.assert_eq(&qdisc(words).unwrap_err());
    }

    #[test]
    fn a_wrong_word_is_answered_with_what_was_found_and_expected() {
        check_error(
            "pie gamma 3",
            &expect![
                "found `gamma`, expected limit, target, tupdate, alpha, beta, [no]ecn, [no]bytemode, [no_]dq_rate_estimator"
            ],
        );
        check_error(
            "red probability 1.5",
            &expect!["probability: found `1.5`, expected 0 to 1 such as 0.02"],
        );
        check_error("red min 1000", &expect!["red: found no limit, expected one"]);
        check_error(
            "dualpi2 classic_protection 101%",
            &expect!["classic_protection: found `101%`, expected 0% to 100%"],
        );
    }
}
