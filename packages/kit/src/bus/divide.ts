import type { Delivery } from "./bus.ts";
import { isMarker } from "./headers.ts";

/** Few enough that a part is much smaller, so that one bad fact of hundreds is found in three steps. */
const mostParts = 8;

/**
 * Divides the messages of one delivery into smaller parts. The parts of a step share no key, and may be acted on at the
 * same time. The steps follow each other, so the messages of a key stay in order, and a marker stays between the messages
 * before and behind it.
 */
export function divide(messages: readonly Delivery[]): readonly (readonly (readonly Delivery[])[])[] {
  return runsOf(messages).flatMap((run) => {
    if (run.some(isMarker)) return run.map((marker) => [[marker]]);
    const keys = [...Map.groupBy(run, ({ key }) => key).values()];
    const size = Math.ceil(run.length / mostParts);
    if (keys.length === 1) return slicesOf(run, size).map((slice) => [slice]);
    return [join(keys, size)];
  });
}

/** Neighbours that are all markers, or all facts. */
function runsOf(messages: readonly Delivery[]): Delivery[][] {
  const runs: Delivery[][] = [];
  for (const message of messages) {
    const run = runs.at(-1);
    if (run?.[0] !== undefined && isMarker(run[0]) === isMarker(message)) run.push(message);
    else runs.push([message]);
  }
  return runs;
}

function slicesOf(messages: readonly Delivery[], size: number): (readonly Delivery[])[] {
  return Array.from({ length: Math.ceil(messages.length / size) }, (_, at) =>
    messages.slice(at * size, (at + 1) * size),
  );
}

/** Joins the messages of several keys, up to a size. */
function join(keys: readonly (readonly Delivery[])[], size: number): (readonly Delivery[])[] {
  const parts: (readonly Delivery[])[] = [];
  for (const ofKey of keys) {
    const part = parts.at(-1);
    if (part === undefined || part.length + ofKey.length > size) parts.push(ofKey);
    else parts[parts.length - 1] = [...part, ...ofKey];
  }
  return parts;
}
