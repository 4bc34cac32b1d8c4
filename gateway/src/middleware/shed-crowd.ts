import type { IncomingMessage, ServerResponse } from "node:http";
import type { Fault } from "@tessera/kit/fault";
import type { Log } from "@tessera/kit/log";
import type { Metrics } from "@tessera/kit/metrics";
import { readAuthorization } from "../access/authorization.ts";
import type { Directory } from "../access/directory.ts";
import { finishBody } from "../body/read-bytes.ts";
import { type Endpoint, routeFor } from "../http/endpoint.ts";
import { type Problem, toProblem } from "../http/problem.ts";
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
  readonly isLeaving: () => boolean;
  readonly log: Log;
  readonly metrics: Metrics;
}

const usual = usualHeaders.flat();

/** Such a body is read and dropped before the answer. Of a larger one more has to be read than is worth it. */
const largestBody = 8 * 1024;

/**
 * Refuses what its route has no room for ahead of all steps; tells whether it did. Several times as many requests as can be
 * served must leave time to serve some.
 *
 * It answers as the steps would, to callers and about events that this process remembers. Whatever it cannot decide at once,
 * or fails to decide, takes the usual way. A request that it refuses has no line in the log, no span, and no part in a rate limit.
 */
export function shedCrowd({ endpoints, findHot, directory, isLeaving, log, metrics }: ShedOptions) {
  const crowds = endpoints.flatMap(({ routes }) => Array.from(routes.values()).flatMap(({ crowd }) => crowd ?? []));
  const { duration, refused } = requestMetrics(metrics);

  /** Why a request has no room, if that is all there is to say. */
  function refusalOf(request: IncomingMessage, { endpoint, params }: Found): Fault | undefined {
    const { method = "", url = "", headers } = request;
    if (routeFor(endpoint, method)?.crowd === undefined || !isPlain(request) || isLeaving()) return undefined;
    if (objectToPath(pathOf(url)) !== undefined || url.includes("format=")) return undefined;
    const caller = known(() => directory.peek(readAuthorization(headers.authorization ?? "")));
    if (caller === undefined) return undefined;
    const asked = { method, state: { endpoint, params, caller } };
    return known(() => isAllowed(asked, directory)) === true ? findRefusal(asked) : undefined;
  }

  /** Begins to refuse a request, if there is no room for it. */
  function shed(request: IncomingMessage, response: ServerResponse): boolean {
    if (!crowds.some((crowd) => crowd.isNear())) return false;
    const began = performance.now();
    const { method = "", url = "" } = request;
    const found = findHot(method, pathOf(url));
    const refusal = found === undefined ? undefined : refusalOf(request, found);
    if (found === undefined || refusal === undefined) return false;
    const { allow, template: route } = found.endpoint;

    function answer({ status, headers, body }: Problem, { isLast }: { readonly isLast: boolean }): void {
      const json = JSON.stringify(body);
      // In one flat list: Node sends it as it is.
      response.writeHead(status, [
        ...usual,
        ...Object.entries(headers).flat(),
        ...["X-Request-Id", requestIdOf(request), "Allow", allow],
        ...["Content-Type", "application/json; charset=utf-8", "Content-Length", String(Buffer.byteLength(json))],
        ...(isLast || isLeaving() ? ["Connection", "close"] : []),
      ]);
      response.end(json);
      duration.observe({ method, route, status: String(status) }, (performance.now() - began) / 1000);
    }

    // A connection that ends, or stops, in the middle of a body would be reset before its client has read the answer.
    void finishBody(request)
      .then((canGoOn) => {
        if (response.destroyed) return;
        answer(toProblem(refusal), { isLast: !canGoOn });
        refused.add({ reason: refusal.code });
      })
      .catch((error: unknown) => {
        log.error("request failed", { route, error });
        if (!response.writableEnded) answer(toProblem(error), { isLast: true });
      })
      .catch(() => response.destroy());
    return true;
  }

  return (request: IncomingMessage, response: ServerResponse): boolean => {
    try {
      return shed(request, response);
    } catch (error) {
      log.error("a scan could not be refused early", { error });
      return false;
    }
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
