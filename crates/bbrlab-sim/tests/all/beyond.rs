//! The events that only custom congestion controls receive: each one-way delay, each packet sent,
//! and a timer.

use std::sync::{Arc, Mutex};

use bbrlab_cc::{
    CongestionControl, Conn, Control, Controls, Draw, Extras, Hooks, Maker, Params, Place, Plugged,
    Reno,
};
use bbrlab_run::RunResult;
use bbrlab_scenario::Scenario;
use bbrlab_sim::{LinkMode, Sim, simulate};
use bbrlab_units::Time;

/// The events that all instances of a congestion control have received.
#[derive(Debug, Default)]
struct Heard {
    owd_us: Vec<u32>,
    sent: u64,
    retransmitted: u64,
    timers_ns: Vec<u64>,
}

/// Reno that records its events, and whose timer fires every `every_ns`. With a `window`, cwnd is 1
/// until the timer first fires and sets cwnd to `window`.
#[derive(Clone, Debug)]
struct Listener {
    reno: Reno,
    extras: Extras,
    every_ns: u64,
    window: Option<u32>,
    at_ns: Option<u64>,
    heard: Arc<Mutex<Heard>>,
}

impl CongestionControl for Listener {
    fn hooks(&self) -> Hooks {
        Hooks::default()
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        self.at_ns = Some(conn.clock_ns + self.every_ns);
        Control { cwnd: self.window.map_or(conn.ctl.cwnd, |_| 1), ..conn.ctl }
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        self.reno.ssthresh(conn)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        self.reno.undo_cwnd(conn)
    }

    fn cong_avoid(&mut self, conn: &Conn, ack: u32, acked: u32) -> Control {
        self.window.map_or_else(|| self.reno.cong_avoid(conn, ack, acked), |_| conn.ctl)
    }

    fn extras(&self) -> Extras {
        self.extras
    }

    fn note_owd(&mut self, owd_us: u32) {
        self.heard.lock().unwrap().owd_us.push(owd_us);
    }

    fn on_sent(&mut self, conn: &Conn, sent: u32, again: u32, _draw: &mut impl Draw) -> Control {
        let mut heard = self.heard.lock().unwrap();
        heard.sent += u64::from(sent);
        heard.retransmitted += u64::from(again);
        conn.ctl
    }

    fn on_timer(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        self.heard.lock().unwrap().timers_ns.push(conn.clock_ns);
        self.at_ns = Some(conn.clock_ns + self.every_ns);
        Control { cwnd: self.window.unwrap_or(conn.ctl.cwnd), ..conn.ctl }
    }

    fn timer_ns(&self) -> Option<u64> {
        self.at_ns
    }
}

#[derive(Debug)]
struct Listeners(Listener);

impl Maker for Listeners {
    fn hooks(&self) -> Hooks {
        self.0.hooks()
    }

    fn make(&self, _: &Params, _: Place) -> Plugged {
        Plugged::new(self.0.clone())
    }
}

/// Runs a flow of `cc` for 4 s over 20 Mbit/s and 40 ms, with a queue of at most 20 ms.
fn scenario(cc: &str, more: &str) -> bbrlab_run::Run {
    let text = format!(
        "duration = \"4s\"\n\
         [controls]\noutside = {{ source = \"a test\" }}\n\
         [bottleneck]\nrate = \"20Mbit/s\"\nbuffer = \"0.5bdp\"\nloss = 0.002\n\
         [[flows]]\ncc = \"{cc}\"\nrtt = \"40ms\"\n{more}"
    );
    let scenario = Scenario::parse("beyond", "beyond", &text, None, &[]);
    scenario.unwrap_or_else(|errors| panic!("{errors}")).run(0)
}

fn heard(extras: Extras, every_ns: u64, window: Option<u32>, more: &str) -> (RunResult, Heard) {
    let heard = Arc::new(Mutex::new(Heard::default()));
    let listener =
        Listener { reno: Reno, extras, every_ns, window, at_ns: None, heard: Arc::clone(&heard) };
    let maker = Arc::new(Listeners(listener)) as Arc<dyn Maker>;
    let controls = Controls::of(vec![("outside".to_owned(), maker)]);
    let run = scenario("outside", more);
    let mut sim = Sim::with_controls(&run, LinkMode::VirtualClock, &controls).unwrap();
    sim.advance(Time(run.duration.0));
    let result = sim.finish();
    let heard = std::mem::take(&mut *heard.lock().unwrap());
    (result, heard)
}

const ALL: Extras = Extras { owd: true, sent: true, timer: true };
const MS: u64 = 1_000_000;

#[test]
fn a_control_that_only_listens_has_the_digest_of_the_built_in_one() {
    let built_in = simulate(&scenario("reno", "")).unwrap();
    for extras in [Extras { owd: true, ..Extras::default() }, ALL] {
        let (ours, _) = heard(extras, 1_000 * MS, None, "");
        assert_eq!(ours.summary.digest, built_in.summary.digest, "{extras:?}");
    }
}

#[test]
fn one_way_delays_are_those_of_the_path_and_of_its_queue() {
    let (_, heard) = heard(ALL, 10 * MS, None, "");
    assert!(heard.owd_us.len() > 1000);
    assert!(heard.owd_us.iter().all(|us| us % 1000 == 0), "timestamps are in milliseconds");
    // A delay is at least 20 ms, half of the RTT. The queue adds at most 20 ms, and delayed ACKs
    // add at most 40 ms. In a recovery, ACKs echo the timestamp of the last segment that arrived in
    // order, so the measured delay is longer.
    let mut sorted_us = heard.owd_us.clone();
    sorted_us.sort_unstable();
    assert_eq!(sorted_us[0], 20_000);
    assert!(sorted_us[sorted_us.len() * 3 / 4] <= 81_000, "outside of recoveries");
    assert!(sorted_us.iter().any(|us| (35_000..=42_000).contains(us)), "the queue is full");
}

#[test]
fn every_packet_sent_is_reported_once() {
    let (result, heard) = heard(ALL, 10 * MS, None, "");
    let flow = &result.summary.flows[0];
    assert_eq!(
        (heard.sent, heard.retransmitted),
        (flow.sent_packets.unwrap(), flow.retransmitted_packets.unwrap())
    );
    assert!(heard.retransmitted > 0);
}

#[test]
fn a_timer_fires_at_its_time_until_the_flow_ends() {
    let (_, all) = heard(ALL, 10 * MS, None, "");
    let steps = all.timers_ns.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(steps.eq([10 * MS].repeat(all.timers_ns.len() - 1)), "nothing else moves it");
    assert!((394..=396).contains(&all.timers_ns.len()), "{}", all.timers_ns.len());
    let (result, short) = heard(ALL, 10 * MS, None, "bytes = \"1MB\"\n");
    let done_ms = result.summary.flows[0].fct_ms.mean.expect("it ends");
    // The receiver delays the last ACK by at most 40 ms, and the ACK takes 20 ms to the sender. The
    // flow ends when this ACK arrives, 20 to 60 ms after the receiver has read everything. The last
    // timer fires at most 10 ms before the flow ends. `last_ms` is the time of this timer; the 40
    // ms in `last_ms` are the handshake. The bounds below are wider by 1 or 2 ms.
    let timers = u32::try_from(short.timers_ns.len()).expect("a few timers");
    let last_ms = f64::from(timers) * 10.0 + 40.0;
    assert!((done_ms + 8.0..done_ms + 61.0).contains(&last_ms), "{last_ms} of {done_ms}");
    let none = heard(Extras { timer: false, ..ALL }, 10 * MS, None, "").1;
    assert!(none.timers_ns.is_empty());
}

#[test]
fn what_a_timer_allows_is_sent_at_once() {
    // cwnd is 1 packet until the timer first fires, 100 ms after the handshake.
    let (_, heard) = heard(ALL, 100 * MS, Some(16), "");
    // The run lasts 100 round trips, and up to 16 packets are sent in each.
    assert!((1200..1700).contains(&heard.sent), "{} packets", heard.sent);
}

#[test]
fn a_timer_that_is_already_due_is_not_armed_and_a_near_one_waits_a_microsecond() {
    let (_, due) = heard(ALL, 0, None, "");
    assert!(due.timers_ns.is_empty());
    let (_, near) = heard(ALL, 1, None, "bytes = \"20KB\"\n");
    assert!(near.timers_ns.windows(2).all(|pair| pair[1] - pair[0] == 1000));
    assert!(near.timers_ns.len() > 1000);
}
