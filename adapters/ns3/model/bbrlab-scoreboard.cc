// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bbrlab-scoreboard.h"

#include <algorithm>

namespace bbrlab
{

Scoreboard::Iterator
Scoreboard::Find(SequenceNumber32 seq)
{
    return std::lower_bound(
        m_segments.begin(),
        m_segments.end(),
        seq,
        [](const Segment& segment, SequenceNumber32 at) { return segment.End() <= at; });
}

void
Scoreboard::SplitAt(SequenceNumber32 seq)
{
    Iterator it = Find(seq);
    if (it == m_segments.end() || it->seq >= seq)
    {
        return;
    }
    Segment upper = *it;
    it->size = seq - it->seq;
    upper.seq = seq;
    upper.size -= it->size;
    m_sacked += upper.isSacked ? 1 : 0;
    m_segments.insert(it + 1, upper);
}

Segment&
Scoreboard::Send(SequenceNumber32 seq, uint32_t size)
{
    if (m_segments.empty() || seq >= m_segments.back().End())
    {
        m_segments.emplace_back();
        m_segments.back().seq = seq;
        m_segments.back().size = size;
        return m_segments.back();
    }
    SplitAt(seq);
    SplitAt(seq + size);
    Iterator first = Find(seq);
    Iterator end = first + 1;
    while (end != m_segments.end() && end->seq < seq + size)
    {
        first->isLost |= end->isLost;
        m_sacked -= end->isSacked ? 1 : 0;
        ++end;
    }
    first->seq = seq;
    first->size = size;
    m_segments.erase(first + 1, end);
    return *Find(seq);
}

void
Scoreboard::Acknowledge(SequenceNumber32 una, const Blocks& blocks, Delivered& delivered)
{
    delivered.hadSacked = m_sacked > 0;
    for (const auto& block : blocks)
    {
        for (Iterator it = Find(block.first); it != m_segments.end() && it->End() <= block.second;
             ++it)
        {
            if (!it->isSacked && it->seq >= block.first && it->seq >= una)
            {
                it->isSacked = true;
                ++m_sacked;
                m_hasNewSacks = true;
                delivered.sacked.push_back(*it);
            }
        }
    }
    // ns-3 counts a segment as delivered once all of it is acknowledged.
    while (!m_segments.empty() && m_segments.front().End() <= una)
    {
        const Segment& segment = m_segments.front();
        ++delivered.passed;
        if (segment.isSacked)
        {
            --m_sacked;
        }
        else
        {
            delivered.acked.push_back(segment);
        }
        m_segments.pop_front();
    }
    if (!m_segments.empty() && m_segments.front().seq < una)
    {
        Segment& segment = m_segments.front();
        segment.size = segment.End() - una;
        segment.seq = una;
    }
}

void
Scoreboard::MarkBySacks(uint32_t threshold, std::vector<bbrlab_note>& lost)
{
    if (!m_hasNewSacks)
    {
        return;
    }
    m_hasNewSacks = false;
    uint32_t above = 0;
    for (auto it = m_segments.rbegin(); it != m_segments.rend(); ++it)
    {
        if (it->isSacked)
        {
            ++above;
        }
        else if (above >= threshold && !it->isLost)
        {
            it->isLost = true;
            it->isRetransmitted = false;
            lost.push_back(it->note);
        }
    }
}

void
Scoreboard::MarkHead(std::vector<bbrlab_note>& lost)
{
    if (!m_segments.empty() && !m_segments.front().isSacked && !m_segments.front().isLost)
    {
        m_segments.front().isLost = true;
        m_segments.front().isRetransmitted = false;
        lost.push_back(m_segments.front().note);
    }
}

void
Scoreboard::MarkAll(std::vector<bbrlab_note>& lost)
{
    for (Segment& segment : m_segments)
    {
        if (!segment.isSacked && (!segment.isLost || segment.isRetransmitted))
        {
            segment.isLost = true;
            segment.isRetransmitted = false;
            lost.push_back(segment.note);
        }
    }
}

uint32_t
Scoreboard::LostBytes() const
{
    uint32_t bytes = 0;
    for (const Segment& segment : m_segments)
    {
        bytes += segment.isLost && !segment.isSacked ? segment.size : 0;
    }
    return bytes;
}

bool
Scoreboard::HasUnrepaired() const
{
    return std::any_of(m_segments.begin(), m_segments.end(), [](const Segment& segment) {
        return segment.isLost && !segment.isSacked && !segment.isRetransmitted;
    });
}

} // namespace bbrlab
