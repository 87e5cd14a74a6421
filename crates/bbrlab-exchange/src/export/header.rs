//! The headers of a simulated packet as bytes: Ethernet, IPv4, and TCP or UDP. The bytes of the
//! payload are not written to the exported file. The checksums are valid for a payload of zeros.
//!
//! Sources: RFC 791, RFC 768, RFC 9293, RFC 7323 (timestamps, window scale), RFC 2018 (SACK).

use bbrlab_sim::{Segment, flag};
use bbrlab_units::Ecn;

/// Window scale: the shift of the window field in all segments except SYNs. A shift of this size
/// suffices for the largest receive buffer, 64 MiB.
const WINDOW_SHIFT: u8 = 11;

/// Port of the receiving hosts, the default port of an iperf3 server.
const RECEIVER_PORT: u16 = 5201;

/// The first port in the range from which sending hosts take the ports of their connections, and
/// the number of ports in the range.
const FIRST_PORT: u32 = 32768;
const PORTS: u32 = 28232;

const ETHERNET: usize = 14;
const IP: usize = 20;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// A packet to encode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'a> {
    pub(super) flow: u32,
    /// The number of the flow's connection, from 0. Each connection has its own port.
    pub(super) connection: u32,
    /// Whether the flow's sending host sent the packet; otherwise the receiving host did.
    pub(super) is_sent: bool,
    /// Payload bytes of a full segment, from which the MSS option of a SYN is computed.
    pub(super) mss: u32,
    pub(super) dscp: u8,
    pub(super) segment: &'a Segment,
}

/// Returns the IPv4 address of a flow's sending host (`is_sender`) or receiving host.
fn address(flow: u32, is_sender: bool) -> [u8; 4] {
    let base: u32 = if is_sender { 0x0a00_0000 } else { 0x0a80_0000 };
    (base + flow + 1).to_be_bytes()
}

impl Packet<'_> {
    /// Appends the headers to `into`. Returns the number of bytes of the whole packet, payload
    /// included.
    pub(super) fn encode(&self, into: &mut Vec<u8>) -> u32 {
        let start = into.len();
        let (source, target) =
            (address(self.flow, self.is_sent), address(self.flow, !self.is_sent));
        // Each host has a locally administered MAC address that contains its IP address.
        for host in [target, source] {
            into.extend([2, 0]);
            into.extend(host);
        }
        into.extend([0x08, 0x00]);
        let ip_start = into.len();
        into.extend([0; IP]);
        let sender_port = FIRST_PORT + self.connection % PORTS;
        let sender_port = u16::try_from(sender_port).expect("every port is below 2^16");
        let ports =
            if self.is_sent { [sender_port, RECEIVER_PORT] } else { [RECEIVER_PORT, sender_port] };
        let protocol = if self.segment.flags == 0 { UDP } else { TCP };
        let transport_start = into.len();
        for port in ports {
            into.extend(port.to_be_bytes());
        }
        let checksum_at = if protocol == UDP {
            let length = u16::try_from(8 + self.segment.len).unwrap_or(0);
            into.extend(length.to_be_bytes());
            into.extend([0, 0]);
            transport_start + 6
        } else {
            self.tcp(into);
            transport_start + 16
        };
        let headers = u32::try_from(into.len() - start).expect("the headers have at most 94 bytes");
        let ip_bytes = headers - 14 + self.segment.len;
        let transport = ip_bytes - 20;
        let sum = sum(&source) + sum(&target) + u64::from(protocol) + u64::from(transport);
        let checksum = folded(sum + self::sum(&into[transport_start..]));
        // In UDP, a checksum of 0 means that the datagram has no checksum, so 0xffff replaces a 0.
        let checksum = if protocol == UDP && checksum == 0 { 0xffff } else { checksum };
        into[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
        self.ip(&mut into[ip_start..ip_start + IP], ip_bytes, protocol, (source, target));
        debug_assert_eq!(ip_start, start + ETHERNET);
        headers + self.segment.len
    }

    fn ip(
        &self,
        header: &mut [u8],
        bytes: u32,
        protocol: u8,
        (source, target): ([u8; 4], [u8; 4]),
    ) {
        let ecn = match self.segment.ecn {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        };
        header[0] = 0x45;
        header[1] = self.dscp << 2 | ecn;
        // The simulator may send a burst as one packet whose length does not fit the 16-bit field.
        // The length field of such a packet is 0, as in captures of Linux with segmentation
        // offload.
        let total = u16::try_from(bytes).unwrap_or(0);
        header[2..4].copy_from_slice(&total.to_be_bytes());
        header[6] = 0x40; // Do not fragment.
        header[8] = 64;
        header[9] = protocol;
        header[12..16].copy_from_slice(&source);
        header[16..20].copy_from_slice(&target);
        let checksum = folded(sum(header));
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
    }

    /// Appends the TCP header without its ports, which are already in `into`.
    fn tcp(&self, into: &mut Vec<u8>) {
        let segment = self.segment;
        let is_syn = segment.has(flag::SYN);
        into.extend(segment.seq.to_be_bytes());
        let ack = if segment.has(flag::ACK) { segment.ack } else { 0 };
        into.extend(ack.to_be_bytes());
        let options = self.options();
        let words = u8::try_from(5 + options.len() / 4)
            .expect("a TCP header has at most 15 words of 32 bits");
        into.extend([words << 4, segment.flags]);
        let window = if is_syn { segment.wnd } else { segment.wnd >> WINDOW_SHIFT };
        into.extend(u16::try_from(window).unwrap_or(u16::MAX).to_be_bytes());
        into.extend([0, 0, 0, 0]);
        into.extend(options);
    }

    fn options(&self) -> Vec<u8> {
        let segment = self.segment;
        let mut options = Vec::with_capacity(40);
        let timestamps = |options: &mut Vec<u8>| {
            options.extend([8, 10]);
            options.extend(segment.tsval.to_be_bytes());
            options.extend(segment.tsecr.to_be_bytes());
        };
        if segment.has(flag::SYN) {
            // The MSS option is the payload of a full segment plus the bytes of the timestamp
            // option.
            let mss = self.mss + if segment.has_ts { 12 } else { 0 };
            options.extend([2, 4]);
            options.extend(u16::try_from(mss).unwrap_or(u16::MAX).to_be_bytes());
            options.extend([4, 2]);
            if segment.has_ts {
                timestamps(&mut options);
            } else {
                options.extend([1, 1]);
            }
            options.extend([1, 3, 3, WINDOW_SHIFT]);
            return options;
        }
        if segment.has_ts {
            options.extend([1, 1]);
            timestamps(&mut options);
        }
        if segment.sack_count > 0 {
            options.extend([1, 1, 5, 2 + 8 * segment.sack_count]);
            for block in &segment.sack[..usize::from(segment.sack_count)] {
                options.extend(block.start.to_be_bytes());
                options.extend(block.end.to_be_bytes());
            }
        }
        options
    }
}

/// Returns the sum of the big-endian 16-bit words of `bytes`. An odd number of bytes is padded with
/// a zero byte.
fn sum(bytes: &[u8]) -> u64 {
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
    bytes.chunks(2).map(word).sum()
}

/// Returns the Internet checksum for a sum of 16-bit words.
fn folded(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).expect("the loop has reduced the sum to 16 bits")
}
