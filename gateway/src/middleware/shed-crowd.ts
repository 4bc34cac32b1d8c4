import type { IncomingMessage, ServerResponse } from "node:http";
import type { Metrics } from "@tessera/kit/metrics";
import { readAuthorization } from "../access/authorization.ts";
import type { Directory } from "../access/directory.ts";
import { hasEventAccess, mayUse } from "../access/may-use.ts";
import { discard, hasBody } from "../body/read-bytes.ts";
import { type Endpoint, routeFor } from "../http/endpoint.ts";
import { toProblem } from "../http/problem.ts";
import { usualHeaders } from "./answer-wholly.ts";
import { objectToPath } from "./find-endpoint.ts";
import type { FindHot } from "./hot-routes.ts";
import { isUsual } from "./negotiate.ts";
import { requestIdOf, requestMetrics } from "./observe.ts";
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
 * It answers as the steps would, and only callers and events that this process remembers. Whatever it cannot decide at once takes the usual
 * way. A request that it refuses has no line in the log, no span, and no part in a rate limit.
 */
export function shedCrowd({ endpoints, findHot, directory, isDraining, metrics }: ShedOptions) {
  const crowds = endpoints.flatMap(({ routes }) => Array.from(routes.values(), ({ crowd }) => crowd ?? []).flat());
  const { duration, refused } = requestMetrics(metrics);
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!crowds.some((crowd) => crowd.isNear())) return false;
    const began = performance.now();
    const { method = "", url = "" } = request;
    const [path = "", ...queries] = url.split("?");
    const found = findHot(method, path);
    if (found === undefined) return false;
    const { endpoint, params } = found;
    const route = routeFor(endpoint, method);
    if (route?.crowd?.isNear() !== true) return false;
    const { organizer = "", event = "" } = params;
    const isPlain =
      isUnremarkable(request) && objectToPath(path) === undefined && !queries.join("?").includes("format=");
    if (!isPlain || isDraining()) return false;
    const caller = known(() => directory.authenticate(readAuthorization(request.headers.authorization ?? "")));
    if (caller === undefined || caller.kind === "operator") return false;
    const isAllowed = mayUse(caller, [route]) && hasEventAccess(caller, organizer, event);
    if (!isAllowed || known(() => directory.hasEvent(organizer, event)) !== true) return false;
    const refusal = route.crowd.refuse({ organizer, tenant: caller });
    if (refusal === undefined) return false;
    const { status, headers, body } = toProblem(refusal);
    const json = JSON.stringify(body);
    const answer = () => {
      if (response.destroyed) return;
      // In one flat list: Node sends it as it is.
      response.writeHead(status, [
        ...usual,
        ...Object.entries(headers).flat(),
        ...["X-Request-Id", requestIdOf(request), "Allow", endpoint.allow],
        ...["Content-Type", "application/json; charset=utf-8", "Content-Length", String(Buffer.byteLength(json))],
        ...(request.complete || !hasBody(request) ? [] : ["Connection", "close"]),
      ]);
      response.end(json);
      refused.add({ reason: refusal.code });
      const seconds = (performance.now() - began) / 1000;
      duration.observe({ method, route: endpoint.template, status: String(status) }, seconds);
    };
    // A connection that ends, or stops, in the middle of a body would be reset before its client has read the answer.
    if (hasBody(request)) void discard(request).then(answer);
    else answer();
    return true;
  };
}

/** Whether the head holds nothing that asks for more than an answer: no answer to repeat, no body to wait for. */
function isUnremarkable(request: IncomingMessage): boolean {
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
