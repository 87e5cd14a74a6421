//! Tables for a terminal of 100 columns, and for a notebook.

mod block;
mod compare;
mod format;
mod groups;
mod layout;
mod published;
mod run;
mod sweep;
mod tables;

pub use compare::{ComparisonLook, compare_table, compared_tables, paired_table, paired_tables};
pub use format::TableFormat;
pub use groups::group_table;
pub use layout::{Align, Table, WIDTH};
pub use published::{
    PrintedAs, PublishedCell, PublishedRow, published_table, published_tables, split_unit,
};
pub use run::{run_html, run_table, run_tables};
pub use sweep::{chosen_sweep_tables, sweep_html, sweep_table};
pub use tables::Tables;

pub(crate) use run::point_text as point_words;
pub(crate) use run::run_page;
pub(crate) use sweep::{sweep_page, varying_keys};

#[cfg(test)]
pub(crate) mod tests {
    use bbrlab_run::{
        Cwnd, Fct, FlowGroup, FlowSummary, GroupFct, GroupRtt, LimitedBy, LinkSummary, QueueDelay,
        QueuePackets, Rtt, RunSummary, Slowdown, Srtt,
    };

    /// Returns a group of one flow.
    fn sample_group(name: &str, goodput: f64) -> FlowGroup {
        FlowGroup {
            group: name.to_owned(),
            flows: 1,
            rejected: None,
            goodput_mbps: Some(goodput),
            goodput_active_mbps: None,
            share: Some(goodput / 46.5),
            retransmitted_packets: Some(502),
            out_of_order_packets: Some(3_950),
            duplicate_packets: Some(7),
            drops: Some(502),
            random_losses: Some(0),
            policer_drops: None,
            rtt_ms: GroupRtt { mean: Some(47.31), p95: Some(71.4) },
            fct_ms: GroupFct { n: Some(0), unfinished: Some(0), ..GroupFct::default() },
            slowdown: Slowdown::default(),
            ..FlowGroup::default()
        }
    }

    /// Returns the summary of a made-up run: two flows on a path with 50 Mbit/s and a base RTT of
    /// 30 ms.
    pub(crate) fn sample_run() -> RunSummary {
        let flow = |id: u32, cc: &str, goodput: f64| FlowSummary {
            id,
            name: None,
            group: cc.to_owned(),
            cc: cc.to_owned(),
            start_s: Some(f64::from(id) * 2.0),
            stop_s: Some(100.0),
            rtt_base_ms: Some(30.0),
            throughput_mbps: Some(goodput * 1514.0 / 1448.0),
            goodput_mbps: Some(goodput),
            goodput_ss_mbps: Some(goodput + 0.25),
            sent_packets: Some(204_812),
            delivered_packets: Some(204_310),
            out_of_order_packets: Some(3_950),
            duplicate_packets: Some(7),
            discarded_packets: Some(0),
            lost_packets: Some(502),
            retransmitted_packets: Some(502),
            drops: Some(502),
            random_losses: Some(0),
            policer_drops: None,
            rto_count: Some(0),
            rtt_ms: Rtt {
                min: Some(30.2),
                mean: Some(47.31),
                p50: Some(46.0),
                p95: Some(71.4),
                p99: Some(88.0),
                max: Some(120.9),
            },
            rtt_sample_ms: Rtt::default(),
            srtt_ms: Srtt { mean: Some(47.3), p95: Some(70.0) },
            cwnd_packets: Cwnd { mean: Some(143.2), max: Some(260.0) },
            limited_by: LimitedBy {
                cwnd: Some(0.11),
                pacing: Some(0.88),
                rwnd: Some(0.0),
                sndbuf: Some(0.01),
                app: Some(0.0),
            },
            fct_ms: Fct::default(),
            ..FlowSummary::default()
        };
        RunSummary {
            scenario: "two-flows".to_owned(),
            scenario_hash: "3fa9c2d17b604f0f".repeat(4),
            profile: "linux".to_owned(),
            point: serde_json::Map::new(),
            point_values: serde_json::Map::new(),
            seed: 1,
            sim_s: 100.0,
            cpu_s: Some(0.071),
            events: Some(1_204_331),
            data_packets: Some(412_345),
            digest: Some("5b1c0e55aa0099ff".to_owned()),
            goodput_mbps: Some(46.5),
            goodput_ss_mbps: Some(47.1),
            jain: Some(0.9871),
            jain_ss: Some(0.991),
            links: vec![LinkSummary {
                name: "bottleneck".to_owned(),
                rate_mbps: Some(50.0),
                utilization: Some(0.991),
                arrivals: Some(413_349),
                departures: Some(412_345),
                queued_at_end: Some(0),
                drops: Some(1004),
                random_losses: Some(0),
                policer_drops: None,
                drop_ratio: Some(0.002_429),
                marks: Some(0),
                queue_packets: QueuePackets {
                    mean: Some(61.2),
                    std: Some(30.0),
                    p95: Some(118.0),
                    max: Some(249.0),
                },
                queue_delay_ms: QueueDelay {
                    mean: Some(14.8),
                    p50: Some(13.0),
                    p95: Some(28.5),
                    p99: Some(41.0),
                },
                ..LinkSummary::default()
            }],
            flow_groups: vec![sample_group("bbr1", 24.6), sample_group("cubic", 21.9)],
            flows: vec![flow(0, "bbr1", 24.61), flow(1, "cubic", 21.97)],
            ..RunSummary::default()
        }
    }
}
