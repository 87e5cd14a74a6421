//! Tests the size of the algorithm's state.

use super::Bbr3Ietf;

#[test]
fn the_state_is_small() {
    assert!(size_of::<Bbr3Ietf>() <= 400, "{}", size_of::<Bbr3Ietf>());
}
