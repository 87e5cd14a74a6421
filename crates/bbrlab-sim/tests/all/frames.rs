//! Compares the delays of media frames with delays that are computed from rates, sizes and path
//! delays.

use crate::scenario_text::result;
use bbrlab_run::FlowGroup;

/// Runs a flow of frames over one link with a delay of 5 ms. Returns the results of the flow's
/// group.
fn frames(flow: &str, link: &str) -> FlowGroup {
    let result = result(&format!(
        r#"
        duration = "1s"
        [[links]]
        name = "a"
        delay = "5ms"
        {link}
        [[flows]]
        path = ["a"]
        stop = "990ms"
        {flow}
        "#
    ));
    result.summary.flow_groups[0].clone()
}

/// A flow of 25 frames. The first frame and every fifth frame after it are key frames of 20
/// datagrams; the other frames have 5 datagrams. A datagram of 958 B takes 1,000 B on the wire (IP
/// 20, UDP 8, Ethernet 14), which is 1 ms at 8 Mbit/s.
const CALL: &str = r#"
    cc = "udp"
    mss = "958B"
    frames = { rate = "25/s", bytes = "4790B", key_bytes = "19160B", key_every = 5 }
    late = "20ms"
"#;

#[test]
fn a_frame_of_datagrams_is_complete_with_its_last_datagram() {
    let call = frames(CALL, "rate = \"8Mbit/s\"\nbuffer = \"100pkt\"");
    let delay = &call.delay_ms;
    assert_eq!((delay.n, delay.max), (Some(25), Some(25.0)), "{call:?}");
    // The propagation delay is 5 ms. Transmission takes 20 ms for each of the five key frames, and
    // 5 ms for each of the other twenty frames.
    assert_eq!(delay.mean, Some(13.0));
    assert!((delay.p50.unwrap() - 10.0).abs() < 0.01, "{call:?}");
    assert_eq!((call.late_ratio, call.loss_ratio), (Some(0.2), Some(0.0)));
}

#[test]
fn the_last_datagram_of_a_frame_has_the_rest_of_its_bytes() {
    // A frame of 1,416 B is sent as datagrams of 958 B and 458 B, which take 1,000 B and 500 B on
    // the wire.
    let call = CALL.replace("4790B", "1416B").replace("key_bytes = \"19160B\", key_every = 5", "");
    let call = frames(&call.replace(",  }", " }"), "rate = \"8Mbit/s\"\nbuffer = \"100pkt\"");
    assert_eq!((call.delay_ms.mean, call.delay_ms.max), (Some(6.5), Some(6.5)));
}

#[test]
fn a_frame_that_lost_a_datagram_is_late_and_has_no_delay() {
    // The first datagram of the key frame at 600 ms is lost. All datagrams from 790 ms on are lost,
    // too.
    let losses = r#"loss = [["0s", 0], ["600500us", 1], ["601500us", 0], ["790ms", 1]]"#;
    let call = frames(CALL, &format!("rate = \"8Mbit/s\"\nbuffer = \"100pkt\"\n{losses}"));
    // Frames are sent at 0, 40, 80, ... 960 ms. Nine of these 25 frames are late: the key frames at
    // 0, 200 and 400 ms, and the lost frames at 600, 800, 840, 880, 920 and 960 ms.
    assert_eq!((call.delay_ms.n, call.late_ratio), (Some(19), Some(9.0 / 25.0)), "{call:?}");
}

#[test]
fn duplicates_complete_no_frame() {
    let link = "rate = \"8Mbit/s\"\nbuffer = \"100pkt\"";
    let call = frames(CALL, &format!("{link}\nduplicate = 1"));
    // The link makes the copies after its queue, so they delay no original.
    assert_eq!((call.delay_ms.n, call.delay_ms.mean), (Some(25), Some(13.0)), "{call:?}");
}

#[test]
fn a_frame_over_tcp_is_complete_when_its_last_byte_is_read() {
    let call = frames(
        "cc = \"cubic\"\nframes = { rate = \"10/s\", bytes = \"5000B\" }\nlate = \"10ms\"",
        "",
    );
    // The first frame waits 10 ms for the handshake. Each frame fits into the initial window.
    let delay = &call.delay_ms;
    assert_eq!((delay.n, delay.max), (Some(10), Some(15.0)), "{call:?}");
    assert!((delay.mean.unwrap() - 6.0).abs() < 1e-6, "{call:?}");
    assert_eq!((call.late_ratio, call.loss_ratio), (Some(0.1), None));
    // A key frame of 20 segments needs two round trips.
    let keys =
        "frames = { rate = \"10/s\", bytes = \"5000B\", key_bytes = \"28960B\", key_every = 5 }";
    let call = frames(&format!("cc = \"cubic\"\n{keys}"), "");
    assert!((call.delay_ms.max.unwrap() - 25.0).abs() < 1e-6, "{call:?}");
}
