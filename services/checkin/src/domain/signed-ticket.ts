export interface SignedTicket {
  readonly item: number | null;
  readonly variation: number | null;
  readonly subevent: number | null;
}

/** Tells whether one of the event's keys has signed these bytes. */
export type HasSigned = (payload: Uint8Array, signature: Uint8Array) => boolean;

const version = 1;
/** The version and two lengths of two bytes each. */
const headLength = 5;
const signatureLength = 64;

/** Longer ones fit into no code that a scanner reads. */
const longestCode = 1000;

/** The characters of the shortest payload in base64. */
const shortestCode = Math.ceil((headLength + signatureLength + 1) / 3) * 4;

/** Tells cheaply whether a code may be a signed ticket: other codes are shorter. */
export function mayBeSigned(code: string): boolean {
  return code.length >= shortestCode && code.length <= longestCode && /^={0,2}[A-Za-z0-9+/]+$/.test(code);
}

/**
 * Reads a ticket code that is signed by the scheme `pretix_sig1`; undefined: no key of this event has signed it, or it has another form.
 *
 * The code is base64, written backwards. Its bytes are the version, the lengths of payload and signature, both
 * big-endian, then these two. The payload is a message in the wire format of Protocol Buffers.
 */
export function readSignedTicket(code: string, hasSigned: HasSigned): SignedTicket | undefined {
  if (!mayBeSigned(code)) return undefined;
  const text = [...code].reverse().join("");
  const bytes = Buffer.from(text, "base64");
  if (bytes.length < headLength || bytes.toString("base64") !== text) return undefined;
  const payloadLength = bytes.readUInt16BE(1);
  const hasItsLength = bytes.length === headLength + payloadLength + signatureLength;
  if (bytes[0] !== version || bytes.readUInt16BE(3) !== signatureLength || !hasItsLength) return undefined;
  const payload = bytes.subarray(headLength, headLength + payloadLength);
  if (!hasSigned(payload, bytes.subarray(headLength + payloadLength))) return undefined;
  return readPayload(payload);
}

/** The numbers of the fields. Others are the random part and the validity, which the stored ticket has. */
const fieldNames: ReadonlyMap<number, keyof SignedTicket> = new Map([
  [2, "item"],
  [3, "variation"],
  [4, "subevent"],
]);

function readPayload(payload: Uint8Array): SignedTicket | undefined {
  const ids: { -readonly [K in keyof SignedTicket]: number | null } = { item: null, variation: null, subevent: null };
  for (let place = 0; place < payload.length; ) {
    const tag = readNumber(payload, place);
    if (tag === undefined) return undefined;
    const value = readValue(payload, { place: tag.end, type: tag.value % 8 });
    if (value === undefined || value.end > payload.length) return undefined;
    place = value.end;
    const name = fieldNames.get(Math.floor(tag.value / 8));
    if (name === undefined) continue;
    if (value.number === undefined || !Number.isSafeInteger(value.number)) return undefined;
    // Zero is the default of a missing number.
    ids[name] = value.number === 0 ? null : value.number;
  }
  return ids;
}

/** Reads the value of a field; `number` is undefined for what is no number in the form of ids. */
function readValue(
  bytes: Uint8Array,
  { place, type }: { readonly place: number; readonly type: number },
): { readonly number?: number; readonly end: number } | undefined {
  switch (type) {
    case 0: {
      const read = readNumber(bytes, place);
      return read && { number: read.value, end: read.end };
    }
    case 1:
      return { end: place + 8 };
    case 2: {
      const length = readNumber(bytes, place);
      return length && { end: length.end + length.value };
    }
    case 5:
      return { end: place + 4 };
    default:
      return undefined;
  }
}

const longestNumber = 10;

/** Reads a number of seven bits per byte, the lowest first. */
function readNumber(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let index = 0; index < longestNumber; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) return undefined;
    value += (byte % 128) * 128 ** index;
    if (byte < 128) return { value, end: start + index + 1 };
  }
  return undefined;
}
