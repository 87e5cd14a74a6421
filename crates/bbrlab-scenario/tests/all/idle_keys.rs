//! Checks that a key without effect is an error. The error has the position of the key, what was
//! expected and what was found.

use std::fmt::Write as _;

use bbrlab_scenario::{Scenario, ScenarioErrors};
use expect_test::expect;

/// Returns a scenario with a dumbbell of 10 Mbit/s and a flow. The arguments are added to the
/// bottleneck, to the flow, and to the file. A `link` that begins with `rate` replaces the rate.
fn text(link: &str, flow: &str, rest: &str) -> String {
    let rate = if link.starts_with("rate") { "" } else { "rate = \"10Mbit/s\"\n" };
    let cc = if flow.starts_with("cc") { "" } else { "cc = \"cubic\"\n" };
    format!(
        "duration = \"2s\"\n[bottleneck]\n{rate}{link}\n[[flows]]\n{cc}rtt = \"40ms\"\n{flow}\n{rest}\n"
    )
}

fn parse(text: &str) -> Result<Scenario, ScenarioErrors> {
    Scenario::parse("test", "test.toml", text, None, &[])
}

const OTHER_LINK: &str = "[[links]]\nname = \"a\"\nrate = \"10Mbit/s\"\n";

#[test]
fn a_key_without_what_it_acts_on_is_refused() {
    let udp = "cc = \"udp\"\nrate = \"1Mbit/s\"";
    let path = "path = [\"a\"]\nreturn_path = [\"b\"]";
    let links = |of_a: &str, of_b: &str| {
        format!(
            "[[links]]\nname = \"a\"\nrate = \"10Mbit/s\"\n{of_a}\n[[links]]\nname = \"b\"\nrate = \"10Mbit/s\"\n{of_b}\n"
        )
    };
    let cases = [
        text("ack_thinning = 4", udp, ""),
        text("reverse_loss = 0.1", udp, ""),
        text("loss_at = \"before\"", "", ""),
        text("rate_change = \"keep\"", "", ""),
        text("ecn_threshold = \"5pkt\"", "", ""),
        text("buffer = \"20pkt\"\nbdp_rtt = \"60ms\"", "", ""),
        text("", "dscp = \"EF\"", ""),
        text("queue = \"prio\"", "host = \"A\"", ""),
        text("", "", "[access]\nreverse_rate = \"1Mbit/s\""),
        text("", "", "[access]\nframing = \"2B\""),
        text("", udp, "[stack]\nrcvlowat = \"64KiB\"\nmss = \"1000B\""),
        text("", "", "[stack]\nrcvbuf = \"1MB\"\ntcp_rmem = \"1 2 3\""),
        text("", "", "[stack]\nsndbuf = \"1MB\"\ntcp_wmem = \"1 2 3\""),
        text("", "", "[stack]\nsockbuf = \"payload\"\nnotsent_lowat = \"16KiB\""),
        text("", "", "[stack]\ncwnd_validation = \"off\"\nslow_start_after_idle = false"),
        text("", "cc = \"bbr3\"", "[stack]\nslow_start_after_idle = false"),
        // Data crosses only link `a`, ACKs cross only link `b`.
        text("", path, &links("reverse_jitter = \"1ms\"", "")),
        text("", path, &links("ack_thinning = 2", "")),
        text("", path, &links("", "ecn_threshold = \"5pkt\"")),
    ];
    let mut told = String::new();
    for case in cases {
        let Err(errors) = parse(&case) else { panic!("accepted:\n{case}") };
        let [error] = &errors.0[..] else { panic!("{errors}") };
        writeln!(told, "{}: {}; {}", error.line.unwrap(), error.title, error.found).unwrap();
    }
    expect![[r#"
        4: `bottleneck.ack_thinning`: expected ACKs that cross the link; found no flow whose ACKs do, so the key cannot act
        4: `bottleneck.reverse_loss`: expected ACKs that cross the link in the reverse direction; found no flow whose ACKs take this direction, so the key cannot act
        4: `bottleneck.loss_at`: expected a `loss` or `reverse_loss` as well; found neither, so the key cannot act
        3: `bottleneck.rate_change`: expected a `rate` that changes; found one that does not, so the key cannot act
        4: `bottleneck.ecn_threshold`: expected a flow with `ecn` that crosses the link; found none, so the key cannot act
        5: `bottleneck.bdp_rtt`: expected a buffer in `bdp`; found none, so the key cannot act
        8: `flows[0].dscp`: expected a queue `cake`, `prio` or `fq` on its path; found none that distinguishes classes of traffic, so the key cannot act
        8: `flows[0].host`: expected a queue `cake` on its path; found none that distinguishes hosts, so the key cannot act
        10: `access.reverse_rate`: expected a `rate` as well; found access links without a rate, so the key cannot act
        10: `access.framing`: expected a `rate` as well; found access links without a rate, so the key cannot act
        10: `stack.rcvlowat`: expected a flow with a connection; found only flows of datagrams, so the key cannot act
        11: `stack.tcp_rmem`: expected `rcvbuf = "auto"`; found a receive buffer of a fixed size, so the key cannot act
        11: `stack.tcp_wmem`: expected `sndbuf = "auto"`; found a send buffer of a fixed size, so the key cannot act
        11: `stack.notsent_lowat`: expected `sockbuf = "memory"`; found buffers that count payload, so the key cannot act
        11: `stack.slow_start_after_idle`: expected `cwnd_validation = "linux"`; found another rule, so the key cannot act
        9: `stack.slow_start_after_idle`: expected a flow whose algorithm leaves cwnd to the stack, such as CUBIC; found only flows of BBR, which sets cwnd itself, so the key cannot act
        13: `links[0].reverse_jitter`: expected ACKs that cross the link in the reverse direction; found no flow whose ACKs take this direction, so the key cannot act
        13: `links[0].ack_thinning`: expected ACKs that cross the link; found no flow whose ACKs do, so the key cannot act
        17: `links[1].ecn_threshold`: expected a flow with `ecn` that crosses the link; found none, so the key cannot act
    "#]].assert_eq(&told);
}

#[test]
fn a_key_with_what_it_acts_on_is_not() {
    let links = "[[links]]\nname = \"a\"\nrate = \"10Mbit/s\"\n[[links]]\nname = \"b\"\nloss = 0.1\nack_thinning = 2\njitter = \"1ms\"\n";
    for case in [
        text("reverse_loss = 0.1\nloss_at = \"before\"", "", ""),
        // The following keys must not be errors either: keys with their default values, and keys
        // that act only if more flows are added, such as `start_step` with `count = 1`.
        text("loss = 0\nloss_at = \"before\"", "", ""),
        text("loss_at = \"after\"\nrate_change = \"follow\"\nack_thinning = 1\nloss = 0", "", ""),
        text("", "count = 1\nstart_step = \"1s\"\ndscp = \"CS0\"", ""),
        text("", "", &format!("{OTHER_LINK}loss = 0.1\nreverse_loss = 0.1\n")),
        text("", "", "[access]\ndelay = \"3ms\""),
        text("queue = { discipline = \"codel\", ecn = true }", "", ""),
        text("", "ecn = true", "[stack]\nbbr3 = { cwnd_gain = 512 }"),
        // No data crosses link `b`, but ACKs cross it, in its forward direction.
        text("", "path = [\"a\"]\nreturn_path = [\"b\"]", links),
        text(
            "",
            "cc = \"udp\"\nrate = \"1Mbit/s\"",
            "[[flows]]\ncc = \"reno\"\nrtt = \"40ms\"\n[stack]\nsack = false",
        ),
    ] {
        if let Err(errors) = parse(&case) {
            panic!("{case}\n{errors}");
        }
    }
}

#[test]
fn in_a_sweep_a_key_need_act_at_one_point_only() {
    let base = text("ecn_threshold = \"5pkt\"\nrate_change = \"keep\"", "dscp = \"EF\"", "");
    let swept = |axes: &str| parse(&format!("{base}[sweep]\n{axes}\n"));
    let all = "\"bottleneck.queue\" = [\"droptail\", \"cake\"]\n\"flows.ecn\" = [false, true]\n\
               \"bottleneck.rate\" = [\"10Mbit/s\", [[\"0s\", \"10Mbit/s\"], [\"1s\", \"5Mbit/s\"]]]";
    let scenario = swept(all).unwrap_or_else(|errors| panic!("{errors}"));
    // Reading the text of a run gives only this run, and no error about keys without effect.
    for run in 0..scenario.runs() {
        let text = scenario.run_toml(run);
        let again = parse(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
        assert_eq!(again.run_toml(0), text);
        assert_eq!(again.run(0).links, scenario.run(run).links);
    }
    // A key that acts at no sweep point is still an error.
    let errors = swept(all.split_once('\n').unwrap().1).unwrap_err();
    assert!(errors.0.len() == 1 && errors.0[0].title.starts_with("`flows[0].dscp`"), "{errors}");
    let errors = parse(&format!("{}[sweep]\n\"flows.host\" = [\"A\", \"B\"]\n", text("", "", "")));
    let errors = errors.unwrap_err();
    assert!(errors.0[0].title.starts_with("`flows[0].host`"), "{errors}");
}
