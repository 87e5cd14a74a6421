// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef BBRLAB_SCOREBOARD_H
#define BBRLAB_SCOREBOARD_H

#include "bbrlab.h"

#include "ns3/nstime.h"
#include "ns3/sequence-number.h"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace bbrlab
{

using ns3::SequenceNumber32;

/// A segment that was sent and is not acknowledged cumulatively.
struct Segment
{
    SequenceNumber32 seq;         ///< First byte.
    uint32_t size{0};             ///< Payload in bytes.
    bbrlab_note note{};           ///< The library's note of the last transmission.
    ns3::Time sent;               ///< Time of the last transmission.
    bool isSacked{false};         ///< Whether a SACK block covered it.
    bool isLost{false};           ///< Whether it was marked lost; a retransmission changes nothing.
    bool isRetransmitted{false};  ///< Whether it was retransmitted since it was marked lost.
    bool wasRetransmitted{false}; ///< Whether it was ever retransmitted: it gives no RTT sample.
    bool wasAlone{false};         ///< Whether nothing else was in flight when it was sent.

    /// One past the last byte.
    SequenceNumber32 End() const
    {
        return seq + size;
    }
};

/// What an ACK delivered for the first time, in the order in which Linux goes through it.
struct Delivered
{
    std::vector<Segment> sacked; ///< By SACK.
    std::vector<Segment> acked;  ///< Cumulatively, without those that had been SACKed.
    uint32_t passed{0};          ///< Packets acknowledged cumulatively, with those.
    bool hadSacked{false};       ///< Whether there were SACKed segments before.
};

/// The segments in flight with the notes of the library.
///
/// ns-3 does not say which segment it marks lost. The rule is simple, so it is repeated here: a
/// segment is lost if at least as many SACKed segments are above it as duplicate ACKs start a
/// recovery, if it is the first one when a recovery begins, or if a timeout occurs.
class Scoreboard
{
  public:
    typedef std::vector<std::pair<SequenceNumber32, SequenceNumber32>> Blocks;

    /// Returns the segment that is being sent or sent again, as ns-3 cuts it now.
    Segment& Send(SequenceNumber32 seq, uint32_t size);

    /// Removes what is below `una` and marks what `blocks` cover.
    void Acknowledge(SequenceNumber32 una, const Blocks& blocks, Delivered& delivered);

    /// Marks segments with at least `threshold` SACKed ones above. Appends the notes of those that
    /// were not marked before.
    void MarkBySacks(uint32_t threshold, std::vector<bbrlab_note>& lost);

    /// Marks the first segment, likewise.
    void MarkHead(std::vector<bbrlab_note>& lost);

    /// Marks all segments that are not SACKed. Those whose retransmission is lost count again.
    void MarkAll(std::vector<bbrlab_note>& lost);

    /// Bytes of segments that are marked lost and not SACKed.
    uint32_t LostBytes() const;

    /// Whether a lost segment waits for its retransmission.
    bool HasUnrepaired() const;

    const std::deque<Segment>& Segments() const
    {
        return m_segments;
    }

  private:
    typedef std::deque<Segment>::iterator Iterator;

    /// Returns the first segment that ends above `seq`.
    Iterator Find(SequenceNumber32 seq);

    /// Cuts the segment with the byte `seq` inside, so that one begins there.
    void SplitAt(SequenceNumber32 seq);

    std::deque<Segment> m_segments; ///< In the order of sequence numbers, without gaps.
    uint32_t m_sacked{0};           ///< How many of them are SACKed.
    bool m_hasNewSacks{false};      ///< Whether SACKs came since the last MarkBySacks.
};

} // namespace bbrlab

#endif // BBRLAB_SCOREBOARD_H
