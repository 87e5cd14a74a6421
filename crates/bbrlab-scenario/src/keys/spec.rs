//! One sweep point of a scenario with all defaults filled in: the intermediate form between the
//! file and the [`Run`].
//!
//! [`Run`]: crate::Run

use std::collections::BTreeSet;
use std::sync::Arc;

use bbrlab_units::{NS_PER_S, Span};

use crate::keys::controls::{OUTSIDE_PARTS, read_controls, show_controls};
use crate::keys::flow::{FLOWS_MAX, FlowSpec};
use crate::keys::link::{AccessSpec, LinkSpec};
use crate::keys::profile::ProfileValues;
use crate::keys::repeat::{REPEAT_FORM, Repeat};
use crate::keys::stack::StackSpec;
use crate::language::canonical::{Writer, sha256, show_text, toml_string};
use crate::language::document::{At, Node, Table, Value};
use crate::language::key::{Form, Key, key, name_of, names, read_keys, set, write_keys};
use crate::language::quantity::show_span;
use crate::language::reader::{Keys, Reader};
use bbrlab_run::{Outside, Profile, Sample};

/// The largest number of shared links.
const LINKS_MAX: usize = 100_000;

/// The longest run: about 11 days of simulated time.
const DURATION_MAX: Span = Span(1_000_000 * NS_PER_S);

/// Replaces a `duration` that could not be read. No flow starts after this time, so the check for
/// starts after the end of the run reports no second mistake.
const MISREAD: Span = Span(u64::MAX);

/// A scenario at one point of its sweep, with the values of all keys.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) title: String,
    pub(crate) duration: Span,
    pub(crate) seed: u64,
    pub(crate) repeat: Repeat,
    pub(crate) sample: Option<Sample>,
    pub(crate) stack: StackSpec,
    pub(crate) bottleneck: Option<LinkSpec>,
    pub(crate) access: AccessSpec,
    pub(crate) links: Vec<(String, LinkSpec)>,
    pub(crate) flows: Vec<FlowSpec>,
    /// The custom congestion controls.
    pub(crate) controls: Vec<Arc<Outside>>,
    /// The values that the scenario's profile sets for keys that the scenario omits.
    pub(crate) of_profile: Arc<ProfileValues>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            title: String::new(),
            duration: Span(NS_PER_S),
            seed: 1,
            repeat: Repeat::Fixed(1),
            sample: None,
            stack: StackSpec::default(),
            bottleneck: None,
            access: AccessSpec::default(),
            links: Vec::new(),
            flows: Vec::new(),
            controls: Vec::new(),
            of_profile: Arc::default(),
        }
    }
}

/// The keys of the top level.
pub(crate) const TOP_KEYS: &[Key<Spec>] = &[
    key(
        "title",
        "0.1.0",
        Form::Text,
        "a description; not part of the scenario's hash",
        |spec, given| {
            let title =
                given.value(|reader, node, name| reader.text(node, name).map(str::to_owned));
            set(&mut spec.title, title);
        },
        |spec| (!spec.title.is_empty()).then(|| toml_string(&spec.title)),
    ),
    key(
        "duration",
        "0.1.0",
        Form::Time,
        "simulated time",
        |spec: &mut Spec, given| set(&mut spec.duration, given.value(read_duration)),
        |spec| show_text(&show_span(spec.duration)),
    )
    .needed("a time such as \"100s\""),
    key(
        "seed",
        "0.1.0",
        Form::Whole(0, i64::MAX as u64),
        "the seed from which all random generators are derived; not part of the scenario's hash",
        |spec, given| {
            let seed = |reader: &mut Reader<'_>, node: &Node, name: &str| {
                reader.integer(node, name, 0, i64::MAX as u64)
            };
            set(&mut spec.seed, given.value(seed));
        },
        |spec| Some(spec.seed.to_string()),
    ),
    key(
        "repeat",
        "0.1.0",
        REPEAT_FORM,
        "number of runs of each sweep point, with the seeds `seed`, `seed` + 1 ... Since 0.2.0 also a table, where \
         `of` names a metric. With a table, bbrlab adds runs until half the width of the mean's 95 % interval is at \
         most the share `until` of the mean, or there are `at_most` runs ([sweeps and \
         seeds](sweeps.md#seeds-until-the-interval-is-narrow))",
        |spec: &mut Spec, given| set(&mut spec.repeat, given.value(Repeat::read)),
        |spec| Some(spec.repeat.show()),
    ),
    key(
        "sample",
        "0.1.0",
        Form::Any(&[Form::Time, Form::Choice(|| names(&SAMPLES))]),
        "time series: their period, or a row for every ACK, or none",
        |spec: &mut Spec, given| spec.sample = given.value(read_sample),
        |spec| match spec.sample? {
            Sample::Every(period) => show_text(&show_span(period)),
            sample => show_text(name_of(&SAMPLES, sample)),
        },
    )
    .without("`\"10ms\"`, but with more than 1,000 flows no series of single flows"),
    key(
        "controls",
        "0.2.0",
        Form::Named(OUTSIDE_PARTS),
        "names for `cc` of [custom congestion controls](custom-congestion-control.md), which the user provides for a \
         run. Python writes this table",
        |spec: &mut Spec, given| {
            spec.controls = given.value(read_controls).unwrap_or_default();
            given.reader.controls.clone_from(&spec.controls);
        },
        |spec| show_controls(spec.controls.iter().filter(|of| spec.uses(of))),
    ),
];

const SAMPLES: [(&str, Sample); 2] = [("ack", Sample::Ack), ("off", Sample::Off)];

/// The name of the link that is being read, and the names that this link must not have:
/// `bottleneck`, `left`, `right` and the names of earlier links.
#[derive(Default)]
pub(crate) struct LinkName {
    name: String,
    taken: BTreeSet<String>,
}

/// The key `name` of `[[links]]`. The other keys are in
/// [`LINK_KEYS`](crate::keys::link::LINK_KEYS).
pub(crate) const NAME_KEYS: &[Key<LinkName>] = &[key(
    "name",
    "0.1.0",
    Form::Text,
    "the name by which flows refer to this link: letters, digits, `-` and `_`; only in `[[links]]`",
    |link: &mut LinkName, given| {
        let taken = &mut link.taken;
        let name = given.value(|reader, node, name| read_link_name(reader, node, name, taken));
        link.name = name.unwrap_or_default();
    },
    |link| Some(toml_string(&link.name)),
)
.needed("the name by which flows refer to this link")];

impl Spec {
    /// Reads a point from the tree of a scenario in which the values of `[sweep]` for this point
    /// are already set.
    pub(crate) fn read(reader: &mut Reader<'_>, root: &Table) -> Self {
        let mut keys = Keys::new(root, "", At { source: 0, start: 0, end: 0 });
        let mut spec = Self { duration: MISREAD, ..Self::default() };
        read_keys(TOP_KEYS, &mut spec, reader, &mut keys);
        if let Some(node) = keys.take("stack")
            && let Some(table) = reader.table(node, "stack", "a table [stack]")
        {
            spec.of_profile = Arc::new(ProfileValues::of(StackSpec::profile_of(table)));
            let keys = Keys::new(table, "stack", node.at);
            spec.stack = StackSpec::read(reader, keys, &spec.of_profile.stack);
        }
        let of_profile = spec.of_profile.clone();
        spec.access = of_profile.access.clone();
        if let Some(node) = keys.take("bottleneck")
            && let Some(table) = reader.table(node, "bottleneck", "a table [bottleneck]")
        {
            let mut keys = Keys::new(table, "bottleneck", node.at);
            spec.bottleneck = Some(LinkSpec::read(reader, &mut keys, &of_profile.link));
            keys.finish(reader);
        }
        if let Some(node) = keys.take("access")
            && let Some(table) = reader.table(node, "access", "a table [access]")
        {
            spec.access =
                AccessSpec::read(reader, Keys::new(table, "access", node.at), &of_profile.access);
        }
        spec.read_links(reader, keys.take("links"));
        let flows = keys.take("flows");
        match flows {
            Some(node) => spec.read_flows(reader, node),
            None => reader.missing(&keys, "flows", "at least one [[flows]]"),
        }
        // `Sweep::read` reads the key `sweep`. This call only records the key as known, so that the
        // key is not reported as unknown.
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
        let taken = BTreeSet::from(["bottleneck", "left", "right"].map(str::to_owned));
        let mut own = LinkName { name: String::new(), taken };
        for (index, (table, at)) in tables.into_iter().enumerate() {
            if reader.is_full() {
                return;
            }
            let mut keys = Keys::new(table, format!("links[{index}]"), at);
            read_keys(NAME_KEYS, &mut own, reader, &mut keys);
            let link = LinkSpec::read(reader, &mut keys, &self.of_profile.link);
            keys.finish(reader);
            self.links.push((std::mem::take(&mut own.name), link));
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
            let Some(flow) = FlowSpec::read(reader, keys, self.duration) else { continue };
            count += flow.places();
            if count > FLOWS_MAX {
                let title = format!("`flows[{index}]`: expected at most {FLOWS_MAX} flows in all");
                reader.problem(at, title, format!("found {count} so far"), Vec::new());
                return;
            }
            self.flows.push(flow);
        }
    }

    /// Returns each link of the file: the link's name, the path of its table (`bottleneck` or
    /// `links[1]`), and the link.
    pub(crate) fn named_links(&self) -> impl Iterator<Item = (&str, String, &LinkSpec)> {
        let dumbbell =
            self.bottleneck.iter().map(|link| ("bottleneck", "bottleneck".to_owned(), link));
        let named = self.links.iter().enumerate();
        let named =
            named.map(|(index, (name, link))| (name.as_str(), format!("links[{index}]"), link));
        dumbbell.chain(named)
    }

    /// Returns whether a flow's ACKs cross the link called `name` in its forward direction.
    pub(crate) fn is_on_return_path(&self, name: &str) -> bool {
        let mut paths = self.flows.iter().filter_map(|flow| flow.return_path.as_ref());
        paths.any(|path| path.iter().any(|link| &*link.value == name))
    }

    /// Returns whether a flow uses this custom congestion control.
    fn uses(&self, outside: &Outside) -> bool {
        self.flows.iter().filter_map(|flow| flow.outside.as_ref()).any(|of| of.name == outside.name)
    }

    /// Returns when time series are sampled: at regular times, after every ACK, or never. The
    /// default is every 10 ms.
    pub(crate) fn sample(&self) -> Sample {
        self.sample.unwrap_or(Sample::Every(Span::from_millis(10)))
    }

    /// Returns the total number of flows: the sum of `count` over all `[[flows]]` tables. A table
    /// with `arrivals` has `count = 1`.
    pub(crate) fn flow_count(&self) -> u64 {
        self.flows.iter().map(|flow| flow.count).sum()
    }

    /// Returns whether time series of each flow are kept: not with `sample = "off"`, and with more
    /// than 1,000 flows only if the scenario sets `sample`.
    pub(crate) fn flow_series(&self) -> bool {
        self.sample() != Sample::Off && (self.sample.is_some() || self.flow_count() <= 1000)
    }

    /// Returns the canonical text of this sweep point with this seed.
    pub(crate) fn to_toml(&self, seed: u64) -> String {
        let mut out = Writer::default();
        self.write(&mut out, Some(seed));
        out.finish()
    }

    /// Returns a hash over everything in the scenario that determines the outcome of a run, except
    /// the seed.
    pub(crate) fn hash(&self) -> String {
        let mut out = Writer::default();
        self.write(&mut out, None);
        sha256(&out.finish())
    }

    /// With a `seed`, writes the scenario of one run. Without a `seed`, writes everything that
    /// determines the outcome of a run except its seed.
    fn write(&self, out: &mut Writer, seed: Option<u64>) {
        for row in TOP_KEYS {
            match (row.name, seed) {
                ("title" | "seed", None) | ("repeat", _) => {}
                ("seed", Some(seed)) => out.raw("seed", &seed.to_string()),
                _ => write_keys(std::slice::from_ref(row), self, out),
            }
        }
        // The values of the `linux` profile are the defaults of the keys. With another profile, a
        // default value is also written if the profile has a different value.
        let of_profile = (self.stack.profile != Profile::Linux).then_some(&*self.of_profile);
        self.stack.write(of_profile.map(|values| &values.stack), out);
        if let Some(link) = &self.bottleneck {
            out.table_always("[bottleneck]");
            link.write(of_profile.map(|values| &values.link), out);
        }
        self.access.write(of_profile.map(|values| &values.access), out);
        for (name, link) in &self.links {
            out.table_always("[[links]]");
            out.text("name", name);
            link.write(of_profile.map(|values| &values.link), out);
        }
        for flow in &self.flows {
            flow.write(out);
        }
    }
}

fn read_duration(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Span> {
    let duration = reader.positive_span(node, name)?;
    if duration > DURATION_MAX {
        reader.wrong(node, name, "at most \"1000000s\"");
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
    /// The largest length of a link's name. Longer names would make tables too wide.
    const NAME_MAX: usize = 40;
    let name = reader.text(node, shown)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if name.is_empty() || name.len() > NAME_MAX || !name.bytes().all(plain) {
        reader.wrong(node, shown, "a name of up to 40 letters, digits, `-` and `_`");
        return None;
    }
    if !taken.insert(name.to_owned()) {
        let title = format!("`{shown}`: expected a unique name");
        reader.problem(
            node.at,
            title,
            format!("found {name:?}, the name of another link"),
            Vec::new(),
        );
        return None;
    }
    Some(name.to_owned())
}

fn read_sample(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Sample> {
    match &node.value {
        Value::Text(text) if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            reader.choice(node, name, &SAMPLES, " or a period such as \"10ms\"")
        }
        _ => reader.positive_span(node, name).map(Sample::Every),
    }
}

fn list_of_tables<'n>(
    reader: &mut Reader<'_>,
    node: &'n Node,
    name: &str,
) -> Option<Vec<(&'n Table, At)>> {
    let Value::Array(elements) = &node.value else {
        let help = vec![format!("write [[{name}]], with two brackets")];
        let found = format!("found {}", crate::language::reader::found(&node.value));
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
