// One flow of ns-3's own TCP over a point-to-point bottleneck, or with access links over a dumbbell. Prints each data
// packet that the sender passes to IP: time in nanoseconds, first byte, payload bytes, cwnd in bytes.
//
// Usage: one-flow TYPE RATE DELAY_MS QUEUE_PACKETS SEGMENT BUFFER_BYTES SECONDS DELACK SEND_SIZE PACKETS_PRINTED
//        [ACCESS_RATE ACCESS_DELAY_MS]
//
// With bbrlab's module, TYPE can have the prefix `linux:`, as in `linux:bbrlab::Bbr3`. Then the
// sender is bbrlab's whole sender.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace ns3;

static uint32_t g_left;
static uint32_t g_cwnd;
static uint64_t g_received;

static void
OnTx(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() > 0 && g_left > 0)
    {
        --g_left;
        std::printf("%ld %u %u %u\n",
                    Simulator::Now().GetNanoSeconds(),
                    header.GetSequenceNumber().GetValue(),
                    packet->GetSize(),
                    g_cwnd);
    }
}

static void
OnCwnd(uint32_t, uint32_t cwnd)
{
    g_cwnd = cwnd;
}

static void
OnRx(Ptr<const Packet> packet, const Address&)
{
    g_received += packet->GetSize();
}

static void
Connect()
{
    const std::string socket = "/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/";
    Config::ConnectWithoutContext(socket + "Tx", MakeCallback(&OnTx));
    Config::ConnectWithoutContext(socket + "CongestionWindow", MakeCallback(&OnCwnd));
}

static void
EachSecond()
{
    std::fprintf(stderr, "%.0f s: %lu bytes\n", Simulator::Now().GetSeconds(), g_received);
    Simulator::Schedule(Seconds(1), &EachSecond);
}

int
main(int argc, char** argv)
{
    if (argc != 11 && argc != 13)
    {
        return 2;
    }
    std::string type = argv[1];
    const bool isLinux = type.rfind("linux:", 0) == 0;
    type.erase(0, isLinux ? 6 : 0);
    const uint32_t segment = std::atoi(argv[5]);
    const uint32_t buffer = std::atoi(argv[6]);
    const double seconds = std::atof(argv[7]);
    g_left = std::atoi(argv[10]);
    const std::string name = type.find("::") == std::string::npos ? "ns3::" + type : type;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(name)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(std::atoi(argv[8])));
    const bool isDumbbell = argc == 13;
    NodeContainer nodes;
    nodes.Create(isDumbbell ? 4 : 2);
    const uint32_t last = nodes.GetN() - 1;
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    Ipv4Address receiver;
    // Make the links from the sender to the receiver. Without flow control, a device's queue is the
    // only queue.
    for (uint32_t left = 0; left < last; ++left)
    {
        const bool isAccess = isDumbbell && left != 1;
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(isAccess ? argv[11] : argv[2]));
        const double delay_ms = std::atof(isAccess ? argv[12] : argv[3]);
        link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(delay_ms * 1000)));
        const std::string packets = isAccess ? "100000" : argv[4];
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(packets + "p"));
        link.DisableFlowControl();
        receiver = address.Assign(link.Install(nodes.Get(left), nodes.Get(left + 1))).GetAddress(1);
        address.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    const std::string factory = isLinux ? "bbrlab::LinuxSocketFactory" : "ns3::TcpSocketFactory";
    if (isLinux)
    {
        nodes.Get(0)->AggregateObject(ObjectFactory(factory).Create<Object>());
    }
    BulkSendHelper source(factory, InetSocketAddress(receiver, 5000));
    source.SetAttribute("SendSize", UintegerValue(std::atoi(argv[9])));
    source.Install(nodes.Get(0)).Start(Seconds(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    ApplicationContainer sinks = sink.Install(nodes.Get(last));
    sinks.Start(Seconds(0));
    sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&OnRx));
    Simulator::Schedule(NanoSeconds(1), &Connect);
    Simulator::Schedule(Seconds(1), &EachSecond);
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::fprintf(stderr, "%lu bytes, %.3f Mbit/s\n", g_received, g_received * 8e-6 / seconds);
    Simulator::Destroy();
    return 0;
}
