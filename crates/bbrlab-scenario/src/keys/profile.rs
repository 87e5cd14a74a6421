//! Profiles: values for keys that a scenario does not set. The values of the `linux` profile are
//! the defaults of the keys. Only this file defines the values of the other profiles.
//!
//! Sources of the values: [linux] 6.12 for `linux-stock`; [ns3] for the profiles of ns-3's
//! releases; [lanigan] (with the data file `papers/lanigan2020.toml`) and [piotrowska] for the
//! profiles of these papers. `docs/ns3-profile.md` gives the reason for each value.

use bbrlab_run::Profile;

use crate::keys::link::{ACCESS_KEYS, AccessSpec, LINK_KEYS, LinkSpec};
use crate::keys::stack::{STACK_KEYS, StackSpec};
use crate::language::document::{At, Source, Table, Value, parse};
use crate::language::key::{Key, read_keys};
use crate::language::reader::{Keys, Reader};
use crate::language::traces::Traces;

/// The values that a profile sets.
struct Preset {
    profile: Profile,
    /// The profile whose values apply to keys that are not set here; `None` means `linux`.
    like: Option<Profile>,
    /// The values in the syntax of a scenario. Values in `[bottleneck]` also apply to `[[links]]`.
    toml: &'static str,
}

const PRESETS: &[Preset] = &[
    // The sources of these values in Linux are `tcp_init` in `net/ipv4/tcp.c`, and
    // `kernel/Kconfig.hz`.
    Preset {
        profile: Profile::LinuxStock,
        like: None,
        toml: r#"
            [stack]
            tcp_rmem = "4096 131072 6291456"
            tcp_wmem = "4096 16384 4194304"
            hz = 250
        "#,
    },
    Preset {
        profile: Profile::Ns3,
        like: None,
        toml: r#"
            [stack]
            mss = "536B"
            sndbuf = "131072B"
            rcvbuf = "131072B"
            sockbuf = "payload"
            nagle = false
            tso = "off"
            recovery = "prr"
            delack = { every = 2, timer = "200ms" }
            dsack = false
            tcp_options = "packed"
            handshake = "ns3"
            rtt_clock = "1ms"
            cc_rtt = "srtt"
            min_rto = "1s"
            initial_cwnd = 10
            nextseg_rule3 = "below_high_sack"
            rwnd_bounds = "both"
            pipe_keeps_sacked_retrans = true
            partial_ack_sends = true
            rto = "mark_all_keep_sack"
            rto_impatient = true
            rto_estimate = "rfc6298"
            exit_sets_ssthresh = true
            cwnd_validation = "last_sent"
            rate_sample_sticky = true
            rate_loss_abs = true
            rate_min_rtt = "srtt"
            pacing = "timer"
            app_write = "512B"

            [stack.bbr]
            min_rtt_renew = true
            seed_bw = true
            cycle_rand = 6
            extra_acked = "ns3"
            probertt_app_limited = false
            quantum = "segment"
            edt = false
            policer = false
            rto_resets_full_bw = false
            losses = "ns3"

            [stack.cubic]
            hystart = "ns3"
            wmax_on_rto = true

            [stack.vegas]
            diff = "rtt"
            growth = "ns3"

            [bottleneck]
            device_queue = "100pkt"
            framing = "2B"
            reverse_rate = "forward"

            [access]
            framing = "2B"
            reverse_rate = "forward"
        "#,
    },
    Preset {
        profile: Profile::Ns3V40,
        like: Some(Profile::Ns3),
        toml: r#"
            [stack]
            rtt_retrans = false
            recovery = "prr_ssrb"
            nextseg_rule3 = "any"
            cwnd_validation = "off"
            rate_ack_interval = "previous"
            rate_invalid = "reuse"
            bbr = { min_rtt = "srtt", margin = 0.0 }
            cubic = { friendly = false, wmax_on_rto = false }
        "#,
    },
    Preset {
        profile: Profile::Ns3V27,
        like: Some(Profile::Ns3V40),
        toml: r#"
            [stack]
            recovery = "classic"
            partial_ack_sends = "head"
            rwnd_bounds = "pipe"
            initial_cwnd = 1
            rtt_clock = "1ms-positive"

            [bottleneck]
            buffer = "1000pkt"
        "#,
    },
    Preset {
        profile: Profile::Lanigan,
        like: Some(Profile::Ns3V27),
        toml: r#"
            [stack]
            mss = "476B"
            min_rto = "200ms"
            initial_cwnd = 10
            app_write = "476B"
            pace_initial_window = true
            rate_ack_interval = "this"
            rate_loss_abs = "marked"
            exit_sets_ssthresh = false

            [stack.bbr]
            losses = "port"
            seed_bw = false
            cycle_rand = 8
            extra_acked = "off"
            probertt_app_limited = true
            probe_extra = 0
            drain_phase = "full"

            [stack.cubic]
            growth = "ns2"
            beta = 819
            fast_convergence = false
            friendly = true
            hystart = false
        "#,
    },
    Preset {
        profile: Profile::Piotrowska,
        like: Some(Profile::Ns3V40),
        toml: r#"
            [stack]
            mss = "1000B"
            rate_ack_interval = "this"
            sndbuf = "16MiB"
            rcvbuf = "16MiB"

            [bottleneck]
            device_queue = "none"
        "#,
    },
];

/// The values of a profile for keys that a scenario does not set.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProfileValues {
    pub(crate) stack: StackSpec,
    /// Values for `[bottleneck]` and `[[links]]`.
    pub(crate) link: LinkSpec,
    pub(crate) access: AccessSpec,
}

impl ProfileValues {
    pub(crate) fn of(profile: Profile) -> Self {
        let Some(preset) = PRESETS.iter().find(|preset| preset.profile == profile) else {
            return Self::default();
        };
        let mut values = preset.like.map_or_else(Self::default, Self::of);
        values.apply(preset.toml);
        values.stack.profile = profile;
        values
    }

    /// Sets the values that the text of a preset contains.
    fn apply(&mut self, toml: &str) {
        let source = Source { name: "profile".to_owned(), text: toml.to_owned() };
        let root = parse(&source, 0).expect("a preset is TOML");
        let mut traces = Traces::default();
        let mut reader = Reader::without_files(&mut traces);
        for entry in &root.entries {
            let Value::Table(table) = &entry.value.value else {
                panic!("a preset consists of tables");
            };
            match &*entry.key {
                "stack" => set_keys(&STACK_KEYS, &mut self.stack, table, &mut reader),
                "bottleneck" => set_keys(LINK_KEYS, &mut self.link, table, &mut reader),
                "access" => set_keys(ACCESS_KEYS, &mut self.access, table, &mut reader),
                other => panic!("a preset has no [{other}]"),
            }
        }
        assert!(reader.problems.is_empty(), "{:?}", reader.problems);
    }
}

fn set_keys<S>(rows: &'static [Key<S>], values: &mut S, table: &Table, reader: &mut Reader<'_>) {
    let mut keys = Keys::new(table, "", At::NOWHERE);
    read_keys(rows, values, reader, &mut keys);
    keys.finish(reader);
}

/// Returns the keys whose values differ between profiles, as a Markdown table with a column for
/// each profile.
#[must_use]
pub fn profiles_to_markdown() -> String {
    let of: Vec<ProfileValues> =
        Profile::NAMED.iter().map(|&(_, profile)| ProfileValues::of(profile)).collect();
    let names: Vec<String> = Profile::NAMED.iter().map(|(name, _)| format!("`{name}`")).collect();
    let mut out =
        format!("| key | {} |\n| --- |{}\n", names.join(" | "), " --- |".repeat(of.len()));
    out += &lines("stack", &STACK_KEYS, &of.iter().map(|values| &values.stack).collect::<Vec<_>>());
    out += &lines("bottleneck", LINK_KEYS, &of.iter().map(|it| &it.link).collect::<Vec<_>>());
    out + &lines("access", ACCESS_KEYS, &of.iter().map(|it| &it.access).collect::<Vec<_>>())
}

fn lines<S>(table: &str, rows: &[Key<S>], of: &[&S]) -> String {
    let mut out = String::new();
    for row in rows.iter().filter(|row| row.name != "profile") {
        let values: Vec<Option<String>> = of.iter().map(|values| row.value(values)).collect();
        if values.iter().all(|value| *value == values[0]) {
            continue;
        }
        let cells: String = values
            .iter()
            .map(|value| match value {
                Some(toml) => format!(" `{toml}` |"),
                None => format!(" {} |", row.without),
            })
            .collect();
        out += &format!("| `{table}.{}` |{cells}\n", row.name);
    }
    out
}
