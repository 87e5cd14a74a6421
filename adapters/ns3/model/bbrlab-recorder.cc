// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bbrlab-recorder.h"

#include "ns3/fatal-error.h"

#include <cstdlib>

namespace bbrlab
{

using namespace ns3;

Recorder&
Recorder::Get()
{
    static Recorder recorder;
    return recorder;
}

Recorder::Recorder()
{
    const char* file = std::getenv("BBRLAB_NS3_CSV");
    if (file && *file)
    {
        Open(file, MilliSeconds(10));
    }
}

void
Recorder::Open(const std::string& file, Time interval)
{
    m_file.close();
    m_file.open(file);
    if (!m_file)
    {
        NS_FATAL_ERROR("bbrlab: " << file << ": expected a file that can be written");
    }
    m_interval = interval;
    m_flows = 0;
    m_file << "time_s,flow,cc,goodput_bps,cwnd_packets,ssthresh_packets,inflight_packets,"
              "pacing_rate_bps,bw_bps,min_rtt_us,srtt_us,delivered_packets,lost_packets,state\n";
}

bool
Recorder::IsOpen() const
{
    return m_file.is_open();
}

Time
Recorder::Interval() const
{
    return m_interval;
}

uint32_t
Recorder::AddFlow()
{
    return m_flows++;
}

void
Recorder::Write(const Row& row)
{
    m_file << row.time.GetNanoSeconds() / 1000000000 << '.';
    const std::string fraction = std::to_string(row.time.GetNanoSeconds() % 1000000000);
    m_file << std::string(9 - fraction.size(), '0') << fraction << ',' << row.flow << ',' << row.cc;
    for (int64_t value : {row.goodput_bps,
                          row.cwnd,
                          row.ssthresh,
                          row.inflight,
                          row.pacing_bps,
                          row.bw_bps,
                          row.minRtt_us,
                          row.srtt_us,
                          row.delivered,
                          row.lost})
    {
        m_file << ',';
        if (value >= 0)
        {
            m_file << value;
        }
    }
    m_file << ',' << row.state << '\n';
}

} // namespace bbrlab
