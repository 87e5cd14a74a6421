//! Tests of the messages about mistakes in `[bottleneck]`, `[[links]]` and `[access]`.

use bbrlab_scenario::Scenario;
use expect_test::expect;

use super::check;

#[test]
fn the_bandwidth_of_cake() {
    check(&expect![[r#"
        `bottleneck.queue.bandwidth`: expected no `rate` as well
            [bottleneck] + queue = { discipline = "cake", bandwidth = "9Mbit/s" } | 4:1-4 | found both, but the shaper determines the link's rate
        `bottleneck.queue.bandwidth`: expected a rate above zero such as "50Mbit/s"
            rate = "50Mbit/s"; -> queue = { discipline = "cake", bandwidth = "0Mbit/s" }; | 4:44-52 | found "0Mbit/s", which is zero
        `bottleneck.queue.bandwidth`: expected no `burst` as well
            rate = "50Mbit/s"; -> burst = "9KB"; queue = { discipline = "cake", bandwidth = "9Mbit/s" }; | 4:1-5 | found a token bucket behind a shaper of the same rate
        `bottleneck.queue.bandwidth`: expected no `reverse_rate` as well
            rate = "50Mbit/s"; -> reverse_rate = "1Mbit/s"; queue = { discipline = "cake", bandwidth = "9Mbit/s" }; | 4:1-12 | found two rates in the reverse direction, because `reverse_queue` defaults to `queue`
        `bottleneck.reverse_queue.bandwidth`: expected no `reverse_rate` as well
            [bottleneck] + reverse_rate = "1Mbit/s"; reverse_queue = { discipline = "cake", bandwidth = "9Mbit/s" } | 7:1-12 | found both, but the shaper determines the link's rate
    "#]]);
}

#[test]
fn peak_rates() {
    check(&expect![[r#"
        `bottleneck.peak_rate`: expected a `burst` as well
            [bottleneck] + peak_rate = "90Mbit/s" | 7:1-9 | found no bucket
        `bottleneck.peak_rate`: expected more than the `rate` of the link
            [bottleneck] + burst = "64KiB"; peak_rate = "50Mbit/s" | 8:1-9 | found 50Mbit/s, and 50Mbit/s
        `bottleneck.peak_rate.rate`: expected the peak rate, such as "100Mbit/s"
            [bottleneck] + burst = "64KiB"; peak_rate = { mtu = "9KB" } | 8:13-27 | found nothing: the key is missing
        `bottleneck.peak_rate.mtu`: expected a number of bytes above zero such as "131072B"
            [bottleneck] + burst = "64KiB"; peak_rate = { rate = "90Mbit/s", mtu = 1500 } | 8:40-43 | found the number 1500, which has no unit
                help: write the quantity as a string with its unit
        `bottleneck.burst`: expected a `rate` or a schedule of rates
            rate = "50Mbit/s"; -> burst = "64KiB"; peak_rate = "90Mbit/s"; | 4:1-5 | found a link without a rate
        `bottleneck.peak_rate`: expected a `rate` or a schedule of rates
            also | 5:1-9 | found no rate that could fill the bucket
        `bottleneck.buffer`: expected a `rate` as well
            also | 7:10-15 | found a buffer of a link without a rate, which never has a queue
    "#]]);
}

#[test]
fn queues() {
    check(&expect![[r#"
        `bottleneck.queue.discipline`: expected the name of a queue discipline
            --set bottleneck.queue.target=5ms | --set 1:1-23 | found nothing: the key is missing
        `bottleneck.queue`: expected <disciplines>
            [bottleneck] + queue = "dualpi" | 7:9-16 | found "dualpi"
                help: did you mean "dualpi2"?
        `bottleneck.queue.flows`: expected a key of `bottleneck.queue`
        note: keys of `bottleneck.queue`: discipline, limit, target, interval, ecn, ce_threshold
            [bottleneck] + queue = { discipline = "codel", flows = 4 } | 7:33-37 | found an unknown key
        `bottleneck.queue.target`: expected a time above zero such as "30ms"
            [bottleneck] + queue = { discipline = "codel", target = "5us2" } | 7:42-47 | found "5us2", whose unit is none of ns, us, ms, s, min or h
                help: did you mean "5us"?
        `bottleneck.queue.target`: expected whole microseconds, at most 4294967295
            [bottleneck] + queue = { discipline = "codel", target = "1500ns" } | 7:42-49 | found "1500ns"
        `bottleneck.queue.discipline`: expected the name of a queue discipline
            [bottleneck] + queue = { target = "5ms" } | 7:9-26 | found nothing: the key is missing
        `bottleneck.queue.flows`: expected a whole number from 1 to 65408
            [bottleneck] + queue = { discipline = "fq_codel", flows = 0 } | 7:44-44 | found the number 0
        `bottleneck.queue.quantum`: expected from "256B" to "1048576B"
            [bottleneck] + queue = { discipline = "fq_codel", quantum = "1B" } | 7:46-49 | found "1B"
        `bottleneck.queue.limit`: expected no `buffer` as well
            [bottleneck] + queue = { discipline = "fq_codel", limit = "9pkt" } | 7:44-49 | found both, which set the same limit
        `bottleneck.reverse_queue`: expected a `reverse_rate` as well
            [bottleneck] + reverse_queue = "codel" | 7:1-13 | found the discipline of a link without a rate, which never has a queue
        `bottleneck.queue`: expected a `rate` as well
            rate = "50Mbit/s"; -> queue = "codel"; | 4:1-5 | found the discipline of a link without a rate, which never has a queue
        `bottleneck.buffer`: expected a `rate` as well
            also | 6:10-15 | found a buffer of a link without a rate, which never has a queue
        `bottleneck.queue`: expected <disciplines>
            [bottleneck] + queue = "htb"       | 7:9-13 | found "htb"
            [bottleneck] + queue = "fq-codel"  | 7:9-18 | found "fq-codel"
                help: did you mean "fq_codel"?
            [bottleneck] + queue = "drop-tail" | 7:9-19 | found "drop-tail"
                help: did you mean "droptail"?
        `bottleneck.queue.discipline`: expected the name of a queue discipline
            [bottleneck] + queue = {} | 7:9-10 | found nothing: the key is missing
        `bottleneck.queue`: expected <disciplines>
            [bottleneck] + queue = [] | 7:9-10 | found an empty list
        `bottleneck.queue.discipline`: expected <disciplines>
            [bottleneck] + queue = { discipline = ["codel"] } | 7:24-32 | found a list
        `bottleneck.queue.limit`: expected a buffer for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
            buffer = "1bdp" -> queue = { discipline = "codel", limit = "1Mbit/s" } | 6:41-49 | found "1Mbit/s", whose unit is none of pkt, B (KB, KiB, MB ...), ms or bdp
        `bottleneck.queue.target`: expected a key of `bottleneck.queue`
        note: keys of `bottleneck.queue`: discipline, limit
            [bottleneck] + queue = { discipline = "droptail", target = "5ms" } | 7:36-41 | found an unknown key
        `bottleneck.device_queue`: expected "none" or a number of packets such as "100pkt"
            [bottleneck] + device_queue = "0pkt"      | 7:16-21 | found "0pkt", which is zero
            [bottleneck] + device_queue = "5ms"       | 7:16-20 | found "5ms"
            [bottleneck] + device_queue = "unlimited" | 7:16-26 | found "unlimited"
    "#]]);
}

#[test]
fn parameters_of_disciplines() {
    check(&expect![[r#"
        `bottleneck.queue.divisor`: expected a power of two
            [bottleneck] + queue = { discipline = "sfq", divisor = 500 } | 7:41-43 | found the number 500
        `bottleneck.queue.priomap`: expected a list of 16 bands
            [bottleneck] + queue = { discipline = "prio", priomap = [1, 2] } | 7:42-47 | found a list
        `bottleneck.queue.bands`: expected a whole number from 2 to 16
            [bottleneck] + queue = { discipline = "prio", bands = 17 } | 7:40-41 | found the number 17
        `bottleneck.queue.tins`: expected "besteffort" or "precedence" or "diffserv3" or "diffserv4" or "diffserv8"
            [bottleneck] + queue = { discipline = "cake", tins = "diffserv" } | 7:39-48 | found "diffserv"
                help: did you mean "diffserv3"?
        `bottleneck.queue.ack_filter`: expected true, false or "aggressive"
            [bottleneck] + queue = { discipline = "cake", ack_filter = "yes" }        | 7:45-49 | found "yes"
            [bottleneck] + queue = { discipline = "cake", ack_filter = 4 }            | 7:45-45 | found the number 4
            [bottleneck] + queue = { discipline = "cake", ack_filter = "ack-filter" } | 7:45-56 | found "ack-filter"
        `bottleneck.queue.bands`: expected a `priomap` whose bands are less than the value of `bands`
            [bottleneck] + queue = { discipline = "prio", bands = 2 } | 7:32-36 | found band 2, counted from 0, of 2
        `bottleneck.queue.alpha`: expected a whole number from 0 to 32
            [bottleneck] + queue = { discipline = "pie", alpha = 33 } | 7:39-40 | found the number 33
        `bottleneck.queue.step_thresh`: expected a wait or a number of packets such as "1ms" or "5pkt"
            [bottleneck] + queue = { discipline = "dualpi2", step_thresh = "1bdp" } | 7:49-54 | found "1bdp"
        `bottleneck.queue.ecn_prob`: expected a whole number from 0 to 100
            [bottleneck] + queue = { discipline = "fq_pie", ecn_prob = 101 } | 7:45-47 | found the number 101
        `bottleneck.queue.flows`: expected a whole number from 1 to 65408
            [bottleneck] + queue = { discipline = "fq_pie", flows = 65537 } | 7:42-46 | found the number 65537
        `bottleneck.queue.avpkt`: expected from "1B" to "65536B"
            [bottleneck] + queue = { discipline = "red", avpkt = "0B" } | 7:39-42 | found "0B"
        `bottleneck.queue.burst`: expected a whole number from 1 to 1048576
            [bottleneck] + queue = { discipline = "red", burst = 0 } | 7:39-39 | found the number 0
        `bottleneck.queue.probability`: expected a number from 0 to 1, or a percentage such as "1%"
            [bottleneck] + queue = { discipline = "red", max = "1GiB", probability = 2 } | 7:59-59 | found the number 2
        `bottleneck.queue.coupling_factor`: expected a whole number from 1 to 255
            [bottleneck] + queue = { discipline = "dualpi2", coupling_factor = 0, classic_protection = 101, min_qlen_step = -1 } | 7:53-53 | found the number 0
        `bottleneck.queue.classic_protection`: expected a whole number from 0 to 100
            also | 7:77-79 | found the number 101
        `bottleneck.queue.min_qlen_step`: expected a whole number from 0 to 4294967295
            also | 7:98-99 | found the number -1
        `bottleneck.queue.step_thresh`: expected a wait or a number of packets such as "1ms" or "5pkt"
            [bottleneck] + queue = { discipline = "dualpi2", step_thresh = "unlimited" } | 7:49-59 | found "unlimited"
        `bottleneck.queue.flow_limit`: expected a whole number from 1 to 4294967295
            [bottleneck] + queue = { discipline = "fq", flow_limit = 0, ce_threshold = "0ms" } | 7:43-43 | found the number 0
        `bottleneck.queue.ce_threshold`: expected a time above zero such as "30ms"
            also | 7:61-65 | found "0ms", which is zero
        `bottleneck.queue.depth`: expected a whole number from 1 to 127
            [bottleneck] + queue = { discipline = "sfq", depth = 128, flows = 0 } | 7:39-41 | found the number 128
        `bottleneck.queue.flows`: expected a whole number from 1 to 65408
            also | 7:52-52 | found the number 0
        `bottleneck.queue.rtt`: expected a time above zero such as "30ms"
            [bottleneck] + queue = { discipline = "cake", rtt = "0s", isolation = "flow" } | 7:38-41 | found "0s", which is zero
        `bottleneck.queue.isolation`: expected "flowblind" or "srchost" or "dsthost" or "hosts" or "flows" or "dual-srchost" or "dual-dsthost" or "triple-isolate"
            also | 7:56-61 | found "flow"
                help: did you mean "flows"?
        `bottleneck.queue.bands`: expected a whole number from 2 to 16
            [bottleneck] + queue = { discipline = "prio", bands = 1 } | 7:40-40 | found the number 1
        `bottleneck.queue.priomap`: expected a whole number from 0 to 15
            [bottleneck] + queue = { discipline = "prio", priomap = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "1"] } | 7:88-90 | found "1"
    "#]]);
}

#[test]
fn policers_and_what_holds_packets() {
    check(&expect![[r#"
        `bottleneck.police`: expected a table such as { rate = "10Mbit/s", burst = "32KiB" }
            [bottleneck] + police = "10Mbit/s" | 7:10-19 | found "10Mbit/s"
        `bottleneck.police.rate`: expected a rate above zero such as "50Mbit/s"
            [bottleneck] + police = { rate = "0Mbit/s", burst = "9KB" } | 7:19-27 | found "0Mbit/s", which is zero
        `bottleneck.police.burst`: expected the size of the bucket, such as "32KiB"
            [bottleneck] + police = { rate = "1Mbit/s" } | 7:10-29 | found nothing: the key is missing
        `bottleneck.police.burst`: expected a bucket in which the largest packet fits
            [bottleneck] + police = { rate = "1Mbit/s", burst = "100B" } | 7:38-43 | found "100B"; the largest packet that crosses the link has 1514 B on the wire
        `bottleneck.police.burst`: expected a bucket that fills in at most 274 s
            [bottleneck] + police = { rate = "1bit/s", burst = "1GB" } | 7:37-41 | found more than `tc` can express with 32 bits in units of 64 ns
        `bottleneck.police`: expected a table such as { rate = "10Mbit/s", burst = "32KiB" }
            [bottleneck] + police = [] | 7:10-11 | found an empty list
                help: several values are swept: as a list in [sweep], or `--set 'sweep.KEY=[...]'`
        `bottleneck.police.burst`: expected a number of bytes above zero such as "131072B"
            [bottleneck] + police = { rate = "1Mbit/s", burst = "5ms" } | 7:38-42 | found "5ms", whose unit is none of B, KB, KiB, MB, MiB, GB or GiB
                help: at 20Mbit/s, 1ms corresponds to 2500B
        `bottleneck.police.mtu`: expected a key of `bottleneck.police`
        note: keys of `bottleneck.police`: rate, burst
            [bottleneck] + police = { rate = "1Mbit/s", burst = "10KB", mtu = "1500B" } | 7:46-48 | found an unknown key
        `bottleneck.police.rate`: expected a rate above zero such as "50Mbit/s"
            [bottleneck] + police = { rate = [["0s", "1Mbit/s"]], burst = "10KB" } | 7:19-37 | found a list
            [bottleneck] + police = { rate = "11Tbit/s", burst = "10KB" }          | 7:19-28 | found "11Tbit/s", more than the largest, 10Tbit/s
        `bottleneck.buffer`: expected a `rate` as well
            rate = "50Mbit/s"; -> | 5:10-15 | found a buffer of a link without a rate, which never has a queue
        `bottleneck.reverse_buffer`: expected a `reverse_rate` as well
            delay = "5ms" -> reverse_buffer = "5pkt" | 5:18-23 | found a buffer of a link without a rate, which never has a queue
        `bottleneck.buffer`: expected an `rtt` of the first flow, a `bdp_rtt`, or a unit other than `bdp`
            = duration = "1s"; [bottleneck]; rate = "1Mbit/s"; buffer = "1bdp"; [[flows]]; cc = "reno" | 4:10-15 | found "1bdp", but the first flow's base RTT is zero
        `bottleneck.ecn_threshold`: expected a backlog or a wait such as "20pkt", "30000B" or "5ms"
            [bottleneck] + ecn_threshold = "0pkt" | 7:17-22 | found "0pkt", which is zero
            [bottleneck] + ecn_threshold = "1bdp" | 7:17-22 | found "1bdp"
        `bottleneck.device_queue`: expected "none" or a number of packets such as "100pkt"
            [bottleneck] + device_queue = 5 | 7:16-16 | found the number 5, which has no unit
                help: write the quantity as a string with its unit
    "#]]);
}

#[test]
fn loss_jitter_and_reordering() {
    check(&expect![[r#"
        `bottleneck.loss`: expected a number from 0 to 1, or a percentage such as "1%"
            [bottleneck] + loss = 1.5        | 7:8-10 | found the number 1.5
            [bottleneck] + loss = "1 in 100" | 7:8-17 | found "1 in 100"
            [bottleneck] + loss = nan        | 7:8-10 | found the number nan
        `bottleneck.loss.model`: expected "bernoulli" or "gilbert-elliott"
            [bottleneck] + loss = { model = "gilbert" } | 7:18-26 | found "gilbert"
        `bottleneck.loss.r`: expected a number from 0 to 1
            [bottleneck] + loss = { model = "gilbert-elliott", p = 0.1 } | 7:8-45 | found nothing: the key is missing
        `bottleneck.jitter`: expected a time above zero such as "2ms", or a table such as { up_to = "2ms", keep_order = false }
            [bottleneck] + jitter = "0ms" | 7:10-14 | found "0ms", which is zero
        `bottleneck.reorder.by`: expected how long the other packets wait, such as "1ms"
            [bottleneck] + reorder = { ratio = 0.01 } | 7:11-26 | found nothing: the key is missing
        `bottleneck.ack_thinning`: expected a whole number from 1 to 1000
            [bottleneck] + ack_thinning = 0      | 7:16-16 | found the number 0
            [bottleneck] + ack_thinning = 2.5    | 7:16-18 | found the number 2.5
            [bottleneck] + ack_thinning = "4pkt" | 7:16-21 | found "4pkt"
        `bottleneck.loss`: expected a number from 0 to 1, or a percentage such as "1%"
            [bottleneck] + loss = -0.1   | 7:8-11 | found the number -0.1
            [bottleneck] + loss = "101%" | 7:8-13 | found "101%"
        `bottleneck.loss`: expected a number from 0 to 1, a schedule, or a table with a `model`
            [bottleneck] + loss = true | 7:8-11 | found true
        `bottleneck.loss.ratio`: expected a number from 0 to 1
            [bottleneck] + loss = { model = "bernoulli" } | 7:8-30 | found nothing: the key is missing
        `bottleneck.loss.model`: expected "bernoulli" or "gilbert-elliott"
            [bottleneck] + loss = { ratio = 0.1 } | 7:8-22 | found nothing: the key is missing
        `bottleneck.loss.p`: expected a key of `bottleneck.loss`
        note: keys of `bottleneck.loss`: model, ratio
            [bottleneck] + loss = { model = "bernoulli", ratio = 0.1, p = 0.1 } | 7:44-44 | found an unknown key
        `bottleneck.loss.p`: expected a number from 0 to 1, or a percentage such as "1%"
            [bottleneck] + loss = { model = "gilbert-elliott", p = 2, r = 0.1, ratio = 0.2 } | 7:41-41 | found the number 2
        `bottleneck.loss.ratio`: expected a key of `bottleneck.loss`
        note: keys of `bottleneck.loss`: model, p, r, loss_bad, loss_good
            also | 7:53-57 | found an unknown key
        `bottleneck.loss_at`: expected "after" or "before"
            [bottleneck] + loss_at = "both" | 7:11-16 | found "both"
        `bottleneck.jitter`: expected a time above zero such as "2ms", or a table such as { up_to = "2ms", keep_order = false }
            [bottleneck] + jitter = ["1ms", "2ms"] | 7:10-23 | found a list
        `bottleneck.jitter.keep_order`: expected true or false
            [bottleneck] + jitter = { up_to = "1ms", keep_order = 1 } | 7:40-40 | found the number 1
        `bottleneck.reorder`: expected a table such as { ratio = 0.01, by = "1ms" }
            [bottleneck] + reorder = "1ms" | 7:11-15 | found "1ms"
        `bottleneck.reorder.ratio`: expected a number from 0 to 1, or a percentage such as "1%"
            [bottleneck] + reorder = { ratio = "1 in 9", by = "0s" } | 7:21-28 | found "1 in 9"
        `bottleneck.reorder.by`: expected a time above zero such as "30ms"
            also | 7:36-39 | found "0s", which is zero
    "#]]);
}

#[test]
fn what_has_no_room_for_the_packets_that_cross_the_link() {
    check(&expect![[r#"
        `bottleneck.police.burst`: expected a bucket in which the largest packet fits
            [bottleneck] + police = { rate = "1Mbit/s", burst = "1513B" }                                                                                                        | 7:38-44 | found "1513B"; the largest packet that crosses the link has 1514 B on the wire
            = duration = "1s"; [bottleneck]; rate = "9Mbit/s"; police = { rate = "1Mbit/s", burst = "213B" }; [[flows]]; cc = "udp"; rtt = "9ms"; rate = "1Mbit/s"; mss = "172B" | 4:38-43 | found "213B"; the largest packet that crosses the link has 214 B on the wire
        `bottleneck.burst`: expected a bucket in which the largest packet fits
            [bottleneck] + burst = "1KB" | 7:9-13 | found "1000B"; the largest packet that crosses the link has 1514 B on the wire
        `bottleneck.peak_rate.mtu`: expected a bucket in which the largest packet fits
            [bottleneck] + burst = "9KB"; peak_rate = { rate = "90Mbit/s", mtu = "1500B" } | 8:40-46 | found "1500B"; the largest packet that crosses the link has 1514 B on the wire
        `bottleneck.peak_rate`: expected a bucket in which the largest packet fits
            [bottleneck] + burst = "64KB"; peak_rate = "90Mbit/s"; [stack]; mss = "8948B" | 8:13-22 | found the default of "1514B"; the largest packet that crosses the link has 9014 B on the wire
        `bottleneck.buffer`: expected a buffer in which the largest packet fits
            buffer = "1bdp" -> buffer = "0.001bdp"; buffer_unit = "B" | 6:10-19 | found "0.001bdp", which is 188 B; the largest packet that crosses the link has 1514 B on the wire
        `bottleneck.reverse_buffer`: expected a buffer in which the largest packet fits
            [bottleneck] + reverse_rate = "1Mbit/s"; reverse_buffer = "93B" | 8:18-22 | found "93B"; the largest packet that crosses the link has 94 B on the wire
        `bottleneck.reverse_queue.limit`: expected a buffer in which the largest packet fits
            [bottleneck] + reverse_rate = "1Mbit/s"; reverse_queue = { discipline = "codel", limit = "50B" } | 8:49-53 | found "50B"; the largest packet that crosses the link has 94 B on the wire
        `bottleneck.reverse_buffer`: expected a buffer in which the largest packet fits
            [bottleneck] + reverse_rate = "1Mbit/s"; reverse_buffer = "73B"; [stack]; sack = false | 8:18-22 | found "73B"; the largest packet that crosses the link has 74 B on the wire
        `access.buffer`: expected a buffer in which the largest packet fits
            [bottleneck] + [access]; rate = "1Gbit/s"; buffer = "1KB"                                                | 9:10-14 | found "1000B"; the largest packet that crosses the link has 1514 B on the wire
            [bottleneck] + [access]; rate = "1Gbit/s"; reverse_rate = "forward"; buffer = "90B"; [stack]; mss = "1B" | 10:10-14 | found "90B"; the largest packet that crosses the link has 94 B on the wire
        `bottleneck.buffer`: expected a buffer in which the largest packet fits
            buffer = "1bdp" -> buffer = "2KB"; [[flows]]; cc = "bbr1"; rtt = "30ms"; mss = "8948B" | 6:10-14 | found "2000B"; the largest packet that crosses the link has 9014 B on the wire
        `links[0].buffer`: expected a buffer in which the largest packet fits
            = duration = "1s"; [[links]]; name = "a"; rate = "9Mbit/s"; buffer = "1pkt"; buffer_unit = "B"; [[links]]; name = "b"; rate = "9Mbit/s"; buffer = "999B"; police = { rate = "9Mbit/s", burst = "99B" }; [[flows]]; cc = "reno"; mss = "99B"; rtt = "9ms"; path = ["a"]; [[flows]]; cc = "reno"; rtt = "9ms"; path = ["a", "b"] | 5:10-15 | found "1pkt", which is 165 B; the largest packet that crosses the link has 1514 B on the wire
        `links[1].buffer`: expected a buffer in which the largest packet fits
            also | 10:10-15 | found "999B"; the largest packet that crosses the link has 1514 B on the wire
        `links[1].police.burst`: expected a bucket in which the largest packet fits
            also | 11:38-42 | found "99B"; the largest packet that crosses the link has 1514 B on the wire
    "#]]);
}

#[test]
fn what_has_just_room_for_the_packets_that_cross_the_link_is_right() {
    let link = "rate = \"9Mbit/s\"\nbuffer = \"SIZE\"\npolice = { rate = \"1Mbit/s\", burst = \"SIZE\" }\n";
    for (flow, size) in [
        ("cc = \"udp\"\nrate = \"1Mbit/s\"\nmss = \"172B\"", "214B"),
        ("cc = \"reno\"\nmss = \"500B\"", "566B"),
        ("cc = \"reno\"\nbytes = \"300B\"", "366B"),
        ("cc = \"reno\"\narrivals = { rate = \"9/s\" }\nbytes = \"1B\"", "74B"),
    ] {
        // In the test, the second flow has larger packets. The larger packets do not cross link
        // `a`, so that link's buffer and buckets may be too small for these packets.
        let text = format!(
            "duration = \"1s\"\n[[links]]\nname = \"a\"\n{}[[links]]\nname = \"b\"\nrate = \"9Mbit/s\"\n\
             [[flows]]\n{flow}\nrtt = \"9ms\"\npath = [\"a\"]\n\
             [[flows]]\ncc = \"reno\"\nrtt = \"9ms\"\npath = [\"b\"]\n",
            link.replace("SIZE", size)
        );
        let flow_of = |text: &str| Scenario::parse("s", "s.toml", text, None, &[]).map(|_| ());
        assert_eq!(flow_of(&text), Ok(()), "{flow}");
        let least: u64 = size.trim_end_matches('B').parse().unwrap();
        let smaller = text.replace(size, &format!("{}B", least - 1));
        let refused = flow_of(&smaller).unwrap_err().to_string();
        assert_eq!(refused.matches("the largest packet fits").count(), 2, "{refused}");
    }
}

#[test]
fn waits_for_slots_and_grants() {
    check(&expect![[r#"
        `bottleneck.slot`: expected a time above zero such as "4ms", or a table such as { min_delay = "2ms", max_delay = "8ms" }
            [bottleneck] + slot = "0ms" | 7:8-12 | found "0ms", which is zero
            [bottleneck] + slot = 4     | 7:8-8 | found the number 4, which has no unit
                help: write the quantity as a string with its unit
        `bottleneck.slot.min_delay`: expected the shortest time from one slot to the next, such as "4ms"
            [bottleneck] + slot = { max_delay = "4ms" } | 7:8-28 | found nothing: the key is missing
        `bottleneck.slot.max_delay`: expected a time above zero, because `min_delay` is zero
            [bottleneck] + slot = { min_delay = "0ms" } | 7:8-28 | found nothing: the key is missing
        `bottleneck.slot.max_delay`: expected no less than `min_delay`
            [bottleneck] + slot = { min_delay = "4ms", max_delay = "2ms" } | 7:41-45 | found 2ms, and 4ms
        `bottleneck.slot.packets`: expected a whole number from 1 to 1000000000
            [bottleneck] + slot = { min_delay = "4ms", packets = 0 } | 7:39-39 | found the number 0
        `bottleneck.reverse_slot.bytes`: expected a number of bytes above zero such as "131072B"
            [bottleneck] + reverse_slot = { min_delay = "4ms", bytes = 100 } | 7:45-47 | found the number 100, which has no unit
                help: write the quantity as a string with its unit
        `bottleneck.reverse_slot.packet`: expected a key of `bottleneck.reverse_slot`
        note: keys of `bottleneck.reverse_slot`: min_delay, max_delay, packets, limit, bytes
            [bottleneck] + reverse_slot = { min_delay = "4ms", packet = 1 } | 7:37-42 | found an unknown key
                help: did you mean `packets`?
        `bottleneck.grant`: expected a time above zero such as "4ms", or a table such as { delay = "4ms", every = "2ms" }
            [bottleneck] + grant = 4     | 7:9-9 | found the number 4, which has no unit
                help: write the quantity as a string with its unit
            [bottleneck] + grant = "0ms" | 7:9-13 | found "0ms", which is zero
        `bottleneck.grant.delay`: expected the time from a request to its grant, such as "4ms"
            [bottleneck] + grant = { every = "2ms" } | 7:9-25 | found nothing: the key is missing
        `bottleneck.grant.every`: expected a time above zero such as "30ms"
            [bottleneck] + grant = { delay = "4ms", every = "0ms" } | 7:34-38 | found "0ms", which is zero
        `bottleneck.reverse_grant.bytes`: expected a number of bytes above zero such as "131072B"
            [bottleneck] + reverse_grant = { delay = "4ms", bytes = "0B" } | 7:42-45 | found "0B", which is zero
        `bottleneck.reverse_grant.limit`: expected a whole number from 1 to 1000000000
            [bottleneck] + reverse_grant = { delay = "4ms", limit = 0 } | 7:42-42 | found the number 0
        `bottleneck.reverse_grant.packets`: expected a key of `bottleneck.reverse_grant`
        note: keys of `bottleneck.reverse_grant`: delay, every, bytes, limit
            [bottleneck] + reverse_grant = { delay = "4ms", packets = 3 } | 7:34-40 | found an unknown key
        `bottleneck.grant`: expected no `slot` as well
            [bottleneck] + grant = "4ms"; slot = "4ms" | 7:1-5 | found both, and packets wait either for slots or for grants
        `bottleneck.reverse_grant`: expected no `reverse_slot` as well
            [bottleneck] + reverse_grant = "4ms"; reverse_slot = "4ms" | 7:1-13 | found both, and packets wait either for slots or for grants
        `bottleneck.slot`: expected a time above zero such as "4ms", or a table such as { min_delay = "2ms", max_delay = "8ms" }
            [bottleneck] + slot = ["4ms", "8ms"] | 7:8-21 | found a list
        `bottleneck.slot.min_delay`: expected a time such as "30ms"
            [bottleneck] + slot = { min_delay = "-1ms" } | 7:22-27 | found "-1ms", which is negative
        `bottleneck.slot.max_delay`: expected a time above zero such as "30ms"
            [bottleneck] + slot = { min_delay = "4ms", max_delay = "0ms" } | 7:41-45 | found "0ms", which is zero
        `bottleneck.slot.packets`: expected a whole number from 1 to 1000000000
            [bottleneck] + slot = { min_delay = "4ms", packets = 1.5 } | 7:39-41 | found the number 1.5
        `bottleneck.slot.bytes`: expected a number of bytes above zero such as "131072B"
            [bottleneck] + slot = { min_delay = "4ms", bytes = "5pkt" } | 7:37-42 | found "5pkt", whose unit is none of B, KB, KiB, MB, MiB, GB or GiB
        `bottleneck.slot.limit`: expected a whole number from 1 to 1000000000
            [bottleneck] + slot = { min_delay = "4ms", limit = "100pkt" } | 7:37-44 | found "100pkt"
        `bottleneck.slot.distribution`: expected a key of `bottleneck.slot`
        note: keys of `bottleneck.slot`: min_delay, max_delay, packets, limit, bytes
            [bottleneck] + slot = { min_delay = "4ms", distribution = "pareto" } | 7:29-40 | found an unknown key
        `bottleneck.grant`: expected a time above zero such as "4ms", or a table such as { delay = "4ms", every = "2ms" }
            [bottleneck] + grant = "4"  | 7:9-11 | found "4", which has no unit
                help: write the unit, as in "30ms"
            [bottleneck] + grant = true | 7:9-12 | found true
        `bottleneck.grant.delay`: expected a time above zero such as "30ms"
            [bottleneck] + grant = { delay = "0s" } | 7:19-22 | found "0s", which is zero
        `bottleneck.grant.limit`: expected a whole number from 1 to 1000000000
            [bottleneck] + grant = { delay = "4ms", limit = "9" } | 7:34-36 | found "9"
        `bottleneck.grant.request`: expected a key of `bottleneck.grant`
        note: keys of `bottleneck.grant`: delay, every, bytes, limit
            [bottleneck] + grant = { delay = "4ms", request = "2ms" } | 7:26-32 | found an unknown key
    "#]]);
}

#[test]
fn turns_on_a_medium() {
    check(&expect![[r#"
        `bottleneck.airtime`: expected no `grant` or `reverse_grant`
            [bottleneck] + airtime = "186us"; reverse_rate = "forward"; grant = "4ms" | 7:1-7 | found a grant, but a granted packet must not wait for the medium
        `bottleneck.airtime`: expected a time such as "186us", or a table such as { overhead = "186us", packets = 64 }
            [bottleneck] + airtime = 5      | 7:11-11 | found the number 5, which has no unit
                help: write the quantity as a string with its unit
            [bottleneck] + airtime = "-1us" | 7:11-16 | found "-1us", which is negative
        `bottleneck.airtime.overhead`: expected the overhead per transmission opportunity, such as "186us"
            [bottleneck] + airtime = { packets = 4 } | 7:11-25 | found nothing: the key is missing
        `bottleneck.airtime.packets`: expected a whole number from 1 to 1000000000
            [bottleneck] + airtime = { overhead = "1us", packets = 0 } | 7:41-41 | found the number 0
        `bottleneck.airtime.time`: expected a time above zero such as "30ms"
            [bottleneck] + airtime = { overhead = "1us", time = "0s" }; reverse_rate = "forward" | 7:38-41 | found "0s", which is zero
        `bottleneck.airtime.txop`: expected a key of `bottleneck.airtime`
        note: keys of `bottleneck.airtime`: overhead, packets, time
            [bottleneck] + airtime = { overhead = "1us", txop = "4ms" }; reverse_rate = "forward" | 7:31-34 | found an unknown key
        `bottleneck.airtime`: expected a `reverse_rate` as well
            [bottleneck] + airtime = "186us" | 7:1-7 | found a direction without a rate, which takes no time on the medium
        `bottleneck.airtime`: expected a `rate` as well
            rate = "50Mbit/s" -> airtime = "186us"; reverse_rate = "1Mbit/s" | 4:1-7 | found a direction without a rate, which takes no time on the medium
        `bottleneck.buffer`: expected a `rate` as well
            also | 7:10-15 | found a buffer of a link without a rate, which never has a queue
        `bottleneck.airtime`: expected a `reverse_rate` that is not a Mahimahi trace
            [bottleneck] + airtime = "186us"; reverse_rate = { opportunities_ms = [1] } | 7:1-7 | found delivery opportunities, which the two directions cannot share
        `bottleneck.airtime`: expected no `burst`
            [bottleneck] + airtime = "186us"; reverse_rate = "forward"; burst = "9KB" | 7:1-7 | found a token bucket, whose waiting packets would occupy the medium
        `bottleneck.airtime`: expected no `slot` or `reverse_slot`
            [bottleneck] + airtime = "186us"; reverse_rate = "forward"; reverse_slot = "4ms" | 7:1-7 | found slots, which already model the wait for the medium
        `bottleneck.airtime`: expected `rate_change = "follow"`
            [bottleneck] + airtime = "186us"; reverse_rate = "forward"; rate_change = "keep" | 7:1-7 | found "keep", with which a packet's departure time is fixed on arrival
        `bottleneck.airtime`: expected no `bandwidth` of `cake`
            [bottleneck] + airtime = "186us"; reverse_queue = { discipline = "cake", bandwidth = "5Mbit/s" } | 7:1-7 | found a shaper, which does not wait for the medium
        `bottleneck.airtime`: expected a time such as "186us", or a table such as { overhead = "186us", packets = 64 }
            [bottleneck] + airtime = []; reverse_rate = "forward" | 7:11-12 | found an empty list
        `bottleneck.airtime.overhead`: expected the overhead per transmission opportunity, such as "186us"
            [bottleneck] + airtime = { time = "4ms" }; reverse_rate = "forward" | 7:11-26 | found nothing: the key is missing
        `bottleneck.airtime`: expected a `reverse_rate` as well
            [bottleneck] + airtime = "1us"; reverse_rate = "unlimited" | 7:1-7 | found a direction without a rate, which takes no time on the medium
    "#]]);
}

#[test]
fn what_would_be_without_effect() {
    check(&expect![[r#"
        `bottleneck.burst`: expected a `rate` or a schedule of rates
            rate = "50Mbit/s" -> burst = "9KB" | 4:1-5 | found a link without a rate
        `bottleneck.buffer`: expected a `rate` as well
            also | 6:10-15 | found a buffer of a link without a rate, which never has a queue
        `bottleneck.burst`: expected a `rate` or a schedule of rates
            rate = "50Mbit/s" -> rate = { opportunities_ms = [1] }; burst = "9KB" | 5:1-5 | found a Mahimahi trace, which does not fill a bucket
        `bottleneck.queue.min`: expected less than `max`
            [bottleneck] + queue = { discipline = "red", min = "30000B", max = "30000B" } | 7:31-33 | found 30000 B, and `max` is 30000 B
            [bottleneck] + queue = { discipline = "red", min = "90KB", max = "30KB" }     | 7:31-33 | found 90000 B, and `max` is 30000 B
        `bottleneck.reverse_queue.min`: expected less than `max`
            [bottleneck] + reverse_rate = "9Mbit/s"; reverse_queue = { discipline = "red", min = "9KB", max = "8KB" } | 8:39-41 | found 9000 B, and `max` is 8000 B
        `bottleneck.queue.step_thresh`: expected a wait or a number of packets such as "1ms" or "5pkt"
            [bottleneck] + queue = { discipline = "dualpi2", step_thresh = "0ms" }  | 7:49-53 | found "0ms", which is zero
            [bottleneck] + queue = { discipline = "dualpi2", step_thresh = "0pkt" } | 7:49-54 | found "0pkt", which is zero
            [bottleneck] + queue = { discipline = "dualpi2", step_thresh = "9KB" }  | 7:49-53 | found "9KB"
        `bottleneck.buffer`: expected a buffer in which the largest packet fits
            buffer = "1bdp" -> buffer = "100B" | 6:10-15 | found "100B"; the largest packet that crosses the link has 1514 B on the wire
        `bottleneck.buffer`: expected a buffer for at least one packet such as "100pkt", "64KiB", "20ms" or "2bdp"
            buffer = "1bdp" -> buffer = "0B" | 6:10-13 | found "0B", which drops every packet that has to wait
        `bottleneck.queue.limit`: expected a buffer in which the largest packet fits
            buffer = "1bdp" -> queue = { discipline = "codel", limit = "1513B" } | 6:41-47 | found "1513B"; the largest packet that crosses the link has 1514 B on the wire
        `bottleneck.device_queue`: expected `queue = "droptail"` or `device_queue = "none"`
            [bottleneck] + queue = "codel"; device_queue = "100pkt" | 8:16-23 | found a queue discipline, which would not see packets in the device queue
        `bottleneck.device_queue`: expected `reverse_queue = "droptail"` or `device_queue = "none"`
            [bottleneck] + reverse_rate = "9Mbit/s"; reverse_queue = "codel"; device_queue = "9pkt" | 9:16-21 | found a queue discipline, which would not see packets in the device queue
        `bottleneck.queue`: expected `"droptail"`, or this queue with `device_queue = "none"`
            [bottleneck] + queue = "codel"; [stack]; profile = "ns3" | 7:1-5 | found a queue discipline, which would not see packets in the device queue of the `profile`
        `bottleneck.reverse_queue`: expected `"droptail"`, or this queue with `device_queue = "none"`
            [bottleneck] + reverse_queue = "codel"; [stack]; profile = "ns3" | 7:1-13 | found a queue discipline, which would not see packets in the device queue of the `profile`
        `bottleneck.buffer`: expected a buffer counted in packets with a `device_queue`
            buffer = "1bdp" -> buffer = "30kB"; device_queue = "9pkt"    | 6:10-15 | found one counted in bytes: set `buffer_unit = "pkt"`
            buffer = "1bdp" -> buffer = "30kB"; [stack]; profile = "ns3" | 6:10-15 | found one counted in bytes: set `buffer_unit = "pkt"`
        `bottleneck.buffer_unit`: expected "pkt" with a `device_queue`
            buffer = "1bdp" -> buffer_unit = "B"; [stack]; profile = "ns3" | 3:1-12 | found "B"; the device queue is counted in packets
    "#]]);
}

#[test]
fn schedules() {
    check(&expect![[r#"
        `bottleneck.rate`: expected a schedule that begins at "0s"
            "50Mbit/s" -> [["1s", "50Mbit/s"]] | 4:10-13 | found "1s" in entry 1
        `bottleneck.rate`: expected a schedule whose times rise
            "50Mbit/s" -> [["0s", "50Mbit/s"], ["0s", "5Mbit/s"]] | 4:30-33 | found "0s" in entry 2
        `bottleneck.rate`: expected a time and a rate
            "50Mbit/s" -> [["0s"]] | 4:9-14 | found a list of length 1
        `bottleneck.rate`: expected a rate such as "50Mbit/s", a schedule or a trace file
            50Mbit/s -> /dev/null | 4:8-18 | found "/dev/null"; as a trace file it is not a regular file
        `bottleneck.rate.opportunities_ms`: expected a list of rising milliseconds
            "50Mbit/s" -> { opportunities_ms = [3, 2] } | 4:29-34 | found a trace that goes back in time
        `bottleneck.rate`: expected a rate above zero at the start and at the end
            "50Mbit/s" -> [["0s", "0Mbit/s"], ["1s", "5Mbit/s"]] | 4:8-45 | found a schedule that begins with a rate of 0
            "50Mbit/s" -> [["0s", "5Mbit/s"], ["1s", "0Mbit/s"]] | 4:8-45 | found a schedule that ends with a rate of 0, at which nothing would ever leave
        `bottleneck.rate_change`: expected "follow"
            "50Mbit/s" -> [["0s", "5Mbit/s"], ["1s", "0Mbit/s"], ["2s", "5Mbit/s"]]; rate_change = "keep" | 5:1-11 | found "keep", with which a packet that arrives while the rate is 0 never leaves
        `bottleneck.delay`: expected a time such as "30ms"
            "5ms" -> [["0s", "5Mbit/s"]] | 5:17-25 | found "5Mbit/s", whose unit is none of ns, us, ms, s, min or h
        `bottleneck.delay`: expected a schedule that begins at "0s"
            "5ms" -> [["1s", "5ms"]] | 5:11-14 | found "1s" in entry 1
        `bottleneck.delay`: expected a schedule such as [["0s", "20ms"], ["15s", "45ms"]]
            "5ms" -> []                     | 5:9-10 | found an empty list
                help: several values are swept: as a list in [sweep], or `--set 'sweep.KEY=[...]'`
            "5ms" -> [["0s", "5ms"], "9ms"] | 5:25-29 | found "9ms"
        `bottleneck.keep_order`: expected a `delay` that changes
            [bottleneck] + keep_order = false | 7:1-10 | found a constant delay
        `bottleneck.keep_order`: expected true or false
            "5ms" -> [["0s", "5ms"]]; keep_order = 1 | 6:14-14 | found the number 1
        `bottleneck.loss`: expected a number from 0 to 1, or a percentage such as "1%"
            [bottleneck] + loss = [["0s", 2]] | 7:16-16 | found the number 2
        `bottleneck.loss`: expected a time such as "30ms"
            [bottleneck] + loss = [[0, 0.1]] | 7:10-10 | found the number 0, which has no unit
                help: write the quantity as a string with its unit
        `bottleneck.loss`: expected a time and a ratio
            [bottleneck] + loss = [["0s"]] | 7:9-14 | found a list of length 1
        `bottleneck.delay`: expected a time such as "30ms"
            "5ms" -> [["0s", "5ms"], ["1s", "-5ms"]] | 5:32-37 | found "-5ms", which is negative
        `bottleneck.delay`: expected a time and a delay
            "5ms" -> [["0s", "5ms", "6ms"]] | 5:10-29 | found a list of length 3
        `bottleneck.delay`: expected a time such as "30ms"
            "5ms" -> [["0s", 5]] | 5:17-17 | found the number 5, which has no unit
                help: write the quantity as a string with its unit
        `bottleneck.delay`: expected a time such as "30ms", or a schedule such as [["0s", "20ms"], ["15s", "45ms"]]
            "5ms" -> { "0s" = "5ms" } | 5:9-24 | found a table
        `flows[0].rtt`: expected at least 100ms, the delays of the links in both directions
            "5ms" -> [["0s", "50ms"], ["1s", "5ms"]] | 10:7-12 | found 30ms, which would need negative access delays
        `bottleneck.rate`: expected a schedule such as [["0s", "40Mbit/s"], ["40s", "80Mbit/s"]]
            "50Mbit/s" -> ["9Mbit/s", "5Mbit/s"] | 4:9-17 | found "9Mbit/s"
        `bottleneck.rate`: expected a rate such as "50Mbit/s"
            "50Mbit/s" -> [["0s", "9Mbit/s"], ["1s", "0"]] | 4:35-37 | found "0", which has no unit
                help: write the unit, as in "50Mbit/s"
        `bottleneck.rate`: expected a schedule such as [["0s", "40Mbit/s"], ["40s", "80Mbit/s"]]
            "50Mbit/s" -> [] | 4:8-9 | found an empty list
                help: several values are swept: as a list in [sweep], or `--set 'sweep.KEY=[...]'`
        `bottleneck.rate`: expected a rate above zero such as "50Mbit/s"
            "50Mbit/s" -> true | 4:8-11 | found true
        `bottleneck.rate.opportunities_ms`: expected a list of rising milliseconds
            "50Mbit/s" -> {}                      | 4:8-9 | found nothing: the key is missing
            "50Mbit/s" -> { opportunities = [1] } | 4:8-30 | found nothing: the key is missing
        `bottleneck.rate.opportunities`: expected a key of `bottleneck.rate`
        note: keys of `bottleneck.rate`: trace, opportunities_ms
            also | 4:10-22 | found an unknown key
                help: did you mean `opportunities_ms`?
        `bottleneck.rate.opportunities_ms`: expected a list of rising milliseconds
            "50Mbit/s" -> { opportunities_ms = [] }  | 4:29-30 | found a trace that has no delivery opportunity
            "50Mbit/s" -> { opportunities_ms = [0] } | 4:29-31 | found a trace that ends at 0 ms, so it has no period
        `bottleneck.rate.opportunities_ms`: expected a whole number from 0 to 86400000
            "50Mbit/s" -> { opportunities_ms = [1, -1] } | 4:33-34 | found the number -1
        `bottleneck.rate.opportunities_ms`: expected a list of rising milliseconds
            "50Mbit/s" -> { opportunities_ms = 5 } | 4:29-29 | found the number 5
        `bottleneck.reverse_rate`: expected a rate above zero at the start and at the end
            [bottleneck] + reverse_rate = [["0s", "1Mbit/s"], ["1s", "0Mbit/s"]] | 7:16-53 | found a schedule that ends with a rate of 0, at which nothing would ever leave
        `bottleneck.reverse_rate`: expected a rate such as "50Mbit/s", a schedule or a trace file
        note: or "unlimited" or "forward"
            [bottleneck] + reverse_rate = "backward" | 7:16-25 | found "backward"; as a trace file it cannot be read: No such file or directory
        `bottleneck.loss`: expected a schedule whose times rise
            [bottleneck] + loss = [["0s", 0.1], ["0s", 0.2]] | 7:23-26 | found "0s" in entry 2
        `bottleneck.loss`: expected a schedule such as [["0s", 0], ["10s", 0.01]]
            [bottleneck] + loss = ["1%"] | 7:9-12 | found "1%"
        `bottleneck.rate_change`: expected "follow" or "keep"
            [bottleneck] + rate_change = "drop" | 7:15-20 | found "drop"
    "#]]);
}

#[test]
fn traces() {
    check(&expect![[r#"
        `bottleneck.rate`: expected a rate such as "50Mbit/s", a schedule or a trace file
            50Mbit/s -> no-such.trace | 4:8-22 | found "no-such.trace"; as a trace file it cannot be read: No such file or directory
        `bottleneck.trace`: expected the path of a CSV file, or a table with a `model`
            [bottleneck] + trace = "no-such.csv" | 7:9-21 | found "no-such.csv"; as a trace it cannot be read: No such file or directory
            [bottleneck] + trace = 5             | 7:9-9 | found the number 5
        `bottleneck.trace.rows`: expected the lines of a CSV file
            [bottleneck] + trace = { rows = ["time_s,loss", "0,2"] } | 7:18-39 | found a list; as a trace it has no loss from 0 to 1 on line 2: "2"
        `bottleneck.rate`: expected no `rate` with `trace`
            [bottleneck] + trace = { rows = ["time_s,rate_mbps", "0,2"] } | 4:1-4 | found both, and the trace sets the same quantity
        `bottleneck.trace.trace`: expected the path of a CSV file, or a table with a `model`
            [bottleneck] + trace = { trace = 5 } | 7:19-19 | found the number 5
        `bottleneck.trace.rows`: expected the lines of a CSV file
            [bottleneck] + trace = { rows = "time_s,loss" } | 7:18-30 | found "time_s,loss"
        `bottleneck.trace.rows`: expected a string
            [bottleneck] + trace = { rows = [5] } | 7:19-19 | found the number 5
        `bottleneck.trace.rows`: expected the lines of a CSV file
            [bottleneck] + trace = { rows = [] }                            | 7:18-19 | found an empty list; as a trace it is empty; its first line should name its columns, `time_s` and some of `rate_mbps`, `delay_ms`, `loss`
            [bottleneck] + trace = { rows = ["time_s"] }                    | 7:18-27 | found a list; as a trace it has the columns "time_s" instead of `time_s` and some of `rate_mbps`, `delay_ms`, `loss`
            [bottleneck] + trace = { rows = ["time_s,loss", "1,0"] }        | 7:18-39 | found a list; as a trace it does not begin at 0, but on line 2 at 1
            [bottleneck] + trace = { rows = ["time_s,loss", "0,0", "1"] }   | 7:18-44 | found a list; as a trace it has 2 columns, but 1 on line 3
            [bottleneck] + trace = { rows = ["time_s,loss", "0,0", "0,1"] } | 7:18-46 | found a list; as a trace it has a time on line 3 that does not rise
            [bottleneck] + trace = { rows = ["time_s,loss"], every = "1s" } | 7:18-32 | found a list; as a trace it has no line of values after the line of column names
        `bottleneck.trace.every`: expected a key of `bottleneck.trace`
        note: keys of `bottleneck.trace`: trace, rows
            also | 7:35-39 | found an unknown key
        `bottleneck.trace.rows`: expected the lines of a CSV file
            rate = "50Mbit/s"; delay = "5ms" -> trace = { rows = ["time_s,rate_mbps", "0,5", "1,0"] }        | 4:18-51 | found a list; as a trace it ends with a rate of 0, at which nothing would ever leave
            rate = "50Mbit/s"; delay = "5ms" -> trace = { rows = ["time_s,rate_mbps,delay_ms", "0,5,1e20"] } | 4:18-58 | found a list; as a trace it has no delay in ms on line 2: "1e20", more than the largest, 1000000000s
    "#]]);
}

#[test]
fn models_of_paths() {
    check(&expect![[r#"
        `bottleneck.trace.model`: expected "leo" or "walk" or "blockage"
            [bottleneck] + trace = { model = "geo" } | 7:19-23 | found "geo"
                help: did you mean "leo"?
        `bottleneck.trace.rate`: expected the lowest and the highest, such as ["50Mbit/s", "200Mbit/s"]
            [bottleneck] + trace = { model = "leo", rate = "5Mbit/s", delay = ["1ms", "2ms"], every = "1s" }              | 7:33-41 | found "5Mbit/s"
            [bottleneck] + trace = { model = "leo", rate = ["5Mbit/s", "1Mbit/s"], delay = ["1ms", "2ms"], every = "1s" } | 7:33-54 | found "5Mbit/s" before "1Mbit/s"
        `bottleneck.rate`: expected no `rate` with `trace`
            [bottleneck] + trace = { model = "walk", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s" } | 4:1-4 | found both, and the trace sets the same quantity
        `bottleneck.delay`: expected no `delay` with `trace`
            also | 5:1-5 | found both, and the trace sets the same quantity
        `bottleneck.trace.outage`: expected less than `every`
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "leo", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s", outage = "1s" } | 4:104-107 | found 1s, every 1s
        `bottleneck.trace.outage`: expected no `outage` of a `walk`
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "walk", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s", outage = "1s" } | 4:105-108 | found "1s"
        `bottleneck.trace.outage`: expected the mean length of a blockage, such as "200ms"
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "blockage", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s" } | 4:9-99 | found nothing: the key is missing
        `bottleneck.trace.every`: expected fewer than 50000 changes in the run
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "walk", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1us" } | 4:90-94 | found 1us in a run of 10s
        `bottleneck.trace.model`: expected "leo" or "walk" or "blockage", or in its place `trace` with the path of a CSV file
            [bottleneck] + trace = {}                                | 7:9-10 | found nothing: the key is missing
            [bottleneck] + trace = { every = "1s" }                  | 7:9-24 | found nothing: the key is missing
            --set bottleneck.trace.every=1s                          | --set 1:1-22 | found nothing: the key is missing
            + [sweep]; "bottleneck.trace.every" = ["100ms", "200ms"] | 12:1-24 | found nothing: the key is missing
        `bottleneck.trace.rate`: expected the lowest and the highest, such as ["50Mbit/s", "200Mbit/s"]
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "leo" } | 4:9-25 | found nothing: the key is missing
        `bottleneck.trace.delay`: expected the shortest and the longest, such as ["10ms", "30ms"]
            also | 4:9-25 | found nothing: the key is missing
        `bottleneck.trace.every`: expected the time between two changes, such as "15s"
            also | 4:9-25 | found nothing: the key is missing
        `bottleneck.trace.rate`: expected the lowest and the highest, such as ["50Mbit/s", "200Mbit/s"]
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "leo", rate = ["1Mbit/s"], delay = ["2ms", "1ms"], every = "0s" } | 4:33-43 | found a list
                help: several values are swept: as a list in [sweep], or `--set 'sweep.KEY=[...]'`
        `bottleneck.trace.delay`: expected the shortest and the longest, such as ["10ms", "30ms"]
            also | 4:54-67 | found "2ms" before "1ms"
        `bottleneck.trace.every`: expected a time above zero such as "30ms"
            also | 4:78-81 | found "0s", which is zero
        `bottleneck.trace.seed`: expected a key of `bottleneck.trace`
        note: keys of `bottleneck.trace`: model, rate, delay, every, outage
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "leo", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s", seed = 4 } | 4:95-98 | found an unknown key
        `bottleneck.trace.outage`: expected a time above zero such as "30ms"
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "blockage", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s", outage = "0s" } | 4:109-112 | found "0s", which is zero
        `bottleneck.trace.model`: expected a run shorter than 500s with a `blockage`
            = duration = "10min"; [bottleneck]; trace = { model = "blockage", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "9s", outage = "1s" }; [[flows]]; cc = "reno" | 3:19-28 | found a run of 600s: the state may change every 10ms
        `bottleneck.rate_change`: expected "follow"
            rate = "50Mbit/s"; delay = "5ms" -> trace = { model = "leo", rate = ["1Mbit/s", "5Mbit/s"], delay = ["1ms", "2ms"], every = "1s", outage = "9ms" }; rate_change = "keep" | 5:1-11 | found "keep", with which a packet that arrives while the rate is 0 never leaves
    "#]]);
}

#[test]
fn links_and_paths() {
    check(&expect![[r#"
        `flows[0].path`: expected the name of a link
        note: links: bottleneck
            + path = ["a"] | 11:9-11 | found "a"
        `flows[0].left_link`: expected the name of a link
        note: links: bottleneck, core
            [[flows]] -> [[links]]; name = "core"; rate = "1Mbit/s"; [[flows]]; left_link = "cor" | 12:13-17 | found "cor"
                help: did you mean "core"?
        `links[0].name`: expected the name by which flows refer to this link
            + [[links]]; rate = "1Mbit/s" | 11:1-9 | found nothing: the key is missing
        `links[1].name`: expected a unique name
            + [[links]]; name = "core"; rate = "1Mbit/s"; [[links]]; name = "core"; rate = "1Mbit/s" | 15:8-13 | found "core", the name of another link
        `links[0].name`: expected a unique name
            + [[links]]; name = "bottleneck" | 12:8-19 | found "bottleneck", the name of another link
        `flows[0].left_link`: expected each link at most once on a path
            + left_link = "bottleneck" | 11:13-24 | found "bottleneck" again
        `flows[0].right_link`: expected each link at most once on a path
            + left_link = "lan"; right_link = "lan"; [[links]]; name = "lan" | 12:14-18 | found "lan" again
        `flows[0].path`: expected each link once
            + path = ["bottleneck", "bottleneck"] | 11:23-34 | found "bottleneck" twice
        `flows[0]`: expected a [bottleneck], or a `path` of [[links]]
            = duration = "1s"; [[flows]]; cc = "reno" | 2:1-9 | found neither: this flow has no path to its receiver
        `flows[0]`: expected a rate or a delay on its path
            = duration = "1s"; [bottleneck]; [[flows]]; cc = "reno" | 3:1-9 | found neither: the flow would send an infinite amount at once
    "#]]);
}

#[test]
fn the_spread_of_a_distribution() {
    check(&expect![[r#"
        `bottleneck.jitter.spread`: expected the standard deviation of the delay, such as "5ms"
            [bottleneck] + jitter = { distribution = "normal" } | 7:10-36 | found nothing: the key is missing
            [bottleneck] + jitter = { correlation = 0.5 }       | 7:10-30 | found nothing: the key is missing
    "#]]);
}
