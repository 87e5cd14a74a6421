// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef BBRLAB_SOCKET_LINK_H
#define BBRLAB_SOCKET_LINK_H

#include "ns3/ptr.h"
#include "ns3/simple-ref-count.h"
#include "ns3/tcp-socket-base.h"

namespace bbrlab
{

class Congestion;

/// The link between a socket's traces and the socket's congestion control.
///
/// A listening socket copies its traces to the sockets that it accepts, and these sockets may
/// outlive it. The traces therefore refer to this object, which ignores events of other sockets,
/// and events after the end of its congestion control.
class SocketLink : public ns3::SimpleRefCount<SocketLink>
{
  public:
    explicit SocketLink(Congestion* owner);

    /// Connects to the trace of the socket's congestion state.
    void Connect(ns3::Ptr<ns3::TcpSocketState> tcb);

    /// Connects to the traces of the socket's packets.
    void Connect(ns3::TcpSocketBase* socket);

    /// Ends the link, because the congestion control ends.
    void Release();

  private:
    void Tx(ns3::Ptr<const ns3::Packet> packet,
            const ns3::TcpHeader& header,
            ns3::Ptr<const ns3::TcpSocketBase> socket);
    void Rx(ns3::Ptr<const ns3::Packet> packet,
            const ns3::TcpHeader& header,
            ns3::Ptr<const ns3::TcpSocketBase> socket);
    void CongState(ns3::TcpSocketState::TcpCongState_t from,
                   ns3::TcpSocketState::TcpCongState_t to);

    Congestion* m_owner;
    ns3::TcpSocketBase* m_socket{nullptr};
};

} // namespace bbrlab

#endif // BBRLAB_SOCKET_LINK_H
