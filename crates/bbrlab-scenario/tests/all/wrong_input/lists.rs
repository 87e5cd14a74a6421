//! Replaces four lists in messages by short names such as `<algorithms>`. The lists contain the
//! keys of a link, the keys of a flow, the algorithms, and the queue disciplines. Each list occurs
//! in many messages. If a list gets a new element, only the expectation in this file changes.

use bbrlab_run::Algorithm;
use bbrlab_scenario::{queues, sections};
use expect_test::expect;

/// Returns pairs: the name that replaces a list in messages, and the list as the messages have it.
fn lists() -> Vec<(String, String)> {
    let keys_of = |header: &str| {
        let section = sections().into_iter().find(|section| section.header == header).unwrap();
        let names: Vec<&str> = section.keys.iter().map(|key| key.name).collect();
        (format!("<keys of {header}>"), names.join(", "))
    };
    let algorithms: Vec<&str> = Algorithm::ALL.iter().map(|cc| cc.name()).collect();
    let disciplines: Vec<String> = queues().iter().map(|it| format!("\"{}\"", it.name)).collect();
    vec![
        keys_of("[bottleneck]"),
        keys_of("[[flows]]"),
        ("<algorithms>".to_owned(), algorithms.join(", ")),
        ("<disciplines>".to_owned(), disciplines.join(" or ")),
    ]
}

/// Returns a message with its lists replaced by names.
pub(super) fn with_names_of_lists(message: &str) -> String {
    lists().iter().fold(message.to_owned(), |told, (name, list)| told.replace(list, name))
}

#[test]
fn each_list_in_full() {
    let lines: Vec<String> =
        lists().iter().map(|(name, list)| format!("{name}: {list}\n")).collect();
    expect![[r#"
        <keys of [bottleneck]>: rate, delay, keep_order, buffer, buffer_unit, bdp_rtt, device_queue, queue, reverse_queue, loss, trace, loss_at, rate_change, reverse_rate, reverse_buffer, framing, burst, peak_rate, police, ecn_threshold, jitter, reorder, duplicate, corrupt, reverse_duplicate, reverse_corrupt, reverse_loss, reverse_jitter, reverse_reorder, reverse_police, ack_thinning, slot, reverse_slot, airtime, grant, reverse_grant
        <keys of [[flows]]>: cc, cc_params, count, name, group, rtt, left_delay, right_delay, left_link, right_link, path, return_path, start, start_step, start_jitter, stop, ecn, dscp, host, sender_host, mss, max_pacing_rate, device, rate_samples, latency, late, read, on, off, bytes, rate, write, frames, train, arrivals, requests, page, video, sizes
        <algorithms>: bbr1, bbr_prime, bbr_hsr, bbrplus, delay_bbr, bbr_acd, bbr2, bbr2_exp, bbr3, bbr3_ietf, cubic, reno, vegas, dctcp, prague, bic, htcp, illinois, highspeed, scalable, veno, westwood, yeah, hybla
        <disciplines>: "droptail" or "codel" or "fq_codel" or "pie" or "fq_pie" or "dualpi2" or "red" or "fq" or "sfq" or "cake" or "prio"
    "#]].assert_eq(&lines.concat());
}
