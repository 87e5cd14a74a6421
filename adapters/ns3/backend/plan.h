// The description of a run that bbrlab writes: one statement per line, with words separated by
// blanks. All numbers are whole: times in nanoseconds, rates in bits per second, sizes in bytes,
// probabilities in parts per 2^32.
//
//   seed N
//   duration NS
//   sample NS                                 (0: no series)
//   nodes N
//   wire FROM TO BPS DELAY LIMIT UNIT LOSS    (LIMIT 0: no limit; UNIT p or b; BPS 0: no rate)
//   disc WIRE TYPE [NAME=VALUE...]            (a queue discipline above the wire's device)
//   rate WIRE AT BPS
//   attribute NAME VALUE                      (a default of ns-3, set before anything exists)
//   flow SOURCE TARGET START STOP TYPE KIND A B SEGMENT WRITE [NAME=VALUE...]
//   pace FLOW AT BPS                          (the source's rate from a time on; 0: pause; `max`: no limit)
//   path FLOW DIRECTION WIRE...               (DIRECTION 0: data, 1: ACKs)
//
// KIND is `bulk` (no end), `bytes` (A bytes in all), `write` (A bytes every B nanoseconds) or
// `pace` (at the rates of the statements `pace`). SEGMENT is the payload of a full segment, WRITE
// the number of bytes per write of `bulk` and `bytes`. TYPE is the TypeId of the congestion
// control, or `udp`. Each NAME=VALUE of a flow is an attribute of ns-3, with the default that the
// flow's sockets get.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using Settings = std::vector<std::pair<std::string, std::string>>;

// Ends the program with an error message, which is written to `driver.log` and shown by bbrlab.
[[noreturn]] inline void
Fail(const std::string& text)
{
    std::fprintf(stderr, "error: %s\n", text.c_str());
    std::fflush(stderr);
    std::_Exit(1);
}

// Stands for a source's rate without a limit.
static const uint64_t UNLIMITED = ~0ULL;

struct WirePlan
{
    uint32_t from = 0;
    uint32_t to = 0;
    uint64_t bps = 0;
    int64_t delay = 0;
    uint64_t limit = 0;
    bool isBytes = false;
    uint64_t loss = 0;
    std::string disc;
    Settings discSettings;
    std::vector<std::pair<int64_t, uint64_t>> rates;
};

struct FlowPlan
{
    uint32_t source = 0;
    uint32_t target = 0;
    int64_t start = 0;
    int64_t stop = -1;
    std::string type;
    std::string kind;
    uint64_t a = 0;
    uint64_t b = 0;
    uint32_t segment = 0;
    uint32_t write = 0;
    Settings settings;
    std::vector<std::pair<int64_t, uint64_t>> paces;
    std::vector<uint32_t> path[2];
};

struct Plan
{
    uint32_t seed = 1;
    int64_t duration = 0;
    int64_t sample = 0;
    uint32_t nodes = 0;
    Settings attributes;
    std::vector<WirePlan> wires;
    std::vector<FlowPlan> flows;
};

inline std::pair<std::string, std::string>
Pair(const std::string& word)
{
    const size_t at = word.find('=');
    if (at == std::string::npos)
    {
        Fail("plan: expected NAME=VALUE, found " + word);
    }
    return {word.substr(0, at), word.substr(at + 1)};
}

inline Plan
ReadPlan(const std::string& path)
{
    std::ifstream file(path);
    if (!file)
    {
        Fail("cannot read " + path);
    }
    Plan plan;
    std::string line;
    while (std::getline(file, line))
    {
        std::istringstream words(line);
        std::string verb;
        words >> verb;
        if (verb == "seed")
        {
            words >> plan.seed;
        }
        else if (verb == "duration")
        {
            words >> plan.duration;
        }
        else if (verb == "sample")
        {
            words >> plan.sample;
        }
        else if (verb == "nodes")
        {
            words >> plan.nodes;
        }
        else if (verb == "attribute")
        {
            std::string name;
            std::string value;
            words >> name >> value;
            plan.attributes.emplace_back(name, value);
        }
        else if (verb == "wire")
        {
            WirePlan wire;
            std::string unit;
            words >> wire.from >> wire.to >> wire.bps >> wire.delay >> wire.limit >> unit >> wire.loss;
            wire.isBytes = unit == "b";
            plan.wires.push_back(wire);
        }
        else if (verb == "disc")
        {
            uint32_t wire = 0;
            std::string word;
            words >> wire;
            words >> plan.wires.at(wire).disc;
            while (words >> word)
            {
                plan.wires.at(wire).discSettings.push_back(Pair(word));
            }
            words.clear();
        }
        else if (verb == "rate")
        {
            uint32_t wire = 0;
            int64_t at = 0;
            uint64_t bps = 0;
            words >> wire >> at >> bps;
            plan.wires.at(wire).rates.emplace_back(at, bps);
        }
        else if (verb == "flow")
        {
            FlowPlan flow;
            words >> flow.source >> flow.target >> flow.start >> flow.stop >> flow.type;
            words >> flow.kind >> flow.a >> flow.b >> flow.segment >> flow.write;
            std::string word;
            while (words >> word)
            {
                flow.settings.push_back(Pair(word));
            }
            words.clear();
            plan.flows.push_back(flow);
        }
        else if (verb == "pace")
        {
            uint32_t flow = 0;
            int64_t at = 0;
            std::string bps;
            words >> flow >> at >> bps;
            plan.flows.at(flow).paces.emplace_back(at, bps == "max" ? UNLIMITED : std::strtoull(bps.c_str(), nullptr, 10));
        }
        else if (verb == "path")
        {
            uint32_t flow = 0;
            uint32_t direction = 0;
            uint32_t wire = 0;
            words >> flow >> direction;
            while (words >> wire)
            {
                plan.flows.at(flow).path[direction & 1].push_back(wire);
            }
            words.clear();
        }
        else if (!verb.empty())
        {
            words.setstate(std::ios::failbit);
        }
        if (!words)
        {
            Fail("plan: cannot understand: " + line);
        }
    }
    return plan;
}
