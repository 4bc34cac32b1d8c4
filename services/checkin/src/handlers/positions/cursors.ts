import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import type { Queryable } from "@tessera/kit/pg/database";
import { shareCursorKey } from "../../store/cursor-key.ts";
import type { Beside } from "../../store/listed-positions.ts";
import type { Place, Value } from "../../store/places.ts";

/**
 * Seals the places from which neighboring pages are read. Names and addresses are in them, and links are logged; so
 * only the processes of this service can read or make a cursor.
 */
export interface Cursors {
  /** Undefined: the place is too long for a link. */
  seal(beside: Beside, use: string): Promise<string | undefined>;
  /** Undefined: the cursor was not made here for this use. */
  open(cursor: string, use: string): Promise<Beside | undefined>;
}

/** Far more than names and addresses have, and little enough for a link. */
const longestPlace = 1500;

const [keyBytes, nonceBytes, tagBytes] = [32, 12, 16];

/** Makes and reads cursors with the key that all processes share. It is read when it is first needed. */
export function openCursors({ db }: { readonly db: Queryable }): Cursors {
  let reading: Promise<Buffer> | undefined;
  const readKeys = async () => {
    reading ??= shareCursorKey(db, randomBytes(2 * keyBytes));
    try {
      const keys = await reading;
      return { sealing: keys.subarray(0, keyBytes), naming: keys.subarray(keyBytes) };
    } catch (error) {
      reading = undefined;
      throw error;
    }
  };
  return {
    async seal({ isBefore, place }, use) {
      const text = JSON.stringify([isBefore, ...place]);
      if (Buffer.byteLength(text) > longestPlace) return undefined;
      const { sealing, naming } = await readKeys();
      // It follows from the contents: two contents never share it, and the same page has the same link.
      const nonce = createHmac("sha256", naming)
        .update(JSON.stringify([use, text]))
        .digest()
        .subarray(0, nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", sealing, nonce).setAAD(Buffer.from(use));
      const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([sealed, cipher.getAuthTag()]).toString("base64url");
    },
    async open(cursor, use) {
      const bytes = Buffer.from(cursor, "base64url");
      if (bytes.length <= nonceBytes + tagBytes || bytes.length > nonceBytes + longestPlace + tagBytes)
        return undefined;
      const { sealing } = await readKeys();
      const decipher = createDecipheriv("aes-256-gcm", sealing, bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(Buffer.from(use)).setAuthTag(bytes.subarray(-tagBytes));
      try {
        const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]);
        return readPlace(JSON.parse(text.toString("utf8")));
      } catch {
        return undefined;
      }
    },
  };
}

function readPlace(read: unknown): Beside | undefined {
  if (!Array.isArray(read)) return undefined;
  const parts: readonly unknown[] = read;
  const [isBefore, ...values] = parts;
  const place: Place = values.filter(isValue);
  return typeof isBefore === "boolean" && place.length === values.length ? { isBefore, place } : undefined;
}

function isValue(value: unknown): value is Value {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
