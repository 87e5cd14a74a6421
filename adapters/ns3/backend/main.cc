// The driver, which runs bbrlab's scenarios on ns-3: builds the network of a plan (plan.h),
// simulates it, and writes tables of comma-separated numbers into the current folder.
//
// Usage: driver PLAN [MODULE]     MODULE is a library with further congestion controls, as TypeIds
//
//   flows.csv    t, flow, and the state of a flow, with the plan's period
//   links.csv    t, wire, and the state of a link
//   flow_end.csv, link_end.csv   one row each
//   delays.csv   histograms of RTTs and of waiting times
//   progress     as many bytes as percent of the run are done
#include "flow.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-interface-address.h"
#include "ns3/ipv4-list-routing.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/rng-seed-manager.h"

#include <csignal>
#include <ctime>
#include <dlfcn.h>
#include <memory>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

using namespace ns3;

// The run is ended if its simulated time has not advanced during this number of CPU seconds.
static const int STALLED_S = 300;

static volatile int64_t g_reached = -1;
static volatile bool g_isRunning = false;

static void
OnTimer(int)
{
    const int64_t now = g_isRunning ? Simulator::Now().GetTimeStep() : -2;
    if (now == g_reached)
    {
        static const char text[] = "error: ns-3's time stands still; the run was ended\n";
        if (write(2, text, sizeof text - 1))
        {
        }
        std::_Exit(1);
    }
    g_reached = now;
}

static double
CpuSeconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

// Returns the address of a flow's host: 10.1.x.y for the sender, 10.2.x.y for the receiver.
static Ipv4Address
HostAddress(bool isSender, uint32_t flow)
{
    return Ipv4Address((10U << 24) + ((isSender ? 1U : 2U) << 16) + flow + 1);
}

// Returns the index of the IPv4 interface at the sending end of a wire.
static uint32_t
InterfaceOf(const Wire& wire)
{
    Ptr<PointToPointNetDevice> device = wire.Device();
    return device->GetNode()->GetObject<Ipv4>()->GetInterfaceForDevice(device);
}

static void
SetDefault(const std::string& name, const std::string& value)
{
    if (!Config::SetDefaultFailSafe(name, StringValue(value)))
    {
        Fail("this ns-3 has no attribute " + name + ", or it does not take " + value);
    }
}

class Driver
{
  public:
    explicit Driver(const Plan& plan)
        : m_plan(plan),
          m_losses(plan.flows.size())
    {
        NodeContainer nodes;
        nodes.Create(plan.nodes);
        InternetStackHelper stack;
        Ipv4StaticRoutingHelper routing;
        stack.SetRoutingHelper(routing);
        stack.SetIpv6StackInstall(false);
        stack.Install(nodes);
        uint32_t segment = 1448;
        for (const FlowPlan& flow : plan.flows)
        {
            segment = std::max(segment, flow.segment);
        }
        for (const WirePlan& wire : plan.wires)
        {
            m_wires.push_back(std::make_unique<Wire>(wire, nodes.Get(wire.from), nodes.Get(wire.to), segment + 100, m_losses));
        }
        for (uint32_t number = 0; number < plan.nodes; ++number)
        {
            Ptr<Node> node = nodes.Get(number);
            Ptr<Ipv4> ipv4 = node->GetObject<Ipv4>();
            for (uint32_t n = 0; n < node->GetNDevices(); ++n)
            {
                if (DynamicCast<PointToPointNetDevice>(node->GetDevice(n)))
                {
                    ipv4->SetUp(ipv4->AddInterface(node->GetDevice(n)));
                }
            }
        }
        for (const auto& wire : m_wires)
        {
            wire->InstallDisc();
        }
        for (uint32_t id = 0; id < plan.flows.size(); ++id)
        {
            const FlowPlan& flow = plan.flows[id];
            for (uint32_t direction = 0; direction < 2; ++direction)
            {
                const Ipv4Address own = HostAddress(direction == 0, id);
                const Ipv4Address peer = HostAddress(direction != 0, id);
                const Wire& first = *m_wires.at(flow.path[direction].front());
                Ptr<Node> node = first.Device()->GetNode();
                node->GetObject<Ipv4>()->AddAddress(InterfaceOf(first), Ipv4InterfaceAddress(own, Ipv4Mask("/32")));
                for (uint32_t number : flow.path[direction])
                {
                    const Wire& wire = *m_wires.at(number);
                    Ptr<Ipv4> ipv4 = wire.Device()->GetNode()->GetObject<Ipv4>();
                    routing.GetStaticRouting(ipv4)->AddHostRouteTo(peer, InterfaceOf(wire));
                }
            }
            m_flows.push_back(
                std::make_unique<Flow>(id, flow, nodes.Get(flow.source), nodes.Get(flow.target), HostAddress(false, id)));
        }
        FillAddresses(nodes);
    }

    // Gives an address to each interface that has none, because ns-3 requires one. These addresses
    // begin with 10.128.
    static void FillAddresses(const NodeContainer& nodes)
    {
        uint32_t next = (10U << 24) + (128U << 16);
        for (uint32_t number = 0; number < nodes.GetN(); ++number)
        {
            Ptr<Ipv4> ipv4 = nodes.Get(number)->GetObject<Ipv4>();
            for (uint32_t n = 0; n < ipv4->GetNInterfaces(); ++n)
            {
                if (ipv4->GetNAddresses(n) == 0)
                {
                    ipv4->AddAddress(n, Ipv4InterfaceAddress(Ipv4Address(++next), Ipv4Mask("/32")));
                }
            }
        }
    }

    void Run()
    {
        int64_t first = m_plan.duration;
        for (const FlowPlan& flow : m_plan.flows)
        {
            first = std::min(first, flow.start);
        }
        for (const auto& wire : m_wires)
        {
            Simulator::Schedule(NanoSeconds(first), &Wire::Begin, wire.get(), first);
        }
        m_flowRows = Open("flows.csv", std::string("t,flow,") + Flow::RowHeader());
        m_linkRows = Open("links.csv", "t,wire,qlen,backlog,packets,arrivals,drops,marks");
        if (m_plan.sample > 0)
        {
            Simulator::Schedule(NanoSeconds(0), &Driver::Sample, this);
        }
        m_progress = std::fopen("progress", "w");
        Simulator::Schedule(NanoSeconds(m_plan.duration / 100 + 1), &Driver::Progress, this);
        Simulator::Stop(NanoSeconds(m_plan.duration));
        g_isRunning = true;
        Simulator::Run();
        g_isRunning = false;
        // Also write rows at the end of the run, if the end is a multiple of the sampling period.
        if (m_plan.sample > 0 && m_plan.duration % m_plan.sample == 0)
        {
            Rows(m_plan.duration);
        }
        Close(m_flowRows);
        Close(m_linkRows);
        End();
    }

  private:
    static std::FILE* Open(const char* name, const std::string& header)
    {
        std::FILE* file = std::fopen(name, "w");
        if (file == nullptr || std::fprintf(file, "%s\n", header.c_str()) < 0)
        {
            Fail(std::string("cannot write ") + name);
        }
        return file;
    }

    static void Close(std::FILE* file)
    {
        if (std::fclose(file) != 0)
        {
            Fail("cannot write the tables; is the disk full?");
        }
    }

    void Sample()
    {
        const int64_t now = Simulator::Now().GetNanoSeconds();
        Rows(now);
        if (now + m_plan.sample < m_plan.duration)
        {
            Simulator::Schedule(NanoSeconds(m_plan.sample), &Driver::Sample, this);
        }
    }

    void Rows(int64_t now)
    {
        const double s = now * 1e-9;
        for (size_t id = 0; id < m_flows.size(); ++id)
        {
            std::fprintf(m_flowRows, "%.9f,%zu,%s\n", s, id, m_flows[id]->Row().c_str());
        }
        for (size_t number = 0; number < m_wires.size(); ++number)
        {
            if (m_wires[number]->IsLink())
            {
                std::fprintf(m_linkRows, "%.9f,%zu,%s\n", s, number, m_wires[number]->Row().c_str());
            }
        }
    }

    void Progress()
    {
        if (m_progress != nullptr)
        {
            std::fputc('.', m_progress);
            std::fflush(m_progress);
        }
        Simulator::Schedule(NanoSeconds(m_plan.duration / 100 + 1), &Driver::Progress, this);
    }

    void End()
    {
        std::FILE* file = Open("flow_end.csv", Flow::FinalHeader());
        for (size_t id = 0; id < m_flows.size(); ++id)
        {
            std::fprintf(file, "%s\n", m_flows[id]->Final(m_losses[id], m_plan.duration).c_str());
        }
        Close(file);
        file = Open("link_end.csv", Wire::FinalHeader());
        for (size_t number = 0; number < m_wires.size(); ++number)
        {
            std::fprintf(file, "%s\n", m_wires[number]->Final(number, m_plan.duration).c_str());
        }
        Close(file);
        file = Open("delays.csv", "metric,number,ns,count");
        for (size_t number = 0; number < m_wires.size(); ++number)
        {
            m_wires[number]->Waits().Rows(file, "wait", number);
        }
        for (size_t id = 0; id < m_flows.size(); ++id)
        {
            m_flows[id]->Rtts().Rows(file, "rtt", id);
        }
        Close(file);
    }

    Plan m_plan;
    std::vector<Losses> m_losses;
    std::vector<std::unique_ptr<Wire>> m_wires;
    std::vector<std::unique_ptr<Flow>> m_flows;
    std::FILE* m_flowRows = nullptr;
    std::FILE* m_linkRows = nullptr;
    std::FILE* m_progress = nullptr;
};

// The message if ns-3 ends while it loads the module.
static std::string g_loading;

static void
OnLoadFailure(int)
{
    if (write(2, g_loading.c_str(), g_loading.size()))
    {
    }
    std::_Exit(1);
}

static void
LoadModule(const std::string& path)
{
    const std::string expected = "BBRLAB_NS3_MODULE=" + path +
                                 ": expected the module libbbrlab-ns3.so, built for this ns-3 by adapters/ns3/build.sh, found ";
    g_loading = "error: " + expected + "a library with which ns-3 cannot start, such as a module for another release\n";
    // A module for another release loads that release's core, which calls abort().
    std::signal(SIGABRT, OnLoadFailure);
    std::signal(SIGSEGV, OnLoadFailure);
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
    {
        Fail(expected + "a file that cannot be loaded: " + dlerror());
    }
    std::signal(SIGABRT, SIG_DFL);
    std::signal(SIGSEGV, SIG_DFL);
    TypeId type;
    if (!TypeId::LookupByNameFailSafe("bbrlab::Congestion", &type))
    {
        Fail(expected + "a library without the type bbrlab::Congestion");
    }
}

int
main(int argc, char** argv)
{
    if (argc != 2 && argc != 3)
    {
        std::fprintf(stderr, "usage: driver PLAN [MODULE]\n");
        return 2;
    }
    // The system kills this process when the thread that started it ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGPROF, OnTimer);
    itimerval every = {{STALLED_S, 0}, {STALLED_S, 0}};
    setitimer(ITIMER_PROF, &every, nullptr);
    if (argc == 3)
    {
        LoadModule(argv[2]);
    }
    const Plan plan = ReadPlan(argv[1]);
    RngSeedManager::SetSeed(plan.seed);
    for (const auto& [name, value] : plan.attributes)
    {
        SetDefault(name, value);
    }
    for (const FlowPlan& flow : plan.flows)
    {
        TypeId found;
        if (flow.type != "udp" && !TypeId::LookupByNameFailSafe(flow.type, &found))
        {
            Fail(flow.type + " is not a congestion control of this ns-3" + (argc == 3 ? std::string(" or of ") + argv[2] : ""));
        }
        for (const auto& [name, value] : flow.settings)
        {
            SetDefault(name, value);
        }
    }
    {
        Driver driver(plan);
        const double before = CpuSeconds();
        driver.Run();
        std::printf("run_cpu_s %.3f\n", CpuSeconds() - before);
    }
    std::fflush(nullptr);
    // Nothing is left to do: ns-3's own end would only free memory.
    std::_Exit(0);
}
