// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bbrlab-stream-store.h"

#include <algorithm>

namespace bbrlab
{

using namespace ns3;

void
StreamStore::Add(Ptr<const Packet> packet)
{
    if (packet->GetSize() > 0)
    {
        m_packets.emplace(m_end, packet);
        m_end += packet->GetSize();
    }
}

void
StreamStore::Forget(uint64_t offset)
{
    while (!m_packets.empty() &&
           m_packets.begin()->first + m_packets.begin()->second->GetSize() <= offset)
    {
        m_packets.erase(m_packets.begin());
    }
}

Ptr<Packet>
StreamStore::Copy(uint64_t offset, uint32_t size) const
{
    const Ptr<Packet> copy = Create<Packet>();
    auto from = m_packets.upper_bound(offset);
    if (from == m_packets.begin())
    {
        return copy;
    }
    for (--from; from != m_packets.end() && copy->GetSize() < size; ++from)
    {
        const uint64_t skipped = offset + copy->GetSize() - from->first;
        const uint64_t length = from->second->GetSize();
        if (skipped >= length)
        {
            break;
        }
        const uint64_t wanted = size - copy->GetSize();
        copy->AddAtEnd(from->second->CreateFragment(skipped, std::min(length - skipped, wanted)));
    }
    return copy;
}

} // namespace bbrlab
