//! `[[flows]]`: which algorithm sends, when, over which path, what and how.

use std::collections::BTreeSet;
use std::sync::Arc;

use bbrlab_cc::{Algorithm, Params};
use bbrlab_units::{BitRate, Bytes, NS_PER_S, Span};

use crate::keys::dscp::{dscp_names, read_dscp, show_dscp};
use crate::keys::ecn::{read_ecn, show_ecn};
use crate::keys::law;
use crate::keys::params::{read_param, show_params};
use crate::keys::stack::read_mss;
use crate::keys::traffic::{self, ArrivalsSpec, ClientSpec};
use crate::language::acts::Acts;
use crate::language::canonical::{Writer, show_bytes, show_text, toml_string};
use crate::language::document::{At, Node, Value};
use crate::language::key::{Form, Given, Key, key, needed, read_keys, set, write_keys};
use crate::language::nearest::nearest;
use crate::language::quantity::{show_rate, show_span};
use crate::language::reader::{Keys, Placed, Reader, found};
use bbrlab_run::{Bursts, Outside, Random, Source};
use bbrlab_stack::EcnMode;

/// The largest number of flows of one run. Event keys have 24 bits for a flow or a link, and each
/// flow takes kilobytes.
pub(crate) const FLOWS_MAX: u64 = 1 << 20;

/// A `[[flows]]` table with the defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct FlowSpec {
    pub(crate) at: At,
    pub(crate) cc: Algorithm,
    pub(crate) cc_params: Params,
    /// A congestion control from outside instead. Then `cc` means nothing.
    pub(crate) outside: Option<Arc<Outside>>,
    /// Datagrams instead: `cc = "udp"`. Then `cc` means nothing.
    pub(crate) is_udp: bool,
    pub(crate) name: Option<String>,
    pub(crate) group: Option<String>,
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
    pub(crate) dscp: u8,
    pub(crate) host: Option<String>,
    pub(crate) sender_host: Option<String>,
    pub(crate) mss: Option<u32>,
    pub(crate) rate_samples: bool,
    pub(crate) source: SourceSpec,
}

/// The longest path.
const PATH_MAX: usize = 1000;

const LINK_NAMES: &str = "a list of 1 to 1000 names of [[links]] such as [\"a\", \"b\"]";

/// What a flow sends, in the terms of its keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceSpec {
    bytes: Option<Bytes>,
    rate: Option<BitRate>,
    on: Option<Random>,
    off: Option<Random>,
    write: Option<Source>,
    train: Option<Source>,
    arrivals: Option<ArrivalsSpec>,
    requests: Option<ClientSpec>,
    sizes: Option<Random>,
}

impl Default for FlowSpec {
    fn default() -> Self {
        Self {
            at: At::NOWHERE,
            cc: Algorithm::Reno,
            cc_params: Params::new(),
            outside: None,
            is_udp: false,
            name: None,
            group: None,
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
            dscp: 0,
            host: None,
            sender_host: None,
            mss: None,
            rate_samples: true,
            source: SourceSpec::default(),
        }
    }
}

/// The keys of `[[flows]]` in the order of the canonical text, which must not change because it is
/// hashed.
pub(crate) const FLOW_KEYS: &[Key<FlowSpec>] = &[
    // Who sends: the congestion control and the number of flows.
    key(
        "cc",
        "0.1.0",
        Form::Algorithm,
        "congestion control: `bbrlab list algorithms`; `\"udp\"`: none, see [Datagrams](#datagrams)",
        |flow: &mut FlowSpec, given| {
            flow.is_udp = is_udp(given.node);
            flow.outside = outside(given.reader, given.node);
            if flow.outside.is_none() {
                set(&mut flow.cc, given.value(read_cc));
            }
        },
        |flow| show_text(flow.cc_name()),
    )
    .needed("a congestion control such as \"bbr1\""),
    key(
        "cc_params",
        "0.1.0",
        Form::Params,
        "its parameters, such as `{ lambda = 0.125 }`: `bbrlab list algorithms`",
        |flow: &mut FlowSpec, given| {
            let cc = given.keys.get("cc").filter(|node| !is_udp(node)).and_then(algorithm);
            let is_outside = flow.outside.is_some();
            let params = given.value(|reader, node, name| {
                let params = read_params(reader, node, name)?;
                if is_outside { Some(params) } else { accepted(reader, node, name, cc?, params) }
            });
            set(&mut flow.cc_params, params);
        },
        |flow| (!flow.cc_params.is_empty()).then(|| show_params(&flow.cc_params)),
    )
    .acts_on(Acts::Connections),
    key(
        "count",
        "0.1.0",
        Form::Whole(1, FLOWS_MAX),
        "number of flows like this one",
        |flow: &mut FlowSpec, given| {
            let count = given.value(|reader, node, name| reader.integer(node, name, 1, FLOWS_MAX));
            set(&mut flow.count, count);
        },
        |flow| Some(flow.count.to_string()),
    ),
    key(
        "name",
        "0.1.0",
        Form::Text,
        "its name in tables and pictures; of `count` flows the k-th is `name[k]`",
        |flow: &mut FlowSpec, given| flow.name = given.value(read_label),
        |flow| flow.name.as_deref().and_then(show_text),
    ),
    key(
        "group",
        "0.1.0",
        Form::Text,
        "flows of one group are summarised together",
        |flow: &mut FlowSpec, given| flow.group = given.value(read_label),
        |flow| flow.group.as_deref().and_then(show_text),
    )
    .without(
        "`cc` where the flows differ in it, else the base RTT where they differ in that, else `cc`",
    ),
    // Over which links.
    key(
        "rtt",
        "0.1.0",
        Form::Time,
        "base RTT, without serialisation: sets equal access delays on both sides",
        |flow: &mut FlowSpec, given| flow.rtt = given.placed(Reader::span),
        |flow| flow.rtt.and_then(|rtt| show_text(&show_span(rtt.value))),
    ),
    key(
        "left_delay",
        "0.1.0",
        Form::Time,
        "the sender's access delay, instead of `rtt`",
        |flow: &mut FlowSpec, given| flow.left_delay = given.placed(Reader::span),
        |flow| flow.left_delay.and_then(|delay| show_text(&show_span(delay.value))),
    )
    .without("that of `[access]`"),
    key(
        "right_delay",
        "0.1.0",
        Form::Time,
        "the receiver's access delay, instead of `rtt`",
        |flow: &mut FlowSpec, given| flow.right_delay = given.placed(Reader::span),
        |flow| flow.right_delay.and_then(|delay| show_text(&show_span(delay.value))),
    )
    .without("that of `[access]`"),
    key(
        "left_link",
        "0.1.0",
        Form::Text,
        "the sender's access link, one of `[[links]]`, shared by all flows that name it",
        |flow: &mut FlowSpec, given| flow.left_link = given.placed(read_link),
        |flow| flow.left_link.as_ref().and_then(|link| show_text(&link.value)),
    ),
    key(
        "right_link",
        "0.1.0",
        Form::Text,
        "the receiver's access link, likewise",
        |flow: &mut FlowSpec, given| flow.right_link = given.placed(read_link),
        |flow| flow.right_link.as_ref().and_then(|link| show_text(&link.value)),
    ),
    key(
        "path",
        "0.1.0",
        Form::List(&Form::Text),
        "names of `[[links]]` (or `\"bottleneck\"`) that the flow crosses instead of the dumbbell",
        |flow: &mut FlowSpec, given| flow.path = given.value(read_path),
        |flow| flow.path.as_deref().map(show_path),
    ),
    key(
        "return_path",
        "0.1.0",
        Form::List(&Form::Text),
        "names of the links that its ACKs cross",
        |flow: &mut FlowSpec, given| flow.return_path = given.value(read_path),
        |flow| flow.return_path.as_deref().map(show_path),
    )
    .without("the links of its data in the reverse direction"),
    // When.
    key(
        "start",
        "0.1.0",
        Form::Time,
        "when the flow connects: before `duration`, with all of `start_step` and `start_jitter`",
        |flow: &mut FlowSpec, given| set(&mut flow.start, given.value(Reader::span)),
        |flow| show_text(&show_span(flow.start)),
    ),
    key(
        "start_step",
        "0.1.0",
        Form::Time,
        "the k-th of `count` flows starts k steps later",
        |flow: &mut FlowSpec, given| set(&mut flow.start_step, given.value(Reader::span)),
        |flow| show_text(&show_span(flow.start_step)),
    ),
    key(
        "start_jitter",
        "0.1.0",
        Form::Time,
        "a random additional delay of each flow's start, uniform in [0, x)",
        |flow: &mut FlowSpec, given| set(&mut flow.start_jitter, given.value(Reader::span)),
        |flow| show_text(&show_span(flow.start_jitter)),
    ),
    key(
        "stop",
        "0.1.0",
        Form::Time,
        "from this time on the application sends nothing",
        read_stop,
        |flow| flow.stop.and_then(|stop| show_text(&show_span(stop))),
    ),
    // How.
    key(
        "ecn",
        "0.1.0",
        Form::Any(&[Form::Bool, Form::Choice(|| vec!["low", "l4s"])]),
        "`true`: ECN is negotiated (for `bbr2` `cc_params = { ecn_enable = true }` as well); `\"low\"`: on a \
         low-latency route, which `bbr3` needs (it looks at marks where the minimum RTT is 5 ms or less); `\"l4s\"`: the same with ECT(1), for `dctcp`, `bbr2` and `bbr3`. How the \
         receiver echoes marks depends on `cc`: for these three mark by mark, for all others as in RFC 3168",
        |flow: &mut FlowSpec, given| {
            // For datagrams the key is wrong, whatever it says.
            if !flow.is_udp {
                let ecn = read_ecn(given, flow.cc_name(), flow.answers_share_of_marks());
                set(&mut flow.ecn, ecn);
            }
        },
        |flow| show_ecn(flow.ecn),
    )
    .acts_on(Acts::Connections),
    key(
        "dscp",
        "0.2.0",
        Form::Any(&[Form::Choice(dscp_names), Form::Whole(0, 63)]),
        "the class of its packets and ACKs, by which `cake` takes a tin, `prio` and `fq` a band: a name of the RFCs or the number",
        |flow: &mut FlowSpec, given| set(&mut flow.dscp, given.value(read_dscp)),
        |flow| show_dscp(flow.dscp),
    )
    .acts_on(Acts::Classes)
    .without("0, best effort"),
    key(
        "host",
        "0.2.0",
        Form::Text,
        "the host that receives its data: flows with one name share it, which `cake`'s `isolation` looks at (see \
         [its page](queues/cake.md)). Flows to one host come from one, unless `sender_host` says otherwise",
        |flow: &mut FlowSpec, given| flow.host = given.value(read_label),
        |flow| flow.host.as_deref().and_then(show_text),
    )
    .acts_on(Acts::Hosts)
    .without("each flow has its own"),
    key(
        "sender_host",
        "0.2.0",
        Form::Text,
        "the host that sends its data, likewise",
        |flow: &mut FlowSpec, given| flow.sender_host = given.value(read_label),
        |flow| flow.sender_host.as_deref().and_then(show_text),
    )
    .acts_on(Acts::Hosts)
    .without("one for each `host`, without that each flow's own"),
    key(
        "mss",
        "0.1.0",
        Form::Bytes,
        "the flow's segment size",
        |flow: &mut FlowSpec, given| flow.mss = given.value(read_mss),
        |flow| flow.mss.and_then(|mss| show_bytes(mss.into())),
    )
    .without("that of `[stack]`"),
    key(
        "rate_samples",
        "0.1.0",
        Form::Bool,
        "whether the delivery rate is sampled. `false`: no sample is valid, and an algorithm that models the path learns nothing \
         of its rate, as the first flow of [lanigan] did (see [the `ns3` profile](ns3-profile.md))",
        |flow: &mut FlowSpec, given| set(&mut flow.rate_samples, given.value(Reader::boolean)),
        |flow| (!flow.rate_samples).then(|| false.to_string()),
    )
    .acts_on(Acts::Connections)
    .without("`true`"),
    // What: periods of sending.
    key(
        "on",
        "0.1.0",
        law::TIMES_FORM,
        "source: on for this long and off for `off` in turn, at `rate` if that is given; random with a law, \
         `{ distribution = \"exponential\", mean = \"2s\" }`",
        |flow: &mut FlowSpec, given| flow.source.on = given.value(law::read_times),
        |flow| flow.source.on.as_ref().map(law::show_times),
    )
    .source("rate"),
    key(
        "off",
        "0.1.0",
        law::TIMES_FORM,
        "see `on`",
        |flow: &mut FlowSpec, given| flow.source.off = given.value(law::read_times),
        |flow| flow.source.off.as_ref().map(law::show_times),
    )
    .source("rate"),
    // A number of bytes, or a rate.
    key(
        "bytes",
        "0.1.0",
        Form::Bytes,
        "source: this many bytes, then the flow ends",
        |flow: &mut FlowSpec, given| flow.source.bytes = given.value(Reader::positive_bytes),
        |flow| flow.source.bytes.and_then(|bytes| show_bytes(bytes.0)),
    )
    .source("bytes")
    .acts_on(Acts::Connections)
    .without("always more to send"),
    key(
        "rate",
        "0.1.0",
        Form::Rate,
        "source: a constant rate",
        |flow: &mut FlowSpec, given| flow.source.rate = given.value(Reader::rate),
        |flow| flow.source.rate.and_then(|rate| show_text(&show_rate(rate))),
    )
    .source("rate"),
    // What the application writes.
    key(
        "write",
        "0.1.0",
        Form::Table(&[needed("bytes", Form::Bytes), needed("every", Form::Time)]),
        "source: `{ bytes = \"64KiB\", every = \"50ms\" }`, written at that interval",
        |flow: &mut FlowSpec, given| flow.source.write = given.value(read_write),
        |flow| flow.source.write.as_ref().and_then(show_handed),
    )
    .source("write")
    .acts_on(Acts::Connections),
    key(
        "train",
        "0.1.0",
        Form::Table(&[
            needed("bytes", Form::Bytes),
            needed("count", Form::Whole(1, 1_000_000_000)),
            needed("gap", Form::Time),
        ]),
        "source: `{ bytes = \"15KB\", count = 20, gap = \"100ms\" }`, each transfer on a new connection, `gap` after the \
         receiver has read the last byte",
        |flow: &mut FlowSpec, given| flow.source.train = given.value(read_train),
        |flow| flow.source.train.as_ref().and_then(show_handed),
    )
    .source("train")
    .acts_on(Acts::Connections),
    // Flows that come and go, and clients that ask.
    key(
        "arrivals",
        "0.2.0",
        traffic::ARRIVALS_FORM,
        "many flows that come and go, `bytes` or `sizes` each: `{ process = \"poisson\", rate = \"50/s\" }`, or \
         `load = \"30%\"` of the smallest rate on the way; see [Flows that come and go](#flows-that-come-and-go)",
        |flow: &mut FlowSpec, given| flow.source.arrivals = given.value(ArrivalsSpec::read),
        |flow| flow.source.arrivals.as_ref().map(ArrivalsSpec::show),
    )
    .source("arrivals")
    .acts_on(Acts::Connections),
    key(
        "requests",
        "0.2.0",
        traffic::REQUESTS_FORM,
        "source: answers of `bytes` or `sizes` each to a client that asks again on the same connection, `think` after it has \
         read the last byte: `{ think = \"100ms\", count = 50 }`; see [Requests and video](#requests-and-video)",
        |flow: &mut FlowSpec, given| flow.source.requests = given.value(ClientSpec::read_requests),
        |flow| flow.source.requests.as_ref().and_then(ClientSpec::show_requests),
    )
    .source("requests")
    .acts_on(Acts::Connections),
    key(
        "video",
        "0.2.0",
        traffic::VIDEO_FORM,
        "source: the pieces of a video, asked for as long as a player has room for them: \
         `{ rate = \"4Mbit/s\", piece = \"4s\", buffer = \"30s\" }`",
        |flow: &mut FlowSpec, given| flow.source.requests = given.value(ClientSpec::read_video),
        |flow| flow.source.requests.as_ref().and_then(ClientSpec::show_video),
    )
    .source("video")
    .acts_on(Acts::Connections),
    key(
        "sizes",
        "0.2.0",
        law::SIZES_FORM,
        "with `arrivals` or `requests`: payload bytes of a flow or an answer, `{ distribution = \"pareto\", mean = \"30KB\", shape = 1.2 }`",
        |flow: &mut FlowSpec, given| flow.source.sizes = given.value(law::read_sizes),
        |flow| flow.source.sizes.as_ref().map(law::show_sizes),
    )
    .source("sizes"),
];

impl FlowSpec {
    /// A flow of a run that lasts `duration`. `None` only if the algorithm is unknown.
    pub(crate) fn read(
        reader: &mut Reader<'_>,
        mut keys: Keys<'_>,
        duration: Span,
    ) -> Option<Self> {
        let mut flow = Self { at: keys.at, ..Self::default() };
        let others = FLOW_KEYS.iter().filter(|row| row.source.is_none());
        read_keys(others, &mut flow, reader, &mut keys);
        flow.check_start(reader, &keys, duration);
        flow.check_way(reader, &keys);
        flow.read_source(reader, &mut keys);
        let has_cc = flow.outside.is_some() || keys.get("cc").and_then(algorithm).is_some();
        keys.finish(reader);
        has_cc.then_some(flow)
    }

    /// Each flow must start before the run ends, the latest possible start of the last of `count`
    /// flows included.
    fn check_start(&self, reader: &mut Reader<'_>, keys: &Keys<'_>, duration: Span) {
        let first = u128::from(self.start.0);
        let last = first + u128::from(self.start_step.0) * u128::from(self.count - 1);
        let latest = last + u128::from(self.start_jitter.0);
        let causes = [
            ("start", first, "the flow starts at"),
            ("start_step", last, "the last flow starts at"),
            ("start_jitter", latest, "with it the last start can reach"),
        ];
        let late = causes.into_iter().find(|&(_, start, _)| start >= u128::from(duration.0));
        // A key that is missing adds nothing, so the one that goes too far is there, unless the
        // duration is wrong as well.
        if let Some((key, start, when)) = late
            && let Some(node) = keys.get(key)
        {
            let whole_seconds = || format!("{}s", start / u128::from(NS_PER_S));
            let start =
                u64::try_from(start).map_or_else(|_| whole_seconds(), |ns| show_span(Span(ns)));
            let end = show_span(duration);
            let title =
                format!("`{}`: expected a start before the end of the run, {end}", keys.name(key));
            let found = format!("found {}; {when} {start}", found(&node.value));
            reader.problem(node.at, title, found, Vec::new());
        }
    }

    fn check_way(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        for (key, given) in [("left_delay", &self.left_delay), ("right_delay", &self.right_delay)] {
            if let (Some(rtt), Some(_)) = (&self.rtt, given) {
                let title =
                    format!("`{}`: expected either `rtt` or explicit delays", keys.name("rtt"));
                let found = format!("found `{key}` as well");
                reader.problem(rtt.at, title, found, Vec::new());
                break;
            }
        }
        for key in ["left_link", "right_link"] {
            if let (true, Some(at)) = (keys.has("path"), keys.key_at(key)) {
                let title = format!("`{}`: expected either `path` or access links", keys.name(key));
                let found = "found both; a flow with `path` crosses only the links of the path";
                reader.problem(at, title, found, Vec::new());
            }
        }
        if let (false, Some(at)) = (keys.has("path"), keys.key_at("return_path")) {
            let title = format!("`{}`: expected a `path` as well", keys.name("return_path"));
            reader.problem(at, title, "found a `return_path` without a `path`", Vec::new());
        }
    }

    /// What the flow sends: at most one of `bytes`, `rate`, `on` with `off` (and perhaps `rate`),
    /// `write`, `train`.
    fn read_source(&mut self, reader: &mut Reader<'_>, keys: &mut Keys<'_>) {
        let sources = || FLOW_KEYS.iter().filter(|row| row.source.is_some());
        let has_sizes = keys.has("arrivals") || keys.has("requests");
        let given = sources().filter(|row| keys.has(row.name)).filter_map(|row| row.source);
        let kinds: BTreeSet<&str> = given
            .filter(|&source| source != "sizes" && !(source == "bytes" && has_sizes))
            .collect();
        if kinds.len() > 1 {
            let given: Vec<(&str, At)> = sources()
                .filter_map(|row| {
                    keys.take(row.name);
                    keys.key_at(row.name).map(|at| (row.name, at))
                })
                .collect();
            let named: Vec<String> = given.iter().map(|(key, _)| format!("`{key}`")).collect();
            if self.is_udp {
                // What a flow of datagrams has one source too many of is told as what it may not
                // have.
                self.check_udp(reader, keys);
                return;
            }
            let last = given.iter().map(|&(_, at)| at).max_by_key(|at| at.start);
            let title = format!("`{}`: expected one source", keys.path);
            let found = format!("found {}", named.join(" and "));
            reader.problem(last.expect("two were given"), title, found, Vec::new());
            return;
        }
        read_keys(sources(), self, reader, keys);
        self.check_sizes(reader, keys);
        self.check_udp(reader, keys);
        for (key, other) in [("on", "off"), ("off", "on")] {
            if keys.has(other) && !keys.has(key) {
                reader.missing(keys, key, "the other period, such as \"1s\"");
            }
        }
    }

    /// Datagrams have a rate and none of what a connection has.
    fn check_udp(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        if !self.is_udp {
            return;
        }
        let of_connections = FLOW_KEYS.iter().filter(|row| row.acts == Acts::Connections);
        for (key, node) in of_connections.filter_map(|row| Some((row.name, keys.get(row.name)?))) {
            let title = format!("`{}`: expected no such key with `cc = \"udp\"`", keys.name(key));
            reader.problem(node.at, title, format!("found {}", found(&node.value)), Vec::new());
        }
        if !keys.has("rate") {
            reader.missing(keys, "rate", "the rate of the datagrams, such as \"10Mbit/s\"");
        }
    }

    /// Flows that come and answers need sizes, and flows that come are one table of flows.
    fn check_sizes(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let (bytes, sizes) = (keys.get("bytes"), keys.get("sizes"));
        if !keys.has("arrivals") && !keys.has("requests") {
            if let Some(node) = sizes {
                let title = format!("`{}`: expected `arrivals` or `requests`", keys.path);
                reader.problem(node.at, title, "found `sizes` without them", Vec::new());
            }
            return;
        }
        match (bytes, sizes) {
            (Some(_), Some(node)) => {
                let title = format!("`{}`: expected either `bytes` or `sizes`", keys.path);
                reader.problem(node.at, title, "found `sizes` as well", Vec::new());
            }
            (None, None) => {
                reader.missing(keys, "sizes", "the sizes of flows or answers, or `bytes`");
            }
            _ => {}
        }
        if let Some(node) = keys.get("count")
            && self.count > 1
            && keys.has("arrivals")
        {
            let title = format!("`{}`: expected 1 with `arrivals`", keys.name("count"));
            reader.problem(node.at, title, format!("found {}", found(&node.value)), Vec::new());
        }
    }

    /// The name of its congestion control, or `udp`.
    pub(crate) fn cc_name(&self) -> &str {
        match &self.outside {
            Some(outside) => &outside.name,
            None if self.is_udp => UDP,
            None => self.cc.name(),
        }
    }

    /// Whether its congestion control answers marks by their share.
    pub(crate) fn answers_share_of_marks(&self) -> bool {
        self.outside.as_ref().map_or_else(
            || self.cc.answers_share_of_marks(&self.cc_params),
            |outside| outside.answers_share_of_marks,
        )
    }

    /// The number of flows that may be under way at once.
    pub(crate) fn places(&self) -> u64 {
        self.source.arrivals.as_ref().map_or(self.count, |arrivals| arrivals.at_most().into())
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.table_always("[[flows]]");
        write_keys(FLOW_KEYS, self, out);
    }
}

impl SourceSpec {
    /// Whether the source depends on the rate of the way.
    pub(crate) fn needs_rate(&self) -> bool {
        self.arrivals.as_ref().is_some_and(ArrivalsSpec::needs_rate)
    }

    /// The source that these keys describe, of a flow whose packets have `mss` bytes of payload and
    /// cross a link of this rate and framing.
    pub(crate) fn source(&self, mss: u32, link: (BitRate, Bytes)) -> Source {
        let sizes = self.sizes.clone().or(self.bytes.map(|bytes| law::constant(bytes.0)));
        let given = match self {
            Self { arrivals: Some(arrivals), .. } => {
                sizes.map(|sizes| Source::Arrivals(arrivals.arrivals(sizes, mss, link)))
            }
            Self { requests: Some(client), .. } => client.requests(sizes).map(Source::Requests),
            &Self { bytes: Some(bytes), .. } => Some(Source::Bytes(bytes)),
            Self { on: Some(on), off: Some(off), rate, .. } => {
                let is_plain = |times: &Random| law::constant(times.mean) == *times;
                Some(if is_plain(on) && is_plain(off) {
                    Source::OnOff { on: Span(on.mean), off: Span(off.mean), rate: *rate }
                } else {
                    Source::Bursts(Bursts { on: on.clone(), off: off.clone(), rate: *rate })
                })
            }
            &Self { rate: Some(rate), .. } => Some(Source::Cbr(rate)),
            Self { write, train, .. } => write.clone().or(train.clone()),
        };
        given.unwrap_or(Source::Unlimited)
    }
}

fn read_stop(flow: &mut FlowSpec, given: &mut Given<'_, '_>) {
    flow.stop = given.value(Reader::positive_span);
    // The latest time at which the last of `count` flows can start.
    let steps = u128::from(flow.start_step.0) * u128::from(flow.count - 1);
    let last = u128::from(flow.start.0) + steps + u128::from(flow.start_jitter.0.saturating_sub(1));
    if flow.stop.is_some_and(|stop| u128::from(stop.0) <= last) {
        let title = format!("`{}`: expected a time after the start", given.name);
        let last = show_span(Span(u64::try_from(last).unwrap_or(u64::MAX)));
        let found = format!("found {}; the flow starts at {last}", found(&given.node.value));
        given.reader.problem(given.node.at, title, found, Vec::new());
    }
}

/// The longest name of a flow or group.
const LABEL_MAX: usize = 64;

/// A name that fits a table, a legend and a metric.
fn read_label(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<String> {
    let text = reader.text(node, name)?;
    let fits = !text.trim().is_empty() && text.chars().count() <= LABEL_MAX;
    if !fits || text.chars().any(char::is_control) {
        reader.wrong(node, name, "a name of 1 to 64 characters");
        return None;
    }
    Some(text.to_owned())
}

fn read_link(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Arc<str>> {
    reader.text(node, name).map(Into::into)
}

/// In place of a congestion control: a flow of datagrams.
const UDP: &str = "udp";

fn is_udp(node: &Node) -> bool {
    matches!(&node.value, Value::Text(text) if text == UDP)
}

/// The algorithm with this name; some algorithm for datagrams, which use none.
fn algorithm(node: &Node) -> Option<Algorithm> {
    match &node.value {
        Value::Text(text) if text == UDP => Some(FlowSpec::default().cc),
        Value::Text(text) => Algorithm::from_name(text),
        _ => None,
    }
}

/// The congestion control from outside that the scenario declares under this name.
fn outside(reader: &Reader<'_>, node: &Node) -> Option<Arc<Outside>> {
    let Value::Text(text) = &node.value else { return None };
    reader.controls.iter().find(|outside| outside.name == *text).map(Arc::clone)
}

/// Whether an algorithm, or what stands in the place of one, has this name.
pub(crate) fn is_cc_name(name: &str) -> bool {
    name == UDP || Algorithm::from_name(name).is_some()
}

/// The names of all algorithms.
pub(crate) fn algorithms() -> Vec<&'static str> {
    Algorithm::ALL.iter().map(|cc| cc.name()).collect()
}

fn read_cc(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Algorithm> {
    if let Some(cc) = algorithm(node) {
        return Some(cc);
    }
    let controls: Vec<String> = reader.controls.iter().map(|of| of.name.clone()).collect();
    let names = algorithms().into_iter().chain([UDP]).chain(controls.iter().map(String::as_str));
    let mut help = Vec::new();
    if let Value::Text(text) = &node.value
        && let Some(right) = nearest(text, names)
    {
        help.push(format!("did you mean {right:?}?"));
    }
    let found = format!("found {}", found(&node.value));
    reader.problem(node.at, format!("`{name}`: expected a congestion control"), found, help);
    reader
        .note(format!("algorithms: {}; {UDP:?}: datagrams, without one", algorithms().join(", ")));
    reader.note(if controls.is_empty() {
        "a control of one's own is named by `controls`: see docs/python.md".to_owned()
    } else {
        format!("`controls`: {}", controls.join(", "))
    });
    None
}

fn read_params(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Params> {
    let table = reader.table(node, name, "a table such as { lambda = 0.125 }")?;
    let mut params = Params::new();
    for entry in &table.entries {
        let value = read_param(reader, &entry.value, &format!("{name}.{}", entry.key))?;
        params.push((entry.key.to_string(), value));
    }
    // Sorted, since the canonical text has a single order.
    params.sort_by(|(a, _), (b, _)| a.cmp(b));
    Some(params)
}

/// The parameters, if the algorithm accepts them.
fn accepted(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
    cc: Algorithm,
    params: Params,
) -> Option<Params> {
    if let Err(error) = cc.build(&params) {
        let entry = match &node.value {
            Value::Table(table) => table.get(&error.name),
            _ => None,
        };
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

fn show_path(path: &[Placed<Arc<str>>]) -> String {
    let names: Vec<String> = path.iter().map(|link| toml_string(&link.value)).collect();
    format!("[{}]", names.join(", "))
}

fn show_handed(source: &Source) -> Option<String> {
    match *source {
        Source::Write { bytes, every } => {
            let every = show_span(every);
            Some(format!("{{ bytes = \"{}B\", every = \"{every}\" }}", bytes.0))
        }
        Source::Train { bytes, count, gap } => {
            let gap = show_span(gap);
            Some(format!("{{ bytes = \"{}B\", count = {count}, gap = \"{gap}\" }}", bytes.0))
        }
        Source::Unlimited
        | Source::Bytes(_)
        | Source::Cbr(_)
        | Source::OnOff { .. }
        | Source::Bursts(_)
        | Source::Requests(_)
        | Source::Arrivals(_) => None,
    }
}
