// The windows that the packet view plays.

import assert from "node:assert/strict";
import test from "node:test";
import type { Window } from "../src/sim/protocol";
import type { Setup } from "../src/state/setup";

/** The page starts its workers when its modules are loaded; Node has none. */
class Idle {
  postMessage(): void {}
  terminate(): void {}
}
(globalThis as { Worker: unknown }).Worker = Idle;
(globalThis as { document: unknown }).document = { baseURI: "http://127.0.0.1/" };

test("after a jump, the window before the jump is requested again", async () => {
  const { Player } = await import("../src/packets/player");
  const { packetTime } = await import("../src/state/lab");
  const setup = { started: { value: null }, ran: null } as unknown as Setup;
  const player = new Player(setup, () => {});
  const take = (generation: number, from_s: number, until_s: number, ...lost: number[]): void =>
    (player as unknown as { take(window: Window): void }).take({ generation, from_s, until_s, losses: { time: Float64Array.from(lost) } } as unknown as Window);

  packetTime.value = 0.5;
  take(1, 0, 1, 0.2, 0.2, 0.6);
  take(2, 1, 2, 0.6, 1.5);
  // The losses of both windows are known, and no row of a link tells of later ones.
  const losses = [0.1, 0.2, 0.6, 1.5].map((time) => player.lossAfter(time));
  assert.deepEqual(losses, [{ time: 0.2, exact: true }, { time: 0.6, exact: true }, { time: 1.5, exact: true }, null]);
  assert.ok(player.has(0.9), "the first window plays, and the second one waits");
  packetTime.value = 9;
  take(3, 9, 10);
  assert.equal(player.at(9)?.generation, 3);
  // The worker has drawn the third window, and deleted the second one.
  packetTime.value = 1.5;
  assert.ok(!player.has(1.5));
  assert.equal(player.at(1.5), null);
});
