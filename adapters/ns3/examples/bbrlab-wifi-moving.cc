// SPDX-License-Identifier: MIT OR Apache-2.0
// A station on Wi-Fi that walks away from its access point and returns, while it downloads.
//
//   server --- 100 Mbit/s, 10 ms --- access point )))   station, 5 m to 50 m and back
//
// Prints the goodput of each second. With --linux, bbrlab's whole sender sends, instead of ns-3's
// with an algorithm of bbrlab. With --csv, the sender's values are written for
// `bbrlab import`.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/wifi-module.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace ns3;

static void
EachSecond(Ptr<PacketSink> sink, Ptr<MobilityModel> station, uint64_t before)
{
    const uint64_t now = sink->GetTotalRx();
    std::printf("%2.0f s  %4.1f m  %6.2f Mbit/s\n",
                Simulator::Now().GetSeconds(),
                station->GetPosition().x,
                (now - before) * 8e-6);
    Simulator::Schedule(Seconds(1), &EachSecond, sink, station, now);
}

int
main(int argc, char** argv)
{
    std::string tcp = "bbrlab::Bbr3";
    std::string csv;
    bool isLinux = false;
    uint32_t walk_s = 20;
    CommandLine cmd(__FILE__);
    cmd.AddValue("tcp", "type of TCP, such as bbrlab::Bbr3 or ns3::TcpBbr", tcp);
    cmd.AddValue("linux", "whether the sender is Linux's as a whole", isLinux);
    cmd.AddValue("csv", "file for the values of a sender with an algorithm of bbrlab", csv);
    cmd.AddValue("walk", "seconds of the walk in one direction", walk_s);
    cmd.Parse(argc, argv);
    if (!csv.empty())
    {
        setenv("BBRLAB_NS3_CSV", csv.c_str(), 1);
    }
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(tcp));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4000000));
    NodeContainer nodes; // server, access point, station
    nodes.Create(3);

    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    link.SetChannelAttribute("Delay", StringValue("10ms"));
    NetDeviceContainer wired = link.Install(nodes.Get(0), nodes.Get(1));

    YansWifiPhyHelper phy;
    phy.SetChannel(YansWifiChannelHelper::Default().Create());
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211n);
    wifi.SetRemoteStationManager("ns3::MinstrelHtWifiManager");
    WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(Ssid("bbrlab")));
    NetDeviceContainer wireless = wifi.Install(phy, mac, nodes.Get(1));
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(Ssid("bbrlab")));
    wireless.Add(wifi.Install(phy, mac, nodes.Get(2)));

    MobilityHelper fixed;
    fixed.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    fixed.Install(NodeContainer(nodes.Get(0), nodes.Get(1)));
    MobilityHelper moving;
    moving.SetMobilityModel("ns3::WaypointMobilityModel");
    moving.Install(nodes.Get(2));
    const auto walk = nodes.Get(2)->GetObject<WaypointMobilityModel>();
    walk->AddWaypoint(Waypoint(Seconds(0), Vector(5, 0, 0)));
    walk->AddWaypoint(Waypoint(Seconds(walk_s), Vector(50, 0, 0)));
    walk->AddWaypoint(Waypoint(Seconds(2 * walk_s), Vector(5, 0, 0)));

    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    address.Assign(wired);
    address.NewNetwork();
    const Ipv4Address station = address.Assign(wireless).GetAddress(1);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    const std::string factory = isLinux ? "bbrlab::LinuxSocketFactory" : "ns3::TcpSocketFactory";
    if (isLinux)
    {
        nodes.Get(0)->AggregateObject(ObjectFactory(factory).Create<Object>());
    }
    BulkSendHelper source(factory, InetSocketAddress(station, 5000));
    source.SetAttribute("SendSize", UintegerValue(1448));
    // The server starts after 1 s, because the station must first join the access point.
    source.Install(nodes.Get(0)).Start(Seconds(1));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    ApplicationContainer sinks = sink.Install(nodes.Get(2));
    sinks.Start(Seconds(0));
    const Ptr<MobilityModel> where = walk;
    Simulator::Schedule(Seconds(1),
                        &EachSecond,
                        DynamicCast<PacketSink>(sinks.Get(0)),
                        where,
                        uint64_t{0});
    Simulator::Stop(Seconds(2 * walk_s));
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
