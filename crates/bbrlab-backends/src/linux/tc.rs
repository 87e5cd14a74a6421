//! Writes the arguments of `tc` for queue disciplines and for netem.
//!
//! Sources: [iproute2] `tc/q_*.c`, [linux] `net/sched/`.

use std::fmt::Write as _;

use bbrlab_link::{
    Buffer, CakeAckFilter, CakeFlows, CakeParams, CakeTins, CodelParams, Distribution,
    FqCodelParams, FqPieParams, PieParams, Probability, Queue, RedParams,
};
use bbrlab_units::Span;

/// The reason why `tc` or the kernel does not support a value, and the nearest value that both
/// support.
pub type Unable = (String, Option<&'static str>);

fn unable<T>(reason: &str, nearest: Option<&'static str>) -> Result<T, Unable> {
    Err((reason.to_owned(), nearest))
}

/// The limit, in packets, for a queue without a limit. Runs have fewer packets in flight.
const NO_LIMIT_PACKETS: u64 = 10_000_000;

/// Returns the arguments of `tc` for a queue discipline with its limit.
///
/// # Errors
/// Fails if `tc` or the kernel does not support a value.
#[allow(
    clippy::match_wildcard_for_single_variants,
    reason = "a new discipline is refused until its arguments are written here"
)]
pub fn discipline(queue: &Queue, buffer: Buffer) -> Result<String, Unable> {
    let packets = |kind: &str| match buffer {
        Buffer::Packets(limit) => Ok(limit.0),
        Buffer::Unlimited => Ok(NO_LIMIT_PACKETS),
        Buffer::Bytes(_) => Err((
            format!("limits {kind} in packets, not in bytes"),
            Some("the same limit in `pkt`"),
        )),
    };
    Ok(match queue {
        Queue::DropTail => match buffer {
            Buffer::Bytes(limit) => format!("bfifo limit {}", limit.0),
            _ => format!("pfifo limit {}", packets("pfifo")?),
        },
        Queue::Codel(params) => format!("codel limit {}{}", packets("codel")?, codel(params)),
        Queue::FqCodel(FqCodelParams { codel: law, flows, quantum, drop_batch }) => format!(
            "fq_codel limit {} flows {flows} quantum {} drop_batch {drop_batch}{}",
            packets("fq_codel")?,
            quantum.0,
            codel(law)
        ),
        Queue::Pie(params) => format!("pie limit {}{}", packets("pie")?, pie(params)),
        Queue::FqPie(FqPieParams { pie: law, flows, quantum, ecn_prob }) => format!(
            "fq_pie limit {} flows {flows} quantum {} ecn_prob {ecn_prob}{}",
            packets("fq_pie")?,
            quantum.0,
            pie(law)
        ),
        Queue::Red(params) => red(params, buffer)?,
        Queue::Sfq(params) => {
            let perturb = match params.perturb {
                None => String::new(),
                Some(span) if span.0 % 1_000_000_000 == 0 => {
                    format!(" perturb {}", span.0 / 1_000_000_000)
                }
                Some(_) => return unable("changes the hash of sfq only at whole seconds", None),
            };
            format!(
                "sfq limit {} depth {} flows {} divisor {} quantum {}{perturb}",
                packets("sfq")?,
                params.depth,
                params.flows,
                params.divisor,
                params.quantum.0
            )
        }
        Queue::Fq(params) => {
            let mark = params.ce_threshold.map(|wait| format!(" ce_threshold {}", span(wait)));
            format!(
                "fq nopacing limit {} flow_limit {} quantum {} initial_quantum {}{}",
                packets("fq")?,
                params.flow_limit,
                params.quantum.0,
                params.initial_quantum.0,
                mark.unwrap_or_default()
            )
        }
        Queue::Cake(params) => cake(params, buffer)?,
        Queue::Prio(params) => {
            if buffer != Buffer::Packets(bbrlab_units::Packets(1000)) {
                return unable(
                    "gives each band of prio 1,000 packets",
                    Some("`buffer = \"1000pkt\"`"),
                );
            }
            let map: Vec<String> = params.priomap.iter().map(u8::to_string).collect();
            format!("prio bands {} priomap {}", params.bands, map.join(" "))
        }
        Queue::Grants(_) => return unable("has no grants", Some("`slot`")),
        Queue::Slots(_) => return unable("has slots only in `netem`, not as a queue", None),
        other => return unable(&format!("has no {}", other.name()), Some("`fq_codel`")),
    })
}

fn cake(params: &CakeParams, buffer: Buffer) -> Result<String, Unable> {
    if buffer != Buffer::Unlimited {
        return unable("limits cake only by `memlimit`, not by `buffer`", Some("`memlimit`"));
    }
    if params.ack_filter != CakeAckFilter::Off {
        return unable(
            "drops no ACKs in cake, because bbrlab sets `no-ack-filter`",
            Some("`ack_filter = false`"),
        );
    }
    let mut words = "cake".to_owned();
    let _ = match params.bandwidth {
        Some(rate) => write!(words, " bandwidth {}bit", rate.0),
        None => write!(words, " unlimited"),
    };
    let name = |tins: CakeTins| {
        CakeTins::NAMED.iter().find(|(_, named)| *named == tins).map_or("", |it| it.0)
    };
    let flows = |flows: CakeFlows| {
        CakeFlows::NAMED.iter().find(|(_, named)| *named == flows).map_or("", |it| it.0)
    };
    let _ =
        write!(words, " {} {} rtt {}", name(params.tins), flows(params.flows), span(params.rtt));
    if let Some(limit) = params.memlimit {
        let _ = write!(words, " memlimit {}", limit.0);
    }
    Ok(words + " nonat nowash no-ack-filter no-split-gso raw")
}

fn codel(params: &CodelParams) -> String {
    let CodelParams { target, interval, ecn, ce_threshold } = params;
    let mark = ce_threshold.map(|wait| format!(" ce_threshold {}", span(wait)));
    format!(
        " target {} interval {} {}{}",
        span(*target),
        span(*interval),
        if *ecn { "ecn" } else { "noecn" },
        mark.unwrap_or_default()
    )
}

fn pie(params: &PieParams) -> String {
    let PieParams { target, tupdate, alpha, beta, ecn, bytemode, dq_rate_estimator } = params;
    let word = |is_on: bool, on: &'static str, off: &'static str| if is_on { on } else { off };
    format!(
        " target {} tupdate {} alpha {alpha} beta {beta} {} {} {}",
        span(*target),
        span(*tupdate),
        word(*ecn, "ecn", "noecn"),
        word(*bytemode, "bytemode", "nobytemode"),
        word(*dq_rate_estimator, "dq_rate_estimator", "no_dq_rate_estimator"),
    )
}

fn red(params: &RedParams, buffer: Buffer) -> Result<String, Unable> {
    let RedParams {
        min,
        max,
        avpkt,
        burst,
        probability,
        bandwidth,
        ecn,
        harddrop,
        nodrop,
        adaptive,
    } = params;
    let Buffer::Bytes(limit) = buffer else {
        return unable("limits red in bytes", Some("the same limit in `B`"));
    };
    if *adaptive {
        return unable("does not adapt RED's probability", Some("`adaptive = false`"));
    }
    let mut words = format!("red limit {} avpkt {}", limit.0, avpkt.0);
    let _ = write!(words, " probability {}", share(*probability));
    for (name, value) in [("min", min.map(|it| it.0)), ("max", max.map(|it| it.0))] {
        if let Some(value) = value {
            let _ = write!(words, " {name} {value}");
        }
    }
    if let Some(burst) = burst {
        let _ = write!(words, " burst {burst}");
    }
    if let Some(rate) = bandwidth {
        let _ = write!(words, " bandwidth {}bit", rate.0);
    }
    for (name, is_on) in [("ecn", ecn), ("harddrop", harddrop), ("nodrop", nodrop)] {
        if *is_on {
            let _ = write!(words, " {name}");
        }
    }
    Ok(words)
}

/// Formats a time for `tc` in ms, us or ns: the largest of these units in which it is a whole
/// number.
pub(super) fn span(span: Span) -> String {
    match span.0 {
        ns if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
        ns if ns % 1000 == 0 => format!("{}us", ns / 1000),
        ns => format!("{ns}ns"),
    }
}

/// Formats a probability as a number from 0 to 1 with nine decimals. The number is rounded up,
/// because `tc` rounds it down.
fn share(probability: Probability) -> String {
    let billionths = (u128::from(probability.0) * 1_000_000_000).div_ceil(1 << 32);
    format!("{}.{:09}", billionths / 1_000_000_000, billionths % 1_000_000_000)
}

/// Returns a probability in percent, with enough decimals that probabilities that differ by 2^-32
/// have different texts.
#[must_use]
pub fn percent(probability: Probability) -> String {
    let trillionths = (u128::from(probability.0) * 1_000_000_000_000) >> 32;
    format!("{}.{:010}%", trillionths / 10_000_000_000, trillionths % 10_000_000_000)
}

/// Returns the text of a file with a distribution of delays, in the format that `tc` reads; `None`
/// if the distribution has no table.
pub(super) fn distribution_file(distribution: &Distribution) -> Option<String> {
    let table = distribution.table()?;
    let numbers: Vec<String> = table.iter().map(i16::to_string).collect();
    Some(numbers.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use bbrlab_link::{Buffer, Probability, Queue};
    use bbrlab_oracle::queues::{Child, qdisc};

    use super::{discipline, percent};

    /// Reads arguments of `tc`, writes the parameters with this module, and reads the written text.
    /// Both readings must give the same parameters.
    #[test]
    fn words_of_disciplines_are_read_back() {
        for words in [
            "pfifo limit 100",
            "codel limit 1000 target 7ms interval 80ms ecn ce_threshold 2ms",
            "fq_codel limit 500 flows 64 quantum 300 drop_batch 8 noecn",
            "pie limit 200 target 20ms tupdate 30ms alpha 3 beta 25 ecn bytemode",
            "fq_pie limit 900 flows 32 ecn_prob 20 dq_rate_estimator",
            "red limit 400000 min 30000 max 90000 avpkt 1514 burst 40 probability 0.1 bandwidth 50mbit ecn harddrop",
            "sfq limit 100 depth 20 flows 16 divisor 256 perturb 10",
            "cake bandwidth 20mbit diffserv4 dual-srchost rtt 50ms memlimit 500000",
            "cake unlimited flows",
            "prio bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
        ] {
            let read = qdisc(words).unwrap();
            let Child::Queue { queue, limit } = &read else { panic!("{words}") };
            let written = discipline(queue, *limit).unwrap();
            assert_eq!(qdisc(&written).unwrap(), read, "{words}: {written}");
        }
    }

    #[test]
    fn what_the_kernel_lacks_has_a_reason() {
        let (reason, nearest) =
            discipline(&Queue::DropTail, Buffer::Bytes(bbrlab_units::Bytes(3000)))
                .map(|words| (words, None))
                .unwrap();
        assert_eq!((reason.as_str(), nearest), ("bfifo limit 3000", None::<&str>));
        let codel = Queue::Codel(bbrlab_link::CodelParams::DEFAULT);
        let (reason, _) = discipline(&codel, Buffer::Bytes(bbrlab_units::Bytes(1))).unwrap_err();
        assert_eq!(reason, "limits codel in packets, not in bytes");
    }

    #[test]
    fn percentages_have_the_digits_of_the_probability() {
        assert_eq!(percent(Probability(1 << 31)), "50.0000000000%");
        assert_eq!(percent(Probability(42_949_673)), "1.0000000009%");
    }
}
