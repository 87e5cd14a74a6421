//! Compares the sender's internal state with the kernel's, ACK by ACK.
//!
//! The logs have the fields of the sender's socket just before each ACK is processed. The
//! comparison covers all fields that our sender also has, except private fields of the congestion
//! control.

use bbrlab_tcp::Sender;

use super::episode::Episode;
use super::row::PacketRow;
use super::sender::{self, algorithm, draws};
use super::{FirstMismatch, SideReport};
use crate::error::LogError;
use crate::table::Table;

/// The first columns of a file of sender states.
const COLUMNS: &str = "time_ns,ev,flow,ack";

/// Fields that contain a time or depend on times. If our application acts a clock step earlier or
/// later than the logged application, a time changes by a microsecond, and a pacing rate changes in
/// its last digits.
const TIMES: [&str; 5] = ["srtt_us", "mdev_us", "rack_rtt_us", "pacing_Bps", "rate_interval_us"];

/// The accepted relative error of the fields in [`TIMES`]: a microsecond in an RTT causes at most
/// this error. An absolute error of 4 in a field's own unit is also accepted. For `mdev_us`, whose
/// unit is a quarter of a microsecond, an error of 4 is one microsecond.
const TIME_TOLERANCE: f64 = 1e-4;

/// Compares the state of bbrlab's sender with that of the kernel's sender before each ACK of a
/// recorded episode. Compares nothing if the episode's log does not begin with the `connect()`
/// call, if both ends send data, or if bbrlab does not have the algorithm. Counts the rows in which
/// any field differs, and the rows that differ only in times and only by a microsecond.
///
/// # Errors
/// Fails if a file is missing or damaged.
pub fn sender_states(
    episode: &Episode,
) -> Result<(SideReport, u64, Option<FirstMismatch>), LogError> {
    let mut report = SideReport::default();
    let (mut by_a_step, mut first) = (0, None);
    let is_two_way = episode.reply_bytes != 0;
    if !episode.is_from_connect() || is_two_way || algorithm(episode).is_none() {
        return Ok((report, by_a_step, first));
    }
    let rows = super::packets(episode)?;
    let table = Table::load(&episode.state_path(), COLUMNS)?;
    let draws = draws(episode)?;
    let mut flows: Vec<u32> = rows.iter().map(|row| row.flow).collect();
    flows.sort_unstable();
    flows.dedup();
    for flow in flows {
        let name = flow.to_string();
        let mut logged =
            table.rows().iter().filter(|row| row[1] == "ack" && row[2] == name).peekable();
        let rows: Vec<PacketRow> = rows.iter().filter(|row| row.flow == flow).copied().collect();
        sender::replay(episode, &rows, draws.clone(), &mut |now, sender| {
            let time = now.0.to_string();
            let Some(row) = logged.next_if(|row| row[0] == time) else { return };
            report.packets += 1;
            let (mut is_off, mut is_off_by_a_step) = (false, false);
            snapshot(sender, &mut |field, got| {
                let Some(at) = table.position(field) else { return };
                let expected = row[at].as_str();
                if expected == got {
                    return;
                }
                if TIMES.contains(&field) && is_close(expected, &got) {
                    is_off_by_a_step = true;
                    return;
                }
                is_off = true;
                let expected = expected.to_owned();
                first.get_or_insert(FirstMismatch { time_ns: now.0, field, expected, got });
            });
            report.mismatches += u64::from(is_off);
            by_a_step += u64::from(is_off_by_a_step && !is_off);
        })?;
    }
    Ok((report, by_a_step, first))
}

fn is_close(expected: &str, got: &str) -> bool {
    let (Ok(expected), Ok(got)) = (expected.parse::<f64>(), got.parse::<f64>()) else {
        return false;
    };
    (expected - got).abs() <= (expected * TIME_TOLERANCE).max(4.0)
}

/// Calls `field` with the name and the value of each field of `sender`. Values have the same text
/// form as in the log of the kernel's states.
fn snapshot(sender: &Sender, field: &mut dyn FnMut(&'static str, String)) {
    let (info, conn) = (sender.info(), sender.conn());
    let or_empty = |value: Option<u32>| value.map_or_else(String::new, |value| value.to_string());
    let or_zero = |value: Option<u32>| value.unwrap_or(0).to_string();
    field("cwnd", info.cwnd.to_string());
    field("ssthresh", or_empty(info.ssthresh));
    field("packets_out", info.packets_out.to_string());
    field("sacked_out", info.sacked_out.to_string());
    field("lost_out", info.lost_out.to_string());
    field("retrans_out", info.retrans_out.to_string());
    field("ca_state", (info.ca_state as u8).to_string());
    field("srtt_us", format!("{}.{:03}", info.srtt_us >> 3, (info.srtt_us & 7) * 125));
    field("mdev_us", info.mdev_us.to_string());
    field("rttvar_us", info.rttvar_us.to_string());
    field("rto_us", info.rto_us.to_string());
    field("snd_una", info.snd_una.to_string());
    field("snd_nxt", info.snd_nxt.to_string());
    field("write_seq", info.write_seq.to_string());
    field("snd_wnd", info.snd_wnd.to_string());
    field("prior_cwnd", info.prior_cwnd.to_string());
    field("prr_delivered", info.prr_delivered.to_string());
    field("prr_out", info.prr_out.to_string());
    field("undo_marker", or_zero(info.undo_marker));
    field("undo_retrans", info.undo_retrans.to_string());
    field("reordering", info.reordering.to_string());
    field("rack_rtt_us", info.rack_rtt_us.to_string());
    field("rack_steps", info.rack_steps.to_string());
    field("min_rtt_us", or_empty(Some(conn.min_rtt_us).filter(|&min| min != u32::MAX)));
    field("tlp_high_seq", or_zero(info.tlp_high_seq));
    field("delivered", conn.delivered.to_string());
    field("lost", info.lost.to_string());
    field("total_retrans", info.total_retrans.to_string());
    field("delivered_ce", conn.delivered_ce.to_string());
    field("app_limited", conn.ctl.app_limited.to_string());
    field("cwnd_cnt", conn.ctl.cwnd_cnt.to_string());
    field("cwnd_limited", u8::from(conn.is_cwnd_limited).to_string());
    field("max_packets_out", conn.max_packets_out.to_string());
    field("timer", (info.timer as u8).to_string());
    field("backoff", info.backoff.to_string());
    field("retransmits", info.retransmits.to_string());
    field("probes_out", info.probes_out.to_string());
    field("dsack_dups", info.dsack_dups.to_string());
    let rate = conn.ctl.pacing_rate;
    field("pacing_Bps", if rate == u64::MAX { String::new() } else { rate.to_string() });
}
