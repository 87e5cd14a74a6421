//! Lists that occur in many messages, such as the keys of a link. The expected messages of the
//! tests contain the name of a list instead of the list, so that a new entry of the list does not
//! change the expected messages.

use bbrlab_lab::BENCH_CASES;
use bbrlab_papers::papers;
use bbrlab_run::Algorithm;
use bbrlab_scenario::{queues, sections};

/// Returns a message with its lists replaced by their names.
pub(crate) fn with_names_of_lists(message: &str) -> String {
    let keys_of = |header: &str| {
        let section = sections().into_iter().find(|section| section.header == header).unwrap();
        let names: Vec<&str> = section.keys.iter().map(|key| key.name).collect();
        names.join(", ")
    };
    let algorithms: Vec<&str> = Algorithm::ALL.iter().map(|cc| cc.name()).collect();
    let disciplines: Vec<String> = queues().iter().map(|it| format!("\"{}\"", it.name)).collect();
    let papers: Vec<&str> = papers().iter().map(|paper| paper.key.as_str()).collect();
    let cases: Vec<&str> = BENCH_CASES.iter().map(|case| case.name).collect();
    [
        ("<keys of [bottleneck]>", keys_of("[bottleneck]")),
        ("<keys of [[flows]]>", keys_of("[[flows]]")),
        ("<algorithms>", algorithms.join(", ")),
        ("<disciplines>", disciplines.join(" or ")),
        ("<papers>", papers.join(", ")),
        ("<cases>", cases.join(", ")),
    ]
    .iter()
    .fold(message.to_owned(), |printed, (name, list)| printed.replace(list, name))
}
