"""The cost of a congestion control in Python: CPU time per ACK, compared with the built-in ones.

One flow on a path of 100 Mbit/s and 40 ms. The fastest of several runs counts, because other programs on the machine
increase the time.

    python cost_per_ack.py
"""

from __future__ import annotations

import time
from typing import Any

import bbrlab as bl
from kernel_controls import Bbr1, Reno

SCENARIO = {
    "sample": "off",
    "bottleneck": {"rate": "100Mbit/s", "buffer": "1bdp"},
    "flows": [{"cc": "reno", "rtt": "40ms"}],
}


class Least(bl.CongestionControl):
    """The cheapest congestion control: a constant cwnd."""

    def cong_control(self, conn: bl.Conn, rs: bl.RateSample, draw: bl.Draw) -> None:
        conn.ctl.cwnd = 300


def cost(control: str | type[bl.CongestionControl], duration: str, times: int) -> tuple[float, int]:
    """Returns the CPU seconds of a run and its number of ACKs."""
    given: dict[str, Any] = {**SCENARIO, "duration": duration, "flows": [{"cc": control, "rtt": "40ms"}]}
    acks = len(bl.run(given, {"sample": "ack"}).series)
    spent = []
    for _ in range(times):
        started = time.process_time()
        bl.run(given)
        spent.append(time.process_time() - started)
    return min(spent), acks


def measure(duration: str = "30s", times: int = 5) -> list[tuple[str, float, int]]:
    """Returns name, CPU microseconds per ACK and number of ACKs for each congestion control."""
    controls: list[tuple[str, str | type[bl.CongestionControl]]] = [
        ("built-in reno", "reno"),
        ("built-in bbr1", "bbr1"),
        ("a window that stays, in Python", Least),
        ("Reno in Python", Reno),
        ("BBR v1 in Python", Bbr1),
    ]
    rows = []
    for name, control in controls:
        seconds, acks = cost(control, duration, times)
        rows.append((name, seconds * 1e6 / acks, acks))
    return rows


def main() -> None:
    """Measures and prints the costs."""
    rows = measure()
    reno = rows[0][1]
    for name, us, acks in rows:
        print(f"{name:32} {us:6.2f} us of CPU per ACK, {us / reno:5.1f} times built-in reno ({acks} ACKs)")


if __name__ == "__main__":
    main()
