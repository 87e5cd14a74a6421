//! `bbrlab ns3`: the installed releases of ns-3, on which `--on ns3` runs scenarios.

use bbrlab_lab::{Ns3Installation, no_ns3, ns3_installations};
use bbrlab_report::{Align, Table};
use serde_json::{Value, json};

use crate::args::{Ns3Args, Ns3Verb};
use crate::output::{Output, Verdict};

pub(crate) fn ns3(args: &Ns3Args, output: &mut Output) -> Verdict {
    let Ns3Verb::List { json } = args.verb;
    let all = ns3_installations();
    if json {
        if all.is_empty() {
            output.note(&no_ns3());
        }
        let all: Vec<Value> = all.iter().map(document).collect();
        return output.json(&json!({ "installations": all }));
    }
    let Some(first) = all.first() else {
        return output.text(&format!("{}\n", no_ns3()));
    };
    let mut table = Table::new()
        .column("release", "", Align::Left)
        .column("found in", "", Align::Left)
        .column("libraries", "", Align::Left);
    for one in &all {
        let libraries = one.libraries.display().to_string();
        table.row(vec![one.version.clone(), one.found.to_owned(), libraries]);
    }
    output.text(&table.render())?;
    let names: Vec<String> = first.controls().iter().map(|name| format!("ns3:{name}")).collect();
    let used = if all.len() > 1 { "--on ns3 uses the first; its" } else { "its" };
    output.text(&format!("{used} congestion controls: {}\n", names.join(", ")))
}

fn document(one: &Ns3Installation) -> Value {
    let names: Vec<String> = one.controls().iter().map(|name| format!("ns3:{name}")).collect();
    json!({
        "version": one.version,
        "found": one.found,
        "include": one.include,
        "libraries": one.libraries,
        "congestion_controls": names,
    })
}
