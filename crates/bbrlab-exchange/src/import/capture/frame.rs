//! Reads a captured frame: its two ends, its sizes, and the fields of its TCP header.

use std::net::{IpAddr, SocketAddr};

use etherparse::{
    EtherType, IpNumber, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TransportSlice,
};
use pcap_parser::Linktype;

use crate::import::measurement::FRAMING;

/// The addresses and ports between which a packet travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Ends {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) is_udp: bool,
}

impl Ends {
    /// Returns the ends with the smaller address as `from`, so that packets of both directions give
    /// the same result. Also returns whether `from` already was the smaller address.
    pub(super) fn ordered(self) -> (Self, bool) {
        let is_forward = self.from <= self.to;
        (if is_forward { self } else { Self { from: self.to, to: self.from, ..self } }, is_forward)
    }
}

/// The fields of a TCP header that the import uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tcp {
    pub(super) seq: u32,
    /// The acknowledgement number; `None` without the ACK flag.
    pub(super) ack: Option<u32>,
    pub(super) is_syn: bool,
    pub(super) is_fin: bool,
    pub(super) is_rst: bool,
    /// The MSS option of a SYN; `None` if the segment has none.
    pub(super) mss: Option<u16>,
    /// The value and the echo of the timestamp option; `None` without the option.
    pub(super) timestamps: Option<(u32, u32)>,
    pub(super) sack: [Option<(u32, u32)>; 4],
}

/// The data that the import reads from a captured packet of TCP or UDP: its ends, its sizes and the
/// fields of its TCP header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) ends: Ends,
    /// Payload bytes according to the headers, even if the capture has fewer.
    pub(super) payload: u64,
    /// Bytes of the headers if the link were Ethernet: Ethernet, IP, and TCP or UDP.
    pub(super) headers: u64,
    /// The TCP header; `None` for UDP.
    pub(super) tcp: Option<Tcp>,
}

/// The result of reading a frame.
pub(super) enum Read {
    Frame(Frame),
    /// A frame of another protocol.
    Other,
    /// A fragment of an IP packet.
    Fragment,
    /// The captured bytes end before the end of the IP, TCP or UDP header.
    CutHeader,
}

impl Frame {
    /// Reads a frame that had `original` bytes, of which the capture has `data`.
    ///
    /// # Errors
    /// Fails if the link type is not supported.
    pub(super) fn read(link: Linktype, data: &[u8], original: u32) -> Result<Read, String> {
        let (link_bytes, sliced) = match link {
            Linktype::ETHERNET => (14, LaxSlicedPacket::from_ethernet(data).ok()),
            Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 | Linktype(12 | 14) => {
                (0, LaxSlicedPacket::from_ip(data).ok())
            }
            // The header of BSD's loopback is the address family in four bytes.
            Linktype::NULL | Linktype::LOOP => {
                (4, data.get(4..).and_then(|data| LaxSlicedPacket::from_ip(data).ok()))
            }
            Linktype::LINUX_SLL => (16, of_type(data, 14, 16)),
            // The second version of the header that Linux writes for captures on any device (SLL2)
            // begins with the `EtherType`.
            Linktype::LINUX_SLL2 => (20, of_type(data, 0, 20)),
            // A frame of ns-3's point-to-point devices begins with PPP's protocol field, or with
            // PPP's address and control fields followed by the protocol field.
            Linktype(9) => {
                let framing = if data.starts_with(&[0xff, 0x03]) { 4 } else { 2 };
                let is_ip = |data: &[u8]| {
                    [[0x00, 0x21], [0x00, 0x57]].iter().any(|ip| data[..framing].ends_with(ip))
                };
                let Some(rest) = data.get(framing..) else { return Ok(Read::CutHeader) };
                if !is_ip(data) {
                    return Ok(Read::Other);
                }
                (framing as u64, LaxSlicedPacket::from_ip(rest).ok())
            }
            Linktype(number) => {
                return Err(format!(
                    "found link type {number}, expected Ethernet (1), raw IP (12, 14, 101, 228, 229), loopback (0, 108), PPP (9) or Linux's cooked capture (113, 276)"
                ));
            }
        };
        let Some(sliced) = sliced else { return Ok(Read::CutHeader) };
        Ok(Self::of_sliced(&sliced, u64::from(original).saturating_sub(link_bytes)))
    }

    /// Reads the IP packet of a frame. `ip_bytes` is the number of bytes after the link header,
    /// padding included.
    fn of_sliced(sliced: &LaxSlicedPacket<'_>, ip_bytes: u64) -> Read {
        let (from, to, ip_headers, total, next, is_fragment) = match &sliced.net {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let header = ip.header();
                let bytes = u64::from(header.ihl()) * 4;
                // If the network card segments packets after the capture, IPv4's length field may
                // be 0. In this case, the length of the frame determines the packet's length.
                let total = match u64::from(header.total_len()) {
                    0 => ip_bytes,
                    total => total,
                };
                let (from, to) = (header.source_addr(), header.destination_addr());
                let is_fragment = header.is_fragmenting_payload();
                (
                    IpAddr::V4(from),
                    IpAddr::V4(to),
                    bytes,
                    total,
                    ip.payload_ip_number(),
                    is_fragment,
                )
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                let header = ip.header();
                let total = match u64::from(header.payload_length()) {
                    0 => ip_bytes,
                    payload => payload + 40,
                };
                let bytes = 40 + ip.extensions().slice().len() as u64;
                let (from, to) = (header.source_addr(), header.destination_addr());
                let next = ip.payload().ip_number;
                (IpAddr::V6(from), IpAddr::V6(to), bytes, total, next, ip.is_payload_fragmented())
            }
            _ => return Read::Other,
        };
        if is_fragment {
            return Read::Fragment;
        }
        let ends = |from_port, to_port, is_udp| Ends {
            from: SocketAddr::new(from, from_port),
            to: SocketAddr::new(to, to_port),
            is_udp,
        };
        let (ends, bytes, tcp) = match &sliced.transport {
            Some(TransportSlice::Tcp(tcp)) => {
                let ends = ends(tcp.source_port(), tcp.destination_port(), false);
                (ends, u64::from(tcp.data_offset()) * 4, Some(Tcp::of(tcp)))
            }
            Some(TransportSlice::Udp(udp)) => {
                (ends(udp.source_port(), udp.destination_port(), true), 8, None)
            }
            _ if [IpNumber::TCP, IpNumber::UDP].contains(&next) => return Read::CutHeader,
            _ => return Read::Other,
        };
        let headers = ip_headers + bytes;
        let payload = total.saturating_sub(headers);
        Read::Frame(Self { ends, payload, headers: headers + FRAMING, tcp })
    }

    pub(super) fn is_udp(&self) -> bool {
        self.tcp.is_none()
    }

    /// Whether this is a SYN without an ACK, the first segment of a connection.
    pub(super) fn is_new_connection(&self) -> bool {
        self.tcp.is_some_and(|tcp| tcp.is_syn && tcp.ack.is_none())
    }
}

/// Parses the IP packet after a link header of `length` bytes. Byte `at` of the link header is the
/// first byte of the `EtherType`.
fn of_type(data: &[u8], at: usize, length: usize) -> Option<LaxSlicedPacket<'_>> {
    let number = u16::from_be_bytes([*data.get(at)?, *data.get(at + 1)?]);
    Some(LaxSlicedPacket::from_ether_type(EtherType(number), data.get(length..)?))
}

impl Tcp {
    fn of(slice: &etherparse::TcpSlice<'_>) -> Self {
        let mut tcp = Self {
            seq: slice.sequence_number(),
            ack: slice.ack().then(|| slice.acknowledgment_number()),
            is_syn: slice.syn(),
            is_fin: slice.fin(),
            is_rst: slice.rst(),
            ..Self::default()
        };
        // Ignore everything after a damaged option.
        for option in slice.options_iterator().map_while(Result::ok) {
            match option {
                TcpOptionElement::MaximumSegmentSize(mss) => tcp.mss = Some(mss),
                TcpOptionElement::Timestamp(value, echo) => tcp.timestamps = Some((value, echo)),
                TcpOptionElement::SelectiveAcknowledgement(first, [second, third, fourth]) => {
                    tcp.sack = [Some(first), second, third, fourth];
                }
                _ => {}
            }
        }
        tcp
    }
}
