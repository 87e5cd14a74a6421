// NewReno as a plugin of bbrlab in Go: the same results as `cc = "reno"`.
//
//	CGO_CFLAGS="-I$PWD/crates/bbrlab-ffi/include" go build -C adapters/go/reno -buildmode=c-shared -o "$PWD/libreno_go.so"
//	bbrlab run examples.dumbbell --plugin ./libreno_go.so --set flows.cc=plugin:reno_go
//
// The struct with the functions is in entry.c, because Go cannot declare a constant C struct.
package main

// #include "bbrlab.h"
import "C"

import "unsafe"

//export renoSsthresh
func renoSsthresh(cc unsafe.Pointer, conn *C.bbrlab_conn, ctl *C.bbrlab_control, ssthresh *C.uint32_t, host *C.bbrlab_host) C.int32_t {
	*ssthresh = max(ctl.cwnd/2, 2)
	return C.BBRLAB_OK
}

//export renoCongAvoid
func renoCongAvoid(cc unsafe.Pointer, conn *C.bbrlab_conn, ctl *C.bbrlab_control, ack, acked C.uint32_t, host *C.bbrlab_host) C.int32_t {
	slowStart := ctl.cwnd < ctl.ssthresh
	if conn.is_cwnd_limited == 0 && !(slowStart && ctl.cwnd < 2*conn.max_packets_out) {
		return C.BBRLAB_OK
	}
	if slowStart {
		cwnd := min(ctl.cwnd+acked, ctl.ssthresh)
		acked -= cwnd - ctl.cwnd
		ctl.cwnd = min(cwnd, ctl.cwnd_clamp)
		if acked == 0 {
			return C.BBRLAB_OK
		}
	}
	weight := ctl.cwnd
	if ctl.cwnd_cnt >= weight {
		ctl.cwnd_cnt = 0
		ctl.cwnd++
	}
	ctl.cwnd_cnt += acked
	ctl.cwnd += ctl.cwnd_cnt / weight
	ctl.cwnd_cnt %= weight
	ctl.cwnd = min(ctl.cwnd, ctl.cwnd_clamp)
	return C.BBRLAB_OK
}

func main() {}
