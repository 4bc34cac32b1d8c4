import type { FindShredResponse, GetCertificateResponse } from "@tessera/protos/gen/ticketing/shredder/v1/shreds";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import type { Reply } from "../../http/route.ts";
import { replyUnfinished } from "../unfinished-jobs/present.ts";

/** The end of an erasure (D6.6). */
export function presentStatus({ state, message }: FindShredResponse): Reply {
  if (state === JobState.SUCCEEDED) return { status: "ok", body: { status: "ok", message: "OK" } };
  if (state === JobState.GONE) return { status: "gone", body: { status: "gone", message } };
  if (state === JobState.FAILED) return { status: "expectationFailed", body: { status: "failed", message } };
  return replyUnfinished({ state, message });
}

/** A certificate, with its signed text and as an object. */
export function presentCertificate({ statement, signature, publicKey }: GetCertificateResponse) {
  const signed = Buffer.from(statement).toString();
  return {
    statement: JSON.parse(signed) as object,
    signed,
    signature: Buffer.from(signature).toString("base64"),
    public_key: publicKey,
  };
}
