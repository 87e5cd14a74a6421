//! Reads packet captures that were taken at one end, in pcap or pcapng, packet by packet. Packets
//! are not stored. The memory therefore depends on the numbers of connections and of rows in their
//! time series, which are limited, and not on the size of the file.

mod connection;
mod frame;
mod receiving;
mod sending;

use std::collections::BTreeMap;

use bbrlab_lab::LabError;
use pcap_parser::traits::PcapNGPacketBlock as _;
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, PcapHeader, create_reader};

use self::connection::Connection;
use self::frame::{Ends, Frame};
use super::measurement::Measurement;
use super::source::{Source, wrong};

/// The end of a connection at which a capture was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureSide {
    /// The end that sends the data.
    Sender,
    /// The end that receives the data.
    Receiver,
}

impl CaptureSide {
    /// Returns the name of the side on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}

/// The largest number of connections that are read from a capture.
const CONNECTIONS_MAX: usize = 100_000;

/// The initial and the largest size, in bytes, of the buffer for one block of a capture.
const BUFFER: usize = 1 << 17;
const BUFFER_MAX: usize = 1 << 26;

/// A connection with less than this share of the capture's payload is left out. Connections with so
/// little payload are, for example, control connections of tools.
const SHARE_MIN: f64 = 1e-3;

/// Reads a capture. If the capture ends in the middle of a packet, the result has the packets
/// before the cut and a note.
///
/// # Errors
/// Fails if the file has a link type that is not supported, or a damaged block.
pub(crate) fn read(source: Source, side: Option<CaptureSide>) -> Result<Measurement, LabError> {
    let Source { path, content, .. } = source;
    let mut capture = Capture::default();
    let mut reader = create_reader(BUFFER, content)
        .map_err(|error| wrong(&path, &format!("byte 0: {}", reason(&error))))?;
    let (mut at, mut size) = (0_u64, BUFFER);
    loop {
        let step = match reader.next() {
            Ok((length, block)) => {
                let read = capture.block(&block);
                read.map_err(|reason| wrong(&path, &format!("byte {at}: {reason}")))?;
                Step::Next(length)
            }
            Err(PcapError::Eof) => break,
            Err(PcapError::Incomplete(_)) => Step::More,
            Err(PcapError::BufferTooSmall) if size < BUFFER_MAX => Step::Grow,
            Err(PcapError::UnexpectedEof) => Step::CutOff,
            Err(error) => Step::Failed(reason(&error)),
        };
        let step = match step {
            Step::More if reader.reader_exhausted() => Step::CutOff,
            Step::More => match reader.refill() {
                Ok(()) => continue,
                Err(PcapError::BufferTooSmall) if size < BUFFER_MAX => Step::Grow,
                Err(error) => Step::Failed(reason(&error)),
            },
            step => step,
        };
        match step {
            Step::Next(length) => {
                reader.consume(length);
                at += length as u64;
            }
            Step::Grow => {
                size *= 2;
                reader.grow(size);
            }
            Step::Failed(reason) => {
                let packets = capture.packets;
                return Err(wrong(
                    &path,
                    &format!(
                        "byte {at}: {reason}; a copy of the first {at} bytes is a valid capture \
                         of {packets} packets"
                    ),
                ));
            }
            Step::CutOff | Step::More => {
                capture.cut_off_at = Some(at);
                break;
            }
        }
    }
    Ok(capture.measurement(side))
}

/// The next step after an attempt to read a block.
enum Step {
    /// A block of this length was read.
    Next(usize),
    /// More bytes of the capture file must be read into the buffer.
    More,
    /// The buffer must grow, because the block is longer than the buffer.
    Grow,
    /// The file ends in the middle of a block.
    CutOff,
    Failed(String),
}

fn reason<I>(error: &PcapError<I>) -> String {
    match error {
        PcapError::Eof | PcapError::Incomplete(_) | PcapError::UnexpectedEof => {
            "found the end of the file in the file's header"
        }
        PcapError::BufferTooSmall => "found a block of more than 64 MiB, expected a packet",
        PcapError::ReadError => "cannot be read",
        PcapError::HeaderNotRecognized => "found no header of pcap or pcapng",
        PcapError::NomError(..) | PcapError::OwnedNomError(..) => {
            "found a damaged block, expected a packet"
        }
    }
    .to_owned()
}

/// A network interface whose packets are in the capture.
#[derive(Clone, Copy)]
struct Interface {
    link: Linktype,
    /// Time-stamp units per second.
    resolution: u64,
    /// Seconds to add to each time stamp.
    offset_s: i64,
}

/// The content of the part of a capture that has been read.
#[derive(Default)]
struct Capture {
    version: String,
    interfaces: Vec<Interface>,
    packets: u64,
    /// The time of the first TCP or UDP packet in nanoseconds since 1970; `None` before this
    /// packet.
    begin_ns: Option<i128>,
    last_ns: u64,
    connections: BTreeMap<Ends, usize>,
    list: Vec<Connection>,
    /// The shortest allowed time between two rows of a connection, in nanoseconds.
    period_ns: u64,
    rows: usize,
    /// The position in the file, in bytes, of the last packet if the file ends within this packet;
    /// otherwise `None`.
    cut_off_at: Option<u64>,
    no_times: u64,
    cut_headers: u64,
    fragments: u64,
    late: u64,
    beyond: u64,
}

/// The initial time between two rows of a connection: the simulator's default sampling period.
const PERIOD_NS: u64 = 10_000_000;

/// If all connections together have more than this number of rows, the time between two rows is
/// doubled.
const ROWS_MAX: usize = 2_000_000;

impl Capture {
    fn block(&mut self, block: &PcapBlockOwned<'_>) -> Result<(), String> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                self.legacy_header(header);
                Ok(())
            }
            PcapBlockOwned::Legacy(packet) => {
                let interface =
                    *self.interfaces.first().ok_or("found a packet before the header")?;
                let ns_per_unit = 1_000_000_000 / interface.resolution;
                let ns = i128::from(packet.ts_sec) * 1_000_000_000
                    + i128::from(packet.ts_usec) * i128::from(ns_per_unit);
                self.packet(interface.link, ns, packet.data, packet.origlen)
            }
            PcapBlockOwned::NG(Block::SectionHeader(header)) => {
                self.interfaces.clear();
                self.version = format!("pcapng {}.{}", header.major_version, header.minor_version);
                Ok(())
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                let resolution = interface.ts_resolution().filter(|&units| units > 0);
                let resolution = resolution
                    .ok_or("found an interface whose time stamps have no valid resolution")?;
                self.interfaces.push(Interface {
                    link: interface.linktype,
                    resolution,
                    offset_s: interface.ts_offset(),
                });
                Ok(())
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let interface = self.interfaces.get(packet.if_id as usize);
                let interface = *interface.ok_or_else(|| {
                    format!(
                        "found a packet of interface {}, which the file does not describe",
                        packet.if_id
                    )
                })?;
                let units = i128::from(packet.ts_high) << 32 | i128::from(packet.ts_low);
                let ns = units * 1_000_000_000 / i128::from(interface.resolution)
                    + i128::from(interface.offset_s) * 1_000_000_000;
                self.packet(interface.link, ns, packet.packet_data(), packet.orig_len())
            }
            PcapBlockOwned::NG(Block::SimplePacket(_)) => {
                self.no_times += 1;
                Ok(())
            }
            PcapBlockOwned::NG(_) => Ok(()),
        }
    }

    fn legacy_header(&mut self, header: &PcapHeader) {
        let resolution = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
        self.version = format!("{}.{}", header.version_major, header.version_minor);
        self.interfaces = vec![Interface { link: header.network, resolution, offset_s: 0 }];
    }

    fn packet(
        &mut self,
        link: Linktype,
        unix_ns: i128,
        data: &[u8],
        original: u32,
    ) -> Result<(), String> {
        self.packets += 1;
        let frame = match Frame::read(link, data, original)? {
            frame::Read::Frame(frame) => frame,
            frame::Read::Other => return Ok(()),
            frame::Read::Fragment => {
                self.fragments += 1;
                return Ok(());
            }
            frame::Read::CutHeader => {
                self.cut_headers += 1;
                return Ok(());
            }
        };
        let begin_ns = *self.begin_ns.get_or_insert(unix_ns);
        // Packets that several processors captured may be slightly out of order. A packet with an
        // earlier time than the packet before gets the latest time so far.
        let ns = u64::try_from(unix_ns - begin_ns).unwrap_or(0);
        if ns < self.last_ns {
            self.late += 1;
        }
        let ns = ns.max(self.last_ns);
        self.last_ns = ns;
        let count = self.list.len();
        let (key, is_forward) = frame.ends.ordered();
        let at = match self.connections.get(&key) {
            Some(&at) if !(frame.is_new_connection() && self.list[at].is_over()) => at,
            _ if count == CONNECTIONS_MAX => {
                self.beyond += 1;
                return Ok(());
            }
            _ => {
                self.connections.insert(key, count);
                self.list.push(Connection::new(key, frame.is_udp()));
                count
            }
        };
        let period_ns = self.period_ns.max(PERIOD_NS);
        self.rows += self.list[at].packet(ns, is_forward, &frame, period_ns);
        if self.rows > ROWS_MAX {
            self.period_ns = 2 * period_ns;
            self.rows = self.list.iter_mut().map(|one| one.thin_out(self.period_ns)).sum();
        }
        Ok(())
    }

    fn measurement(self, side: Option<CaptureSide>) -> Measurement {
        let all: u64 = self.list.iter().map(Connection::payload).sum();
        #[expect(clippy::cast_precision_loss, reason = "a connection has fewer than 2^52 bytes")]
        let is_small = |one: &Connection| (one.payload() as f64) < all as f64 * SHARE_MIN;
        let (mut flows, mut small, mut notes) = (Vec::new(), 0, Vec::new());
        for connection in self.list {
            if connection.payload() == 0 || is_small(&connection) {
                small += 1;
                continue;
            }
            let (flow, note) = connection.flow(side);
            flows.push(flow);
            notes.extend(note);
        }
        notes.sort();
        notes.dedup();
        if let Some(at) = self.cut_off_at {
            notes.insert(
                0,
                format!("ends in the middle of a packet, at byte {at}; the {} whole packets before are used", self.packets),
            );
        }
        for (count, what) in [
            (small, "connections with less than 0.1 % of the payload are left out"),
            (
                self.cut_headers,
                "packets are left out, because the capture cut their headers off; capture at least 96 bytes (tcpdump -s 96)",
            ),
            (self.fragments, "packets are left out, because they are fragments of IP packets"),
            (self.no_times, "packets are left out, because they have no time"),
            (self.late, "packets are stored after later packets, and get the later packets' time"),
            (
                self.beyond,
                "packets are left out, because they belong to connections beyond the first 100,000",
            ),
        ] {
            if count > 0 {
                notes.push(format!("{count} {what}"));
            }
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "the time is needed only to the microsecond"
        )]
        let begin_s = self.begin_ns.map(|ns| ns as f64 / 1e9);
        Measurement { tool: "pcap", version: self.version, begin_s, flows, notes }
    }
}
