import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Data = Record<string, unknown>;

export interface StubRequest {
  /** Below `organizers/`, or the whole path elsewhere. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
}

/** Answers a request instead of the stub; returning false leaves it to the stub. */
export type Interference = (request: StubRequest, response: ServerResponse) => boolean;

export interface StubPretix {
  readonly url: string;
  /** Lists by path below `organizers/`; what changes in them changes what is answered. */
  readonly lists: Map<string, Data[]>;
  readonly objects: Map<string, Data>;
  readonly files: Map<string, { readonly type: string; readonly body: Buffer; readonly name?: string }>;
  /** `Last-Modified` by path. */
  readonly modified: Map<string, string>;
  readonly requests: StubRequest[];
  /** The path and chosen parameters of all requests, in their order. */
  asked(...parameters: string[]): string[];
  interfere: Interference | undefined;
  /** What `X-Page-Generated` says. */
  now: string;
  stop(): Promise<void>;
}

export const stubToken = "token-of-the-stub-0123456789abcdefghijklmnopqrstuvwxyz";

const prefix = "/api/v1/organizers/";
/** Parameters that ask for what is newer, and the fields that they are about. */
const newer: Readonly<Record<string, string>> = {
  modified_since: "last_modified",
  created_since: "datetime",
  updated_since: "updated",
};

/** Answers as a pretix does, from data in memory: pages, conditions, filters by time. */
export async function startStubPretix({ pageSize = 2 }: { pageSize?: number } = {}): Promise<StubPretix> {
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? "/", stub.url);
    const path = url.pathname.startsWith(prefix) ? url.pathname.slice(prefix.length) : url.pathname;
    const request = { path, query: url.searchParams, headers: incoming.headers };
    stub.requests.push(request);
    if (stub.interfere?.(request, response) !== true) answer(stub, { request, response, url, pageSize });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stub: StubPretix = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lists: new Map(),
    objects: new Map(),
    files: new Map(),
    modified: new Map(),
    requests: [],
    asked: (...parameters) =>
      stub.requests.map(({ path, query }) => {
        const chosen = parameters.flatMap((name) => query.getAll(name).map((value) => `${name}=${value}`));
        return [path, ...chosen].join(" ");
      }),
    interfere: undefined,
    now: "2027-12-10T12:00:00.000000Z",
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
  return stub;
}

function answer(
  stub: StubPretix,
  exchange: { request: StubRequest; response: ServerResponse; url: URL; pageSize: number },
): void {
  const { request, response } = exchange;
  const { path, headers } = request;
  const file = stub.files.get(path);
  const isPublic = !path.includes("/orderpositions/") && file !== undefined;
  if (!isPublic && headers.authorization !== `Token ${stubToken}`) {
    sendJson(response, { status: 401, body: { detail: "no" } });
    return;
  }
  if (file !== undefined) {
    response.setHeader("content-type", file.type);
    if (file.name !== undefined) response.setHeader("content-disposition", `attachment; filename="${file.name}"`);
    response.end(file.body);
    return;
  }
  const object = stub.objects.get(path);
  const list = stub.lists.get(path);
  if (object !== undefined) sendJson(response, { body: object });
  else if (list === undefined) sendJson(response, { status: 404, body: { detail: "nothing" } });
  else answerList(stub, { ...exchange, list });
}

function answerList(
  stub: StubPretix,
  {
    request,
    response,
    url,
    list,
    pageSize,
  }: { request: StubRequest; response: ServerResponse; url: URL; list: Data[]; pageSize: number },
): void {
  const { path, query, headers } = request;
  const modified = stub.modified.get(path);
  if (modified !== undefined) response.setHeader("last-modified", modified);
  if (modified !== undefined && headers["if-modified-since"] === modified) {
    response.writeHead(304).end();
    return;
  }
  response.setHeader("x-page-generated", stub.now);
  const matching = list.filter((data) =>
    Object.entries(newer).every(([parameter, field]) => {
      const since = query.get(parameter);
      const value = data[field] ?? data["created"];
      return since === null || typeof value !== "string" || Date.parse(value) >= Date.parse(since);
    }),
  );
  const sorted = query.get("ordering") === "datetime" ? matching.toSorted(byDatetime) : matching;
  const page = Number(query.get("page") ?? "1");
  const start = (page - 1) * pageSize;
  if (start > 0 && start >= sorted.length) {
    sendJson(response, { status: 404, body: { detail: "no such page" } });
    return;
  }
  const next = new URL(url);
  next.searchParams.set("page", String(page + 1));
  const hasNext = start + pageSize < sorted.length;
  const body = { count: sorted.length, next: hasNext ? next.href : null, previous: null };
  sendJson(response, { body: { ...body, results: sorted.slice(start, start + pageSize) } });
}

function byDatetime(one: Data, other: Data): number {
  return String(one["datetime"]).localeCompare(String(other["datetime"]));
}

export function sendJson(response: ServerResponse, { status = 200, body }: { status?: number; body: unknown }): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
