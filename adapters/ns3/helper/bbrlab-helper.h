// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef BBRLAB_HELPER_H
#define BBRLAB_HELPER_H

#include "ns3/node-container.h"
#include "ns3/nstime.h"

#include <string>
#include <vector>

namespace bbrlab
{

/// Selects an algorithm for new sockets, and records the values of connections.
class Helper
{
  public:
    /// The TypeIds of all algorithms: `bbrlab::Bbr1`, `bbrlab::Cubic`, ...
    static std::vector<std::string> TypeNames();

    /// Uses the algorithm in sockets of nodes that get their Internet stack after this call.
    static void UseByDefault(const std::string& typeName);

    /// Uses the algorithm in new sockets of these nodes, which must have an Internet stack.
    static void Use(const std::string& typeName, const ns3::NodeContainer& nodes);

    /// Lets applications on these nodes use bbrlab's whole sender, if their protocol is
    /// `bbrlab::LinuxSocketFactory`.
    static void InstallLinuxSender(const ns3::NodeContainer& nodes);

    /// Gives fixed random streams, from `stream` on, to the sockets that these nodes have now, and
    /// to the nodes' factories of whole senders. Returns the number of streams that were assigned.
    static int64_t AssignStreams(const ns3::NodeContainer& nodes, int64_t stream);

    /// Writes the values of connections that begin after this call to a file, which `bbrlab import`
    /// reads.
    static void Record(const std::string& file, ns3::Time interval = ns3::MilliSeconds(10));
};

} // namespace bbrlab

#endif // BBRLAB_HELPER_H
