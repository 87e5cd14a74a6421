// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bbrlab-socket-link.h"

#include "bbrlab-congestion.h"

#include "ns3/packet.h"
#include "ns3/tcp-header.h"

namespace bbrlab
{

using namespace ns3;

SocketLink::SocketLink(Congestion* owner)
    : m_owner(owner)
{
}

void
SocketLink::Connect(Ptr<TcpSocketState> tcb)
{
    tcb->TraceConnectWithoutContext("CongState",
                                    MakeCallback(&SocketLink::CongState, Ptr<SocketLink>(this)));
}

void
SocketLink::Connect(TcpSocketBase* socket)
{
    m_socket = socket;
    const Ptr<SocketLink> self(this);
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&SocketLink::Tx, self));
    socket->TraceConnectWithoutContext("Rx", MakeCallback(&SocketLink::Rx, self));
}

void
SocketLink::Release()
{
    m_owner = nullptr;
}

void
SocketLink::Tx(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase> socket)
{
    if (!m_owner || PeekPointer(socket) != m_socket)
    {
        return;
    }
    if (packet->GetSize() > 0)
    {
        m_owner->OnTx(header.GetSequenceNumber(), packet->GetSize());
    }
    else if (header.GetFlags() & TcpHeader::SYN)
    {
        m_owner->OnSyn();
    }
}

void
SocketLink::Rx(Ptr<const Packet>, const TcpHeader& header, Ptr<const TcpSocketBase> socket)
{
    if (m_owner && PeekPointer(socket) == m_socket)
    {
        m_owner->OnRx(header);
    }
}

void
SocketLink::CongState(TcpSocketState::TcpCongState_t from, TcpSocketState::TcpCongState_t to)
{
    if (m_owner)
    {
        m_owner->OnCongState(from, to);
    }
}

} // namespace bbrlab
