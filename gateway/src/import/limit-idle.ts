import { Fault } from "@tessera/kit/fault";

/** Passes a stream on, and ends it with a Fault when nothing has come for too long. Time that its reader takes does not count. */
export async function* limitIdle(source: AsyncIterable<Uint8Array>, maxMs: number): AsyncIterable<Uint8Array> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const piece = await soon(pieces.next(), maxMs);
      if (piece.done === true) return;
      yield piece.value;
    }
  } finally {
    // Not awaited: a source that hangs would hang its own end.
    void Promise.resolve(pieces.return?.()).catch(() => {});
  }
}

async function soon<T>(work: Promise<T>, maxMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const idle = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooSlow(maxMs)), maxMs);
  });
  try {
    return await Promise.race([work, idle]);
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(maxMs: number): Fault {
  return new Fault("invalid", "body_too_slow", `Nothing arrived for ${Math.round(maxMs / 1000)} seconds.`);
}
