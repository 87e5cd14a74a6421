//! A connection on which both ends write: a client sends requests, the flow's sender answers.
//!
//! On most flows, data flows in one direction: one end has only the sending half of a socket, the
//! other only the receiving half. On connections on which both ends write, each end has both
//! halves. The flow's sender also receives requests, and the flow's receiver also sends them. A
//! request is ordinary data: it carries an ACK, waits in the queues of the reverse path, and is
//! retransmitted if it is lost.

use std::sync::Arc;

use bbrlab_cc::Algorithm;
use bbrlab_tcp::socket::Halves;
use bbrlab_tcp::{Receiver, ReceiverConfig, Sender, SenderConfig};

/// Payload bytes of a request.
pub(crate) const REQUEST_BYTES: u64 = 100;

/// The two halves of sockets that a flow has in addition if both of its ends write.
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
    /// Creates the additional halves of a new connection. The client has Linux's default congestion
    /// control; its requests are so small that they never fill cwnd.
    pub(crate) fn new(sender: &Arc<SenderConfig>, receiver: &Arc<ReceiverConfig>) -> Self {
        let cc = Algorithm::Cubic.build(&Vec::new()).expect("CUBIC accepts its default parameters");
        Self {
            client: Sender::new(Arc::clone(sender), cc),
            server: Receiver::new(Arc::clone(receiver)),
            answered_bytes: 0,
        }
    }

    /// Returns the client's socket, whose receiving half is the flow's receiver.
    pub(crate) fn client<'s>(&'s mut self, receiver: &'s mut Receiver) -> Halves<'s> {
        Halves::active(&mut self.client, receiver)
    }

    /// Whether the client has data left to write and its socket accepts data now.
    pub(crate) fn client_is_ready(&self) -> bool {
        self.client.app_is_ready()
    }

    /// Returns the server's socket, whose sending half is the flow's sender.
    pub(crate) fn server<'s>(&'s mut self, sender: &'s mut Sender) -> Halves<'s> {
        Halves::passive(sender, &mut self.server)
    }

    /// Returns whether the server has read a complete request that it has not answered. A request
    /// for which the function returns true is counted as answered.
    pub(crate) fn take_request(&mut self) -> bool {
        let is_whole = self.server.stats().bytes_read >= self.answered_bytes + REQUEST_BYTES;
        self.answered_bytes += if is_whole { REQUEST_BYTES } else { 0 };
        is_whole
    }
}
