"""Reno and BBR v1 as classes that compute with integers as the kernel does: templates for custom congestion controls.

Runs with the two classes have the same digests as the built-in `reno` and `bbr1`. This program compares them:

    python kernel_controls.py
"""

from __future__ import annotations

import bbrlab as bl
from bbrlab import CaState, Conn, Control, CwndEvent, Draw, PacingStatus, RateSample

U32 = 0xFFFF_FFFF
INFINITE_SSTHRESH = 0x7FFF_FFFF


def is_after(a: int, b: int) -> bool:
    """Whether a comes after b on a 32-bit counter that wraps."""
    return (b - a) & U32 >= 1 << 31


class Reno(bl.CongestionControl):
    """Linux's `tcp_cong.c`: one more packet per round trip, half the window on loss."""

    def ssthresh(self, conn: Conn) -> int:
        return max(conn.ctl.cwnd >> 1, 2)

    def undo_cwnd(self, conn: Conn) -> int:
        return max(conn.ctl.cwnd, conn.prior_cwnd)

    def cong_avoid(self, conn: Conn, ack: int, acked: int) -> None:
        ctl = conn.ctl
        if not (conn.is_cwnd_limited or (conn.in_slow_start and ctl.cwnd < 2 * conn.max_packets_out)):
            return
        if conn.in_slow_start:
            grown = min(ctl.cwnd + acked, ctl.ssthresh)
            acked -= grown - ctl.cwnd
            ctl.cwnd = min(grown, ctl.cwnd_clamp)
            if acked == 0:
                return
        self.grow(ctl, ctl.cwnd, acked)

    def grow(self, ctl: Control, weight: int, acked: int) -> None:
        """Adds one packet per `weight` acknowledged packets. Linux: `tcp_cong_avoid_ai`."""
        cwnd, cnt = ctl.cwnd, ctl.cwnd_cnt
        if cnt >= weight:
            cnt = 0
            cwnd += 1
        cnt += acked
        if cnt >= weight:
            cwnd += cnt // weight
            cnt %= weight
        ctl.cwnd_cnt = cnt
        ctl.cwnd = min(cwnd, ctl.cwnd_clamp)


UNIT = 256
HIGH_GAIN = 256 * 2885 // 1000 + 1
DRAIN_GAIN = 256 * 1000 // 2885
CWND_GAIN = 2 * 256
CYCLE = (320, 192, 256, 256, 256, 256, 256, 256)
BW_SCALE = 24
CWND_MIN = 4
NO_RTT = U32

STARTUP, DRAIN, PROBE_BW, PROBE_RTT = range(4)


class MaxFilter:
    """The maximum of the bandwidth samples of the last round trips, computed from the best three samples. Linux:
    `lib/win_minmax.c`."""

    def __init__(self) -> None:
        self.samples = [(0, 0)] * 3

    @property
    def best(self) -> int:
        return self.samples[0][1]

    def add(self, window: int, now: int, value: int) -> None:
        s, new = self.samples, (now, value)
        if value >= s[0][1] or (now - s[2][0]) & U32 > window:
            self.samples = [new] * 3
            return
        if value >= s[1][1]:
            s[1] = s[2] = new
        elif value >= s[2][1]:
            s[2] = new
        age = (now - s[0][0]) & U32
        if age > window:
            s[:] = [s[1], s[2], new]
            if (now - s[0][0]) & U32 > window:
                s[:] = [s[1], s[2], new]
        elif age > window // 4 and s[1][0] == s[0][0]:
            s[1] = s[2] = new
        elif age > window // 2 and s[2][0] == s[1][0]:
            s[2] = new


class Bbr1(bl.CongestionControl):
    """Linux's `tcp_bbr.c`. The methods have the names of the kernel's functions, without `bbr_`."""

    def __init__(self) -> None:
        # At the ACK that ends the handshake, `cong_control` is called before `init`; at that call, all fields of the
        # model are zero.
        self.pacing_gain = self.cwnd_gain = 0
        self.start(0, 0)
        self.min_rtt_us = self.min_rtt_stamp = 0
        self.lt_last_stamp = self.lt_last_delivered = self.lt_last_lost = self.lt_rtt_cnt = 0

    def start(self, delivered: int, now_us: int) -> None:
        """Resets everything except the gains, the minimum RTT and the policer's interval."""
        self.mode = STARTUP
        self.max_bw = MaxFilter()
        self.rtt_cnt = 0
        self.next_rtt_delivered = delivered
        self.round_start = False
        self.probe_rtt_done_stamp, self.probe_rtt_round_done = 0, False
        self.prior_cwnd = 0
        self.prev_ca_state = CaState.OPEN
        self.packet_conservation = False
        self.full_bw, self.full_bw_cnt, self.full_bw_reached = 0, 0, False
        self.cycle_idx, self.cycle_mstamp = 0, 0
        self.idle_restart = self.has_seen_rtt = False
        self.ack_epoch_mstamp, self.ack_epoch_acked = now_us, 0
        self.extra_acked, self.extra_acked_win_rtts, self.extra_acked_win_idx = [0, 0], 0, 0
        self.lt_bw, self.lt_use_bw, self.lt_is_sampling = 0, False, False

    def init(self, conn: Conn, draw: Draw) -> None:
        ctl = conn.ctl
        ctl.ssthresh = INFINITE_SSTHRESH
        self.start(conn.delivered, conn.tcp_mstamp)
        self.min_rtt_us, self.min_rtt_stamp = conn.min_rtt_us, conn.jiffies
        self.reset_lt_bw_sampling(conn)
        self.init_pacing_rate_from_rtt(conn)
        if ctl.pacing_status == PacingStatus.NONE:
            ctl.pacing_status = PacingStatus.NEEDED

    def cong_control(self, conn: Conn, rs: RateSample, draw: Draw) -> None:
        self.update_model(conn, rs, draw)
        bw = self.bw()
        self.set_pacing_rate(conn, bw, self.pacing_gain)
        self.set_cwnd(conn, rs, bw)

    def cwnd_event(self, conn: Conn, event: CwndEvent, draw: Draw) -> None:
        if event != CwndEvent.TX_START or conn.ctl.app_limited == 0:
            return
        self.idle_restart = True
        self.ack_epoch_mstamp, self.ack_epoch_acked = conn.tcp_mstamp, 0
        if self.mode == PROBE_BW:
            self.set_pacing_rate(conn, self.bw(), UNIT)
        elif self.mode == PROBE_RTT and self.is_probe_rtt_done(conn):
            self.leave_probe_rtt(conn, draw)

    def set_state(self, conn: Conn, new: CaState, draw: Draw) -> None:
        if new == CaState.LOSS:
            self.prev_ca_state = CaState.LOSS
            self.full_bw = 0
            self.round_start = True
            self.lt_bw_sampling(conn, 1, False, draw)

    def ssthresh(self, conn: Conn) -> int:
        self.save_cwnd(conn.ctl.cwnd)
        return conn.ctl.ssthresh

    def undo_cwnd(self, conn: Conn) -> int:
        self.full_bw = self.full_bw_cnt = 0
        self.reset_lt_bw_sampling(conn)
        return conn.ctl.cwnd

    def min_tso_segs(self, conn: Conn) -> int:
        return self.min_segs(conn.ctl.pacing_rate)

    def sndbuf_expand(self) -> int:
        return 3

    def info(self, conn: Conn) -> bl.Info:
        report: bl.Info = {"bw": self.bw() * conn.mss * 1_000_000 >> BW_SCALE}
        if self.min_rtt_us != NO_RTT:
            report["min_rtt_us"] = self.min_rtt_us
        return report

    # The functions below update the model of the path.

    def update_model(self, conn: Conn, rs: RateSample, draw: Draw) -> None:
        self.round_start = False
        if rs.delivered >= 0 and rs.interval_us > 0:
            if not is_after(self.next_rtt_delivered, rs.prior_delivered):
                self.next_rtt_delivered = conn.delivered
                self.rtt_cnt = (self.rtt_cnt + 1) & U32
                self.round_start = True
                self.packet_conservation = False
            self.lt_bw_sampling(conn, rs.losses, rs.is_app_limited, draw)
            bw = (rs.delivered << BW_SCALE) // rs.interval_us
            if not rs.is_app_limited or bw >= self.max_bw.best:
                self.max_bw.add(10, self.rtt_cnt, bw & U32)
            self.update_ack_aggregation(conn, rs)
        if self.mode == PROBE_BW and self.is_next_cycle_phase(conn, rs):
            self.advance_cycle_phase(conn)
        if self.round_start and not rs.is_app_limited:
            self.check_full_bw_reached()
        self.check_drain(conn, draw)
        self.update_min_rtt(conn, rs, draw)
        if rs.delivered > 0:
            self.idle_restart = False
        self.update_gains()

    def bw(self) -> int:
        return self.lt_bw if self.lt_use_bw else self.max_bw.best

    def update_ack_aggregation(self, conn: Conn, rs: RateSample) -> None:
        if rs.acked_sacked == 0:
            return
        if self.round_start:
            self.extra_acked_win_rtts = min(self.extra_acked_win_rtts + 1, 31)
            if self.extra_acked_win_rtts >= 5:
                self.extra_acked_win_rtts = 0
                self.extra_acked_win_idx ^= 1
                self.extra_acked[self.extra_acked_win_idx] = 0
        epoch_us = max(conn.delivered_mstamp - self.ack_epoch_mstamp, 0)
        expected = self.bw() * epoch_us >> BW_SCALE
        if self.ack_epoch_acked <= expected or self.ack_epoch_acked + rs.acked_sacked >= 1 << 20:
            self.ack_epoch_mstamp, self.ack_epoch_acked, expected = conn.delivered_mstamp, 0, 0
        self.ack_epoch_acked = min(self.ack_epoch_acked + rs.acked_sacked, (1 << 20) - 1)
        extra = min(self.ack_epoch_acked - expected, conn.ctl.cwnd)
        if extra > self.extra_acked[self.extra_acked_win_idx]:
            self.extra_acked[self.extra_acked_win_idx] = extra & 0xFFFF

    def check_full_bw_reached(self) -> None:
        if self.full_bw_reached:
            return
        if self.max_bw.best >= self.full_bw * 320 >> 8:
            self.full_bw, self.full_bw_cnt = self.max_bw.best, 0
            return
        self.full_bw_cnt += 1
        self.full_bw_reached = self.full_bw_cnt >= 3

    def check_drain(self, conn: Conn, draw: Draw) -> None:
        if self.mode == STARTUP and self.full_bw_reached:
            self.mode = DRAIN
            conn.ctl.ssthresh = self.inflight(conn, self.max_bw.best, UNIT)
        if self.mode == DRAIN and self.is_drained(conn, conn.inflight):
            self.reset_probe_bw_mode(conn, draw)

    def reset_probe_bw_mode(self, conn: Conn, draw: Draw) -> None:
        self.mode = PROBE_BW
        self.cycle_idx = 7 - draw.below(7)
        self.advance_cycle_phase(conn)

    def advance_cycle_phase(self, conn: Conn) -> None:
        self.cycle_idx = (self.cycle_idx + 1) & 7
        self.cycle_mstamp = conn.delivered_mstamp

    def is_next_cycle_phase(self, conn: Conn, rs: RateSample) -> bool:
        is_full_length = max(conn.delivered_mstamp - self.cycle_mstamp, 0) > self.min_rtt_us
        if self.pacing_gain == UNIT:
            return is_full_length
        if self.pacing_gain > UNIT:
            target = self.inflight(conn, self.max_bw.best, self.pacing_gain)
            return is_full_length and (rs.losses != 0 or self.packets_in_net_at_edt(conn, rs.prior_in_flight) >= target)
        return is_full_length or self.is_drained(conn, rs.prior_in_flight)

    def is_drained(self, conn: Conn, inflight: int) -> bool:
        return self.packets_in_net_at_edt(conn, inflight) <= self.inflight(conn, self.max_bw.best, UNIT)

    def update_min_rtt(self, conn: Conn, rs: RateSample, draw: Draw) -> None:
        is_expired = is_after(conn.jiffies, self.min_rtt_stamp + 10 * conn.hz)
        if rs.rtt_us >= 0 and (rs.rtt_us < self.min_rtt_us or (is_expired and not rs.is_ack_delayed)):
            self.min_rtt_us, self.min_rtt_stamp = rs.rtt_us, conn.jiffies
        if is_expired and not self.idle_restart and self.mode != PROBE_RTT:
            self.mode = PROBE_RTT
            self.save_cwnd(conn.ctl.cwnd)
            self.probe_rtt_done_stamp = 0
        if self.mode != PROBE_RTT:
            return
        conn.ctl.app_limited = max((conn.delivered + conn.inflight) & U32, 1)
        if self.probe_rtt_done_stamp != 0:
            self.probe_rtt_round_done |= self.round_start
            if self.probe_rtt_round_done and self.is_probe_rtt_done(conn):
                self.leave_probe_rtt(conn, draw)
        elif conn.inflight <= CWND_MIN:
            self.probe_rtt_done_stamp = (conn.jiffies + -(-200 * conn.hz // 1000)) & U32
            self.probe_rtt_round_done = False
            self.next_rtt_delivered = conn.delivered

    def is_probe_rtt_done(self, conn: Conn) -> bool:
        return self.probe_rtt_done_stamp != 0 and is_after(conn.jiffies, self.probe_rtt_done_stamp)

    def leave_probe_rtt(self, conn: Conn, draw: Draw) -> None:
        self.min_rtt_stamp = conn.jiffies
        conn.ctl.cwnd = max(conn.ctl.cwnd, self.prior_cwnd)
        if self.full_bw_reached:
            self.reset_probe_bw_mode(conn, draw)
        else:
            self.mode = STARTUP

    def update_gains(self) -> None:
        if self.mode == PROBE_BW:
            self.pacing_gain = UNIT if self.lt_use_bw else CYCLE[self.cycle_idx]
            self.cwnd_gain = CWND_GAIN
        elif self.mode == PROBE_RTT:
            self.pacing_gain = self.cwnd_gain = UNIT
        else:
            self.pacing_gain = HIGH_GAIN if self.mode == STARTUP else DRAIN_GAIN
            self.cwnd_gain = HIGH_GAIN

    # The functions below set the pacing rate and cwnd from the model.

    def rate(self, conn: Conn, bw: int, gain: int) -> int:
        return (bw * conn.mss * gain >> 8) * 990_000 >> BW_SCALE

    def min_segs(self, pacing_rate: int) -> int:
        return 1 if pacing_rate < 1_200_000 >> 3 else 2

    def segs_goal(self, conn: Conn) -> int:
        rate = conn.ctl.pacing_rate
        return min(max(min(rate >> conn.pacing_shift, 65536 - 1 - 320) // conn.mss, self.min_segs(rate)), 127)

    def init_pacing_rate_from_rtt(self, conn: Conn) -> None:
        rtt_us = 1000
        if conn.srtt_us != 0:
            self.has_seen_rtt = True
            rtt_us = max(conn.srtt_us >> 3, 1)
        bw = (conn.ctl.cwnd << BW_SCALE) // rtt_us
        conn.ctl.pacing_rate = min(self.rate(conn, bw, HIGH_GAIN), conn.max_pacing_rate)

    def set_pacing_rate(self, conn: Conn, bw: int, gain: int) -> None:
        rate = min(self.rate(conn, bw, gain), conn.max_pacing_rate)
        if not self.has_seen_rtt and conn.srtt_us != 0:
            self.init_pacing_rate_from_rtt(conn)
        if self.full_bw_reached or rate > conn.ctl.pacing_rate:
            conn.ctl.pacing_rate = rate

    def bdp(self, bw: int, gain: int) -> int:
        if self.min_rtt_us == NO_RTT:
            return 10
        return ((bw * self.min_rtt_us * gain >> 8) + (1 << BW_SCALE) - 1) >> BW_SCALE

    def quantization_budget(self, conn: Conn, cwnd: int) -> int:
        cwnd = (cwnd + 3 * self.segs_goal(conn) + 1) & ~1
        return cwnd + 2 if self.mode == PROBE_BW and self.cycle_idx == 0 else cwnd

    def inflight(self, conn: Conn, bw: int, gain: int) -> int:
        return self.quantization_budget(conn, self.bdp(bw, gain))

    def packets_in_net_at_edt(self, conn: Conn, inflight_now: int) -> int:
        interval_us = max(conn.wstamp_ns - conn.clock_ns, 0) // 1000
        burst = self.segs_goal(conn) if self.pacing_gain > UNIT else 0
        return max(inflight_now + burst - (self.bw() * interval_us >> BW_SCALE), 0)

    def save_cwnd(self, cwnd: int) -> None:
        is_cut = self.prev_ca_state >= CaState.RECOVERY or self.mode == PROBE_RTT
        self.prior_cwnd = max(self.prior_cwnd, cwnd) if is_cut else cwnd

    def set_cwnd(self, conn: Conn, rs: RateSample, bw: int) -> None:
        ctl, cwnd = conn.ctl, conn.ctl.cwnd
        if rs.acked_sacked:
            cwnd = self.recover_or_restore(conn, rs, cwnd)
            if self.packet_conservation:
                cwnd = max(cwnd, conn.inflight + rs.acked_sacked)
            else:
                cwnd = self.grown(conn, rs, cwnd, bw)
        cwnd = min(cwnd, ctl.cwnd_clamp)
        ctl.cwnd = min(cwnd, CWND_MIN) if self.mode == PROBE_RTT else cwnd

    def recover_or_restore(self, conn: Conn, rs: RateSample, cwnd: int) -> int:
        before, now = self.prev_ca_state, conn.ca_state
        if rs.losses > 0:
            cwnd = max(cwnd - rs.losses, 1)
        if now == CaState.RECOVERY and before != CaState.RECOVERY:
            self.packet_conservation = True
            self.next_rtt_delivered = conn.delivered
            cwnd = conn.inflight + rs.acked_sacked
        elif before >= CaState.RECOVERY > now:
            cwnd = max(cwnd, self.prior_cwnd)
            self.packet_conservation = False
        self.prev_ca_state = now
        return cwnd

    def grown(self, conn: Conn, rs: RateSample, cwnd: int, bw: int) -> int:
        target = self.bdp(bw, self.cwnd_gain)
        if self.full_bw_reached:
            target += min(max(self.extra_acked), bw * 100_000 >> BW_SCALE)
            cwnd = min(cwnd + rs.acked_sacked, self.quantization_budget(conn, target))
        elif cwnd < self.quantization_budget(conn, target) or conn.delivered < 10:
            cwnd += rs.acked_sacked
        return max(cwnd, CWND_MIN)

    # Detection of a policer.

    def reset_lt_bw_sampling(self, conn: Conn) -> None:
        self.lt_bw, self.lt_use_bw, self.lt_is_sampling = 0, False, False
        self.reset_lt_bw_sampling_interval(conn)

    def reset_lt_bw_sampling_interval(self, conn: Conn) -> None:
        self.lt_last_stamp = conn.delivered_mstamp // 1000 & U32
        self.lt_last_delivered, self.lt_last_lost, self.lt_rtt_cnt = conn.delivered, conn.lost, 0

    def lt_bw_sampling(self, conn: Conn, losses: int, is_app_limited: bool, draw: Draw) -> None:
        if self.lt_use_bw:
            if self.mode == PROBE_BW and self.round_start:
                self.lt_rtt_cnt += 1
                if self.lt_rtt_cnt >= 48:
                    self.reset_lt_bw_sampling(conn)
                    self.reset_probe_bw_mode(conn, draw)
            return
        if not self.lt_is_sampling:
            if losses == 0:
                return
            self.reset_lt_bw_sampling_interval(conn)
            self.lt_is_sampling = True
        if is_app_limited:
            self.reset_lt_bw_sampling(conn)
            return
        self.lt_rtt_cnt += self.round_start
        if self.lt_rtt_cnt < 4:
            return
        if self.lt_rtt_cnt > 16:
            self.reset_lt_bw_sampling(conn)
            return
        if losses == 0:
            return
        lost = (conn.lost - self.lt_last_lost) & U32
        delivered = (conn.delivered - self.lt_last_delivered) & U32
        if delivered == 0 or (lost << 8) & U32 < (50 * delivered) & U32:
            return
        interval_ms = ((conn.delivered_mstamp // 1000) - self.lt_last_stamp) & U32
        if interval_ms == 0 or interval_ms >= 1 << 31:
            return
        if interval_ms >= U32 // 1000:
            self.reset_lt_bw_sampling(conn)
            return
        self.lt_bw_interval_done(conn, (delivered << BW_SCALE) // (interval_ms * 1000))

    def lt_bw_interval_done(self, conn: Conn, bw: int) -> None:
        if self.lt_bw:
            difference = abs(bw - self.lt_bw)
            if difference * UNIT <= 32 * self.lt_bw or self.rate(conn, difference, UNIT) <= 4000 // 8:
                self.lt_bw = (bw + self.lt_bw) >> 1
                self.lt_use_bw, self.lt_rtt_cnt = True, 0
                self.pacing_gain = UNIT
                return
        self.lt_bw = bw
        self.reset_lt_bw_sampling_interval(conn)


def main() -> None:
    """Compares the digests."""
    for built_in, control in [("reno", Reno), ("bbr1", Bbr1)]:
        theirs = bl.run("examples.dumbbell", {"flows.cc": built_in}).digest
        ours = bl.run("examples.dumbbell", {"flows.cc": control}).digest
        print(f"{built_in}: {theirs}, in Python {ours}")


if __name__ == "__main__":
    main()
