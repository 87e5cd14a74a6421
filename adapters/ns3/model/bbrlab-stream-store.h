// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef BBRLAB_STREAM_STORE_H
#define BBRLAB_STREAM_STORE_H

#include "ns3/packet.h"

#include <cstdint>
#include <map>

namespace bbrlab
{

/// The bytes that an application has written and the peer has not yet acknowledged. ns-3's
/// TcpTxBuffer also keeps a scoreboard, which a sender with its own scoreboard does not need.
class StreamStore
{
  public:
    /// Appends a packet of the application.
    void Add(ns3::Ptr<const ns3::Packet> packet);

    /// Removes all bytes before `offset`, except those that are in one packet with later bytes.
    void Forget(uint64_t offset);

    /// Returns `size` bytes from `offset` on; fewer if the store contains fewer.
    ns3::Ptr<ns3::Packet> Copy(uint64_t offset, uint32_t size) const;

    /// The number of bytes that have been added since the start.
    uint64_t End() const
    {
        return m_end;
    }

  private:
    std::map<uint64_t, ns3::Ptr<const ns3::Packet>> m_packets; ///< By the offset of their first byte.
    uint64_t m_end{0};
};

} // namespace bbrlab

#endif // BBRLAB_STREAM_STORE_H
