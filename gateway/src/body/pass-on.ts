type Piece = IteratorResult<Uint8Array, unknown>;

/** Passes a stream on. `wait` bounds the wait for each piece; the time that the reader takes does not count. */
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
    // Not awaited: a source that hangs would block this function.
    void Promise.resolve(pieces.return?.()).catch(() => {});
  }
}
