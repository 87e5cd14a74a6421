// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bbrlab-helper.h"

#include "bbrlab-linux-socket.h"
#include "bbrlab-recorder.h"
#include "bbrlab-types.h"

#include "ns3/config.h"
#include "ns3/node.h"
#include "ns3/object-ptr-container.h"
#include "ns3/pointer.h"
#include "ns3/string.h"
#include "ns3/tcp-l4-protocol.h"

namespace bbrlab
{

using namespace ns3;

std::vector<std::string>
Helper::TypeNames()
{
    std::vector<std::string> names;
    for (const Algorithm& algorithm : Algorithms())
    {
        names.push_back(algorithm.typeName);
    }
    return names;
}

void
Helper::UseByDefault(const std::string& typeName)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(typeName));
}

void
Helper::Use(const std::string& typeName, const NodeContainer& nodes)
{
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        (*node)->GetObject<TcpL4Protocol>()->SetAttribute("SocketType", StringValue(typeName));
    }
}

void
Helper::InstallLinuxSender(const NodeContainer& nodes)
{
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        (*node)->AggregateObject(CreateObject<LinuxSocketFactory>());
    }
}

int64_t
Helper::AssignStreams(const NodeContainer& nodes, int64_t stream)
{
    int64_t next = stream;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        const auto factory = (*node)->GetObject<LinuxSocketFactory>();
        next += factory ? factory->AssignStreams(next) : 0;
        ObjectPtrContainerValue sockets;
        (*node)->GetObject<TcpL4Protocol>()->GetAttribute("SocketList", sockets);
        for (auto socket = sockets.Begin(); socket != sockets.End(); ++socket)
        {
            PointerValue ops;
            if (!socket->second->GetAttributeFailSafe("CongestionOps", ops))
            {
                continue;
            }
            const auto congestion = DynamicCast<Congestion>(ops.Get<TcpCongestionOps>());
            next += congestion ? congestion->AssignStreams(next) : 0;
        }
    }
    return next - stream;
}

void
Helper::Record(const std::string& file, Time interval)
{
    Recorder::Get().Open(file, interval);
}

} // namespace bbrlab
