//! Texts that do not depend on a scenario: the built-in scenarios, the keys, the names of
//! algorithms.

use bbrlab_cc::Algorithm;
use bbrlab_scenario::{BUILTINS, STARTER, Scenario, queues, schema, sections};
use serde_json::{Value, json};

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit from which the module was built; `unknown` outside a repository.
pub(crate) const COMMIT: &str = env!("BBRLAB_COMMIT");

/// Returns the built-in scenarios, the keys of scenarios and the names of algorithms as JSON.
pub(crate) fn catalogue() -> Value {
    let scenarios = BUILTINS.iter().map(|builtin| {
        let title = Scenario::builtin(builtin.id, &[])
            .map_or_else(|_| String::new(), |scenario| scenario.title().to_owned());
        json!({ "id": builtin.id, "title": title, "text": builtin.text })
    });
    let algorithms =
        Algorithm::ALL.iter().map(|it| json!({ "name": it.name(), "summary": it.summary() }));
    let disciplines =
        queues().into_iter().map(|it| json!({ "name": it.name, "summary": it.summary }));
    let keys = sections().into_iter().flat_map(|section| {
        let key = move |key: bbrlab_scenario::KeyReference| {
            json!({
                "table": section.header,
                "name": key.name,
                "meaning": key.meaning,
                "default": key.default,
            })
        };
        section.keys.into_iter().map(key)
    });
    json!({
        "version": VERSION,
        "commit": COMMIT,
        "scenarios": scenarios.collect::<Vec<_>>(),
        "algorithms": algorithms.collect::<Vec<_>>(),
        "disciplines": disciplines.collect::<Vec<_>>(),
        "starter": STARTER,
        "schema": schema().to_string(),
        "keys": keys.collect::<Vec<_>>(),
    })
}
