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

    /// The sequence number of the byte after the last one.
    SequenceNumber32 End() const
    {
        return seq + size;
    }
};

/// The packets that an ACK delivered for the first time, in the order in which Linux processes
/// them.
struct Delivered
{
    std::vector<Segment> sacked; ///< The segments that a SACK block covers for the first time.
    std::vector<Segment> acked;  ///< Those acknowledged cumulatively that had not been SACKed.
    uint32_t passed{0};          ///< The number acknowledged cumulatively, SACKed or not.
    bool hadSacked{false};       ///< Whether there were SACKed segments before this ACK.
};

/// The segments in flight, each with the library's note.
///
/// ns-3 does not report which segments it marks lost, so this class repeats ns-3's rule. A segment
/// is lost if as many SACKed segments are above it as duplicate ACKs start a recovery, or more.
/// When a recovery begins, the first segment is lost. At a timeout, all segments that are not
/// SACKed are lost.
class Scoreboard
{
  public:
    typedef std::vector<std::pair<SequenceNumber32, SequenceNumber32>> Blocks;

    /// Returns the segment that is being sent or sent again, with the boundaries that ns-3 gives it
    /// now.
    Segment& Send(SequenceNumber32 seq, uint32_t size);

    /// Removes the segments below `una`, and marks the segments that `blocks` cover as SACKed. Adds
    /// the newly delivered segments to `delivered`.
    void Acknowledge(SequenceNumber32 una, const Blocks& blocks, Delivered& delivered);

    /// Marks segments as lost if at least `threshold` segments above them are SACKed. Appends the
    /// notes of the newly marked segments to `lost`.
    void MarkBySacks(uint32_t threshold, std::vector<bbrlab_note>& lost);

    /// Marks the first segment as lost. Appends its note to `lost` if the segment was not marked
    /// before.
    void MarkHead(std::vector<bbrlab_note>& lost);

    /// Marks all segments as lost that are not SACKed. Appends the notes of the newly marked
    /// segments to `lost`; a segment that was retransmitted since it was marked counts as new.
    void MarkAll(std::vector<bbrlab_note>& lost);

    /// The number of bytes in segments that are marked lost and not SACKed.
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

    /// Cuts the segment that contains the byte `seq`, so that a segment begins at `seq`.
    void SplitAt(SequenceNumber32 seq);

    std::deque<Segment> m_segments; ///< In the order of sequence numbers, without gaps.
    uint32_t m_sacked{0};           ///< The number of SACKed segments.
    bool m_hasNewSacks{false};      ///< Whether segments were SACKed since the last MarkBySacks.
};

} // namespace bbrlab

#endif // BBRLAB_SCOREBOARD_H
