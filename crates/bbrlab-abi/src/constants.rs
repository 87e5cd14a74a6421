//! The constants of the header `bbrlab.h`: flags, events, errors, and states of loss
//! recovery and pacing.

use bbrlab_cc::{CaState, CwndEvent, PacingStatus, ack_flags, ecn_flags};

use crate::plugin::param_kinds;
use crate::sender::{actions, sender_flags};

/// The version of the interface. A change in the meaning of a function or a field needs a new
/// version; new functions, and new fields at the end of a struct, do not.
pub const VERSION: u32 = 1;

/// Properties of a plugin: bits of the field `flags` of `bbrlab_plugin`.
pub mod plugin_flags {
    /// The congestion control needs ECN and sets ECT on every packet. Linux: `TCP_CONG_NEEDS_ECN`.
    pub const NEEDS_ECN: u32 = 1;
    /// With each packet that it sends, the sender records the number of packets lost so far
    /// (`lost`) and the number in flight, as in the kernel trees of BBRv2 and BBRv3.
    pub const NOTES_IN_FLIGHT: u32 = 2;
    /// The congestion control reacts to the share of CE-marked packets, as DCTCP does, so the
    /// receiver echoes the mark of each packet.
    pub const ANSWERS_SHARE_OF_MARKS: u32 = 4;
}

/// Properties of a packet: bits of the field `flags` of `bbrlab_packet`, which a C program passes
/// to `bbrlab_cc_sent`.
pub mod ack_sent_flags {
    /// The packet is a retransmission.
    pub const RETRANSMISSION: u32 = 1;
}

/// The errors that the functions of `bbrlab-ffi` return. Without an error, the functions of
/// `bbrlab-ffi` return 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Error {
    /// An argument is null, has a wrong size or an unknown name.
    Argument = -1,
    /// The functions were called in a wrong order, such as `bbrlab_cc_acked` before
    /// `bbrlab_cc_ack_begin`.
    Order = -2,
    /// An assertion of the library failed, which is a bug.
    Panic = -3,
}

/// The events that a C program reports with `bbrlab_cc_event`. Sent packets and ACKs have functions
/// of their own. "The value" below is the argument `value` of `bbrlab_cc_event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Event {
    /// Disorder begins: the first duplicate ACK or SACK block arrived.
    DisorderEntered = 0,
    /// A reduction of cwnd because of an ECN echo begins.
    CwrEntered = 1,
    /// Fast recovery begins.
    RecoveryEntered = 2,
    /// A retransmission timeout occurred. If the argument `value` is 0, this timeout does not
    /// reduce ssthresh again during a recovery, as in Linux. If `value` is 1, this timeout always
    /// reduces ssthresh.
    Timeout = 3,
    /// The state of loss recovery becomes `Open`: disorder, CWR, recovery or the repair of a
    /// timeout ends.
    Left = 4,
    /// The losses of the current loss recovery were spurious, so the reduction of cwnd is undone.
    Spurious = 5,
    /// The connection sends again after an idle time. The value, in packets, is the upper bound of
    /// cwnd at the restart.
    IdleRestart = 6,
    /// The application has no more data to send.
    AppLimited = 7,
    /// Packets were sent. The value is 1 if cwnd prevented the sender from sending more, else 0.
    WindowUsed = 8,
    /// The MSS changes. The value is the new payload of a full segment, in bytes.
    Mss = 9,
    /// The library must not raise cwnd at the current ACK. A C program needs this event if its TCP
    /// raises cwnd in fewer cases than Linux, which raises cwnd even in the state Disorder.
    Hold = 10,
}

impl Event {
    /// All events.
    pub const ALL: [Self; 11] = [
        Self::DisorderEntered,
        Self::CwrEntered,
        Self::RecoveryEntered,
        Self::Timeout,
        Self::Left,
        Self::Spurious,
        Self::IdleRestart,
        Self::AppLimited,
        Self::WindowUsed,
        Self::Mss,
        Self::Hold,
    ];

    /// Returns the event with this number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|event| *event as u32 == number)
    }
}

/// Returns the number of `event` in C: `BBRLAB_CWND_*`.
#[must_use]
pub const fn cwnd_event_number(event: CwndEvent) -> u32 {
    event as u32
}

/// Constants whose names have the same prefix.
pub(crate) struct Group {
    pub(crate) prefix: &'static str,
    pub(crate) about: &'static str,
    pub(crate) constants: Vec<(&'static str, i64)>,
}

/// Returns the constants of the header.
pub(crate) fn groups() -> impl Iterator<Item = Group> {
    of_linux().into_iter().chain(of_calls()).chain(of_senders())
}

/// Returns the constants that have Linux's values.
fn of_linux() -> Vec<Group> {
    vec![
        Group {
            prefix: "BBRLAB_CA_",
            about: "States of loss recovery, as in Linux",
            constants: vec![
                ("OPEN", CaState::Open as i64),
                ("DISORDER", CaState::Disorder as i64),
                ("CWR", CaState::Cwr as i64),
                ("RECOVERY", CaState::Recovery as i64),
                ("LOSS", CaState::Loss as i64),
            ],
        },
        Group {
            prefix: "BBRLAB_CWND_",
            about: "Events of `cwnd_event`",
            constants: vec![
                ("TX_START", CwndEvent::TxStart as i64),
                ("RESTART", CwndEvent::CwndRestart as i64),
                ("COMPLETE_CWR", CwndEvent::CompleteCwr as i64),
                ("LOSS", CwndEvent::Loss as i64),
                ("ECN_NO_CE", CwndEvent::EcnNoCe as i64),
                ("ECN_IS_CE", CwndEvent::EcnIsCe as i64),
                ("TLP_RECOVERY", CwndEvent::TlpRecovery as i64),
            ],
        },
        Group {
            prefix: "BBRLAB_PACING_",
            about: "States of `pacing_status`",
            constants: vec![
                ("NONE", PacingStatus::None as i64),
                ("NEEDED", PacingStatus::Needed as i64),
                ("FQ", PacingStatus::Fq as i64),
            ],
        },
        Group {
            prefix: "BBRLAB_ACK_",
            about: "Bits of the flags of `in_ack_event`",
            constants: vec![
                ("SLOWPATH", ack_flags::SLOWPATH.into()),
                ("WIN_UPDATE", ack_flags::WIN_UPDATE.into()),
                ("ECE", ack_flags::ECE.into()),
            ],
        },
        Group {
            prefix: "BBRLAB_ECN_",
            about: "Bits of `ecn_flags`",
            constants: vec![
                ("OK", ecn_flags::OK.into()),
                ("QUEUE_CWR", ecn_flags::QUEUE_CWR.into()),
                ("DEMAND_CWR", ecn_flags::DEMAND_CWR.into()),
                ("SEEN", ecn_flags::SEEN.into()),
                ("LOW", ecn_flags::LOW_V3.into()),
                ("ECT_PERMANENT", ecn_flags::ECT_PERMANENT_V3.into()),
            ],
        },
    ]
}

/// Returns the constants that this interface defines and Linux does not have.
fn of_calls() -> Vec<Group> {
    vec![
        Group {
            prefix: "BBRLAB_PARAM_",
            about: "Kinds of parameters",
            constants: vec![
                ("INTEGER", param_kinds::INTEGER.into()),
                ("RATIO", param_kinds::RATIO.into()),
                ("SWITCH", param_kinds::SWITCH.into()),
                ("TEXT", param_kinds::TEXT.into()),
            ],
        },
        Group {
            prefix: "BBRLAB_PLUGIN_",
            about: "Bits of the flags of a plugin",
            constants: vec![
                ("NEEDS_ECN", plugin_flags::NEEDS_ECN.into()),
                ("NOTES_IN_FLIGHT", plugin_flags::NOTES_IN_FLIGHT.into()),
                ("ANSWERS_SHARE_OF_MARKS", plugin_flags::ANSWERS_SHARE_OF_MARKS.into()),
            ],
        },
        Group {
            prefix: "BBRLAB_PACKET_",
            about: "Bits of the flags of a packet",
            constants: vec![("RETRANSMISSION", ack_sent_flags::RETRANSMISSION.into())],
        },
        Group {
            prefix: "BBRLAB_EVENT_",
            about: "Events of `bbrlab_cc_event`, some with a value",
            constants: vec![
                ("DISORDER_ENTERED", Event::DisorderEntered as i64),
                ("CWR_ENTERED", Event::CwrEntered as i64),
                ("RECOVERY_ENTERED", Event::RecoveryEntered as i64),
                ("TIMEOUT", Event::Timeout as i64),
                ("LEFT", Event::Left as i64),
                ("SPURIOUS", Event::Spurious as i64),
                ("IDLE_RESTART", Event::IdleRestart as i64),
                ("APP_LIMITED", Event::AppLimited as i64),
                ("WINDOW_USED", Event::WindowUsed as i64),
                ("MSS", Event::Mss as i64),
                ("HOLD", Event::Hold as i64),
            ],
        },
        Group {
            prefix: "BBRLAB_",
            about: "Results of functions",
            constants: vec![
                ("OK", 0),
                ("ERROR_ARGUMENT", Error::Argument as i64),
                ("ERROR_ORDER", Error::Order as i64),
                ("ERROR_PANIC", Error::Panic as i64),
            ],
        },
    ]
}

/// Returns the constants of the functions `bbrlab_sender_*`, which drive a complete TCP sender.
fn of_senders() -> Vec<Group> {
    vec![
        Group {
            prefix: "BBRLAB_SENDER_",
            about: "Bits of the flags of a sender",
            constants: vec![
                ("TIMESTAMPS", sender_flags::TIMESTAMPS.into()),
                ("SACK", sender_flags::SACK.into()),
                ("ECN", sender_flags::ECN.into()),
                ("NODELAY", sender_flags::NODELAY.into()),
            ],
        },
        Group {
            prefix: "BBRLAB_TIMERS_",
            about: "The number of timers of a sender; the timers are numbered from 0",
            constants: vec![("COUNT", crate::SENDER_TIMERS.into())],
        },
        Group {
            prefix: "BBRLAB_ACTION_",
            about: "Kinds of actions: no action is left, send a segment, set a deadline, forget a deadline",
            constants: vec![
                ("NONE", actions::NONE.into()),
                ("TRANSMIT", actions::TRANSMIT.into()),
                ("ARM", actions::ARM.into()),
                ("DISARM", actions::DISARM.into()),
            ],
        },
    ]
}
