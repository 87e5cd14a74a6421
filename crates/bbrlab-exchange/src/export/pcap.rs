//! Exports a run's packets as a pcap file with times in nanoseconds: the headers of all packets at
//! the sending hosts, as `tcpdump -s 96` on these hosts would write them. Time 0 is the start of
//! the run.
//!
//! Sources: draft-ietf-opsawg-pcap-05.

use std::io::Write;
use std::path::{Path, PathBuf};

use bbrlab_lab::{LabError, Unwritten, write_new_by};
use bbrlab_sim::{PacketEvent, flag};

use super::header::Packet;
use super::replay::Replay;

/// The name of the exported file.
const NAME: &str = "run.pcap";

/// The length in bytes of the longest headers: Ethernet, IPv4, and TCP with 40 bytes of options.
const SNAPLEN: u32 = 14 + 20 + 60;

/// The largest allowed size of the file, in bytes.
const BYTES_MAX: u64 = 8 << 30;

/// Simulates the run in `folder` again, and writes its packets into a file in `out`, or in `folder`
/// if `out` is `None`. Returns the file's name.
///
/// # Errors
/// Fails if the folder has no run of the simulator, if the file exists and `force` is false, if the
/// file would have more than 8 GiB, or if the run cannot be repeated exactly.
pub fn export_pcap(folder: &Path, out: Option<&Path>, force: bool) -> Result<PathBuf, LabError> {
    let replay = Replay::open(folder)?;
    let path = out.unwrap_or(folder).join(NAME);
    write_new_by(&path, force, |file| write_packets(file, &replay, &path))?;
    Ok(path)
}

fn write_packets(file: &mut impl Write, replay: &Replay, path: &Path) -> Result<(), Unwritten> {
    let mut header = Vec::with_capacity(24);
    for word in [0xa1b2_3c4d_u32, 2 | 4 << 16, 0, 0, SNAPLEN, 1] {
        header.extend(word.to_le_bytes());
    }
    file.write_all(&header)?;
    let mut connections = vec![0_u32; replay.run.flows.len()];
    let (mut record, mut written) = (Vec::new(), 0);
    replay.packets(|event| {
        encode(event, replay, &mut connections, &mut record);
        written += record.len() as u64;
        if written > BYTES_MAX {
            let reason = format!(
                "{}: would have more than {BYTES_MAX} bytes; export a run with a shorter `duration`",
                path.display()
            );
            return Err(Unwritten::Without(LabError::Usage(reason)));
        }
        Ok(file.write_all(&record)?)
    })
}

/// Writes the pcap record of a packet into `record`: the record's header, then the packet's
/// headers.
fn encode(event: &PacketEvent, replay: &Replay, connections: &mut Vec<u32>, record: &mut Vec<u8>) {
    let PacketEvent { at, flow, class, is_sent, segment } = event;
    let place = *flow as usize;
    if connections.len() <= place {
        connections.resize(place + 1, 0);
    }
    let is_first_syn = *is_sent
        && segment.has(flag::SYN)
        && !segment.has(flag::ACK)
        && segment.retransmission == 0;
    if is_first_syn {
        connections[place] += 1;
    }
    let class = &replay.run.classes[*class as usize];
    record.clear();
    record.extend([0; 16]);
    let length = Packet {
        flow: *flow,
        connection: connections[place].saturating_sub(1),
        is_sent: *is_sent,
        mss: class.mss,
        dscp: class.settings.dscp,
        segment,
    }
    .encode(record);
    let captured = u32::try_from(record.len() - 16).expect("the headers have at most 94 bytes");
    let seconds = u32::try_from(at.0 / 1_000_000_000).unwrap_or(u32::MAX);
    let nanos = u32::try_from(at.0 % 1_000_000_000).expect("the rest is less than a second");
    for (place, word) in [seconds, nanos, captured, length].into_iter().enumerate() {
        record[4 * place..4 * place + 4].copy_from_slice(&word.to_le_bytes());
    }
}
