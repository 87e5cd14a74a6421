//! Runs a discipline with a script of arrivals and services, for tests.

use std::fmt::Write as _;

use bbrlab_units::{Ecn, Span, Time};
use expect_test::Expect;

use crate::entropy::{Entropy, HostHashes};
use crate::packet::Queued;
use crate::rule::{DropCause, Rule};

/// Hashes and random numbers for tests: a flow's hash is its number, and all random numbers are the
/// same.
struct Plain(u32);

impl Entropy for Plain {
    fn flow_hash(&mut self, packet: &Queued) -> u32 {
        packet.flow
    }

    fn next_u32(&mut self) -> u32 {
        self.0
    }

    fn next_u64(&mut self) -> u64 {
        self.0.into()
    }

    fn next_u16(&mut self) -> u16 {
        u16::try_from(self.0).unwrap()
    }

    /// Gives each flow its own sender, and each receiver two flows.
    fn host_hashes(&mut self, packet: &Queued) -> HostHashes {
        let flow = packet.flow + 1;
        HostHashes { destination: packet.flow / 2 + 1, source: flow, flow }
    }

    fn perturbed_hash(&mut self, packet: &Queued, perturbation: u32) -> u32 {
        packet.flow >> perturbation
    }
}

/// Runs the script and compares the packets that leave, in order, with `expected`. `a0` is the
/// first packet of flow `a`, and `a0-3` are its first four packets, one after another. `!a0` means
/// that packet `a0` was dropped, and `-` means a service that found no packet to send.
///
/// Words of the script:
///
/// - `a`: a packet of 1,514 bytes of flow `a` arrives; `a3`: three such packets; packets of `A`
///   have a DSCP for low delay
/// - `2`: the next two packets are served
/// - `+5`: 5 ms pass, and the timer fires if it is due
pub(crate) fn check(rule: &mut impl Rule, script: &str, expected: &Expect) {
    let mut now = Time::ZERO;
    let mut handle = 0;
    let mut numbers = [0; 64];
    let mut numbers_by_handle = Vec::new();
    let mut entropy = Plain(1);
    let mut gone = Vec::new();
    for word in script.split_whitespace() {
        let (kind, count) = word.split_at(usize::from(!word.as_bytes()[0].is_ascii_digit()));
        let count: u64 = if count.is_empty() { 1 } else { count.parse().unwrap() };
        match kind {
            "+" => {
                let end = now + Span::from_millis(count);
                while rule.timer() > now && rule.timer() <= end {
                    now = rule.timer();
                    let drop = &mut |packet, _: DropCause| gone.push(Some((true, packet)));
                    rule.on_timer(now, drop);
                }
                now = end;
            }
            "" => {
                for _ in 0..count {
                    let drop = &mut |packet, _: DropCause| gone.push(Some((true, packet)));
                    let sent = rule.dequeue(now, &mut entropy, drop);
                    gone.push(sent.map(|packet| (false, packet)));
                }
            }
            name => {
                for _ in 0..count {
                    let flow = u32::from(name.as_bytes()[0] - b'A');
                    numbers_by_handle.push(numbers[flow as usize]);
                    numbers[flow as usize] += 1;
                    let packet = Queued {
                        handle,
                        flow,
                        wire_bytes: 1514,
                        ecn: Ecn::NotEct,
                        hosts: crate::Hosts::default(),
                        dscp: if name.as_bytes()[0] < b'a' { 4 } else { 0 },
                        tin: 0,
                        marked: false,
                        arrived_at: now,
                    };
                    handle += 1;
                    let drop = &mut |packet, _: DropCause| gone.push(Some((true, packet)));
                    rule.enqueue(now, packet, false, &mut entropy, drop);
                }
            }
        }
    }
    let name = |(dropped, packet): (bool, Queued)| {
        (dropped, packet.flow, numbers_by_handle[packet.handle as usize])
    };
    expected.assert_eq(&runs(gone.into_iter().map(|fate| fate.map(name))));
}

/// Writes packets as text; `a0-3` means four consecutive packets of flow `a`.
fn runs(packets: impl Iterator<Item = Option<(bool, u32, u32)>>) -> String {
    let mut runs: Vec<Option<(bool, u32, u32, u32)>> = Vec::new();
    for packet in packets {
        let Some((dropped, flow, number)) = packet else {
            runs.push(None);
            continue;
        };
        match runs.last_mut() {
            Some(Some(run)) if (run.0, run.1, run.3 + 1) == (dropped, flow, number) => {
                run.3 = number;
            }
            _ => runs.push(Some((dropped, flow, number, number))),
        }
    }
    let mut text = String::new();
    for run in runs {
        let space = if text.is_empty() { "" } else { " " };
        let Some((dropped, flow, first, last)) = run else {
            write!(text, "{space}-").unwrap();
            continue;
        };
        let sign = if dropped { "!" } else { "" };
        let name = char::from_u32(u32::from(b'A') + flow).unwrap();
        write!(text, "{space}{sign}{name}{first}").unwrap();
        if last > first {
            write!(text, "-{last}").unwrap();
        }
    }
    text
}
