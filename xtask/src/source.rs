//! Reads files. Removes from Rust code: comments, tests, and the text inside string literals.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns all files under `folder` whose names end in `.EXTENSION`, sorted by name.
pub(crate) fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    let error = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        if path.is_dir() {
            found.extend(files(&path, extension)?);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a file. An error names the file.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the name and the folder of each crate of the workspace, including `xtask`.
pub(crate) fn crates(root: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let mut found = vec![("xtask".to_owned(), root.join("xtask"))];
    for entry in fs::read_dir(root.join("crates")).map_err(|error| error.to_string())? {
        let folder = entry.map_err(|error| error.to_string())?.path();
        if folder.join("Cargo.toml").is_file() {
            let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            found.push((name.to_owned(), folder));
        }
    }
    found.sort();
    Ok(found)
}

/// Replaces comments and the contents of strings by blanks. Lines keep their numbers.
pub(crate) fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = skip(bytes, at);
        if end == at {
            at += 1;
            continue;
        }
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the end of the comment or literal that begins at the offset `at`, or `at` if none begins
/// there.
fn skip(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return rest.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |end| at + end);
    }
    if rest.starts_with(b"/*") {
        return find(rest, b"*/").map_or(bytes.len(), |end| at + end + 2);
    }
    let begins_word = at == 0 || !is_word(bytes[at - 1]);
    if begins_word && (rest.starts_with(b"r\"") || rest.starts_with(b"r#")) {
        let hashes = rest[1..].iter().take_while(|&&byte| byte == b'#').count();
        if rest.get(1 + hashes) != Some(&b'"') {
            return at;
        }
        let mut close = vec![b'"'];
        close.resize(1 + hashes, b'#');
        let open = 2 + hashes;
        return find(&rest[open..], &close)
            .map_or(bytes.len(), |end| at + open + end + close.len());
    }
    if rest[0] == b'"' {
        let mut end = 1;
        while end < rest.len() && rest[end] != b'"' {
            end += if rest[end] == b'\\' { 2 } else { 1 };
        }
        return (at + end + 1).min(bytes.len());
    }
    // A single quote begins a character literal, such as 'x' or '\n', or a lifetime. A lifetime has
    // no closing quote and is not skipped.
    if rest.starts_with(b"'\\") {
        return rest[2..].iter().skip(1).position(|&b| b == b'\'').map_or(at, |end| at + end + 4);
    }
    if rest[0] == b'\'' && rest.get(2) == Some(&b'\'') { at + 3 } else { at }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns `code` without the items under `#[cfg(test)]`.
pub(crate) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        out.push_str(&rest[..at]);
        rest = &rest[at + MARK.len()..];
        rest = &rest[end_of_item(rest)..];
    }
    out.push_str(rest);
    out
}

/// Returns the end of the item at the start of `code`: the offset after the item's semicolon or
/// closing brace.
fn end_of_item(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b';' if depth == 0 => return at + 1,
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::{code, without_tests};

    #[test]
    fn comments_and_literals_become_blanks() {
        let text =
            "use a; // use b;\nlet c = \"use d;\"; let e = 'x'; let f: &'static str = r#\"g\"#;";
        let stripped = code(text);
        assert_eq!(stripped.len(), text.len());
        for gone in ["use b", "use d", "'x'", "g"] {
            assert!(!stripped.contains(gone), "{gone}: {stripped}");
        }
        for kept in ["use a;", "let c", "let e", "&'static str"] {
            assert!(stripped.contains(kept), "{kept}: {stripped}");
        }
    }

    #[test]
    fn tests_beside_the_code_are_left_out() {
        let text = "use a;\n#[cfg(test)]\nmod tests { fn b() { c } }\n#[cfg(test)]\nuse d;\nuse e;";
        assert_eq!(without_tests(text).split_whitespace().collect::<String>(), "usea;usee;");
    }
}
