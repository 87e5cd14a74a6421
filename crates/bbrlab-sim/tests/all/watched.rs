//! Tests a caller that removes the rows of the time series while a run is simulated (`take_rows`).
//! The removed rows, the results and the digest must be the same as without such a caller.

use bbrlab_run::{Column, Run};
use bbrlab_sim::{Sim, Status, simulate};
use bbrlab_units::{Span, Time};

/// Joins tables with the same columns. Each table has the rows of one call of `take_rows`.
fn joined(parts: Vec<Vec<Column>>) -> Vec<Column> {
    let join = |mut all: Vec<Column>, more: Vec<Column>| {
        assert_eq!(all.len(), more.len());
        all.iter_mut().zip(more).for_each(|(all, more)| all.values.append(more.values));
        all
    };
    parts.into_iter().reduce(join).expect("there is a part")
}

/// Takes the rows after each `slice` of simulated time. The rows and the results must be the same
/// as in a run whose rows are read only at the end. Returns how many calls of `take_rows` returned
/// rows of flows.
fn watch(run: &Run, slice: Span) -> usize {
    let unwatched = simulate(run).expect("a checked scenario");
    let mut sim = Sim::new(run).expect("a checked scenario");
    let (mut series, mut queue, mut until) = (Vec::new(), Vec::new(), Time::ZERO);
    loop {
        let status = sim.advance(until);
        let rows = sim.take_rows();
        series.push(rows.series);
        queue.push(rows.queue);
        if status == Status::Done {
            break;
        }
        until += slice;
    }
    let result = sim.finish();
    assert!(result.series.is_empty() && result.queue.is_empty(), "all rows were taken");
    let with_rows = series.iter().filter(|rows| !rows.is_empty()).count();
    let series = joined(series.iter().map(bbrlab_run::Series::columns).collect());
    let queue = joined(queue.iter().map(bbrlab_run::QueueSeries::columns).collect());
    assert_eq!(series, unwatched.series.columns());
    assert_eq!(queue, unwatched.queue.columns());
    assert_eq!(result.summary.digest, unwatched.summary.digest);
    assert_eq!(result.summary, unwatched.summary);
    assert_eq!((result.transfers, result.delays), (unwatched.transfers, unwatched.delays));
    with_rows
}

const FLOWS: &str = r#"
    duration = "3s"
    sample = "SAMPLE"
    [bottleneck]
    rate = "8Mbit/s"
    buffer = "1bdp"
    [[flows]]
    cc = "bbr1"
    rtt = "30ms"
    [[flows]]
    cc = "cubic"
    rtt = "20ms"
    start = "1s"
    stop = "2.5s"
    left_link = "x"
    [[links]]
    name = "x"
    rate = "5Mbit/s"
    [[flows]]
    cc = "reno"
    rtt = "20ms"
    arrivals = { rate = "5/s" }
    sizes = { distribution = "pareto", mean = "30KB", shape = 1.2 }
"#;

fn run(sample: &str) -> Run {
    crate::scenario_text::runs(&FLOWS.replace("SAMPLE", sample)).remove(0)
}

#[test]
fn rows_taken_in_slices_are_those_of_the_whole() {
    // The slices are longer than, equal to and shorter than the 10 ms between two rows.
    assert!(watch(&run("10ms"), Span::from_millis(137)) > 20);
    assert!(watch(&run("10ms"), Span::from_millis(10)) > 200);
    assert!(watch(&run("10ms"), Span::from_millis(3)) > 200);
}

#[test]
fn rows_of_acks_are_taken_too() {
    assert!(watch(&run("ack"), Span::from_millis(50)) > 50);
}

#[test]
fn rows_that_are_not_taken_come_at_the_end() {
    let run = run("10ms");
    let mut sim = Sim::new(&run).expect("a checked scenario");
    sim.advance(Time::ZERO + Span::from_millis(1500));
    let first = sim.take_rows();
    sim.advance(Time(run.duration.0));
    let rest = sim.finish();
    let whole = simulate(&run).expect("a checked scenario");
    assert_eq!(joined(vec![first.series.columns(), rest.series.columns()]), whole.series.columns());
    assert_eq!(joined(vec![first.queue.columns(), rest.queue.columns()]), whole.queue.columns());
}

#[test]
fn without_a_series_there_is_nothing_to_take() {
    assert_eq!(watch(&run("off"), Span::from_millis(100)), 0);
}
