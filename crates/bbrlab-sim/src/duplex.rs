//! A connection on which both ends write: a client sends requests, the flow's sender answers.
//!
//! Most flows carry data in one direction and have half a socket at each end. Here each end is a
//! whole socket. The flow's sender has a receiving half for the requests, and its receiver has a
//! half that sends them. A request is data like any other: it carries the ACK that is due, waits in
//! the queues of the reverse path, and is retransmitted if it is lost.

use std::sync::Arc;

use bbrlab_cc::Algorithm;
use bbrlab_tcp::socket::Halves;
use bbrlab_tcp::{Receiver, ReceiverConfig, Sender, SenderConfig};

/// Payload bytes of a request.
pub(crate) const REQUEST_BYTES: u64 = 100;

/// The additional halves of a flow whose ends both write.
#[derive(Debug)]
pub(crate) struct Duplex {
    /// Sends requests.
    client: Sender,
    /// Receives requests.
    server: Receiver,
    /// Bytes of requests that the server has answered.
    answered_bytes: u64,
}

impl Duplex {
    /// The halves of a new connection. The client has Linux's default congestion control, whose
    /// window its requests never fill.
    pub(crate) fn new(sender: &Arc<SenderConfig>, receiver: &Arc<ReceiverConfig>) -> Self {
        let cc = Algorithm::Cubic.build(&Vec::new()).expect("the defaults are in range");
        Self {
            client: Sender::new(Arc::clone(sender), cc),
            server: Receiver::new(Arc::clone(receiver)),
            answered_bytes: 0,
        }
    }

    /// The client's socket.
    pub(crate) fn client<'s>(&'s mut self, receiver: &'s mut Receiver) -> Halves<'s> {
        Halves::active(&mut self.client, receiver)
    }

    /// Whether the client has written something that did not fit, or could not be sent before the
    /// connection was open.
    pub(crate) fn client_is_ready(&self) -> bool {
        self.client.app_is_ready()
    }

    /// The server's socket.
    pub(crate) fn server<'s>(&'s mut self, sender: &'s mut Sender) -> Halves<'s> {
        Halves::passive(sender, &mut self.server)
    }

    /// Whether the server has read a whole request that it has not answered. If so, counts it as
    /// answered.
    pub(crate) fn take_request(&mut self) -> bool {
        let is_whole = self.server.stats().bytes_read >= self.answered_bytes + REQUEST_BYTES;
        self.answered_bytes += if is_whole { REQUEST_BYTES } else { 0 };
        is_whole
    }
}
