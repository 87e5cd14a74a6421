//! Tests of the algorithm as a whole.

use super::Bbr3Ietf;

#[test]
fn the_state_is_small() {
    assert!(size_of::<Bbr3Ietf>() <= 400, "{}", size_of::<Bbr3Ietf>());
}
