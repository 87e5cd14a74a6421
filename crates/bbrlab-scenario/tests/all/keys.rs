//! Tests every key of a scenario file, and its effect on the run.

use crate::cpu_time::cpu_s;
use bbrlab_link::{
    Buffer, EcnThreshold, Jitter, Link, Loss, LossAt, Probability, Queue, Rate, RateChange, Reorder,
};
use bbrlab_run::{Distribution, Frames, Hop, KeyFrames, Run, Sample, Source};
use bbrlab_scenario::Scenario;
use bbrlab_stack::{
    AckInterval, CwndValidation, DelAck, EcnMode, InvalidSample, LossCount, LossSwitches, Pacing,
    PacingSwitches, PartialAck, RateSwitches, Recovery, Rto, RtoEstimate, Rule3, RwndBounds,
    SampleBound, SenderQdisc, SocketBuffer, Tso,
};
use bbrlab_units::{BitRate, Bytes, Packets, Span, Time};

fn scenario(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    Scenario::parse("test", "test.toml", text, None, &sets)
        .unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(text: &str) -> Run {
    scenario(text, &[]).run(0)
}

/// Returns a dumbbell with a link of 10 Mbit/s and 5 ms of delay, and with one Reno flow. `link` is
/// added to the bottleneck, `flow` to the flow, `rest` to the file.
fn dumbbell(link: &str, flow: &str, rest: &str) -> Run {
    run(&format!(
        "duration = \"10s\"\n[bottleneck]\nrate = \"10Mbit/s\"\ndelay = \"5ms\"\n{link}\n\
         [[flows]]\ncc = \"reno\"\n{flow}\n{rest}\n"
    ))
}

fn bottleneck(link: &str) -> Link {
    dumbbell(link, "rtt = \"30ms\"", "").links[0].clone()
}

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

#[test]
fn top_level_keys() {
    let text = "title = \"T\"\nduration = \"2s\"\nseed = 7\nrepeat = 3\nsample = \"20ms\"\n\
                [bottleneck]\ndelay = \"5ms\"\n[[flows]]\ncc = \"newreno\"\n";
    let scenario = scenario(text, &[]);
    assert_eq!((scenario.title(), scenario.name(), scenario.runs()), ("T", "test", 3));
    let seeds: Vec<u64> = (0..3).map(|run| scenario.run(run).seed).collect();
    assert_eq!(seeds, [7, 8, 9]);
    let run = scenario.run(0);
    assert_eq!((run.title.as_str(), run.duration), ("T", Span::from_secs(2)));
    assert_eq!(run.sample, Sample::Every(ms(20)));
    assert_eq!(run.classes[0].cc.name(), "reno");
    assert!(run.point.is_empty());
}

#[test]
fn series_can_follow_every_ack_or_be_left_out() {
    let sample = |value: &str| {
        run(&format!("sample = {value}\nduration = \"1s\"\n[bottleneck]\ndelay = \"1ms\"\n[[flows]]\ncc = \"reno\"\n")).sample
    };
    assert_eq!(sample("\"ack\""), Sample::Ack);
    assert_eq!(sample("\"off\""), Sample::Off);
    assert_eq!(dumbbell("", "rtt = \"30ms\"", "").sample, Sample::Every(ms(10)));
}

#[test]
fn above_a_thousand_flows_there_is_no_series_per_flow_unless_asked() {
    let many = |top: &str, count: u32| {
        run(&format!("{top}\nduration = \"1s\"\n[bottleneck]\ndelay = \"1ms\"\n[[flows]]\ncc = \"reno\"\ncount = {count}\n"))
            .flow_series
    };
    assert!(many("", 1000));
    assert!(!many("", 1001));
    assert!(many("sample = \"1s\"", 1001));
    assert!(!many("sample = \"off\"", 1));
}

#[test]
fn stack_keys_and_their_defaults() {
    let plain = dumbbell("", "rtt = \"30ms\"", "");
    assert_eq!(plain.classes[0].mss, 1448);
    let stack = plain.stack;
    assert_eq!((stack.sndbuf, stack.rcvbuf), (SocketBuffer::Auto, SocketBuffer::Auto));
    assert_eq!((stack.rwnd, stack.rcvlowat, stack.hz), (None, Bytes(1), 1000));
    assert_eq!((stack.sender_qdisc, stack.tso, stack.sack), (SenderQdisc::None, Tso::Cut, true));
    assert_eq!((stack.recovery, stack.delack), (Recovery::Linux, DelAck::Linux));
    assert_eq!((stack.min_rto, stack.initial_cwnd), (ms(200), 10));
    assert_eq!(stack.clock_step, Span(1));

    let rest = "[stack]\nprofile = \"linux\"\nmss = \"536B\"\nsndbuf = \"131072B\"\nrcvbuf = \"auto\"\nrwnd = \"65535B\"\n\
                rcvlowat = \"64KiB\"\nhz = 250\nsender_qdisc = \"fq\"\ntso = \"whole\"\nsack = false\nrecovery = \"prr\"\n\
                delack = { every = 2, timer = \"200ms\" }\nmin_rto = \"1s\"\ninitial_cwnd = 1\n\
                clock_step = \"256ns\"\n";
    let set = dumbbell("", "rtt = \"30ms\"", rest);
    assert_eq!(set.classes[0].mss, 536);
    let stack = set.stack;
    assert_eq!(
        (stack.sndbuf, stack.rcvbuf),
        (SocketBuffer::Fixed(Bytes(131_072)), SocketBuffer::Auto)
    );
    assert_eq!((stack.rwnd, stack.rcvlowat, stack.hz), (Some(Bytes(65_535)), Bytes(65_536), 250));
    assert_eq!((stack.sender_qdisc, stack.tso, stack.sack), (SenderQdisc::Fq, Tso::Whole, false));
    assert_eq!(stack.recovery, Recovery::Prr);
    assert_eq!(stack.delack, DelAck::Every { every: 2, timer: ms(200) });
    assert_eq!((stack.min_rto, stack.initial_cwnd), (Span::from_secs(1), 1));
    assert_eq!(stack.clock_step, Span(256));

    let delack = |rest: &str| dumbbell("", "rtt = \"30ms\"", &format!("[stack]\n{rest}")).stack;
    assert_eq!(delack("delack = { every = 1 }").delack, DelAck::Quick);
    assert_eq!(delack("delack = \"linux\"").delack, DelAck::Linux);
    assert_eq!(delack("tso = \"off\"").tso, Tso::Off);
    assert_eq!(delack("recovery = \"classic\"").recovery, Recovery::Classic);
    assert_eq!(delack("sender_qdisc = \"none\"").sender_qdisc, SenderQdisc::None);
}

#[test]
fn each_switch_of_the_sender_is_a_key_and_linux_is_the_default() {
    let stack = |keys: &str| dumbbell("", "rtt = \"30ms\"", &format!("[stack]\n{keys}")).stack;
    let linux = stack("");
    assert_eq!(linux.loss, LossSwitches::default());
    assert_eq!(linux.rate, RateSwitches::default());
    assert_eq!(linux.pacing, PacingSwitches::default());

    let ns3 = stack(
        "recovery = \"prr_ssrb\"\nrack = true\ntlp = false\nundo = false\nnextseg_rule3 = \"any\"\n\
         rwnd_bounds = \"both\"\npipe_keeps_sacked_retrans = true\npartial_ack_sends = true\n\
         rto = \"mark_all_keep_sack\"\nrto_impatient = true\nrto_estimate = \"rfc6298\"\n\
         exit_sets_ssthresh = true\ncwnd_validation = \"last_sent\"\nrate_ack_interval = \"previous\"\n\
         rate_sample_sticky = true\nrate_loss_abs = true\nrate_invalid = \"reuse\"\nrate_min_rtt = \"srtt\"\n\
         pacing = \"timer\"\npacing_counts_headers = true\npace_initial_window = true\napp_write = \"512B\"\n",
    );
    assert_eq!(ns3.recovery, Recovery::PrrSsrb);
    let loss = LossSwitches {
        rack: Some(true),
        tlp: Some(false),
        undo: Some(false),
        rule3: Rule3::Any,
        rwnd_bounds: RwndBounds::Both,
        pipe_keeps_sacked_retrans: true,
        partial_ack: PartialAck::Segment,
        rto: Rto::MarkAllKeepSack,
        rto_impatient: true,
        rto_estimate: RtoEstimate::Rfc6298,
        exit_sets_ssthresh: true,
        cwnd_validation: CwndValidation::LastSent,
    };
    assert_eq!(ns3.loss, loss);
    let rate = RateSwitches {
        ack_interval: AckInterval::Previous,
        is_sticky: true,
        loss: LossCount::Change,
        invalid: InvalidSample::Reuse,
        min_rtt: SampleBound::Srtt,
        is_blind: false,
    };
    assert_eq!(ns3.rate, rate);
    let pacing = PacingSwitches {
        pacing: Pacing::Timer,
        counts_headers: true,
        pace_initial_window: true,
        app_write: Some(Bytes(512)),
    };
    assert_eq!(ns3.pacing, pacing);

    assert_eq!(stack("nextseg_rule3 = \"below_high_sack\"").loss.rule3, Rule3::BelowHighSack);
    assert_eq!(stack("rwnd_bounds = \"pipe\"").loss.rwnd_bounds, RwndBounds::Pipe);
    assert_eq!(stack("cwnd_validation = \"off\"").loss.cwnd_validation, CwndValidation::Off);
    assert_eq!(stack("partial_ack_sends = \"head\"").loss.partial_ack, PartialAck::Head);
    assert_eq!(stack("rate_loss_abs = \"marked\"").rate.loss, LossCount::Marked);
}

#[test]
fn the_rate_of_a_link_is_constant_a_schedule_or_a_trace() {
    let rate = |text: &str| {
        let text = format!(
            "duration = \"1s\"\n[bottleneck]\nrate = {text}\ndelay = \"1ms\"\n[[flows]]\ncc = \"reno\"\n"
        );
        run(&text).links[0].rate.clone()
    };
    assert_eq!(rate("\"1.5 Gbit/s\""), Rate::Constant(BitRate(1_500_000_000)));
    let steps = [(Time::ZERO, BitRate(40_000_000)), (Time(40_000_000_000), BitRate(80_000_000))];
    assert_eq!(
        rate("[[\"0s\", \"40Mbit/s\"], [\"40s\", \"80Mbit/s\"]]"),
        Rate::Schedule(steps.into())
    );
    let Rate::Trace(trace) = rate("{ opportunities_ms = [1, 1, 4] }") else { panic!("a trace") };
    assert_eq!((trace.opportunities_ms(), trace.period_ms()), ([1, 1, 4].as_slice(), 4));
}

#[test]
fn a_trace_file_is_read_once_and_then_part_of_the_scenario() {
    let files = |name: &str| match name {
        "cell.trace" => Ok("1\n2\n4\n".to_owned()),
        other => Err(format!("is not there: {other}")),
    };
    let text = "duration = \"1s\"\n[bottleneck]\nrate = \"cell.trace\"\ndelay = \"1ms\"\n[[flows]]\ncc = \"reno\"\n";
    let scenario = Scenario::parse("s", "s.toml", text, Some(&files), &[]).unwrap();
    let (run, text) = (scenario.run(0), scenario.run_toml(0));
    // The trace has three opportunities of 1500 bytes in 4 ms: 9 Mbit/s.
    assert_eq!(run.links[0].rate.at_start(), Some(BitRate(9_000_000)));
    // The stored text contains the trace, so the file is no longer needed.
    assert_eq!(scenario_of(&text).run(0).links, run.links);
}

fn scenario_of(text: &str) -> Scenario {
    scenario(text, &[])
}

#[test]
fn a_buffer_is_counted_in_packets_or_bytes() {
    let buffer = |link: &str| bottleneck(link).buffer;
    assert_eq!(buffer("buffer = \"100pkt\""), Buffer::Packets(Packets(100)));
    assert_eq!(buffer("buffer = \"64KiB\""), Buffer::Bytes(Bytes(65_536)));
    assert_eq!(buffer("buffer = \"unlimited\""), Buffer::Unlimited);
    // 10 Mbit/s x 30 ms = 37,500 bytes = 24.77 packets of 1,514 bytes.
    assert_eq!(buffer("buffer = \"1bdp\""), Buffer::Packets(Packets(25)));
    assert_eq!(buffer(""), Buffer::Packets(Packets(25)));
    assert_eq!(buffer("buffer = \"2bdp\""), Buffer::Packets(Packets(50)));
    assert_eq!(buffer("buffer = \"0.01bdp\""), Buffer::Packets(Packets(1)));
    assert_eq!(buffer("buffer = \"1bdp\"\nbuffer_unit = \"B\""), Buffer::Bytes(Bytes(37_500)));
    assert_eq!(buffer("buffer = \"1bdp\"\nbuffer_unit = \"pkt\""), Buffer::Packets(Packets(25)));
    assert_eq!(buffer("buffer = \"1bdp\"\nbdp_rtt = \"60ms\""), Buffer::Packets(Packets(50)));
    assert_eq!(buffer("buffer = \"30ms\""), Buffer::Packets(Packets(25)));
    assert_eq!(buffer("buffer = \"30ms\"\nbuffer_unit = \"B\""), Buffer::Bytes(Bytes(37_500)));
    assert_eq!(buffer("buffer = \"10pkt\"\nbuffer_unit = \"B\""), Buffer::Bytes(Bytes(15_140)));
    assert_eq!(buffer("buffer = \"15140B\"\nbuffer_unit = \"pkt\""), Buffer::Packets(Packets(10)));
    // A packet on the wire includes framing: 1,500 + 1,000 bytes, so the BDP is 15 packets.
    assert_eq!(buffer("buffer = \"1bdp\"\nframing = \"1000B\""), Buffer::Packets(Packets(15)));
    // ns-3's device queue is added to the buffer.
    assert_eq!(
        buffer("buffer = \"76pkt\"\ndevice_queue = \"100pkt\""),
        Buffer::Packets(Packets(176))
    );
}

#[test]
fn a_bdp_of_a_trace_is_that_of_its_mean_rate() {
    let text = |trace: &str, more: &str| {
        format!(
            "duration = \"10s\"\n[bottleneck]\n{trace}\n{more}\n[[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n"
        )
    };
    let limit = |text: &str| match run(text).links[0].buffer {
        Buffer::Packets(Packets(packets)) => packets,
        _ => panic!("packets"),
    };
    // 5 s of 10 Mbit/s, 4 s of 80 Mbit/s and 1 s of 0 have a mean of 37 Mbit/s. The BDP at 30 ms is
    // 92 packets of 1514 bytes.
    let rows = "trace = { rows = [\"time_s,rate_mbps\", \"0,10\", \"5,80\", \"9,0\", \"10,1\", \"20,7\"] }";
    assert_eq!(limit(&text(rows, "")), 92);
    assert_eq!(limit(&text(rows, "buffer = \"2bdp\"")), 183);
    assert_eq!(limit(&text(rows, "buffer = \"30ms\"")), 92);
    // The mean covers only the duration of the run: 10 Mbit/s in the first 4 s.
    assert_eq!(limit(&text(rows, "").replace("10s", "4s")), 25);
    // Reading the text in a run's folder gives the same buffer, also in the reverse direction.
    let kept = scenario(&text(rows, "reverse_rate = \"forward\""), &[]).run_toml(0);
    assert!(kept.contains("rows = [\"time_s,rate_mbps\","), "{kept}");
    let kept = run(&kept);
    assert_eq!(kept.links[0].buffer, Buffer::Packets(Packets(92)));
    assert_eq!(kept.links[1].buffer, Buffer::Packets(Packets(92)));
    // For a `rate` with the same steps, which is not a trace, the BDP uses the rate at the start.
    let steps = "rate = [[\"0s\", \"10Mbit/s\"], [\"5s\", \"80Mbit/s\"], [\"9s\", \"0bit/s\"], [\"10s\", \"1Mbit/s\"]]";
    assert_eq!(limit(&text(steps, "")), 25);
    // 2 opportunities of 1500 bytes in 3 ms are 8 Mbit/s.
    assert_eq!(limit(&text("rate = { opportunities_ms = [1, 3] }", "")), 20);
    // A model's rate begins halfway between its bounds, here at 10 Mbit/s.
    let model = "trace = { model = \"leo\", rate = [\"5Mbit/s\", \"15Mbit/s\"], delay = [\"1ms\", \"1ms\"], every = \"1s\" }";
    assert_eq!(limit(&text(model, "")), 25);
}

#[test]
fn a_load_of_a_trace_is_a_share_of_its_mean_rate() {
    let text = "duration = \"10s\"\n[bottleneck]\ntrace = { rows = [\"time_s,rate_mbps\", \"0,10\", \"5,30\"] }\n\
                [[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\narrivals = { load = 0.5 }\nbytes = \"14480B\"\n";
    let run = run(text);
    let arrivals = run.classes[0].source.arrivals().unwrap();
    // The mean rate is 20 Mbit/s. At half of the mean rate, a flow of ten packets of 1514 bytes
    // arrives every 12.112 ms.
    assert_eq!(arrivals.gap.mean, 12_112_000);
}

#[test]
fn a_bdp_is_that_of_the_rate_at_the_start() {
    let text = "duration = \"1s\"\n[bottleneck]\nrate = [[\"0s\", \"10Mbit/s\"], [\"1s\", \"80Mbit/s\"]]\nbuffer = \"1bdp\"\n\
                [[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n";
    assert_eq!(run(text).links[0].buffer, Buffer::Packets(Packets(25)));
}

#[test]
fn the_buffers_of_the_linux_reference() {
    // In the recorded Linux runs, the BDP in packets is rate x base RTT / (8 x 1514 B), rounded,
    // and at least one packet.
    for (rate, rtt, bdp, packets) in [
        ("10Mbit/s", "20ms", "0.1bdp", 2),
        ("50Mbit/s", "30ms", "1bdp", 124),
        ("50Mbit/s", "30ms", "0.25bdp", 31),
        ("100Mbit/s", "40ms", "0.5bdp", 165),
        ("100Mbit/s", "40ms", "16bdp", 5284),
    ] {
        let text = format!(
            "duration = \"1s\"\n[bottleneck]\nrate = \"{rate}\"\nbuffer = \"{bdp}\"\n[[flows]]\ncc = \"reno\"\nrtt = \"{rtt}\"\n"
        );
        assert_eq!(
            run(&text).links[0].buffer,
            Buffer::Packets(Packets(packets)),
            "{rate} {rtt} {bdp}"
        );
    }
}

#[test]
fn keys_of_links_and_their_defaults() {
    let plain = bottleneck("");
    assert_eq!(plain.name, "bottleneck");
    assert_eq!((plain.delay, &plain.loss, plain.loss_at), (ms(5), &None, LossAt::After));
    assert_eq!((plain.rate_change, plain.framing), (RateChange::Follow, Bytes(14)));
    assert_eq!(
        (plain.jitter, plain.reorder, plain.burst, plain.ecn_threshold),
        (None, None, None, None)
    );

    assert_eq!(bottleneck("burst = \"1600B\"").burst, Some(Bytes(1600)));
    let threshold = |value: &str| {
        let link = format!("ecn_threshold = \"{value}\"");
        dumbbell(&link, "rtt = \"30ms\"\necn = true", "").links[0].ecn_threshold
    };
    assert_eq!(threshold("20pkt"), Some(EcnThreshold::Packets(Packets(20))));
    assert_eq!(threshold("30000B"), Some(EcnThreshold::Bytes(Bytes(30_000))));
    assert_eq!(threshold("5ms"), Some(EcnThreshold::Wait(ms(5))));
    assert_eq!(bottleneck("loss = 0.1\nloss_at = \"before\"").loss_at, LossAt::Before);
    let two_rates = "duration = \"10s\"\n[bottleneck]\nrate = [[\"0s\", \"10Mbit/s\"], [\"1s\", \"5Mbit/s\"]]\n\
                     rate_change = \"keep\"\n[[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n";
    assert_eq!(run(two_rates).links[0].rate_change, RateChange::Keep);
    assert_eq!(bottleneck("framing = \"2B\"").framing, Bytes(2));
    assert_eq!(bottleneck("queue = \"droptail\""), plain);

    let half = Probability(1 << 31);
    assert_eq!(bottleneck("loss = 0.5").loss, Some(Loss::Bernoulli(half)));
    assert_eq!(bottleneck("loss = \"50%\"").loss, Some(Loss::Bernoulli(half)));
    assert_eq!(bottleneck("loss = 1").loss, Some(Loss::Bernoulli(Probability::ONE)));
    assert_eq!(bottleneck("loss = 0.0").loss, None);
    assert_eq!(
        bottleneck("loss = { model = \"bernoulli\", ratio = 0.5 }").loss,
        Some(Loss::Bernoulli(half))
    );
    assert_eq!(
        bottleneck("loss = { model = \"gilbert-elliott\", p = 0.25, r = 0.5 }").loss,
        Some(Loss::GilbertElliott {
            to_bad: Probability(1 << 30),
            to_good: half,
            loss_good: Probability::ZERO,
            loss_bad: Probability::ONE
        })
    );
    assert_eq!(
        bottleneck("loss = { model = \"gilbert-elliott\", p = 0.25, r = 0.5, loss_bad = 0.5, loss_good = 0.25 }").loss,
        Some(Loss::GilbertElliott { to_bad: Probability(1 << 30), to_good: half, loss_good: Probability(1 << 30), loss_bad: half })
    );
    assert_eq!(
        bottleneck("jitter = \"2ms\"").jitter,
        Some(Jitter { up_to: ms(2), keep_order: true })
    );
    assert_eq!(
        bottleneck("jitter = { up_to = \"2ms\", keep_order = false }").jitter,
        Some(Jitter { up_to: ms(2), keep_order: false })
    );
    assert_eq!(
        bottleneck("reorder = { ratio = 0.5, by = \"3ms\" }").reorder,
        Some(Reorder { ratio: half, by: ms(3) })
    );
}

#[test]
fn the_reverse_direction_has_a_rate_only_if_it_is_set() {
    let run = dumbbell("buffer = \"2bdp\"\nreverse_rate = \"1Mbit/s\"", "rtt = \"30ms\"", "");
    assert_eq!(run.links.len(), 2);
    let reverse = &run.links[1];
    assert_eq!(reverse.name, "bottleneck.reverse");
    assert_eq!((reverse.rate.clone(), reverse.delay), (Rate::Constant(BitRate(1_000_000)), ms(5)));
    // The buffer is two BDP of the reverse rate: 7,500 bytes.
    assert_eq!(reverse.buffer, Buffer::Packets(Packets(5)));
    assert_eq!(run.classes[0].reverse, [Hop::Delay(ms(5)), Hop::Link(1), Hop::Delay(ms(5))]);
    let run =
        dumbbell("reverse_rate = \"1Mbit/s\"\nreverse_buffer = \"7pkt\"", "rtt = \"30ms\"", "");
    assert_eq!(run.links[1].buffer, Buffer::Packets(Packets(7)));
}

#[test]
fn the_bandwidth_of_cake_is_the_rate_of_its_link() {
    let text = "duration = \"10s\"\n[bottleneck]\nbuffer = \"1bdp\"\n\
                queue = { discipline = \"cake\", bandwidth = \"10Mbit/s\" }\n\
                reverse_rate = \"forward\"\n[[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n";
    let scenario = scenario(text, &[]);
    let links = scenario.run(0).links;
    let rate = BitRate(10_000_000);
    for link in &links {
        assert!(matches!(link.queue, Queue::Cake(cake) if cake.bandwidth == Some(rate)));
        assert_eq!(link.rate, Rate::Constant(rate));
    }
    let with_rate = text.replace("buffer", "rate = \"10Mbit/s\"\nbuffer");
    let of_rate = with_rate.replace(", bandwidth = \"10Mbit/s\"", "");
    assert_eq!(links[0].buffer, run(&of_rate).links[0].buffer);

    let way_back = "reverse_queue = { discipline = \"cake\", bandwidth = \"2Mbit/s\" }";
    let links = dumbbell(way_back, "rtt = \"30ms\"", "").links;
    assert_eq!(links[1].rate, Rate::Constant(BitRate(2_000_000)));
    assert_eq!((links[0].rate.clone(), links[0].queue), (Rate::Constant(rate), Queue::DropTail));
}

#[test]
fn a_base_rtt_sets_equal_access_delays() {
    let class = &dumbbell("", "rtt = \"30ms\"", "").classes[0];
    assert_eq!(class.forward, [Hop::Delay(ms(5)), Hop::Link(0), Hop::Delay(ms(5))]);
    assert_eq!(class.reverse, [Hop::Delay(ms(15))]);
    assert_eq!(class.base_rtt, ms(30));
    // The link's delay of 5 ms and the equal delay of the reverse path make up the whole RTT of 10
    // ms, so there are no access delays.
    let class = &dumbbell("", "rtt = \"10ms\"", "").classes[0];
    assert_eq!((class.forward.as_slice(), class.base_rtt), ([Hop::Link(0)].as_slice(), ms(10)));
    // 3 ns remain when the access delay is divided by four. The base RTT includes these 3 ns.
    let class = &dumbbell("", "rtt = \"30000003ns\"", "").classes[0];
    assert_eq!(class.base_rtt, Span(30_000_003));
}

#[test]
fn access_links_have_the_default_delay_and_rate() {
    let class = &dumbbell("", "", "[access]\ndelay = \"1ms\"").classes[0];
    assert_eq!(class.forward, [Hop::Delay(ms(1)), Hop::Link(0), Hop::Delay(ms(1))]);
    assert_eq!(class.base_rtt, ms(14));
    let class = &dumbbell("", "left_delay = \"8ms\"", "[access]\ndelay = \"1ms\"").classes[0];
    assert_eq!(class.forward, [Hop::Delay(ms(8)), Hop::Link(0), Hop::Delay(ms(1))]);
    let class = &dumbbell("", "left_delay = \"8ms\"\nright_delay = \"2ms\"", "").classes[0];
    assert_eq!((class.forward[2], class.base_rtt), (Hop::Delay(ms(2)), ms(30)));

    let run =
        dumbbell("", "rtt = \"30ms\"\ncount = 2", "[access]\nrate = \"1Gbit/s\"\ndelay = \"1ms\"");
    let class = &run.classes[0];
    assert_eq!(class.forward, [Hop::Private(0), Hop::Link(0), Hop::Private(1)]);
    let names: Vec<&str> = class.private_links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["left", "right"]);
    assert_eq!(class.private_links[0].delay, ms(5));
    assert_eq!(class.private_links[0].buffer, Buffer::Unlimited);
    assert_eq!(class.reverse, [Hop::Delay(ms(15))]);
    assert_eq!(run.private_link_numbers().collect::<Vec<_>>(), [1, 3]);
    let access = "[access]\nrate = \"1Gbit/s\"\nbuffer = \"50pkt\"";
    let class = &dumbbell("", "rtt = \"30ms\"", access).classes[0];
    assert_eq!(class.private_links[1].buffer, Buffer::Packets(Packets(50)));
}

#[test]
fn flows_can_share_access_links() {
    let links = "[[links]]\nname = \"lan\"\nrate = \"100Mbit/s\"\ndelay = \"1ms\"\n[[links]]\nname = \"dsl\"\nrate = \"8Mbit/s\"\n\
                 delay = \"2ms\"\nreverse_rate = \"1Mbit/s\"\n";
    let run = dumbbell("", "left_link = \"lan\"\nright_link = \"dsl\"\nrtt = \"30ms\"", links);
    let names: Vec<&str> = run.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["bottleneck", "lan", "dsl", "dsl.reverse"]);
    let class = &run.classes[0];
    // 30 ms minus 2 * (5 + 1 + 2) ms leaves 14 ms. Each side of the path gets a quarter of these
    // 14 ms, 3.5 ms, in each direction. In the reverse direction, the last hop has the delays of
    // the bottleneck (5 ms), of `lan` (1 ms) and of the left side (3.5 ms).
    let rest = Hop::Delay(Span::from_micros(3500));
    assert_eq!(class.forward, [rest, Hop::Link(1), Hop::Link(0), Hop::Link(2), rest]);
    assert_eq!(class.reverse, [rest, Hop::Link(3), Hop::Delay(Span::from_micros(9500))]);
    assert_eq!(class.base_rtt, ms(30));
}

#[test]
fn a_path_crosses_just_its_links() {
    let text = "duration = \"1s\"\n[access]\ndelay = \"7ms\"\nrate = \"1Gbit/s\"\n\
                [[links]]\nname = \"a\"\nrate = \"1Mbit/s\"\ndelay = \"1ms\"\n[[links]]\nname = \"b\"\ndelay = \"2ms\"\n\
                [[links]]\nname = \"c\"\nrate = \"2Mbit/s\"\ndelay = \"3ms\"\nloss = 0.5\n\
                [[flows]]\ncc = \"reno\"\npath = [\"a\", \"b\", \"c\"]\n\
                [[flows]]\ncc = \"reno\"\npath = [\"c\"]\nreturn_path = [\"a\"]\n\
                [[flows]]\ncc = \"reno\"\npath = [\"a\"]\nrtt = \"22ms\"\n";
    let run = run(text);
    assert_eq!(run.bottleneck, None);
    let [long, there_and_back, padded] = run.classes.as_slice() else { panic!("three flows") };
    assert_eq!(long.forward, [Hop::Link(0), Hop::Delay(ms(2)), Hop::Link(1)]);
    assert_eq!((long.reverse.as_slice(), long.base_rtt), ([Hop::Delay(ms(6))].as_slice(), ms(12)));
    assert_eq!(
        (there_and_back.forward[0], there_and_back.reverse[0]),
        (Hop::Link(1), Hop::Link(0))
    );
    assert_eq!(there_and_back.base_rtt, ms(4));
    assert_eq!(padded.forward, [Hop::Delay(ms(5)), Hop::Link(0), Hop::Delay(ms(5))]);
    assert!(long.private_links.is_empty());
}

#[test]
fn a_link_without_a_rate_is_a_pure_delay_unless_it_does_something() {
    let run = |link: &str| {
        run(&format!(
            "duration = \"1s\"\n[bottleneck]\ndelay = \"5ms\"\n{link}\n[[flows]]\ncc = \"reno\"\n"
        ))
    };
    assert_eq!(run("").links, []);
    assert_eq!(run("").classes[0].forward, [Hop::Delay(ms(5))]);
    for link in ["loss = 0.1", "jitter = \"1ms\"", "reorder = { ratio = 0.1, by = \"1ms\" }"] {
        let run = run(link);
        assert_eq!(run.links[0].rate, Rate::Unlimited);
        assert_eq!(run.links[0].buffer, Buffer::Unlimited);
        assert_eq!((run.classes[0].forward[0], run.bottleneck), (Hop::Link(0), None));
    }
}

#[test]
fn starts_are_stepped_and_jittered_from_the_seed() {
    let text = "duration = \"60s\"\nrepeat = 2\n[bottleneck]\nrate = \"10Mbit/s\"\n[[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n\
                [[flows]]\ncc = \"reno\"\ncount = 3\nstart = \"2s\"\nstart_step = \"10ms\"\nstop = \"20s\"\n";
    let starts = |text: &str, run: u64| -> Vec<u64> {
        scenario(text, &[]).run(run).flows.iter().map(|flow| flow.start.0 / 1_000_000).collect()
    };
    assert_eq!(starts(text, 0), [0, 2000, 2010, 2020]);
    let run = run(text);
    assert_eq!(run.flows.iter().map(|flow| flow.class).collect::<Vec<_>>(), [0, 1, 1, 1]);
    assert_eq!((run.flows[0].stop, run.flows[3].stop), (None, Some(Time(20_000_000_000))));

    let jittered = text.replace("start_step = \"10ms\"", "start_jitter = \"1s\"");
    let (first, second) = (starts(&jittered, 0), starts(&jittered, 1));
    assert_eq!(first, starts(&jittered, 0));
    assert_ne!(first, second);
    assert!(
        first[1..].iter().chain(&second[1..]).all(|start| (2000..3000).contains(start)),
        "{first:?} {second:?}"
    );
    // A fourth flow in the second `[[flows]]` table does not change the jitter of the flows before
    // it.
    let more = jittered.replace("count = 3", "count = 4");
    assert_eq!(starts(&more, 0)[..4], first[..]);
}

#[test]
fn jitter_is_uniform() {
    let text = "duration = \"60s\"\n[bottleneck]\nrate = \"10Mbit/s\"\n[[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\ncount = 100000\n\
                start_jitter = \"10s\"\n";
    let run = run(text);
    for tenth in 0..10 {
        let inside = run.flows.iter().filter(|flow| flow.start.0 / 1_000_000_000 == tenth).count();
        // The bounds are five standard deviations from the mean of a binomial distribution with
        // 100,000 draws and a probability of 0.1.
        assert!((9526..=10474).contains(&inside), "{tenth}: {inside}");
    }
}

#[test]
fn what_a_flow_sends() {
    let source =
        |flow: &str| dumbbell("", &format!("rtt = \"30ms\"\n{flow}"), "").classes[0].source.clone();
    assert_eq!(source(""), Source::Unlimited);
    assert_eq!(source("bytes = \"1.5MB\""), Source::Bytes(Bytes(1_500_000)));
    assert_eq!(source("rate = \"2Mbit/s\""), Source::Cbr(BitRate(2_000_000)));
    assert_eq!(
        source("on = \"1s\"\noff = \"2s\""),
        Source::OnOff { on: Span::from_secs(1), off: Span::from_secs(2), rate: None }
    );
    assert_eq!(
        source("on = \"1s\"\noff = \"2s\"\nrate = \"1Mbit/s\""),
        Source::OnOff {
            on: Span::from_secs(1),
            off: Span::from_secs(2),
            rate: Some(BitRate(1_000_000))
        }
    );
    assert_eq!(
        source("write = { bytes = \"64KiB\", every = \"50ms\" }"),
        Source::Write { bytes: Bytes(65_536), every: ms(50) }
    );
    let frames =
        |keys| Source::Frames(Frames { every: Span(33_333_333), bytes: Bytes(8000), keys });
    assert_eq!(source("frames = { rate = \"30/s\", bytes = \"8KB\" }"), frames(None));
    assert_eq!(
        source(
            "frames = { rate = \"30/s\", bytes = \"8KB\", key_bytes = \"60KB\", key_every = 60 }"
        ),
        frames(Some(KeyFrames { bytes: Bytes(60_000), each: 60 }))
    );
    assert_eq!(
        source("train = { bytes = \"15KB\", count = 20, gap = \"100ms\" }"),
        Source::Train { bytes: Bytes(15_000), count: 20, gap: ms(100) }
    );
    let text = "duration = \"1s\"\n[bottleneck]\nrate = \"10Mbit/s\"\n[[flows]]\ncc = \"udp\"\nrtt = \"9ms\"\n\
                rate = \"1Mbit/s\"\nmss = \"1200B\"\n[[flows]]\ncc = \"reno\"\nrtt = \"9ms\"";
    let datagrams = run(text);
    let class = &datagrams.classes[0];
    assert!(class.is_udp && class.mss == 1200 && class.source == Source::Cbr(BitRate(1_000_000)));
    assert_eq!([&*class.group, &*datagrams.classes[1].group], ["udp", "reno"]);
    let arrivals = |flow: &str| source(flow).arrivals().expect("flows come").clone();
    let poisson = arrivals("arrivals = { rate = \"50/s\" }\nbytes = \"15KB\"");
    assert_eq!(poisson.gap.distribution, Distribution::Exponential);
    assert_eq!(
        (poisson.gap.mean, poisson.size.mean, poisson.size.distribution),
        (20_000_000, 15_000, Distribution::Constant)
    );
    // Each flow has ten packets of 1,514 B on the wire. A load of 30 % of the link's rate is 3
    // Mbit/s.
    let load = arrivals("arrivals = { load = \"30%\" }\nbytes = \"14480B\"");
    assert!(load.gap.mean.abs_diff(15_140 * 8 * 1000 / 3) < 100, "{}", load.gap.mean);
    // If sizes are given by points, their mean is exact. The gap between arrivals is computed from
    // this mean and from `load`. Here the mean is 1,500 B: two packets, each with 66 B of headers.
    // The load is 50 % of the link's rate: 5 Mbit/s.
    let points = "sizes = { distribution = \"cdf\", points = [[\"1KB\", 0.5], [\"3KB\", 1]] }";
    let load = arrivals(&format!("arrivals = {{ load = \"50%\" }}\n{points}"));
    assert_eq!((load.size.mean, load.size.max), (1500, 3000));
    assert!(load.gap.mean.abs_diff((1500 + 2 * 66) * 8 * 1000 / 5) < 100, "{}", load.gap.mean);
    let search =
        arrivals("arrivals = { load = \"50%\" }\nsizes = { distribution = \"web_search\" }");
    assert_eq!((search.size.mean, search.size.max), (1_711_250, 30_000_000));
}

#[test]
fn a_flow_has_its_own_segment_size_and_parameters() {
    let class = &dumbbell("", "rtt = \"30ms\"\nmss = \"1000B\"\necn = false", "").classes[0];
    assert_eq!((class.mss, class.settings.ecn), (1000, EcnMode::Off));
    let ecn = |value: &str| {
        dumbbell("", &format!("rtt = \"30ms\"\necn = {value}"), "").classes[0].settings.ecn
    };
    assert_eq!((ecn("true"), ecn("\"low\"")), (EcnMode::On, EcnMode::Low));
    let text = "duration = \"1s\"\n[bottleneck]\nrate = \"1Mbit/s\"\n[[flows]]\ncc = \"dctcp\"\necn = \"l4s\"\nrtt = \"30ms\"\n";
    let written = scenario(text, &[]).run_toml(0);
    assert_eq!([text, &written].map(|text| run(text).classes[0].settings.ecn), [EcnMode::L4s; 2]);
    let text = "duration = \"1s\"\n[bottleneck]\nrate = \"1Mbit/s\"\n[[flows]]\ncc = \"bbr_hsr\"\ncc_params = { lambda = 0.125 }\nrtt = \"30ms\"\n";
    let class = &run(text).classes[0];
    let shown: Vec<String> =
        class.cc_params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    assert_eq!(shown, ["lambda = 0.125"]);
}

#[test]
fn a_hundred_thousand_flows_are_cheap() {
    let began = cpu_s();
    let text = "duration = \"1s\"\n[bottleneck]\nrate = \"100Gbit/s\"\n[access]\nrate = \"1Gbit/s\"\n\
                [[flows]]\ncc = \"reno\"\nrtt = \"100ms\"\ncount = 100000\nstart_step = \"1us\"\nstart_jitter = \"1us\"\n";
    assert_eq!(run(text).flows.len(), 100_000);
    assert!(cpu_s() - began < 5, "{} s", cpu_s() - began);
    assert!(size_of::<bbrlab_run::Flow>() <= 32);
}
