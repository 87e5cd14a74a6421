//! Random loss: independent (Bernoulli) or in bursts (Gilbert-Elliott).

use crate::rng::{Probability, Rng};

/// A model of random loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Each packet on its own with this probability.
    Bernoulli(Probability),
    /// Two states with a loss probability each (Gilbert 1960, Elliott 1963).
    ///
    /// As in netem, a packet's fate is decided by the state that it meets, and the chain moves afterwards; both draw once per packet.
    GilbertElliott {
        /// From good to bad, per packet.
        to_bad: Probability,
        /// From bad to good, per packet.
        to_good: Probability,
        /// Loss in the good state.
        loss_good: Probability,
        /// Loss in the bad state.
        loss_bad: Probability,
    },
}

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
    use super::{Loss, LossProcess};
    use crate::rng::{Probability, Rng};

    #[test]
    fn gilbert_elliott_loses_the_stationary_share_in_bursts_of_the_expected_length() {
        let model = Loss::GilbertElliott {
            to_bad: Probability::from_ratio(0.01),
            to_good: Probability::from_ratio(0.25),
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
