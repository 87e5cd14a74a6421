"""A policy for the congestion window, trained with numpy and compared with fixed windows.

Each episode draws a new rate, RTT and buffer, and half of the episodes change their rate midway, so no fixed window
fits all episodes. The policy has four parameters. The next action is a linear function of three quantities: log2(RTT /
minimum RTT), the loss, and log2(used / window), where `used` is the number of packets that are delivered per minimum
RTT. The cross-entropy method finds the parameters: the best of several draws from a normal distribution determine the
next distribution. The reward is the environment's default, `log_power`.

    pip install "./python[gym]"
    python train_window.py

The seed determines all results. The program takes about half a minute.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from bbrlab.gym import CWND_MIN, Array, BbrlabEnv

Policy = Callable[[Array], float]
"""A function from an observation to an action, which is the number of doublings of the window."""

FIXED = [2**n for n in range(1, 12)]
"""The fixed windows, in packets."""

EPISODE = {"duration": "5s", "sample": "off"}


def path(rng: np.random.Generator) -> dict[str, Any]:
    """Draws a path: 2 to 50 Mbit/s, 10 to 160 ms, a buffer of 0.5 to 4 BDP. Half of the paths change their rate
    midway."""
    rate, later = np.exp(rng.uniform(math.log(2), math.log(50), 2))
    rtt = math.exp(rng.uniform(math.log(10), math.log(160)))
    buffer = math.exp(rng.uniform(math.log(0.5), math.log(4)))
    changes = [["0s", f"{rate:.3f}Mbit/s"], ["2.5s", f"{later:.3f}Mbit/s"]]
    return {
        **EPISODE,
        "bottleneck": {"rate": changes if rng.random() < 0.5 else f"{rate:.3f}Mbit/s", "buffer": f"{buffer:.3f}bdp"},
        "flows": [{"cc": "reno", "rtt": f"{rtt:.3f}ms"}],
    }


def fixed(window: int) -> Policy:
    """Returns a policy that brings the window to a fixed size and keeps it there. `scores` limits each action to one
    doubling or halving of the window, so it can take several steps to reach the size."""

    def act(observation: Array) -> float:
        return math.log2(window / max(float(observation[5]), 1.0))

    return act


def learnt(theta: npt.NDArray[np.float64]) -> Policy:
    """Returns the policy whose action is the scalar product of `theta` and (1, log2(RTT / minimum RTT), loss,
    log2(used / window)). `used` is the number of packets that are delivered per minimum RTT."""

    def act(observation: Array) -> float:
        throughput, rtt, min_rtt, loss, _, cwnd = (float(value) for value in observation)
        if rtt == 0 or min_rtt == 0:
            return 0.0
        stretch = math.log2(rtt / min_rtt)
        # `used` is the number of packets of 1448 bytes that are delivered per minimum RTT, and `spare` is log2(`used` /
        # window), where `used` and window count as at least CWND_MIN.
        used = throughput * min_rtt / (1448 * 8 / 1e3)
        spare = math.log2(max(used, CWND_MIN) / max(cwnd, CWND_MIN))
        return float(theta @ (1.0, stretch, loss, spare))

    return act


def scores(env: BbrlabEnv, policy: Policy, seeds: list[int]) -> npt.NDArray[np.float64]:
    """Returns the mean reward per step of each episode."""
    means = []
    for seed in seeds:
        observation, _ = env.reset(seed=seed)
        rewards = []
        truncated = False
        while not truncated:
            action = np.array([min(max(policy(observation), -1.0), 1.0)], np.float32)
            observation, reward, _, truncated, _ = env.step(action)
            rewards.append(reward)
        means.append(float(np.mean(rewards)))
    return np.array(means)


def train(
    env: BbrlabEnv, *, rounds: int, draws: int, episodes: int, seed: int, quiet: bool = False
) -> npt.NDArray[np.float64]:
    """Returns the parameters that the cross-entropy method finds."""
    rng = np.random.default_rng(seed)
    mean, std = np.zeros(4), np.ones(4)
    elite = max(draws // 4, 2)
    for n in range(rounds):
        seeds = [int(value) for value in rng.integers(1_000_000, size=episodes)]
        thetas = rng.normal(mean, std, (draws, 4))
        means = np.array([scores(env, learnt(theta), seeds).mean() for theta in thetas])
        best = thetas[np.argsort(-means, kind="stable")[:elite]]
        # The added noise prevents the search from converging too early.
        mean, std = best.mean(axis=0), best.std(axis=0) + 0.2 / (n + 1)
        if not quiet:
            print(f"round {n + 1}: best {means.max():.3f}, mean {means.mean():.3f}, parameters {mean.round(2).tolist()}")
    return mean


def compare(
    env: BbrlabEnv, theta: npt.NDArray[np.float64], *, episodes: int
) -> tuple[npt.NDArray[np.float64], dict[int, npt.NDArray[np.float64]]]:
    """Returns the scores of the policy and of fixed windows on paths outside of the training set."""
    held_out = list(range(2_000_000, 2_000_000 + episodes))
    return scores(env, learnt(theta), held_out), {window: scores(env, fixed(window), held_out) for window in FIXED}


def main() -> None:
    """Trains the policy, compares it with fixed windows, and prints the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--draws", type=int, default=16)
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--held-out", type=int, default=40)
    given = parser.parse_args()
    started = time.process_time()
    env = BbrlabEnv(path, step="rtt")
    theta = train(env, rounds=given.rounds, draws=given.draws, episodes=given.episodes, seed=given.seed)
    ours, theirs = compare(env, theta, episodes=given.held_out)
    print(f"\nmean reward of a step on {given.held_out} paths that the training has not seen:")
    for window, rewards in theirs.items():
        print(f"  {window:5} packets  {rewards.mean():7.3f}")
    best = max(theirs, key=lambda window: float(theirs[window].mean()))
    in_hindsight = np.max(list(theirs.values()), axis=0)
    print(f"  of each path the window that is best on it {in_hindsight.mean():7.3f}")
    print(f"  the policy {ours.mean():12.3f}")
    print(f"It is {ours.mean() - theirs[best].mean():.3f} above the best fixed window, {best} packets, and better on", end=" ")
    print(f"{(ours > theirs[best]).sum()} of {len(ours)} paths.")
    print(f"{time.process_time() - started:.0f} s of CPU")


if __name__ == "__main__":
    main()
