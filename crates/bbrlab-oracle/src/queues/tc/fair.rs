//! Parses the arguments of `tc` for `fq_codel`, `sfq`, `fq`, `cake` and `prio`.

use bbrlab_link::{
    Buffer, CakeFlows, CakeParams, CakeTins, FqCodelParams, FqParams, PrioParams, Queue, SfqParams,
};
use bbrlab_units::{Bytes, Packets, Span};

use super::{Child, Words, rate, unknown};

/// The memory that the kernel counts for a full Ethernet packet (`truesize`), in bytes.
const PACKET_MEMORY: u64 = 2304;

pub(super) fn fq_codel(words: &mut Words<'_>) -> Result<Child, String> {
    let mut limit = Packets(10_240);
    let mut params = FqCodelParams::DEFAULT;
    let mut memory = None;
    while let Some(word) = words.next() {
        match word {
            "limit" => limit = Packets(words.number(word)?),
            "flows" => params.flows = words.number(word)?,
            "quantum" => params.quantum = Bytes(words.number(word)?),
            "drop_batch" => params.drop_batch = words.number::<u32>(word)?.max(1),
            "memory_limit" => memory = Some(words.size(word)?),
            _ => {
                let more = ", flows, quantum, drop_batch, memory_limit";
                words.codel(word, &mut params.codel, more)?;
            }
        }
    }
    if let Some(memory) = memory
        && memory.0 < limit.0.saturating_mul(PACKET_MEMORY)
    {
        return Err(format!(
            "memory_limit: found {} bytes, expected enough for {} packets: smaller limits are not supported",
            memory.0, limit.0
        ));
    }
    Ok(Child::Queue { queue: Queue::FqCodel(params), limit: Buffer::Packets(limit) })
}

pub(super) fn sfq(words: &mut Words<'_>) -> Result<Child, String> {
    let mut limit = Buffer::Packets(Packets(127));
    let mut params = SfqParams::DEFAULT;
    while let Some(word) = words.next() {
        match word {
            "limit" => limit = Buffer::Packets(Packets(words.number(word)?)),
            "depth" => params.depth = words.number(word)?,
            "flows" => params.flows = words.number(word)?,
            "divisor" => params.divisor = words.number(word)?,
            "quantum" => params.quantum = Bytes(words.number(word)?),
            "perturb" => {
                let seconds: u32 = words.number(word)?;
                params.perturb = (seconds > 0).then(|| Span::from_secs(seconds.into()));
            }
            _ => {
                let expected = "limit, depth, flows, divisor, quantum, perturb; headdrop and the words of \
                                red are not supported";
                return Err(unknown(word, expected));
            }
        }
    }
    Ok(Child::Queue { queue: Queue::Sfq(params), limit })
}

pub(super) fn fq(words: &mut Words<'_>) -> Result<Child, String> {
    let mut limit = Buffer::Packets(Packets(10000));
    let mut params = FqParams::DEFAULT;
    while let Some(word) = words.next() {
        match word {
            "limit" => limit = Buffer::Packets(Packets(words.number(word)?)),
            "flow_limit" => params.flow_limit = words.number(word)?,
            "quantum" => params.quantum = Bytes(words.number(word)?),
            "initial_quantum" => params.initial_quantum = Bytes(words.number(word)?),
            "ce_threshold" => params.ce_threshold = Some(words.span(word)?),
            _ => {
                let expected = "limit, flow_limit, quantum, initial_quantum, ce_threshold";
                return Err(unknown(word, expected));
            }
        }
    }
    Ok(Child::Queue { queue: Queue::Fq(params), limit })
}

pub(super) fn cake(words: &mut Words<'_>) -> Result<Child, String> {
    let mut params = CakeParams::DEFAULT;
    while let Some(word) = words.next() {
        cake_word(words, word, &mut params)?;
    }
    Ok(Child::Queue { queue: Queue::Cake(params), limit: Buffer::Unlimited })
}

pub(super) fn prio(words: &mut Words<'_>) -> Result<Child, String> {
    let mut params = PrioParams::DEFAULT;
    while let Some(word) = words.next() {
        match word {
            "bands" => params.bands = words.number(word)?,
            "priomap" => {
                for band in &mut params.priomap {
                    *band = words.number(word)?;
                }
            }
            _ => return Err(unknown(word, "bands, priomap")),
        }
    }
    let limit = Buffer::Packets(Packets(1000));
    Ok(Child::Queue { queue: Queue::Prio(params), limit })
}

/// Parses `word`, with its value if it has one, as a parameter of `cake`.
fn cake_word(words: &mut Words<'_>, word: &str, params: &mut CakeParams) -> Result<(), String> {
    if let Some((_, tins)) = CakeTins::NAMED.iter().find(|(name, _)| *name == word) {
        params.tins = *tins;
        return Ok(());
    }
    if let Some((_, flows)) = CakeFlows::NAMED.iter().find(|(name, _)| *name == word) {
        params.flows = *flows;
        return Ok(());
    }
    match word {
        "bandwidth" => {
            let value = words.value(word)?;
            let rate = rate(value).ok_or_else(|| {
                format!("{word}: found `{value}`, expected a rate such as 10mbit")
            })?;
            params.bandwidth = (rate.0 > 0).then_some(rate);
        }
        "unlimited" => params.bandwidth = None,
        "rtt" => params.rtt = words.span(word)?,
        "memlimit" => params.memlimit = Some(Bytes(words.number(word)?)),
        // The following words of `tc` have no effect on the replay. `split-gso` and `no-split-gso`
        // apply to packets larger than the MTU, and the log has none. `raw` means that sizes are
        // not corrected; the logged sizes are sizes on the wire. Each other word turns off a
        // feature of `cake` that the replay does not support.
        "nonat" | "nowash" | "no-ack-filter" | "split-gso" | "no-split-gso" | "raw" | "noatm"
        | "egress" => {}
        "nat"
        | "wash"
        | "ack-filter"
        | "ack-filter-aggressive"
        | "ingress"
        | "autorate-ingress"
        | "overhead"
        | "mpu"
        | "atm"
        | "ptm"
        | "fwmark" => return Err(format!("`{word}` of cake is not supported")),
        _ => {
            let expected = "bandwidth, unlimited, rtt, memlimit, the tins (besteffort, precedence, \
                            diffserv3, diffserv4 or diffserv8), or the flow isolation (flowblind, \
                            srchost, dsthost, hosts, flows, dual-srchost, dual-dsthost or \
                            triple-isolate)";
            return Err(unknown(word, expected));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::tc::qdisc;
    use expect_test::{Expect, expect};

    fn check(words: &str, queue: Queue, limit: Buffer) {
        assert_eq!(qdisc(words), Ok(Child::Queue { queue, limit }), "{words}");
    }

    fn packets(packets: u64) -> Buffer {
        Buffer::Packets(Packets(packets))
    }

    #[test]
    fn without_words_the_parameters_are_those_of_tc() {
        check("sfq", Queue::Sfq(SfqParams::DEFAULT), packets(127));
        check("fq", Queue::Fq(FqParams::DEFAULT), packets(10_000));
        check("cake", Queue::Cake(CakeParams::DEFAULT), Buffer::Unlimited);
        check("prio", Queue::Prio(PrioParams::DEFAULT), packets(1000));
    }

    #[test]
    fn the_words_of_the_reference_are_understood() {
        let perturb = Some(Span::from_secs(10));
        let sfq = SfqParams { perturb, ..SfqParams::DEFAULT };
        check("sfq limit 127 perturb 10", Queue::Sfq(sfq), packets(127));
        let ce_threshold = Some(Span::from_millis(5));
        let fq = FqParams { flow_limit: 1000, ce_threshold, ..FqParams::DEFAULT };
        check(
            "fq limit 10000 flow_limit 1000 quantum 3028 initial_quantum 15140 ce_threshold 5ms",
            Queue::Fq(fq),
            packets(10_000),
        );
        let rtt = Span::from_millis(30);
        let bandwidth = rate("10mbit");
        let cake = CakeParams { bandwidth, rtt, ..CakeParams::DEFAULT };
        check(
            "cake bandwidth 10mbit diffserv3 triple-isolate nowash no-ack-filter split-gso rtt 30ms raw",
            Queue::Cake(cake),
            Buffer::Unlimited,
        );
        let (tins, flows) = (CakeTins::Besteffort, CakeFlows::Flows);
        check(
            "cake unlimited besteffort flows rtt 100ms raw",
            Queue::Cake(CakeParams { tins, flows, ..CakeParams::DEFAULT }),
            Buffer::Unlimited,
        );
    }

    fn check_error(words: &str, expected: &Expect) {
        expected.assert_eq(&qdisc(words).unwrap_err());
    }

    #[test]
    fn what_is_left_out_is_refused_by_name() {
        check_error(
            "sfq headdrop",
            &expect![
                "found `headdrop`, expected limit, depth, flows, divisor, quantum, perturb; headdrop and the words of red are not supported"
            ],
        );
        check_error(
            "fq maxrate 10mbit",
            &expect![
                "found `maxrate`, expected limit, flow_limit, quantum, initial_quantum, ce_threshold"
            ],
        );
        check_error("cake wash", &expect!["`wash` of cake is not supported"]);
        check_error("cake overhead 18", &expect!["`overhead` of cake is not supported"]);
        check_error(
            "cake bandwidth fast",
            &expect!["bandwidth: found `fast`, expected a rate such as 10mbit"],
        );
        check_error("prio bands", &expect!["bands: found nothing, expected a value"]);
    }
}
