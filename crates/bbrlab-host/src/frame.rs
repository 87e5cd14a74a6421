//! Packets that the machine's kernel sends or receives, as packets of the emulated network: their
//! bytes, and the fields that the network reads.

use std::fmt;
use std::net::Ipv4Addr;

use bbrlab_net::{PacketData, Side};
use bbrlab_units::Ecn;

/// The largest IP packet, in bytes.
pub const FRAME_MAX: usize = 1500;

/// The number of flows whose addresses on a side have the same third byte.
const FLOWS_PER_BYTE: u32 = 250;

/// Returns the address of a flow's sending or receiving host.
#[must_use]
pub fn address(side: Side, flow: u32) -> Ipv4Addr {
    let [high, low] = [flow / FLOWS_PER_BYTE, flow % FLOWS_PER_BYTE + 1]
        .map(|byte| u8::try_from(byte).unwrap_or(u8::MAX));
    Ipv4Addr::new(10, second_byte(side), high, low)
}

/// Returns the second byte of the IP addresses of the hosts on a side.
fn second_byte(side: Side) -> u8 {
    match side {
        Side::Sender => 1,
        Side::Receiver => 2,
    }
}

/// An IP packet.
#[derive(Clone, Copy)]
pub struct Frame {
    len: u16,
    bytes: [u8; FRAME_MAX],
}

impl Default for Frame {
    fn default() -> Self {
        Self { len: 0, bytes: [0; FRAME_MAX] }
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} bytes)", self.len)
    }
}

/// Selects the extra data that each packet of the emulated network has (see [`PacketData`]): the
/// whole IP packet, a [`Frame`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Real;

impl PacketData for Real {
    type Extra = Frame;
}

/// The fields of a packet that the network reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    /// The flow's number.
    pub(crate) flow: u32,
    /// The size of the IP packet in bytes.
    pub(crate) len: u32,
    /// The ECN field.
    pub(crate) ecn: Ecn,
    /// Whether the packet carries data from the sender; false for ACKs.
    pub(crate) is_data: bool,
}

impl Frame {
    /// Copies a packet; `None` if it is larger than [`FRAME_MAX`].
    #[must_use]
    pub fn of(packet: &[u8]) -> Option<Self> {
        let mut frame = Self { len: u16::try_from(packet.len()).ok()?, ..Self::default() };
        frame.bytes.get_mut(..packet.len())?.copy_from_slice(packet);
        Some(frame)
    }

    /// Returns the bytes of the packet, from the IP header on.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Reads the fields of a packet that a host on the side `from` has sent. Returns `None` for
    /// packets that do not belong to a flow, such as multicasts that the machine's kernel sends.
    pub(crate) fn fields(&self, from: Side) -> Option<Fields> {
        const TCP: u8 = 6;
        const UDP: u8 = 17;
        const UDP_HEADER: usize = 8;
        let bytes = self.bytes();
        let first = *bytes.first()?;
        let header = usize::from(first & 15) * 4;
        if first >> 4 != 4 || header < 20 || bytes.len() < header {
            return None;
        }
        let other = match from {
            Side::Sender => Side::Receiver,
            Side::Receiver => Side::Sender,
        };
        let [10, second, high, low] = bytes[16..20] else { return None };
        if second != second_byte(other) || low == 0 || u32::from(low) > FLOWS_PER_BYTE {
            return None;
        }
        let flow = u32::from(high) * FLOWS_PER_BYTE + u32::from(low) - 1;
        let payload = match bytes[9] {
            TCP => bytes.len().checked_sub(header + usize::from(bytes.get(header + 12)? >> 4) * 4),
            UDP => bytes.len().checked_sub(header + UDP_HEADER),
            _ => return None,
        };
        Some(Fields {
            flow,
            len: self.len.into(),
            ecn: match bytes[1] & 3 {
                0 => Ecn::NotEct,
                1 => Ecn::Ect1,
                2 => Ecn::Ect0,
                _ => Ecn::Ce,
            },
            is_data: from == Side::Sender && payload? > 0,
        })
    }

    /// Sets the ECN field of the packet to CE, and computes the checksum of the IP header again.
    pub(crate) fn mark(&mut self) {
        let header = usize::from(self.bytes[0] & 15) * 4;
        self.bytes[1] |= 3;
        self.bytes[10..12].fill(0);
        let sum = checksum(&self.bytes[..header]);
        self.bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Returns the checksum of an IP header whose field for the checksum is 0. RFC 1071.
fn checksum(header: &[u8]) -> u16 {
    let words =
        header.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !u16::try_from(sum).unwrap_or(0)
}

#[cfg(test)]
pub(crate) mod tests {
    use bbrlab_net::Side;
    use bbrlab_units::Ecn;

    use super::{Fields, Frame, address, checksum};

    /// Returns a TCP packet of a flow with this payload.
    pub(crate) fn packet(from: Side, flow: u32, payload: usize) -> Vec<u8> {
        let len = 52 + payload;
        let mut bytes = vec![0; len];
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&u16::try_from(len).unwrap().to_be_bytes());
        (bytes[8], bytes[9]) = (64, 6);
        let ends = match from {
            Side::Sender => [Side::Sender, Side::Receiver],
            Side::Receiver => [Side::Receiver, Side::Sender],
        };
        bytes[12..16].copy_from_slice(&address(ends[0], flow).octets());
        bytes[16..20].copy_from_slice(&address(ends[1], flow).octets());
        let sum = checksum(&bytes[..20]);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes[32] = 8 << 4;
        bytes
    }

    #[test]
    fn a_packets_flow_and_size_are_read_from_its_headers() {
        for flow in [0, 249, 250, 1003] {
            for (from, payload) in [(Side::Sender, 1448), (Side::Sender, 0), (Side::Receiver, 9)] {
                let frame = Frame::of(&packet(from, flow, payload)).unwrap();
                let len = u32::try_from(52 + payload).unwrap();
                let is_data = from == Side::Sender && payload > 0;
                let expected = Fields { flow, len, ecn: Ecn::NotEct, is_data };
                assert_eq!(frame.fields(from), Some(expected));
            }
        }
    }

    #[test]
    fn other_packets_belong_to_no_flow() {
        let good = packet(Side::Sender, 3, 10);
        assert_eq!(Frame::of(&good).unwrap().fields(Side::Receiver), None);
        for (at, value) in [(0, 0x60), (0, 0x41), (9, 1), (16, 224), (19, 0), (32, 0xff)] {
            let mut bad = good.clone();
            bad[at] = value;
            assert_eq!(Frame::of(&bad).unwrap().fields(Side::Sender), None, "byte {at}");
        }
        for len in 0..40 {
            assert_eq!(Frame::of(&good[..len]).unwrap().fields(Side::Sender), None, "{len} bytes");
        }
        assert!(Frame::of(&[0x45; 1501]).is_none());
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        let mut bytes = packet(Side::Sender, 0, 100);
        bytes[1] = 0xb8 | 2;
        bytes[10..12].fill(0);
        let sum = checksum(&bytes[..20]);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        let mut frame = Frame::of(&bytes).unwrap();
        assert_eq!(frame.fields(Side::Sender).unwrap().ecn, Ecn::Ect0);
        frame.mark();
        assert_eq!(frame.fields(Side::Sender).unwrap().ecn, Ecn::Ce);
        assert_eq!(frame.bytes()[1], 0xb8 | 3);
        // The checksum of a header that contains its correct checksum is 0.
        assert_eq!(checksum(&frame.bytes()[..20]), 0);
    }
}
