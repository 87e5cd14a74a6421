/* NewReno as a plugin of bbrlab, with the kernel's integer arithmetic. Results are those of `cc = "reno"`.
 *
 *   cc -O2 -fPIC -shared -I crates/bbrlab-ffi/include adapters/c/reno.c -o libreno.so
 *   bbrlab run examples.dumbbell --plugin ./libreno.so --set flows.cc=plugin:reno_c
 *
 * `cc_params = { beta = 0.7 }` sets the share of cwnd that is left after a loss.
 */
#include <stdlib.h>
#include <string.h>

#include "bbrlab.h"

struct reno {
    uint64_t beta_millionths;
};

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void *create(const bbrlab_param *params, uint32_t count, bbrlab_host *host) {
    struct reno *reno = malloc(sizeof *reno);
    if (!reno) return NULL;
    reno->beta_millionths = 500000;
    for (uint32_t i = 0; i < count; i++) {
        int is_beta = !strcmp(params[i].name, "beta") && params[i].kind == BBRLAB_PARAM_RATIO;
        if (is_beta && params[i].value > 0 && params[i].value < 1000000) {
            reno->beta_millionths = (uint64_t)params[i].value;
            continue;
        }
        host->fail(host, "expected `beta` with a number between 0 and 1");
        free(reno);
        return NULL;
    }
    return reno;
}

static int32_t ssthresh(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl,
                        uint32_t *ssthresh, bbrlab_host *host) {
    uint32_t left = (uint32_t)(ctl->cwnd * ((struct reno *)cc)->beta_millionths / 1000000);
    *ssthresh = left > 2 ? left : 2;
    return BBRLAB_OK;
}

static int32_t cong_avoid(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, uint32_t ack,
                          uint32_t acked, bbrlab_host *host) {
    int slow_start = bbrlab_in_slow_start(ctl);
    if (!conn->is_cwnd_limited && !(slow_start && ctl->cwnd < 2 * conn->max_packets_out)) return 0;
    if (slow_start) {
        uint32_t cwnd = smaller(ctl->cwnd + acked, ctl->ssthresh);
        acked -= cwnd - ctl->cwnd;
        ctl->cwnd = smaller(cwnd, ctl->cwnd_clamp);
        if (acked == 0) return BBRLAB_OK;
    }
    uint32_t weight = ctl->cwnd; /* one packet more per `weight` acknowledged packets */
    if (ctl->cwnd_cnt >= weight) {
        ctl->cwnd_cnt = 0;
        ctl->cwnd++;
    }
    ctl->cwnd_cnt += acked;
    ctl->cwnd += ctl->cwnd_cnt / weight;
    ctl->cwnd_cnt %= weight;
    ctl->cwnd = smaller(ctl->cwnd, ctl->cwnd_clamp);
    return BBRLAB_OK;
}

const bbrlab_plugin *bbrlab_plugin_entry(void) {
    static const bbrlab_plugin plugin = {
        .size = sizeof(bbrlab_plugin), .abi_version = BBRLAB_ABI_VERSION, .name = "reno_c",
        .create = create, .destroy = free, .ssthresh = ssthresh, .cong_avoid = cong_avoid,
    };
    return &plugin;
}
