//! Chooses the reply to a request: the file and the headers.

use std::borrow::Cow;

use crate::FILES;
use crate::request::Request;

/// The content security policy: the lab's page may load only files from this server, and may not
/// run inline scripts.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
    style-src 'self'; worker-src 'self'; connect-src 'self'; img-src 'self' data: blob:; \
    font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A function that returns the content of a file from its path below `data/`; `None` if there is no
/// such file.
pub type Data<'a> = &'a (dyn Fn(&str) -> Option<Vec<u8>> + Sync);

/// An HTTP reply: its status, and its body with the media type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status code with its text.
    pub status: &'static str,
    /// The media type of the body.
    pub kind: &'static str,
    /// The body.
    pub body: Cow<'static, [u8]>,
}

impl Reply {
    pub(crate) fn refusal(status: &'static str) -> Self {
        Self {
            status,
            kind: "text/plain; charset=utf-8",
            body: Cow::Owned(format!("{status}\n").into_bytes()),
        }
    }

    /// Returns the head of the reply: status line and headers.
    pub(crate) fn head(&self) -> String {
        let Self { status, kind, body } = self;
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
             Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Cache-Control: no-cache\r\nAllow: GET, HEAD\r\nConnection: close\r\n\r\n",
            body.len()
        )
    }
}

/// Returns the reply to a request that arrived at `port` on the loopback interface.
#[must_use]
pub fn reply(request: &Request, port: u16, data: Data<'_>) -> Reply {
    if !is_own_name(&request.host, port) {
        return Reply::refusal("403 Forbidden");
    }
    if request.method != "GET" && request.method != "HEAD" {
        return Reply::refusal("405 Method Not Allowed");
    }
    let path = if request.path.is_empty() { "index.html" } else { &request.path };
    let own = FILES.iter().find(|(name, _)| *name == path);
    let body = match own {
        Some(&(_, bytes)) => Some(Cow::Borrowed(bytes)),
        None => path.strip_prefix("data/").and_then(data).map(Cow::Owned),
    };
    let Some(body) = body else { return Reply::refusal("404 Not Found") };
    Reply { status: "200 OK", kind: kind_of(path), body }
}

/// Returns whether the header `Host` names this server. The name of another site can point to this
/// machine. The server refuses such names, because the browser would let that site's pages read the
/// replies.
fn is_own_name(host: &str, port: u16) -> bool {
    let Some((name, given)) = host.rsplit_once(':') else { return false };
    given.parse() == Ok(port) && ["127.0.0.1", "localhost", "[::1]"].contains(&name)
}

fn kind_of(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "wasm" => "application/wasm",
        "woff2" => "font/woff2",
        "toml" | "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::{Reply, reply};
    use crate::request::Request;

    fn ask(method: &str, path: &str, host: &str) -> Reply {
        let request = Request { method: method.into(), path: path.into(), host: host.into() };
        reply(&request, 8000, &|path| (path == "runs.json").then(|| b"[]".to_vec()))
    }

    #[test]
    fn data_are_answered_with_their_type_and_the_policy() {
        let answer = ask("GET", "data/runs.json", "localhost:8000");
        assert_eq!((answer.status, answer.kind), ("200 OK", "application/json"));
        assert!(answer.head().contains("script-src 'self' 'wasm-unsafe-eval';"));
        assert!(!answer.head().contains("unsafe-inline"));
    }

    #[test]
    fn other_names_methods_and_paths_are_refused() {
        let status = |method, path, host| ask(method, path, host).status;
        for host in
            ["evil.example:8000", "localhost", "localhost:8001", "", "localhost:8000.a:8000"]
        {
            assert_eq!(status("GET", "data/runs.json", host), "403 Forbidden", "{host}");
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "get"] {
            let found = status(method, "data/runs.json", "127.0.0.1:8000");
            assert_eq!(found, "405 Method Not Allowed", "{method}");
        }
        for path in
            ["../Cargo.toml", "data/../runs.json", "%2e%2e/a", "data/", "/etc/passwd", "a\0"]
        {
            assert_eq!(status("GET", path, "[::1]:8000"), "404 Not Found", "{path}");
        }
    }
}
