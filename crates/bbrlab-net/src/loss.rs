//! The random loss process: a loss model with its state and its generator.

use bbrlab_link::{Loss, Probability};
use bbrlab_units::{Span, Time};

use crate::rng::Rng;
use crate::steps::Steps;

/// A loss model with its state and its generator.
#[derive(Clone, Debug)]
pub(crate) struct LossProcess {
    state: State,
    rng: Rng,
}

/// The state of a loss model, which determines whether the next packet is lost.
#[derive(Clone, Debug)]
enum State {
    Bernoulli(Probability),
    Steps(Steps<Probability>),
    GilbertElliott {
        is_bad: bool,
        moves: [Probability; 2],
        loses: [Probability; 2],
    },
    /// The Gilbert-Elliott model in time: the current state, good or bad, ends at `until`.
    InTime {
        is_bad: bool,
        until: Time,
        means: [Span; 2],
        loses: [Probability; 2],
    },
}

impl LossProcess {
    pub(crate) fn new(model: &Loss, mut rng: Rng) -> Self {
        let state = match model {
            Loss::Bernoulli(probability) => State::Bernoulli(*probability),
            Loss::Steps(steps) => State::Steps(Steps::new(steps)),
            &Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                let (moves, loses) = ([to_bad, to_good], [loss_good, loss_bad]);
                State::GilbertElliott { is_bad: false, moves, loses }
            }
            &Loss::InTime { good, bad, loss_good, loss_bad } => {
                let until = Time::ZERO + rng.exponential(good);
                let (means, loses) = ([good, bad], [loss_good, loss_bad]);
                State::InTime { is_bad: false, until, means, loses }
            }
        };
        Self { state, rng }
    }

    /// Whether the next packet is lost. The packet passes at `at`, which must not be before the
    /// time of the previous packet.
    pub(crate) fn loses(&mut self, at: Time) -> bool {
        match &mut self.state {
            State::Bernoulli(probability) => self.rng.happens(*probability),
            State::Steps(steps) => self.rng.happens(steps.value(at)),
            State::GilbertElliott { is_bad, moves, loses } => {
                let state = usize::from(*is_bad);
                let lost = self.rng.happens(loses[state]);
                *is_bad ^= self.rng.happens(moves[state]);
                lost
            }
            State::InTime { is_bad, until, means, loses } => {
                while *until <= at {
                    *is_bad = !*is_bad;
                    *until += self.rng.exponential(means[usize::from(*is_bad)]);
                }
                self.rng.happens(loses[usize::from(*is_bad)])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LossProcess;
    use crate::rng::Rng;
    use bbrlab_link::{Loss, Probability};
    use bbrlab_units::{Span, Time};

    #[test]
    fn gilbert_elliott_loses_the_stationary_share_in_bursts_of_the_expected_length() {
        let model = Loss::GilbertElliott {
            to_bad: Probability(Probability::ONE.0 / 100),
            to_good: Probability(Probability::ONE.0 / 4),
            loss_good: Probability::ZERO,
            loss_bad: Probability::ONE,
        };
        let mut process = LossProcess::new(&model, Rng::new(1, "test"));
        let fates: Vec<bool> = (0..200_000).map(|_| process.loses(Time::ZERO)).collect();
        let lost = fates.iter().filter(|&&lost| lost).count();
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        // In the long run, 0.01 / 0.26 = 3.85 % of the packets are lost; a burst of losses has 1 /
        // 0.25 = 4 packets on average.
        assert!((7_000..8_400).contains(&lost), "{lost}");
        assert!((36..44).contains(&(lost * 10 / bursts)), "{lost} in {bursts}");
    }

    #[test]
    fn states_in_time_last_as_long_as_their_means_however_many_packets_pass() {
        let (good, bad) = (Span::from_millis(30), Span::from_millis(10));
        let (loss_good, loss_bad) = (Probability::ZERO, Probability::ONE);
        let model = Loss::InTime { good, bad, loss_good, loss_bad };
        for step_us in [20, 100, 7_000] {
            let mut process = LossProcess::new(&model, Rng::new(1, "test"));
            let times = (0..20_000_000 / step_us).map(|n| Time(n * step_us * 1000));
            let fates: Vec<bool> = times.map(|at| process.loses(at)).collect();
            // On average, 500 good and 500 bad states alternate in the 20 s. The bad states last a
            // quarter of this time.
            let lost = fates.iter().filter(|&&lost| lost).count() * 100 / fates.len();
            assert!((22..=28).contains(&lost), "{step_us}: {lost} %");
            if step_us < 1000 {
                let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count();
                assert!((440..=560).contains(&bursts), "{step_us}: {bursts}");
            }
        }
    }

    #[test]
    fn each_probability_holds_from_its_time_on() {
        let steps = [
            (Time(5), Probability::ZERO),
            (Time(10), Probability::ONE),
            (Time(12), Probability::ZERO),
        ];
        let mut process = LossProcess::new(&Loss::Steps(steps.into()), Rng::new(1, "test"));
        let fates: Vec<bool> = [0, 9, 10, 11, 12, 99].map(|at| process.loses(Time(at))).into();
        assert_eq!(fates, [false, false, true, true, false, false]);
    }
}
