// A wire: a point-to-point link of ns-3 in one direction, with its queue discipline, its losses and
// its counters.
#pragma once

#include "figures.h"
#include "plan.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/error-model.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"
#include "ns3/queue.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tag.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

#include <deque>

// The tag of a data packet: its flow, and the time in nanoseconds at which this transmission was
// sent. Packets without the tag carry no data, such as ACKs.
class SentTag : public ns3::Tag
{
  public:
    static ns3::TypeId GetTypeId()
    {
        static ns3::TypeId tid =
            ns3::TypeId("bbrlab::SentTag").SetParent<ns3::Tag>().AddConstructor<SentTag>();
        return tid;
    }

    ns3::TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return 12;
    }

    void Serialize(ns3::TagBuffer buffer) const override
    {
        buffer.WriteU32(flow);
        buffer.WriteU64(sent);
    }

    void Deserialize(ns3::TagBuffer buffer) override
    {
        flow = buffer.ReadU32();
        sent = buffer.ReadU64();
    }

    void Print(std::ostream& out) const override
    {
        out << flow << " " << sent;
    }

    uint32_t flow = 0;
    uint64_t sent = 0;
};

// The numbers of a flow's data packets that queues have dropped (`drops`), and that were lost at
// random (`random`).
struct Losses
{
    uint64_t drops = 0;
    uint64_t random = 0;
};

class Wire
{
  public:
    Wire(const WirePlan& plan, ns3::Ptr<ns3::Node> from, ns3::Ptr<ns3::Node> to, uint16_t mtu, std::vector<Losses>& losses)
        : m_plan(plan),
          m_losses(losses)
    {
        using namespace ns3;
        m_device = CreateObject<PointToPointNetDevice>();
        Ptr<PointToPointNetDevice> end = CreateObject<PointToPointNetDevice>();
        m_queue = CreateObject<DropTailQueue<Packet>>();
        // If there is a queue discipline above the device, the device's own queue holds one packet.
        const uint64_t limit = plan.disc.empty() ? plan.limit : 1;
        const bool isBytes = plan.disc.empty() && plan.isBytes;
        const std::string size = std::to_string(limit == 0 ? 4294967295U : limit) + (isBytes ? "B" : "p");
        m_queue->SetAttribute("MaxSize", StringValue(size));
        m_device->SetQueue(m_queue);
        end->SetQueue(CreateObject<DropTailQueue<Packet>>());
        // A wire without a rate gets a rate at which a packet is sent in less than half a
        // nanosecond.
        m_device->SetDataRate(DataRate(plan.bps == 0 ? 1000000000000000ULL : plan.bps));
        m_device->SetMtu(mtu);
        end->SetMtu(mtu);
        for (const auto& [device, node] : {std::pair{m_device, from}, std::pair{end, to}})
        {
            device->SetAddress(Mac48Address::Allocate());
            node->AddDevice(device);
        }
        Ptr<PointToPointChannel> channel = CreateObject<PointToPointChannel>();
        channel->SetAttribute("Delay", TimeValue(NanoSeconds(plan.delay)));
        m_device->Attach(channel);
        end->Attach(channel);
        if (plan.loss > 0)
        {
            Ptr<RateErrorModel> model = CreateObject<RateErrorModel>();
            model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            model->SetRate(plan.loss / 4294967296.0);
            end->SetReceiveErrorModel(model);
            end->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&Wire::OnLoss, this));
        }
        if (!IsLink())
        {
            return;
        }
        m_queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&Wire::OnEnqueue, this));
        m_queue->TraceConnectWithoutContext("Drop", MakeCallback(&Wire::OnDrop, this));
        m_device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Wire::OnService, this));
        m_device->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Wire::OnDeparture, this));
        for (const auto& [at, bps] : plan.rates)
        {
            Simulator::Schedule(NanoSeconds(at), &PointToPointNetDevice::SetDataRate, m_device, DataRate(bps));
        }
    }

    // Installs the queue discipline, if the wire has one. The node must already have its
    // traffic-control layer, which comes with the Internet stack.
    void InstallDisc()
    {
        using namespace ns3;
        if (m_plan.disc.empty())
        {
            return;
        }
        Ptr<NetDeviceQueueInterface> interface = CreateObject<NetDeviceQueueInterface>();
        interface->GetTxQueue(0)->ConnectQueueTraces(m_queue);
        m_device->AggregateObject(interface);
        Ptr<TrafficControlLayer> layer = m_device->GetNode()->GetObject<TrafficControlLayer>();
        ObjectFactory factory(m_plan.disc);
        TypeId type = TypeId::LookupByName(m_plan.disc);
        for (const auto& [name, value] : m_plan.discSettings)
        {
            TypeId::AttributeInformation found;
            if (!type.LookupAttributeByName(name, &found))
            {
                Fail(m_plan.disc + " has no attribute " + name + " in this ns-3");
            }
            factory.Set(name, StringValue(value));
        }
        m_disc = factory.Create<QueueDisc>();
        layer->SetRootQueueDiscOnDevice(m_device, m_disc);
        m_disc->TraceConnectWithoutContext("Enqueue", MakeCallback(&Wire::OnDiscEnqueue, this));
        m_disc->TraceConnectWithoutContext("Drop", MakeCallback(&Wire::OnDiscDrop, this));
    }

    bool IsLink() const
    {
        return m_plan.bps > 0;
    }

    ns3::Ptr<ns3::PointToPointNetDevice> Device() const
    {
        return m_device;
    }

    void Begin(int64_t at)
    {
        m_atStart = m_bytes;
        m_length.Begin(at);
    }

    // Returns the values of a row of `links.csv`, without the columns `t` and `wire`.
    std::string Row() const
    {
        return std::to_string(m_length.Value()) + "," + std::to_string(m_backlog) + "," + std::to_string(m_departures) +
               "," + std::to_string(m_arrivals) + "," + std::to_string(m_drops) + "," + std::to_string(Marks());
    }

    static const char* FinalHeader()
    {
        return "wire,bytes,departures,arrivals,drops,random,marks,queued,len_mean,len_std,len_p95,len_max,"
               "wait_n,wait_min,wait_mean,wait_p50,wait_p95,wait_p99,wait_max";
    }

    std::string Final(size_t number, int64_t at)
    {
        std::ostringstream row;
        row << number << "," << m_bytes - m_atStart << "," << m_departures << "," << m_arrivals << "," << m_drops << ","
            << m_random << "," << Marks() << "," << m_length.Value() << "," << m_length.Columns(at) << ","
            << m_wait.Columns(1e-6);
        return row.str();
    }

    const Quantiles& Waits() const
    {
        return m_wait;
    }

  private:
    static int64_t Now()
    {
        return ns3::Simulator::Now().GetNanoSeconds();
    }

    uint64_t Marks() const
    {
        return m_disc ? m_disc->GetStats().nTotalMarkedPackets : 0;
    }

    void OnArrival(uint32_t bytes)
    {
        ++m_arrivals;
        m_backlog += bytes;
        m_length.Set(Now(), m_length.Value() + 1);
        m_waiting.push_back(Now());
    }

    void OnEnqueue(ns3::Ptr<const ns3::Packet> packet)
    {
        if (!m_disc)
        {
            OnArrival(packet->GetSize());
        }
    }

    void OnDiscEnqueue(ns3::Ptr<const ns3::QueueDiscItem> item)
    {
        OnArrival(item->GetSize() + FRAMING);
    }

    void OnDiscDrop(ns3::Ptr<const ns3::QueueDiscItem> item)
    {
        ++m_drops;
        CountDrop(item->GetPacket());
        // If the discipline has taken this packet out of its own queue before it drops the packet,
        // the packet has already been counted as an arrival.
        const uint64_t inside = m_disc->GetStats().nTotalDroppedPacketsAfterDequeue;
        if (inside > m_inside)
        {
            m_inside = inside;
            m_backlog -= std::min<uint64_t>(m_backlog, item->GetSize() + FRAMING);
            m_length.Set(Now(), std::max<uint64_t>(1, m_length.Value()) - 1);
            if (!m_waiting.empty())
            {
                m_waiting.pop_front();
            }
        }
        else
        {
            ++m_arrivals;
        }
    }

    void OnDrop(ns3::Ptr<const ns3::Packet> packet)
    {
        ++m_arrivals;
        ++m_drops;
        CountDrop(packet);
    }

    void CountDrop(ns3::Ptr<const ns3::Packet> packet)
    {
        SentTag tag;
        if (packet->PeekPacketTag(tag))
        {
            ++m_losses[tag.flow].drops;
        }
    }

    void OnLoss(ns3::Ptr<const ns3::Packet> packet)
    {
        ++m_random;
        SentTag tag;
        if (packet->PeekPacketTag(tag))
        {
            ++m_losses[tag.flow].random;
        }
    }

    void OnService(ns3::Ptr<const ns3::Packet>)
    {
        if (!m_waiting.empty())
        {
            m_wait.Add(Now() - m_waiting.front());
            m_waiting.pop_front();
        }
    }

    void OnDeparture(ns3::Ptr<const ns3::Packet> packet)
    {
        ++m_departures;
        m_bytes += packet->GetSize();
        m_backlog -= std::min<uint64_t>(m_backlog, packet->GetSize());
        m_length.Set(Now(), std::max<uint64_t>(1, m_length.Value()) - 1);
    }

    // The size of the PPP header in bytes. The device adds the header below the discipline, so
    // packets in the discipline do not have it.
    static const uint32_t FRAMING = 2;

    WirePlan m_plan;
    std::vector<Losses>& m_losses;
    ns3::Ptr<ns3::PointToPointNetDevice> m_device;
    ns3::Ptr<ns3::DropTailQueue<ns3::Packet>> m_queue;
    ns3::Ptr<ns3::QueueDisc> m_disc;
    uint64_t m_arrivals = 0;
    uint64_t m_departures = 0;
    uint64_t m_drops = 0;
    uint64_t m_inside = 0;
    uint64_t m_random = 0;
    uint64_t m_bytes = 0;
    uint64_t m_atStart = 0;
    uint64_t m_backlog = 0;
    OverTime m_length;
    std::deque<int64_t> m_waiting;
    Quantiles m_wait;
};
