// Flows of ns-3's own TCP over one bottleneck, to measure ns-3's speed on the cases of `bbrlab bench`. The buffer is 4 BDP,
// all delays are equal, starts are spread evenly over one RTT, and sockets are large enough not to limit. Prints the data
// packets that the receivers got, and the CPU seconds of the run without set-up.
//
// Access links without a rate cost no time in bbrlab. To avoid their cost in ns-3, up to 16 flows share two hosts and one
// link. With more flows, there are further hosts behind two routers, with 16 flows per host, because ns-3 searches a list
// for a segment's socket. Their access links are fast and have no delay.
//
// With the optional arguments, the bottleneck's queue holds QUEUE_PACKETS packets, sockets have
// buffers of BUFFER_BYTES, and starts are random within 100 ms. SEED selects the random numbers.
// Then the goodput of each flow is printed in Mbit/s.
//
// Usage: dumbbell TYPE RATE RTT_MS FLOWS SECONDS [QUEUE_PACKETS BUFFER_BYTES DELACK SEED]
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

using namespace ns3;

static const uint32_t SEGMENT = 1448;
static const uint32_t FLOWS_A_HOST = 16;

static PointToPointHelper
Link(const DataRate& rate, const Time& delay, uint32_t queue_packets)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(rate));
    link.SetChannelAttribute("Delay", TimeValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(queue_packets) + "p"));
    // Without flow control, the device's queue is the only queue.
    link.DisableFlowControl();
    return link;
}

static double
CpuSeconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

int
main(int argc, char** argv)
{
    const bool printsFlows = argc == 10;
    if (argc != 6 && !printsFlows)
    {
        std::fprintf(stderr,
                     "usage: dumbbell TYPE RATE RTT_MS FLOWS SECONDS "
                     "[QUEUE_PACKETS BUFFER_BYTES DELACK SEED]\n");
        return 2;
    }
    const std::string type = argv[1];
    const DataRate rate(argv[2]);
    const double rtt_s = std::atof(argv[3]) / 1e3;
    const uint32_t flows = std::atoi(argv[4]);
    const double seconds = std::atof(argv[5]);
    const double bdp_packets = rate.GetBitRate() * rtt_s / 8 / 1500;
    uint32_t buffer_bytes = 10 * std::max(100.0, bdp_packets / flows) * SEGMENT;
    uint32_t queue_packets = std::max(1.0, 4 * bdp_packets);
    if (printsFlows)
    {
        queue_packets = std::atoi(argv[6]);
        buffer_bytes = std::atoi(argv[7]);
        Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(std::atoi(argv[8])));
        RngSeedManager::SetRun(std::atoi(argv[9]));
    }
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + type)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer_bytes));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer_bytes));
    const uint32_t hosts = (flows + FLOWS_A_HOST - 1) / FLOWS_A_HOST;
    NodeContainer left;
    NodeContainer right;
    NodeContainer ends;
    left.Create(hosts);
    right.Create(hosts);
    ends.Add(left);
    ends.Add(right);
    InternetStackHelper().Install(ends);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    PointToPointHelper bottleneck = Link(rate, Seconds(rtt_s / 2), queue_packets);
    std::vector<Ipv4Address> receivers;
    if (hosts == 1)
    {
        receivers.push_back(address.Assign(bottleneck.Install(left.Get(0), right.Get(0))).GetAddress(1));
    }
    else
    {
        NodeContainer routers;
        routers.Create(2);
        InternetStackHelper().Install(routers);
        address.Assign(bottleneck.Install(routers));
        PointToPointHelper access = Link(DataRate("1000Gbps"), Seconds(0), 100000);
        for (uint32_t host = 0; host < hosts; ++host)
        {
            address.NewNetwork();
            address.Assign(access.Install(left.Get(host), routers.Get(0)));
            address.NewNetwork();
            receivers.push_back(address.Assign(access.Install(right.Get(host), routers.Get(1))).GetAddress(0));
        }
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }
    ApplicationContainer sinks;
    const Ptr<UniformRandomVariable> random = CreateObject<UniformRandomVariable>();
    for (uint32_t flow = 0; flow < flows; ++flow)
    {
        const uint32_t host = flow / FLOWS_A_HOST;
        const uint16_t port = 5000 + flow % FLOWS_A_HOST;
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(receivers[host], port));
        source.SetAttribute("SendSize", UintegerValue(SEGMENT));
        const double start_s = printsFlows ? random->GetValue(0, 0.1) : rtt_s * flow / flows;
        source.Install(left.Get(host)).Start(Seconds(start_s));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(right.Get(host)));
    }
    sinks.Start(Seconds(0));
    Simulator::Stop(Seconds(seconds));
    const double before = CpuSeconds();
    Simulator::Run();
    const double cpu_s = CpuSeconds() - before;
    uint64_t bytes = 0;
    for (uint32_t n = 0; n < sinks.GetN(); ++n)
    {
        const uint64_t received = DynamicCast<PacketSink>(sinks.Get(n))->GetTotalRx();
        bytes += received;
        if (printsFlows)
        {
            std::printf("%.2f ", received * 8e-6 / seconds);
        }
    }
    std::printf("%lu %.3f\n", bytes / SEGMENT, cpu_s);
    Simulator::Destroy();
    return 0;
}
