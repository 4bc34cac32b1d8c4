import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import { text } from "node:stream/consumers";
import type { Clock } from "@tessera/kit/clock";

/** A server on this machine answers in milliseconds, and across a network in tens of them. */
const patienceMs = 3000;

/** Sends a request with a short timeout and without redirects. Also returns the least clock skew of the server. */
export async function askHttp(
  url: string,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): Promise<{ readonly text: string; readonly skewMs: number | undefined }> {
  const asked = clock.now() / 1000;
  const late = AbortSignal.timeout(patienceMs);
  const answer = Promise.withResolvers<{ text: string; skewMs: number | undefined }>();
  const options = { signal: AbortSignal.any([signal, late]), agent: false } as const;
  const request = (url.startsWith("https:") ? getHttps : getHttp)(url, options, (response) => {
    const skewMs = skewByDate(response.headers.date ?? null, { asked, answered: clock.now() / 1000 });
    text(response).then((body) => answer.resolve({ text: body, skewMs }), answer.reject);
  });
  const tooLate = new Error(`no answer within ${patienceMs / 1000} seconds`);
  request.on("error", (error) => answer.reject(late.aborted ? tooLate : error));
  return answer.promise;
}

/**
 * The least skew of an HTTP Date, which is some instant of the request, rounded down to whole seconds: only what lies
 * outside of this range counts. Undefined: there is no date.
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
