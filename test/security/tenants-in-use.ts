import { readPdf } from "@tessera/testkit/read-pdf";
import { afterAll, beforeAll, expect } from "vitest";
import { kindOverSockets } from "../e2e/run-platform.ts";
import { type Answer, type RequestOptions, startTestPlatform, type TestPlatform } from "../e2e/test-platform.ts";
import { type Documented, type EventRoute, readEventRoutes } from "./event-routes.ts";
import { type Made, makeForEvent } from "./tenant-jobs.ts";
import { type Home, homes, markOf, pathOf, recordsOfTenants, shared } from "./tenants.ts";

/** Where tickets are answered as PDF, whose texts are compressed. */
const isRendered = /\/download\/(?:pdf\/|[^/]+\/[^/]+\/)$/;

async function textOf({ bytes, body, headers }: Answer): Promise<unknown> {
  if (bytes.length === 0 || headers.get("content-type") !== "application/pdf") return body;
  const { pages } = await readPdf(bytes);
  return pages.flatMap(({ texts }) => texts.map(({ text }) => text)).join(" ");
}

/** Starts a platform for all tests of a file, on which all tenants have something of everything. */
export function tenantsInUse() {
  let platform: TestPlatform;
  let routes: EventRoute[];
  const made = new Map<Home, Made>();

  beforeAll(async () => {
    platform = await startTestPlatform({ kind: kindOverSockets });
    expect(await platform.import(recordsOfTenants())).toMatchObject({ rejected: 0, settled: true });
    routes = readEventRoutes((await platform.request("GET", "/api/v1/openapi.json")).body as Documented);
    platform.keepOutOfLogs("mark-alpha", "mark-beta", "token-of-");
    for (const home of homes) made.set(home, await makeForEvent(send, home));
  });
  afterAll(() => platform.stop());

  /** Fills a route's path; `id` is what every id in it becomes. */
  const fill = (home: Home, path: string, id: number | string) =>
    pathOf(home) +
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(id === shared ? idOn({ path, name }, home, id) : id));

  /** What an event has at a path: its scan, its batch or its rendered file there, elsewhere the record with this id. */
  const idOn = ({ path, name }: { readonly path: string; readonly name: string }, home: Home, id: number) => {
    if (name === "code") return `ORD${id}`;
    if (path.startsWith("/checkins/")) return made.get(home)?.scan ?? 0;
    if (path.startsWith("/doubles/")) return made.get(home)?.double ?? 0;
    if (path.startsWith("/offlinesalesbatches/")) {
      return made.get(home)?.batch[path.includes("/check/") ? "making" : name] ?? id;
    }
    if (path.startsWith("/shredders/")) return idOfShred({ path, name }, home, id);
    const [job, file] = made.get(home)?.render ?? [];
    return { job, file }[name] ?? id;
  };

  const idOfShred = ({ path, name }: { readonly path: string; readonly name: string }, home: Home, id: number) => {
    if (name === "identifier") return id === shared ? "order_emails" : id;
    const [first = id, file = id] = made.get(home)?.shreds[path.split("/")[2] ?? ""] ?? [];
    return name === "file" ? file : first;
  };

  async function send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const answer = await platform.request(method, path, {
      ...options,
      ...(["POST", "PUT", "PATCH"].includes(method) && options.body === undefined ? { body: {} } : {}),
    });
    expect(answer.status, `${method} ${path}`).toBeLessThan(500);
    return answer.status === 200 && isRendered.test(path) ? { ...answer, body: await textOf(answer) } : answer;
  }

  function expectNothingOf(answer: Answer, ...foreign: Home[]): void {
    const text = JSON.stringify(answer.body) + JSON.stringify([...answer.headers]);
    for (const home of foreign) expect(text).not.toContain(markOf(home));
  }

  return {
    get platform() {
      return platform;
    },
    /** All routes of events. */
    get routes() {
      return routes;
    },
    fill,
    idOn,
    send,
    expectNothingOf,
  };
}
