// Schedules drawing. At most one chart is drawn in every second frame, so that frames are short and
// the page can react between them.

const waiting = new Set<() => void>();
let scheduled = false;
let resting = false;

function onFrame(): void {
  scheduled = false;
  resting = !resting;
  const [draw] = waiting;
  if (!draw) return;
  if (resting) {
    schedule();
    return;
  }
  waiting.delete(draw);
  performance.mark("lab:draw");
  draw();
  performance.measure("lab:draw", "lab:draw");
  schedule();
}

function schedule(): void {
  if (scheduled || waiting.size === 0) return;
  scheduled = true;
  requestAnimationFrame(onFrame);
}

/** Calls `draw` in one of the next frames. Several requests for the same function before that cause
 * only one call. */
export function drawSoon(draw: () => void): void {
  waiting.add(draw);
  schedule();
}

/** Draws what waits, before the page is printed, and what that makes wait: a chart may change the
 * axis of another. */
export function flush(): void {
  for (let round = 0; round < 3; round += 1) {
    const now = [...waiting];
    waiting.clear();
    now.forEach((draw) => draw());
  }
}

export function forget(draw: () => void): void {
  waiting.delete(draw);
}

const updates = new Set<() => void>();

/** Calls `update` in one of the next frames, at most one update in each: a change of many numbers at
 * once would be a long layout. */
export function inTurn(update: () => void): void {
  if (updates.size === 0) requestAnimationFrame(nextUpdate);
  updates.add(update);
}

function nextUpdate(): void {
  const [update] = updates;
  if (!update) return;
  updates.delete(update);
  update();
  if (updates.size > 0) requestAnimationFrame(nextUpdate);
}
