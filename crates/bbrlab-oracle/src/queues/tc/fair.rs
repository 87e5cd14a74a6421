//! The words of `sfq` and `fq`.

use bbrlab_link::{Buffer, FqParams, Queue, SfqParams};
use bbrlab_units::{Bytes, Packets, Span};

use super::{Child, Words, unknown};

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
