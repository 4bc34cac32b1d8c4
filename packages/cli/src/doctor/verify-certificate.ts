import { createPublicKey, hash, verify } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fault } from "../faults.ts";

/** What a certificate states, as far as it is printed. */
interface Statement {
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
}

/** Reads a certificate of an erasure, checks its signature, and says in lines what it proves. */
export async function verifyCertificate(path: string): Promise<{ readonly isGood: boolean; readonly lines: string[] }> {
  const { signed, signature, public_key: pem } = await readCertificate(path);
  const key = createPublicKey(pem);
  const isGood = verify(null, Buffer.from(signed), key, Buffer.from(signature, "base64"));
  if (!isGood)
    return { isGood, lines: ["The signature does not fit: this text was changed, or another key has signed it."] };
  const { services, shredders, ...statement } = JSON.parse(signed) as Statement;
  const print = hash("sha256", key.export({ type: "spki", format: "der" }));
  const counts = services.map(
    ({ service, erased }) => `${service} ${erased.reduce((sum, { count }) => sum + count, 0)}`,
  );
  return {
    isGood,
    lines: [
      `The signature is good. Compare the key with that of another certificate of the same platform: SHA-256 ${print}`,
      `event     ${statement.organizer}/${statement.event} on ${statement.instance}`,
      `erased    ${statement.erased}, case ${statement.case}`,
      `kinds     ${shredders.length === 0 ? "none" : shredders.join(", ")}`,
      `counts    ${counts.join(", ")}`,
      `exported  ${statement.exported}, SHA-256 ${statement.export_sha256}`,
    ],
  };
}

async function readCertificate(path: string): Promise<Certificate> {
  const unreadable = (why: string) =>
    fault(
      "bad_certificate",
      `${path} is no certificate of an erasure: ${why}. Save the answer of shredders/certificate/ID/.`,
    );
  const text = await readFile(path, "utf8").catch(() => {
    throw unreadable("it cannot be read");
  });
  let found: Partial<Certificate>;
  try {
    found = JSON.parse(text) as Partial<Certificate>;
  } catch {
    throw unreadable("it is no JSON");
  }
  const { signed, signature, public_key } = found;
  if (typeof signed !== "string" || typeof signature !== "string" || typeof public_key !== "string")
    throw unreadable("it lacks `signed`, `signature` or `public_key`");
  return { signed, signature, public_key };
}
