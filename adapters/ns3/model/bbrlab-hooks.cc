// SPDX-License-Identifier: MIT OR Apache-2.0
// The hooks of ns-3's congestion control: states of recovery, ssthresh, and DCTCP's receiver.
#include "bbrlab-congestion.h"

#include "ns3/simulator.h"
#include "ns3/tcp-header.h"

#include <algorithm>
#include <limits>

namespace bbrlab
{

using namespace ns3;

void
Congestion::TimeOut(bool isReducing)
{
    CloseAck();
    m_scoreboard.MarkAll(m_lost);
    ReportLost();
    Event(BBRLAB_EVENT_TIMEOUT, isReducing ? 1 : 0);
    Check(bbrlab_cc_answer(m_cc, &m_answer));
}

uint32_t
Congestion::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight)
{
    if (!m_cc)
    {
        return tcb->m_ssThresh;
    }
    // An ACK of an earlier time may still be open: some ACKs of a recovery are closed only at the
    // next event.
    const bool isInAck = m_ack.stage != Ack::NONE && m_ack.at == Simulator::Now();
    if (tcb->m_congState != TcpSocketState::CA_RECOVERY || !isInAck)
    {
        // The cause is a mark or a timeout; ns-3 announces either only after this call. A timeout
        // has just marked everything lost, so the bytes in flight have changed.
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
            // ns-3 reduces ssthresh at each timeout; Linux does not reduce it at a timeout during a
            // recovery.
            TimeOut(true);
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
            TimeOut(false);
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
    // ns-3 announces all changes of the state to the congestion control, except the change from CWR
    // to OPEN.
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
        CloseAck(true);
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
        // The data that arrived before the change is acknowledged with the old mark.
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
