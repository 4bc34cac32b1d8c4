/** One line of a stream, without its line break. */
export type Line =
  | { readonly number: number; readonly bytes: Buffer }
  /** Longer than allowed; its content was dropped. */
  | { readonly number: number; readonly bytes: undefined };

/** Splits a stream of bytes into lines, without a leading byte order mark, with at most one line in memory. */
export interface LineSplitter {
  /** Takes the next chunk, and returns the lines that end in it, without blank ones. */
  push(piece: Uint8Array): Line[];
  /** Returns an unterminated last line, unless it is blank. */
  end(): Line[];
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from("\ufeff");

export function splitLines({ maxBytes }: { maxBytes: number }): LineSplitter {
  let kept: Buffer[] = [];
  let size = 0;
  let skipping = false;
  let number = 0;

  function keep(part: Buffer): void {
    if (skipping) return;
    size += part.length;
    // One byte more may be the carriage return.
    if (size > maxBytes + 1) {
      skipping = true;
      kept = [];
    } else if (part.length > 0) kept.push(part);
  }

  function finish(): Line {
    number += 1;
    const whole = kept.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept, size);
    const bytes = skipping ? undefined : withoutReturn(number === 1 ? withoutMark(whole) : whole);
    kept = [];
    size = 0;
    skipping = false;
    return { number, bytes: bytes !== undefined && bytes.length > maxBytes ? undefined : bytes };
  }

  return {
    push(piece) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const lines: Line[] = [];
      let start = 0;
      for (;;) {
        // Fast path: a stream of line breaks would otherwise cost a line for each byte.
        while (bytes[start] === newline && size === 0 && !skipping) {
          number += 1;
          start += 1;
        }
        const end = bytes.indexOf(newline, start);
        if (end === -1) break;
        keep(bytes.subarray(start, end));
        const line = finish();
        if (!isBlankLine(line)) lines.push(line);
        start = end + 1;
      }
      keep(bytes.subarray(start));
      return lines;
    },
    end: () => (size > 0 ? [finish()].filter((line) => !isBlankLine(line)) : []),
  };
}

/** Blank lines are ignored, as by most readers of NDJSON. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === carriageReturn);
}

function isBlankLine({ bytes }: Line): boolean {
  return bytes !== undefined && isBlank(bytes);
}

function withoutMark(line: Buffer): Buffer {
  return line.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? line.subarray(byteOrderMark.length) : line;
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;
}
