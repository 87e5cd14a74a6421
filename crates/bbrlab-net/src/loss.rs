//! The random loss process: a loss model with its state and its generator.

use bbrlab_link::Loss;

use crate::rng::Rng;

/// A loss model with its state and its generator.
#[derive(Clone, Debug)]
pub(crate) struct LossProcess {
    model: Loss,
    bad: bool,
    rng: Rng,
}

impl LossProcess {
    pub(crate) fn new(model: Loss, rng: Rng) -> Self {
        Self { model, bad: false, rng }
    }

    /// Whether the next packet is lost.
    pub(crate) fn loses(&mut self) -> bool {
        match self.model {
            Loss::Bernoulli(probability) => self.rng.happens(probability),
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

    #[test]
    fn gilbert_elliott_loses_the_stationary_share_in_bursts_of_the_expected_length() {
        let model = Loss::GilbertElliott {
            to_bad: Probability(Probability::ONE.0 / 100),
            to_good: Probability(Probability::ONE.0 / 4),
            loss_good: Probability::ZERO,
            loss_bad: Probability::ONE,
        };
        let mut process = LossProcess::new(model, Rng::new(1, "test"));
        let fates: Vec<bool> = (0..200_000).map(|_| process.loses()).collect();
        let lost = fates.iter().filter(|&&lost| lost).count();
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        // Stationary: 0.01 / 0.26 = 3.85 %; mean burst 1 / 0.25 = 4 packets.
        assert!((7_000..8_400).contains(&lost), "{lost}");
        assert!((36..44).contains(&(lost * 10 / bursts)), "{lost} in {bursts}");
    }
}
