/* The struct with the functions of the control in reno.go. */
#include "bbrlab.h"

int32_t renoSsthresh(void *cc, bbrlab_conn *conn, bbrlab_control *ctl, uint32_t *ssthresh,
                     bbrlab_host *host);
int32_t renoCongAvoid(void *cc, bbrlab_conn *conn, bbrlab_control *ctl, uint32_t ack,
                      uint32_t acked, bbrlab_host *host);

/* The casts remove `const`, because Go's pointers do not have it. */
static int32_t ssthresh(void *cc, const bbrlab_conn *conn, const bbrlab_control *ctl,
                        uint32_t *ssthresh, bbrlab_host *host) {
    return renoSsthresh(cc, (bbrlab_conn *)conn, (bbrlab_control *)ctl, ssthresh, host);
}

static int32_t cong_avoid(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl, uint32_t ack,
                          uint32_t acked, bbrlab_host *host) {
    return renoCongAvoid(cc, (bbrlab_conn *)conn, ctl, ack, acked, host);
}

const bbrlab_plugin *bbrlab_plugin_entry(void) {
    static const bbrlab_plugin plugin = {
        .size = sizeof(bbrlab_plugin), .abi_version = BBRLAB_ABI_VERSION, .name = "reno_go",
        .ssthresh = ssthresh, .cong_avoid = cong_avoid,
    };
    return &plugin;
}
