//! Claims that no simulation can decide, and why. At most five may stand here.

/// The claim's id, and why no simulation yields its metric. There is none: every metric that a claim asks for is measured.
pub(crate) const UNDECIDABLE: &[(&str, &str)] = &[];

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
