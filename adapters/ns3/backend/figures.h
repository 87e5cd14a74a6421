// Statistics that are collected while ns-3 runs: quantiles of whole numbers, and means over time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <vector>

// The minimum, mean, maximum and quantiles of whole numbers. A quantile below 1024 is exact. A
// larger quantile differs from the exact value by less than 1/512 of it, because there are 512
// buckets per power of two.
class Quantiles
{
  public:
    void Add(uint64_t value)
    {
        ++m_count;
        m_sum += static_cast<double>(value);
        m_least = std::min(m_least, value);
        m_most = std::max(m_most, value);
        const size_t bucket = Bucket(value);
        if (bucket >= m_buckets.size())
        {
            m_buckets.resize(bucket + 1);
        }
        ++m_buckets[bucket];
    }

    // Writes a row for each bucket with values: `metric`, `number`, the bucket's value, and the
    // count of the values in the bucket.
    void Rows(std::FILE* file, const char* metric, size_t number) const
    {
        for (size_t bucket = 0; bucket < m_buckets.size(); ++bucket)
        {
            if (m_buckets[bucket] > 0)
            {
                const double value = std::min<double>(std::max<double>(Middle(bucket), m_least), m_most);
                const unsigned long count = m_buckets[bucket];
                std::fprintf(file, "%s,%zu,%.0f,%lu\n", metric, number, value, count);
            }
        }
    }

    // Returns the columns `n`, `min`, `mean`, `p50`, `p95`, `p99` and `max`. All except `n` are
    // multiplied by `unit`; without values, they are empty.
    std::string Columns(double unit) const
    {
        if (m_count == 0)
        {
            return "0,,,,,,";
        }
        char text[200];
        std::snprintf(text,
                      sizeof text,
                      "%lu,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g",
                      static_cast<unsigned long>(m_count),
                      m_least * unit,
                      m_sum / m_count * unit,
                      At(0.50) * unit,
                      At(0.95) * unit,
                      At(0.99) * unit,
                      m_most * unit);
        return text;
    }

  private:
    static const uint64_t EXACT = 1024;
    static const uint64_t PER_OCTAVE = 512;

    static size_t Bucket(uint64_t value)
    {
        if (value < EXACT)
        {
            return value;
        }
        const unsigned octave = 63 - __builtin_clzll(value);
        return EXACT + (octave - 10) * PER_OCTAVE + ((value >> (octave - 9)) - PER_OCTAVE);
    }

    static double Middle(size_t bucket)
    {
        if (bucket < EXACT)
        {
            return bucket;
        }
        const size_t rest = bucket - EXACT;
        const unsigned octave = 10 + rest / PER_OCTAVE;
        const double width = std::ldexp(1.0, octave - 9);
        return (PER_OCTAVE + rest % PER_OCTAVE + 0.5) * width;
    }

    double At(double share) const
    {
        const uint64_t rank = std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(share * m_count)));
        uint64_t below = 0;
        for (size_t bucket = 0; bucket < m_buckets.size(); ++bucket)
        {
            below += m_buckets[bucket];
            if (below >= rank)
            {
                return std::min<double>(std::max<double>(Middle(bucket), m_least), m_most);
            }
        }
        return m_most;
    }

    uint64_t m_count = 0;
    double m_sum = 0;
    uint64_t m_least = std::numeric_limits<uint64_t>::max();
    uint64_t m_most = 0;
    std::vector<uint64_t> m_buckets;
};

// The mean, standard deviation, 95th percentile and maximum over time of a whole number that
// changes in steps.
class OverTime
{
  public:
    // Begins the measurement at the time `at`. Changes before this time only set the value.
    void Begin(int64_t at)
    {
        m_from = at;
        m_last = at;
    }

    void Set(int64_t at, uint64_t value)
    {
        Close(at);
        m_value = value;
        if (at >= m_from)
        {
            m_most = std::max(m_most, value);
        }
    }

    uint64_t Value() const
    {
        return m_value;
    }

    // Returns the columns `mean`, `std`, `p95` and `max` of the time from `Begin` to `at`; all are
    // empty if no time has passed.
    std::string Columns(int64_t at)
    {
        Close(at);
        double time = 0;
        double sum = 0;
        double squares = 0;
        for (const auto& [value, span] : m_spans)
        {
            time += span;
            sum += span * value;
            squares += span * value * value;
        }
        if (time <= 0)
        {
            return ",,,";
        }
        const double mean = sum / time;
        double below = 0;
        uint64_t p95 = m_most;
        for (const auto& [value, span] : m_spans)
        {
            below += span;
            if (below >= 0.95 * time)
            {
                p95 = value;
                break;
            }
        }
        char text[160];
        std::snprintf(text,
                      sizeof text,
                      "%.9g,%.9g,%lu,%lu",
                      mean,
                      std::sqrt(std::max(0.0, squares / time - mean * mean)),
                      static_cast<unsigned long>(p95),
                      static_cast<unsigned long>(m_most));
        return text;
    }

  private:
    void Close(int64_t at)
    {
        if (at > m_last)
        {
            m_spans[m_value] += static_cast<double>(at - m_last);
            m_most = std::max(m_most, m_value);
            m_last = at;
        }
    }

    int64_t m_from = std::numeric_limits<int64_t>::max();
    int64_t m_last = std::numeric_limits<int64_t>::max();
    uint64_t m_value = 0;
    uint64_t m_most = 0;
    std::map<uint64_t, double> m_spans;
};
