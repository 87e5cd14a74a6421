//! Whole-algorithm tests on the draft's own words.

use super::Bbr3Ietf;

#[test]
fn the_state_is_small() {
    assert!(size_of::<Bbr3Ietf>() <= 400, "{}", size_of::<Bbr3Ietf>());
}
