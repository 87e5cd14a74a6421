//! The keys of `[[flows]]`.

use std::sync::LazyLock;

use bbrlab_run::FlowSettings;
use bbrlab_units::{BitRate, Span};

use super::cc::{accepted, algorithm, is_udp, outside, read_cc, read_params};
use super::frames::{FRAMES_FORM, FramesSpec};
use super::pace::{self, RATE_FORM, READ_FORM};
use super::path::{read_link, read_path, show_path};
use super::source::{read_train, read_write, show_handed};
use super::{FLOWS_MAX, FlowSpec};
use crate::keys::distribution;
use crate::keys::dscp::{dscp_names, read_dscp, show_dscp};
use crate::keys::ecn::{read_ecn, show_ecn};
use crate::keys::params::show_params;
use crate::keys::stack::read_mss;
use crate::keys::traffic::{self, ArrivalsSpec, ClientSpec};
use crate::language::acts::Acts;
use crate::language::canonical::{show_bytes, show_text};
use crate::language::document::{Node, Value};
use crate::language::key::{Form, Key, KeyInput, key, keys_of, needed, set};
use crate::language::quantity::{show_rate, show_span};
use crate::language::reader::{Reader, found};

/// The keys of `[[flows]]` in the order of the canonical text. The order of existing keys must not
/// change, because the canonical text of a scenario is hashed.
pub(crate) static FLOW_KEYS: LazyLock<Vec<Key<FlowSpec>>> = LazyLock::new(|| {
    let settings = keys_of(
        FlowSettings::SETTINGS,
        |flow: &FlowSpec| &flow.settings,
        |flow| &mut flow.settings,
        SPECIAL,
    );
    [FIRST_KEYS.to_vec(), settings, SOURCES.to_vec()].concat()
});

const FIRST_KEYS: &[Key<FlowSpec>] = &[
    // The sender: congestion control and number of flows.
    key(
        "cc",
        "0.1.0",
        Form::Algorithm,
        "congestion control; `bbrlab list algorithms` lists all. `\"udp\"`: datagrams without congestion control, see \
         [Datagrams](traffic.md#datagrams)",
        |flow: &mut FlowSpec, given| {
            flow.is_udp = is_udp(given.node);
            flow.outside = outside(given.reader, given.node);
            match &flow.outside {
                None => set(&mut flow.cc, given.value(read_cc)),
                // For a congestion control of ns-3, the simulator runs bbrlab's imitation of the
                // control.
                Some(outside) => set(&mut flow.cc, outside.imitation()),
            }
        },
        |flow| show_text(flow.cc_name()),
    )
    .needed("a congestion control such as \"bbr1\""),
    key(
        "cc_params",
        "0.1.0",
        Form::Params,
        "parameters of `cc`, such as `{ lambda = 0.125 }`; `bbrlab list algorithms` lists all",
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
            set(&mut flow.count, given.value(read_count));
        },
        |flow| Some(flow.count.to_string()),
    ),
    key(
        "name",
        "0.1.0",
        Form::Text,
        "the flow's name in tables and plots; the k-th of `count` flows, counted from 0, is `name[k]`",
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
        "`cc`, or the base RTT if all flows have the same `cc` but not the same base RTT",
    ),
    // The path.
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
    .without("the delay in `[access]`; `\"0s\"` with `path` or `left_link`"),
    key(
        "right_delay",
        "0.1.0",
        Form::Time,
        "the receiver's access delay, instead of `rtt`",
        |flow: &mut FlowSpec, given| flow.right_delay = given.placed(Reader::span),
        |flow| flow.right_delay.and_then(|delay| show_text(&show_span(delay.value))),
    )
    .without("the delay in `[access]`; `\"0s\"` with `path` or `right_link`"),
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
        "the receiver's access link, like `left_link`",
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
        "names of the links that the flow's ACKs cross, each in its forward direction; only with `path`",
        |flow: &mut FlowSpec, given| flow.return_path = given.value(read_path),
        |flow| flow.return_path.as_deref().map(show_path),
    )
    .without("the links that the flow's data crosses, in their reverse direction"),
    // Start and stop.
    key(
        "start",
        "0.1.0",
        Form::Time,
        "when the flow connects. The latest start, with `start_step` and `start_jitter`, must be before `duration`",
        |flow: &mut FlowSpec, given| set(&mut flow.start, given.value(Reader::span)),
        |flow| show_text(&show_span(flow.start)),
    ),
    key(
        "start_step",
        "0.1.0",
        Form::Time,
        "the k-th of `count` flows, counted from 0, starts k steps after `start`",
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
        "from this time on the application writes nothing; data that it has written is still sent",
        read_stop,
        |flow| flow.stop.and_then(|stop| show_text(&show_span(stop))),
    ),
    // Settings of the connection.
    key(
        "ecn",
        "0.1.0",
        Form::Any(&[Form::Bool, Form::Choice(|| vec!["low", "l4s"])]),
        "`true`: ECN is negotiated (`bbr2` also needs `cc_params = { ecn_enable = true }`). `\"low\"`: also, `bbr3` \
         responds to marks at minimum RTTs up to 5 ms. `\"l4s\"`: as `\"low\"`, with ECT(1); for `dctcp`, `bbr2`, \
         `bbr3` and `prague` (its only value). Receivers echo each mark to `dctcp`, `bbr2`, `prague` and `bbr3` \
         (`\"low\"`, `\"l4s\"`); otherwise as in RFC 3168",
        |flow: &mut FlowSpec, given| {
            // `check_udp` rejects the key `ecn` for UDP flows, so `ecn` is read only for flows with
            // a connection.
            if !flow.is_udp {
                let ecn = read_ecn(given, flow.cc_name(), flow.answers_share_of_marks());
                set(&mut flow.settings.ecn, ecn);
            }
        },
        |flow| show_ecn(flow.settings.ecn),
    )
    .acts_on(Acts::Connections),
    key(
        "dscp",
        "0.2.0",
        Form::Any(&[Form::Choice(dscp_names), Form::Whole(0, 63)]),
        "the class of the flow's packets and ACKs: a name from the RFCs or a number. The class selects the \
         tin of `cake`, and the band of `prio` and `fq`",
        |flow: &mut FlowSpec, given| set(&mut flow.settings.dscp, given.value(read_dscp)),
        |flow| show_dscp(flow.settings.dscp),
    )
    .acts_on(Acts::Classes)
    .without("0, best effort"),
    key(
        "host",
        "0.2.0",
        Form::Text,
        "the host that receives the flow's data. Flows with the same `host` share it, which matters for `cake`'s \
         `isolation` (see [CAKE](queues/cake.md)). Flows to one host come from one sending host, unless `sender_host` \
         is set",
        |flow: &mut FlowSpec, given| flow.host = given.value(read_label),
        |flow| flow.host.as_deref().and_then(show_text),
    )
    .acts_on(Acts::Hosts)
    .without("each flow has its own"),
    key(
        "sender_host",
        "0.2.0",
        Form::Text,
        "the host that sends the flow's data. Flows with the same `sender_host` share it",
        |flow: &mut FlowSpec, given| flow.sender_host = given.value(read_label),
        |flow| flow.sender_host.as_deref().and_then(show_text),
    )
    .acts_on(Acts::Hosts)
    .without("one sending host for each `host`; without `host`, each flow has its own"),
    key(
        "mss",
        "0.1.0",
        Form::Bytes,
        "the flow's segment size",
        |flow: &mut FlowSpec, given| flow.mss = given.value(read_mss),
        |flow| flow.mss.and_then(|mss| show_bytes(mss.into())),
    )
    .without("the `mss` in `[stack]`"),
];

/// The keys of `FlowSettings` that need their own functions to read and write their values.
const SPECIAL: &[Key<FlowSpec>] = &[
    key(
        "max_pacing_rate",
        "0.2.0",
        Form::Rate,
        "upper bound of the pacing rate, which counts payload bytes, as with `SO_MAX_PACING_RATE`. With a bound, every \
         algorithm paces, CUBIC too: with TCP's own timer or with `sender_qdisc = \"fq\"`. See [Sockets](sockets.md)",
        |flow: &mut FlowSpec, given| flow.settings.max_pacing_rate = given.value(read_pacing_rate),
        |flow| flow.settings.max_pacing_rate.and_then(|rate| show_text(&show_rate(rate))),
    )
    .acts_on(Acts::Connections)
    .without("no bound; only algorithms that request pacing are paced"),
    key(
        "read",
        "0.2.0",
        READ_FORM,
        "how fast the receiving application reads. With a rate, or a schedule as in `rate`, the application reads \
         one segment at a time. `{ bytes = \"64KiB\", every = \"50ms\" }`: at most 64 KiB every 50 ms. See \
         [Slow readers](traffic.md#slow-readers)",
        |flow: &mut FlowSpec, given| flow.settings.reading = given.value(pace::read_reading),
        |flow| flow.settings.reading.as_ref().and_then(pace::show_reading),
    )
    .acts_on(Acts::Connections)
    .without("data is read as soon as it arrives"),
];

const SOURCES: &[Key<FlowSpec>] = &[
    // Sources with on and off periods.
    key(
        "on",
        "0.1.0",
        distribution::TIMES_FORM,
        "source: sends for this time, at `rate` if that is given, then pauses for the time `off`, and so on. With a \
         distribution, the times are random: `{ distribution = \"exponential\", mean = \"2s\" }`",
        |flow: &mut FlowSpec, given| flow.source.on = given.value(distribution::read_times),
        |flow| flow.source.on.as_ref().map(distribution::show_times),
    )
    .source("rate"),
    key(
        "off",
        "0.1.0",
        distribution::TIMES_FORM,
        "see `on`",
        |flow: &mut FlowSpec, given| flow.source.off = given.value(distribution::read_times),
        |flow| flow.source.off.as_ref().map(distribution::show_times),
    )
    .source("rate"),
    // Sources with a number of bytes or a rate.
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
        RATE_FORM,
        "source: a constant rate, or rates with times that count from the flow's start, \
         `[[\"0s\", \"2Mbit/s\"], [\"10s\", \"unlimited\"]]`; at `\"0bit/s\"` the source pauses",
        |flow: &mut FlowSpec, given| flow.source.rate = given.value(pace::read_rate),
        |flow| flow.source.rate.as_ref().and_then(pace::show),
    )
    .source("rate"),
    // Sources with periodic writes, and trains of transfers.
    key(
        "write",
        "0.1.0",
        Form::Table(&[needed("bytes", Form::Bytes), needed("every", Form::Time)]),
        "source: periodic writes. `{ bytes = \"64KiB\", every = \"50ms\" }`: 64 KiB every 50 ms",
        |flow: &mut FlowSpec, given| flow.source.write = given.value(read_write),
        |flow| flow.source.write.as_ref().and_then(show_handed),
    )
    .source("write")
    .acts_on(Acts::Connections),
    key(
        "frames",
        "0.2.0",
        FRAMES_FORM,
        "source: the frames of a video call, `{ rate = \"30/s\", bytes = \"8KB\", key_bytes = \"60KB\", key_every = 60 }`; \
         the delay of each frame is measured. `key_bytes`: the first frame and every `key_every`-th after it have this \
         size. See [Frames](traffic.md#frames)",
        |flow: &mut FlowSpec, given| flow.source.frames = given.value(FramesSpec::read),
        |flow| flow.source.frames.as_ref().map(FramesSpec::show),
    )
    .source("frames"),
    key(
        "train",
        "0.1.0",
        Form::Table(&[
            needed("bytes", Form::Bytes),
            needed("count", Form::Whole(1, 1_000_000_000)),
            needed("gap", Form::Time),
        ]),
        "source: transfers, each on a new connection. `{ bytes = \"15KB\", count = 20, gap = \"100ms\" }`: 20 \
         transfers, each of which begins `gap` after the receiver has read the last byte of the one before",
        |flow: &mut FlowSpec, given| flow.source.train = given.value(read_train),
        |flow| flow.source.train.as_ref().and_then(show_handed),
    )
    .source("train")
    .acts_on(Acts::Connections),
    // Flows that arrive at random times, and clients that send requests.
    key(
        "arrivals",
        "0.2.0",
        traffic::ARRIVALS_FORM,
        "many flows that arrive over time, each of `bytes` or `sizes`: `{ process = \"poisson\", rate = \"50/s\" }`, or \
         `load = \"30%\"` of the smallest rate on the path; see [Flows that come and go](traffic.md#flows-that-come-and-go)",
        |flow: &mut FlowSpec, given| flow.source.arrivals = given.value(ArrivalsSpec::read),
        |flow| flow.source.arrivals.as_ref().map(ArrivalsSpec::show),
    )
    .source("arrivals")
    .acts_on(Acts::Connections),
    key(
        "requests",
        "0.2.0",
        traffic::REQUESTS_FORM,
        "source: responses of `bytes` or `sizes` to a client. On the same connection, the client sends the next \
         request `think` after it has read the last byte of a response: `{ think = \"100ms\", count = 50 }`. See \
         [Requests and video](traffic.md#requests)",
        |flow: &mut FlowSpec, given| flow.source.requests = given.value(ClientSpec::read_requests),
        |flow| flow.source.requests.as_ref().and_then(ClientSpec::show_requests),
    )
    .source("requests")
    .acts_on(Acts::Connections),
    key(
        "page",
        "0.2.0",
        traffic::PAGE_FORM,
        "source: page loads; the flow's `count` is the number of connections. `{ objects = [1, 12, 20], think = \"2s\" \
         }`: one object of `bytes` or `sizes`, then 12 objects, then 20; each round begins when the round before has \
         been read. `delay_ms` in the results has the load times of pages. See [Page loads](traffic.md#page-loads)",
        |flow: &mut FlowSpec, given| flow.source.requests = given.value(ClientSpec::read_page),
        |flow| flow.source.requests.as_ref().and_then(ClientSpec::show_page),
    )
    .source("page")
    .acts_on(Acts::Connections),
    key(
        "video",
        "0.2.0",
        traffic::VIDEO_FORM,
        "source: the chunks of a video, which a player requests while its buffer has room: `{ rate = \"4Mbit/s\", \
         piece = \"4s\", buffer = \"30s\" }`",
        |flow: &mut FlowSpec, given| flow.source.requests = given.value(ClientSpec::read_video),
        |flow| flow.source.requests.as_ref().and_then(ClientSpec::show_video),
    )
    .source("video")
    .acts_on(Acts::Connections),
    key(
        "sizes",
        "0.2.0",
        distribution::SIZES_FORM,
        "with `arrivals`, `requests` or `page`: payload bytes of a flow, a response or an object, `{ distribution = \"pareto\", mean = \
         \"30KB\", shape = 1.2 }`",
        |flow: &mut FlowSpec, given| flow.source.sizes = given.value(distribution::read_sizes),
        |flow| flow.source.sizes.as_ref().map(distribution::show_sizes),
    )
    .source("sizes"),
];

/// Reads a pacing rate of at least 8 bit/s, because the kernel counts whole bytes per second.
fn read_pacing_rate(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<BitRate> {
    let rate = reader.rate(node, name)?;
    if rate.0 < 8 {
        reader.wrong(node, name, "at least \"8bit/s\", one byte per second");
        return None;
    }
    Some(rate)
}

fn read_stop(flow: &mut FlowSpec, given: &mut KeyInput<'_, '_>) {
    flow.stop = given.value(Reader::positive_span);
    // The latest time at which the last of `count` flows can start.
    let steps = u128::from(flow.start_step.0) * u128::from(flow.count - 1);
    let last = u128::from(flow.start.0) + steps + u128::from(flow.start_jitter.0.saturating_sub(1));
    if flow.stop.is_some_and(|stop| u128::from(stop.0) <= last) {
        let title = format!("`{}`: expected a time after the start", given.name);
        let last = show_span(Span(u64::try_from(last).unwrap_or(u64::MAX)));
        let found = format!("found {}; the latest start is {last}", found(&given.node.value));
        given.reader.problem(given.node.at, title, found, Vec::new());
    }
}

/// Reads the number of flows of a table. For 0, the error explains how to leave the flows out.
fn read_count(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<u64> {
    if matches!(node.value, Value::Integer(Some(0))) {
        let title = format!("`{name}`: expected a whole number from 1 to {FLOWS_MAX}");
        let help = "to measure without these flows, delete their [[flows]], or end them after one byte with `bytes = \"1B\"`";
        reader.problem(node.at, title, "found the number 0", vec![help.to_owned()]);
        return None;
    }
    reader.integer(node, name, 1, FLOWS_MAX)
}

/// The largest length of the name of a flow or group.
const LABEL_MAX: usize = 64;

/// Reads the name of a flow or group. The length and the characters of the name are limited, so
/// that the name fits into a table, a legend and the name of a metric.
fn read_label(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<String> {
    let text = reader.text(node, name)?;
    let fits = !text.trim().is_empty() && text.chars().count() <= LABEL_MAX;
    if !fits || text.chars().any(char::is_control) {
        reader.wrong(
            node,
            name,
            "a name of 1 to 64 characters, not blank, without control characters",
        );
        return None;
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use bbrlab_run::FlowSettings;
    use bbrlab_stack::{LossSwitches, PacingSwitches, RateSwitches, SocketSwitches, Stack};

    use super::FLOW_KEYS;
    use crate::keys::stack::STACK_KEYS;

    #[test]
    fn every_setting_is_a_key() {
        let of_flows: Vec<&str> = FLOW_KEYS.iter().map(|key| key.name).collect();
        let of_hosts: Vec<&str> = STACK_KEYS.iter().map(|key| key.name).collect();
        for (key, _) in FlowSettings::SETTINGS {
            assert!(of_flows.contains(key), "`FLOW_KEYS` has no key `{key}`");
        }
        let check = |key: &str| {
            // `rate_samples` is a key of flows, not of hosts.
            assert!(of_hosts.contains(&key) || key == "rate_samples", "no key `{key}`");
        };
        for (key, _) in Stack::SETTINGS {
            check(key);
        }
        for (key, _) in SocketSwitches::SETTINGS {
            check(key);
        }
        for (key, _) in LossSwitches::SETTINGS {
            check(key);
        }
        for (key, _) in RateSwitches::SETTINGS {
            check(key);
        }
        for (key, _) in PacingSwitches::SETTINGS {
            check(key);
        }
    }
}
