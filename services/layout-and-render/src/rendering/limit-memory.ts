const memorySection = 5;

/** The flag of a memory with a maximum. */
const hasMaximum = 1;

/** The size of a WebAssembly page, in bytes. */
const pageBytes = 65_536;

/** Lowers the maximum of a WebAssembly memory. Throws unless the module has exactly one memory with a maximum. */
export function limitMemory(module: Uint8Array, { maxBytes }: { readonly maxBytes: number }): Uint8Array<ArrayBuffer> {
  const limited = new Uint8Array(module);
  const reader = { bytes: limited, at: 8 };
  while (reader.at < limited.length) {
    const id = readNumber(reader);
    const size = readNumber(reader);
    if (id === memorySection) {
      limitSection(reader, maxBytes / pageBytes);
      return limited;
    }
    reader.at += size;
  }
  throw new Error("the WebAssembly module has no memory of its own");
}

interface Reader {
  readonly bytes: Uint8Array;
  at: number;
}

function limitSection(reader: Reader, maxPages: number): void {
  const [memories, flags, pages] = [readNumber(reader), readNumber(reader), readNumber(reader)];
  if (memories !== 1 || flags !== hasMaximum) throw new Error("the WebAssembly module has no memory with a maximum");
  const from = reader.at;
  const before = readNumber(reader);
  if (pages > maxPages || before < maxPages)
    throw new Error(`the memory of the WebAssembly module has ${pages} to ${before} pages and cannot have ${maxPages}`);
  writeNumber(reader.bytes.subarray(from, reader.at), maxPages);
}

/** Reads an unsigned LEB128 number. */
function readNumber(reader: Reader): number {
  let number = 0;
  for (let unit = 1; ; unit *= 128) {
    const byte = reader.bytes[reader.at] ?? 0;
    reader.at += 1;
    number += (byte % 128) * unit;
    if (byte < 128) return number;
  }
}

/** Writes a LEB128 number padded to its old length, so that no offset changes. */
function writeNumber(place: Uint8Array, number: number): void {
  for (const index of place.keys()) {
    const rest = Math.floor(number / 128 ** index);
    place[index] = (rest % 128) + (index + 1 < place.length ? 128 : 0);
  }
}
