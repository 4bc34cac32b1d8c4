import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import { text } from "node:stream/consumers";
import type { Clock } from "@tessera/kit/clock";

/** A server on this machine answers in milliseconds, and across a network in tens of them. */
const patienceMs = 3000;

/**
 * Sends a request within a few seconds and without redirects; `ca` has the authorities of the server. Also returns by how
 * much the clock there is ahead, at least.
 */
export async function askHttp(
  url: string,
  { signal, clock, ca }: { readonly signal: AbortSignal; readonly clock: Clock; readonly ca?: Buffer | undefined },
): Promise<{ readonly text: string; readonly skewMs: number | undefined }> {
  const asked = clock.now() / 1000;
  const late = AbortSignal.timeout(patienceMs);
  const answer = Promise.withResolvers<{ text: string; skewMs: number | undefined }>();
  const options = {
    signal: AbortSignal.any([signal, late]),
    agent: false,
    ...(ca === undefined ? {} : { ca }),
  } as const;
  const request = (url.startsWith("https:") ? getHttps : getHttp)(url, options, (response) => {
    const skewMs = skewByDate(response.headers.date ?? null, { asked, answered: clock.now() / 1000 });
    text(response).then((body) => answer.resolve({ text: body, skewMs }), answer.reject);
  });
  const tooLate = new Error(`no answer within ${patienceMs / 1000} seconds`);
  request.on("error", (error) => answer.reject(late.aborted ? tooLate : error));
  return answer.promise;
}

/**
 * By how much an HTTP Date is ahead, at least. It is some moment of the request, rounded down to whole seconds, so only
 * what lies outside of all such moments counts. Undefined: there is no date.
 */
export function skewByDate(
  date: string | null,
  { asked, answered }: { asked: number; answered: number },
): number | undefined {
  const there = Date.parse(date ?? "");
  if (Number.isNaN(there)) return undefined;
  if (there > answered) return there - answered;
  return Math.min(0, there + 1000 - asked);
}
