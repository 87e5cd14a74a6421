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

test("a link holds the files that a scenario names", async () => {
  const [first] = linked.setups;
  const withFiles: Linked = { ...linked, setups: [{ ...first!, files: { "path.csv": "time_s,rate_mbps\n0,10\n" } }] };
  assert.deepEqual(await decode(await encode(withFiles)), withFiles);
  for (const files of ["5", '["a"]', '{"a":1}', "null"]) {
    const found = await decode(await deflated(`[1,[["a","x",0,null,${files}]],null,null]`));
    assert.equal(found.setups[0]?.files, undefined, files);
  }
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

test("every link that is made can be opened; what no link can hold is refused with the way out", async () => {
  let state = 1;
  const noise = (length: number): string => {
    let text = "";
    while (text.length < length) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      text += state.toString(36);
    }
    return text.slice(0, length);
  };
  const of = (text: string): Linked => ({ ...linked, setups: [{ name: "a", text, run: 0, digest: null }] });
  for (const length of [1000, 100_000, 190_000, 240_000, 400_000]) {
    const made = await encode(of(noise(length))).catch((error: Error) => error);
    if (made instanceof Error) assert.match(made.message, /would have 2\d\d,\d\d\d|would have 3\d\d,\d\d\d/, `${length}`);
    else assert.equal((await decode(made)).setups[0]?.text.length, length);
  }
  await assert.rejects(encode(of(noise(400_000))), /characters, and a link has at most 200,000\. Send the scenario file/);
  // Line ends take two bytes: 1 MB of text is more in a link.
  await assert.rejects(encode(of("a = 1\n".repeat(166_000))), /bytes of text, and a link has at most 1,000,000\. Send the scenario file/);
  assert.equal((await decode(await encode(of("a = 1\n".repeat(142_000))))).setups[0]?.text.length, 852_000);
});
