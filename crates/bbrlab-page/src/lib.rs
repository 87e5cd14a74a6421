//! The lab, a web page inside the program, and the server that delivers it to browsers on this
//! machine.
//!
//! The server listens only on the loopback interface, and answers only requests to its own names.
//! No web page from another site can read results from the server, even if a name of that site
//! points to this machine. The server delivers only the files of the page and the data that the
//! caller adds. The server never opens a file for a path in a request.
//!
//! | file | content |
//! | --- | --- |
//! | `request.rs` | parses the head of a request strictly |
//! | `reply.rs` | chooses the file and the headers for a request |
//! | `server.rs` | accepts the connections |

mod reply;
mod request;
mod server;

pub use reply::{Data, Reply, reply};
pub use request::{Request, Wrong};
pub use server::Server;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Returns whether this program contains the lab's page: it does if the page was built first.
#[must_use]
pub fn is_built() -> bool {
    !FILES.is_empty()
}
