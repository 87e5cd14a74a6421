// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bbrlab-linux-socket.h"

#include "bbrlab-congestion.h"
#include "bbrlab-recorder.h"
#include "bbrlab-types.h"

#include "ns3/fatal-error.h"
#include "ns3/ipv4-end-point.h"
#include "ns3/ipv6-end-point.h"
#include "ns3/node.h"
#include "ns3/rtt-estimator.h"
#include "ns3/simulator.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-linux-reno.h"
#include "ns3/tcp-option-sack.h"
#include "ns3/tcp-option-ts.h"
#include "ns3/tcp-prr-recovery.h"
#include "ns3/tcp-rx-buffer.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>
#include <limits>

namespace bbrlab
{

using namespace ns3;

namespace
{

/// Sets the smoothed RTT that the trace `RTT` reports. From ns-3 3.43 on, the smoothed RTT has its
/// own field, `m_srtt`.
template <typename T>
auto
SetSmoothedRtt(T& tcb, Time rtt, int) -> decltype(tcb.m_srtt = rtt, void())
{
    tcb.m_srtt = rtt;
}

template <typename T>
void
SetSmoothedRtt(T& tcb, Time rtt, long)
{
    tcb.m_lastRtt = rtt;
}

} // namespace

NS_OBJECT_ENSURE_REGISTERED(LinuxSocket);
NS_OBJECT_ENSURE_REGISTERED(LinuxSocketFactory);

TypeId
LinuxSocket::GetTypeId()
{
    static TypeId tid = TypeId("bbrlab::LinuxSocket")
                            .SetParent<TcpSocketBase>()
                            .SetGroupName("Internet")
                            .AddConstructor<LinuxSocket>();
    return tid;
}

TypeId
LinuxSocket::GetInstanceTypeId() const
{
    return GetTypeId();
}

LinuxSocket::LinuxSocket() = default;

LinuxSocket::~LinuxSocket()
{
    for (EventId& timer : m_timers)
    {
        timer.Cancel();
    }
    bbrlab_sender_free(m_sender);
}

void
LinuxSocket::SetAlgorithm(Ptr<Congestion> congestion, uint64_t seed)
{
    m_algorithm = congestion;
    m_seed = seed;
}

bbrlab_status
LinuxSocket::GetStatus() const
{
    bbrlab_status status{};
    status.size = sizeof status;
    if (m_sender)
    {
        Check(bbrlab_sender_status(m_sender, &status));
    }
    return status;
}

void
LinuxSocket::Begin()
{
    if (!m_algorithm)
    {
        NS_FATAL_ERROR("bbrlab: expected a socket that bbrlab::LinuxSocketFactory has made");
    }
    const std::vector<bbrlab_param> params = m_algorithm->LibraryParameters();
    bbrlab_sender_setup setup{};
    setup.size = sizeof setup;
    setup.mss = m_tcb->m_segmentSize;
    setup.seed = m_seed;
    setup.params = params.data();
    setup.params_count = params.size();
    setup.initial_cwnd = GetInitialCwnd();
    setup.isn = m_tcb->m_nextTxSequence.Get().GetValue();
    setup.flags = BBRLAB_SENDER_NODELAY;
    setup.flags |= m_timestampEnabled ? BBRLAB_SENDER_TIMESTAMPS : 0;
    setup.flags |= m_sackEnabled ? BBRLAB_SENDER_SACK : 0;
    setup.flags |= m_tcb->m_useEcn == TcpSocketState::On ? BBRLAB_SENDER_ECN : 0;
    Check(bbrlab_sender_new(m_algorithm->GetLibraryName().c_str(), &setup, &m_sender));
    m_una = setup.isn + 1;
    m_isRecorded = Recorder::Get().IsOpen();
    if (m_isRecorded)
    {
        m_flow = Recorder::Get().AddFlow();
        m_lastRow = Simulator::Now();
    }
}

void
LinuxSocket::SendEmptyPacket(uint8_t flags)
{
    const bool isFirstSyn = (flags & TcpHeader::SYN) && !(flags & TcpHeader::ACK) && !m_sender;
    if (isFirstSyn)
    {
        Begin();
        Check(bbrlab_sender_connect(m_sender, Simulator::Now().GetNanoSeconds()));
        Finish();
    }
    else if (!m_isMuted)
    {
        TcpSocketBase::SendEmptyPacket(flags);
    }
}

int
LinuxSocket::Send(Ptr<Packet> packet, uint32_t flags)
{
    if (!m_sender)
    {
        return TcpSocketBase::Send(packet, flags);
    }
    const TcpStates_t state = m_state;
    if (state != SYN_SENT && state != ESTABLISHED && state != CLOSE_WAIT)
    {
        m_errno = ERROR_NOTCONN;
        return -1;
    }
    if (m_shutdownSend)
    {
        m_errno = ERROR_SHUTDOWN;
        return -1;
    }
    if (packet->GetSize() > GetTxAvailable())
    {
        m_errno = ERROR_MSGSIZE;
        return -1;
    }
    m_store.Add(packet->Copy());
    const uint64_t now_ns = Simulator::Now().GetNanoSeconds();
    Check(bbrlab_sender_write(m_sender, now_ns, packet->GetSize()));
    Finish();
    return packet->GetSize();
}

uint32_t
LinuxSocket::GetTxAvailable() const
{
    if (!m_sender)
    {
        return TcpSocketBase::GetTxAvailable();
    }
    const uint64_t held = m_store.End() - m_acked;
    const uint64_t size = m_txBuffer->MaxBufferSize();
    return size > held ? size - held : 0;
}

int
LinuxSocket::Close()
{
    const TcpStates_t state = m_state;
    if (!m_sender || (state != ESTABLISHED && state != CLOSE_WAIT))
    {
        return TcpSocketBase::Close();
    }
    return CloseSender();
}

int
LinuxSocket::ShutdownSend()
{
    const TcpStates_t state = m_state;
    if (!m_sender || (state != ESTABLISHED && state != CLOSE_WAIT))
    {
        return TcpSocketBase::ShutdownSend();
    }
    return CloseSender();
}

int
LinuxSocket::CloseSender()
{
    m_shutdownSend = true;
    m_isClosing = true;
    m_state = m_state == ESTABLISHED ? FIN_WAIT_1 : LAST_ACK;
    Check(bbrlab_sender_close(m_sender, Simulator::Now().GetNanoSeconds()));
    Finish();
    return 0;
}

bbrlab_segment
LinuxSocket::ToSender(const TcpHeader& header, uint32_t size) const
{
    const uint8_t flags = header.GetFlags();
    bbrlab_segment segment{};
    segment.size = sizeof segment;
    segment.seq = header.GetSequenceNumber().GetValue();
    segment.len = size;
    segment.ack = header.GetAckNumber().GetValue();
    segment.wnd = header.GetWindowSize();
    // The window of a SYN is not scaled.
    segment.wnd <<= flags & TcpHeader::SYN ? 0 : m_sndWindShift;
    segment.flags = flags & ~TcpHeader::FIN;
    if (m_timestampEnabled && header.HasOption(TcpOption::TS))
    {
        const auto ts = DynamicCast<const TcpOptionTS>(header.GetOption(TcpOption::TS));
        segment.has_ts = 1;
        segment.tsval = ts->GetTimestamp();
        segment.tsecr = ts->GetEcho();
    }
    if (m_sackEnabled && header.HasOption(TcpOption::SACK))
    {
        const auto sack = DynamicCast<const TcpOptionSack>(header.GetOption(TcpOption::SACK));
        for (const auto& block : sack->GetSackList())
        {
            if (segment.sack_count < 4)
            {
                segment.sack[segment.sack_count][0] = block.first.GetValue();
                segment.sack[segment.sack_count][1] = block.second.GetValue();
                ++segment.sack_count;
            }
        }
    }
    return segment;
}

void
LinuxSocket::DoForwardUp(Ptr<Packet> packet, const Address& from, const Address& to)
{
    TcpHeader header;
    packet->PeekHeader(header);
    const TcpStates_t state = m_state;
    const uint8_t flags = header.GetFlags();
    if (!m_sender || state == CLOSED || state == TIME_WAIT || (flags & TcpHeader::RST))
    {
        TcpSocketBase::DoForwardUp(packet, from, to);
        return;
    }
    if (state == SYN_SENT)
    {
        // ns-3 reads the options of the SYN-ACK. bbrlab's sender sends the ACK, so ns-3's own ACK
        // is held back.
        const uint32_t size = packet->GetSize() - header.GetSerializedSize();
        m_isMuted = true;
        TcpSocketBase::DoForwardUp(packet, from, to);
        m_isMuted = false;
        if (m_state == ESTABLISHED)
        {
            UpdateReceived();
            const bbrlab_segment segment = ToSender(header, size);
            Check(bbrlab_sender_segment(m_sender, Simulator::Now().GetNanoSeconds(), &segment));
            Finish();
        }
        return;
    }
    SocketPriorityTag priority;
    packet->RemovePacketTag(priority);
    packet->RemoveHeader(header);
    m_rxTrace(packet, header, this);
    Input(packet, header);
}

void
LinuxSocket::Input(Ptr<Packet> packet, const TcpHeader& header)
{
    const uint32_t size = packet->GetSize();
    const uint8_t flags = header.GetFlags();
    if (m_timestampEnabled && header.HasOption(TcpOption::TS))
    {
        ProcessOptionTimestamp(header.GetOption(TcpOption::TS), header.GetSequenceNumber());
    }
    UpdateWindowSize(header);
    const bbrlab_segment segment = ToSender(header, size);
    Check(bbrlab_sender_segment(m_sender, Simulator::Now().GetNanoSeconds(), &segment));
    Finish();
    const SequenceNumber32 end = header.GetSequenceNumber() + SequenceNumber32(size);
    if (size > 0 && !(flags & TcpHeader::FIN))
    {
        ReceivedData(packet, header);
    }
    else if ((flags & TcpHeader::FIN) && (m_state == ESTABLISHED || m_state == SYN_RCVD))
    {
        PeerClose(packet, header);
    }
    else if (flags & TcpHeader::FIN)
    {
        if (size > 0)
        {
            ReceivedData(packet, header);
        }
        OnPeerClose(end);
    }
    UpdateReceived();
}

void
LinuxSocket::OnPeerClose(SequenceNumber32 end)
{
    m_tcb->m_rxBuffer->SetFinSequence(end);
    if (!m_tcb->m_rxBuffer->Finished())
    {
        return;
    }
    SendEmptyPacket(TcpHeader::ACK);
    if (m_state == FIN_WAIT_2)
    {
        TimeWait();
    }
    else if (m_state == FIN_WAIT_1)
    {
        m_state = CLOSING;
    }
}

void
LinuxSocket::UpdateReceived()
{
    const uint32_t next = m_tcb->m_rxBuffer->NextRxSequence().GetValue();
    Check(bbrlab_sender_received(m_sender, next, AdvertisedWindowSize(false)));
}

void
LinuxSocket::Finish()
{
    const bbrlab_status status = GetStatus();
    const uint64_t before = m_acked;
    if (status.is_established)
    {
        UpdateState(status);
    }
    bbrlab_action action{};
    action.size = sizeof action;
    while (true)
    {
        Check(bbrlab_sender_action(m_sender, &action));
        if (action.kind == BBRLAB_ACTION_NONE)
        {
            break;
        }
        if (action.kind == BBRLAB_ACTION_TRANSMIT)
        {
            Transmit(action.segment);
        }
        else if (action.kind == BBRLAB_ACTION_ARM)
        {
            Arm(action.timer, action.at_ns);
        }
        else
        {
            m_timers[action.timer].Cancel();
        }
    }
    if (m_isClosing && status.is_all_acked)
    {
        m_isClosing = false;
        if (m_state == FIN_WAIT_1)
        {
            m_state = FIN_WAIT_2;
        }
        else if (m_state == CLOSING)
        {
            TimeWait();
        }
        else if (m_state == LAST_ACK)
        {
            CloseAndNotify();
        }
        return;
    }
    const uint32_t sent = m_newBytes;
    m_newBytes = 0;
    // The application may write during these calls, which begins the next event.
    if (sent > 0)
    {
        NotifyDataSent(sent);
    }
    if (m_acked > before && GetTxAvailable() > 0)
    {
        NotifySend(GetTxAvailable());
    }
}

void
LinuxSocket::UpdateState(const bbrlab_status& status)
{
    // `snd_una` also counts the FIN as a byte; the store does not.
    const uint64_t acked = std::min(m_acked + (status.snd_una - m_una), m_store.End());
    m_una += acked - m_acked;
    m_acked = acked;
    m_store.Forget(acked);
    const uint32_t mss = m_tcb->m_segmentSize;
    const uint32_t most = std::numeric_limits<uint32_t>::max();
    m_tcb->m_nextTxSequence = SequenceNumber32(status.snd_nxt);
    m_tcb->m_highTxMark = SequenceNumber32(status.snd_nxt);
    m_tcb->m_cWnd = std::min<uint64_t>(uint64_t{status.cwnd} * mss, most);
    m_tcb->m_ssThresh = std::min<uint64_t>(uint64_t{status.ssthresh} * mss, most);
    m_tcb->m_bytesInFlight = std::min<uint64_t>(uint64_t{status.in_flight} * mss, most);
    m_tcb->m_congState = static_cast<TcpSocketState::TcpCongState_t>(
        std::min<uint32_t>(status.ca_state, TcpSocketState::CA_LOSS));
    SetSmoothedRtt(*m_tcb, MicroSeconds(status.srtt_us / 8), 0);
    if (status.pacing_rate < most)
    {
        m_tcb->m_pacingRate = DataRate(status.pacing_rate * 8);
    }
    if (m_isRecorded)
    {
        Record(status);
    }
}

void
LinuxSocket::Transmit(const bbrlab_segment& segment)
{
    if (segment.flags & TcpHeader::SYN)
    {
        // ns-3 sends the SYN with its options. Its timer is cancelled, because bbrlab's sender has
        // its own timer.
        TcpSocketBase::SendEmptyPacket(segment.flags);
        m_retxEvent.Cancel();
        return;
    }
    if (!m_endPoint && !m_endPoint6)
    {
        return;
    }
    const uint64_t offset = m_acked + (segment.seq - m_una);
    const Ptr<Packet> packet = m_store.Copy(offset, segment.len);
    if (packet->GetSize() != segment.len)
    {
        NS_FATAL_ERROR("bbrlab: expected " << segment.len << " bytes from " << offset
                                           << " on, found " << packet->GetSize());
    }
    if (segment.len > 0 && segment.retransmission == 0)
    {
        m_newBytes += segment.len;
    }
    if (GetIpTos() || segment.ecn)
    {
        SocketIpTosTag tos;
        tos.SetTos((GetIpTos() & 0xfc) | segment.ecn);
        packet->AddPacketTag(tos);
    }
    if (GetPriority())
    {
        SocketPriorityTag priority;
        priority.SetPriority(GetPriority());
        packet->AddPacketTag(priority);
    }
    TcpHeader header;
    header.SetFlags(segment.flags);
    header.SetSequenceNumber(SequenceNumber32(segment.seq));
    header.SetAckNumber(m_tcb->m_rxBuffer->NextRxSequence());
    header.SetWindowSize(AdvertisedWindowSize());
    if (m_timestampEnabled)
    {
        const Ptr<TcpOptionTS> option = CreateObject<TcpOptionTS>();
        option->SetTimestamp(segment.tsval);
        option->SetEcho(m_timestampToEcho);
        header.AppendOption(option);
    }
    m_delAckEvent.Cancel();
    m_delAckCount = 0;
    if (m_endPoint)
    {
        header.SetSourcePort(m_endPoint->GetLocalPort());
        header.SetDestinationPort(m_endPoint->GetPeerPort());
        m_txTrace(packet, header, this);
        m_tcp->SendPacket(packet,
                          header,
                          m_endPoint->GetLocalAddress(),
                          m_endPoint->GetPeerAddress(),
                          m_boundnetdevice);
    }
    else
    {
        header.SetSourcePort(m_endPoint6->GetLocalPort());
        header.SetDestinationPort(m_endPoint6->GetPeerPort());
        m_txTrace(packet, header, this);
        m_tcp->SendPacket(packet,
                          header,
                          m_endPoint6->GetLocalAddress(),
                          m_endPoint6->GetPeerAddress(),
                          m_boundnetdevice);
    }
}

void
LinuxSocket::Arm(uint32_t timer, uint64_t at_ns)
{
    const Time left = NanoSeconds(at_ns) - Simulator::Now();
    m_timers[timer].Cancel();
    m_timers[timer] =
        Simulator::Schedule(Max(left, Time(0)), &LinuxSocket::OnTimer, this, timer);
}

void
LinuxSocket::OnTimer(uint32_t timer)
{
    if (m_state == CLOSED || m_state == TIME_WAIT)
    {
        return;
    }
    Check(bbrlab_sender_timer(m_sender, Simulator::Now().GetNanoSeconds(), timer));
    Finish();
}

void
LinuxSocket::Record(const bbrlab_status& status)
{
    Recorder& recorder = Recorder::Get();
    const Time now = Simulator::Now();
    if (now < m_nextRow)
    {
        return;
    }
    Recorder::Row row;
    row.time = now;
    row.flow = m_flow;
    row.cc = m_algorithm->GetLibraryName();
    if (m_lastRow < now)
    {
        row.goodput_bps =
            static_cast<double>(m_acked - m_lastAcked) * 8 / (now - m_lastRow).GetSeconds();
    }
    row.cwnd = status.cwnd;
    // As long as ssthresh is not set, it is 2147483647.
    row.ssthresh = status.ssthresh < 2147483647 ? static_cast<int64_t>(status.ssthresh) : -1;
    row.inflight = status.in_flight;
    if (status.pacing_rate != std::numeric_limits<uint64_t>::max())
    {
        row.pacing_bps = status.pacing_rate * 8;
    }
    row.bw_bps = status.bw > 0 ? static_cast<int64_t>(status.bw * 8) : -1;
    row.minRtt_us = status.min_rtt_us > 0 ? static_cast<int64_t>(status.min_rtt_us) : -1;
    row.srtt_us = status.srtt_us / 8;
    // The library's count includes the SYN.
    row.delivered = status.delivered - 1;
    row.lost = status.lost;
    row.state = status.state;
    recorder.Write(row);
    m_lastRow = now;
    m_lastAcked = m_acked;
    m_nextRow = now + recorder.Interval();
}

void
LinuxSocket::Check(int32_t result) const
{
    if (result != BBRLAB_OK)
    {
        NS_FATAL_ERROR("bbrlab: LinuxSocket: " << bbrlab_error());
    }
}

TypeId
LinuxSocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("bbrlab::LinuxSocketFactory")
                            .SetParent<SocketFactory>()
                            .SetGroupName("Internet")
                            .AddConstructor<LinuxSocketFactory>();
    return tid;
}

LinuxSocketFactory::LinuxSocketFactory()
    : m_random(CreateObject<UniformRandomVariable>())
{
}

int64_t
LinuxSocketFactory::AssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
}

Ptr<Socket>
LinuxSocketFactory::CreateSocket()
{
    const Ptr<TcpL4Protocol> tcp = GetObject<TcpL4Protocol>();
    const Ptr<Node> node = GetObject<Node>();
    if (!tcp || !node)
    {
        NS_FATAL_ERROR("bbrlab: LinuxSocketFactory: expected to be aggregated to a node that has "
                       "an Internet stack");
    }
    TypeIdValue type;
    tcp->GetAttribute("SocketType", type);
    ObjectFactory factory;
    factory.SetTypeId(type.Get());
    const Ptr<Congestion> congestion = DynamicCast<Congestion>(factory.Create<Object>());
    if (!congestion)
    {
        NS_FATAL_ERROR("bbrlab: LinuxSocketFactory: expected an algorithm of bbrlab as SocketType, "
                       "such as bbrlab::Bbr3, found "
                       << type.Get().GetName());
    }
    const Ptr<LinuxSocket> socket = CreateObject<LinuxSocket>();
    socket->SetNode(node);
    socket->SetTcp(tcp);
    socket->SetRtt(CreateObject<RttMeanDeviation>());
    // bbrlab's sender does not use these two objects, but ns-3 and an accepted socket need them.
    socket->SetCongestionControlAlgorithm(CreateObject<TcpLinuxReno>());
    socket->SetRecoveryAlgorithm(CreateObject<TcpPrrRecovery>());
    const uint64_t high = m_random->GetInteger(0, UINT32_MAX);
    socket->SetAlgorithm(congestion, high << 32 | m_random->GetInteger(0, UINT32_MAX));
    tcp->AddSocket(socket);
    return socket;
}

} // namespace bbrlab
