//! The server's connections. Each has one request, and a thread of its own.

use std::io::{self, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::reply::{Data, Reply, reply};
use crate::request::{Request, Wrong};

/// The largest number of open connections. A browser opens about six.
const CONNECTIONS_MAX: usize = 32;

/// The longest time that a connection waits for the browser.
const PATIENCE: Duration = Duration::from_secs(10);

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
    /// If the port is not free.
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
    /// If the port can no longer accept connections.
    pub fn serve(&self, data: Data<'_>) -> io::Result<()> {
        let open = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for stream in self.listener.incoming() {
                let stream = match stream {
                    Ok(stream) => stream,
                    // The browser has closed the connection before it was accepted.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                    Err(error) => return Err(error),
                };
                if open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
                    open.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                let open = &open;
                scope.spawn(move || {
                    // An error on one connection must not affect the others.
                    let _ = self.answer(&stream, data);
                    open.fetch_sub(1, Ordering::Relaxed);
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
