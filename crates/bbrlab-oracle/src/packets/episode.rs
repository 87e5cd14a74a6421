//! Reads `episodes.csv`, the list of packet logs (episodes). The list has, for each episode, the
//! settings of the network and of the hosts, the application's behaviour, and the expected counts
//! of packets.

use std::path::{Path, PathBuf};

use bbrlab_units::{Span, Time};

use crate::error::{LogError, Unsupported};
use crate::table::Table;

/// The columns of `episodes.csv`.
const COLUMNS: &str = "name,cc,rate_mbps,rtt_ms,buffer_pkts,forced,forced_resolved,app,settings,from_s,to_s,wscale,jiffies0,data_out,retrans,lost_data,lost_acks,see";

/// The behaviour of the sending application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum App {
    /// Writes data until the end of the run.
    Unlimited,
    /// Calls `send()` at each of these times, each time with the given number of bytes.
    Script(Vec<(Time, u64)>),
    /// Opens several connections, one after the other, and sends the same number of bytes on each.
    /// In these episodes, both ends close a connection 100 ms after the receiver has read the last
    /// byte.
    Transfers {
        /// Number of connections.
        count: u32,
        /// Bytes per connection.
        bytes: u64,
    },
}

/// An episode: a packet log with the settings of the run in which it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings")]
pub struct Episode {
    /// The episode's name.
    pub name: String,
    /// The kernel's name of the congestion control.
    pub cc: String,
    /// The bottleneck's rate in bits per second.
    pub rate_bps: u64,
    /// The path's RTT, without the time of serialisation.
    pub rtt: Span,
    /// Capacity of the bottleneck's queue in packets, without the packet in service.
    pub buffer_pkts: u64,
    /// The behaviour of the sending application.
    pub app: App,
    /// Bytes that the receiving application writes back after each read; 0 if it writes nothing.
    pub reply_bytes: u64,
    /// Start and end of a period in which the receiving application does not read.
    pub no_read: Option<(Time, Time)>,
    /// Whether each TSO burst crosses the network as one packet.
    pub tso_whole: bool,
    /// Whether the sender's host has the qdisc `fq`.
    pub fq: bool,
    /// Whether the sender's application sets `TCP_NODELAY`, which disables Nagle's algorithm.
    pub nodelay: bool,
    /// Whether TCP timestamps are on.
    pub timestamps: bool,
    /// The value of `SO_RCVBUF` that the receiving application sets; `None` if it sets none.
    pub so_rcvbuf: Option<u32>,
    /// The value of `SO_RCVLOWAT` that the receiving application sets; `None` if it sets none.
    pub rcvlowat: Option<u32>,
    /// The value of `TCP_WINDOW_CLAMP` that the receiving application sets; `None` if it sets none.
    pub window_clamp: Option<u32>,
    /// Whether ECN is negotiated.
    pub ecn: bool,
    /// Whether the receiver uses the sender's congestion control.
    pub cc_on_both: bool,
    /// Start of the log; 0 if the log begins with the `connect()` call.
    pub from: Time,
    /// End of the log.
    pub to: Time,
    /// The window scales of the sender and of the receiver.
    pub wscale: (u8, u8),
    /// The kernel's jiffies at time 0 of the episode.
    pub jiffies0: u32,
    /// Counts of packets in the log, in this order: data packets sent (including retransmissions),
    /// retransmissions, lost data packets, lost ACKs.
    pub counts: [(&'static str, u64); 4],
    dir: PathBuf,
}

impl Episode {
    /// Whether the log begins with the `connect()` call.
    #[must_use]
    pub fn is_from_connect(&self) -> bool {
        self.from == Time::ZERO
    }

    /// Returns the path of the packet log.
    pub(super) fn packets_path(&self) -> PathBuf {
        self.dir.join(format!("{}.packets.csv.gz", self.name))
    }

    /// Returns the path of the log of the sender's states.
    pub(super) fn state_path(&self) -> PathBuf {
        self.dir.join(format!("{}.state.csv.gz", self.name))
    }

    /// Returns the path of the log of the receiver's states.
    pub(super) fn rcv_path(&self) -> PathBuf {
        self.dir.join(format!("{}.rcv.csv.gz", self.name))
    }
}

/// The episodes in `DIR/episodes.csv`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Episodes {
    /// The episodes that can be replayed.
    pub known: Vec<Episode>,
    /// The episodes that cannot be replayed, because of their settings or their application.
    pub unsupported: Vec<Unsupported>,
}

/// Reads `DIR/episodes.csv`.
///
/// # Errors
/// Fails if the file is missing or damaged.
pub(super) fn load(dir: &Path) -> Result<Episodes, LogError> {
    let path = dir.join("episodes.csv");
    let table = Table::load(&path, COLUMNS)?;
    let mut episodes = Episodes::default();
    for (at, cells) in table.rows().iter().enumerate() {
        let bad = |reason| LogError::BadRow { path: path.clone(), row: at + 1, reason };
        let [
            name,
            cc,
            rate,
            rtt,
            buffer,
            _forced,
            _resolved,
            app,
            settings,
            from,
            to,
            wscale,
            jiffies0,
            data_out,
            retrans,
            lost_data,
            lost_acks,
            _see,
        ] = cells.as_slice()
        else {
            return Err(bad("expected 18 cells in a row".to_owned()));
        };
        let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        if name.is_empty() || !is_plain {
            let expected = "letters, digits, `_`, `-` and `.`";
            return Err(bad(format!("name: found `{name}`, expected {expected}")));
        }
        let count = |column: &'static str, cell: &str| match cell.parse() {
            Ok(count) => Ok((column, count)),
            Err(_) => Err(bad(format!("{column}: found `{cell}`, expected a number"))),
        };
        let seconds_of = |column: &str, cell: &str| {
            seconds(cell)
                .ok_or_else(|| bad(format!("{column}: found `{cell}`, expected a decimal number")))
        };
        let mut episode = Episode {
            name: name.clone(),
            cc: cc.clone(),
            rate_bps: seconds_of("rate_mbps", rate)?.0 / 1000,
            rtt: Span(seconds_of("rtt_ms", rtt)?.0 / 1000),
            buffer_pkts: count("buffer_pkts", buffer)?.1,
            app: App::Unlimited,
            reply_bytes: 0,
            no_read: None,
            tso_whole: false,
            fq: false,
            nodelay: false,
            timestamps: true,
            so_rcvbuf: None,
            rcvlowat: None,
            window_clamp: None,
            ecn: false,
            cc_on_both: false,
            from: seconds_of("from_s", from)?,
            to: seconds_of("to_s", to)?,
            wscale: parse_wscale(wscale).ok_or_else(|| {
                bad(format!("wscale: found `{wscale}`, expected a text such as `s=12;d=12`"))
            })?,
            jiffies0: jiffies0
                .parse()
                .map_err(|_| bad(format!("jiffies0: found `{jiffies0}`, expected a number")))?,
            counts: [
                count("data_out", data_out)?,
                count("retrans", retrans)?,
                count("lost_data", lost_data)?,
                count("lost_acks", lost_acks)?,
            ],
            dir: dir.to_owned(),
        };
        if episode.rate_bps == 0 {
            return Err(bad(format!("rate_mbps: found `{rate}`, expected more than 0")));
        }
        match parse_app(&mut episode, app).and_then(|()| parse_settings(&mut episode, settings)) {
            Ok(()) => episodes.known.push(episode),
            Err(unsupported) => episodes.unsupported.push(unsupported),
        }
    }
    Ok(episodes)
}

/// Converts a decimal number of seconds to nanoseconds, exactly.
fn seconds(cell: &str) -> Option<Time> {
    let (whole, fraction) = cell.split_once('.').unwrap_or((cell, ""));
    let is_digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let nanos: u64 = format!("{fraction:0<9}").parse().ok()?;
    Some(Time(whole.checked_mul(1_000_000_000)?.checked_add(nanos)?))
}

fn parse_wscale(cell: &str) -> Option<(u8, u8)> {
    let (sender, receiver) = cell.split_once(';')?;
    let sender = sender.strip_prefix("s=")?.parse().ok()?;
    let receiver = receiver.strip_prefix("d=")?.parse().ok()?;
    Some((sender, receiver))
}

fn parse_app(episode: &mut Episode, cell: &str) -> Result<(), Unsupported> {
    let unknown = || Unsupported {
        episode: episode.name.clone(),
        column: "app",
        found: cell.to_owned(),
        expected: "`unlimited`, `script: T:B ...` or `N transfers of B B; ...`",
    };
    let mut parts = cell.split("; ");
    let source = parts.next().unwrap_or("");
    let mut app = if source == "unlimited" {
        App::Unlimited
    } else if let Some(script) = source.strip_prefix("script: ") {
        App::Script(parse_script(script).ok_or_else(unknown)?)
    } else {
        parse_transfers(source).ok_or_else(unknown)?
    };
    for part in parts {
        if let Some(span) = part.strip_prefix("receiver does not read from ") {
            let (from, to) = span.split_once(" to ").ok_or_else(unknown)?;
            let time = |cell: &str| cell.strip_suffix('s').and_then(seconds).ok_or_else(unknown);
            episode.no_read = Some((time(from)?, time(to)?));
        } else if let Some(reply) = part.strip_prefix("the receiver's application writes ") {
            let bytes = reply.strip_suffix(" B after each read").and_then(|b| b.parse().ok());
            episode.reply_bytes = bytes.ok_or_else(unknown)?;
        } else if matches!(app, App::Transfers { .. })
            && part.starts_with("both applications close 100 ms after")
        {
            // In every episode with transfers, both applications close 100 ms after the last read,
            // so `App` has no field for the time of closing.
        } else {
            return Err(unknown());
        }
    }
    std::mem::swap(&mut episode.app, &mut app);
    Ok(())
}

fn parse_script(script: &str) -> Option<Vec<(Time, u64)>> {
    script
        .split_whitespace()
        .map(|write| {
            let (time, bytes) = write.split_once(':')?;
            let time = seconds(time.strip_suffix('s')?)?;
            Some((time, bytes.strip_suffix('B')?.parse().ok()?))
        })
        .collect()
}

fn parse_transfers(source: &str) -> Option<App> {
    let (count, bytes) = source.split_once(" transfers of ")?;
    let count = match count {
        "two" => 2,
        "three" => 3,
        "four" => 4,
        digits => digits.parse().ok()?,
    };
    Some(App::Transfers { count, bytes: bytes.strip_suffix(" B")?.parse().ok()? })
}

fn parse_settings(episode: &mut Episode, cell: &str) -> Result<(), Unsupported> {
    let name = episode.name.clone();
    let unknown = || Unsupported {
        episode: name.clone(),
        column: "settings",
        found: cell.to_owned(),
        expected: "`tso=on at the sender`, `sender qdisc fq`, `TCP_NODELAY`, `timestamps=0`, `tcp_ecn=1`, `CC on both sockets`, `SO_RCVBUF N`, `SO_RCVLOWAT N`, `window scale N at the receiver`",
    };
    for part in cell.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()) {
        let at_receiver = part.strip_suffix(" at the receiver").unwrap_or(part);
        if part == "tso=on at the sender" {
            episode.tso_whole = true;
        } else if part == "sender qdisc fq" {
            episode.fq = true;
        } else if part.strip_suffix(" at the sender").unwrap_or(part) == "TCP_NODELAY" {
            episode.nodelay = true;
        } else if part == "timestamps=0" {
            episode.timestamps = false;
        } else if part == "tcp_ecn=1" {
            episode.ecn = true;
        } else if part.strip_suffix(" on both sockets") == Some(episode.cc.as_str()) {
            episode.cc_on_both = true;
        } else if let Some(bytes) = at_receiver.strip_prefix("SO_RCVBUF ") {
            episode.so_rcvbuf = Some(bytes.parse().map_err(|_| unknown())?);
        } else if let Some(bytes) = at_receiver.strip_prefix("SO_RCVLOWAT ") {
            episode.rcvlowat = Some(bytes.parse().map_err(|_| unknown())?);
        } else if let Some(scale) = at_receiver.strip_prefix("window scale ") {
            let scale: u32 = scale.parse().map_err(|_| unknown())?;
            if scale > 14 {
                return Err(unknown());
            }
            episode.window_clamp = Some(65_535 << scale);
        } else {
            return Err(unknown());
        }
    }
    Ok(())
}
