// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of a connection in the recorder's file.
#include "bbrlab-congestion.h"
#include "bbrlab-recorder.h"
#include "bbrlab-types.h"

#include "ns3/simulator.h"

namespace bbrlab
{

using namespace ns3;

namespace
{

/// The number of binary digits after the point in the kernel's bandwidth, which is in packets per
/// microsecond.
constexpr int BW_SCALE = 24;

} // namespace

void
Congestion::Record()
{
    Recorder& recorder = Recorder::Get();
    const Time now = Simulator::Now();
    if (now < m_nextRow)
    {
        return;
    }
    const SequenceNumber32 una = m_buffer->HeadSequence();
    const int64_t mss = m_tcb->m_segmentSize;
    Recorder::Row row;
    row.time = now;
    row.flow = m_flow;
    row.cc = m_algorithm->name;
    if (m_lastRow < now)
    {
        row.goodput_bps = static_cast<double>(una - m_lastUna) * 8 / (now - m_lastRow).GetSeconds();
    }
    row.cwnd = m_answer.cwnd;
    // As long as ssthresh is not set, it is 2147483647.
    row.ssthresh = m_answer.ssthresh < 2147483647 ? static_cast<int64_t>(m_answer.ssthresh) : -1;
    row.inflight = InFlight();
    if (m_answer.is_paced)
    {
        row.pacing_bps = m_tcb->m_pacingRate.Get().GetBitRate();
    }
    const auto info = GetInfo();
    const auto bw = info.find("bw");
    const auto minRtt = info.find("min_rtt_us");
    if (bw != info.end() && minRtt != info.end())
    {
        row.bw_bps = static_cast<double>(bw->second) * mss * 8e6 / (int64_t{1} << BW_SCALE);
        row.minRtt_us = minRtt->second;
    }
    row.srtt_us = m_srtt_us / 8;
    bbrlab_conn conn{};
    conn.size = sizeof conn;
    Check(bbrlab_cc_conn(m_cc, &conn));
    // The library's count includes the SYN.
    row.delivered = conn.delivered - 1;
    row.lost = conn.lost;
    row.state = m_state;
    recorder.Write(row);
    m_lastRow = now;
    m_lastUna = una;
    m_nextRow = now + recorder.Interval();
}

} // namespace bbrlab
