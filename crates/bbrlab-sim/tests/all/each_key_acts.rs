//! Each key of a scenario has an effect. For every key in the tables of keys, this file has a small
//! scenario. With most keys, the digest of the run must change. With some keys, such as a flow's
//! name, the digest may stay equal, but other results, the number of runs or the run's title must
//! change. A required key has no such test: the scenario must be invalid without the key.
//!
//! The test reads the list of keys from bbrlab's code, so the test fails for a key without a
//! scenario in this file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::scenario_text::{results, runs};
use bbrlab_scenario::{Scenario, queues, sections};

/// The kind of change that a key must cause.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The digest of a run changes.
    Digest,
    /// Results of the scenario's runs, such as names or series, change, or the number of runs
    /// changes. The digests may stay equal.
    Record,
    /// The resolved run differs, for example in its title. Neither run is simulated.
    Run,
    /// No comparison: the file is invalid without the key.
    Needed,
}
use Effect::{Digest, Needed, Record, Run};

/// The text of a scenario. `tables` has the lines of the top level, of `[stack]`, of the link, of
/// `[access]` and of the flows; `rest` has any further lines. In `tables`, a line that is added
/// replaces an earlier line with the same key.
#[derive(Clone)]
struct Text {
    tables: [Vec<String>; 5],
    rest: String,
    link: &'static str,
}

const TOP: &str = "top";
const STACK: &str = "stack";
const LINK: &str = "link";
const ACCESS: &str = "access";
const FLOW: &str = "flow";
const REST: &str = "rest";

impl Text {
    /// Returns the text of a scenario with one CUBIC flow over 10 Mbit/s and 40 ms for 4 s. `link`
    /// is the heading of the link's table and selects the network: a dumbbell without access links
    /// ([`DUMBBELL`]), a dumbbell with access links ([`BEHIND`]), or one link of `[[links]]`
    /// ([`NAMED`]).
    fn new(link: &'static str) -> Self {
        let mut text = Self { tables: Default::default(), rest: String::new(), link };
        text.set(TOP, "duration = \"4s\"");
        text.set(LINK, "rate = \"10Mbit/s\"; delay = \"5ms\"");
        text.set(FLOW, "cc = \"cubic\"; rtt = \"40ms\"");
        if link == BEHIND {
            text.set(ACCESS, "rate = \"100Mbit/s\"");
        }
        if link == NAMED {
            text.set(LINK, "name = \"l\"");
            text.set(FLOW, "path = [\"l\"]");
        }
        text
    }

    /// Adds `lines` to a table. Semicolons separate lines; a line without a value removes the key.
    fn set(&mut self, table: &str, lines: &str) {
        let Some(place) = [TOP, STACK, LINK, ACCESS, FLOW].iter().position(|name| *name == table)
        else {
            self.rest += &lines.replace("; ", "\n");
            self.rest.push('\n');
            return;
        };
        for line in lines.split("; ").filter(|line| !line.is_empty()) {
            let key = line.split(" =").next().expect("a part").trim();
            let own = &mut self.tables[place];
            own.retain(|line| line.split(" =").next() != Some(key));
            if line.contains('=') {
                own.push(line.to_owned());
            }
        }
    }

    fn text(&self) -> String {
        let [top, stack, link, access, flow] = self.tables.each_ref().map(|lines| lines.join("\n"));
        let access = if access.is_empty() { access } else { format!("[access]\n{access}") };
        format!(
            "{top}\n[stack]\n{stack}\n{}\n{link}\n{access}\n[[flows]]\n{flow}\n{}",
            self.link, self.rest
        )
    }
}

const DUMBBELL: &str = "[bottleneck]";
const NAMED: &str = "[[links]]";
/// The dumbbell with access links, so that the bottleneck is not the first link on the path.
const BEHIND: &str = "# Behind access links.\n[bottleneck]";

/// A comparison of a run with a key and a run without it: the lines that set the key, and the lines
/// that both runs have.
struct Case {
    key: &'static str,
    effect: Effect,
    lines: &'static str,
    beside: &'static [(&'static str, &'static str)],
}

const fn case(
    key: &'static str,
    effect: Effect,
    lines: &'static str,
    beside: &'static [(&'static str, &'static str)],
) -> Case {
    Case { key, effect, lines, beside }
}

const OF_TOP: &[Case] = &[
    case("title", Run, "title = \"T\"", &[]),
    case("duration", Digest, "duration = \"5s\"", &[]),
    case("seed", Digest, "seed = 2", &[(LINK, "loss = 0.01")]),
    case("repeat", Record, "repeat = 2", &[]),
    case("sample", Record, "sample = \"20ms\"", &[]),
    case(
        "controls",
        Needed,
        "controls = { mine = { source = \"test\" } }",
        &[(FLOW, "cc = \"mine\"")],
    ),
];

const LOSSY: (&str, &str) = (LINK, "loss = 0.02");
const NS3: (&str, &str) = (STACK, "profile = \"ns3\"");
const BBR: (&str, &str) = (FLOW, "cc = \"bbr1\"");

/// Settings under which a run uses ns-3's loss recovery. With these settings, a fifth of the
/// packets is lost; with [`NS3_REORDERED`], packets overtake each other.
const NS3_WITH_LOSS: &[(&str, &str)] =
    &[NS3, (STACK, "rcvbuf = \"20KB\""), (LINK, "loss = 0.2"), BBR];
const NS3_REORDERED: &[(&str, &str)] = &[
    NS3,
    (STACK, "rcvbuf = \"20KB\""),
    (LINK, "reorder = { ratio = 0.05, by = \"10ms\" }"),
    (FLOW, "cc = \"bbr1\"; train = { bytes = \"30KB\", count = 50, gap = \"10ms\" }"),
];

#[rustfmt::skip]
const OF_STACK: &[Case] = &[
    case("profile", Digest, "profile = \"ns3\"", &[]),
    case("mss", Digest, "mss = \"536B\"", &[]),
    case("sndbuf", Digest, "sndbuf = \"12KB\"", &[]),
    case("rcvbuf", Digest, "rcvbuf = \"32KB\"", &[]),
    case("tcp_rmem", Digest, "tcp_rmem = \"4096 16384 32768\"", &[]),
    case("tcp_wmem", Digest, "tcp_wmem = \"4096 16384 16384\"", &[]),
    case("notsent_lowat", Digest, "notsent_lowat = \"16KiB\"", &[]),
    case("slow_start_after_idle", Digest, "slow_start_after_idle = false", &[(FLOW, "write = { bytes = \"100KB\", every = \"1s\" }")]),
    case("rwnd", Digest, "rwnd = \"30000B\"", &[]),
    case("rcvlowat", Digest, "rcvlowat = \"65536B\"", &[]),
    case("hz", Digest, "hz = 100", &[(LINK, "loss = 0.3")]),
    case("sender_qdisc", Digest, "sender_qdisc = \"fq\"", &[BBR]),
    case("tso", Digest, "tso = \"off\"", &[BBR]),
    case("sack", Digest, "sack = false", &[LOSSY]),
    case("recovery", Digest, "recovery = \"classic\"", &[LOSSY]),
    case("delack", Digest, "delack = { every = 1 }", &[]),
    case("sockbuf", Digest, "sockbuf = \"payload\"", &[(STACK, "rcvbuf = \"32KB\"")]),
    case("nagle", Digest, "nagle = false", &[(FLOW, "write = { bytes = \"100B\", every = \"10ms\" }")]),
    case("dsack", Digest, "dsack = false", &[(LINK, "reverse_loss = 0.6; reverse_rate = \"100kbit/s\"")]),
    case("paws", Digest, "paws = false", &[(LINK, "jitter = { up_to = \"20ms\", keep_order = false }")]),
    case("tcp_options", Digest, "tcp_options = \"packed\"", &[(LINK, "reverse_rate = \"100kbit/s\"; loss = 0.02")]),
    case("handshake", Digest, "handshake = \"ns3\"", &[(LINK, "loss = [[\"0s\", 1], [\"500ms\", 0]]")]),
    case("rtt_clock", Digest, "rtt_clock = \"1ms\"", &[LOSSY, BBR]),
    case("rtt_retrans", Digest, "rtt_retrans = false", &[NS3, (STACK, "rcvbuf = \"20KB\""), (LINK, "loss = 0.2")]),
    case("cc_rtt", Digest, "cc_rtt = \"srtt\"", &[(FLOW, "cc = \"vegas\"")]),
    case("min_rto", Digest, "min_rto = \"1s\"", &[(LINK, "loss = 0.3")]),
    case("initial_cwnd", Digest, "initial_cwnd = 4", &[]),
    case("clock_step", Digest, "clock_step = \"1us\"", &[]),
    case("rack", Digest, "rack = false", &[LOSSY]),
    case("tlp", Digest, "tlp = false", &[(LINK, "loss = 0.1"), (FLOW, "train = { bytes = \"15KB\", count = 100, gap = \"10ms\" }")]),
    case("undo", Digest, "undo = false", &[(LINK, "reorder = { ratio = 0.01, by = \"20ms\" }")]),
    case("nextseg_rule3", Digest, "nextseg_rule3 = \"off\"", &[NS3, (LINK, "loss = 0.05"), (FLOW, "bytes = \"100KB\"")]),
    case("rwnd_bounds", Digest, "rwnd_bounds = \"pipe\"", &[(STACK, "rcvbuf = \"20KB\""), (LINK, "reorder = { ratio = 0.05, by = \"10ms\" }")]),
    case("pipe_keeps_sacked_retrans", Digest, "pipe_keeps_sacked_retrans = false", NS3_WITH_LOSS),
    case("partial_ack_sends", Digest, "partial_ack_sends = false", NS3_REORDERED),
    case("rto", Digest, "rto = \"linux\"", &[NS3, (LINK, "loss = 0.2")]),
    case("rto_impatient", Digest, "rto_impatient = false", NS3_WITH_LOSS),
    case("rto_estimate", Digest, "rto_estimate = \"rfc6298\"", &[(LINK, "loss = 0.3")]),
    case("exit_sets_ssthresh", Digest, "exit_sets_ssthresh = true", &[LOSSY, BBR]),
    case("cwnd_validation", Digest, "cwnd_validation = \"off\"", &[(FLOW, "cc = \"reno\"; rate = \"1Mbit/s\"; stop = \"3s\""), (STACK, "initial_cwnd = 10"), (REST, "[[flows]]; cc = \"cubic\"; rtt = \"40ms\"; start = \"1s\"")]),
    case("rate_ack_interval", Digest, "rate_ack_interval = \"previous\"", &[LOSSY, BBR]),
    case("rate_sample_sticky", Digest, "rate_sample_sticky = true", &[LOSSY, BBR]),
    case("rate_loss_abs", Digest, "rate_loss_abs = \"marked\"", &[(LINK, "loss = 0.05"), (FLOW, "cc = \"bbr3\"")]),
    case("rate_invalid", Digest, "rate_invalid = \"drop\"", &[(STACK, "profile = \"ns3-3.40\""), LOSSY, BBR]),
    case("rate_min_rtt", Digest, "rate_min_rtt = \"sample\"", &[NS3, BBR, (LINK, "jitter = { up_to = \"20ms\", keep_order = false }"), (FLOW, "train = { bytes = \"30KB\", count = 50, gap = \"10ms\" }")]),
    case("pacing", Digest, "pacing = \"timer\"", &[BBR]),
    case("pacing_counts_headers", Digest, "pacing_counts_headers = true", &[BBR]),
    case("pace_initial_window", Digest, "pace_initial_window = true", &[BBR]),
    case("app_write", Digest, "app_write = \"2000B\"", &[BBR]),
    case("bbr", Digest, "bbr = { cycle_rand = 6 }", &[BBR]),
    case("bbr2", Digest, "bbr2 = { probe_rtt_win_ms = 1000 }", &[(FLOW, "cc = \"bbr2\"")]),
    case("bbr3", Digest, "bbr3 = { probe_rtt_win_ms = 1000 }", &[(FLOW, "cc = \"bbr3\"")]),
    case("cubic", Digest, "cubic = { hystart = false }", &[]),
    case("vegas", Digest, "vegas = { growth = \"ns3\" }", &[(FLOW, "cc = \"vegas\"")]),
];

const CHANGES: (&str, &str) = (LINK, "rate = [[\"0s\", \"10Mbit/s\"], [\"2s\", \"5Mbit/s\"]]");
const FALLS: (&str, &str) = (LINK, "delay = [[\"0s\", \"15ms\"], [\"2s\", \"5ms\"]]");
const SLOW_BACK: (&str, &str) = (LINK, "reverse_rate = \"100kbit/s\"");

/// The comparisons for the keys of `[bottleneck]` and of `[[links]]`.
#[rustfmt::skip]
const OF_LINK: &[Case] = &[
    case("rate", Digest, "rate = \"20Mbit/s\"", &[]),
    case("delay", Digest, "delay = \"20ms\"", &[(FLOW, "rtt; left_delay = \"1ms\"")]),
    case("keep_order", Digest, "keep_order = false", &[FALLS]),
    case("buffer", Digest, "buffer = \"2bdp\"", &[]),
    case("buffer_unit", Digest, "buffer_unit = \"B\"", &[(FLOW, "write = { bytes = \"20100B\", every = \"10ms\" }"), (LINK, "buffer = \"0.5bdp\"")]),
    case("bdp_rtt", Digest, "bdp_rtt = \"80ms\"", &[]),
    case("device_queue", Digest, "device_queue = \"10pkt\"", &[]),
    case("queue", Digest, "queue = \"codel\"", &[]),
    case("reverse_queue", Digest, "reverse_queue = \"codel\"", &[SLOW_BACK]),
    case("loss", Digest, "loss = 0.01", &[]),
    case("trace", Digest, "trace = { rows = [\"time_s,rate_mbps\", \"0,10\", \"2,5\"] }", &[(LINK, "rate")]),
    case("loss_at", Digest, "loss_at = \"before\"", &[LOSSY]),
    case("rate_change", Digest, "rate_change = \"keep\"", &[CHANGES]),
    case("reverse_rate", Digest, "reverse_rate = \"100kbit/s\"", &[]),
    case("reverse_buffer", Digest, "reverse_buffer = \"5pkt\"", &[SLOW_BACK]),
    case("framing", Digest, "framing = \"100B\"", &[]),
    case("burst", Digest, "burst = \"30KB\"", &[]),
    case("peak_rate", Digest, "peak_rate = \"20Mbit/s\"", &[(LINK, "burst = \"30KB\"")]),
    case("police", Digest, "police = { rate = \"5Mbit/s\", burst = \"10KB\" }", &[]),
    case("ecn_threshold", Digest, "ecn_threshold = \"5pkt\"", &[(FLOW, "ecn = true")]),
    case("jitter", Digest, "jitter = \"2ms\"", &[]),
    case("reorder", Digest, "reorder = { ratio = 0.01, by = \"5ms\" }", &[]),
    case("duplicate", Digest, "duplicate = 0.1", &[]),
    case("corrupt", Digest, "corrupt = 0.01", &[]),
    case("reverse_duplicate", Digest, "reverse_duplicate = 0.1", &[]),
    case("reverse_corrupt", Digest, "reverse_corrupt = 0.1", &[]),
    case("reverse_loss", Digest, "reverse_loss = 0.1", &[]),
    case("reverse_jitter", Digest, "reverse_jitter = \"2ms\"", &[]),
    case("reverse_reorder", Digest, "reverse_reorder = { ratio = 0.01, by = \"5ms\" }", &[]),
    case("reverse_police", Digest, "reverse_police = { rate = \"50kbit/s\", burst = \"1KB\" }", &[]),
    case("ack_thinning", Digest, "ack_thinning = 4", &[]),
    case("slot", Digest, "slot = \"4ms\"", &[]),
    case("reverse_slot", Digest, "reverse_slot = \"4ms\"", &[]),
    case("airtime", Digest, "airtime = \"186us\"", &[(LINK, "reverse_rate = \"forward\"")]),
    case("grant", Digest, "grant = \"4ms\"", &[]),
    case("reverse_grant", Digest, "reverse_grant = \"4ms\"", &[]),
];

const OF_NAME: &[Case] = &[case(
    "name",
    Record,
    "name = \"m\"",
    &[(FLOW, "path"), (REST, "[bottleneck]; rate = \"20Mbit/s\"")],
)];

#[rustfmt::skip]
const OF_ACCESS: &[Case] = &[
    case("rate", Digest, "rate = \"5Mbit/s\"", &[]),
    case("delay", Digest, "delay = \"3ms\"", &[(FLOW, "rtt")]),
    case("buffer", Digest, "buffer = \"10pkt\"", &[(ACCESS, "rate = \"5Mbit/s\"")]),
    case("reverse_rate", Digest, "reverse_rate = \"100kbit/s\"", &[(ACCESS, "rate = \"5Mbit/s\"")]),
    case("framing", Digest, "framing = \"100B\"", &[(ACCESS, "rate = \"5Mbit/s\"")]),
];

const OTHER: (&str, &str) = (REST, "[[flows]]; cc = \"cubic\"; rtt = \"40ms\"; count = 2");
const TWO: (&str, &str) = (REST, "[[links]]; name = \"a\"; delay = \"3ms\"; rate = \"5Mbit/s\"");
const CAKE: (&str, &str) = (LINK, "queue = \"cake\"");

#[rustfmt::skip]
const OF_FLOW: &[Case] = &[
    case("cc", Digest, "cc = \"reno\"", &[]),
    case("cc_params", Digest, "cc_params = { hystart = false }", &[]),
    case("count", Digest, "count = 2", &[]),
    case("name", Record, "name = \"N\"", &[]),
    case("group", Record, "group = \"G\"", &[]),
    case("start", Digest, "start = \"1s\"", &[]),
    case("start_step", Digest, "start_step = \"100ms\"", &[(FLOW, "count = 2")]),
    case("start_jitter", Digest, "start_jitter = \"100ms\"", &[]),
    case("stop", Digest, "stop = \"2s\"", &[]),
    case("rtt", Digest, "rtt = \"50ms\"", &[]),
    case("left_delay", Digest, "left_delay = \"3ms\"", &[(FLOW, "rtt")]),
    case("right_delay", Digest, "right_delay = \"3ms\"", &[(FLOW, "rtt")]),
    case("left_link", Digest, "left_link = \"a\"", &[TWO]),
    case("right_link", Digest, "right_link = \"a\"", &[TWO]),
    case("path", Digest, "path = [\"a\"]", &[TWO]),
    case("return_path", Digest, "return_path = [\"a\"]", &[(FLOW, "path = [\"bottleneck\"]"), (REST, "[[links]]; name = \"a\"; rate = \"100kbit/s\"")]),
    case("ecn", Digest, "ecn = true", &[(LINK, "queue = \"fq_codel\"")]),
    case("dscp", Digest, "dscp = \"EF\"", &[CAKE, OTHER]),
    case("host", Digest, "host = \"A\"", &[CAKE, (FLOW, "count = 4"), OTHER]),
    case("sender_host", Digest, "sender_host = \"A\"", &[CAKE, (FLOW, "count = 4"), OTHER]),
    case("mss", Digest, "mss = \"536B\"", &[]),
    case("device", Digest, "device = \"wifi\"", &[]),
    case("max_pacing_rate", Digest, "max_pacing_rate = \"5Mbit/s\"", &[]),
    case("rate_samples", Digest, "rate_samples = false", &[BBR]),
    case("latency", Record, "latency = true", &[]),
    case("late", Record, "late = \"30ms\"", &[(FLOW, "rate = \"1Mbit/s\"")]),
    case("bytes", Digest, "bytes = \"100KB\"", &[]),
    case("rate", Digest, "rate = \"1Mbit/s\"", &[]),
    case("on", Digest, "on = \"300ms\"", &[(FLOW, "on = \"200ms\"; off = \"200ms\"")]),
    case("off", Digest, "off = \"300ms\"", &[(FLOW, "on = \"200ms\"; off = \"200ms\"")]),
    case("write", Digest, "write = { bytes = \"1KB\", every = \"10ms\" }", &[]),
    case("frames", Digest, "frames = { rate = \"30/s\", bytes = \"20KB\" }", &[]),
    case("train", Digest, "train = { bytes = \"15KB\", count = 3, gap = \"100ms\" }", &[]),
    case("arrivals", Digest, "arrivals = { rate = \"20/s\" }", &[(FLOW, "bytes = \"15KB\"")]),
    case("requests", Digest, "requests = { think = \"100ms\" }", &[(FLOW, "bytes = \"15KB\"")]),
    case("page", Digest, "page = { objects = [1, 4] }", &[(FLOW, "bytes = \"15KB\"")]),
    case("video", Digest, "video = { rate = \"1Mbit/s\", piece = \"1s\", buffer = \"2s\" }", &[]),
    case("sizes", Digest, "sizes = { distribution = \"pareto\", mean = \"15KB\" }", &[(FLOW, "arrivals = { rate = \"20/s\" }; sizes = { distribution = \"exponential\", mean = \"15KB\" }")]),
    case("read", Digest, "read = \"1Mbit/s\"", &[]),
];

/// A comparison of two runs, one of which sets a parameter of a queue discipline to `value`. Both
/// runs have the other parameters `params` and the lines `beside`. `of` lists the disciplines to
/// test; if `of` is empty, all disciplines that have the parameter are tested.
struct ParamCase {
    name: &'static str,
    of: &'static [&'static str],
    value: &'static str,
    params: &'static str,
    beside: &'static [(&'static str, &'static str)],
}

const fn param(
    name: &'static str,
    of: &'static [&'static str],
    value: &'static str,
    params: &'static str,
    beside: &'static [(&'static str, &'static str)],
) -> ParamCase {
    ParamCase { name, of, value, params, beside }
}

/// Two ECN-capable flows. In cases that also use [`OTHER`], two flows without ECN share the link
/// with them.
const ECN: (&str, &str) = (FLOW, "ecn = true; count = 2");
const L4S: (&str, &str) = (FLOW, "cc = \"dctcp\"; ecn = \"l4s\"; count = 2");
const BURST: (&str, &str) = (
    REST,
    "[[flows]]; cc = \"udp\"; rate = \"40Mbit/s\"; on = \"100ms\"; off = \"400ms\"; rtt = \"40ms\"",
);
const EIGHT: (&str, &str) = (FLOW, "count = 8");

#[rustfmt::skip]
const OF_QUEUES: &[ParamCase] = &[
    param("target", &[], "\"2ms\"", "", &[OTHER]),
    param("interval", &[], "\"50ms\"", "", &[OTHER]),
    param("tupdate", &[], "\"30ms\"", "", &[OTHER]),
    param("alpha", &["pie", "fq_pie"], "4", "", &[OTHER]),
    param("alpha", &["dualpi2"], "82", "", &[OTHER]),
    param("beta", &["pie", "fq_pie"], "10", "", &[OTHER]),
    param("beta", &["dualpi2"], "400", "", &[OTHER]),
    param("ecn", &["codel", "pie", "fq_pie", "red"], "true", "", &[ECN, OTHER]),
    param("ecn", &["fq_codel"], "false", "", &[ECN, OTHER]),
    param("ecn_prob", &[], "0", "ecn = true", &[ECN, OTHER]),
    param("bytemode", &[], "true", "", &[(FLOW, "mss = \"536B\""), OTHER]),
    param("dq_rate_estimator", &[], "true", "", &[OTHER]),
    param("ce_threshold", &[], "\"1ms\"", "", &[ECN, OTHER]),
    param("flows", &[], "2", "", &[EIGHT, OTHER]),
    param("drop_batch", &[], "1", "limit = \"20pkt\"", &[EIGHT]),
    param("quantum", &[], "\"300B\"", "", &[OTHER]),
    param("min", &[], "\"10KB\"", "", &[OTHER]),
    param("max", &[], "\"20KB\"", "", &[OTHER]),
    param("avpkt", &[], "\"500B\"", "", &[OTHER]),
    param("burst", &[], "200", "", &[OTHER]),
    param("probability", &[], "0.1", "", &[OTHER]),
    param("bandwidth", &["red"], "\"1Mbit/s\"", "", &[(FLOW, "on = \"100ms\"; off = \"100ms\""), OTHER]),
    param("bandwidth", &["cake"], "\"5Mbit/s\"", "", &[(LINK, "rate")]),
    param("harddrop", &[], "true", "ecn = true", &[ECN, BURST]),
    param("nodrop", &[], "true", "ecn = true", &[ECN, BURST]),
    param("adaptive", &[], "true", "", &[OTHER]),
    param("coupling_factor", &[], "1", "step_thresh = \"50ms\"", &[(TOP, "duration = \"8s\""), L4S, OTHER]),
    param("step_thresh", &[], "\"5ms\"", "", &[L4S]),
    param("min_qlen_step", &[], "20", "", &[L4S]),
    param("classic_protection", &[], "50", "", &[L4S, OTHER]),
    param("drop_on_overload", &[], "false", "", &[L4S, BURST]),
    param("drop_enqueue", &[], "true", "", &[OTHER]),
    param("any_ect", &[], "true", "", &[ECN, OTHER]),
    param("flow_limit", &[], "20", "", &[]),
    param("initial_quantum", &[], "\"1514B\"", "", &[OTHER]),
    param("depth", &[], "10", "", &[OTHER]),
    param("divisor", &[], "2", "", &[EIGHT]),
    param("perturb", &[], "\"100ms\"", "divisor = 4", &[EIGHT]),
    param("tins", &[], "\"besteffort\"", "", &[(FLOW, "dscp = \"EF\""), OTHER]),
    param("isolation", &[], "\"flowblind\"", "", &[OTHER]),
    param("rtt", &[], "\"20ms\"", "", &[OTHER]),
    param("memlimit", &[], "\"50KB\"", "", &[OTHER]),
    param("ack_filter", &[], "true", "", &[SLOW_BACK]),
    // `priomap` may only name bands that exist, so a `priomap` with the value 3 needs `bands = 4`.
    param("bands", &[], "4", "priomap = [3, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]", &[OTHER]),
    param("priomap", &[], "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]", "", &[(FLOW, "dscp = \"AF41\""), OTHER]),
];

#[test]
fn each_parameter_of_a_queue_changes_the_run() {
    let mut wrong = String::new();
    for queue in queues() {
        for (name, ..) in &queue.parameters {
            let of = |case: &&ParamCase| {
                case.name == *name && (case.of.is_empty() || case.of.contains(&queue.name))
            };
            let title = format!("`{name}` of {}", queue.name);
            let Some(case) = OF_QUEUES.iter().find(of) else {
                writeln!(wrong, "{title} has no scenario here in which it changes the run")
                    .unwrap();
                continue;
            };
            let lines = |params: &[&str]| {
                let mut all = vec![format!("discipline = \"{}\"", queue.name)];
                all.extend(params.iter().filter(|it| !it.is_empty()).map(|&it| it.to_owned()));
                format!("queue = {{ {} }}", all.join(", "))
            };
            let mut without = Text::new(DUMBBELL);
            case.beside.iter().for_each(|(table, lines)| without.set(table, lines));
            let mut with = without.clone();
            let value = format!("{name} = {}", case.value);
            with.set(LINK, &lines(&[case.params, &value]));
            let shaped = name == &"bandwidth" && queue.name == "cake";
            let base = if shaped { "bandwidth = \"10Mbit/s\"" } else { "" };
            without.set(LINK, &lines(&[case.params, base]));
            let [without, with] = [without, with].map(|text| {
                let text = text.text();
                Scenario::parse("s", "s.toml", &text, None, &[]).map_err(|it| it.to_string())?;
                Ok::<_, String>(results(&text)[0].summary.digest.clone())
            });
            match (without, with) {
                // Without `bands`, the values of `priomap` are out of range.
                (Err(_), Ok(_)) if *name == "bands" => {}
                (Ok(without), Ok(with)) if without == with => {
                    writeln!(wrong, "{title} changes nothing").unwrap();
                }
                (Err(errors), _) | (_, Err(errors)) => {
                    writeln!(wrong, "{title} is refused:\n{errors}").unwrap();
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Compares the two scenarios of a [`Case`]; the error text describes the fault.
fn check(link: &'static str, table: &str, case: &Case) -> Result<(), String> {
    let mut without = Text::new(link);
    for (table, lines) in case.beside {
        without.set(table, lines);
    }
    let mut with = without.clone();
    with.set(table, case.lines);
    let (without, with) = (without.text(), with.text());
    let parsed = |text: &str| Scenario::parse("s", "s.toml", text, None, &[]).map(|_| ());
    parsed(&with).map_err(|errors| format!("is refused:\n{errors}"))?;
    if case.effect == Needed {
        return match parsed(&without) {
            Ok(()) => Err("is not needed".to_owned()),
            Err(_) => Ok(()),
        };
    }
    parsed(&without).map_err(|errors| format!("without it the scenario is refused:\n{errors}"))?;
    if case.effect == Run {
        let [without, with] = [without, with].map(|text| format!("{:?}", runs(&text)));
        return if without == with { Err("changes nothing".to_owned()) } else { Ok(()) };
    }
    let [without, with] = [without, with].map(|text| results(&text));
    let digests = |results: &[bbrlab_run::RunResult]| -> Vec<String> {
        results.iter().map(|result| format!("{:?}", result.summary.digest)).collect()
    };
    let is_same = match case.effect {
        Digest => digests(&without) == digests(&with),
        _ => format!("{without:?}") == format!("{with:?}"),
    };
    if is_same { Err("changes nothing".to_owned()) } else { Ok(()) }
}

#[test]
fn each_key_of_a_scenario_changes_the_run() {
    let of_links: Vec<&Case> = OF_NAME.iter().chain(OF_LINK).collect();
    let tables: [(&str, &'static str, &str, Vec<&Case>); 7] = [
        ("", DUMBBELL, TOP, OF_TOP.iter().collect()),
        ("[stack]", DUMBBELL, STACK, OF_STACK.iter().collect()),
        ("[bottleneck]", DUMBBELL, LINK, OF_LINK.iter().collect()),
        ("[bottleneck]", BEHIND, LINK, OF_LINK.iter().collect()),
        ("[[links]]", NAMED, LINK, of_links),
        ("[access]", DUMBBELL, ACCESS, OF_ACCESS.iter().collect()),
        ("[[flows]]", DUMBBELL, FLOW, OF_FLOW.iter().collect()),
    ];
    let mut wrong = String::new();
    for section in sections() {
        let (_, link, table, cases) = tables
            .iter()
            .find(|(header, ..)| *header == section.header)
            .unwrap_or_else(|| panic!("no scenarios for the table {}", section.header));
        let mut cases: BTreeMap<&str, &Case> = cases.iter().map(|case| (case.key, *case)).collect();
        for key in &section.keys {
            let name = format!("{} `{}`", section.header, key.name);
            match cases.remove(key.name) {
                None => writeln!(wrong, "{name} has no scenario here in which it changes the run")
                    .unwrap(),
                Some(case) => {
                    if let Err(what) = check(link, table, case) {
                        writeln!(wrong, "{name} {what}").unwrap();
                    }
                }
            }
        }
        for key in cases.keys() {
            writeln!(wrong, "{} has no key `{key}`", section.header).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
