type Piece = IteratorResult<Uint8Array, unknown>;

/** Forwards a stream. `wait` limits the wait for each chunk; the time that the reader takes does not count. */
export async function* passOn(
  source: AsyncIterable<Uint8Array>,
  wait: (next: Promise<Piece>) => Promise<Piece>,
): AsyncGenerator<Uint8Array, void> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const piece = await wait(pieces.next());
      if (piece.done === true) return;
      yield piece.value;
    }
  } finally {
    // Not awaited: a hanging source would block this function.
    void Promise.resolve(pieces.return?.()).catch(() => {});
  }
}
