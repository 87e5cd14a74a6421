// SPDX-License-Identifier: MIT OR Apache-2.0
// The events of a connection, from the hooks of ns-3's congestion control and from the socket's
// traces, in the order in which Linux reports them.
//
// An ACK arrives at the trace `Rx`. ns-3 then updates its scoreboard, changes its state and calls
// hooks. The first of them opens the ACK: what it delivered and what is lost is reported. The last,
// CongControl or IncreaseWindow, closes it. Some duplicate ACKs call neither; the next event closes
// these.
#include "bbrlab-congestion.h"
#include "bbrlab-types.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-option-sack.h"

#include <algorithm>
#include <limits>

namespace bbrlab
{

using namespace ns3;

uint32_t
Congestion::Packets(uint32_t bytes) const
{
    const uint32_t mss = m_tcb->m_segmentSize;
    return bytes / mss + (bytes % mss > 0 ? 1 : 0);
}

bbrlab_socket
Congestion::Socket() const
{
    const SequenceNumber32 next = m_tcb->m_highTxMark;
    const SequenceNumber32 una = m_buffer->HeadSequence();
    bbrlab_socket socket{};
    socket.size = sizeof socket;
    socket.inflight = Packets(m_buffer->BytesInFlight());
    socket.now_ns = Simulator::Now().GetNanoSeconds();
    socket.departure_ns = m_departure.GetNanoSeconds();
    socket.packets_out = next > una ? Packets(next - una) : 0;
    socket.snd_una = una.GetValue();
    socket.snd_nxt = next.GetValue();
    socket.srtt_us = m_srtt_us;
    socket.min_rtt_us = m_minRtt_us;
    socket.rcv_nxt = m_tcb->m_rxBuffer->NextRxSequence().GetValue();
    return socket;
}

void
Congestion::OnSyn()
{
    m_synSent = Simulator::Now();
    ++m_syns;
}

void
Congestion::OnRx(const TcpHeader& header)
{
    const uint8_t flags = header.GetFlags();
    if (flags & TcpHeader::SYN)
    {
        // A repeated SYN gives no RTT.
        if ((flags & TcpHeader::ACK) && m_syns == 1)
        {
            m_handshakeRtt = Simulator::Now() - m_synSent;
        }
        return;
    }
    if (!(flags & TcpHeader::ACK) || !m_cc)
    {
        return;
    }
    CloseAck();
    m_ack.stage = Ack::ARRIVED;
    m_ack.at = Simulator::Now();
    m_ack.number = header.GetAckNumber();
    m_ack.hasEce = flags & TcpHeader::ECE;
    m_ack.priorInFlight = Packets(m_buffer->BytesInFlight());
    m_ack.blocks.clear();
    const auto sack = DynamicCast<const TcpOptionSack>(header.GetOption(TcpOption::SACK));
    if (sack && m_buffer->IsSackEnabled())
    {
        const auto blocks = sack->GetSackList();
        m_ack.blocks.assign(blocks.begin(), blocks.end());
    }
}

void
Congestion::OnTx(SequenceNumber32 seq, uint32_t size)
{
    Begin();
    CloseAck();
    const bool isRetransmission = seq < m_tcb->m_highTxMark.Get();
    // ns-3 counts the segment already.
    const uint32_t inFlight = m_buffer->BytesInFlight();
    bbrlab_socket socket = Socket();
    socket.inflight = Packets(inFlight - std::min(inFlight, size));
    socket.departure_ns = 0;
    if (m_isDry && !isRetransmission)
    {
        Check(bbrlab_cc_event(m_cc, &socket, BBRLAB_EVENT_APP_LIMITED, 0));
    }
    bbrlab_packet packet{};
    packet.size = sizeof packet;
    packet.segments = 1;
    packet.seq = seq.GetValue();
    packet.end_seq = (seq + size).GetValue();
    packet.flags = isRetransmission ? BBRLAB_PACKET_RETRANSMISSION : 0;
    Segment& segment = m_scoreboard.Send(seq, size);
    Check(bbrlab_cc_sent(m_cc, &socket, &packet, &segment.note));
    segment.sent = Simulator::Now();
    segment.isRetransmitted = isRetransmission;
    segment.wasRetransmitted |= isRetransmission;
    segment.wasAlone = socket.inflight == 0;
    if (socket.inflight == 0)
    {
        // After an idle time, the algorithm may change its pacing rate.
        Apply();
    }
    // The socket has started its pacing timer with the rate before this event, and counts the
    // segment in its sequence numbers after it.
    if (m_tcb->m_pacing)
    {
        m_departure = Simulator::Now() + m_tcb->m_pacingRate.Get().CalculateBytesTxTime(size);
    }
    socket.inflight = Packets(inFlight);
    socket.packets_out = Packets(std::max(seq + size, m_tcb->m_highTxMark.Get()) -
                                 m_buffer->HeadSequence());
    socket.snd_nxt = std::max(seq + size, m_tcb->m_highTxMark.Get()).GetValue();
    const uint32_t isLimited = socket.inflight >= m_answer.cwnd ? 1 : 0;
    Check(bbrlab_cc_event(m_cc, &socket, BBRLAB_EVENT_WINDOW_USED, isLimited));
    m_isDry = !isLimited && m_buffer->SizeFromSequence(seq + size) < m_tcb->m_segmentSize &&
              !m_scoreboard.HasUnrepaired();
}

bool
Congestion::IsDry() const
{
    return m_buffer->SizeFromSequence(m_tcb->m_highTxMark) < m_tcb->m_segmentSize &&
           Packets(m_buffer->BytesInFlight()) < m_answer.cwnd && !m_scoreboard.HasUnrepaired();
}

void
Congestion::MeasureRtt(int64_t& rtt_us, bool& isDelayed)
{
    const Time now = Simulator::Now();
    const auto since = [&](const Segment& segment) {
        return std::max<int64_t>(1, (now - segment.sent).GetMicroSeconds());
    };
    int64_t seqRtt = -1;
    int64_t sackRtt = -1;
    bool hasRetransmitted = false;
    uint32_t fresh = 0;
    for (const Segment& segment : m_delivered.acked)
    {
        hasRetransmitted |= segment.wasRetransmitted;
        if (!segment.wasRetransmitted)
        {
            seqRtt = fresh == 0 ? since(segment) : seqRtt;
            rtt_us = since(segment);
            ++fresh;
        }
    }
    if (hasRetransmitted)
    {
        seqRtt = -1;
        rtt_us = -1;
    }
    for (const Segment& segment : m_delivered.sacked)
    {
        if (!segment.wasRetransmitted)
        {
            sackRtt = sackRtt < 0 ? since(segment) : sackRtt;
            rtt_us = since(segment);
        }
    }
    isDelayed = fresh == 1 && m_delivered.passed == 1 && !m_delivered.hadSacked &&
                m_delivered.acked[0].wasAlone &&
                m_delivered.acked[0].size < m_tcb->m_segmentSize;
    const int64_t sample = seqRtt < 0 ? sackRtt : seqRtt;
    if (sample < 0)
    {
        return;
    }
    m_minRtt_us = m_minRtt_us == 0 ? rtt_us : std::min<int64_t>(m_minRtt_us, rtt_us);
    m_srtt_us = m_srtt_us == 0 ? sample * 8 : m_srtt_us + sample - (m_srtt_us >> 3);
}

void
Congestion::OpenAck()
{
    if (m_ack.stage != Ack::ARRIVED)
    {
        return;
    }
    m_ack.stage = Ack::OPEN;
    m_delivered.sacked.clear();
    m_delivered.acked.clear();
    m_delivered.passed = 0;
    m_scoreboard.Acknowledge(m_buffer->HeadSequence(), m_ack.blocks, m_delivered);
    const uint32_t count = m_delivered.sacked.size() + m_delivered.acked.size();
    const bool isEce = m_ack.hasEce && m_tcb->m_ecnState != TcpSocketState::ECN_DISABLED;
    bbrlab_socket socket = Socket();
    socket.inflight = m_ack.priorInFlight;
    bbrlab_ack ack{};
    ack.size = sizeof ack;
    ack.flags = isEce ? BBRLAB_ACK_ECE | BBRLAB_ACK_SLOWPATH : 0;
    ack.flags |= m_ack.blocks.empty() ? BBRLAB_ACK_WIN_UPDATE : BBRLAB_ACK_SLOWPATH;
    ack.rtt_us = -1;
    bool isDelayed = false;
    MeasureRtt(ack.rtt_us, isDelayed);
    ack.ack_seq = m_ack.number.GetValue();
    ack.prior_in_flight = m_ack.priorInFlight;
    ack.pkts_acked = m_delivered.passed;
    ack.ce_count = isEce ? count : 0;
    ack.is_delayed = isDelayed ? 1 : 0;
    Check(bbrlab_cc_ack_begin(m_cc, &socket, &ack));
    for (const auto& segments : {&m_delivered.sacked, &m_delivered.acked})
    {
        for (const Segment& segment : *segments)
        {
            Check(bbrlab_cc_acked(m_cc, &segment.note));
        }
    }
    m_scoreboard.MarkBySacks(m_threshold, m_lost);
    ReportLost();
}

void
Congestion::ReportLost()
{
    if (m_lost.empty())
    {
        return;
    }
    const bbrlab_socket socket = Socket();
    for (const bbrlab_note& note : m_lost)
    {
        Check(bbrlab_cc_lost(m_cc, &socket, &note));
    }
    m_lost.clear();
}

void
Congestion::CloseAck()
{
    OpenAck();
    if (m_ack.stage != Ack::OPEN)
    {
        return;
    }
    m_ack.stage = Ack::NONE;
    const bool isReducing = m_tcb->m_congState == TcpSocketState::CA_RECOVERY ||
                            m_tcb->m_congState == TcpSocketState::CA_CWR;
    if (isReducing && !HasCongControl())
    {
        // ns-3's recovery has set cwnd, and goes on to do so.
        Check(bbrlab_cc_set_cwnd(m_cc, std::max(1U, m_tcb->GetCwndInSegments())));
    }
    const bbrlab_socket socket = Socket();
    Check(bbrlab_cc_ack_end(m_cc, &socket, nullptr));
    Apply();
    m_isDry = IsDry();
    if (m_isRecorded)
    {
        Record();
    }
}

void
Congestion::Apply()
{
    Check(bbrlab_cc_answer(m_cc, &m_answer));
    const uint32_t mss = m_tcb->m_segmentSize;
    const uint32_t clamp = std::numeric_limits<uint32_t>::max() / mss;
    const bool isReducing = m_tcb->m_congState == TcpSocketState::CA_RECOVERY ||
                            m_tcb->m_congState == TcpSocketState::CA_CWR;
    if (HasCongControl())
    {
        m_tcb->m_cWnd = std::min(m_answer.cwnd, clamp) * mss;
        m_tcb->m_cWndInfl = m_tcb->m_cWnd.Get();
        // At the end of a recovery, the socket sets cwnd to this.
        m_tcb->m_ssThresh = m_tcb->m_cWnd.Get();
    }
    else if (!isReducing)
    {
        m_tcb->m_cWnd = std::min(m_answer.cwnd, clamp) * mss;
        m_tcb->m_ssThresh = m_answer.ssthresh > clamp ? std::numeric_limits<uint32_t>::max()
                                                      : m_answer.ssthresh * mss;
    }
    if (m_answer.is_paced)
    {
        const uint64_t most = m_tcb->m_maxPacingRate.GetBitRate();
        const uint64_t rate = std::min(m_answer.pacing_rate, most / 8) * 8;
        m_tcb->m_pacing = true;
        m_tcb->m_pacingRate = DataRate(std::max<uint64_t>(rate, 8));
    }
    if (m_state != m_answer.state)
    {
        const std::string before = m_state;
        m_state = m_answer.state;
        m_stateTrace(before, m_state);
    }
}

void
Congestion::Event(uint32_t event, uint32_t value)
{
    const bbrlab_socket socket = Socket();
    Check(bbrlab_cc_event(m_cc, &socket, event, value));
}

void
Congestion::TimeOut()
{
    CloseAck();
    m_scoreboard.MarkAll(m_lost);
    ReportLost();
    Event(BBRLAB_EVENT_TIMEOUT);
    Check(bbrlab_cc_answer(m_cc, &m_answer));
}

uint32_t
Congestion::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight)
{
    if (!m_cc)
    {
        return tcb->m_ssThresh;
    }
    if (tcb->m_congState != TcpSocketState::CA_RECOVERY || m_ack.stage == Ack::NONE)
    {
        // Marks or a timeout, which ns-3 announces after this call. A timeout has just marked
        // everything lost.
        const bool isInAck = m_ack.stage != Ack::NONE && m_ack.at == Simulator::Now();
        const bool isMarks = isInAck && m_ack.hasEce &&
                             tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD &&
                             m_buffer->BytesInFlight() == bytesInFlight;
        if (isMarks)
        {
            OpenAck();
            Event(BBRLAB_EVENT_CWR_ENTERED);
        }
        else
        {
            TimeOut();
            m_isTimedOut = true;
        }
    }
    Check(bbrlab_cc_answer(m_cc, &m_answer));
    if (HasCongControl())
    {
        return tcb->m_cWnd;
    }
    const uint32_t mss = tcb->m_segmentSize;
    return std::min(m_answer.ssthresh, std::numeric_limits<uint32_t>::max() / mss) * mss;
}

void
Congestion::CongestionStateSet(Ptr<TcpSocketState> tcb,
                               const TcpSocketState::TcpCongState_t newState)
{
    if (!m_cc)
    {
        // The connection is established. The library's control is made with the first data,
        // because ns-3 negotiates ECN after this call.
        m_established = Simulator::Now();
        FindSocket();
        return;
    }
    switch (newState)
    {
    case TcpSocketState::CA_DISORDER:
        OpenAck();
        Event(BBRLAB_EVENT_DISORDER_ENTERED);
        break;
    case TcpSocketState::CA_RECOVERY:
        OpenAck();
        m_scoreboard.MarkHead(m_lost);
        ReportLost();
        Event(BBRLAB_EVENT_RECOVERY_ENTERED);
        break;
    case TcpSocketState::CA_LOSS:
        if (!m_isTimedOut)
        {
            TimeOut();
        }
        m_isTimedOut = false;
        break;
    case TcpSocketState::CA_OPEN:
        OpenAck();
        Event(BBRLAB_EVENT_LEFT);
        break;
    default:
        break;
    }
}

void
Congestion::OnCongState(TcpSocketState::TcpCongState_t from, TcpSocketState::TcpCongState_t to)
{
    // ns-3 announces all changes but this one to the congestion control.
    if (m_cc && from == TcpSocketState::CA_CWR && to == TcpSocketState::CA_OPEN)
    {
        OpenAck();
        Event(BBRLAB_EVENT_LEFT);
    }
}

void
Congestion::PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked, const Time& rtt)
{
    OpenAck();
}

void
Congestion::IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked)
{
    if (!HasCongControl())
    {
        CloseAck();
    }
}

void
Congestion::CongControl(Ptr<TcpSocketState> tcb,
                        const TcpRateOps::TcpRateConnection& rc,
                        const TcpRateOps::TcpRateSample& rs)
{
    CloseAck();
}

void
Congestion::CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event)
{
    if (tcb->m_ecnMode != TcpSocketState::DctcpEcn)
    {
        return;
    }
    switch (event)
    {
    case TcpSocketState::CA_EVENT_ECN_IS_CE:
        EchoChange(true);
        tcb->m_ecnState = TcpSocketState::ECN_CE_RCVD;
        break;
    case TcpSocketState::CA_EVENT_ECN_NO_CE:
        EchoChange(false);
        if (tcb->m_ecnState == TcpSocketState::ECN_CE_RCVD ||
            tcb->m_ecnState == TcpSocketState::ECN_SENDING_ECE)
        {
            tcb->m_ecnState = TcpSocketState::ECN_IDLE;
        }
        break;
    case TcpSocketState::CA_EVENT_DELAYED_ACK:
        m_isAckDelayed = true;
        break;
    case TcpSocketState::CA_EVENT_NON_DELAYED_ACK:
        m_isAckDelayed = false;
        break;
    default:
        break;
    }
}

void
Congestion::EchoChange(bool isMarked)
{
    const SequenceNumber32 next = m_tcb->m_rxBuffer->NextRxSequence();
    if (m_isMarked != isMarked && m_isAckDelayed && m_hasPriorNext)
    {
        // What came before is acknowledged with its own mark.
        const uint8_t flags = m_isMarked ? TcpHeader::ACK | TcpHeader::ECE : TcpHeader::ACK;
        m_tcb->m_rxBuffer->SetNextRxSequence(m_priorNext);
        m_tcb->m_sendEmptyPacketCallback(flags);
        m_tcb->m_rxBuffer->SetNextRxSequence(next);
    }
    m_hasPriorNext = true;
    m_priorNext = next;
    m_isMarked = isMarked;
}

} // namespace bbrlab
