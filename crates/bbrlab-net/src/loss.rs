//! The random loss process: a loss model with its state and its generator.

use bbrlab_link::Loss;
use bbrlab_units::Time;

use crate::rng::Rng;

/// A loss model with its state and its generator.
#[derive(Clone, Debug)]
pub(crate) struct LossProcess {
    model: Loss,
    bad: bool,
    /// The step of the schedule that holds, if there is one.
    step: usize,
    rng: Rng,
}

impl LossProcess {
    pub(crate) fn new(model: Loss, rng: Rng) -> Self {
        Self { model, bad: false, step: 0, rng }
    }

    /// Whether the next packet is lost, which passes at `at`: not before the one before it.
    pub(crate) fn loses(&mut self, at: Time) -> bool {
        match self.model {
            Loss::Bernoulli(probability) => self.rng.happens(probability),
            Loss::Steps(ref steps) => {
                while steps.get(self.step + 1).is_some_and(|next| next.0 <= at) {
                    self.step += 1;
                }
                steps.get(self.step).is_some_and(|&(_, probability)| self.rng.happens(probability))
            }
            Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                let lost = self.rng.happens(if self.bad { loss_bad } else { loss_good });
                let moves = self.rng.happens(if self.bad { to_good } else { to_bad });
                self.bad ^= moves;
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LossProcess;
    use crate::rng::Rng;
    use bbrlab_link::{Loss, Probability};
    use bbrlab_units::Time;

    #[test]
    fn gilbert_elliott_loses_the_stationary_share_in_bursts_of_the_expected_length() {
        let model = Loss::GilbertElliott {
            to_bad: Probability(Probability::ONE.0 / 100),
            to_good: Probability(Probability::ONE.0 / 4),
            loss_good: Probability::ZERO,
            loss_bad: Probability::ONE,
        };
        let mut process = LossProcess::new(model, Rng::new(1, "test"));
        let fates: Vec<bool> = (0..200_000).map(|_| process.loses(Time::ZERO)).collect();
        let lost = fates.iter().filter(|&&lost| lost).count();
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        // Stationary: 0.01 / 0.26 = 3.85 %; mean burst 1 / 0.25 = 4 packets.
        assert!((7_000..8_400).contains(&lost), "{lost}");
        assert!((36..44).contains(&(lost * 10 / bursts)), "{lost} in {bursts}");
    }

    #[test]
    fn each_probability_holds_from_its_time_on() {
        let steps = [
            (Time(5), Probability::ZERO),
            (Time(10), Probability::ONE),
            (Time(12), Probability::ZERO),
        ];
        let mut process = LossProcess::new(Loss::Steps(steps.into()), Rng::new(1, "test"));
        let fates: Vec<bool> = [0, 9, 10, 11, 12, 99].map(|at| process.loses(Time(at))).into();
        assert_eq!(fates, [false, false, true, true, false, false]);
    }
}
