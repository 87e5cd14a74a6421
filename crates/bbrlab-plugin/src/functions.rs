//! The functions of a shared object.
#![expect(unsafe_code, reason = "threads share the library's function pointers and constants")]

use bbrlab_abi::{Plugin, plugin_flags};
use bbrlab_cc::Hooks;

/// A copy of the struct that a shared object exports, checked by `load.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions(pub(crate) Plugin);

// SAFETY: the struct is a copy that nothing changes. The struct's functions belong to a library
// that stays loaded, and the header demands that they may be called from any thread.
unsafe impl Send for Functions {}
// SAFETY: as above.
unsafe impl Sync for Functions {}

impl Functions {
    /// Returns whether the shared object has a function for at least one event.
    pub(crate) fn has_any(&self) -> bool {
        let of = &self.0;
        self.hooks() != Hooks::default()
            || of.init.is_some()
            || of.cwnd_event.is_some()
            || of.set_state.is_some()
            || of.ssthresh.is_some()
            || of.undo_cwnd.is_some()
            || of.cong_avoid.is_some()
    }

    pub(crate) fn answers_share_of_marks(&self) -> bool {
        self.0.flags & plugin_flags::ANSWERS_SHARE_OF_MARKS != 0
    }

    pub(crate) fn hooks(&self) -> Hooks {
        let of = &self.0;
        Hooks {
            cong_control: of.cong_control.is_some(),
            pkts_acked: of.pkts_acked.is_some(),
            in_ack_event: of.in_ack_event.is_some(),
            skb_marked_lost: of.skb_marked_lost.is_some(),
            tso_segs: of.tso_segs.is_some(),
            min_tso_segs: of.min_tso_segs.is_some(),
            needs_ecn: of.flags & plugin_flags::NEEDS_ECN != 0,
            notes_in_flight: of.flags & plugin_flags::NOTES_IN_FLIGHT != 0,
        }
    }
}
