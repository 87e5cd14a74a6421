//! The settings of a netem between two queues, for the packets of one flow: loss, delays,
//! reordering, duplicates.

use std::fmt::Write as _;
use std::sync::Arc;

use bbrlab_link::{DelaySteps, Distribution, Link, Loss, LossAt, Probability, Queue, RandomDelay};
use bbrlab_link::{Reorder, SlotParams};
use bbrlab_units::{Span, Time};

use super::tc;

/// The queue limit, in packets, of a netem that must not drop packets.
const LIMIT: u32 = 1_000_000;

/// Impairments that one netem makes, or two netems in a row. If there are two, the first netem has
/// the constant delay `after`, the losses, the duplicates and the bit errors, and the second has
/// the other delays.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Impairment {
    loss: Option<Loss>,
    delay: Span,
    steps: Option<DelaySteps>,
    /// The random deviation of the delay from `delay`. `width` is the largest deviation if the
    /// distribution is uniform, otherwise the standard deviation.
    spread: Option<Spread>,
    reorder: Option<Reorder>,
    duplicate: Probability,
    corrupt: Probability,
    slot: Option<SlotParams>,
    /// A constant delay that a separate netem makes. Random settings, such as reordering, do not
    /// act on this delay.
    after: Span,
}

#[derive(Clone, Debug, PartialEq)]
struct Spread {
    width: Span,
    correlation: u32,
    distribution: Distribution,
}

impl Impairment {
    /// Returns an impairment that only delays all packets by the same time.
    pub(super) fn delay(delay: Span) -> Self {
        Self { delay, ..Self::default() }
    }

    /// Returns a link's random loss if packets are lost before they reach the queue; otherwise
    /// `None`.
    pub(super) fn before(link: &Link) -> Option<Self> {
        let loss = link.loss.clone().filter(|_| link.loss_at == LossAt::Before)?;
        Some(Self { loss: Some(loss), ..Self::default() })
    }

    /// Returns the impairments that act after the queue of a link.
    pub(super) fn behind(link: &Link) -> Self {
        let mut own = Self {
            loss: link.loss.clone().filter(|_| link.loss_at == LossAt::After),
            delay: link.delay,
            steps: link.delay_steps.clone(),
            reorder: link.reorder,
            duplicate: link.duplicate,
            corrupt: link.corrupt,
            ..Self::default()
        };
        if let Queue::Slots(slots) = link.queue {
            (own.delay, own.slot) = (slots.delay, Some(slots));
        }
        if let Some(jitter) = link.jitter {
            let width = Span(jitter.up_to.0 / 2);
            own.delay.0 += width.0;
            own.spread =
                Some(Spread { width, correlation: 0, distribution: Distribution::Uniform });
        }
        if let Some(RandomDelay::Netem { spread, correlation, distribution, keep_order: _ }) =
            &link.random_delay
        {
            own.spread = Some(Spread {
                width: *spread,
                correlation: *correlation,
                distribution: distribution.clone(),
            });
        }
        if let Some(reorder) = own.reorder {
            // In a netem with `reorder`, some packets skip the netem's whole delay. This netem
            // therefore has only the delay that reordered packets skip, and a separate netem has
            // the link's delay.
            (own.after, own.delay) = (own.delay, reorder.by);
        }
        own
    }

    /// Whether there is no impairment: packets pass at once and unchanged.
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Whether packets are lost at random.
    pub(super) fn has_loss(&self) -> bool {
        self.loss.is_some()
    }

    /// Adds `next`, the impairments that follow on the path. If one or two netems cannot make the
    /// impairments of `self` and `next`, adds nothing and returns `next`, which then needs a
    /// separate pair of virtual Ethernet devices.
    pub(super) fn then(&mut self, next: Self) -> Option<Self> {
        if next == Self::delay(next.delay) {
            let is_constant = self.spread.is_none() && self.reorder.is_none();
            if is_constant && self.slot.is_none() && self.steps.is_none() {
                self.delay.0 += next.delay.0;
            } else {
                self.after.0 += next.delay.0;
            }
            return None;
        }
        // A constant delay has the same effect before and after the netem with the random settings.
        if *self == Self::delay(self.delay) && next.steps.is_none() {
            let front = self.delay;
            *self = next;
            let _ = self.then(Self::delay(front));
            return None;
        }
        Some(next)
    }

    /// Returns the text of the file from which `tc` reads the distribution of delays; `None` if no
    /// file is needed.
    pub(super) fn distribution(&self) -> Option<String> {
        self.spread.as_ref().and_then(|spread| tc::distribution_file(&spread.distribution))
    }

    /// Returns the lines of `tc` that add the netems to a device. `table` is the name of the file
    /// with the distribution of delays.
    ///
    /// The netem with the constant delay is the first, because packets that a netem reorders skip
    /// the netems after it.
    pub(super) fn lines(&self, dev: &str, table: Option<&str>) -> Vec<String> {
        let parts = self.parts(Time::ZERO, table).into_iter();
        parts.map(|(place, words)| format!("qdisc add dev {dev} {place} {words}")).collect()
    }

    /// Returns the lines of `tc` that change the settings during the run, each with its time since
    /// the start of the run.
    pub(super) fn changes(&self, dev: &str, table: Option<&str>) -> Vec<(Time, String)> {
        let of_loss = match &self.loss {
            Some(Loss::Steps(steps)) => steps.iter().map(|&(at, _)| at).collect(),
            _ => Vec::new(),
        };
        let of_delay: Arc<[(Time, Span)]> =
            self.steps.as_ref().map_or_else(|| Vec::new().into(), |steps| steps.steps.clone());
        let mut times: Vec<Time> =
            of_loss.into_iter().chain(of_delay.iter().map(|&(at, _)| at)).collect();
        times.sort_unstable();
        times.dedup();
        let later = times.into_iter().filter(|&at| at > Time::ZERO);
        let lines = later.flat_map(|at| {
            let parts = self.parts(at, table).into_iter();
            parts.map(move |(place, words)| (at, format!("qdisc change dev {dev} {place} {words}")))
        });
        lines.collect()
    }

    /// Returns, for each netem, its place in the tree of disciplines and its arguments for `tc`,
    /// with the loss and the delay that apply at the time `at`.
    fn parts(&self, at: Time, table: Option<&str>) -> Vec<(&'static str, String)> {
        let delay = self.steps.as_ref().map_or(self.delay, |steps| {
            Span(self.delay.0.saturating_sub(steps.at(Time::ZERO).0) + steps.at(at).0)
        });
        let delays = self.delays(delay, table);
        let (root, losses) = ("root handle 1:", self.losses(at));
        if self.after == Span::ZERO {
            return vec![(root, format!("netem {delays}{losses} limit {LIMIT}"))];
        }
        let front = tc::span(self.after);
        vec![
            (root, format!("netem delay {front}{losses} limit {LIMIT}")),
            ("parent 1:1 handle 2:", format!("netem {delays} limit {LIMIT}")),
        ]
    }

    fn delays(&self, delay: Span, table: Option<&str>) -> String {
        // Writing to a string cannot fail.
        let mut words = format!("delay {}", tc::span(delay));
        if let Some(Spread { width, correlation, distribution: _ }) = &self.spread {
            let _ = write!(words, " {}", tc::span(*width));
            if *correlation > 0 {
                let _ = write!(words, " {}", tc::percent(Probability((*correlation).into())));
            }
            if let Some(table) = table {
                let _ = write!(words, " distribution {table}");
            }
        }
        if let Some(Reorder { ratio, by: _ }) = self.reorder {
            let _ = write!(words, " reorder {}", tc::percent(ratio));
        }
        if let Some(SlotParams { delay: _, min, max, packets, bytes }) = self.slot {
            let _ = write!(words, " slot {} {}", tc::span(min), tc::span(max));
            if let Some(packets) = packets {
                let _ = write!(words, " packets {}", packets.0);
            }
            if let Some(bytes) = bytes {
                let _ = write!(words, " bytes {}", bytes.0);
            }
        }
        words
    }

    fn losses(&self, at: Time) -> String {
        let mut words = String::new();
        match &self.loss {
            None | Some(Loss::InTime { .. }) => {}
            Some(Loss::Bernoulli(share)) => {
                let _ = write!(words, " loss {}", tc::percent(*share));
            }
            Some(Loss::Steps(steps)) => {
                let begun = steps.partition_point(|&(from, _)| from <= at);
                let share = steps.get(begun.saturating_sub(1)).map(|&(_, share)| share);
                let _ = write!(words, " loss {}", tc::percent(share.unwrap_or_default()));
            }
            Some(Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad }) => {
                let _ = write!(
                    words,
                    " loss gemodel {} {} {} {}",
                    tc::percent(*to_bad),
                    tc::percent(*to_good),
                    tc::percent(*loss_bad),
                    tc::percent(*loss_good)
                );
            }
        }
        for (name, share) in [("duplicate", self.duplicate), ("corrupt", self.corrupt)] {
            if share > Probability::ZERO {
                let _ = write!(words, " {name} {}", tc::percent(share));
            }
        }
        words
    }
}
