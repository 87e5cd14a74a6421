//! The keys of a flow that describe its source: the data that its application sends.

use bbrlab_units::{BitRate, Bytes, Span};

use crate::keys::distribution;
use crate::keys::traffic::{ArrivalsSpec, ClientSpec};
use crate::language::document::Node;
use crate::language::quantity::show_span;
use crate::language::reader::{Keys, Reader};
use bbrlab_run::{Bursts, Paces, Random, Source};

use super::frames::FramesSpec;
use super::pace::RateSpec;

/// The values of the keys that describe a flow's source.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceSpec {
    pub(super) bytes: Option<Bytes>,
    pub(super) rate: Option<RateSpec>,
    pub(super) on: Option<Random>,
    pub(super) off: Option<Random>,
    pub(super) write: Option<Source>,
    pub(super) frames: Option<FramesSpec>,
    pub(super) train: Option<Source>,
    pub(super) arrivals: Option<ArrivalsSpec>,
    pub(super) requests: Option<ClientSpec>,
    pub(super) sizes: Option<Random>,
}

impl SourceSpec {
    /// Returns whether the source depends on the link rates of the path, as arrivals with `load`
    /// do.
    pub(crate) fn needs_rate(&self) -> bool {
        self.arrivals.as_ref().is_some_and(ArrivalsSpec::needs_rate)
    }

    /// Returns whether the flows of the table are the connections of a browser.
    pub(crate) fn is_page(&self) -> bool {
        matches!(self.requests, Some(ClientSpec::Page { .. }))
    }

    /// Returns whether the source has transfers, which have completion times.
    pub(crate) fn has_transfers(&self) -> bool {
        self.bytes.is_some()
            || self.train.is_some()
            || self.arrivals.is_some()
            || self.requests.is_some()
    }

    /// Returns whether the source's rate follows a schedule.
    pub(super) fn has_schedule(&self) -> bool {
        matches!(self.rate, Some(RateSpec::Schedule(_)))
    }

    /// Returns the source of a flow whose packets have `mss` bytes of payload. `link` has the rate
    /// of the slowest link on the flow's path and the framing of that link in bytes per packet.
    /// `count` is the number of flows of the table.
    pub(crate) fn source(&self, mss: u32, link: (BitRate, Bytes), count: u64) -> Source {
        let sizes = self.sizes.clone().or(self.bytes.map(|bytes| distribution::constant(bytes.0)));
        let given = match self {
            Self { arrivals: Some(arrivals), .. } => {
                sizes.map(|sizes| Source::Arrivals(arrivals.arrivals(sizes, mss, link)))
            }
            Self { requests: Some(client), .. } => {
                let connections = u32::try_from(count).expect("bounded by FLOWS_MAX");
                client.requests(sizes, connections).map(Source::Requests)
            }
            &Self { bytes: Some(bytes), .. } => Some(Source::Bytes(bytes)),
            Self { on: Some(on), off: Some(off), rate, .. } => {
                let rate = rate.as_ref().and_then(RateSpec::constant);
                let is_plain = |times: &Random| distribution::constant(times.mean) == *times;
                Some(if is_plain(on) && is_plain(off) {
                    Source::OnOff { on: Span(on.mean), off: Span(off.mean), rate }
                } else {
                    Source::Bursts(Bursts { on: on.clone(), off: off.clone(), rate })
                })
            }
            Self { rate: Some(RateSpec::Constant(rate)), .. } => Some(Source::Cbr(*rate)),
            Self { rate: Some(RateSpec::Schedule(paces)), .. } => {
                Some(Source::Rates(Paces::clone(paces)))
            }
            Self { frames: Some(frames), .. } => Some(Source::Frames(frames.frames())),
            Self { write, train, .. } => write.clone().or(train.clone()),
        };
        given.unwrap_or(Source::Unlimited)
    }
}

pub(super) fn read_write(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Source> {
    let table =
        reader.table(node, name, "a table such as { bytes = \"64KiB\", every = \"50ms\" }")?;
    let mut keys = Keys::new(table, name, node.at);
    let bytes = needed_bytes(reader, &mut keys);
    let every =
        reader.needed(&mut keys, "every", "the interval, such as \"50ms\"", Reader::positive_span);
    keys.finish(reader);
    Some(Source::Write { bytes: bytes?, every: every? })
}

pub(super) fn read_train(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Source> {
    let expected = "a table such as { bytes = \"150KB\", count = 20, gap = \"100ms\" }";
    let table = reader.table(node, name, expected)?;
    let mut keys = Keys::new(table, name, node.at);
    let bytes = needed_bytes(reader, &mut keys);
    let count =
        reader.needed(&mut keys, "count", "the number of transfers", |reader, node, name| {
            reader.integer(node, name, 1, 1_000_000_000)
        });
    let gap = reader.needed(
        &mut keys,
        "gap",
        "the time between transfers, such as \"100ms\"",
        Reader::span,
    );
    keys.finish(reader);
    let count = u32::try_from(count?).expect("at most 10^9");
    Some(Source::Train { bytes: bytes?, count, gap: gap? })
}

fn needed_bytes(reader: &mut Reader<'_>, keys: &mut Keys<'_>) -> Option<Bytes> {
    reader.needed(keys, "bytes", "a number of bytes such as \"64KiB\"", |reader, node, name| {
        reader.positive_bytes(node, name)
    })
}

pub(super) fn show_handed(source: &Source) -> Option<String> {
    match *source {
        Source::Write { bytes, every } => {
            let every = show_span(every);
            Some(format!("{{ bytes = \"{}B\", every = \"{every}\" }}", bytes.0))
        }
        Source::Train { bytes, count, gap } => {
            let gap = show_span(gap);
            Some(format!("{{ bytes = \"{}B\", count = {count}, gap = \"{gap}\" }}", bytes.0))
        }
        Source::Unlimited
        | Source::Bytes(_)
        | Source::Cbr(_)
        | Source::Rates(_)
        | Source::OnOff { .. }
        | Source::Bursts(_)
        | Source::Frames(_)
        | Source::Requests(_)
        | Source::Arrivals(_) => None,
    }
}
