//! Tests of the profiles: their values, keys that override them, and their canonical text.

use bbrlab_link::Buffer;
use bbrlab_run::{Profile, Run};
use bbrlab_scenario::{Scenario, profiles_to_markdown};
use bbrlab_stack::{DelAck, Recovery, SocketBuffer, Tso};
use bbrlab_units::{Bytes, Packets, Span};
use expect_test::expect_file;

/// Returns a dumbbell with access links under a profile; `stack` is added to `[stack]`, `link` to
/// the bottleneck.
fn scenario(profile: &str, stack: &str, link: &str) -> Scenario {
    let text = format!(
        "duration = \"10s\"\n[stack]\nprofile = \"{profile}\"\n{stack}\n\
         [bottleneck]\nrate = \"10Mbit/s\"\ndelay = \"10ms\"\n{link}\n\
         [access]\nrate = \"40Mbit/s\"\ndelay = \"1ms\"\n[[flows]]\ncc = \"bbr1\"\n"
    );
    parse(&text)
}

fn parse(text: &str) -> Scenario {
    Scenario::parse("test", "test.toml", text, None, &[])
        .unwrap_or_else(|errors| panic!("{text}\n{errors}"))
}

fn run(profile: &str, stack: &str, link: &str) -> Run {
    scenario(profile, stack, link).run(0)
}

/// Checks that setting the values of a profile key by key under another profile gives the same run
/// as the profile, because `reproduce --explain` switches the values one by one.
#[test]
fn the_settings_of_a_profile_recreate_it_under_another() {
    let linux = scenario("linux", "", "buffer = \"38pkt\"");
    for profile in ["linux", "ns3", "ns3-3.40", "ns3-3.27", "lanigan", "piotrowska"] {
        let there = scenario(profile, "", "buffer = \"38pkt\"");
        let values = there.settings(0).into_iter().filter(|(key, _)| key != "stack.profile");
        let sets: Vec<String> =
            values.filter_map(|(key, value)| Some(format!("{key}={}", value?))).collect();
        assert!(sets.contains(&"access.rate=\"40Mbit/s\"".to_owned()), "{sets:?}");
        let made = Scenario::parse("test", "test.toml", &linux.to_toml(), None, &sets)
            .unwrap_or_else(|errors| panic!("{sets:?}\n{errors}"));
        let (made, there) = (made.run(0), there.run(0));
        assert_eq!((made.stack, made.links), (there.stack, there.links), "{profile}");
    }
}

/// Checks the values of the profiles against facts about the releases of ns-3.
#[test]
fn presets_are_those_of_the_list() {
    let of = |profile: &str| run(profile, "", "buffer = \"38pkt\"");
    for (profile, mss, sndbuf, initial_cwnd, min_rto_ms, packets, recovery) in [
        ("ns3-3.27", 536, 131_072, 1, 1000, 138, Recovery::Classic),
        ("ns3-3.40", 536, 131_072, 10, 1000, 138, Recovery::PrrSsrb),
        ("ns3", 536, 131_072, 10, 1000, 138, Recovery::Prr),
        ("lanigan", 476, 131_072, 10, 200, 138, Recovery::Classic),
        ("piotrowska", 1000, 16 << 20, 10, 1000, 38, Recovery::PrrSsrb),
    ] {
        let run = of(profile);
        let stack = &run.stack;
        assert_eq!(run.profile.name(), profile);
        assert_eq!(run.classes[0].mss, mss, "{profile}");
        assert_eq!(stack.sndbuf, SocketBuffer::Fixed(Bytes(sndbuf)), "{profile}");
        assert_eq!(stack.rcvbuf, stack.sndbuf, "{profile}");
        assert_eq!(stack.initial_cwnd, initial_cwnd, "{profile}");
        assert_eq!(stack.min_rto, Span::from_millis(min_rto_ms), "{profile}");
        assert_eq!(stack.recovery, recovery, "{profile}");
        assert_eq!(run.links[0].buffer, Buffer::Packets(Packets(packets)), "{profile}");
        assert_eq!(stack.tso, Tso::Off, "{profile}");
        let delack = DelAck::Every { every: 2, timer: Span::from_millis(200) };
        assert_eq!(stack.delack, delack, "{profile}");
        // Under each of these profiles, the framing is the two bytes of PPP, and the reverse
        // direction has the rate of the forward direction.
        let names: Vec<&str> = run.links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["bottleneck", "bottleneck.reverse"]);
        let access = &run.classes[0].private_links;
        let names: Vec<&str> = access.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["left", "right", "right.reverse", "left.reverse"], "{profile}");
        assert!(run.links.iter().chain(access).all(|link| link.framing == Bytes(2)), "{profile}");
        assert_eq!(run.links[0].rate, run.links[1].rate);
        assert_eq!(run.classes[0].base_rtt, Span::from_millis(24));
    }
    // In ns-3 3.27, the default queue `pfifo_fast` has 1000 packets, and the device queue after
    // `pfifo_fast` has 100 packets.
    assert_eq!(run("ns3-3.27", "", "").links[0].buffer, Buffer::Packets(Packets(1100)));
}

/// Returns Linux's values of the keys that profiles change, as three scenario texts: for `[stack]`,
/// for links and for `[access]`.
fn values_of_linux() -> [String; 3] {
    let table = profiles_to_markdown();
    ["stack", "bottleneck", "access"].map(|of| {
        let lines = table.lines().filter_map(|line| {
            let mut cells = line.split(" | ");
            let key = cells.next()?.strip_prefix(&format!("| `{of}."))?.strip_suffix('`')?;
            let value = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
            Some(format!("{key} = {value}\n"))
        });
        lines.collect()
    })
}

#[test]
fn a_key_overrides_the_profile() {
    let [stack, link, access] = values_of_linux();
    assert!(stack.contains("mss = \"1448B\"\n") && access.contains("framing = \"14B\"\n"));
    let text = |profile: &str, stack: &str, link: &str, access: &str| {
        format!(
            "duration = \"10s\"\n[stack]\nprofile = \"{profile}\"\n{stack}\n\
             [bottleneck]\nrate = \"10Mbit/s\"\n{link}\n[access]\nrate = \"40Mbit/s\"\n{access}\n\
             [[flows]]\ncc = \"bbr1\"\nrtt = \"30ms\"\n"
        )
    };
    let plain = parse(&text("linux", "", "", "")).run(0);
    for &(profile, _) in Profile::NAMED {
        let run = parse(&text(profile, &stack, &link, &access)).run(0);
        assert_eq!(run.profile.name(), profile);
        assert_eq!(run.stack, plain.stack, "{profile}");
        assert_eq!((run.links, run.classes), (plain.links.clone(), plain.classes.clone()));
    }
}

/// Checks that reading the text in a run's folder gives the same run, with every profile and every
/// override.
#[test]
fn the_canonical_text_has_every_effective_value() {
    let links = ["", "buffer = \"2bdp\"\ndevice_queue = \"none\"", "reverse_rate = \"unlimited\""];
    let stacks = ["", "mss = \"1448B\"", "mss = \"536B\"", "sndbuf = \"auto\"\ninitial_cwnd = 1"];
    for &(profile, _) in Profile::NAMED {
        let mut hashes = Vec::new();
        for link in links {
            for stack in stacks {
                let scenario = scenario(profile, stack, link);
                let (run, again) = (scenario.run(0), parse(&scenario.run_toml(0)).run(0));
                assert_eq!(
                    Run { scenario: run.scenario.clone(), ..again },
                    run,
                    "{profile}: {}",
                    scenario.run_toml(0)
                );
                hashes.push((run.scenario_hash.clone(), run));
            }
        }
        for (a, one) in &hashes {
            for (b, other) in &hashes {
                let same = (&one.stack, &one.links, &one.classes)
                    == (&other.stack, &other.links, &other.classes);
                assert_eq!(a == b, same, "{profile}: {one:?}\n{other:?}");
            }
        }
    }
    // The text contains the values of the profile, so that the text stays valid if a later version
    // changes the profile.
    let text = scenario("lanigan", "", "").run_toml(0);
    for line in ["profile = \"lanigan\"", "mss = \"476B\"", "device_queue = \"100pkt\""] {
        assert!(text.contains(line), "{text}");
    }
}

/// Returns the parameters of a flow's algorithm, as a scenario writes them.
fn params_of(profile: &str, stack: &str, flow: &str) -> String {
    let text = format!(
        "duration = \"1s\"\n[stack]\nprofile = \"{profile}\"\n{stack}\n[bottleneck]\nrate = \"1Mbit/s\"\n\
         [[flows]]\nrtt = \"30ms\"\n{flow}\n"
    );
    let params = &parse(&text).run(0).classes[0].cc_params;
    let shown: Vec<String> =
        params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    shown.join(", ")
}

#[test]
fn parameters_of_algorithms_come_from_the_flow_then_from_the_stack_then_from_the_profile() {
    let vegas = "cc = \"vegas\"";
    assert_eq!(params_of("linux", "", vegas), "");
    assert_eq!(params_of("ns3", "", vegas), "diff = \"rtt\", growth = \"ns3\"");
    assert_eq!(params_of("ns3", "vegas = { diff = \"base\" }", vegas), "growth = \"ns3\"");
    assert_eq!(params_of("linux", "vegas = { diff = \"rtt\" }", vegas), "diff = \"rtt\"");
    let own = "cc = \"vegas\"\ncc_params = { diff = \"base\", alpha = 3 }";
    assert_eq!(params_of("ns3", "", own), "alpha = 3, diff = \"base\", growth = \"ns3\"");
    assert_eq!(params_of("linux", "vegas = { diff = \"rtt\" }", "cc = \"reno\""), "");

    let bbr = |profile| params_of(profile, "", "cc = \"bbr1\"");
    assert!(bbr("ns3").contains("cycle_rand = 6") && !bbr("ns3").contains("margin"));
    assert!(bbr("ns3-3.40").contains("margin = 0, min_rtt = \"srtt\""), "{}", bbr("ns3-3.40"));
    assert!(bbr("lanigan").contains("drain_phase = \"full\""));
    // Other variants of BBR, such as `bbr_hsr`, leave the drain phase early and have no parameter
    // `drain_phase`.
    let hsr = params_of("lanigan", "", "cc = \"bbr_hsr\"");
    assert!(hsr.contains("cycle_rand = 8") && !hsr.contains("drain_phase"), "{hsr}");
    let cubic = |profile| params_of(profile, "", "cc = \"cubic\"");
    assert_eq!(cubic("ns3"), "hystart = \"ns3\", wmax_on_rto = true");
    assert_eq!(cubic("ns3-3.40"), "hystart = \"ns3\", tcp_friendliness = false");
    let port = "beta = 819, fast_convergence = false, growth = \"ns2\", hystart = false";
    assert_eq!(cubic("lanigan"), port);
}

#[test]
fn a_profile_can_be_swept_and_set() {
    let text = "duration = \"1s\"\n[bottleneck]\nrate = \"1Mbit/s\"\n[[flows]]\ncc = \"reno\"\nrtt = \"30ms\"\n\
                [sweep]\n\"stack.profile\" = [\"linux\", \"ns3\", \"ns3-3.27\"]\n";
    let scenario = parse(text);
    let mss: Vec<u32> = (0..3).map(|run| scenario.run(run).classes[0].mss).collect();
    assert_eq!(mss, [1448, 536, 536]);
    let sets = ["stack.profile=lanigan".to_owned(), "stack.mss=500B".to_owned()];
    let text = text.split("[sweep]").next().unwrap();
    let set = Scenario::parse("test", "test.toml", text, None, &sets).unwrap().run(0);
    assert_eq!((set.classes[0].mss, set.stack.initial_cwnd), (500, 10));
}

const PAGE: &str = include_str!("../../../../docs/ns3-profile.md");

/// Checks the table of profiles in `docs/ns3-profile.md`. `cargo xtask bless` rewrites the table.
#[test]
fn the_table_of_the_page_is_that_of_the_profiles() {
    let (before, rest) = PAGE.split_once("rewrites it -->\n").expect("the page has a table");
    let (_, after) = rest.split_once("<!-- End of").expect("the table ends");
    let table = profiles_to_markdown();
    let page = format!("{before}rewrites it -->\n\n{table}\n<!-- End of{after}");
    expect_file!["../../../../docs/ns3-profile.md"].assert_eq(&page);
}

/// Checks that `docs/ns3-profile.md` explains each key that a profile changes.
#[test]
fn the_page_explains_each_key_that_a_profile_changes() {
    let (_, words) = PAGE.split_once("<!-- End of").expect("the table ends");
    for line in profiles_to_markdown().lines().skip(2) {
        let key = line.split('`').nth(1).expect("a key");
        let name = key.split_once('.').map_or(key, |(_, name)| name);
        assert!(
            words.contains(&format!("`{name}`")),
            "docs/ns3-profile.md does not mention `{key}`"
        );
    }
}
