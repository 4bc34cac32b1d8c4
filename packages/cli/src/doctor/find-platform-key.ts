import { systemClock } from "@tessera/kit/clock";
import { describeCause } from "@tessera/kit/describe-cause";
import { Skip } from "./finding.ts";
import { lookAround, type Question } from "./surroundings.ts";
import type { PlatformKey } from "./verify-certificate.ts";

/** Finds the key of certificates in the database of the platform. */
export async function findPlatformKey(question: Question): Promise<PlatformKey> {
  const { definitions, database } = await lookAround(question, { clock: systemClock });
  try {
    const shredder = definitions.find(({ name }) => name === "shredder");
    if (shredder === undefined) return { missing: "shredder is not among the services" };
    const { findPublicKey } = await import("@tessera/shredder/store/signing-key");
    const pem = await findPublicKey(await database.as(shredder));
    if (pem === undefined) return { missing: "the platform has certified nothing yet" };
    return { pem, from: "its database" };
  } catch (error) {
    return { missing: error instanceof Skip ? error.message : describeCause(error) };
  } finally {
    await database.close();
  }
}
