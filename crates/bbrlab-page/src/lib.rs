//! The lab as a web page inside the program, and the server that shows it on this machine.
//!
//! The server answers on the loopback interface only, to requests for its own names, so no other
//! web page can read results through a name that points here. It knows the files of the page and
//! what the caller adds, and never opens a file for a path that it was sent.
//!
//! | file | content |
//! | --- | --- |
//! | `request.rs` | the head of a request, read strictly |
//! | `reply.rs` | which request gets which file, with which headers |
//! | `server.rs` | the connections |

mod reply;
mod request;
mod server;

pub use reply::{Data, Reply, reply};
pub use request::{Request, Wrong};
pub use server::Server;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Whether the page was built when the program was built.
#[must_use]
pub fn is_built() -> bool {
    !FILES.is_empty()
}
