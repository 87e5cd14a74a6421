"""A Gymnasium environment in which an agent sets cwnd, and optionally the pacing rate, of a flow.

The agent's flow has a custom congestion control (`bbrlab.CongestionControl`), and the simulator is advanced step by
step. The environment needs `pip install "./python[gym]"`. Importing this module registers `bbrlab/Window-v0`.

>>> import gymnasium
>>> import bbrlab.gym
>>> env = gymnasium.make("bbrlab/Window-v0", scenario="examples.dumbbell", step="rtt")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample() * 0)
>>> observation.shape, truncated
((6,), False)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from . import _bbrlab
from ._bbrlab import Conn, Draw, RateSample, Scenario
from ._control import CaState, CongestionControl, PacingStatus
from ._errors import ScenarioError, UsageError
from ._results import Result
from ._run import PACKETS_MAX, Controls, Given, whole

__all__ = ["OBSERVATION", "Array", "BbrlabEnv", "log_power"]

Array = npt.NDArray[np.float32]

OBSERVATION = ("throughput_mbps", "rtt_ms", "min_rtt_ms", "loss", "inflight_packets", "cwnd_packets")
"""The names of an observation's values, in order."""

_HIGHEST = (1e6, 1e7, 1e7, 1.0, 1e9, 1e9)

CWND_MIN = 2
"""The smallest window of an agent, in packets."""

CWND_MOST = 2**30
"""The largest window of any sender, in packets."""

CWND_FIRST = 10
"""cwnd in packets until the first step, which sets another value."""

_UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}

_UNKNOWN_RTT_US = 100_000
"""The RTT in microseconds that determines the length of a step before the first RTT sample."""


def log_power(observation: Array) -> float:
    """Returns the default reward: log2(throughput in Mbit/s) - log2(rtt / min_rtt) - 10 loss.

    Twice the throughput adds 1, and so does half the RTT; a loss of 10 % subtracts 1. A step in which nothing is
    delivered counts as 0.01 Mbit/s.
    """
    throughput, rtt, min_rtt, loss = (float(value) for value in observation[:4])
    stretch = rtt / min_rtt if min_rtt > 0 else 1.0
    return math.log2(max(throughput, 0.01)) - math.log2(max(stretch, 1.0)) - 10 * loss


class _Hand:
    """The values that the agent has set, and the flow's measurements since the step began."""

    def __init__(self, paced: bool, cwnd_max: int) -> None:
        self.paced = paced
        self.cwnd_max = cwnd_max
        self.restart()

    def restart(self) -> None:
        """Resets all values for a new episode."""
        self.conn: Conn | None = None
        self.cwnd = min(CWND_FIRST, self.cwnd_max)
        self.pacing_gain = 1.0
        self.min_rtt_us = 0
        self.rtt_us = 0.0
        self.begin()

    def begin(self) -> None:
        """Resets the measurements for a new step."""
        self.acked = self.lost = self.rtts = self.rtt_sum_us = 0


class _Agent(CongestionControl):
    """The congestion control of the agent's flow. Each environment makes its own subclass, whose `hand` is the
    environment's `_Hand`."""

    hand: ClassVar[_Hand]

    def init(self, conn: Conn, draw: Draw) -> None:
        self.hand.conn = conn
        if self.hand.paced and conn.ctl.pacing_status == PacingStatus.NONE:
            conn.ctl.pacing_status = PacingStatus.NEEDED
        self._set(conn)

    def cong_control(self, conn: Conn, rs: RateSample, draw: Draw) -> None:
        hand = self.hand
        hand.acked += rs.acked_sacked
        hand.lost += rs.losses
        rtt_us = rs.rtt_us
        if rtt_us > 0:
            hand.rtts += 1
            hand.rtt_sum_us += rtt_us
            if hand.min_rtt_us == 0 or rtt_us < hand.min_rtt_us:
                hand.min_rtt_us = rtt_us
        self._set(conn)

    def undo_cwnd(self, conn: Conn) -> int:
        return conn.ctl.cwnd

    def set_state(self, conn: Conn, new: CaState, draw: Draw) -> None:
        if new == CaState.LOSS:
            # A timeout marks everything outstanding as lost, but no ACK reports this. The class therefore
            # counts one lost packet.
            self.hand.lost += 1

    def _set(self, conn: Conn) -> None:
        hand, ctl = self.hand, conn.ctl
        ctl.cwnd = min(hand.cwnd, ctl.cwnd_clamp)
        if hand.paced and conn.srtt_us:
            rate = hand.pacing_gain * hand.cwnd * conn.mss * 8_000_000 / conn.srtt_us
            ctl.pacing_rate = min(max(int(rate), 1), conn.max_pacing_rate)


class BbrlabEnv(gymnasium.Env[Array, Array]):
    """A flow whose window an agent sets once per step.

    **Action**, `Box(-1, 1, (1,))`, or `(2,)` with `paced`: the window is multiplied by 2 ** action[0], i.e. by 0.5 to
    2, within 2 to `cwnd_max` packets. With `paced`, the flow is paced at 2 ** action[1] windows per smoothed RTT. The
    action takes effect with the next ACK and applies in all states of recovery. There is one exception: after a
    retransmission timeout, the window is one packet until the next ACK.

    **Observation**, `Box(float32, (6,))`, with the names in `OBSERVATION`. The values are measured over
    the last step unless the table says otherwise:

    | value | unit | meaning |
    | --- | --- | --- |
    | `throughput_mbps` | Mbit/s | payload newly acknowledged |
    | `rtt_ms` | ms | mean of the RTT samples; the previous mean if there is none |
    | `min_rtt_ms` | ms | the smallest RTT sample of the episode |
    | `loss` | share | packets marked lost / (those + packets delivered) |
    | `inflight_packets` | packets | packets in flight at the last event |
    | `cwnd_packets` | packets | the window that the agent has set |

    **Reward**: `log_power` of the observation, or what the argument `reward` returns for the observation.

    **Episode**: from the end of the step in which the flow connects to the end of the scenario, then `truncated`;
    `terminated` is never true. The last step of an episode may be shorter than the others. The seed of the run is
    drawn from the environment's generator, so `reset(seed=...)` determines the whole episode. After the end, `result`
    has the run's results.

    Args:
        scenario: A scenario of one run, or a function that draws such a scenario for each episode with the
            environment's random generator.
        flow: The index of the agent's table in `[[flows]]`, from 0. The table must have one flow. The flow's `cc` is
            replaced.
        step: The length of a step: a time such as `"10ms"`, a number of seconds, or `"rtt"`, the flow's smoothed RTT.
        paced: Whether the agent also sets the pacing rate.
        cwnd_max: The largest window, in packets.
        reward: A function that returns the reward for an observation.
        controls: Custom congestion controls for other flows.

    >>> env = BbrlabEnv({"duration": "2s", "bottleneck": {"rate": "10Mbit/s", "buffer": "2bdp"},
    ...                  "flows": [{"cc": "reno", "rtt": "40ms"}]}, step="rtt")
    >>> observation, info = env.reset(seed=7)
    >>> for _ in range(20):
    ...     observation, reward, terminated, truncated, info = env.step(np.zeros(1, np.float32))
    >>> float(observation[5]), float(observation[0]).__round__(1)
    (10.0, 2.7)
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        scenario: Given | Callable[[np.random.Generator], Given] = "examples.dumbbell",
        flow: int = 0,
        *,
        step: str | float = "100ms",
        paced: bool = False,
        cwnd_max: int = 100_000,
        reward: Callable[[Array], float] = log_power,
        controls: Controls | None = None,
    ) -> None:
        if not callable(reward):
            raise TypeError(f"reward: expected a function of an observation, found {reward!r} of type {type(reward).__name__}")
        self._given = scenario
        self._flow = whole("flow", flow, 0, PACKETS_MAX, "the index of a table of [[flows]], from 0")
        self._step_ns = None if isinstance(step, str) and step == "rtt" else _nanoseconds(step)
        self._cwnd_max = whole("cwnd_max", cwnd_max, CWND_MIN, CWND_MOST, f"packets from {CWND_MIN} to {CWND_MOST}")
        self._reward = reward
        self._controls = {} if controls is None else controls
        self._paced = paced
        self._fixed: tuple[Scenario, _Hand] | None = None
        if not callable(scenario):
            self._fixed = self._with_agent(scenario)
        self.observation_space = gymnasium.spaces.Box(
            np.zeros(len(OBSERVATION), np.float32), np.array(_HIGHEST, np.float32), dtype=np.float32
        )
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (2 if paced else 1,), np.float32)
        self._simulation: _bbrlab.Simulation | None = None
        self._hand = _Hand(paced, self._cwnd_max)
        self._cwnd = 0.0
        self._now_ns = 0
        self._result: Result | None = None

    @property
    def result(self) -> Result:
        """The results of the last completed episode.

        Raises:
            UsageError: If no episode has ended.
        """
        if self._result is None:
            raise UsageError("result: expected an episode that has ended, found none")
        return self._result

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begins an episode: runs the scenario in whole steps until the agent's flow is connected."""
        super().reset(seed=seed)
        scenario, hand = self._fixed or self._with_agent(self._drawn())
        hand.restart()
        self._hand = hand
        self._simulation = _bbrlab.Simulation(scenario.set({"seed": int(self.np_random.integers(2**31))}), 0)
        self._cwnd = float(hand.cwnd)
        self._now_ns = 0
        done = False
        while hand.conn is None and not done:
            done = self._advance()
        hand.begin()
        return self._observation(1), self._info()

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Sets cwnd and runs a step.

        Raises:
            ValueError: If the action has another shape than `action_space`, or a value that is infinite or not a
                number.
            gymnasium.error.ResetNeeded: If no episode is in progress.
        """
        if self._simulation is None:
            raise gymnasium.error.ResetNeeded("step: expected an episode in progress, found none; reset begins one")
        try:
            given = np.asarray(action, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.empty(0)
        if given.shape != self.action_space.shape or not np.isfinite(given).all():
            raise ValueError(f"action: expected numbers of the shape {self.action_space.shape}, found {action!r}")
        given = np.clip(given, -1.0, 1.0)
        self._cwnd = min(max(self._cwnd * 2.0 ** float(given[0]), CWND_MIN), self._cwnd_max)
        hand = self._hand
        hand.cwnd = round(self._cwnd)
        if self._paced:
            hand.pacing_gain = 2.0 ** float(given[1])
        hand.begin()
        before = self._now_ns
        truncated = self._advance()
        if truncated:
            self._result = Result(self._simulation.finish())
            self._simulation = None
            self._now_ns = round(self._result.summary["sim_s"] * 1e9)
        observation = self._observation(max(self._now_ns - before, 1))
        return observation, self._worth(observation), False, truncated, self._info()

    def close(self) -> None:
        """Aborts the current episode."""
        self._simulation = None

    def _worth(self, observation: Array) -> float:
        reward = self._reward(observation)
        try:
            return float(reward)
        except (TypeError, ValueError):
            found = f"{reward!r} of type {type(reward).__name__}"
            raise TypeError(f"reward: expected a function that returns a number, found one that returns {found}") from None

    def _drawn(self) -> Given:
        assert callable(self._given)
        return self._given(self.np_random)

    def _with_agent(self, given: Given) -> tuple[Scenario, _Hand]:
        hand = _Hand(self._paced, self._cwnd_max)
        agent = type("agent", (_Agent,), {"hand": hand})
        flow = self._flow
        try:
            scenario = Scenario(given, {f"flows[{flow}].cc": agent, f"flows[{flow}].cc_params": {}}, controls=self._controls)
        except ScenarioError as error:
            try:
                tables = Scenario(given, controls=self._controls)._flows_of_tables()
            except ScenarioError:
                raise error from None
            if flow < len(tables):
                raise
            # Without the agent, the scenario is valid, but it has no table with the index `flow`.
            raise UsageError(f"flow: expected the index of a table of [[flows]] from 0 to {len(tables) - 1}, found {flow}") from None
        if scenario.runs != 1:
            raise UsageError(f"{scenario.name}: expected a scenario of one run, found {scenario.runs} runs")
        flows = scenario._flows_of_tables()[flow]
        if flows != 1:
            found = "one with `arrivals`" if flows is None else f"one of {flows} flows"
            raise UsageError(f"flow: expected a table of one flow, found {found} in flows[{flow}]; an agent sets the window of one flow")
        return scenario, hand

    def _advance(self) -> bool:
        assert self._simulation is not None
        step_ns = self._step_ns
        if step_ns is None:
            srtt_us = self._hand.conn.srtt_us >> 3 if self._hand.conn is not None else 0
            step_ns = (srtt_us or _UNKNOWN_RTT_US) * 1000
        self._now_ns += step_ns
        return self._simulation.advance(self._now_ns)

    def _observation(self, span_ns: int) -> Array:
        hand, conn = self._hand, self._hand.conn
        if hand.rtts:
            hand.rtt_us = hand.rtt_sum_us / hand.rtts
        elif hand.rtt_us == 0 and conn is not None:
            hand.rtt_us = float(conn.srtt_us >> 3)
        rtt_us = hand.rtt_us
        min_rtt_us = hand.min_rtt_us or rtt_us
        packets = hand.acked + hand.lost
        values = (
            hand.acked * (conn.mss if conn else 0) * 8e3 / span_ns,
            rtt_us / 1e3,
            min_rtt_us / 1e3,
            hand.lost / packets if packets else 0.0,
            conn.inflight if conn else 0,
            hand.cwnd,
        )
        return np.minimum(np.array(values, np.float32), self.observation_space.high)  # type: ignore[attr-defined]

    def _info(self) -> dict[str, Any]:
        return {"time_s": self._now_ns / 1e9}


def _nanoseconds(step: str | float) -> int:
    """Returns the length of a step in nanoseconds, from a text such as "10ms" or a number of seconds."""
    expected = 'expected a time such as "10ms", seconds, or "rtt"'
    if not isinstance(step, (str, Real)) or isinstance(step, bool):
        raise TypeError(f"step: {expected}, found {step!r} of type {type(step).__name__}")
    seconds = math.nan
    if isinstance(step, str):
        number = step.rstrip("abcdefghijklmnopqrstuvwxyz").strip()
        unit = step[len(step.rstrip("abcdefghijklmnopqrstuvwxyz")) :]
        try:
            seconds = float(number) * _UNITS_S.get(unit, math.nan)
        except ValueError:
            pass
    else:
        seconds = float(step)
    if not 1e-6 <= seconds <= 1e6:
        raise UsageError(f"step: {expected}, found {step!r}")
    return round(seconds * 1e9)


if "bbrlab/Window-v0" not in gymnasium.registry:
    gymnasium.register(id="bbrlab/Window-v0", entry_point="bbrlab.gym:BbrlabEnv")
