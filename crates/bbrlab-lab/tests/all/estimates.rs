//! Compares the estimates that are made before a run with the run's results: data packets, events,
//! rows of the time series, bytes on disk.
//!
//! An estimate must be right within a factor of two, and an upper bound must not be exceeded.
//! Memory is not compared, because the measured memory of a test run depends on the system. The
//! estimate of memory is computed from the numbers of rows, flows and packets and from the bytes
//! that each takes, so the test compares these numbers.

use std::fs;
use std::path::Path;

use bbrlab_cost::Estimate;
use bbrlab_lab::{ControlTexts, Stop, execute, save_run};
use bbrlab_run::Controls;
use bbrlab_scenario::Scenario;

/// An estimated and a measured value, and whether the estimate is an upper bound.
struct Compared {
    what: &'static str,
    estimated: u64,
    measured: u64,
    is_at_most: bool,
}

impl Compared {
    #[expect(
        clippy::cast_precision_loss,
        reason = "the ratio is compared with the factor 2, so rounding does not matter"
    )]
    fn ratio(&self) -> f64 {
        self.estimated as f64 / self.measured.max(1) as f64
    }

    fn is_right(&self) -> bool {
        if self.estimated == self.measured {
            true
        } else if self.is_at_most {
            self.ratio() >= 1.0
        } else {
            (0.5..=2.0).contains(&self.ratio())
        }
    }
}

/// Returns the total bytes of those files of a folder that do not depend on the machine or the
/// date.
fn bytes_of(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = files.filter(|file| file.file_name() != "run.json");
    files.map(|file| file.metadata().unwrap().len()).sum()
}

fn compare(name: &str, text: &str) -> Vec<Compared> {
    let scenario = Scenario::parse(name, "s.toml", text, None, &[])
        .unwrap_or_else(|errors| panic!("{name}: {errors}\n{text}"));
    let estimate = Estimate::of_scenario(&scenario);
    let executed = execute(&scenario.run(0), 1, &Controls::none(), &Stop::new(), |_| {}).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("estimates-{name}"));
    save_run(&folder, &scenario.run_toml(0), &executed, &ControlTexts::new(), true).unwrap();
    let disk_bytes = bytes_of(&folder);
    fs::remove_dir_all(&folder).unwrap();
    let result = executed.result;
    let rows = (result.series.time_s.len() + result.queue.time_s.len()) as u64;
    let at_most = estimate.at_most();
    let compared =
        |what, estimated, measured, is_at_most| Compared { what, estimated, measured, is_at_most };
    vec![
        compared(
            "packets",
            estimate.data_packets,
            result.summary.data_packets.unwrap(),
            at_most.packets,
        ),
        compared("events", estimate.events, result.summary.events.unwrap(), at_most.packets),
        compared("rows", estimate.series_rows, rows, at_most.rows),
        compared("disk", estimate.disk_bytes, disk_bytes, at_most.disk),
    ]
}

/// Returns a scenario of 6 s. The bottleneck has 20 Mbit/s, unless `link` begins with another
/// `rate =`. The flow's RTT is 40 ms. `link` and `flow` are further lines of the scenario,
/// separated by `;`.
fn dumbbell(link: &str, flow: &str) -> String {
    let lines = |text: &str| text.replace("; ", "\n");
    let rate = if link.starts_with("rate =") { "" } else { "rate = \"20Mbit/s\"\n" };
    format!(
        "duration = \"6s\"\n[bottleneck]\n{rate}delay = \"10ms\"\n{}\n[[flows]]\nrtt = \"40ms\"\n{}\n",
        lines(link),
        lines(flow)
    )
}

/// The tested scenarios. The columns are the scenario's name, keys of `[bottleneck]`, keys of
/// `[[flows]]` (perhaps followed by further tables of the scenario), and the names of those
/// estimates that are only upper bounds.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &str, &str)] = &[
    // The flows of the following cases fill the link.
    ("bbr1", "", "cc = \"bbr1\"", ""),
    ("bbr3", "", "cc = \"bbr3\"", ""),
    ("cubic", "", "cc = \"cubic\"", ""),
    ("deep-buffer", "buffer = \"20bdp\"", "cc = \"cubic\"", ""),
    ("half-buffer", "buffer = \"0.5bdp\"", "cc = \"reno\"", ""),
    ("fifty", "", "cc = \"cubic\"; count = 50", ""),
    ("two-groups", "", "cc = \"cubic\"; count = 4; [[flows]]; rtt = \"80ms\"; cc = \"bbr3\"; count = 4; start = \"2s\"", ""),
    ("late-and-early", "", "cc = \"cubic\"; start = \"4s\"; [[flows]]; rtt = \"40ms\"; cc = \"cubic\"; stop = \"2s\"", ""),
    ("step", "rate = [[\"0s\", \"5Mbit/s\"], [\"3s\", \"40Mbit/s\"]]", "cc = \"bbr1\"", ""),
    ("trace", "rate = { opportunities_ms = [1, 3, 3, 3, 5, 8, 10] }; buffer = \"100pkt\"", "cc = \"bbr1\"", ""),
    ("random-loss-bbr1", "loss = 0.02", "cc = \"bbr1\"", ""),
    ("every-ack", "", "cc = \"cubic\"; [stack]; mss = \"536B\"", ""),
    ("two-way", "reverse_rate = \"5Mbit/s\"; reverse_buffer = \"50pkt\"", "cc = \"cubic\"", ""),
    ("access-links", "", "cc = \"cubic\"; count = 3; [access]; rate = \"3Mbit/s\"; buffer = \"20pkt\"", ""),
    // In the following cases, the data, the rate, the duration or the window of flows is limited.
    ("small-transfers", "", "cc = \"cubic\"; count = 60; start_step = \"80ms\"; bytes = \"100KB\"", ""),
    ("stopped", "", "cc = \"cubic\"; stop = \"1s\"", "packets disk"),
    ("one-megabyte", "", "cc = \"bbr3\"; bytes = \"1MB\"", ""),
    ("overload", "", "cc = \"cubic\"; count = 50; start_step = \"50ms\"; bytes = \"1MB\"", ""),
    ("scattered", "", "cc = \"reno\"; count = 20; start_jitter = \"4s\"; bytes = \"100KB\"", ""),
    ("constant-rate", "", "cc = \"cubic\"; rate = \"2Mbit/s\"", ""),
    ("constant-and-bulk", "", "cc = \"cubic\"; rate = \"2Mbit/s\"; [[flows]]; rtt = \"40ms\"; cc = \"cubic\"", ""),
    ("on-and-off", "", "cc = \"cubic\"; on = \"1s\"; off = \"1s\"; rate = \"4Mbit/s\"", ""),
    ("writes", "", "cc = \"cubic\"; write = { bytes = \"64KiB\", every = \"50ms\" }", ""),
    ("small-writes", "", "cc = \"cubic\"; write = { bytes = \"100B\", every = \"10ms\" }; count = 5", ""),
    ("train", "", "cc = \"cubic\"; train = { bytes = \"150KB\", count = 1000, gap = \"100ms\" }", ""),
    ("train-that-ends", "", "cc = \"cubic\"; train = { bytes = \"15KB\", count = 5, gap = \"100ms\" }; count = 5", ""),
    ("small-window", "", "cc = \"cubic\"; [stack]; rwnd = \"30KiB\"", ""),
    ("small-receive-buffer", "", "cc = \"cubic\"; [stack]; rcvbuf = \"32KiB\"", ""),
    ("short-slow-start", "rate = \"10Gbit/s\"", "cc = \"cubic\"; bytes = \"20MB\"", ""),
    // The flows of the following cases are many short connections.
    ("ten-kilobytes", "rate = \"1Gbit/s\"", "cc = \"cubic\"; count = 3000; start_step = \"1ms\"; bytes = \"10KB\"", ""),
    ("hundred-kilobytes", "rate = \"1Gbit/s\"", "cc = \"bbr1\"; count = 300; start_step = \"10ms\"; bytes = \"100KB\"", ""),
    ("short-trains", "rate = \"1Gbit/s\"", "cc = \"cubic\"; train = { bytes = \"15KB\", count = 1000, gap = \"20ms\" }; count = 30; start_step = \"7ms\"", ""),
    ("come-and-go", "rate = \"1Gbit/s\"", "cc = \"cubic\"; arrivals = { rate = \"2000/s\" }; bytes = \"10KB\"", ""),
    ("come-with-one-packet", "rate = \"1Gbit/s\"", "cc = \"reno\"; arrivals = { rate = \"3000/s\" }; bytes = \"1KB\"", ""),
    ("come-faster-than-they-go", "", "cc = \"cubic\"; arrivals = { rate = \"3000/s\", at_most = 100000 }; bytes = \"10KB\"", ""),
    ("turned-away", "", "cc = \"cubic\"; arrivals = { rate = \"3000/s\", at_most = 50 }; bytes = \"10KB\"", ""),
    ("come-beside-bulk", "", "cc = \"cubic\"; arrivals = { load = 0.8 }; bytes = \"30KB\"; [[flows]]; rtt = \"40ms\"; cc = \"cubic\"; count = 3", ""),
    ("starved", "", "cc = \"cubic\"; count = 3000", ""),
    ("datagrams", "", "cc = \"udp\"; rate = \"4Mbit/s\"; count = 3", ""),
    ("frames", "", "cc = \"cubic\"; frames = { rate = \"30/s\", bytes = \"8KB\", key_bytes = \"40KB\", key_every = 60 }", ""),
    ("frames-of-datagrams", "", "cc = \"udp\"; frames = { rate = \"30/s\", bytes = \"8KB\" }; count = 3", ""),
    ("departures", "queue = \"fq_codel\"", "cc = \"cubic\"; count = 3", ""),
    // Some estimates of the following cases are only upper bounds.
    ("ten-kilobytes-at-once", "", "cc = \"cubic\"; count = 3000; bytes = \"10KB\"", "packets disk"),
    ("answers", "rate = \"1Gbit/s\"", "cc = \"cubic\"; requests = { think = \"30ms\" }; bytes = \"15KB\"; count = 50", "packets disk"),
    ("pages", "", "cc = \"cubic\"; page = { objects = [1, 12, 20], think = \"500ms\" }; bytes = \"20KB\"; count = 6", "packets disk"),
    ("random-answers", "rate = \"1Gbit/s\"", "cc = \"cubic\"; requests = { think = { distribution = \"exponential\", mean = \"30ms\" } }; bytes = \"15KB\"; count = 50", "packets disk"),
    ("loss-of-0.1-percent", "loss = 0.001", "cc = \"cubic\"", "packets disk"),
    ("loss-of-1-percent", "loss = 0.01", "cc = \"reno\"", "packets disk"),
    ("loss-of-10-percent", "loss = 0.1", "cc = \"cubic\"", "packets disk"),
    ("loss-in-bursts", "loss = { model = \"gilbert-elliott\", p = 0.001, r = 0.1, loss_bad = 1, loss_good = 0 }", "cc = \"cubic\"", "packets disk"),
    ("too-much-loss-for-bbr3", "loss = 0.1", "cc = \"bbr3\"", "packets disk"),
    ("transfers-with-loss", "loss = 0.02", "cc = \"cubic\"; bytes = \"1MB\"; count = 3", "packets rows disk"),
    ("tiny-buffer", "buffer = \"4pkt\"", "cc = \"reno\"", "packets disk"),
    ("on-and-off-at-will", "", "cc = \"cubic\"; on = \"10ms\"; off = \"500ms\"", "packets disk"),
    ("stopped-with-loss", "loss = 0.1", "cc = \"bbr1\"; stop = \"2s\"", "packets disk"),
    ("few-acks", "reverse_rate = \"50kbit/s\"; reverse_buffer = \"50pkt\"", "cc = \"cubic\"", "packets disk"),
    ("no-time-to-grow", "rate = \"200Mbit/s\"", "cc = \"reno\"", "packets disk"),
    ("few-packets-a-slot", "slot = { min_delay = \"1ms\", max_delay = \"9ms\", packets = 4 }", "cc = \"cubic\"", "packets disk"),
    ("acks-in-slots", "reverse_slot = \"10ms\"", "cc = \"bbr1\"", "packets disk"),
    ("no-sack", "", "cc = \"reno\"; [stack]; sack = false", "packets disk"),
];

#[test]
fn estimates_hold_where_they_are_printed() {
    let mut table = String::new();
    let mut is_right = true;
    let mut check = |name: &str, text: &str, bounds: &str| {
        let figures = compare(name, text);
        let told = figures.iter().filter(|figure| figure.is_at_most && figure.what != "events");
        let told: Vec<&str> = told.map(|figure| figure.what).collect();
        is_right &= told.join(" ") == bounds && figures.iter().all(Compared::is_right);
        table.push_str(&format!("{name:22}"));
        for figure in &figures {
            let Compared { what, estimated, measured, .. } = figure;
            let mark = if figure.is_right() { ' ' } else { '!' };
            table.push_str(&format!(
                " | {what} {estimated:8} {measured:8} {:6.2}{mark}",
                figure.ratio()
            ));
        }
        table.push_str(&format!(" | at most: {}\n", told.join(" ")));
    };
    for &(name, link, flows, bounds) in TABLE {
        check(name, &dumbbell(link, flows), bounds);
    }
    let path = |links: &str, flows: &[&str]| {
        let mut text = "duration = \"6s\"\nsample = \"100ms\"\n".to_owned();
        for link in links.chars() {
            text.push_str(&format!(
                "[[links]]\nname = \"{link}\"\nrate = \"20Mbit/s\"\ndelay = \"10ms\"\n"
            ));
        }
        for flow in flows {
            text.push_str(&format!("[[flows]]\ncc = \"cubic\"\n{flow}\n"));
        }
        text
    };
    let parking_lot = path(
        "abc",
        &["path = [\"a\"]", "path = [\"b\"]", "path = [\"c\"]", "path = [\"a\", \"b\", \"c\"]"],
    );
    check("parking-lot", &parking_lot, "");
    let both_ways =
        ["path = [\"a\"]\nreturn_path = [\"b\"]", "path = [\"b\"]\nreturn_path = [\"a\"]"];
    check("opposite", &path("ab", &both_ways), "");
    let no_rate = "duration = \"2s\"\n[bottleneck]\ndelay = \"10ms\"\n[[flows]]\ncc = \"cubic\"\nrtt = \"200ms\"\n";
    check("no-rate", no_rate, "");
    let acks = format!("sample = \"ack\"\n{}", dumbbell("", "cc = \"cubic\"; count = 3"));
    check("a-row-for-each-ack", &acks, "");
    let off = format!("sample = \"off\"\n{}", dumbbell("", "cc = \"cubic\"; count = 300"));
    check("no-rows", &off, "");
    let many = dumbbell("rate = \"1Gbit/s\"", "cc = \"cubic\"; count = 5000");
    check("five-thousand", &many.replace("6s", "1s"), "");
    assert!(is_right, "\n{table}");
    println!("{table}");
}
