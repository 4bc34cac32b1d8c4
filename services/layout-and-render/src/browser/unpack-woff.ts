import { inflateSync } from "node:zlib";

/** Makes a font for the system of a web font (WOFF 1.0: the same tables, each compressed). */
export function unpackWoff(woff: Buffer): Buffer {
  if (woff.toString("latin1", 0, 4) !== "wOFF") throw new Error("not a WOFF font");
  const count = woff.readUInt16BE(12);
  const tables = Array.from({ length: count }, (_, index) => {
    const at = 44 + index * 20;
    const [offset, packed, length] = [woff.readUInt32BE(at + 4), woff.readUInt32BE(at + 8), woff.readUInt32BE(at + 12)];
    const content = woff.subarray(offset, offset + packed);
    return {
      tag: woff.subarray(at, at + 4),
      sum: woff.subarray(at + 16, at + 20),
      content: packed < length ? inflateSync(content) : content,
    };
  });
  const power = 2 ** Math.floor(Math.log2(count));
  const head = Buffer.alloc(12 + 16 * count);
  woff.copy(head, 0, 4, 8);
  head.writeUInt16BE(count, 4);
  head.writeUInt16BE(power * 16, 6);
  head.writeUInt16BE(Math.log2(power), 8);
  head.writeUInt16BE((count - power) * 16, 10);
  let offset = head.length;
  const contents = tables.map(({ tag, sum, content }, index) => {
    const at = 12 + index * 16;
    tag.copy(head, at);
    sum.copy(head, at + 4);
    head.writeUInt32BE(offset, at + 8);
    head.writeUInt32BE(content.length, at + 12);
    const padded = Buffer.concat([content, Buffer.alloc(-content.length & 3)]);
    offset += padded.length;
    return padded;
  });
  return Buffer.concat([head, ...contents]);
}
