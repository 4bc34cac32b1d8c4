import type { IncomingMessage, ServerResponse } from "node:http";
import type { Fault } from "@tessera/kit/fault";
import type { Metrics } from "@tessera/kit/metrics";
import { readAuthorization } from "../access/authorization.ts";
import type { Directory } from "../access/directory.ts";
import { finishBody } from "../body/read-bytes.ts";
import { type Endpoint, routeFor } from "../http/endpoint.ts";
import { toProblem } from "../http/problem.ts";
import { usualHeaders } from "./answer-wholly.ts";
import { isAllowed } from "./authorize.ts";
import { objectToPath } from "./find-endpoint.ts";
import type { FindHot, Found } from "./hot-routes.ts";
import { isUsual } from "./negotiate.ts";
import { requestIdOf, requestMetrics } from "./observe.ts";
import { findRefusal } from "./refuse-crowd.ts";
import { objectToHead } from "./require-sound-head.ts";

export interface ShedOptions {
  readonly endpoints: readonly Endpoint[];
  readonly findHot: FindHot;
  readonly directory: Directory;
  readonly isDraining: () => boolean;
  readonly metrics: Metrics;
}

const usual = usualHeaders.flat();

/** Such a body is read and dropped before the answer. Of a larger one more has to be read than is worth it. */
const largestBody = 8 * 1024;

/**
 * Refuses what its route has no room for ahead of all steps; tells whether it did. Several times as many requests as can be
 * served must leave time to serve some.
 *
 * It answers as the steps would, to callers and about events that this process remembers. Whatever it cannot decide at once
 * takes the usual way. A request that it refuses has no line in the log, no span, and no part in a rate limit.
 */
export function shedCrowd({ endpoints, findHot, directory, isDraining, metrics }: ShedOptions) {
  const crowds = endpoints.flatMap(({ routes }) => Array.from(routes.values()).flatMap(({ crowd }) => crowd ?? []));
  const { duration, refused } = requestMetrics(metrics);

  /** Why a request has no room, if that is all there is to say. */
  function refusalOf(request: IncomingMessage, { endpoint, params }: Found): Fault | undefined {
    const { method = "", url = "", headers } = request;
    if (routeFor(endpoint, method)?.crowd === undefined || !isPlain(request) || isDraining()) return undefined;
    if (objectToPath(pathOf(url)) !== undefined || url.includes("format=")) return undefined;
    const caller = known(() => directory.authenticate(readAuthorization(headers.authorization ?? "")));
    if (caller === undefined) return undefined;
    const asked = { method, state: { endpoint, params, caller } };
    return known(() => isAllowed(asked, directory)) === true ? findRefusal(asked) : undefined;
  }

  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!crowds.some((crowd) => crowd.isNear())) return false;
    const began = performance.now();
    const { method = "", url = "" } = request;
    const found = findHot(method, pathOf(url));
    const refusal = found === undefined ? undefined : refusalOf(request, found);
    if (found === undefined || refusal === undefined) return false;
    const { status, headers, body } = toProblem(refusal);
    const { allow, template } = found.endpoint;
    const json = JSON.stringify(body);
    // A connection that ends, or stops, in the middle of a body would be reset before its client has read the answer.
    void finishBody(request).then((canGoOn) => {
      if (response.destroyed) return;
      // In one flat list: Node sends it as it is.
      response.writeHead(status, [
        ...usual,
        ...Object.entries(headers).flat(),
        ...["X-Request-Id", requestIdOf(request), "Allow", allow],
        ...["Content-Type", "application/json; charset=utf-8", "Content-Length", String(Buffer.byteLength(json))],
        ...(canGoOn ? [] : ["Connection", "close"]),
      ]);
      response.end(json);
      refused.add({ reason: refusal.code });
      duration.observe({ method, route: template, status: String(status) }, (performance.now() - began) / 1000);
    });
    return true;
  };
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}

/** Whether the head holds nothing that asks for more than an answer: no answer to repeat, no body to wait for. */
function isPlain(request: IncomingMessage): boolean {
  const { headers } = request;
  const isSmall = headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) <= largestBody;
  const isAsked = headers["x-idempotency-key"] === undefined && headers.expect === undefined;
  return isSmall && isAsked && isUsual(headers.accept ?? "") && objectToHead(request) === undefined;
}

/** What a directory answers at once. The usual way waits for what it has to look up, and says what is wrong. */
function known<T>(ask: () => T | Promise<T>): T | undefined {
  try {
    const answer = ask();
    if (!(answer instanceof Promise)) return answer;
    answer.catch(() => {});
  } catch {
    // No caller.
  }
  return undefined;
}
