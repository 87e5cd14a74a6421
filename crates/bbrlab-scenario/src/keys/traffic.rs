//! `arrivals`: flows that arrive at random times. `requests`, `page` and `video`: a client that
//! sends repeated requests.

use std::sync::Arc;

use bbrlab_run::{Arrivals, Distribution, PageLoad, Pause, Random, Requests};
use bbrlab_units::{BitRate, Bytes, NS_PER_S, Span};

use crate::keys::distribution::{self, DRAWN_MAX, Kind, LARGEST_OVER_MEAN, SHAPE, TIMES_FORM};
use crate::keys::link::HEADERS;
use crate::language::decimal::Decimal;
use crate::language::document::{Node, Value};
use crate::language::key::{Form, name_of, names, needed, optional};
use crate::language::quantity::{parse_frequency, show_rate, show_span};
use crate::language::reader::{Keys, Reader};

/// The default of `at_most`, the largest number of concurrent flows. This number of flows takes
/// about 60 MB of memory.
const AT_MOST: u32 = 10_000;

/// The highest rate of arrivals or frames per second.
const ARRIVALS_MAX: u64 = 1_000_000;

/// The arrival rate of flows, as the scenario gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pace {
    /// Flows per second.
    Rate(Decimal),
    /// The mean rate at which the arriving flows offer data, as a share of the smallest link rate
    /// on the path.
    Load(Decimal),
}

/// `arrivals` as the scenario writes it.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalsSpec {
    distribution: Distribution,
    pace: Pace,
    at_most: u32,
}

const PROCESSES: [(&str, Kind); 3] =
    [("poisson", Kind::Exponential), ("pareto", Kind::Pareto), ("constant", Kind::Constant)];

pub(crate) const ARRIVALS_FORM: Form = Form::Table(&[
    optional("process", Form::Choice(|| names(&PROCESSES))),
    optional("rate", Form::Frequency),
    optional("load", Form::Ratio),
    optional("shape", SHAPE),
    optional("at_most", Form::Whole(1, AT_MOST_MAX)),
]);

/// The largest accepted value of `at_most`.
const AT_MOST_MAX: u64 = 1_000_000;

const ARRIVALS: &str = "a table such as { rate = \"50/s\" } or { load = \"30%\" }";

impl ArrivalsSpec {
    pub(crate) fn read(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let table = reader.table(node, name, ARRIVALS)?;
        let mut keys = Keys::new(table, name, node.at);
        let kind = match keys.take("process") {
            Some(node) => reader.choice(node, &keys.name("process"), &PROCESSES, ""),
            None => Some(Kind::Exponential),
        };
        let (rate, load) = (keys.take("rate"), keys.take("load"));
        let pace = match (rate, load) {
            (Some(node), None) => {
                let expected = "a number of flows per second";
                read_frequency(reader, node, &keys.name("rate"), expected, "\"50/s\"")
                    .map(Pace::Rate)
            }
            (None, Some(node)) => read_load(reader, node, &keys.name("load")).map(Pace::Load),
            (Some(_), Some(node)) => {
                let title = format!("`{name}`: expected either `rate` or `load`");
                reader.problem(node.at, title, "found `load` as well", Vec::new());
                None
            }
            (None, None) => {
                let expected = "the arrival rate, such as \"50/s\", or `load`";
                reader.missing(&keys, "rate", expected);
                None
            }
        };
        let distribution =
            kind.and_then(|kind| distribution::read_distribution(reader, &mut keys, kind));
        let at_most = match keys.take("at_most") {
            Some(node) => reader.integer(node, &keys.name("at_most"), 1, AT_MOST_MAX),
            None => Some(u64::from(AT_MOST)),
        };
        keys.finish(reader);
        let at_most = u32::try_from(at_most?).expect("at most a million");
        Some(Self { distribution: distribution?, pace: pace?, at_most })
    }

    /// Returns the largest number of flows that can be active at the same time.
    pub(crate) const fn at_most(&self) -> u32 {
        self.at_most
    }

    /// Returns whether the arrival rate depends on the rate of a link, as it does with `load`.
    pub(crate) const fn needs_rate(&self) -> bool {
        matches!(self.pace, Pace::Load(_))
    }

    /// Returns the arrival process of flows with sizes `size` and packets with `mss` bytes of
    /// payload. `rate` and `framing` belong to the slowest link on the path of the flows.
    pub(crate) fn arrivals(
        &self,
        size: Random,
        mss: u32,
        (rate, framing): (BitRate, Bytes),
    ) -> Arrivals {
        let per_second = u128::from(NS_PER_S);
        let gap = match self.pace {
            Pace::Rate(rate) => {
                let micro =
                    rate.times_over_rounded(1_000_000, 1).expect("the reader bounds the rate");
                (1_000_000 * per_second + u128::from(micro) / 2) / u128::from(micro)
            }
            Pace::Load(load) => {
                let packets = u128::from(size.mean.div_ceil(u64::from(mss)));
                let bytes = u128::from(size.mean) + packets * u128::from(HEADERS + framing.0);
                let load = load.times_over_rounded(1 << 20, 1).expect("a ratio");
                let full = u128::from(rate.0) * u128::from(load.max(1));
                ((bytes * 8 * per_second) << 20) / full
            }
        };
        let fastest = per_second / u128::from(ARRIVALS_MAX);
        let mean = u64::try_from(gap.max(fastest)).unwrap_or(DRAWN_MAX).min(DRAWN_MAX);
        let max = mean.saturating_mul(LARGEST_OVER_MEAN).min(DRAWN_MAX);
        Arrivals {
            gap: Random { distribution: self.distribution.clone(), mean, max },
            size,
            at_most: self.at_most,
        }
    }

    /// Returns the value of `arrivals` as a scenario would write it.
    pub(crate) fn show(&self) -> String {
        let process = name_of(&PROCESSES, distribution::kind(&self.distribution));
        let pace = match self.pace {
            Pace::Rate(rate) => format!("rate = \"{rate}/s\""),
            Pace::Load(load) => format!("load = {load}"),
        };
        let at_most = if self.at_most == AT_MOST {
            String::new()
        } else {
            format!(", at_most = {}", self.at_most)
        };
        format!(
            "{{ process = \"{process}\", {pace}{}{at_most} }}",
            distribution::show_parameter(&self.distribution)
        )
    }
}

/// Reads a frequency such as `50/s`: the number of flows that arrive, or of video frames, per
/// second.
pub(super) fn read_frequency(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
    expected: &str,
    example: &str,
) -> Option<Decimal> {
    let rate = reader.quantity(node, name, expected, example, parse_frequency)?;
    let micro = rate.times(1_000_000);
    if micro.is_ok_and(|micro| (1..=ARRIVALS_MAX * 1_000_000).contains(&micro)) {
        return Some(rate);
    }
    reader.wrong(node, name, "from \"0.000001/s\" to \"1000000/s\"");
    None
}

fn read_load(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Decimal> {
    let load = reader.ratio(node, name)?;
    if load.times_over_rounded(1 << 20, 1) == Some(0) {
        reader.wrong(node, name, "a share above one millionth such as \"30%\"");
        return None;
    }
    Some(load)
}

/// `requests`, `page` or `video` as the scenario writes it.
#[derive(Clone, Debug)]
pub(crate) enum ClientSpec {
    Requests { think: Option<Random>, count: Option<u32> },
    Video { rate: BitRate, piece: Span, buffer: Span },
    Page { rounds: Arc<[u32]>, think: Option<Random>, count: Option<u32> },
}

pub(crate) const REQUESTS_FORM: Form =
    Form::Table(&[optional("think", TIMES_FORM), optional("count", Form::Whole(1, COUNT_MAX))]);

pub(crate) const PAGE_FORM: Form = Form::Table(&[
    needed("objects", Form::List(&Form::Whole(1, OBJECTS_MAX))),
    optional("think", TIMES_FORM),
    optional("count", Form::Whole(1, COUNT_MAX)),
]);

/// The largest number of objects in a round of a page load, and the largest number of rounds.
const OBJECTS_MAX: u64 = 100_000;
const ROUNDS_MAX: usize = 1000;

pub(crate) const VIDEO_FORM: Form = Form::Table(&[
    needed("rate", Form::Rate),
    optional("piece", Form::Time),
    optional("buffer", Form::Time),
]);

/// The largest value of `count` in `requests` (responses of a flow) and in `page` (page loads).
const COUNT_MAX: u64 = 1_000_000_000;

const REQUESTS: &str = "a table such as { think = \"100ms\" }";
const PAGE: &str = "a table such as { objects = [1, 12, 20], think = \"2s\" }";
const VIDEO: &str = "a table such as { rate = \"4Mbit/s\" }";

/// The defaults of `piece`, the playing time of a video chunk, and of `buffer`, the playing time
/// that the player stores.
const PIECE: Span = Span::from_secs(4);
const BUFFER: Span = Span::from_secs(30);

impl ClientSpec {
    pub(crate) fn read_requests(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let table = reader.table(node, name, REQUESTS)?;
        let mut keys = Keys::new(table, name, node.at);
        let repetition = read_repetition(reader, &mut keys);
        keys.finish(reader);
        let (think, count) = repetition?;
        Some(Self::Requests { think, count })
    }

    pub(crate) fn read_page(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let table = reader.table(node, name, PAGE)?;
        let mut keys = Keys::new(table, name, node.at);
        let expected = "the number of objects of each round, such as [1, 12, 20]";
        let rounds = reader.needed(&mut keys, "objects", expected, read_rounds);
        let repetition = read_repetition(reader, &mut keys);
        keys.finish(reader);
        let (think, count) = repetition?;
        Some(Self::Page { rounds: rounds?, think, count })
    }

    pub(crate) fn read_video(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let table = reader.table(node, name, VIDEO)?;
        let mut keys = Keys::new(table, name, node.at);
        let rate = reader.needed(
            &mut keys,
            "rate",
            "the rate at which the video plays, such as \"4Mbit/s\"",
            Reader::rate,
        );
        let mut time = |key: &'static str, default: Span| match keys.take(key) {
            Some(node) => reader.positive_span(node, &keys.name(key)),
            None => Some(default),
        };
        let (piece, buffer) = (time("piece", PIECE), time("buffer", BUFFER));
        if let (Some(piece), Some(buffer)) = (piece, buffer)
            && buffer < piece
        {
            let node = keys.get("buffer").or(keys.get("piece")).unwrap_or(node);
            let title =
                format!("`{}`: expected room for at least one `piece`", keys.name("buffer"));
            let (piece, buffer) = (show_span(piece), show_span(buffer));
            let found = format!("found {buffer}; a piece is {piece}");
            reader.problem(node.at, title, found, Vec::new());
        }
        keys.finish(reader);
        Some(Self::Video { rate: rate?, piece: piece?, buffer: buffer? })
    }

    /// Returns the requests with the sizes of their responses. For `video`, the sizes follow from
    /// the bit rate and the playing time of a chunk, not from `size`.
    pub(crate) fn requests(&self, size: Option<Random>, connections: u32) -> Option<Requests> {
        match self {
            Self::Page { rounds, think, count } => {
                let (rounds, think, count) = (Arc::clone(rounds), think.clone(), *count);
                let pause = Pause::Page(PageLoad { connections, rounds, think, count });
                Some(Requests { size: size?, pause, count: None })
            }
            Self::Requests { think, count } => {
                let (think, count) = (think.clone(), *count);
                let pause = think.map_or(Pause::None, Pause::Think);
                Some(Requests { size: size?, pause, count })
            }
            &Self::Video { rate, piece, buffer } => {
                let bits = u128::from(rate.0) * u128::from(piece.0) / u128::from(NS_PER_S);
                let bytes = u64::try_from(bits / 8).unwrap_or(DRAWN_MAX).clamp(1, DRAWN_MAX);
                let pause = Pause::Player { piece, buffer };
                Some(Requests { size: distribution::constant(bytes), pause, count: None })
            }
        }
    }

    /// Returns the value of `requests` as a scenario would write it; `None` for other clients.
    pub(crate) fn show_requests(&self) -> Option<String> {
        let Self::Requests { think, count } = self else { return None };
        let parts: Vec<String> = show_repetition(think.as_ref(), *count).collect();
        Some(if parts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", parts.join(", ")) })
    }

    /// Returns the value of `page` as a scenario would write it; `None` for other clients.
    pub(crate) fn show_page(&self) -> Option<String> {
        let Self::Page { rounds, think, count } = self else { return None };
        let rounds: Vec<String> = rounds.iter().map(u32::to_string).collect();
        let objects = format!("objects = [{}]", rounds.join(", "));
        let parts: Vec<String> =
            std::iter::once(objects).chain(show_repetition(think.as_ref(), *count)).collect();
        Some(format!("{{ {} }}", parts.join(", ")))
    }

    /// Returns the value of `video` as a scenario would write it; `None` for other clients.
    pub(crate) fn show_video(&self) -> Option<String> {
        let Self::Video { rate, piece, buffer } = *self else { return None };
        let (rate, piece, buffer) = (show_rate(rate), show_span(piece), show_span(buffer));
        Some(format!("{{ rate = \"{rate}\", piece = \"{piece}\", buffer = \"{buffer}\" }}"))
    }
}

/// Reads the optional keys `think`, a time, and `count`, the number of responses or of page loads.
fn read_repetition(
    reader: &mut Reader<'_>,
    keys: &mut Keys<'_>,
) -> Option<(Option<Random>, Option<u32>)> {
    let think =
        keys.take("think").map(|node| distribution::read_times(reader, node, &keys.name("think")));
    let count =
        keys.take("count").map(|node| reader.integer(node, &keys.name("count"), 1, COUNT_MAX));
    let count = match count {
        Some(count) => Some(u32::try_from(count?).expect("at most 10^9")),
        None => None,
    };
    let think = match think {
        Some(think) => Some(think?),
        None => None,
    };
    Some((think, count))
}

fn show_repetition(think: Option<&Random>, count: Option<u32>) -> impl Iterator<Item = String> {
    let think = think.map(|think| format!("think = {}", distribution::show_times(think)));
    think.into_iter().chain(count.map(|count| format!("count = {count}")))
}

/// Reads the number of objects in each round of a page load.
fn read_rounds(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Arc<[u32]>> {
    let rounds = match &node.value {
        Value::Array(rounds) if (1..=ROUNDS_MAX).contains(&rounds.len()) => rounds,
        _ => {
            reader.wrong(node, name, "a list of 1 to 1000 numbers of objects");
            return None;
        }
    };
    rounds
        .iter()
        .map(|node| {
            let objects = reader.integer(node, name, 1, OBJECTS_MAX)?;
            Some(u32::try_from(objects).expect("at most 100000"))
        })
        .collect()
}
