//! Reads and checks the settings of a test point (a scenario on one kernel): how its network
//! differs from a plain dumbbell.
//!
//! A point may combine several settings. An unsupported combination or an unknown value is an
//! error: ignoring it would mean comparing two different networks.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use super::reference::{ReferencePoint, SECOND_RATE, base_rtt_ms};

/// All keys that the column `settings` may contain.
const KNOWN: [&str; 28] = [
    "ack_buffer_pkts",
    "ack_rate_mbps",
    "ack_slot",
    "app_bytes",
    "app_interval_ms",
    "bottleneck",
    "ce_threshold_ms",
    "count",
    "data_slot",
    "ecn",
    "ecn_enable",
    "ecn_low",
    "ecn_max_rtt_us",
    "gap_ms",
    "hz",
    "police",
    "qdisc",
    "quickack",
    "rate2_mbps",
    "rcvlowat",
    "reorder_ms",
    "reorder_pct",
    "rev_buffer_pkts",
    "rev_rate_mbps",
    "rwnd",
    "sender_qdisc",
    "transfer_bytes",
    "tso",
];

/// The settings of a test point.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Settings {
    pub(super) application: Application,
    pub(super) stack: Stack,
    pub(super) ecn: Ecn,
    pub(super) queue: QueueKind,
    /// The policer in front of the bottleneck, in the syntax of `tc`; `None` without a policer.
    pub(super) police: Option<String>,
    pub(super) reverse: Reverse,
    pub(super) reorder: Option<Reorder>,
    /// The slots of the `netem` that delays each flow's data, in the syntax of `tc`; `None` without
    /// slots.
    pub(super) data_slot: Option<String>,
    /// The slots of the `netem` that delays each flow's ACKs, in the syntax of `tc`; `None` without
    /// slots.
    pub(super) ack_slot: Option<String>,
    pub(super) bbr2: Bbr2,
}

/// How a flow's application sends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Application {
    /// Writes without end.
    #[default]
    Endless,
    /// Writes `bytes` bytes every `every_ms` ms.
    Interval { bytes: u64, every_ms: f64 },
    /// Sends `count` transfers of `bytes` bytes, each on a new connection.
    Train { bytes: u64, count: u64, gap_ms: f64 },
}

/// The settings of the sending and receiving hosts, such as the queue discipline and the timer
/// frequency.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stack {
    pub(super) rcvlowat: Option<u64>,
    pub(super) has_tso: bool,
    pub(super) sender_qdisc: Option<String>,
    pub(super) hz: Option<u64>,
    pub(super) rwnd: Option<u64>,
    pub(super) quickack: bool,
}

/// Whether both hosts use explicit congestion notification (ECN).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ecn {
    #[default]
    Off,
    On,
    /// ECN is on, and the route has the feature `ecn_low`, which BBRv3 requires.
    Low,
}

/// The kind of queue at the bottleneck.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum QueueKind {
    /// `netem` with a rate.
    #[default]
    Netem,
    /// A token bucket with a FIFO queue.
    Tbf,
    /// A token bucket with the discipline `codel`, which marks packets whose sojourn time exceeds
    /// the threshold.
    TbfCodel { ce_threshold_ms: f64 },
    /// An exact serialiser after a queue discipline; `words` is the discipline in the syntax of
    /// `tc`. If `second_rate_mbps` is set, a second serialiser with that rate follows.
    Discipline { words: String, second_rate_mbps: Option<f64> },
}

/// The link with a rate on the reverse path, if there is one. The reverse path also has a delay.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Reverse {
    /// No link with a rate, only a delay.
    #[default]
    Free,
    /// A link with the bottleneck's kind of queue, which carries only ACKs.
    Acks { rate_mbps: f64, buffer_pkts: u64 },
    /// A link with the bottleneck's kind of queue. Every second flow sends its data over this link,
    /// so both directions carry data and ACKs.
    TwoWay { rate_mbps: f64, buffer_pkts: u64 },
}

/// Reordering: data packets are delayed by `by_ms` milliseconds, except for the share `ratio` of
/// the packets, which are not delayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reorder {
    pub(super) ratio: f64,
    pub(super) by_ms: f64,
}

/// Parameters of BBRv2's module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bbr2 {
    pub(super) ecn_enable: bool,
    pub(super) ecn_max_rtt_us: Option<u64>,
}

impl Settings {
    /// Reads the settings of a test point.
    ///
    /// # Errors
    /// Fails if a key or a value is unknown, or if our scenarios cannot combine the settings.
    pub(super) fn of(point: &ReferencePoint) -> Result<Self, String> {
        if let Some(key) = point.settings.keys().find(|key| !KNOWN.contains(&key.as_str())) {
            return Err(format!("unknown key `{key}` in column `settings`"));
        }
        let mut left = Left(point.settings.clone());
        let settings = Self {
            application: left.application()?,
            stack: left.stack()?,
            ecn: left.ecn()?,
            queue: left.queue()?,
            police: left.0.remove("police"),
            reverse: left.reverse()?,
            reorder: left.reorder()?,
            data_slot: left.0.remove("data_slot"),
            ack_slot: left.0.remove("ack_slot"),
            bbr2: Bbr2 {
                ecn_enable: left.flag("ecn_enable")?,
                ecn_max_rtt_us: left.number("ecn_max_rtt_us")?,
            },
        };
        debug_assert!(left.0.is_empty(), "each known key is read");
        settings.check(point)?;
        Ok(settings)
    }

    /// Returns an error if our scenarios cannot combine the settings.
    fn check(&self, point: &ReferencePoint) -> Result<(), String> {
        let has_discipline = matches!(self.queue, QueueKind::Discipline { .. });
        let has_second =
            matches!(self.queue, QueueKind::Discipline { second_rate_mbps: Some(_), .. });
        let has_reverse = self.reverse != Reverse::Free;
        let reverse = match self.reverse {
            Reverse::TwoWay { .. } => "rev_rate_mbps",
            _ => "ack_rate_mbps",
        };
        let has_slots = self.data_slot.is_some() || self.ack_slot.is_some();
        let has_loss = point.loss > 0.0;
        if self.police.is_some() && !has_discipline {
            return Err("`police`: expected `qdisc` as well".to_owned());
        }
        let refused = [
            (self.police.is_some() && has_second, "police", SECOND_RATE),
            (has_discipline && has_reverse, "qdisc", reverse),
            (has_discipline && point.family == "6_step", "qdisc", "the rates of `6_step`"),
            (has_second && has_slots, SECOND_RATE, "slots"),
            (has_second && has_loss, SECOND_RATE, "loss"),
            (has_second && self.reorder.is_some(), SECOND_RATE, "reorder_ms"),
            (self.data_slot.is_some() && self.reorder.is_some(), "data_slot", "reorder_ms"),
        ];
        for (is_refused, setting, other) in refused {
            if is_refused {
                return Err(format!("`{setting}` cannot be combined with {}", quoted(other)));
            }
        }
        if let Some(Reorder { by_ms, .. }) = self.reorder {
            let flows = point.seeds.iter().flat_map(|run| &run.flows);
            if let Some(flow) = flows.into_iter().find(|flow| base_rtt_ms(flow) < by_ms) {
                let (id, rtt) = (flow.id, base_rtt_ms(flow));
                return Err(format!(
                    "reorder_ms: found {by_ms}, expected at most the RTT of flow {id}, {rtt} ms"
                ));
            }
        }
        Ok(())
    }

    /// Whether ECN is negotiated. Only with negotiated ECN can packets be marked with CE.
    pub(super) fn has_marks(&self) -> bool {
        self.ecn != Ecn::Off
    }

    /// Whether the bottleneck drops packets before its buffer is full: by its queue discipline or
    /// by a policer.
    pub(super) fn drops_early(&self) -> bool {
        let tail_drop = ["pfifo", "fq", "sfq"];
        match &self.queue {
            QueueKind::Discipline { words, .. } => {
                self.police.is_some()
                    || !tail_drop.contains(&words.split(' ').next().unwrap_or_default())
            }
            _ => false,
        }
    }
}

/// Puts a key in backticks; leaves text with spaces unchanged.
fn quoted(key: &str) -> String {
    if key.contains(' ') { key.to_owned() } else { format!("`{key}`") }
}

/// The settings that have not been read yet: keys with their values.
struct Left(BTreeMap<String, String>);

impl Left {
    /// Reads the number that is the value of a key; `None` if the key is not set.
    fn number<N: FromStr + PartialOrd + Default + Display>(
        &mut self,
        key: &str,
    ) -> Result<Option<N>, String> {
        let Some(text) = self.0.remove(key) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| *number >= N::default());
        number.map(Some).ok_or_else(|| format!("{key}: found {text:?}, expected a number"))
    }

    /// Reads the number that is the value of a key. The key must be set, because `other` is set.
    fn other_number<N: FromStr + PartialOrd + Default + Display>(
        &mut self,
        key: &str,
        other: &str,
    ) -> Result<N, String> {
        self.number(key)?.ok_or_else(|| format!("`{other}`: expected `{key}` as well"))
    }

    /// Reads whether the setting `key` is on.
    fn flag(&mut self, key: &str) -> Result<bool, String> {
        match self.0.remove(key).as_deref() {
            None | Some("0" | "off" | "False") => Ok(false),
            Some("1" | "on" | "True") => Ok(true),
            Some(other) => Err(format!("{key}: found {other:?}, expected 1 or 0")),
        }
    }

    fn application(&mut self) -> Result<Application, String> {
        let interval = self.number("app_bytes")?;
        let train = self.number("transfer_bytes")?;
        if let (Some(_), Some(_)) = (interval, train) {
            return Err("`app_bytes` cannot be combined with `transfer_bytes`".to_owned());
        }
        if let Some(bytes) = interval {
            let every_ms = self.other_number("app_interval_ms", "app_bytes")?;
            return Ok(Application::Interval { bytes, every_ms });
        }
        if let Some(bytes) = train {
            let count = self.other_number("count", "transfer_bytes")?;
            let gap_ms = self.other_number("gap_ms", "transfer_bytes")?;
            return Ok(Application::Train { bytes, count, gap_ms });
        }
        self.alone("app_interval_ms", "app_bytes")?;
        self.alone("count", "transfer_bytes")?;
        self.alone("gap_ms", "transfer_bytes")?;
        Ok(Application::Endless)
    }

    /// Returns an error if `key` is set although `other` is not: `key` would have no effect.
    fn alone(&self, key: &str, other: &str) -> Result<(), String> {
        if self.0.contains_key(key) {
            return Err(format!("`{key}`: expected `{other}` as well"));
        }
        Ok(())
    }

    fn stack(&mut self) -> Result<Stack, String> {
        Ok(Stack {
            rcvlowat: self.number("rcvlowat")?,
            has_tso: self.flag("tso")?,
            sender_qdisc: self.0.remove("sender_qdisc"),
            hz: self.number("hz")?,
            rwnd: self.number("rwnd")?,
            quickack: self.flag("quickack")?,
        })
    }

    fn ecn(&mut self) -> Result<Ecn, String> {
        let (is_on, is_low) = (self.flag("ecn")?, self.flag("ecn_low")?);
        Ok(match (is_low, is_on) {
            (true, _) => Ecn::Low,
            (false, true) => Ecn::On,
            (false, false) => Ecn::Off,
        })
    }

    fn queue(&mut self) -> Result<QueueKind, String> {
        let second_rate_mbps = self.number(SECOND_RATE)?;
        let mut kinds = Vec::new();
        if let Some(words) = self.0.remove("qdisc") {
            kinds.push(("qdisc", QueueKind::Discipline { words, second_rate_mbps }));
        } else if second_rate_mbps.is_some() {
            return Err(format!("`{SECOND_RATE}`: expected `qdisc` as well"));
        }
        if let Some(words) = self.0.remove("bottleneck") {
            if words != "tbf+pfifo" {
                return Err(format!("bottleneck: found {words:?}, expected tbf+pfifo"));
            }
            kinds.push(("bottleneck", QueueKind::Tbf));
        }
        if let Some(ce_threshold_ms) = self.number("ce_threshold_ms")? {
            kinds.push(("ce_threshold_ms", QueueKind::TbfCodel { ce_threshold_ms }));
        }
        if let [(first, _), (second, _), ..] = kinds.as_slice() {
            return Err(format!("`{first}` cannot be combined with `{second}`"));
        }
        Ok(kinds.pop().map(|(_, kind)| kind).unwrap_or_default())
    }

    fn reverse(&mut self) -> Result<Reverse, String> {
        let two_way = self.number("rev_rate_mbps")?;
        let acks = self.number("ack_rate_mbps")?;
        if let (Some(_), Some(_)) = (two_way, acks) {
            return Err("`rev_rate_mbps` cannot be combined with `ack_rate_mbps`".to_owned());
        }
        if let Some(rate_mbps) = two_way {
            let buffer_pkts = self.other_number("rev_buffer_pkts", "rev_rate_mbps")?;
            return Ok(Reverse::TwoWay { rate_mbps, buffer_pkts });
        }
        if let Some(rate_mbps) = acks {
            let buffer_pkts = self.other_number("ack_buffer_pkts", "ack_rate_mbps")?;
            return Ok(Reverse::Acks { rate_mbps, buffer_pkts });
        }
        self.alone("rev_buffer_pkts", "rev_rate_mbps")?;
        self.alone("ack_buffer_pkts", "ack_rate_mbps")?;
        Ok(Reverse::Free)
    }

    fn reorder(&mut self) -> Result<Option<Reorder>, String> {
        let Some(by_ms) = self.number("reorder_ms")? else {
            self.alone("reorder_pct", "reorder_ms")?;
            return Ok(None);
        };
        let percent: f64 = self.other_number("reorder_pct", "reorder_ms")?;
        Ok(Some(Reorder { ratio: percent / 100.0, by_ms }))
    }
}
