//! Parses the head of a request strictly. Browsers send simple requests, so everything else is
//! refused.

use std::io::{self, BufRead, Read as _};

/// The largest number of bytes of a request's head.
const HEAD_MAX: u64 = 16 << 10;

/// The parts of an HTTP request that the server uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method, such as `GET`.
    pub method: String,
    /// The path without its first slash and without a query.
    pub path: String,
    /// The name and port in the header `Host`.
    pub host: String,
}

/// The reason why a head cannot be used.
#[derive(Debug)]
pub enum Wrong {
    /// The connection has failed or has ended.
    Connection(io::Error),
    /// The text is not a request of HTTP/1.0 or HTTP/1.1 with one header `Host`.
    Form,
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Self {
        Self::Connection(error)
    }
}

impl Request {
    /// Reads the head of a request, but not its body.
    ///
    /// # Errors
    /// Fails if the head is malformed or longer than 16 KiB, or the connection fails.
    pub fn read(from: &mut impl BufRead) -> Result<Self, Wrong> {
        let mut from = from.take(HEAD_MAX);
        let first = line(&mut from)?;
        let mut words = first.split(' ');
        let (Some(method), Some(target), Some("HTTP/1.0" | "HTTP/1.1"), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(Wrong::Form);
        };
        let path = target.strip_prefix('/').ok_or(Wrong::Form)?;
        let path = path.split(['?', '#']).next().unwrap_or_default().to_owned();
        let mut host = None;
        loop {
            let header = line(&mut from)?;
            if header.is_empty() {
                break;
            }
            let (name, value) = header.split_once(':').ok_or(Wrong::Form)?;
            if name.eq_ignore_ascii_case("host")
                && host.replace(value.trim().to_ascii_lowercase()).is_some()
            {
                return Err(Wrong::Form);
            }
        }
        Ok(Self { method: method.to_owned(), path, host: host.ok_or(Wrong::Form)? })
    }
}

/// Reads a line, and returns it without its line break.
fn line(from: &mut impl BufRead) -> Result<String, Wrong> {
    let mut line = String::new();
    from.read_line(&mut line).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Wrong::Form,
        _ => Wrong::Connection(error),
    })?;
    // A line without a line break was cut off, or the head is too long.
    let line = line.strip_suffix('\n').ok_or(Wrong::Form)?;
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Request, Wrong};

    fn read(text: &str) -> Option<Request> {
        match Request::read(&mut text.as_bytes()) {
            Ok(request) => Some(request),
            Err(Wrong::Form) => None,
            Err(Wrong::Connection(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn a_request_has_a_method_a_path_and_one_host() {
        let request = read("GET /assets/a.js?v=1 HTTP/1.1\r\nHost: LOCALHOST:80\r\nA: b\r\n\r\n");
        let [method, path, host] = ["GET", "assets/a.js", "localhost:80"].map(str::to_owned);
        assert_eq!(request, Some(Request { method, path, host }));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "GET /\r\nHost: a\r\n\r\n",
            "GET / HTTP/2\r\nHost: a\r\n\r\n",
            "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            &format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(20_000)),
        ] {
            assert_eq!(read(text), None, "{text:.60}");
        }
        assert!(matches!(Request::read(&mut &b"GET /\xff HTTP/1.1\r\n"[..]), Err(Wrong::Form)));
    }
}
