// NewReno as a plugin of bbrlab in C++: the same results as `cc = "reno"`.
//
//   c++ -O2 -fPIC -shared -I crates/bbrlab-ffi/include adapters/c/reno.cc -o libreno_cc.so
//   bbrlab run examples.dumbbell --plugin ./libreno_cc.so --set flows.cc=plugin:reno_cc
//
// An exception must not leave a function of the plugin, so `guarded` turns it into a failure.

#include <algorithm>
#include <exception>
#include <stdexcept>

#include "bbrlab.h"

namespace {

class Reno {
public:
    std::uint32_t ssthresh(const bbrlab_control &ctl) const {
        return std::max<std::uint32_t>(ctl.cwnd / 2, 2);
    }

    void cong_avoid(const bbrlab_conn &conn, bbrlab_control &ctl, std::uint32_t acked) const {
        const bool slow_start = bbrlab_in_slow_start(&ctl);
        const bool probes = slow_start && ctl.cwnd < 2 * conn.max_packets_out;
        if (!conn.is_cwnd_limited && !probes) return;
        if (slow_start) {
            const std::uint32_t cwnd = std::min(ctl.cwnd + acked, ctl.ssthresh);
            acked -= cwnd - ctl.cwnd;
            ctl.cwnd = std::min(cwnd, ctl.cwnd_clamp);
            if (acked == 0) return;
        }
        const std::uint32_t weight = ctl.cwnd;
        if (ctl.cwnd_cnt >= weight) {
            ctl.cwnd_cnt = 0;
            ctl.cwnd++;
        }
        ctl.cwnd_cnt += acked;
        ctl.cwnd += ctl.cwnd_cnt / weight;
        ctl.cwnd_cnt %= weight;
        ctl.cwnd = std::min(ctl.cwnd, ctl.cwnd_clamp);
    }
};

template <typename Work> std::int32_t guarded(bbrlab_host *host, Work work) {
    try {
        work();
        return BBRLAB_OK;
    } catch (const std::exception &error) {
        host->fail(host, error.what());
    } catch (...) {
        host->fail(host, "unknown exception");
    }
    return 1;
}

void *create(const bbrlab_param *, std::uint32_t count, bbrlab_host *host) {
    Reno *reno = nullptr;
    guarded(host, [&] {
        if (count > 0) throw std::invalid_argument("reno_cc has no parameters");
        reno = new Reno;
    });
    return reno;
}

void destroy(void *cc) { delete static_cast<Reno *>(cc); }

std::int32_t ssthresh(void *cc, const bbrlab_conn *, const bbrlab_control *ctl,
                      std::uint32_t *ssthresh, bbrlab_host *host) {
    return guarded(host, [&] { *ssthresh = static_cast<Reno *>(cc)->ssthresh(*ctl); });
}

std::int32_t cong_avoid(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, std::uint32_t,
                        std::uint32_t acked, bbrlab_host *host) {
    return guarded(host, [&] { static_cast<Reno *>(cc)->cong_avoid(*conn, *ctl, acked); });
}

} // namespace

extern "C" const bbrlab_plugin *bbrlab_plugin_entry(void) {
    static const bbrlab_plugin plugin = [] {
        bbrlab_plugin made{};
        made.size = sizeof made;
        made.abi_version = BBRLAB_ABI_VERSION;
        made.name = "reno_cc";
        made.create = create;
        made.destroy = destroy;
        made.ssthresh = ssthresh;
        made.cong_avoid = cong_avoid;
        return made;
    }();
    return &plugin;
}
