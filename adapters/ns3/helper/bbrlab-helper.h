// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef BBRLAB_HELPER_H
#define BBRLAB_HELPER_H

#include "ns3/node-container.h"
#include "ns3/nstime.h"

#include <string>
#include <vector>

namespace bbrlab
{

/// Selects an algorithm for new sockets, and records their values.
class Helper
{
  public:
    /// The TypeIds of all algorithms: `bbrlab::Bbr1`, `bbrlab::Cubic`, ...
    static std::vector<std::string> TypeNames();

    /// Uses the algorithm in sockets of nodes that get their Internet stack after this call.
    static void UseByDefault(const std::string& typeName);

    /// Uses the algorithm in new sockets of these nodes, which have an Internet stack.
    static void Use(const std::string& typeName, const ns3::NodeContainer& nodes);

    /// Lets applications on these nodes use bbrlab's whole sender: their protocol is then
    /// `bbrlab::LinuxSocketFactory`.
    static void InstallLinuxSender(const ns3::NodeContainer& nodes);

    /// Gives fixed random streams to the sockets that these nodes have now, and to their factories
    /// of whole senders, from `stream` on. Returns how many.
    static int64_t AssignStreams(const ns3::NodeContainer& nodes, int64_t stream);

    /// Writes the values of connections that begin after this call to a file for `bbrlab import`.
    static void Record(const std::string& file, ns3::Time interval = ns3::MilliSeconds(10));
};

} // namespace bbrlab

#endif // BBRLAB_HELPER_H
