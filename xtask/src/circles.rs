//! Checks that no two files of a crate import each other, directly or through other files.
//!
//! Two files that import each other can only be understood together. A module and the modules that
//! it declares, its parts, are an exception: the parts may use items of their `mod.rs`.
//!
//! The graph of imports is built from the text of the files: from `use` declarations, and from
//! paths that begin with `crate`, `super` or `self`. If a module re-exports a name
//! (`pub use part::Name`), an import of the name counts for the file that defines it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use crate::source;

/// Accepted circles of imports, each with the reason. A circle is written beginning with the file
/// that is first in alphabetical order.
const DEFENDED: &[(&str, &str)] = &[(
    "bbrlab-net: engine/mod.rs -> port.rs -> engine/mod.rs",
    "a port is the hosts' interface to the network, and the network passes one to its handler",
)];

/// Checks the imports in every crate of the workspace.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let mut found = BTreeSet::new();
    for (name, folder) in source::crates(root)? {
        let graph = Graph::read(&folder.join("src"))?;
        found.extend(graph.circles().into_iter().map(|circle| format!("{name}: {circle}")));
    }
    let defended: BTreeSet<String> =
        DEFENDED.iter().map(|(circle, _)| (*circle).to_owned()).collect();
    let mut wrong: Vec<String> = found.difference(&defended).cloned().collect();
    wrong.extend(
        defended
            .difference(&found)
            .map(|circle| format!("accepted, but no longer exists: {circle}")),
    );
    if wrong.is_empty() { Ok(()) } else { Err(format!("\n  {}", wrong.join("\n  "))) }
}

/// The imports between files. The keys are module paths, such as `["link", "server"]`.
struct Graph {
    modules: BTreeMap<Vec<String>, Module>,
}

struct Module {
    /// The file's name in reports: its path relative to `src/`.
    file: String,
    /// The paths that the file imports or that its code names, from the crate's root.
    paths: Vec<Vec<String>>,
    /// For each name that a `use` declaration of the file imports, the path of the imported item
    /// from the crate's root.
    imported: BTreeMap<String, Vec<String>>,
}

impl Graph {
    fn read(src: &Path) -> Result<Self, String> {
        let mut modules = BTreeMap::new();
        for path in source::files(src, "rs")? {
            let file = path.strip_prefix(src).expect("the walk starts there").display().to_string();
            modules.insert(module_of(&file), Module::read(&file, &source::read(&path)?));
        }
        Ok(Self { modules })
    }

    /// Returns the module that defines the item at `path`, after following re-exports, or `None` if
    /// no file of the crate does.
    fn resolve(&self, path: &[String]) -> Option<Vec<String>> {
        let mut path = path.to_vec();
        // No chain of re-exports has more than eight links, so a longer chain is a circle.
        for _ in 0..8 {
            let depth = (0..=path.len()).rev().find(|&n| self.modules.contains_key(&path[..n]))?;
            let next =
                path.get(depth).and_then(|name| self.modules[&path[..depth]].imported.get(name));
            let Some(target) = next else {
                return Some(path[..depth].to_vec());
            };
            let rest = path[depth + 1..].to_vec();
            path = target.iter().cloned().chain(rest).collect();
        }
        None
    }

    /// Returns the imports between files, except between a module and its parts.
    fn edges(&self) -> BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> {
        let mut edges = BTreeMap::new();
        for (from, module) in &self.modules {
            let targets = module.paths.iter().filter_map(|path| self.resolve(path));
            let apart = targets.filter(|to| !to.starts_with(from) && !from.starts_with(to));
            edges.insert(from, apart.collect::<BTreeSet<_>>());
        }
        edges
    }

    /// Returns the shortest circle through each import that is part of a circle.
    fn circles(&self) -> BTreeSet<String> {
        let edges = self.edges();
        let mut circles = BTreeSet::new();
        for (&from, targets) in &edges {
            for to in targets {
                if let Some(mut circle) = shortest(&edges, to, from) {
                    let at = (0..circle.len()).min_by_key(|&at| &circle[at]).unwrap_or(0);
                    circle.rotate_left(at);
                    circle.push(circle[0].clone());
                    let files: Vec<&str> =
                        circle.iter().map(|module| self.modules[module].file.as_str()).collect();
                    circles.insert(files.join(" -> "));
                }
            }
        }
        circles
    }
}

/// Returns the shortest path from one file to another over the edges, including both files.
fn shortest(
    edges: &BTreeMap<&Vec<String>, BTreeSet<Vec<String>>>,
    from: &Vec<String>,
    to: &Vec<String>,
) -> Option<Vec<Vec<String>>> {
    let mut before: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    let mut waiting = VecDeque::from([from.clone()]);
    while let Some(here) = waiting.pop_front() {
        if &here == to {
            let mut way = vec![here];
            while let Some(step) = before.get(way.last().expect("`way` begins with `to`")) {
                way.push(step.clone());
            }
            way.reverse();
            return Some(way);
        }
        for next in edges.get(&here).into_iter().flatten() {
            if next != from && !before.contains_key(next) {
                before.insert(next.clone(), here.clone());
                waiting.push_back(next.clone());
            }
        }
    }
    None
}

/// Returns the module path of a file: `link/mod.rs` and `link.rs` are `link`; `lib.rs` and
/// `main.rs` are the root.
fn module_of(file: &str) -> Vec<String> {
    let mut path: Vec<String> =
        file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let last = path.last().map(String::as_str);
    if matches!(last, Some("mod")) || (path.len() == 1 && matches!(last, Some("lib" | "main"))) {
        path.pop();
    }
    path
}

impl Module {
    fn read(file: &str, text: &str) -> Self {
        let module = module_of(file);
        let code = source::without_tests(&source::code(text));
        let mut found =
            Self { file: file.to_owned(), paths: Vec::new(), imported: BTreeMap::new() };
        let mut outside = String::new();
        let mut rest = code.as_str();
        while let Some((at, len)) = next_use(rest) {
            outside.push_str(&rest[..at]);
            let tree: String =
                rest[at + "use".len()..at + len].split_whitespace().collect::<Vec<_>>().join(" ");
            for (path, name) in leaves(&tree) {
                if let Some(path) = absolute(&module, &path) {
                    found.imported.insert(name, path.clone());
                    found.paths.push(path);
                }
            }
            rest = &rest[at + len + 1..];
        }
        outside.push_str(rest);
        found.paths.extend(inline(&outside).iter().filter_map(|path| absolute(&module, path)));
        found
    }
}

/// Returns the offset of the next `use` declaration, and its length up to the semicolon.
fn next_use(code: &str) -> Option<(usize, usize)> {
    let bytes = code.as_bytes();
    let mut from = 0;
    while let Some(at) = code[from..].find("use ").map(|at| at + from) {
        if at == 0 || !source::is_word(bytes[at - 1]) {
            return code[at..].find(';').map(|len| (at, len));
        }
        from = at + 1;
    }
    None
}

/// Returns each path that a `use` declaration imports, with its local name.
fn leaves(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let prefix: Vec<String> = segments(&tree[..open]);
        let inside = tree[open + 1..].strip_suffix('}').unwrap_or(&tree[open + 1..]);
        return split(inside)
            .into_iter()
            .flat_map(leaves)
            .map(|(path, name)| {
                let path: Vec<String> = if path == ["self"] {
                    prefix.clone()
                } else {
                    prefix.iter().cloned().chain(path).collect()
                };
                let name =
                    if name == "self" { path.last().cloned().unwrap_or_default() } else { name };
                (path, name)
            })
            .collect();
    }
    let (path, name) =
        tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name)));
    let path = segments(path);
    let name = name.map(|name| name.trim().to_owned()).or_else(|| path.last().cloned());
    name.map(|name| (path, name)).into_iter().filter(|(path, _)| !path.is_empty()).collect()
}

/// Splits a list at the commas outside of braces.
fn split(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Returns the paths in the code that begin with `crate`, `super` or `self`.
fn inline(code: &str) -> Vec<Vec<String>> {
    // A path with `$crate` is in the code of a macro. The compiler puts this code into each file
    // that calls the macro. Those files then use the item at the path, but the macro's own file
    // does not. The path is therefore ignored here.
    let code = code.replace("$crate::", "");
    let is_path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    code.split(|c| !is_path(c))
        .filter(|path| ["crate::", "super::", "self::"].iter().any(|head| path.starts_with(head)))
        .map(segments)
        .collect()
}

/// Converts a path in a module to a path from the crate's root; `None` if the path leads out of the
/// crate.
fn absolute(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut here = module.to_vec();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            here.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        // Any other path is read as relative to this module, because the path may begin with the
        // name of a child module. For example, a `mod.rs` may have `pub use child::Name`.
        _ => {}
    }
    while rest.first().is_some_and(|part| part == "super") {
        here.pop()?;
        rest = &rest[1..];
    }
    here.extend(rest.iter().filter(|part| *part != "*").cloned());
    Some(here)
}

#[cfg(test)]
mod tests {
    use super::{Graph, Module, module_of};

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let modules =
            files.iter().map(|(file, text)| (module_of(file), Module::read(file, text))).collect();
        Graph { modules }.circles().into_iter().collect()
    }

    #[test]
    fn two_files_that_need_each_other_are_a_circle() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::{B, other::{C as D}};"),
            ("b.rs", "fn f() { super::c::g(); }"),
            ("c.rs", "use super::a::A;"),
        ];
        assert_eq!(circles(&files), ["a.rs -> b.rs -> c.rs -> a.rs"]);
    }

    #[test]
    fn a_name_passed_on_leads_to_where_it_comes_from() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use crate::b::B;"),
            ("a.rs", "use crate::B;"),
            ("b.rs", "use crate::A;"),
        ];
        assert_eq!(circles(&files), ["a.rs -> b.rs -> a.rs"]);
    }

    #[test]
    fn a_module_and_its_parts_are_apart() {
        let files = [
            ("lib.rs", "mod a; pub struct S; use a::part::P;"),
            ("a/mod.rs", "mod part; use part::P; use crate::S;"),
            ("a/part.rs", "use super::A; use crate::S;\n#[cfg(test)]\nmod tests { use super::*; }"),
        ];
        assert!(circles(&files).is_empty());
    }
}
