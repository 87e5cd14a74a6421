// SPDX-License-Identifier: MIT OR Apache-2.0
// Reports the events of a connection from the socket's traces, in the order in which Linux reports
// them.
//
// The trace `Rx` reports that an ACK arrived. ns-3 then updates its scoreboard, changes its state
// and calls the hooks of the congestion control. The first hook opens the ACK: the delivered and
// the lost packets are reported. The last hook, CongControl or IncreaseWindow, closes the ACK.
// After some duplicate ACKs, ns-3 calls neither of these two; such an ACK is closed at the next
// event.
#include "bbrlab-congestion.h"

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

uint32_t
Congestion::InFlight() const
{
    const uint32_t bytes = m_buffer->BytesInFlight();
    return Packets(bytes - std::min(bytes, m_sending));
}

bbrlab_socket
Congestion::Socket() const
{
    const SequenceNumber32 next = m_tcb->m_highTxMark;
    const SequenceNumber32 una = m_buffer->HeadSequence();
    bbrlab_socket socket{};
    socket.size = sizeof socket;
    socket.inflight = InFlight();
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
        // If the SYN was sent more than once, the SYN-ACK gives no RTT.
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
    m_ack.priorInFlight = InFlight();
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
    // During a recovery, ns-3 retransmits while it processes an ACK. In Linux, the algorithm gets
    // the ACK before the retransmission, so the ACK is closed here.
    m_sending = size;
    CloseAck();
    const bool isRetransmission = seq < m_tcb->m_highTxMark.Get();
    bbrlab_socket socket = Socket();
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
        // At the first packet after an idle time, the algorithm may have changed its pacing rate.
        Apply();
    }
    m_sending = 0;
    // The socket has started its pacing timer with the rate before this event, and counts the
    // segment in its sequence numbers after it.
    if (m_tcb->m_pacing)
    {
        m_departure = Simulator::Now() + m_tcb->m_pacingRate.Get().CalculateBytesTxTime(size);
    }
    socket.inflight = InFlight();
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
           InFlight() < m_answer.cwnd && !m_scoreboard.HasUnrepaired();
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
Congestion::CloseAck(bool mayGrow)
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
        // During a recovery and in CWR, ns-3 itself sets cwnd, so the library gets ns-3's cwnd.
        Check(bbrlab_cc_set_cwnd(m_cc, std::max(1U, m_tcb->GetCwndInSegments())));
    }
    if (!mayGrow && !HasCongControl())
    {
        // ns-3 does not raise cwnd at this ACK, so the library must not do so either. For example,
        // Linux raises cwnd in the state Disorder, but ns-3 does not.
        Event(BBRLAB_EVENT_HOLD);
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
        // At the end of a recovery, the socket sets cwnd to ssthresh.
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

} // namespace bbrlab
