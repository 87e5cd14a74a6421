//! The record of a sent packet, as opaque bytes that the C program stores with the packet.

use bbrlab_abi as abi;
use bbrlab_cc::LostSkb;
use bbrlab_cc::linux_int::trunc_u32;
use bbrlab_rate::{DeliveredSkb, Notes, SkbStamps};

/// The last 8 bytes of every note. If these bytes differ, the C program passed a pointer to
/// something else.
const MARK: u64 = 0x6262_726c_6162_0001;

/// The bits of a note that state whether the sender was application-limited, and whether the packet
/// is a retransmission.
const APP_LIMITED: u32 = 1;
const RETRANSMISSION: u32 = 2;

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) stamps: SkbStamps,
    /// Departure time in microseconds of the TCP clock.
    pub(crate) tx_mstamp: u64,
    pub(crate) seq: u32,
    pub(crate) end_seq: u32,
    pub(crate) segments: u32,
    pub(crate) is_retrans: bool,
}

impl Sent {
    /// Returns the packet's note: the opaque bytes that the C program keeps with the packet.
    pub(crate) fn note(&self) -> abi::Note {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let SkbStamps { first_tx_mstamp, delivered_mstamp, delivered, is_app_limited, notes } =
            self.stamps;
        let app_limited = if is_app_limited { APP_LIMITED } else { 0 };
        let retrans = if self.is_retrans { RETRANSMISSION } else { 0 };
        abi::Note {
            bytes: [
                first_tx_mstamp,
                delivered_mstamp,
                self.tx_mstamp,
                pair(delivered, notes.lost),
                pair(notes.in_flight, notes.delivered_ce),
                pair(self.seq, self.end_seq),
                pair(self.segments, app_limited | retrans),
                MARK,
            ],
        }
    }

    /// Reads a note; `None` if the memory holds anything else.
    pub(crate) fn of(note: &abi::Note) -> Option<Self> {
        let [first_tx_mstamp, delivered_mstamp, tx_mstamp, counts, flight, range, rest, mark] =
            note.bytes;
        let (low, high) = (trunc_u32, |word: u64| trunc_u32(word >> 32));
        let notes =
            Notes { lost: high(counts), in_flight: low(flight), delivered_ce: high(flight) };
        (mark == MARK).then_some(Self {
            stamps: SkbStamps {
                first_tx_mstamp,
                delivered_mstamp,
                delivered: low(counts),
                is_app_limited: high(rest) & APP_LIMITED != 0,
                notes,
            },
            tx_mstamp,
            seq: low(range),
            end_seq: high(range),
            segments: low(rest),
            is_retrans: high(rest) & RETRANSMISSION != 0,
        })
    }

    /// Returns the data with which the rate sampler counts the packet as delivered.
    pub(crate) fn delivered(&self) -> DeliveredSkb {
        DeliveredSkb {
            tx_mstamp: self.tx_mstamp,
            end_seq: self.end_seq,
            is_sacked: false,
            is_retrans: self.is_retrans,
        }
    }

    /// Returns the data with which the algorithm learns that the packet is marked lost.
    pub(crate) fn lost(&self) -> LostSkb {
        LostSkb {
            seq: self.seq,
            end_seq: self.end_seq,
            pcount: self.segments,
            in_flight: self.stamps.notes.in_flight,
            lost: self.stamps.notes.lost,
            is_app_limited: self.stamps.is_app_limited,
            delivered_mstamp: self.stamps.delivered_mstamp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MARK, Sent};
    use bbrlab_rate::{Notes, SkbStamps};

    #[test]
    fn a_note_keeps_every_field() {
        let sent = Sent {
            stamps: SkbStamps {
                first_tx_mstamp: u64::MAX - 1,
                delivered_mstamp: 2,
                delivered: u32::MAX - 3,
                is_app_limited: true,
                notes: Notes { lost: 4, in_flight: 5, delivered_ce: 6 },
            },
            tx_mstamp: 7,
            seq: 8,
            end_seq: u32::MAX - 9,
            segments: 10,
            is_retrans: true,
        };
        let mut note = sent.note();
        let read = Sent::of(&note).unwrap();
        assert_eq!(read.stamps, sent.stamps);
        assert_eq!((read.tx_mstamp, read.seq, read.end_seq), (7, 8, u32::MAX - 9));
        assert_eq!((read.segments, read.is_retrans), (10, true));
        note.bytes[7] = MARK ^ 1;
        assert!(Sent::of(&note).is_none());
    }
}
