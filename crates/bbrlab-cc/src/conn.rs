//! The socket's fields that an algorithm may read and write.
//!
//! `fields.rs` has one row per field. In the kernel traces, the fields of `Conn` are input columns
//! and the fields of `Control` are output columns. The sender has one `Conn` and updates it in
//! place, so no call copies it.
//!
//! Sources: [linux] `include/linux/tcp.h` `struct tcp_sock`, `include/net/tcp.h`
//! `struct rate_sample`.

use crate::fields;
use crate::fields::{About, Field, Kind, Rows, Value};

/// The state of loss recovery. Linux: `enum tcp_ca_state`, same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum CaState {
    /// Neither loss nor reordering is suspected.
    #[default]
    Open = 0,
    /// Duplicate ACKs or SACKs are present.
    Disorder = 1,
    /// cwnd is being reduced because of ECN.
    Cwr = 2,
    /// Fast recovery.
    Recovery = 3,
    /// Recovery from a retransmission timeout.
    Loss = 4,
}

impl CaState {
    /// Returns the state that has this number in Linux.
    #[must_use]
    pub const fn from_number(number: i64) -> Option<Self> {
        Some(match number {
            0 => Self::Open,
            1 => Self::Disorder,
            2 => Self::Cwr,
            3 => Self::Recovery,
            4 => Self::Loss,
            _ => return None,
        })
    }
}

impl Value for CaState {
    const KIND: Kind = Kind::CaState;

    fn bits(self) -> i64 {
        self as i64
    }

    fn of(bits: i64) -> Option<Self> {
        Self::from_number(bits)
    }
}

/// Events that are not ACKs. Linux: `enum tcp_ca_event`, and one more event of BBRv3's kernel tree
/// (`google/bbr`, branch v3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CwndEvent {
    /// A packet is sent while no other packet is in flight.
    TxStart,
    /// cwnd is reduced after an idle time longer than the RTO.
    CwndRestart,
    /// CWR or recovery ends.
    CompleteCwr,
    /// A retransmission timeout has occurred.
    Loss,
    /// A packet with ECT but without CE was received.
    EcnNoCe,
    /// A CE-marked packet was received.
    EcnIsCe,
    /// A tail-loss probe has repaired a loss (only in BBRv3's kernel tree).
    TlpRecovery,
}

/// The component that paces packets. Linux: `enum sk_pacing`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PacingStatus {
    /// No component: packets are not paced.
    #[default]
    None = 0,
    /// TCP's own pacing timer.
    Needed = 1,
    /// The `fq` queueing discipline.
    Fq = 2,
}

impl PacingStatus {
    /// Returns the status that has this number in Linux.
    #[must_use]
    pub const fn from_number(number: i64) -> Option<Self> {
        Some(match number {
            0 => Self::None,
            1 => Self::Needed,
            2 => Self::Fq,
            _ => return None,
        })
    }
}

impl Value for PacingStatus {
    const KIND: Kind = Kind::PacingStatus;

    fn bits(self) -> i64 {
        self as i64
    }

    fn of(bits: i64) -> Option<Self> {
        Self::from_number(bits)
    }
}

/// Generates a struct and its table of fields from rows of `fields.rs`.
macro_rules! record {
    ({ $(#[$attribute:meta])* $([$first:ident: $of:ty, $is:literal])? }
    $record:ident, $about:literal {
        $($name:ident: $kind:ty, $column:literal, $unit:literal, $linux:literal, $meaning:literal
            $(, writable $least:literal to $most:literal)?;)*
    } computed {
        $($computed:ident: $gives:ty, $its_unit:literal, $its_linux:literal, $its_meaning:literal;)*
    }) => {
        #[doc = concat!($about, ".")]
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $record {
            $(#[doc = $is] pub $first: $of,)?
            $(#[doc = concat!($meaning, ". Unit: ", $unit, ". Linux: `", $linux, "`.")] pub $name: $kind,)*
        }

        impl $record {
            /// The struct's fields, in the order of `fields.rs`.
            pub const FIELDS: &'static [Field<Self>] = &[$(Field {
                about: About {
                    name: stringify!($name),
                    kind: <$kind as Value>::KIND,
                    column: fields::column($column),
                    unit: $unit,
                    linux: $linux,
                    writable: fields::bounds(&[$(($least, $most))?]),
                    meaning: $meaning,
                },
                get: |record| record.$name.bits(),
                put: |record, bits| match <$kind as Value>::of(bits) {
                    Some(value) => {
                        record.$name = value;
                        true
                    }
                    None => false,
                },
            },)*];

            /// Returns the struct's rows in the table of fields.
            #[must_use]
            pub fn rows() -> Rows {
                Rows {
                    record: stringify!($record),
                    meaning: $about,
                    fields: Self::FIELDS.iter().map(|field| field.about).collect(),
                    computed: &[$(About {
                        name: stringify!($computed),
                        kind: <$gives as Value>::KIND,
                        column: None,
                        unit: $its_unit,
                        linux: $its_linux,
                        writable: None,
                        meaning: $its_meaning,
                    },)*],
                }
            }
        }
    };
}

fields!(Control, record {});

impl Control {
    /// The value of ssthresh that does not limit slow start. Linux: `TCP_INFINITE_SSTHRESH`.
    pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
}

fields!(Conn, record {
    ///
    /// The first fields (`ctl`, then the fields in the order of `fields.rs`) fill a cache line. The
    /// sender reads this line each time it checks whether it can send. Fields that never change
    /// come last.
    #[repr(C)]
    [ctl: Control, "The fields that an algorithm may also write."]
});

impl Conn {
    /// Returns the TCP clock in microseconds. Linux: `tcp_mstamp`.
    #[must_use]
    pub const fn tcp_mstamp(&self) -> u64 {
        self.clock_ns / 1000
    }

    /// Whether cwnd is below ssthresh. Linux: `tcp_in_slow_start`.
    #[must_use]
    pub const fn in_slow_start(&self) -> bool {
        self.ctl.cwnd < self.ctl.ssthresh
    }
}

fields!(RateSample, record {});

fields!(AckSample, record {});

fields!(LostSkb, record {});

/// Bits of [`Control::ecn_flags`].
pub mod ecn_flags {
    /// ECN was negotiated.
    pub const OK: u8 = 1;
    /// The sender must send CWR with the next new data.
    pub const QUEUE_CWR: u8 = 2;
    /// The receiver must send ECE with every ACK until CWR arrives.
    pub const DEMAND_CWR: u8 = 4;
    /// An ECT packet was received.
    pub const SEEN: u8 = 8;
    /// v2: ECT is set on every packet. In v3, the same bit is `LOW_V3`.
    pub const ECT_PERMANENT_V2: u8 = 16;
    /// v3: ECN was negotiated on a low-latency route.
    pub const LOW_V3: u8 = 16;
    /// v3: ECT is set on every packet.
    pub const ECT_PERMANENT_V3: u8 = 32;
}

/// The bits of the argument `flags` of `in_ack_event`, which describe an ACK. Linux: `enum
/// tcp_ca_ack_event_flags`.
pub mod ack_flags {
    /// The ACK was processed on the kernel's slow path.
    pub const SLOWPATH: u32 = 1;
    /// The ACK changed the advertised window.
    pub const WIN_UPDATE: u32 = 2;
    /// The ACK carried ECE.
    pub const ECE: u32 = 4;
}
