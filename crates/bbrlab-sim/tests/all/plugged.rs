//! Custom congestion controls. Every built-in algorithm gives the same results when it runs through
//! the plug-in interface. A custom congestion control that fails or is missing ends the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bbrlab_cc::{
    Algorithm, CongestionControl as _, Controls, Hooks, Maker, Params, Place, Plugged,
};
use bbrlab_run::{Run, RunResult};
use bbrlab_scenario::Scenario;
use bbrlab_sim::{LinkMode, Sim, Status, refuse_failed, simulate};
use bbrlab_stack::EcnMode;
use bbrlab_units::Time;

/// Returns a run with two flows over a short queue with random losses. The second flow opens a new
/// connection for each transfer.
fn run(cc: &str) -> Run {
    let text = format!(
        "duration = \"6s\"\n\
         [controls]\noutside = {{ source = \"a test\" }}\n\
         [bottleneck]\nrate = \"20Mbit/s\"\nbuffer = \"0.5bdp\"\nloss = 0.002\n\
         [[flows]]\ncc = \"{cc}\"\nrtt = \"30ms\"\n\
         [[flows]]\ncc = \"{cc}\"\nrtt = \"50ms\"\ntrain = {{ bytes = \"300KB\", count = 8, gap = \"20ms\" }}\n"
    );
    let scenario = Scenario::parse("plugged", "plugged", &text, None, &[]);
    scenario.unwrap_or_else(|errors| panic!("{errors}")).run(0)
}

/// A built-in algorithm that is registered as a custom one.
#[derive(Debug)]
struct Disguised(Algorithm);

impl Maker for Disguised {
    fn hooks(&self) -> Hooks {
        self.0.build(&Params::new()).expect("the defaults").hooks()
    }

    fn make(&self, params: &Params, _: Place) -> Plugged {
        Plugged::new(self.0.build(params).expect("the defaults"))
    }
}

fn simulated(run: &Run, maker: impl Maker + 'static) -> RunResult {
    let controls = Controls::of(vec![("outside".to_owned(), Arc::new(maker) as Arc<dyn Maker>)]);
    let mut sim = Sim::with_controls(run, LinkMode::VirtualClock, &controls).unwrap();
    sim.advance(Time(run.duration.0));
    sim.finish()
}

#[test]
fn every_algorithm_does_the_same_from_outside() {
    for &algorithm in Algorithm::ALL {
        // With ECN, the way in which the receiver echoes marks depends on the algorithm, and can
        // differ between a built-in and a custom congestion control. ECN is therefore off in these
        // runs.
        let mut run_of = run(algorithm.name());
        for class in &mut run_of.classes {
            // By default, Prague would use ECN.
            class.settings.ecn = EcnMode::Off;
        }
        let built_in = simulate(&run_of).unwrap();
        let outside = simulated(&run("outside"), Disguised(algorithm));
        assert_eq!(built_in.summary.digest, outside.summary.digest, "{}", algorithm.name());
        assert_eq!(built_in.series, outside.series, "{}", algorithm.name());
        assert_ne!(built_in.summary.scenario_hash, outside.summary.scenario_hash);
        assert_eq!(outside.summary.flows[0].cc, "outside");
        assert!(built_in.summary.controls.is_empty());
        assert_eq!(outside.summary.controls[0].source, "a test");
    }
}

#[test]
fn a_control_without_a_program_is_reported() {
    let error = simulate(&run("outside")).unwrap_err();
    assert!(error.starts_with("`controls.outside`: expected a program that provides"), "{error}");
}

/// Makes Reno congestion controls. `has_failed` returns the flag in this struct, which the test
/// sets.
#[derive(Debug)]
struct Failing(Arc<AtomicBool>);

impl Maker for Failing {
    fn hooks(&self) -> Hooks {
        Hooks::default()
    }

    fn make(&self, params: &Params, place: Place) -> Plugged {
        assert!(place.flow < 2 && place.epoch_ns > 0);
        Disguised(Algorithm::Reno).make(params, place)
    }

    fn has_failed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn a_control_that_fails_is_named() {
    let has_failed = Arc::new(AtomicBool::new(false));
    let maker = Failing(Arc::clone(&has_failed));
    let controls = Controls::of(vec![("outside".to_owned(), Arc::new(maker) as Arc<dyn Maker>)]);
    let run = run("outside");
    let mut sim = Sim::with_controls(&run, LinkMode::VirtualClock, &controls).unwrap();
    assert_eq!(sim.advance(Time(1_000_000_000)), Status::Running);
    refuse_failed(&controls).unwrap();
    has_failed.store(true, Ordering::Relaxed);
    let error = refuse_failed(&controls).unwrap_err();
    assert_eq!(error, "the custom congestion control `outside` has failed");
    assert!(Sim::with_controls(&run, LinkMode::VirtualClock, &controls).is_err());
}
