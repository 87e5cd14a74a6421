//! Models of paths that change over time: rate and delay follow schedules drawn with the run's
//! seed.
//!
//! The models are simple processes with few parameters, made for bbrlab and not taken from measured
//! traces. The models' defaults and sources are in `docs/networks.md`. All draws are integers, so
//! that a seed gives the same schedule on every machine.

use std::sync::Arc;

use bbrlab_link::Rate;
use bbrlab_units::{BitRate, Span, Time, split_mix};

use crate::language::canonical::toml_string;
use crate::language::document::{At, Node, Table, Value};
use crate::language::key::name_of;
use crate::language::path_trace::STEPS_MAX;
use crate::language::quantity::{show_rate, show_span};
use crate::language::reader::{Keys, Reader, found};

/// A kind of model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Handovers between satellites: at even intervals there is an outage, after which rate and
    /// delay have new values, both drawn uniformly.
    Leo,
    /// At even intervals the rate rises by a quarter, falls by a fifth or stays, and the delay is
    /// drawn again.
    Walk,
    /// The path alternates between two states of random lengths: clear, with the highest rate and
    /// the shortest delay, and blocked, with the lowest rate and the longest delay.
    Blockage,
}

const KINDS: [(&str, Kind); 3] =
    [("leo", Kind::Leo), ("walk", Kind::Walk), ("blockage", Kind::Blockage)];

/// Returns the names of the models.
pub(crate) fn names() -> Vec<&'static str> {
    crate::language::key::names(&KINDS)
}

/// A model with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModelSpec {
    kind: Kind,
    /// Lowest and highest rate.
    rate: [BitRate; 2],
    delay: [Span; 2],
    /// The time between two changes of rate and delay; for a `blockage`, the mean time between
    /// blockages.
    every: Span,
    /// The length of the outage at a handover; for a `blockage`, the mean length of a blockage.
    outage: Span,
    /// The positions, in the file, of the model's name and of the value of `every`.
    model_at: At,
    every_at: At,
}

/// The rate and the delay of a link over a run.
pub(crate) struct Path {
    pub(crate) rate: Rate,
    pub(crate) delay: Arc<[(Time, Span)]>,
}

/// The time step of blockages. In the model, each blockage begins and ends at a multiple of this
/// step.
const TICK: Span = Span::from_millis(10);

impl ModelSpec {
    /// Reads the table `{ model = "…", … }`.
    pub(crate) fn read(
        reader: &mut Reader<'_>,
        table: &Table,
        node: &Node,
        name: &str,
    ) -> Option<Self> {
        let mut keys = Keys::new(table, name, node.at);
        let model = keys.take("model").expect("the caller has found `model`");
        let kind = reader.choice(model, &keys.name("model"), &KINDS, "")?;
        let example = "the lowest and the highest, such as [\"50Mbit/s\", \"200Mbit/s\"]";
        let rate = reader.needed(&mut keys, "rate", example, |reader, node, name| {
            bounds(reader, node, name, example, Reader::rate)
        });
        let example = "the shortest and the longest, such as [\"10ms\", \"30ms\"]";
        let delay = reader.needed(&mut keys, "delay", example, |reader, node, name| {
            bounds(reader, node, name, example, Reader::span)
        });
        let example = "the time between two changes, such as \"15s\"";
        let every = reader.needed(&mut keys, "every", example, Reader::positive_span);
        let outage = match (kind, keys.take("outage")) {
            (Kind::Walk, Some(node)) => {
                reader.wrong(node, &keys.name("outage"), "no `outage` of a `walk`");
                None
            }
            (Kind::Blockage, Some(node)) => reader.positive_span(node, &keys.name("outage")),
            (Kind::Blockage, None) => {
                reader.missing(&keys, "outage", "the mean length of a blockage, such as \"200ms\"");
                None
            }
            (_, Some(node)) => reader.span(node, &keys.name("outage")),
            (_, None) => Some(Span::ZERO),
        };
        let [every_at, outage_at] =
            ["every", "outage"].map(|key| keys.get(key).map_or(node.at, |node| node.at));
        keys.finish(reader);
        let (rate, delay, every, outage) = (rate?, delay?, every?, outage?);
        if kind == Kind::Leo && outage >= every {
            let title = format!("`{name}.outage`: expected less than `every`");
            let found = format!("found {}, every {}", show_span(outage), show_span(every));
            reader.problem(outage_at, title, found, Vec::new());
            return None;
        }
        Some(Self { kind, rate, delay, every, outage, model_at: model.at, every_at })
    }

    pub(crate) fn show(self) -> String {
        let pair =
            |[low, high]: [String; 2]| format!("[{}, {}]", toml_string(&low), toml_string(&high));
        let outage = if self.outage == Span::ZERO {
            String::new()
        } else {
            format!(", outage = {}", toml_string(&show_span(self.outage)))
        };
        format!(
            "{{ model = {}, rate = {}, delay = {}, every = {}{outage} }}",
            toml_string(name_of(&KINDS, self.kind)),
            pair(self.rate.map(show_rate)),
            pair(self.delay.map(show_span)),
            toml_string(&show_span(self.every)),
        )
    }

    /// Returns the rate at the start: halfway between the lowest and the highest rate. For a
    /// `blockage`, the first rate is the highest rate, because the path is clear at first.
    pub(crate) fn first_rate(&self) -> BitRate {
        let [low, high] = self.rate;
        if self.kind == Kind::Blockage { high } else { BitRate(low.0.midpoint(high.0)) }
    }

    /// Returns the highest rate of the path.
    pub(crate) fn highest_rate(&self) -> BitRate {
        self.rate[1]
    }

    /// Returns the delay at the start: halfway between the shortest and the longest delay. For a
    /// `blockage`, the first delay is the shortest delay, because the path is clear at first.
    pub(crate) fn first_delay(&self) -> Span {
        let [low, high] = self.delay;
        if self.kind == Kind::Blockage { low } else { Span(low.0.midpoint(high.0)) }
    }

    /// Returns whether the link has outages.
    pub(crate) fn has_outages(&self) -> bool {
        self.kind == Kind::Leo && self.outage > Span::ZERO
    }

    /// Returns whether, with any seed, the schedule that the model draws for a run of this
    /// `duration` has at most [`STEPS_MAX`] steps. Reports a mistake otherwise. `table` is the name
    /// of the link's table.
    pub(crate) fn suits(&self, duration: Span, table: &str, reader: &mut Reader<'_>) -> bool {
        // A handover between satellites takes two steps of the schedule.
        let changes_max = STEPS_MAX as u64 / 2;
        let is_blockage = self.kind == Kind::Blockage;
        let interval = if is_blockage { TICK } else { self.every };
        if duration.0 / interval.0 < changes_max {
            return true;
        }
        let [duration, tick] = [duration, TICK].map(show_span);
        let (key, at, expected, found) = if is_blockage {
            let longest = show_span(Span(TICK.0 * changes_max));
            let found = format!("a run of {duration}: the state may change every {tick}");
            (
                "model",
                self.model_at,
                format!("a run shorter than {longest} with a `blockage`"),
                found,
            )
        } else {
            let found = format!("{} in a run of {duration}", show_span(self.every));
            ("every", self.every_at, format!("fewer than {changes_max} changes in the run"), found)
        };
        let title = format!("`{table}.trace.{key}`: expected {expected}");
        reader.problem(at, title, format!("found {found}"), Vec::new());
        false
    }

    /// Returns a path that does not depend on the seed, for outlines of runs. After the first
    /// nanosecond, this path has the highest rate and the shortest delay of the model.
    pub(crate) fn bound(&self) -> Path {
        let steps = [(Time::ZERO, self.first_rate()), (Time(1), self.rate[1])];
        let delays = [(Time::ZERO, self.first_delay()), (Time(1), self.delay[0])];
        Path { rate: Rate::Schedule(steps.into()), delay: delays.into() }
    }

    /// Draws the path of a run from the run's seed and the name of the link.
    pub(crate) fn path(&self, duration: Span, seed: u64, link: &str) -> Path {
        let mut draws = Draws::new(seed, link);
        let mut rate = vec![(Time::ZERO, self.first_rate())];
        let mut delay = vec![(Time::ZERO, self.first_delay())];
        let end = Time::ZERO + duration;
        match self.kind {
            Kind::Leo => {
                // The first handover is at a random time, because satellites hand over at times
                // that do not depend on the start of a run.
                let mut at = Time::ZERO + Span(draws.within(1, self.every.0));
                while at < end {
                    let next = BitRate(draws.within(self.rate[0].0, self.rate[1].0));
                    if self.outage > Span::ZERO {
                        rate.push((at, BitRate(0)));
                    }
                    rate.push((at + self.outage, next));
                    delay.push((at, Span(draws.within(self.delay[0].0, self.delay[1].0))));
                    at += self.every;
                }
            }
            Kind::Walk => {
                let mut now = self.first_rate().0;
                let mut at = Time::ZERO + self.every;
                while at < end {
                    now = match draws.within(0, 2) {
                        0 => now / 5 * 4,
                        1 => now,
                        _ => now / 4 * 5,
                    };
                    now = now.clamp(self.rate[0].0, self.rate[1].0);
                    rate.push((at, BitRate(now)));
                    delay.push((at, Span(draws.within(self.delay[0].0, self.delay[1].0))));
                    at += self.every;
                }
            }
            Kind::Blockage => {
                let mut is_blocked = false;
                let mut at = Time::ZERO + TICK;
                while at < end {
                    let mean = if is_blocked { self.outage } else { self.every };
                    if draws.within(1, (mean.0 / TICK.0).max(1)) == 1 {
                        is_blocked = !is_blocked;
                        let [low, high] = self.rate;
                        let [short, long] = self.delay;
                        rate.push((at, if is_blocked { low } else { high }));
                        delay.push((at, if is_blocked { long } else { short }));
                    }
                    at += TICK;
                }
            }
        }
        Path { rate: Rate::Schedule(rate.into()), delay: delay.into() }
    }
}

/// Reads a list of two values, the lowest and the highest.
fn bounds<'r, T: PartialOrd + Copy>(
    reader: &mut Reader<'r>,
    node: &Node,
    name: &str,
    expected: &str,
    read: impl Fn(&mut Reader<'r>, &Node, &str) -> Option<T>,
) -> Option<[T; 2]> {
    if let Value::Array(values) = &node.value
        && let [low, high] = values.as_slice()
    {
        let both = [read(reader, low, name)?, read(reader, high, name)?];
        if both[0] <= both[1] {
            return Some(both);
        }
        let title = format!("`{name}`: expected {expected}");
        let found = format!("found {} before {}", found(&low.value), found(&high.value));
        reader.problem(node.at, title, found, Vec::new());
        return None;
    }
    reader.wrong(node, name, expected);
    None
}

/// The random generator (`SplitMix64`) from which the values of a model are drawn.
struct Draws {
    state: u64,
}

impl Draws {
    fn new(seed: u64, link: &str) -> Self {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(format!("bbrlab {link}.model {seed}").as_bytes());
        let head: [u8; 8] = digest[..8].try_into().expect("eight bytes");
        Self { state: u64::from_le_bytes(head) }
    }

    /// Draws a uniform random number from `low` to `high`, both included.
    fn within(&mut self, low: u64, high: u64) -> u64 {
        let count = u128::from(high - low) + 1;
        let share = (u128::from(split_mix(&mut self.state)) * count) >> 64;
        low + u64::try_from(share).expect("below the count")
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, ModelSpec, Path};
    use crate::language::document::At;
    use bbrlab_link::Rate;
    use bbrlab_units::{BitRate, Span, Time};

    fn model(kind: Kind, every_ms: u64, outage_ms: u64) -> ModelSpec {
        let rate = [BitRate(10_000_000), BitRate(100_000_000)];
        let delay = [10, 30].map(Span::from_millis);
        ModelSpec {
            kind,
            rate,
            delay,
            every: Span::from_millis(every_ms),
            outage: Span::from_millis(outage_ms),
            model_at: At::NOWHERE,
            every_at: At::NOWHERE,
        }
    }

    fn rates(path: &Path) -> Vec<(Time, BitRate)> {
        let Rate::Schedule(steps) = &path.rate else { panic!("a schedule") };
        steps.to_vec()
    }

    const MINUTE: Span = Span::from_millis(60_000);

    #[test]
    fn all_values_are_within_the_bounds_and_all_times_rise() {
        for kind in [Kind::Leo, Kind::Walk, Kind::Blockage] {
            let model = model(kind, 500, 100);
            for seed in 0..20 {
                let path = model.path(MINUTE, seed, "l");
                let rates = rates(&path);
                assert!(rates.windows(2).all(|two| two[0].0 < two[1].0));
                assert!(path.delay.windows(2).all(|two| two[0].0 < two[1].0));
                let is_outage = |rate: BitRate| kind == Kind::Leo && rate == BitRate(0);
                assert!(rates.iter().all(|&(_, rate)| {
                    is_outage(rate) || (model.rate[0]..=model.rate[1]).contains(&rate)
                }));
                assert!(rates.last().unwrap().1 > BitRate(0));
                let [short, long] = model.delay;
                assert!(path.delay.iter().all(|&(_, delay)| (short..=long).contains(&delay)));
            }
        }
    }

    #[test]
    fn a_seed_gives_its_own_path_and_always_the_same() {
        let model = model(Kind::Walk, 100, 0);
        let of = |seed, link| rates(&model.path(MINUTE, seed, link));
        assert_eq!(of(1, "a"), of(1, "a"));
        assert!(of(1, "a") != of(2, "a") && of(1, "a") != of(1, "b"));
        // In its first minute, the path of a run of two minutes has the same rates as the path of a
        // run of one minute.
        assert_eq!(of(1, "a")[..], rates(&model.path(Span(2 * MINUTE.0), 1, "a"))[..600]);
    }

    #[test]
    fn satellites_hand_over_at_even_intervals_after_an_outage() {
        let rates = rates(&model(Kind::Leo, 15_000, 60).path(MINUTE, 7, "l"));
        assert_eq!(rates.len(), 1 + 4 * 2);
        for pair in rates[1..].chunks(2) {
            assert_eq!((pair[0].1, pair[1].0), (BitRate(0), pair[0].0 + Span::from_millis(60)));
        }
        assert_eq!(rates[3].0.since(rates[1].0), Span::from_millis(15_000));
    }

    #[test]
    fn blockages_are_as_long_and_as_rare_as_their_means() {
        let hour = Span::from_millis(3_600_000);
        let rates = rates(&model(Kind::Blockage, 900, 100).path(hour, 1, "l"));
        let ends = rates.iter().skip(1).map(|step| step.0).chain([Time::ZERO + hour]);
        let blocked = rates.iter().zip(ends).filter(|(step, _)| step.1 == BitRate(10_000_000));
        let blocked: u64 = blocked.map(|(step, end)| end.since(step.0).0).sum();
        // The path is blocked for about a tenth of the hour (360 s), in about 3,600 blockages.
        assert!((320..400).contains(&(blocked / 1_000_000_000)), "{blocked}");
        assert!((6_600..7_800).contains(&rates.len()), "{}", rates.len());
    }
}
