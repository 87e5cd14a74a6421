//! The switches (keys of `[stack]` that change one mechanism of TCP) for which Linux has no
//! setting.

use bbrlab_stack::Stack;

/// The keys of the switches for which Linux has a setting.
const SETTINGS: [&str; 4] = ["nagle", "dsack", "rack", "tlp"];

/// Returns the keys of the switches whose values differ from Linux's behaviour and for which Linux
/// has no setting.
#[must_use]
pub fn switches_linux_lacks(stack: &Stack) -> Vec<&'static str> {
    let mut keys = stack.differing_switches(&Stack::default());
    keys.retain(|&key| match key {
        "paws" => stack.socket.paws == Some(false),
        "undo" => stack.loss.undo == Some(false),
        _ => !SETTINGS.contains(&key),
    });
    keys
}
