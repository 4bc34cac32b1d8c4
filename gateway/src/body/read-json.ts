const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads the JSON that a service answered as bytes. */
export function readJson(bytes: Uint8Array): unknown {
  return JSON.parse(utf8.decode(bytes));
}
