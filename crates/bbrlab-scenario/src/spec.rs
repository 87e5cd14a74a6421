//! One point of a scenario as it is written, with defaults filled in: between the file and the [`Run`].
//!
//! [`Run`]: crate::Run

use std::collections::BTreeSet;

use bbrlab_units::{NS_PER_S, Span};

use crate::canonical::{Writer, sha256};
use crate::document::{At, Node, Table, Value};
use crate::flow::{FLOWS_MAX, FlowSpec};
use crate::link::{AccessSpec, LinkSpec};
use crate::quantity::show_span;
use crate::reader::{Keys, Reader};
use crate::stack::StackSpec;
use bbrlab_run::Sample;

/// The most runs that `repeat` may ask for.
const REPEAT_MAX: u64 = 1_000_000;

/// The most shared links.
const LINKS_MAX: usize = 100_000;

/// The longest run: a day of simulated time is 86,400 s; this is some 11 days.
const DURATION_MAX: Span = Span(1_000_000 * NS_PER_S);

/// A scenario at one point of its sweep.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) title: String,
    pub(crate) duration: Span,
    pub(crate) seed: u64,
    pub(crate) repeat: u64,
    pub(crate) sample: Option<Sample>,
    pub(crate) stack: StackSpec,
    pub(crate) bottleneck: Option<LinkSpec>,
    pub(crate) access: AccessSpec,
    pub(crate) links: Vec<(String, LinkSpec)>,
    pub(crate) flows: Vec<FlowSpec>,
}

impl Spec {
    /// Reads a tree whose sweep, if any, has been applied.
    pub(crate) fn read(reader: &mut Reader<'_>, root: &Table) -> Self {
        let start = At { source: 0, start: 0, end: 0 };
        let mut keys = Keys::new(root, "", start);
        let title =
            keys.take("title").and_then(|node| reader.text(node, "title")).unwrap_or("").to_owned();
        let duration =
            reader.needed(&mut keys, "duration", "a time such as \"100s\"", |reader, node, _| {
                read_duration(reader, node)
            });
        let seed =
            keys.take("seed").and_then(|node| reader.integer(node, "seed", 0, i64::MAX as u64));
        let repeat =
            keys.take("repeat").and_then(|node| reader.integer(node, "repeat", 1, REPEAT_MAX));
        let sample = keys.take("sample").and_then(|node| read_sample(reader, node));
        let mut spec = Self {
            title,
            duration: duration.unwrap_or(Span(NS_PER_S)),
            seed: seed.unwrap_or(1),
            repeat: repeat.unwrap_or(1),
            sample,
            stack: StackSpec::default(),
            bottleneck: None,
            access: AccessSpec::none(start),
            links: Vec::new(),
            flows: Vec::new(),
        };
        if let Some(node) = keys.take("stack")
            && let Some(table) = reader.table(node, "stack", "a table [stack]")
        {
            spec.stack = StackSpec::read(reader, Keys::new(table, "stack", node.at));
        }
        if let Some(node) = keys.take("bottleneck")
            && let Some(table) = reader.table(node, "bottleneck", "a table [bottleneck]")
        {
            let mut keys = Keys::new(table, "bottleneck", node.at);
            spec.bottleneck = Some(LinkSpec::read(reader, &mut keys));
            keys.finish(reader);
        }
        if let Some(node) = keys.take("access")
            && let Some(table) = reader.table(node, "access", "a table [access]")
        {
            spec.access = AccessSpec::read(reader, Keys::new(table, "access", node.at));
        }
        spec.read_links(reader, keys.take("links"));
        let flows = keys.take("flows");
        match flows {
            Some(node) => spec.read_flows(reader, node),
            None => reader.missing(&keys, "flows", "at least one [[flows]]"),
        }
        // Read apart, and gone once it has been applied.
        keys.take("sweep");
        keys.finish(reader);
        spec
    }

    fn read_links(&mut self, reader: &mut Reader<'_>, node: Option<&Node>) {
        let Some(node) = node else { return };
        let Some(tables) = list_of_tables(reader, node, "links") else { return };
        if tables.len() > LINKS_MAX {
            reader.wrong(node, "links", &format!("at most {LINKS_MAX} [[links]]"));
            return;
        }
        let mut names = BTreeSet::from(["bottleneck", "left", "right"].map(str::to_owned));
        for (index, (table, at)) in tables.into_iter().enumerate() {
            if reader.is_full() {
                return;
            }
            let mut keys = Keys::new(table, format!("links[{index}]"), at);
            let name = reader.needed(
                &mut keys,
                "name",
                "the name by which flows call this link",
                |reader, node, name| read_link_name(reader, node, name, &mut names),
            );
            let link = LinkSpec::read(reader, &mut keys);
            keys.finish(reader);
            self.links.push((name.unwrap_or_default(), link));
        }
    }

    fn read_flows(&mut self, reader: &mut Reader<'_>, node: &Node) {
        let Some(tables) = list_of_tables(reader, node, "flows") else { return };
        if tables.is_empty() {
            reader.wrong(node, "flows", "at least one [[flows]]");
        }
        let mut count: u64 = 0;
        for (index, (table, at)) in tables.into_iter().enumerate() {
            if reader.is_full() {
                return;
            }
            let keys = Keys::new(table, format!("flows[{index}]"), at);
            let Some(flow) = FlowSpec::read(reader, keys) else { continue };
            count += flow.count;
            if count > FLOWS_MAX {
                let title = format!("`flows[{index}]`: expected at most {FLOWS_MAX} flows in all");
                reader.problem(at, title, format!("found {count} so far"), Vec::new());
                return;
            }
            self.flows.push(flow);
        }
    }

    /// How often series are sampled.
    pub(crate) fn sample(&self) -> Sample {
        self.sample.unwrap_or(Sample::Every(Span::from_millis(10)))
    }

    /// Flows in all.
    pub(crate) fn flow_count(&self) -> u64 {
        self.flows.iter().map(|flow| flow.count).sum()
    }

    /// Whether series are kept per flow: above 1,000 flows only where they are asked for.
    pub(crate) fn flow_series(&self) -> bool {
        self.sample() != Sample::Off && (self.sample.is_some() || self.flow_count() <= 1000)
    }

    /// The canonical text of this point with that seed.
    pub(crate) fn to_toml(&self, seed: u64) -> String {
        let mut out = Writer::default();
        out.text_unless(self.title.is_empty(), "title", &self.title);
        self.write_outcome(&mut out, Some(seed));
        out.finish()
    }

    /// A hash over all that decides the outcome, but the seed.
    pub(crate) fn hash(&self) -> String {
        let mut out = Writer::default();
        self.write_outcome(&mut out, None);
        sha256(&out.finish())
    }

    fn write_outcome(&self, out: &mut Writer, seed: Option<u64>) {
        out.text("duration", &show_span(self.duration));
        if let Some(seed) = seed {
            out.raw("seed", &seed.to_string());
        }
        match self.sample {
            None => {}
            Some(Sample::Every(period)) => out.text("sample", &show_span(period)),
            Some(Sample::Ack) => out.text("sample", "ack"),
            Some(Sample::Off) => out.text("sample", "off"),
        }
        self.stack.write(out);
        if let Some(link) = &self.bottleneck {
            out.table_always("[bottleneck]");
            link.write(out);
        }
        self.access.write(out);
        for (name, link) in &self.links {
            out.table_always("[[links]]");
            out.text("name", name);
            link.write(out);
        }
        for flow in &self.flows {
            flow.write(out);
        }
    }
}

fn read_duration(reader: &mut Reader<'_>, node: &Node) -> Option<Span> {
    let duration = reader.positive_span(node, "duration")?;
    if duration > DURATION_MAX {
        reader.wrong(node, "duration", "at most \"1000000s\"");
        return None;
    }
    Some(duration)
}

fn read_link_name(
    reader: &mut Reader<'_>,
    node: &Node,
    shown: &str,
    taken: &mut BTreeSet<String>,
) -> Option<String> {
    /// Longer names spoil tables.
    const NAME_MAX: usize = 40;
    let name = reader.text(node, shown)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if name.is_empty() || name.len() > NAME_MAX || !name.bytes().all(plain) {
        reader.wrong(node, shown, "a name of up to 40 letters, digits, `-` and `_`");
        return None;
    }
    if !taken.insert(name.to_owned()) {
        let title = format!("`{shown}`: expected a name of its own");
        reader.problem(
            node.at,
            title,
            format!("found {name:?}, which another link has"),
            Vec::new(),
        );
        return None;
    }
    Some(name.to_owned())
}

fn read_sample(reader: &mut Reader<'_>, node: &Node) -> Option<Sample> {
    match &node.value {
        Value::Text(text) if text == "ack" => Some(Sample::Ack),
        Value::Text(text) if text == "off" => Some(Sample::Off),
        Value::Text(text) if text.starts_with(|c: char| c.is_ascii_alphabetic()) => reader.choice(
            node,
            "sample",
            &[("ack", Sample::Ack), ("off", Sample::Off)],
            " or a period such as \"10ms\"",
        ),
        _ => reader.positive_span(node, "sample").map(Sample::Every),
    }
}

fn list_of_tables<'n>(
    reader: &mut Reader<'_>,
    node: &'n Node,
    name: &str,
) -> Option<Vec<(&'n Table, At)>> {
    let Value::Array(elements) = &node.value else {
        let help = vec![format!("write [[{name}]], with two brackets")];
        let found = format!("found {}", crate::reader::found(&node.value));
        reader.problem(
            node.at,
            format!("`{name}`: expected a list of tables [[{name}]]"),
            found,
            help,
        );
        return None;
    };
    let mut tables = Vec::with_capacity(elements.len());
    for (index, element) in elements.iter().enumerate() {
        let table = reader.table(element, &format!("{name}[{index}]"), "a table")?;
        tables.push((table, element.at));
    }
    Some(tables)
}
