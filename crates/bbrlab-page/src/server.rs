//! The server's connections. Each connection has one request and its own thread.

use std::io::{self, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};
use std::time::Duration;

use crate::reply::{Data, Reply, reply};
use crate::request::{Request, Wrong};

/// The largest number of open connections. A browser opens about six.
const CONNECTIONS_MAX: usize = 32;

/// The longest time that a connection waits for the browser.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the server waits if the system has no resources, such as file descriptors, for a
/// connection.
const REST: Duration = Duration::from_millis(100);

/// Number of consecutive errors after which the server gives up the port: about a minute without
/// any connection.
const ERRORS_MAX: u32 = 600;

/// A server on the loopback interface.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    port: u16,
}

impl Server {
    /// Listens on a port; 0 means a free port.
    ///
    /// # Errors
    /// Fails if the port is not free.
    pub fn open(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// Returns the page's address.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers requests until the process ends.
    ///
    /// # Errors
    /// Fails if the port accepts no connection for a minute because of errors.
    pub fn serve(&self, data: Data<'_>) -> io::Result<()> {
        self.serve_all(self.listener.incoming(), data)
    }

    /// Answers the requests of connections until `streams` ends.
    fn serve_all(
        &self,
        streams: impl Iterator<Item = io::Result<TcpStream>>,
        data: Data<'_>,
    ) -> io::Result<()> {
        let open = AtomicUsize::new(0);
        let mut errors = 0;
        thread::scope(|scope| {
            for stream in streams {
                let stream = match stream {
                    Ok(stream) => stream,
                    // The browser has closed the connection before it was accepted.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                    // The system lacks resources, which become free when other connections or
                    // programs end.
                    Err(error) => {
                        errors += 1;
                        if errors >= ERRORS_MAX {
                            return Err(error);
                        }
                        thread::sleep(REST);
                        continue;
                    }
                };
                errors = 0;
                let Some(place) = Place::take(&open) else { continue };
                // If no thread can be started, the connection closes, and the browser repeats the
                // request.
                let _ = Builder::new().spawn_scoped(scope, move || {
                    let _place = place;
                    // An error of one connection does not affect the others.
                    let _ = self.answer(&stream, data);
                });
            }
            Ok(())
        })
    }

    fn answer(&self, mut stream: &TcpStream, data: Data<'_>) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let (reply, has_body) = match Request::read(&mut BufReader::new(stream)) {
            Ok(request) => (reply(&request, self.port, data), request.method != "HEAD"),
            Err(Wrong::Form) => (Reply::refusal("400 Bad Request"), true),
            Err(Wrong::Connection(error)) => return Err(error),
        };
        stream.write_all(reply.head().as_bytes())?;
        if has_body {
            stream.write_all(&reply.body)?;
        }
        stream.flush()
    }
}

/// One of the at most [`CONNECTIONS_MAX`] open connections. Dropping the value allows another
/// connection, even if the thread of this connection panics.
struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn take(open: &'a AtomicUsize) -> Option<Self> {
        let place = Self(open);
        (open.fetch_add(1, Ordering::Relaxed) < CONNECTIONS_MAX).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::panic;

    use super::*;

    /// Serves this number of connections. Before the server accepts each of them, accepting fails
    /// once. Each connection requests a file; the function returns the replies.
    fn replies(server: &Server, connections: usize, data: Data<'_>) -> Vec<String> {
        let full = || Err(io::Error::from_raw_os_error(24)); // EMFILE
        let streams =
            server.listener.incoming().take(connections).flat_map(|stream| [full(), stream]);
        thread::scope(|scope| {
            let asker = scope.spawn(move || {
                (0..connections)
                    .map(|_| {
                        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
                        let port = server.port;
                        let head =
                            format!("GET /data/x HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
                        stream.write_all(head.as_bytes()).unwrap();
                        let mut reply = String::new();
                        let _ = stream.read_to_string(&mut reply);
                        reply
                    })
                    .collect()
            });
            let served = panic::catch_unwind(panic::AssertUnwindSafe(|| {
                server.serve_all(streams, data).unwrap();
            }));
            // If an answer panics in a thread of the server, the scope in `serve_all` panics, too.
            // The tests check only the replies, so this panic is ignored.
            drop(served);
            asker.join().unwrap()
        })
    }

    #[test]
    fn the_server_goes_on_when_the_system_has_no_files_left() {
        let server = Server::open(0).unwrap();
        for reply in replies(&server, 2, &|_| Some(b"1".to_vec())) {
            assert!(reply.starts_with("HTTP/1.1 200 OK"), "{reply}");
        }
    }

    #[test]
    fn an_answer_that_panics_gives_its_place_back() {
        let server = Server::open(0).unwrap();
        let asked = AtomicUsize::new(0);
        let data = |_: &str| {
            let number = asked.fetch_add(1, Ordering::Relaxed);
            assert!(number >= CONNECTIONS_MAX, "this answer fails");
            Some(b"1".to_vec())
        };
        let replies = replies(&server, CONNECTIONS_MAX + 1, &data);
        assert!(replies[..CONNECTIONS_MAX].iter().all(String::is_empty));
        assert!(replies[CONNECTIONS_MAX].starts_with("HTTP/1.1 200 OK"), "{replies:?}");
    }

    #[test]
    fn browsers_that_give_up_are_no_failure_of_the_port() {
        let streams = (0..).map(|_| Err(io::Error::from(io::ErrorKind::ConnectionAborted)));
        let server = Server::open(0).unwrap();
        let ended = server.serve_all(streams.take(2000), &|_| None);
        assert!(ended.is_ok(), "{ended:?}");
    }
}
