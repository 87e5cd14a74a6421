//! Writes the expression of a paper's claim, and the parameter points at which the expression must
//! be true, as one line of text.

use super::evaluate::Value;
use super::rows::key_value;
use crate::papers::Claim;

/// Returns a claim's rule (its expression and its points) as text, such as
/// `jain(alg) >= 0.9; at buffer_bdp = 8; for all alg in bbr1; at 90 % of these points or more`.
pub(crate) fn rule_words(claim: &Claim) -> String {
    let mut parts = vec![claim.expr.clone()];
    let (at, forall) = key_value(claim);
    if !at.is_empty() {
        let at: Vec<String> = at.iter().map(|(name, key)| format!("{name} = {key}")).collect();
        parts.push(format!("at {}", at.join(", ")));
    }
    if !forall.is_empty() {
        let list = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>();
        let all = forall.iter().map(|(name, all)| format!("{name} in {}", list(all).join(", ")));
        parts.push(format!("for all {}", all.collect::<Vec<_>>().join(" and ")));
    }
    if claim.min_fraction < 1.0 {
        parts.push(format!("at {} % of these points or more", 100.0 * claim.min_fraction));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::rule_words;
    use crate::papers::papers;

    fn check(id: &str, expected: &Expect) {
        let mut claims = papers().iter().flat_map(|paper| &paper.claims);
        expected.assert_eq(&rule_words(claims.find(|claim| claim.id == id).unwrap()));
    }

    #[test]
    fn a_rule_has_the_expression_its_points_and_its_share_of_them() {
        check(
            "kato2025.c03",
            &expect!["jain(bbr1) >= 0.99 and utilisation(bbr1) >= 0.89; at buffer_packets = 5000"],
        );
        check(
            "lanigan2020.c32",
            &expect![
                "loss_packets(bbr_hsr) >= loss_packets(alg); for all alg in bbr1, bbr_prime, bbrplus, delay_bbr, bbr2, bbr2_exp and buffer_bdp in 0.5, 1.5, 3 and delay_ms in 10, 40, 100; at 90 % of these points or more"
            ],
        );
    }

    /// The text of a claim's rule does not give the values of constants, so no claim may use a
    /// constant of its paper.
    #[test]
    fn no_rule_names_a_constant() {
        for paper in papers() {
            for claim in &paper.claims {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let mut words = claim.expr.split(|c| !is_part(c));
                let named = words.find(|word| paper.constants.iter().any(|(name, _)| name == word));
                assert_eq!(named, None, "{}", claim.id);
            }
        }
    }
}
