//! `[[flows]]`: who sends, when, what and how.

use std::sync::Arc;

use bbrlab_cc::{Algorithm, ParamValue, Params};
use bbrlab_units::{Bytes, Span};

use crate::canonical::{Writer, toml_key, toml_string};
use crate::document::{At, Node, Value};
use crate::nearest::nearest;
use crate::quantity::{show_rate, show_span};
use crate::reader::{Keys, Placed, Reader, found};
use crate::stack::read_mss;
use bbrlab_run::Source;
use bbrlab_stack::EcnMode;

/// The most flows of one run. Event keys have 24 bits for a flow or a link, and each flow takes kilobytes.
pub(crate) const FLOWS_MAX: u64 = 1 << 20;

/// A `[[flows]]` with the defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct FlowSpec {
    pub(crate) at: At,
    pub(crate) cc: Algorithm,
    pub(crate) cc_params: Params,
    pub(crate) rtt: Option<Placed<Span>>,
    pub(crate) left_delay: Option<Placed<Span>>,
    pub(crate) right_delay: Option<Placed<Span>>,
    pub(crate) left_link: Option<Placed<Arc<str>>>,
    pub(crate) right_link: Option<Placed<Arc<str>>>,
    pub(crate) path: Option<Vec<Placed<Arc<str>>>>,
    pub(crate) return_path: Option<Vec<Placed<Arc<str>>>>,
    pub(crate) count: u64,
    pub(crate) start: Span,
    pub(crate) start_step: Span,
    pub(crate) start_jitter: Span,
    pub(crate) stop: Option<Span>,
    pub(crate) ecn: EcnMode,
    pub(crate) mss: Option<u32>,
    pub(crate) source: Source,
}

/// The longest path.
const PATH_MAX: usize = 1000;

const LINK_NAMES: &str = "a list of 1 to 1000 names of [[links]] such as [\"a\", \"b\"]";

impl FlowSpec {
    /// `None` only where there is no telling which algorithm is meant.
    pub(crate) fn read(reader: &mut Reader<'_>, mut keys: Keys<'_>) -> Option<Self> {
        let path = keys.path.clone();
        let name = |key: &str| format!("{path}.{key}");
        let cc = reader.needed(
            &mut keys,
            "cc",
            "a congestion control such as \"bbr1\"",
            |reader, node, name| read_cc(reader, node, name),
        );
        let params = keys.take("cc_params");
        let cc_params =
            params.and_then(|node| read_cc_params(reader, node, &name("cc_params"), cc));
        let mut flow = Self {
            at: keys.at,
            cc: cc.unwrap_or(Algorithm::Reno),
            cc_params: cc_params.unwrap_or_default(),
            rtt: None,
            left_delay: None,
            right_delay: None,
            left_link: None,
            right_link: None,
            path: None,
            return_path: None,
            count: 1,
            start: Span::ZERO,
            start_step: Span::ZERO,
            start_jitter: Span::ZERO,
            stop: None,
            ecn: EcnMode::Off,
            mss: None,
            source: Source::Unlimited,
        };
        flow.read_times(reader, &mut keys);
        flow.read_way(reader, &mut keys);
        if let Some(node) = keys.take("ecn") {
            flow.ecn = read_ecn(reader, node, &name("ecn")).unwrap_or(EcnMode::Off);
        }
        if let Some(node) = keys.take("mss") {
            flow.mss = read_mss(reader, node, &name("mss"));
        }
        flow.source = read_source(reader, &mut keys).unwrap_or(Source::Unlimited);
        keys.finish(reader);
        cc.map(|_| flow)
    }

    fn read_times(&mut self, reader: &mut Reader<'_>, keys: &mut Keys<'_>) {
        let path = keys.path.clone();
        let name = |key: &str| format!("{path}.{key}");
        if let Some(node) = keys.take("count") {
            self.count = reader.integer(node, &name("count"), 1, FLOWS_MAX).unwrap_or(1);
        }
        if let Some(node) = keys.take("start") {
            self.start = reader.span(node, &name("start")).unwrap_or_default();
        }
        if let Some(node) = keys.take("start_step") {
            self.start_step = reader.span(node, &name("start_step")).unwrap_or_default();
        }
        if let Some(node) = keys.take("start_jitter") {
            self.start_jitter = reader.span(node, &name("start_jitter")).unwrap_or_default();
        }
        if let Some(node) = keys.take("stop") {
            self.stop = reader.positive_span(node, &name("stop"));
            // The last of `count` flows starts at the latest here.
            let steps = u128::from(self.start_step.0) * u128::from(self.count - 1);
            let last = u128::from(self.start.0)
                + steps
                + u128::from(self.start_jitter.0.saturating_sub(1));
            if self.stop.is_some_and(|stop| u128::from(stop.0) <= last) {
                let title = format!("`{}`: expected a time after the start", name("stop"));
                let last = show_span(Span(u64::try_from(last).unwrap_or(u64::MAX)));
                let found = format!("found {}; the flow starts at {last}", found(&node.value));
                reader.problem(node.at, title, found, Vec::new());
            }
        }
    }

    fn read_way(&mut self, reader: &mut Reader<'_>, keys: &mut Keys<'_>) {
        let base = keys.path.clone();
        let name = |key: &str| format!("{base}.{key}");
        let mut delay = |keys: &mut Keys<'_>, key: &'static str| {
            let node = keys.take(key)?;
            reader.span(node, &name(key)).map(|value| Placed { value, at: node.at })
        };
        self.rtt = delay(keys, "rtt");
        self.left_delay = delay(keys, "left_delay");
        self.right_delay = delay(keys, "right_delay");
        let mut link = |keys: &mut Keys<'_>, key: &'static str| {
            let node = keys.take(key)?;
            reader.text(node, &name(key)).map(|text| Placed { value: text.into(), at: node.at })
        };
        self.left_link = link(keys, "left_link");
        self.right_link = link(keys, "right_link");
        if let Some(node) = keys.take("path") {
            self.path = read_path(reader, node, &name("path"));
        }
        if let Some(node) = keys.take("return_path") {
            self.return_path = read_path(reader, node, &name("return_path"));
        }
        for (key, given) in [("left_delay", &self.left_delay), ("right_delay", &self.right_delay)] {
            if let (Some(rtt), Some(_)) = (&self.rtt, given) {
                let title = format!("`{}`: expected either `rtt` or explicit delays", name("rtt"));
                let found = format!("found `{key}` beside it");
                reader.problem(rtt.at, title, found, Vec::new());
                break;
            }
        }
        for key in ["left_link", "right_link"] {
            if let (true, Some(at)) = (keys.has("path"), keys.key_at(key)) {
                let title = format!("`{}`: expected either `path` or access links", name(key));
                reader.problem(
                    at,
                    title,
                    "found both; a flow with `path` crosses just its links",
                    Vec::new(),
                );
            }
        }
        if let (false, Some(at)) = (keys.has("path"), keys.key_at("return_path")) {
            let title = format!("`{}`: expected a `path` beside it", name("return_path"));
            reader.problem(at, title, "found a way back without a way there", Vec::new());
        }
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.table_always("[[flows]]");
        out.text("cc", self.cc.name());
        if !self.cc_params.is_empty() {
            let params: Vec<String> = self
                .cc_params
                .iter()
                .map(|(name, value)| format!("{} = {}", toml_key(name), show_param(value)))
                .collect();
            out.raw("cc_params", &format!("{{ {} }}", params.join(", ")));
        }
        out.raw_unless(self.count == 1, "count", &self.count.to_string());
        for (key, delay) in
            [("rtt", self.rtt), ("left_delay", self.left_delay), ("right_delay", self.right_delay)]
        {
            if let Some(delay) = delay {
                out.text(key, &show_span(delay.value));
            }
        }
        for (key, link) in [("left_link", &self.left_link), ("right_link", &self.right_link)] {
            if let Some(link) = link {
                out.text(key, &link.value);
            }
        }
        for (key, path) in [("path", &self.path), ("return_path", &self.return_path)] {
            if let Some(path) = path {
                let names: Vec<String> = path.iter().map(|link| toml_string(&link.value)).collect();
                out.raw(key, &format!("[{}]", names.join(", ")));
            }
        }
        out.text_unless(self.start == Span::ZERO, "start", &show_span(self.start));
        out.text_unless(self.start_step == Span::ZERO, "start_step", &show_span(self.start_step));
        out.text_unless(
            self.start_jitter == Span::ZERO,
            "start_jitter",
            &show_span(self.start_jitter),
        );
        if let Some(stop) = self.stop {
            out.text("stop", &show_span(stop));
        }
        match self.ecn {
            EcnMode::Off => {}
            EcnMode::On => out.raw("ecn", "true"),
            EcnMode::Low => out.text("ecn", "low"),
        }
        if let Some(mss) = self.mss {
            out.text("mss", &format!("{mss}B"));
        }
        write_source(out, self.source);
    }
}

fn read_cc(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Algorithm> {
    if let Value::Text(text) = &node.value
        && let Some(cc) = Algorithm::from_name(text)
    {
        return Some(cc);
    }
    let names = || Algorithm::ALL.iter().map(|cc| cc.name());
    let mut help = Vec::new();
    if let Value::Text(text) = &node.value
        && let Some(right) = nearest(text, names())
    {
        help.push(format!("did you mean {right:?}?"));
    }
    let found = format!("found {}", found(&node.value));
    reader.problem(node.at, format!("`{name}`: expected a congestion control"), found, help);
    reader.note(format!("algorithms: {}", names().collect::<Vec<_>>().join(", ")));
    None
}

fn read_cc_params(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
    cc: Option<Algorithm>,
) -> Option<Params> {
    let table = reader.table(node, name, "a table such as { lambda = 0.125 }")?;
    let mut params = Params::new();
    for entry in &table.entries {
        let value = match &entry.value.value {
            Value::Integer(value) => {
                value.and_then(|value| i64::try_from(value).ok()).map(ParamValue::Int)
            }
            Value::Float(text) => {
                text.parse().ok().filter(|value: &f64| value.is_finite()).map(ParamValue::Float)
            }
            Value::Bool(value) => Some(ParamValue::Bool(*value)),
            Value::Text(text) => Some(ParamValue::Text(text.clone())),
            _ => None,
        };
        let Some(value) = value else {
            let shown = format!("{name}.{}", entry.key);
            reader.wrong(&entry.value, &shown, "a number, true or false, or a string");
            return None;
        };
        params.push((entry.key.to_string(), value));
    }
    // One spelling: a reader of the canonical form finds them in the same order.
    params.sort_by(|(a, _), (b, _)| a.cmp(b));
    let cc = cc?;
    if let Err(error) = cc.build(&params) {
        let entry = table.get(&error.name);
        let known = cc.params().iter().any(|param| param.name == error.name);
        let at = entry.map_or(node.at, |entry| if known { entry.value.at } else { entry.key_at });
        let mut help = Vec::new();
        if let (false, Some(right)) =
            (known, nearest(&error.name, cc.params().iter().map(|param| param.name)))
        {
            help.push(format!("did you mean `{right}`?"));
        }
        let title = format!("`{name}.{}`: {}", error.name, error.reason);
        let found =
            entry.map_or_else(String::new, |entry| format!("found {}", found(&entry.value.value)));
        reader.problem(at, title, found, help);
        return None;
    }
    Some(params)
}

fn show_param(value: &ParamValue) -> String {
    match value {
        ParamValue::Int(value) => value.to_string(),
        ParamValue::Float(value) => format!("{value:?}"),
        ParamValue::Bool(value) => value.to_string(),
        ParamValue::Text(text) => toml_string(text),
    }
}

fn read_path(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Vec<Placed<Arc<str>>>> {
    let Value::Array(links) = &node.value else {
        reader.wrong(node, name, LINK_NAMES);
        return None;
    };
    if links.is_empty() || links.len() > PATH_MAX {
        reader.wrong(node, name, LINK_NAMES);
        return None;
    }
    let mut path: Vec<Placed<Arc<str>>> = Vec::with_capacity(links.len());
    for link in links {
        let text: Arc<str> = reader.text(link, name)?.into();
        if path.iter().any(|before| before.value == text) {
            let found = format!("found {text:?} twice");
            reader.problem(
                link.at,
                format!("`{name}`: expected each link once"),
                found,
                Vec::new(),
            );
            return None;
        }
        path.push(Placed { value: text, at: link.at });
    }
    Some(path)
}

fn read_ecn(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<EcnMode> {
    let ecn = match &node.value {
        Value::Bool(false) => Some(EcnMode::Off),
        Value::Bool(true) => Some(EcnMode::On),
        Value::Text(text) if text == "low" => Some(EcnMode::Low),
        _ => None,
    };
    if ecn.is_none() {
        reader.wrong(node, name, "false, true or \"low\"");
    }
    ecn
}

/// What the flow sends: at most one of `bytes`, `rate`, `on` with `off` (and perhaps `rate`), `write`, `train`.
fn read_source(reader: &mut Reader<'_>, keys: &mut Keys<'_>) -> Option<Source> {
    let path = keys.path.clone();
    let name = |key: &str| format!("{path}.{key}");
    let nodes = ["bytes", "rate", "on", "off", "write", "train"].map(|key| (key, keys.take(key)));
    let [bytes, rate, on, off, write, train] = nodes.map(|(_, node)| node);
    let kinds = [bytes, rate.or(on).or(off), write, train];
    let mut given = kinds.iter().flatten();
    if let (Some(_), Some(_)) = (given.next(), given.next()) {
        let named: Vec<String> = nodes
            .iter()
            .filter(|(_, node)| node.is_some())
            .map(|(key, _)| format!("`{key}`"))
            .collect();
        let last = nodes
            .iter()
            .filter_map(|(key, node)| node.and(keys.key_at(key)))
            .max_by_key(|at| at.start);
        let title = format!("`{path}`: expected one source");
        let found = format!("found {}", named.join(" and "));
        reader.problem(last.expect("two were given"), title, found, Vec::new());
        return None;
    }
    if let Some(node) = bytes {
        return reader.positive_bytes(node, &name("bytes")).map(Source::Bytes);
    }
    if on.is_some() || off.is_some() {
        let mut period = |key: &'static str| {
            reader.needed(keys, key, "the other period, such as \"1s\"", Reader::positive_span)
        };
        let (on, off) = (period("on"), period("off"));
        let rate = rate.map(|node| reader.rate(node, &name("rate")));
        return Some(Source::OnOff { on: on?, off: off?, rate: rate.flatten() });
    }
    if let Some(node) = rate {
        return reader.rate(node, &name("rate")).map(Source::Cbr);
    }
    if let Some(node) = write {
        return read_write(reader, node, &name("write"));
    }
    train.and_then(|node| read_train(reader, node, &name("train")))
}

fn read_write(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Source> {
    let table =
        reader.table(node, name, "a table such as { bytes = \"64KiB\", every = \"50ms\" }")?;
    let mut keys = Keys::new(table, name, node.at);
    let bytes = needed_bytes(reader, &mut keys);
    let every =
        reader.needed(&mut keys, "every", "the interval, such as \"50ms\"", Reader::positive_span);
    keys.finish(reader);
    Some(Source::Write { bytes: bytes?, every: every? })
}

fn read_train(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Source> {
    let expected = "a table such as { bytes = \"150KB\", count = 20, gap = \"100ms\" }";
    let table = reader.table(node, name, expected)?;
    let mut keys = Keys::new(table, name, node.at);
    let bytes = needed_bytes(reader, &mut keys);
    let count =
        reader.needed(&mut keys, "count", "the number of transfers", |reader, node, name| {
            reader.integer(node, name, 1, 1_000_000_000)
        });
    let gap = reader.needed(
        &mut keys,
        "gap",
        "the time between transfers, such as \"100ms\"",
        Reader::span,
    );
    keys.finish(reader);
    let count = u32::try_from(count?).expect("at most 10^9");
    Some(Source::Train { bytes: bytes?, count, gap: gap? })
}

fn needed_bytes(reader: &mut Reader<'_>, keys: &mut Keys<'_>) -> Option<Bytes> {
    reader.needed(keys, "bytes", "a number of bytes such as \"64KiB\"", |reader, node, name| {
        reader.positive_bytes(node, name)
    })
}

fn write_source(out: &mut Writer, source: Source) {
    match source {
        Source::Unlimited => {}
        Source::Bytes(bytes) => out.text("bytes", &format!("{}B", bytes.0)),
        Source::Cbr(rate) => out.text("rate", &show_rate(rate)),
        Source::OnOff { on, off, rate } => {
            out.text("on", &show_span(on));
            out.text("off", &show_span(off));
            if let Some(rate) = rate {
                out.text("rate", &show_rate(rate));
            }
        }
        Source::Write { bytes, every } => {
            let every = show_span(every);
            out.raw("write", &format!("{{ bytes = \"{}B\", every = \"{every}\" }}", bytes.0));
        }
        Source::Train { bytes, count, gap } => {
            let gap = show_span(gap);
            out.raw(
                "train",
                &format!("{{ bytes = \"{}B\", count = {count}, gap = \"{gap}\" }}", bytes.0),
            );
        }
    }
}
