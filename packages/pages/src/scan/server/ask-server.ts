import { signal } from "@preact/signals";
import { compareClocks } from "./clock.ts";

/** What a request came to. Only `answer` comes from the routes of the interface. */
export type Answer =
  | { readonly kind: "answer"; readonly status: number; readonly body: unknown }
  | { readonly kind: "offline" }
  /** 429 or 503. */
  | { readonly kind: "busy"; readonly retryAfterMs: number }
  /** The organizer has ended the access of this device; or the server does not know it. */
  | { readonly kind: "revoked" | "unknown" };

export interface Request {
  readonly method?: "GET" | "POST";
  readonly body?: unknown;
  /** Sent as it is, in the place of a body. Under the same key it is taken once. */
  readonly file?: { readonly content: Blob; readonly type: string; readonly name: string; readonly key: string };
  readonly token?: string | undefined;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** What the body is read as; of an answer that is no success, JSON. Default: JSON. */
  readonly reads?: "text" | "bytes";
  /** It takes its time: that says nothing about the network. */
  readonly isLong?: boolean;
}

export type Connection = "online" | "slow" | "offline";

/** What the last requests say about the network. */
export const connection = signal<Connection>("online");

/** What the server is told of this device with each request: scans that it has still to get, and the battery. */
export const told: { queue?: number; battery?: number } = {};

/** A request that takes longer is slow: a crew wants to see why they wait. */
export const slowMs = 700;

/** Sends a request to the interface. Its address is relative: a proxy may serve everything below a path of its own. */
export async function askServer(path: string, request: Request = {}): Promise<Answer> {
  const { method = "GET", body, file, token, timeoutMs = 10_000, signal: ended, isLong = false } = request;
  const limit = AbortSignal.timeout(timeoutMs);
  const [started, asked] = [performance.now(), Date.now()];
  try {
    const response = await fetch(new URL(`../api/v1/${path}`, document.baseURI), {
      method,
      headers: {
        accept: "application/json",
        ...(token === undefined ? {} : { authorization: `Device ${token}`, ...aboutDevice() }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(file === undefined ? {} : headersOf(file)),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(file === undefined ? {} : { body: file.content }),
      signal: ended === undefined ? limit : AbortSignal.any([limit, ended]),
      cache: "no-store",
      credentials: "omit",
    });
    compareClocks(response.headers.get("Date"), { asked, came: Date.now() });
    const content = await read(response, request);
    if (!isLong) connection.value = performance.now() - started > slowMs ? "slow" : "online";
    else if (connection.value === "offline") connection.value = "online";
    return toAnswer(response, content);
  } catch {
    if (ended?.aborted !== true) connection.value = "offline";
    return { kind: "offline" };
  }
}

function aboutDevice(): Record<string, string> {
  const { queue, battery } = told;
  return {
    ...(queue === undefined ? {} : { "x-queue-length": String(queue) }),
    ...(battery === undefined ? {} : { "x-battery-level": String(battery) }),
  };
}

async function read(response: Response, { reads }: Request): Promise<unknown> {
  if (!response.ok || reads === undefined) return readJson(response);
  return reads === "text" ? response.text() : new Uint8Array(await response.arrayBuffer());
}

function headersOf({ type, name, key }: NonNullable<Request["file"]>): Record<string, string> {
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return {
    "content-type": type,
    "content-disposition": `attachment; filename*=UTF-8''${encoded}`,
    "x-idempotency-key": key,
  };
}

/** Proxies answer for a server that is away with pages in HTML. */
async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function toAnswer({ status, headers }: Response, body: unknown): Answer {
  if (status === 429 || status >= 500) {
    const seconds = Number(headers.get("Retry-After"));
    return { kind: "busy", retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 1000 };
  }
  if (status === 401) return { kind: isRevocation(body) ? "revoked" : "unknown" };
  return { kind: "answer", status, body };
}

/** The sentence after which scanners delete their data. */
function isRevocation(body: unknown): boolean {
  return (body as { readonly detail?: unknown } | undefined)?.detail === "Device access has been revoked.";
}
