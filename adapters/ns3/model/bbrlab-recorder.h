// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef BBRLAB_RECORDER_H
#define BBRLAB_RECORDER_H

#include "ns3/nstime.h"

#include <cstdint>
#include <fstream>
#include <string>

namespace bbrlab
{

/// Writes the values of all connections with a congestion control of bbrlab to a CSV file, which
/// `bbrlab import` reads. The recorder schedules no events of its own: rows are written during the
/// events of connections.
class Recorder
{
  public:
    /// One row; a negative number means that the value is absent.
    struct Row
    {
        ns3::Time time;
        uint32_t flow{0};
        std::string cc;
        int64_t goodput_bps{-1};
        int64_t cwnd{-1};
        int64_t ssthresh{-1};
        int64_t inflight{-1};
        int64_t pacing_bps{-1};
        int64_t bw_bps{-1};
        int64_t minRtt_us{-1};
        int64_t srtt_us{-1};
        int64_t delivered{-1};
        int64_t lost{-1};
        std::string state;
    };

    /// The recorder of the program. It writes nothing before a call of Open. If the environment
    /// variable BBRLAB_NS3_CSV names a file, the first connection opens this file.
    static Recorder& Get();

    /// Begins a file. A flow gets at most one row per `interval`.
    void Open(const std::string& file, ns3::Time interval);

    /// Whether a file is open.
    bool IsOpen() const;

    ns3::Time Interval() const;

    /// Returns the number of a new flow.
    uint32_t AddFlow();

    void Write(const Row& row);

  private:
    Recorder();

    std::ofstream m_file;
    ns3::Time m_interval;
    uint32_t m_flows{0};
};

} // namespace bbrlab

#endif // BBRLAB_RECORDER_H
