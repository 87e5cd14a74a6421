import assert from "node:assert/strict";
import test from "node:test";
import { decode, encode, type Linked } from "../src/text/permalink";

const linked: Linked = {
  setups: [{ name: "a", text: 'title = "<script>alert(1)</script> 😀"\n', run: 3, digest: "0123456789abcdef" }, { name: "b", text: "x = 1\n", run: 0, digest: null }],
  zoom: [1, 2.5],
  packets: 0.25,
};

test("a link holds the whole set-up", async () => {
  const hash = await encode(linked);
  assert.match(hash, /^[A-Za-z0-9_-]+$/);
  assert.deepEqual(await decode(hash), linked);
});

async function deflated(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return Buffer.from(await new Response(stream).arrayBuffer()).toString("base64url");
}

test("damaged and hostile links are refused with a sentence", async () => {
  const good = await encode(linked);
  await assert.rejects(decode(good.slice(0, -9)), /damaged/);
  await assert.rejects(decode("%%%"), /damaged/);
  await assert.rejects(decode("A".repeat(200_001)), /200,000 characters/);
  await assert.rejects(decode(await deflated("a".repeat(100_000_000))), /1 MB/);
  await assert.rejects(decode(await deflated("{}")), /not one of this lab/);
  await assert.rejects(decode(await deflated("[2]")), /newer version/);
  await assert.rejects(decode(await deflated('[1,[["a",5,0,null]],null,null]')), /not one of this lab/);
  await assert.rejects(decode(await deflated('[1,[],null,null]')), /not one of this lab/);
});

test("wrong parts of a link become their defaults", async () => {
  const found = await decode(await deflated('[1,[["a","x",-4,"<img>"]],[3,1],"now"]'));
  assert.deepEqual(found, { setups: [{ name: "a", text: "x", run: 0, digest: null }], zoom: null, packets: null });
});

test("a zoom that cannot be drawn is made longer, and one beyond all runs is left out", async () => {
  const zoom = async (from: number, to: number): Promise<[number, number] | null> =>
    (await decode(await deflated(`[1,[["a","x",0,null]],[${from},${to}],null]`))).zoom;
  const [from, to] = (await zoom(3, 3 + 1e-12)) ?? [0, 0];
  assert.ok(from < 3 && to > 3 && to - from > 0.99e-6);
  assert.equal(await zoom(1e15, 1e15 + 0.25), null);
  assert.equal(await zoom(1e300, 2e300), null);
});
