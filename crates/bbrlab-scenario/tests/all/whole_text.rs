//! Checks that the text of a whole scenario, as a sweep's folder stores it, gives the same runs in
//! any folder.

use bbrlab_scenario::{BUILTINS, Scenario, plain_name};
use expect_test::expect;

/// Writes a scenario as text and parses the text under the same name, without access to files. If
/// the scenario names files, the text must contain their contents.
fn again(scenario: &Scenario) -> Scenario {
    let text = scenario.to_toml();
    match Scenario::parse(scenario.name(), "again", &text, None, &[]) {
        Ok(again) => again,
        Err(errors) => panic!("{errors}\n{text}"),
    }
}

fn assert_same(scenario: &Scenario) {
    let again = again(scenario);
    assert_eq!(again.hash(), scenario.hash());
    assert_eq!(again.title(), scenario.title());
    assert_eq!((again.points(), again.repeat()), (scenario.points(), scenario.repeat()));
    for run in [0, scenario.runs() / 2, scenario.runs() - 1] {
        assert_eq!(format!("{:?}", again.run(run)), format!("{:?}", scenario.run(run)));
    }
    assert_eq!(again.to_toml(), scenario.to_toml(), "writing it again changes nothing");
}

#[test]
fn every_builtin_is_the_same_after_writing_and_reading() {
    for builtin in BUILTINS {
        for sets in [vec![], vec!["seed=7".to_owned(), "repeat=3".to_owned()]] {
            assert_same(&Scenario::builtin(builtin.id, &sets).unwrap());
        }
    }
}

/// Returns the text of the file `name`, which a scenario of these tests names.
fn files(name: &str) -> Result<String, String> {
    match name {
        "up.trace" => Ok("1\n3\n3\n9\n".to_owned()),
        "sizes.txt" => Ok("# bytes percent\n1000 0\n3000\t100\n".to_owned()),
        _ => Err("is not there".to_owned()),
    }
}

#[test]
fn sets_are_applied_and_traces_are_part_of_it() {
    let text = r#"
        # A comment.
        duration = "1000ms"
        title = "Line\nand \"quote\""
        sweep.points = [{ "bottleneck.rate" = "10mbit", "flows.cc" = "bbr1" },
                        { "bottleneck.rate" = "up.trace", "flows.cc" = "reno" }]
        sweep.bottleneck.buffer = ["1bdp", "2 bdp"]
        sweep."flows[0].rtt" = ["20ms", "40ms"]
        sweep."links.x.rate" = ["up.trace", "1Mbit/s"]
        [[links]]
        name = "x"
        reverse_rate = { trace = "up.trace" }
        [[flows]]
        count = 0x2
        [[flows]]
        path = ["x"]
        [bottleneck]
        loss = { model = "gilbert-elliott", p = 1e-2, r = 0.3 }
        delay = "0s"
    "#;
    let sets = ["flows[0].rtt=30ms", "bottleneck.loss_at=before", "flows[1].stop=0.9s"];
    let sets: Vec<String> = sets.map(str::to_owned).to_vec();
    let scenario = Scenario::parse("s", "s.toml", text, Some(&files), &sets);
    let scenario = scenario.unwrap_or_else(|errors| panic!("{errors}"));
    expect![[r#"
        title = "Line\nand \"quote\""
        duration = "1000ms"

        [bottleneck]
        loss = { model = "gilbert-elliott", p = 1e-2, r = 0.3 }
        delay = "0s"
        loss_at = "before"

        [[links]]
        name = "x"
        reverse_rate = { trace = "up.trace", opportunities_ms = [1, 3, 3, 9] }

        [[flows]]
        count = 2
        rtt = "30ms"

        [[flows]]
        path = ["x"]
        stop = "0.9s"

        [sweep]
        points = [
            { "bottleneck.rate" = "10mbit", "flows.cc" = "bbr1" },
            { "bottleneck.rate" = { trace = "up.trace", opportunities_ms = [1, 3, 3, 9] }, "flows.cc" = "reno" },
        ]
        "bottleneck.buffer" = ["1bdp", "2 bdp"]
        "links.x.rate" = [{ trace = "up.trace", opportunities_ms = [1, 3, 3, 9] }, "1Mbit/s"]
    "#]]
    .assert_eq(&scenario.to_toml());
    assert_same(&scenario);
    // The sweep point of a run contains the name of the trace's file, not the content of the file.
    assert_eq!(again(&scenario).run(4).point["bottleneck.rate"], "up.trace");
}

#[test]
fn the_rule_that_ends_the_seeds_is_part_of_it() {
    let text = "duration = \"10s\"\nrepeat = { at_most = 40, of = \"share\", until = \"5%\" }\nsample = \"off\"\n\
                [bottleneck]\nrate = \"5Mbit/s\"\n[[flows]]\ncc = \"reno\"\nrtt = \"20ms\"\n\
                [[flows]]\ncc = \"bbr1\"\nrtt = \"20ms\"\n\
                [sweep]\n\"flows[0].cc\" = [\"reno\", \"cubic\"]\n";
    let scenario = Scenario::parse("s", "s.toml", text, None, &[]).unwrap();
    assert_same(&scenario);
    let until = again(&scenario).until().cloned().unwrap();
    assert_eq!((until.of().name().as_str(), until.at_most()), ("flow_groups.share", 40));
    assert_eq!((until.percentage().as_str(), scenario.runs()), ("5 %", 80));
    // Another spelling of the same `repeat` rule gives the same hash. Another `repeat` rule, or a
    // fixed number of seeds, gives another hash.
    let hash = |set: &str| {
        Scenario::parse("s", "s.toml", text, None, &[set.to_owned()]).unwrap().hash().to_owned()
    };
    assert_eq!(hash("repeat.until=0.05"), scenario.hash());
    assert_ne!(hash("repeat.until=0.06"), scenario.hash());
    assert_ne!(hash("repeat=40"), scenario.hash());
}

#[test]
fn points_of_sizes_are_part_of_it() {
    let text = "duration = \"1s\"\n[bottleneck]\nrate = \"10Mbit/s\"\n[[flows]]\ncc = \"reno\"\nrtt = \"9ms\"\narrivals = { rate = \"9/s\" }\n\
                sizes = { distribution = \"cdf\", points = \"sizes.txt\" }\n[sweep]\n\"flows.sizes.points\" = [\"sizes.txt\", [[\"1KB\", 1]]]\n";
    let scenario = Scenario::parse("s", "s.toml", text, Some(&files), &[]);
    let scenario = scenario.unwrap_or_else(|errors| panic!("{errors}"));
    expect![[r#"
        duration = "1s"

        [bottleneck]
        rate = "10Mbit/s"

        [[flows]]
        cc = "reno"
        rtt = "9ms"
        arrivals = { rate = "9/s" }
        sizes = { distribution = "cdf", points = { trace = "sizes.txt", rows = [["1000B", 0], ["3000B", 1]] } }

        [sweep]
        "flows.sizes.points" = [{ trace = "sizes.txt", rows = [["1000B", 0], ["3000B", 1]] }, [["1KB", 1]]]
    "#]].assert_eq(&scenario.to_toml());
    assert_same(&scenario);
    assert_eq!(again(&scenario).run(0).point["flows.sizes.points"], "sizes.txt");
}

#[test]
fn names_of_folders_are_plain() {
    assert_eq!(plain_name("50Mbit/s", 24), "50Mbit-s");
    assert_eq!(plain_name("../../etc", 24), "etc");
    assert_eq!(plain_name("[[\"0s\",\"40Mbit/s\"],[\"40s\"]]", 60), "0s-40Mbit-s-40s");
}
