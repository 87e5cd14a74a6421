"""Tests of the Gymnasium environment: Gymnasium's checks, determinism, and a policy that beats fixed windows."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import Any

import bbrlab as bl
import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
from bbrlab.gym import OBSERVATION, BbrlabEnv, log_power  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

SMALL: dict[str, Any] = {
    "duration": "2s",
    "bottleneck": {"rate": "10Mbit/s", "buffer": "1bdp", "loss": 0.01},
    "flows": [{"cc": "cubic", "rtt": "60ms"}, {"cc": "reno", "rtt": "40ms", "start": "200ms"}],
}


@pytest.mark.parametrize("kwargs", [{}, {"paced": True, "step": "rtt"}, {"scenario": SMALL, "flow": 1, "step": 0.05}])
def test_gymnasiums_checks_pass_without_a_warning(kwargs: dict[str, Any]) -> None:
    env = gymnasium.make("bbrlab/Window-v0", **kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


def episode(env: BbrlabEnv, seed: int | None, actions: np.random.Generator) -> list[Any]:
    observation, info = env.reset(seed=seed)
    told = [observation.tolist()]
    truncated = False
    while not truncated:
        action = actions.uniform(-1, 1, env.action_space.shape).astype(np.float32)  # type: ignore[arg-type]
        observation, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(observation) and not terminated
        told.append((observation.tolist(), reward, info["time_s"]))
    return [*told, env.result.digest]


@pytest.mark.parametrize("paced", [False, True])
def test_a_seed_decides_all_that_follows(paced: bool) -> None:
    one, other = (BbrlabEnv(SMALL, 1, step="20ms", paced=paced) for _ in range(2))
    first = episode(one, 5, np.random.default_rng(1))
    assert episode(other, 5, np.random.default_rng(1)) == first
    then = episode(one, None, np.random.default_rng(1))
    assert then != first and episode(other, None, np.random.default_rng(1)) == then
    assert episode(one, 6, np.random.default_rng(1)) != first
    assert first[-2][2] == 2.0


def test_environments_side_by_side_do_not_touch_each_other() -> None:
    alone = episode(BbrlabEnv(SMALL, 1), 3, np.random.default_rng(2))
    one, other = BbrlabEnv(SMALL, 1), BbrlabEnv(SMALL, 1)
    one.reset(seed=3)
    for _ in range(5):
        one.step(np.ones(1, np.float32))
    assert episode(other, 3, np.random.default_rng(2)) == alone


def test_a_window_that_is_held_is_a_control_that_holds_it() -> None:
    class Held(bl.CongestionControl):
        def cong_control(self, conn: bl.Conn, rs: bl.RateSample, draw: bl.Draw) -> None:
            conn.ctl.cwnd = 10

        def undo_cwnd(self, conn: bl.Conn) -> int:
            return conn.ctl.cwnd

    env = BbrlabEnv(SMALL, 1)
    env.reset(seed=1)
    truncated = False
    while not truncated:
        observation, _, _, truncated, _ = env.step(np.zeros(1, np.float32))
    seed = env.result.summary["seed"]
    assert env.result.digest == bl.run(SMALL, {"flows[1].cc": Held}, seed=seed).digest
    values = dict(zip(OBSERVATION, observation.tolist(), strict=True))
    assert values["cwnd_packets"] == 10 and 39.9 < values["min_rtt_ms"] < 45 and 0 <= values["loss"] < 0.5
    assert env.result.flows["cc"].tolist() == ["cubic", "agent"]


def test_the_observation_agrees_with_the_results() -> None:
    scenario = {**SMALL, "flows": [{"cc": "reno", "rtt": "40ms"}], "bottleneck": {"rate": "10Mbit/s", "buffer": "4bdp"}}
    env = BbrlabEnv(scenario, step="100ms")
    env.reset(seed=1)
    rates, truncated = [], False
    while not truncated:
        observation, reward, _, truncated, _ = env.step(np.array([0.5], np.float32) * (len(rates) < 6))
        rates.append(float(observation[0]))
    assert reward == log_power(observation)
    # A packet of 1,514 bytes on the wire has a payload of 1,448 bytes.
    assert abs(rates[-2] - 10 * 1448 / 1514) < 0.2
    assert abs(np.mean(rates[:-1]) - env.result.flows["goodput_mbps"][0]) < 0.5
    assert abs(float(observation[2]) - env.result.flows["rtt_sample_ms_min"][0]) < 0.01


def test_wrong_uses_are_exceptions() -> None:
    env = BbrlabEnv(SMALL, 1)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(1, np.float32))
    with pytest.raises(bl.UsageError, match="expected an episode that has ended"):
        env.result
    env.reset(seed=1)
    for action in (np.zeros(2, np.float32), np.array([math.nan], np.float32), "up", None, [[1.0], [1.0, 2.0]], object()):
        with pytest.raises(ValueError, match=r"action: expected numbers of the shape \(1,\), found "):
            env.step(action)  # type: ignore[arg-type]
    env.close()
    env.close()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(1, np.float32))
    with pytest.raises(bl.UsageError, match="one run"):
        BbrlabEnv({**SMALL, "repeat": 2})
    with pytest.raises(bl.ScenarioError, match="bufer"):
        BbrlabEnv({**SMALL, "bottleneck": {"rate": "10Mbit/s", "bufer": "1bdp"}})


@pytest.mark.parametrize(
    ("keys", "kind", "words"),
    [
        *[({"step": step}, bl.UsageError, "step: expected a time such as") for step in ("fast", "10", "0ms", -1.0, "10 parsec", math.nan)],
        *[({"step": step}, TypeError, r"step: expected a time such as .*, found .* of type") for step in (None, [1], True)],
        ({"flow": 7}, bl.UsageError, r"flow: expected the index of a table of \[\[flows\]\] from 0 to 1, found 7"),
        ({"flow": -1}, bl.UsageError, r"flow: expected the index of a table of \[\[flows\]\], from 0, found -1"),
        ({"flow": 1.5}, bl.UsageError, r"flow: .*found 1\.5"),
        ({"flow": "0"}, TypeError, "flow: .*found '0' of type str"),
        *[({"cwnd_max": most}, bl.UsageError, f"cwnd_max: expected packets from 2 to 1073741824, found {most}") for most in (0, -1, 1, 1.5, 2**31)],
        ({"cwnd_max": "many"}, TypeError, "cwnd_max: .*found 'many' of type str"),
        ({"reward": 3}, TypeError, "reward: expected a function of an observation, found 3 of type int"),
        ({"controls": [1]}, TypeError, "controls: expected a dict"),
    ],
)
def test_wrong_arguments_are_told_before_a_step(keys: dict[str, Any], kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        BbrlabEnv(SMALL, **keys)


POISSON = {"process": "poisson", "load": "30%"}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"count": 2}, r"expected a table of one flow, found one of 2 flows in flows\[1\]"),
        ({"count": 10}, "found one of 10 flows"),
        ({"arrivals": POISSON, "sizes": {"distribution": "exponential", "mean": "50KB"}}, "found one with `arrivals`"),
    ],
)
def test_an_agent_has_one_flow(table: dict[str, Any], words: str) -> None:
    scenario = {**SMALL, "flows": [{"cc": "cubic", "rtt": "60ms", "count": 3}, {"cc": "reno", "rtt": "40ms", **table}]}
    with pytest.raises(bl.UsageError, match=words):
        BbrlabEnv(scenario, 1)
    with pytest.raises(bl.UsageError, match=words):
        BbrlabEnv(lambda _: scenario, 1).reset(seed=1)
    # Tables of `[[flows]]` other than the agent's may have any number of flows.
    assert BbrlabEnv({**scenario, "flows": [{"cc": "reno", "rtt": "40ms"}, *scenario["flows"]]}).reset(seed=1)[1]["time_s"] > 0


def test_a_small_window_holds_from_the_start() -> None:
    env = BbrlabEnv(SMALL, 1, cwnd_max=4)
    observation, _ = env.reset(seed=1)
    assert observation[5] == 4 and env.step(np.ones(1, np.float32))[0][5] == 4


def test_a_step_may_be_longer_than_the_episode() -> None:
    env = BbrlabEnv(SMALL, 1, step="1h")
    env.reset(seed=1)
    _, _, _, truncated, info = env.step(np.zeros(1, np.float32))
    assert truncated and info["time_s"] == env.result.summary["sim_s"] == 2.0


def test_a_reward_is_a_number() -> None:
    env = BbrlabEnv(SMALL, 1, reward=lambda observation: None)  # type: ignore[arg-type, return-value]
    env.reset(seed=1)
    with pytest.raises(TypeError, match="reward: expected a function that returns a number, found one that returns None of type NoneType"):
        env.step(np.zeros(1, np.float32))


def test_a_reward_of_ones_own_and_controls_of_ones_own_for_others() -> None:
    class Slow(bl.CongestionControl):
        def ssthresh(self, conn: bl.Conn) -> int:
            return 2

    env = BbrlabEnv({**SMALL, "flows": [{"cc": "slow", "rtt": "60ms"}, {"cc": "reno", "rtt": "40ms"}]}, 1,
                    reward=lambda observation: 7.0, controls={"slow": Slow})  # fmt: skip
    env.reset(seed=1)
    assert env.step(np.zeros(1, np.float32))[1] == 7.0


def test_a_short_training_beats_every_fixed_window() -> None:
    import train_window

    env = BbrlabEnv(train_window.path, step="rtt")
    theta = train_window.train(env, rounds=3, draws=10, episodes=3, seed=1, quiet=True)
    again = train_window.train(env, rounds=3, draws=10, episodes=3, seed=1, quiet=True)
    assert theta.tolist() == again.tolist()
    ours, fixed = train_window.compare(env, theta, episodes=8)
    assert ours.mean() > max(scores.mean() for scores in fixed.values()) + 0.5, (ours, fixed)
