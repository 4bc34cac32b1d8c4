import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** A key pair of an event; the public key is as a record has it. */
export function ticketKeys(): { readonly publicKey: string; readonly privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const pem = publicKey.export({ type: "spki", format: "pem" });
  return { publicKey: Buffer.from(pem).toString("base64"), privateKey };
}

/** A number as Protocol Buffers write it. */
function toVarint(value: bigint): number[] {
  const bytes = [];
  for (let rest = BigInt.asUintN(64, value); ; rest >>= 7n) {
    if (rest < 128n) return [...bytes, Number(rest)];
    bytes.push(Number(rest % 128n) + 128);
  }
}

/** The fields of a ticket: a text is the random part, numbers are ids and times. */
export function toPayload(fields: readonly (readonly [number: number, value: string | number | bigint])[]): Uint8Array {
  const bytes = fields.flatMap(([field, value]) => {
    if (typeof value !== "string") return [...toVarint(BigInt(field * 8)), ...toVarint(BigInt(value))];
    return [...toVarint(BigInt(field * 8 + 2)), ...toVarint(BigInt(value.length)), ...Buffer.from(value)];
  });
  return Uint8Array.from(bytes);
}

/** A code as the shop signs it. */
export function signTicket(payload: Uint8Array, key: KeyObject): string {
  return toCode(payload, sign(null, payload, key));
}

export function toCode(payload: Uint8Array, signature: Uint8Array, { version = 1 } = {}): string {
  const head = Buffer.from([version, 0, 0, 0, 0]);
  head.writeUInt16BE(payload.length, 1);
  head.writeUInt16BE(signature.length, 3);
  return backwards(Buffer.concat([head, payload, signature]).toString("base64"));
}

export function backwards(text: string): string {
  return [...text].reverse().join("");
}
