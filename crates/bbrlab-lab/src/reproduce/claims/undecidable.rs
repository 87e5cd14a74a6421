//! Claims that no simulation can decide, and why. At most five.

/// The claim's id, and why no simulation yields its metric.
pub(crate) const UNDECIDABLE: &[(&str, &str)] = &[(
    "piotrowska2024.c37",
    "the paper's conclusions say \"10 to 20 % higher in numerous cases\" without telling the cases, the buffers or the \
     scenario that are meant; no run has such a figure",
)];

/// Why a claim is undecidable, if it is.
pub(crate) fn why_undecidable(claim: &str) -> Option<&'static str> {
    UNDECIDABLE.iter().find(|(id, _)| *id == claim).map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::UNDECIDABLE;
    use crate::papers::papers;

    #[test]
    fn at_most_five_claims_are_undecidable_and_each_has_a_reason() {
        assert!(UNDECIDABLE.len() <= 5);
        for (id, reason) in UNDECIDABLE {
            assert!(papers().iter().flat_map(|paper| &paper.claims).any(|claim| claim.id == *id));
            assert!(!reason.is_empty());
        }
    }
}
