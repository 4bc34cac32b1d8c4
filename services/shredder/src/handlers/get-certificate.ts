import { generateKeyPairSync, sign } from "node:crypto";
import type { Db } from "@tessera/kit/pg/database";
import type {
  GetCertificateKeyRequest,
  GetCertificateKeyResponse,
  GetCertificateRequest,
  GetCertificateResponse,
} from "@tessera/protos/gen/ticketing/shredder/v1/shreds";
import { writeStatement } from "../domain/statement.ts";
import { fault } from "../faults.ts";
import { findCase } from "../store/cases.ts";
import { findSigningKey, publicKeyOf, storeSigningKey } from "../store/signing-key.ts";

/** Certifies an erasure that has succeeded: what was erased, when, and where. */
export async function getCertificate(
  { organizer, event, case: id }: GetCertificateRequest,
  { db }: { readonly db: Db },
): Promise<GetCertificateResponse> {
  const found = await findCase(db, { organizer, event: event || undefined, id });
  if (found === undefined || found.erasedAt === null || found.requestedAt === null || found.parts === null)
    throw fault(
      "certificate_not_found",
      "There is no such erasure, or it has not succeeded. Its id is the first one in the address of its status.",
    );
  const { erasedAt, requestedAt, parts } = found;
  const statement = Buffer.from(writeStatement({ ...found, erasedAt, requestedAt, parts }));
  const key = await shareKey(db);
  return {
    statement,
    signature: sign(null, statement, key),
    publicKey: publicKeyOf(key),
  };
}

/** Tells the public key, so that a certificate can be compared with something that is not in it. */
export async function getCertificateKey(
  _request: GetCertificateKeyRequest,
  { db }: { readonly db: Db },
): Promise<GetCertificateKeyResponse> {
  return { publicKey: publicKeyOf(await shareKey(db)) };
}

/** The first process that needs the key brings it. */
async function shareKey(db: Db): Promise<string> {
  const stored = await findSigningKey(db);
  if (stored !== undefined) return stored;
  const made = makeKey();
  await storeSigningKey(db, made);
  return (await findSigningKey(db)) ?? made;
}

function makeKey(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}
