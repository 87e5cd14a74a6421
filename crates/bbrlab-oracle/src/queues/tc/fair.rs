//! The words of `sfq`, `fq`, `cake` and `prio`.

use bbrlab_link::{
    Buffer, CakeFlows, CakeParams, CakeTins, FqParams, PrioParams, Queue, SfqParams,
};
use bbrlab_units::{Bytes, Packets, Span};

use super::{Child, Words, rate, unknown};

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
                                red are left out";
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

/// A word of `cake`.
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
        // As if they were not there: no packet is larger than the MTU, and sizes are those on the wire.
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
        | "fwmark" => return Err(format!("`{word}` of cake is left out")),
        _ => {
            let expected = "bandwidth, unlimited, besteffort to diffserv8, flowblind to triple-isolate, \
                            rtt, memlimit";
            return Err(unknown(word, expected));
        }
    }
    Ok(())
}
