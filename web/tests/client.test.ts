import assert from "node:assert/strict";
import test from "node:test";
import { Client } from "../src/sim/client";
import { Call, Simulator, Trap } from "../src/sim/module";
import type { Answer, Request } from "../src/sim/protocol";
import { Setup } from "../src/state/setup";
import { trapping, withMemory } from "./wasm";

/** A worker that does what the test says. */
class Stub {
  static all: Stub[] = [];
  /** What each new worker does with a message. */
  static act: (worker: Stub, message: Request | { type: "load" }) => void = () => undefined;
  static isBroken = false;
  readonly got: string[] = [];
  isEnded = false;
  onmessage: ((event: { data: Answer & { module_bytes: number } }) => void) | undefined;
  onerror: ((event: { message: string; preventDefault(): void }) => void) | undefined;

  constructor() {
    Stub.all.push(this);
    if (Stub.isBroken) queueMicrotask(() => this.onerror?.({ message: "", preventDefault: () => undefined }));
  }

  postMessage(message: Request | { type: "load" }): void {
    this.got.push(message.type);
    queueMicrotask(() => !this.isEnded && Stub.act(this, message));
  }

  answer(answer: object, module_bytes = 0): void {
    if (!this.isEnded) this.onmessage?.({ data: { ...answer, module_bytes } as Answer & { module_bytes: number } });
  }

  terminate(): void {
    this.isEnded = true;
  }
}
(globalThis as { Worker: unknown }).Worker = Stub;

const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
const scenario = { name: "x", text: "" };
const run = (generation: number): Request => ({ type: "run", generation, scenario, run: 0, rows: true });
const module = {} as WebAssembly.Module;

function fresh(act: typeof Stub.act = () => undefined, isBroken = false): { client: Client; answers: Answer[] } {
  Stub.all = [];
  Stub.act = act;
  Stub.isBroken = isBroken;
  const answers: Answer[] = [];
  return { client: new Client((answer) => answers.push(answer), { module }), answers };
}

test("a worker that cannot start is tried once for each request", async () => {
  const { client, answers } = fresh(undefined, true);
  await rest();
  assert.equal(Stub.all.length, 1);
  for (const generation of [1, 2, 3]) {
    client.post(run(generation));
    await rest();
  }
  assert.equal(Stub.all.length, 4);
  assert.deepEqual(answers.map((answer) => [answer.type, answer.generation]), [["failed", -1], ["failed", 1], ["failed", 2], ["failed", 3]]);
  client.post({ type: "stop", generation: 4 });
  await rest();
  assert.equal(Stub.all.length, 4);
});

test("a module that cannot be loaded is asked for again by the next request", async () => {
  Stub.all = [];
  Stub.isBroken = false;
  const answers: Answer[] = [];
  const page = globalThis as { document?: unknown; fetch: unknown };
  page.document = { baseURI: "http://lab/" };
  let asked = 0;
  page.fetch = () => Promise.resolve({ ok: false, status: 500 + (asked += 1), statusText: "Down" });
  const client = new Client((answer) => answers.push(answer));
  await rest();
  client.post(run(5));
  await rest();
  assert.deepEqual(answers, [
    { type: "failed", generation: -1, message: "the simulator could not be loaded: 501 Down" },
    { type: "failed", generation: 5, message: "the simulator could not be loaded: 502 Down" },
  ]);
  assert.equal(Stub.all.length, 2);
});

test("a worker that answered before it failed is replaced at once, and the last request is answered", async () => {
  const { client, answers } = fresh((worker, message) => {
    if (message.type === "check") worker.answer({ type: "estimate", generation: message.generation });
    // The worker does not know the generation of what it could not read.
    if (message.type === "run") worker.answer({ type: "failed", generation: 0, message: "assertion failed" });
  });
  client.post({ type: "check", generation: 1, scenario });
  await rest();
  client.post(run(2));
  await rest();
  assert.deepEqual(answers.map((answer) => [answer.type, answer.generation]), [["estimate", 1], ["failed", 2]]);
  assert.deepEqual(Stub.all.map((worker) => worker.isEnded), [true, false]);
  client.post({ type: "check", generation: 3, scenario });
  await rest();
  assert.equal(answers.at(-1)?.type, "estimate");
  assert.equal(Stub.all.length, 2);
});

test("a worker with much memory ends after its last answer, one with little stays", async () => {
  let bytes = 20_000_000;
  const { client, answers } = fresh((worker, message) => {
    if (message.type === "run") worker.answer({ type: "record", generation: message.generation }, bytes);
    if (message.type === "check") worker.answer({ type: "estimate", generation: message.generation }, bytes);
  });
  for (let generation = 1; generation <= 300; generation += 1) {
    client.post(run(generation));
    await Promise.resolve();
  }
  await rest();
  assert.equal(Stub.all.length, 1);
  bytes = 300_000_000;
  client.post(run(301));
  client.post({ type: "check", generation: 302, scenario });
  await rest();
  // The check was still to be answered when the record came.
  assert.deepEqual(answers.slice(-2).map((answer) => answer.type), ["record", "estimate"]);
  assert.deepEqual(Stub.all.map((worker) => worker.isEnded), [true]);
  client.post(run(303));
  assert.equal(Stub.all.length, 2);
});

test("an edit stops the run before it is checked, and does not resume a paused one", async () => {
  fresh();
  const setup = new Setup("A", module);
  setup.text.value = "a = 1";
  setup.start();
  setup.pause();
  setup.check();
  await rest();
  assert.deepEqual(Stub.all.at(-1)?.got.filter((type) => type !== "load"), ["run", "pause", "stop", "check"]);
  assert.equal(setup.status.value, "checking");
  setup.dispose();
});

test("what a stopped run still sends is not taken", async () => {
  const { client } = fresh((worker, message) => {
    if (message.type === "stop") worker.answer({ type: "record", generation: message.generation - 1, json: '{"runs":[]}', digest: "0" });
  });
  client.dispose();
  const setup = new Setup("A", module);
  setup.start();
  setup.stop();
  await rest();
  assert.equal(setup.status.value, "stopped");
  assert.equal(setup.record.value, null);
  setup.dispose();
});

test("a failed assertion of the module is a trap with its text", async () => {
  const simulator = await Simulator.of(await WebAssembly.compile(trapping("assertion", "assertion failed: rate > 0")));
  assert.throws(() => simulator.call(Call.Begin, 0, {}), (error) => error instanceof Trap && error.message === "assertion failed: rate > 0");
});

test("the end of the module's memory is a trap with a sentence", async () => {
  const simulator = await Simulator.of(await WebAssembly.compile(withMemory(trapping("memory"), 300)));
  assert.throws(() => simulator.call(Call.Advance), (error) => error instanceof Trap && /memory may be full/.test(error.message));
  assert.equal(simulator.memoryBytes, 300 * 65_536);
});
