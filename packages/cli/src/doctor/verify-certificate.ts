import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { fault } from "../faults.ts";
import { parseJson } from "../parse-json.ts";
import { printable } from "../printable.ts";

/** What a certificate states, as far as it is printed. */
interface Statement {
  readonly type: string;
  readonly instance: string;
  readonly organizer: string;
  readonly event: string;
  readonly case: string;
  readonly shredders: readonly string[];
  readonly exported: string;
  readonly export_sha256: string;
  readonly erased: string;
  readonly services: readonly { readonly service: string; readonly erased: readonly { readonly count: number }[] }[];
}

interface Certificate {
  readonly signed: string;
  readonly signature: string;
  readonly public_key: string;
  readonly statement: unknown;
}

/** The key of the platform as PEM, or why it is not known here. */
export type PlatformKey = { readonly pem: string; readonly from: string } | { readonly missing: string };

/**
 * Reads a certificate of an erasure, checks its signature, and says in lines what it proves. With a key that is not that of
 * the platform it proves nothing: anybody can sign a text with a key of their own, and put that key beside it.
 */
export async function verifyCertificate(
  path: string,
  platform: PlatformKey,
): Promise<{ readonly isGood: boolean; readonly lines: string[] }> {
  const { signed, signature, public_key: pem, statement: shown } = await readCertificate(path);
  const key = readKey(path, pem);
  const isSigned = verify(null, Buffer.from(signed), key, Buffer.from(signature, "base64"));
  if (!isSigned)
    return {
      isGood: false,
      lines: ["The signature does not fit: this text was changed, or another key has signed it."],
    };
  const { services, shredders, ...statement } = readStatement(path, signed);
  if (!isDeepStrictEqual(shown, JSON.parse(signed)))
    return { isGood: false, lines: ["`statement` is not what was signed: somebody has changed it."] };
  const trust = judgeKey(key, platform);
  if (trust === "another")
    return { isGood: false, lines: ["It is forged: it is signed with a key that is not that of the platform."] };
  const print = hash("sha256", key.export({ type: "spki", format: "der" }));
  const counts = services.map(
    ({ service, erased }) => `${service} ${erased.reduce((sum, { count }) => sum + count, 0)}`,
  );
  return {
    isGood: trust.isGood,
    lines: [
      `The signature fits the key in the file, SHA-256 ${print}`,
      trust.line,
      `event     ${statement.organizer}/${statement.event} on ${statement.instance}`,
      `erased    ${statement.erased}, case ${statement.case}`,
      `kinds     ${shredders.length === 0 ? "none" : shredders.join(", ")}`,
      `counts    ${counts.join(", ")}`,
      `exported  ${statement.exported}, SHA-256 ${statement.export_sha256}`,
    ].map(printable),
  };
}

function judgeKey(
  key: KeyObject,
  platform: PlatformKey,
): "another" | { readonly isGood: boolean; readonly line: string } {
  if ("missing" in platform)
    return {
      isGood: false,
      line: `NOT COMPARED with the key of the platform (${platform.missing}): anybody can make such a file with a key of their own. Pass --key FILE with the answer of /api/v1/shredders/key/, or --database-url.`,
    };
  if (!key.equals(readKey(platform.from, platform.pem))) return "another";
  return { isGood: true, line: `That is the key of the platform, as ${platform.from} has it.` };
}

/** Reads the key of the platform from a file: PEM, or the answer of the API with it. */
export async function readPlatformKey(path: string): Promise<PlatformKey> {
  const text = await readFile(path, "utf8").catch(() => {
    throw noCertificate(path, "it cannot be read");
  });
  const answer = parseJson(text) as { readonly public_key?: unknown } | undefined;
  return { pem: typeof answer?.public_key === "string" ? answer.public_key : text, from: path };
}

async function readCertificate(path: string): Promise<Certificate> {
  const unreadable = (why: string) => noCertificate(path, why);
  const text = await readFile(path, "utf8").catch(() => {
    throw unreadable("it cannot be read");
  });
  let found: Partial<Certificate>;
  try {
    found = JSON.parse(text) as Partial<Certificate>;
  } catch {
    throw unreadable("it is no JSON");
  }
  const { signed, signature, public_key, statement } = found;
  if (typeof signed !== "string" || typeof signature !== "string" || typeof public_key !== "string")
    throw unreadable("it lacks `signed`, `signature` or `public_key`");
  return { signed, signature, public_key, statement };
}

function noCertificate(path: string, why: string) {
  return fault(
    "bad_certificate",
    `${path} is no certificate of an erasure: ${why}. Save the answer of shredders/certificate/ID/.`,
  );
}

function readKey(path: string, pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch {
    throw noCertificate(path, "its key cannot be read");
  }
  if (key.asymmetricKeyType !== "ed25519") throw noCertificate(path, "its key is of another kind");
  return key;
}

function readStatement(path: string, signed: string): Statement {
  const found = parseJson(signed) as Partial<Statement> | undefined;
  if (found?.type !== "tessera.erasure.v1" || !Array.isArray(found.services) || !Array.isArray(found.shredders))
    throw noCertificate(path, "what is signed is another text");
  return found as Statement;
}
