import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { systemClock } from "@tessera/kit/clock";
import { Skip } from "@tessera/kit/service/finding";
import { describeCause } from "@tessera/kit/telemetry/describe-cause";
import { parseJson } from "../command/parse-json.ts";
import { printable } from "../command/printable.ts";
import { lookAround, type Question } from "../configuration/surroundings.ts";
import { fault } from "../faults.ts";

/** The public key of the platform as PEM, or why it is unknown here. */
export type PlatformKey = { readonly pem: string; readonly from: string } | { readonly missing: string };

export async function findPlatformKey(question: Question): Promise<PlatformKey> {
  const { definitions, database } = await lookAround(question, { clock: systemClock });
  try {
    const signer = definitions.find(({ findPublicKey }) => findPublicKey !== undefined);
    if (signer === undefined) return { missing: "the service that certifies is not among those named" };
    const pem = await signer.findPublicKey?.(await database.as(signer));
    return pem === undefined ? { missing: "the platform has certified nothing yet" } : { pem, from: "its database" };
  } catch (error) {
    return { missing: error instanceof Skip ? error.message : describeCause(error) };
  } finally {
    await database.close();
  }
}

/** Reads the key of the platform from a file: PEM, or the answer of the API with it. */
export async function readPlatformKey(path: string): Promise<PlatformKey> {
  const text = await readText(path);
  const answer = parseJson(text) as { readonly public_key?: unknown } | undefined;
  return { pem: typeof answer?.public_key === "string" ? answer.public_key : text, from: path };
}

/**
 * Reads a certificate of an erasure, checks its signature, and lists what it proves. Only the platform's own key proves
 * anything: everyone can sign a text, and enclose the key.
 */
export async function verifyCertificate(
  path: string,
  platform: PlatformKey,
): Promise<{ readonly isGood: boolean; readonly lines: string[] }> {
  const bad = (line: string) => ({ isGood: false, lines: [line] });
  const { signed, signature, public_key: pem, statement: shown } = await readCertificate(path);
  const key = readKey(path, pem);
  if (!verify(null, Buffer.from(signed), key, Buffer.from(signature, "base64")))
    return bad("The signature does not fit: this text was changed, or another key has signed it.");
  const statement = readStatement(path, signed);
  if (!isDeepStrictEqual(shown, JSON.parse(signed)))
    return bad("`statement` is not what was signed: somebody has changed it.");
  const isCompared = !("missing" in platform);
  if (isCompared && !key.equals(readKey(platform.from, platform.pem)))
    return bad("It is forged: it is signed with a key that is not that of the platform.");
  const lines = [
    `The signature fits the key in the file, SHA-256 ${hash("sha256", key.export({ type: "spki", format: "der" }))}`,
    isCompared
      ? `That is the key of the platform, as ${platform.from} has it.`
      : `NOT COMPARED with the key of the platform (${platform.missing}): anybody can make such a file with a key of their own. Pass --key FILE with the answer of /api/v1/shredders/key/, or --database-url.`,
    `event     ${statement["organizer"]}/${statement["event"]} on ${statement["instance"]}`,
    `erased    ${statement["erased"]}, case ${statement["case"]}`,
    `kinds     ${statement["kinds"]}`,
    `counts    ${statement["counts"]}`,
    `exported  ${statement["exported"]}, SHA-256 ${statement["export_sha256"]}`,
  ];
  return { isGood: isCompared, lines: lines.map(printable) };
}

async function readCertificate(path: string) {
  const found = parseJson(await readText(path)) as Record<string, unknown> | undefined;
  if (!found) throw noCertificate(path, "it is no JSON");
  const { signed, signature, public_key, statement } = found;
  if (typeof signed !== "string" || typeof signature !== "string" || typeof public_key !== "string")
    throw noCertificate(path, "it lacks `signed`, `signature` or `public_key`");
  return { signed, signature, public_key, statement };
}

/** Reads the printed statements of a certificate. */
function readStatement(path: string, signed: string) {
  const { type, services, shredders, ...texts } = (parseJson(signed) ?? {}) as Record<string, unknown>;
  if (type !== "tessera.erasure.v1" || !Array.isArray(services) || !Array.isArray(shredders))
    throw noCertificate(path, "what is signed is another text");
  const counts = (services as { service: string; erased: { count: number }[] }[]).map(
    ({ service, erased }) => `${service} ${erased.reduce((sum, { count }) => sum + count, 0)}`,
  );
  return { ...texts, counts: counts.join(", "), kinds: shredders.join(", ") || "none" } as Record<string, string>;
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

async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => {
    throw noCertificate(path, "it cannot be read");
  });
}

function noCertificate(path: string, why: string) {
  const message = `${path} is no certificate of an erasure: ${why}. Save the answer of shredders/certificate/ID/.`;
  return fault("bad_certificate", message);
}
