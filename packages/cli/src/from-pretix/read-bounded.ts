/** An answer is longer than whoever asked can take. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
}

/** Reads a body into memory, but never more than this of it. */
export async function readBounded(response: Response, mostBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    // Leaving the loop cancels the rest.
    if (bytes > mostBytes) throw new TooLarge(`more than ${mostBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
