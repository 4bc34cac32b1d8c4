import { setTimeout as sleep } from "node:timers/promises";
import { fileWith } from "@tessera/sent-files/testing/sample-files";
import { readPdf } from "@tessera/testkit/read-pdf";
import { devicePermissions } from "@tessera/values";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, type RequestOptions, startTestPlatform, type TestPlatform } from "../e2e/test-platform.ts";

/**
 * Two organizers with two events each. The same ids mean something else in each
 * of the four; ids above 70 exist in one of them alone. Every text of an event
 * names it, so that a leak shows itself.
 */
const homes = [
  ["alpha", "one"],
  ["alpha", "two"],
  ["beta", "one"],
  ["beta", "two"],
] as const;
type Home = (typeof homes)[number];
const [alphaOne, alphaTwo, betaOne, betaTwo] = homes;
const own = new Map<Home, number>(homes.map((home, index) => [home, 71 + index]));
const ownOf = (home: Home) => own.get(home) ?? 0;
const markOf = ([organizer, event]: Home) => `mark-${organizer}-${event}`;
const pathOf = ([organizer, event]: Home) => `/api/v1/organizers/${organizer}/events/${event}`;
const token = (name: string) => `Token ${tokenOf(name)}`;
const device = (name: string) => `Device ${tokenOf(name)}`;
const tokenOf = (name: string) => `token-of-${name}-`.padEnd(64, "0");

const shared = 5;

function contentOf(home: Home): object[] {
  const [organizer, event] = home;
  const mark = markOf(home);
  const of = (kind: string, data: object) => ({ kind, organizer, event, data });
  const ids = [shared, ownOf(home)];
  const pdf = fileWith("application/pdf", mark).toString("base64");
  return [
    of("event", { slug: event, name: { en: mark }, date_from: "2025-01-01T10:00:00Z", has_subevents: true }),
    of("event_settings", { ticket_download: true }),
    ...ids.flatMap((id) => [
      of("subevent", { id, name: { en: `${mark} date` }, date_from: "2025-01-01T10:00:00Z" }),
      of("item", { id, name: { en: `${mark} item` }, admission: true, default_price: "23.00" }),
      of("quota", { id, name: `${mark} quota`, size: 100, items: [id], subevent: id }),
      of("question", { id, question: { en: `${mark} question` }, type: "F" }),
      of("order", {
        code: `ORD${id}`,
        status: "p",
        datetime: "2026-12-01T10:00:00Z",
        positions: [
          {
            id,
            positionid: 1,
            item: id,
            subevent: id,
            secret: `${mark}-secret-${id}`,
            attendee_name: `${mark} visitor`,
            answers: [{ question: id, answer: `data:application/pdf;base64,${pdf}` }],
          },
        ],
      }),
      of("checkin_list", { id, name: `${mark} list`, all_products: true }),
      of("voucher", { id, code: `${mark}-voucher-${id}`, item: id, comment: `${mark} comment` }),
      of("ticket_layout", { id, name: `${mark} layout`, layout: [], default: id === shared }),
      of("ticket_layout_item", { id, layout: id, item: id, sales_channel: `${mark} channel` }),
    ]),
  ];
}

/** What may be read, changed and scanned, as the rights of credentials are named. */
const permissions = [
  "event.orders:read",
  "event.orders:write",
  "event.orders:checkin",
  "event.vouchers:read",
  "event.vouchers:write",
  "event.settings.general:write",
] as const;

const profiles = ["full", "pretixscan", "pretixscan_online_kiosk", "pretixscan_online_noorders"] as const;
const lists = "/checkinlists/";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly type?: unknown };
}

interface Operation {
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly security: readonly unknown[];
}

interface EventRoute {
  readonly method: string;
  /** Below the event. */
  readonly path: string;
  readonly operation: Operation;
  /** One of these permissions opens it; without any, access to the event does. */
  readonly anyOf: readonly string[];
  /** It is open to these profiles of devices. */
  readonly profiles: readonly string[];
}

const opens = (anyOf: readonly string[], permission: string) => anyOf.length === 0 || anyOf.includes(permission);

/** Reads who may use a route: what the document says of each is held to the specification beside the gateway's access. */
function readRights({ description }: Operation): Pick<EventRoute, "anyOf" | "profiles"> {
  const [, needs = "", scanners = ""] = /Needs (.+?)\.(?: Open to device profiles (.+)\.)?$/.exec(description) ?? [];
  const anyOf = needs === "access to the event" ? [] : needs.split(" or ").map((name) => name.replaceAll("`", ""));
  const full = anyOf.length === 0 || anyOf.some((name) => devicePermissions.has(name));
  return { anyOf, profiles: [...(full ? ["full"] : []), ...scanners.split(", ")] };
}

/** Where tickets are answered as PDF, whose texts are compressed. */
const isRendered = /\/download\/(?:pdf\/|[^/]+\/[^/]+\/)$/;

async function textOf({ bytes, body, headers }: Answer): Promise<unknown> {
  if (bytes.length === 0 || headers.get("content-type") !== "application/pdf") return body;
  const { pages } = await readPdf(bytes);
  return pages.flatMap(({ texts }) => texts.map(({ text }) => text)).join(" ");
}

const eventPrefix = "/api/v1/organizers/{organizer}/events/{event}";
const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];

describe("tenants", () => {
  let platform: TestPlatform;
  let routes: EventRoute[];
  /** The ids of scans are given here, and are the same in no two events. */
  const scans = new Map<Home, number>();
  /** The ids of a rendered file of each event: its job and its file. */
  const renders = new Map<Home, readonly [string, string]>();
  /** A batch of tickets of each event: its id, the job that made it, and a rendered file of it. */
  const batches = new Map<Home, Readonly<Record<string, string>>>();
  /** The ids of an export of personal data of each event, of one that is erased, and of its erasure. */
  const shreds = new Map<Home, Readonly<Record<string, readonly string[]>>>();

  beforeAll(async () => {
    platform = await startTestPlatform({ kind: "grpc" });
    const credentials = ["alpha", "beta"].flatMap((organizer) => [
      { kind: "organizer", organizer, data: { slug: organizer, name: organizer } },
    ]);
    const key = (organizer: string, name: string, data: object) => ({
      kind: "api_key",
      organizer,
      data: { token: tokenOf(name), name, ...data },
    });
    const scanner = (name: string, device_id: number, data: object) => ({
      kind: "device",
      organizer: "alpha",
      data: { token: tokenOf(name), device_id, all_events: true, ...data },
    });
    const answer = await platform.import([
      ...credentials,
      ...homes.flatMap(contentOf),
      key("alpha", "alpha", { permissions: ["*"], all_events: true }),
      key("alpha", "alpha-one", { permissions: ["*"], events: ["one"] }),
      key("beta", "beta", { permissions: ["*"], all_events: true }),
      key("alpha", "off", { permissions: ["*"], all_events: true, active: false }),
      key("alpha", "powerless", { permissions: [], all_events: true }),
      key("alpha", "nowhere", { permissions: ["*"], all_events: false, events: [] }),
      key("alpha", "classic", { permissions: ["can_view_orders"], all_events: true }),
      ...permissions.map((name) => key("alpha", name, { permissions: [name], all_events: true })),
      ...profiles.map((security_profile, index) => scanner(security_profile, 10 + index, { security_profile })),
      scanner("made-up", 20, { security_profile: "everything" }),
      scanner("revoked", 21, { revoked: true }),
      scanner("one-event", 22, { all_events: false, events: ["two"] }),
      { kind: "device", organizer: "alpha", data: { device_id: 23, token: null, all_events: true } },
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
    const document = (await platform.request("GET", "/api/v1/openapi.json")).body as {
      paths: Record<string, Record<string, Operation>>;
    };
    routes = Object.entries(document.paths)
      .filter(([path]) => path.startsWith(eventPrefix))
      .flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, operation]) => ({
          method: method.toUpperCase(),
          path: path.slice(eventPrefix.length),
          operation,
          ...readRights(operation),
        })),
      );
    platform.keepOutOfLogs("mark-alpha", "mark-beta", "token-of-");
    for (const home of homes) {
      const as = token(home[0]);
      const body = { error_reason: "error", raw_barcode: "x", error_explanation: `${markOf(home)} refusal` };
      const told = await send("POST", `${pathOf(home)}${lists}${shared}/failed_checkins/`, { as, body });
      expect(told.status).toBe(201);
      const { body: history } = await send("GET", `${pathOf(home)}/checkins/`, { as });
      scans.set(home, (history as { results: { id: number }[] }).results[0]?.id ?? 0);
      renders.set(home, await render(home));
      batches.set(home, await sell(home));
      shreds.set(home, await shred(home));
    }
  });
  afterAll(() => platform.stop());

  /** Renders a ticket of an event, and waits for the file. */
  async function render(home: Home): Promise<readonly [string, string]> {
    const as = token(home[0]);
    const parts = [{ orderposition: shared }];
    const started = await send("POST", `${pathOf(home)}/ticketpdfrenderer/render_batch/`, { as, body: { parts } });
    expect(started.status).toBe(202);
    const { pathname } = await untilEnded(started.body.download, as);
    const [job = "", file = ""] = pathname.split("/").slice(-3);
    return [job, file];
  }

  /** Sells a batch of tickets of an event, and renders it. */
  async function sell(home: Home): Promise<Readonly<Record<string, string>>> {
    const as = token(home[0]);
    const at = `${pathOf(home)}/offlinesalesbatches/`;
    const of = { layout: shared, item: shared, subevent: shared, sales_channel: "web", amount: 1 };
    const asked = await send("POST", at, { as, body: { ...of, comment: `${markOf(home)} batch` } });
    expect(asked.status).toBe(202);
    const made = await untilEnded(asked.body.check, as);
    const rendered = await send("POST", `${at}${made.body.id}/render/`, { as });
    const { pathname } = await untilEnded(rendered.body.download, as);
    const [job = "", file = ""] = pathname.split("/").slice(-3);
    return { id: String(made.body.id), making: made.pathname.split("/").at(-2) ?? "", job, file };
  }

  /** Erases what nothing is held of, and makes another export, which can be downloaded. */
  async function shred(home: Home): Promise<Readonly<Record<string, readonly string[]>>> {
    const as = token(home[0]);
    const idsOf = (address: string) => new URL(address).pathname.split("/").slice(-3, -1);
    const make = async () => {
      const asked = await send("POST", `${pathOf(home)}/shredders/export/`, {
        as,
        body: { shredders: ["payment_info"] },
      });
      expect([asked.status, asked.body]).toEqual([202, expect.anything()]);
      await untilEnded(asked.body.download, as);
      return asked.body as { readonly download: string; readonly shred: string };
    };
    const erased = await make();
    const started = await send("POST", new URL(erased.shred).pathname, { as });
    expect((await untilEnded(started.body.status, as)).status).toBe(200);
    return {
      shred: idsOf(erased.shred),
      download: idsOf((await make()).download),
      status: idsOf(started.body.status),
      certificate: idsOf(started.body.status),
    };
  }

  /** Waits for the end of a job at an address. */
  async function untilEnded(address: string, as: string): Promise<Answer & { readonly pathname: string }> {
    const { pathname } = new URL(address);
    for (;;) {
      const answer = await send("GET", pathname, { as });
      if (answer.status !== 409) return { ...answer, pathname };
      await sleep(50);
    }
  }

  /** Fills a route's path; `id` is what every id in it becomes. */
  const fill = (home: Home, path: string, id: number | string) =>
    pathOf(home) +
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(id === shared ? idOn({ path, name }, home, id) : id));

  /** What an event has at a path: its scan, its batch or its rendered file there, elsewhere the record with this id. */
  const idOn = ({ path, name }: { readonly path: string; readonly name: string }, home: Home, id: number) => {
    if (path.startsWith("/checkins/")) return scans.get(home) ?? 0;
    if (path.startsWith("/offlinesalesbatches/")) {
      return batches.get(home)?.[path.includes("/check/") ? "making" : name] ?? id;
    }
    if (path.startsWith("/shredders/")) return idOfShred({ path, name }, home, id);
    const [job, file] = renders.get(home) ?? [];
    return { job, file }[name] ?? id;
  };

  const idOfShred = ({ path, name }: { readonly path: string; readonly name: string }, home: Home, id: number) => {
    if (name === "identifier") return id === shared ? "order_emails" : id;
    const [first = id, file = id] = shreds.get(home)?.[path.split("/")[2] ?? ""] ?? [];
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

  it("[S5.5] has a rule for every route of an event", () => {
    expect(routes.length).toBeGreaterThan(10);
    for (const { method, path, anyOf } of routes)
      expect(anyOf, `${method} ${path}`).toSatisfy(() => anyOf.every((name) => permissions.includes(name as never)));
  });

  it("[R4.2, S1.1] shows each event its own, though the ids are the same", async () => {
    for (const home of homes) {
      const as = token(home[0]);
      const others = homes.filter((other) => other !== home);
      for (const { method, path } of routes.filter((route) => route.method === "GET")) {
        const answer = await send(method, fill(home, path, shared), { as });
        expect(answer.status, path).toBe(200);
        // An erasure says nothing of its event, and an archive is compressed.
        if (!path.startsWith("/shredders/")) expect(JSON.stringify(answer.body), path).toContain(markOf(home));
        expectNothingOf(answer, ...others);
      }
    }
  });

  it("[A1.17, A2.1, A2.2, S1.2, S2.4, S5.4] answers a foreign organizer, a foreign event and one that is not there with the same 403", async () => {
    const unknown = await send("GET", `/api/v1/organizers/nobody/events/nothing${lists}`, { as: token("alpha") });
    expect(unknown.status).toBe(403);
    for (const { method, path, anyOf } of routes) {
      for (const [home, as] of [
        [betaOne, token("alpha")],
        [betaOne, device("full")],
        [alphaOne, token("beta")],
        [alphaTwo, token("alpha-one")],
        [alphaOne, device("one-event")],
        [alphaOne, token("nowhere")],
        ...(anyOf.length === 0 ? [] : [[alphaOne, token("powerless")]]),
        [alphaOne, `Token ${platform.operatorKey}`],
        [["alpha", "three"], token("alpha")],
        [["gamma", "one"], token("alpha")],
        [["alpha", "ONE"], token("alpha")],
        [["ALPHA", "one"], token("alpha")],
        [["alpha%2Fone", "one"], token("alpha")],
        [["alpha", "one%20"], token("alpha")],
        [["alpha", "one%2F..%2Ftwo"], token("alpha-one")],
      ] as [Home, string][]) {
        for (const id of [shared, 9999, "no-id"]) {
          const answer = await send(method, fill(home, path, id), { as });
          expect(answer.status, `${method} ${fill(home, path, id)} as ${as}`).toBe(403);
          expect(answer.body).toEqual(unknown.body);
        }
      }
    }
  });

  it("[A2.1, D9.11, S1.2] shows an organizer its own, and gives every key that is not for all its events the same 403", async () => {
    const document = (await platform.request("GET", "/api/v1/openapi.json")).body as {
      paths: Record<string, Record<string, Operation>>;
    };
    const ofOrganizer = Object.entries(document.paths)
      .filter(([path]) => path.startsWith("/api/v1/organizers/{organizer}/retention/"))
      .flatMap(([path, operations]) => Object.keys(operations).map((method) => [method.toUpperCase(), path] as const));
    expect(ofOrganizer.length).toBeGreaterThan(4);
    const unknown = await send("GET", `${pathOf(betaOne)}${lists}`, { as: token("alpha") });
    for (const [method, path] of ofOrganizer) {
      for (const [organizer, as] of [
        ["beta", token("alpha")],
        ["alpha", token("beta")],
        ["alpha", token("alpha-one")],
        ["alpha", token("nowhere")],
        ["alpha", token("powerless")],
        ["alpha", device("one-event")],
        ["alpha", device("pretixscan")],
        ["alpha", device("full")],
        ["alpha", `Token ${platform.operatorKey}`],
        ["gamma", token("alpha")],
        ["ALPHA", token("alpha")],
        ...permissions.filter((name) => name !== "event.orders:write").map((name) => ["alpha", token(name)] as const),
      ] as const) {
        const answer = await send(method, path.replace("{organizer}", organizer), { as });
        expect([answer.status, answer.body], `${method} ${path} of ${organizer} as ${as}`).toEqual([403, unknown.body]);
      }
    }
    const at = (organizer: string) => `/api/v1/organizers/${organizer}/retention/`;
    const body = { days: 3650, shredders: ["invoices"] };
    expect((await send("PUT", at("alpha"), { as: token("event.orders:write"), body })).status).toBe(200);
    expect((await send("GET", at("alpha"), { as: token("alpha") })).body).toMatchObject(body);
    expect((await send("GET", at("beta"), { as: token("beta") })).body).toMatchObject({ days: null });
    expect((await send("DELETE", at("alpha"), { as: token("alpha") })).status).toBe(204);
  });

  it("[A4.8, S1.3, S1.5] does not find in one event what is in another", async () => {
    for (const foreign of [alphaTwo, betaOne, betaTwo]) {
      for (const { method, path } of routes.filter((route) => route.path.includes("{"))) {
        const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
        // One parameter at a time is foreign; the others are at home.
        for (const name of names) {
          const filled = path.replaceAll(/\{(\w+)\}/g, (_, each: string) =>
            String(
              each === name
                ? idOn({ path, name: each }, foreign, ownOf(foreign))
                : idOn({ path, name: each }, alphaOne, shared),
            ),
          );
          const body = method === "PUT" ? { body: { name: "new name" } } : {};
          const answer = await send(method, pathOf(alphaOne) + filled, { as: token("alpha"), ...body });
          expect(answer.status, `${method} ${filled}`).toBe(404);
          expectNothingOf(answer, foreign);
        }
      }
      const secret = `${markOf(foreign)}-secret-${shared}`;
      const scan = await send("POST", `${pathOf(alphaOne)}${lists}${shared}/positions/${secret}/redeem/`, {
        as: token("alpha"),
        body: { force: true },
      });
      expect(scan).toMatchObject({ status: 404, body: { reason: "invalid" } });
    }
  });

  it("[S1.8] shows a credential of one event nothing of another, on any address and by any parameter", async () => {
    const document = (await platform.request("GET", "/api/v1/openapi.json")).body as {
      paths: Record<string, Record<string, Operation>>;
    };
    const own = { as: token("alpha"), headers: { "x-idempotency-key": "of-another" } };
    for (const home of [alphaOne, alphaTwo])
      await send("POST", `${pathOf(home)}${lists}${shared}/positions/unknown/redeem/`, {
        ...own,
        body: { force: true },
      });
    let asked = 0;
    for (const [home, foreign, as] of [
      [alphaOne, alphaTwo, token("alpha-one")],
      [alphaTwo, alphaOne, device("one-event")],
    ] as const) {
      const others = homes.filter((other) => other !== home);
      // The mark of the other event is in none of them, so an answer that repeats them is no leak.
      const values = [foreign.join("-"), foreign[1], String(ownOf(foreign)), "of-another"];
      const body = {
        ...{ secret: `${markOf(foreign)}-secret-${shared}`, lists: [shared, ownOf(foreign)], position: ownOf(foreign) },
        ...{ raw_barcode: "x", error_reason: "error", force: true, untrusted_input: false },
      };
      for (const [template, operations] of Object.entries(document.paths)) {
        const path = template.replace("{organizer}", home[0]).replace("{event}", home[1]);
        for (const [method, { parameters = [] }] of Object.entries(operations)) {
          if (!["get", "post"].includes(method)) continue;
          const names = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
          const queries = ["", ...names.flatMap((name) => values.map((value) => `?${name}=${value}`))];
          for (const id of [shared, ownOf(foreign)]) {
            for (const query of id === shared ? queries : [""]) {
              const lookup = query === "" ? body.secret : String(ownOf(foreign));
              const filled = path.replace("{lookup}", lookup).replaceAll(/\{\w+\}/g, String(id));
              const answer = await send(method.toUpperCase(), filled + query, {
                as,
                body: method === "post" ? body : undefined,
              });
              expectNothingOf(answer, ...others);
              asked += 1;
            }
          }
        }
      }
    }
    expect(asked).toBeGreaterThan(200);
  });

  it("[A7.5, A8.5, S1.4] refuses foreign ids in filters and bodies under their own name", async () => {
    // Compared, not looked up.
    const plain = new Set(["page", "page_size", "subevent_match", "gate", "device", "max_usages", "redeemed"]);
    let tried = 0;
    for (const foreign of [alphaTwo, betaOne, betaTwo]) {
      for (const { path, operation } of routes.filter((route) => route.method === "GET")) {
        for (const { name } of (operation.parameters ?? []).filter(
          (parameter) => parameter.in === "query" && parameter.schema.type === "integer" && !plain.has(parameter.name),
        )) {
          tried += 1;
          const query = `?${name}=${ownOf(foreign)}`;
          const answer = await send("GET", fill(alphaOne, path, shared) + query, { as: token("alpha") });
          expect(answer.status, path + query).toBe(400);
          expect(Object.keys(answer.body as object)).toEqual([name]);
          expectNothingOf(answer, foreign);
        }
      }
      for (const [method, path] of [
        ["POST", lists],
        ["PUT", `${lists}${shared}/`],
        ["PATCH", `${lists}${shared}/`],
      ] as const) {
        for (const [field, value] of [
          ["subevent", ownOf(foreign)],
          ["limit_products", [shared, ownOf(foreign)]],
        ] as const) {
          const body = { name: "mine", [field]: value };
          const answer = await send(method, pathOf(alphaOne) + path, { as: token("alpha"), body });
          expect(answer.status, `${method} ${path} ${field}`).toBe(400);
          expect(Object.keys(answer.body as object)).toEqual([field]);
          expectNothingOf(answer, foreign);
        }
      }
    }
    expect(tried).toBeGreaterThan(0);
    for (const foreign of [alphaTwo, betaOne, betaTwo]) {
      for (const field of ["item", "variation", "quota", "subevent"]) {
        const body = { [field]: ownOf(foreign) };
        for (const [method, path, sent] of [
          ["POST", "/vouchers/", body],
          ["PATCH", `/vouchers/${shared}/`, body],
          ["POST", "/vouchers/batch_create/", [body]],
        ] as const) {
          const answer = await send(method, pathOf(alphaOne) + path, { as: token("alpha"), body: sent });
          expect(answer.status, `${method} ${path} ${field}`).toBe(400);
          expectNothingOf(answer, foreign);
          const wrong = Array.isArray(answer.body) ? (answer.body as object[])[0] : answer.body;
          expect(Object.keys(wrong as object)).toEqual([field]);
        }
      }
    }
    const refusals = `${pathOf(alphaOne)}${lists}${shared}/failed_checkins/`;
    for (const foreign of [alphaTwo, betaOne, betaTwo]) {
      for (const [field, status] of [
        ["raw_item", 400],
        ["raw_subevent", 400],
        ["position", 404],
      ] as const) {
        const body = { error_reason: "error", raw_barcode: "x", [field]: ownOf(foreign) };
        const answer = await send("POST", refusals, { as: token("alpha"), body });
        expect(answer.status, field).toBe(status);
        expect(Object.keys(answer.body as object)).toEqual([status === 404 ? "detail" : field]);
      }
    }
  });

  it("[S1.6] leaves the neighbours as they are when one is changed, scanned and emptied", async () => {
    const look = async (home: Home) => {
      const answers = await Promise.all(
        [lists, `${lists}${shared}/status/`, `${lists}${shared}/positions/`, "/checkins/"].map((path) =>
          send("GET", pathOf(home) + path, { as: token(home[0]) }),
        ),
      );
      return answers.map(({ body }) => body as unknown);
    };
    const before = await Promise.all([alphaOne, betaOne, betaTwo].map(look));
    const at = `${pathOf(alphaTwo)}${lists}`;
    const as = token("alpha");
    expect((await send("POST", `${at}${shared}/positions/${shared}/redeem/`, { as })).status).toBe(201);
    expect((await send("PATCH", `${at}${shared}/`, { as, body: { name: "renamed" } })).status).toBe(200);
    expect((await send("PUT", `${at}${ownOf(alphaTwo)}/`, { as, body: { name: "replaced" } })).status).toBe(200);
    expect((await send("DELETE", `${at}${shared}/`, { as })).status).toBe(204);
    expect((await send("GET", at, { as })).body).toMatchObject({ count: 1 });
    expect(await Promise.all([alphaOne, betaOne, betaTwo].map(look))).toEqual(before);
  });

  it("[A2.3, S5.1] gives every route to the permissions it needs, and to no others", async () => {
    for (const permission of permissions) {
      for (const { method, path, anyOf } of routes) {
        // What is not there, so that nothing changes: who may, reads 404 or 400; who may not, 403.
        const id = path.includes("{") ? 9999 : shared;
        const answer = await send(method, fill(alphaOne, path, id), { as: token(permission) });
        const may = opens(anyOf, permission);
        expect(answer.status === 403, `${permission}: ${method} ${path} ${answer.status}`).toBe(!may);
      }
    }
  });

  it("[A1.13, A1.14, A2.15, A4.6, A4.7, S5.3] asks for the right to read where a method is HEAD or OPTIONS, and before it says that a method is missing", async () => {
    const paths = [...new Set(routes.map(({ path }) => path))];
    for (const permission of permissions) {
      for (const path of paths) {
        const there = routes.filter((route) => route.path === path);
        const getter = there.find(({ method }) => method === "GET");
        if (getter === undefined) continue;
        const mayRead = opens(getter.anyOf, permission);
        for (const method of ["HEAD", "OPTIONS"]) {
          // These exist for the key that asked for them alone.
          const isOwn = method === "HEAD" && /^\/shredders\/(?:download|status)\//.test(path);
          const answer = await send(method, fill(alphaOne, path, shared), { as: token(permission) });
          expect(answer.status, `${permission}: ${method} ${path}`).toBe(mayRead ? (isOwn ? 404 : 200) : 403);
        }
      }
    }
    for (const path of paths) {
      const there = routes.filter((route) => route.path === path);
      const allowed = there.map(({ method }) => method);
      const isOpen = there.every(({ anyOf }) => anyOf.length === 0);
      for (const method of methods.filter((each) => !["HEAD", "OPTIONS", ...allowed].includes(each))) {
        const answer = await send(method, fill(alphaOne, path, 9999), { as: token("alpha") });
        expect(answer.status, `${method} ${path}`).toBe(405);
        for (const each of allowed) expect(answer.headers.get("allow")).toContain(each);
        expect((await send(method, fill(alphaOne, path, 9999), { as: token("powerless") })).status).toBe(
          isOpen ? 405 : 403,
        );
        expect((await send(method, fill(alphaOne, path, 9999))).status).toBe(401);
      }
    }
  });

  it("[A2.14, R3.11, S5.2] opens to device profiles the routes of theirs, and to unknown ones those of a scanner", async () => {
    for (const [name, profile] of [
      ...profiles.map((each) => [each, each] as const),
      ["made-up", "pretixscan"] as const,
    ]) {
      for (const { method, path, profiles: open } of routes) {
        const id = path.includes("{") ? 9999 : shared;
        const answer = await send(method, fill(alphaOne, path, id), { as: device(name) });
        const may = open.includes(profile);
        expect(answer.status === 403, `${name}: ${method} ${path} ${answer.status}`).toBe(!may);
      }
    }
  });

  it("shows a key that may only check in whom it searches for", async () => {
    const search = async (query: string) => {
      const path = `${pathOf(alphaOne)}${lists}${shared}/positions/${query}`;
      return (await send("GET", path, { as: token("event.orders:checkin") })).body as { count: number };
    };
    for (const query of ["", "?search=", "?search=ma", "?search=%20%20%20", `?order=ORD${shared}`]) {
      expect((await search(query)).count, query).toBe(0);
    }
    expect((await search("?search=mark")).count).toBe(2);
  });

  it.each([
    ["nothing", undefined, {}],
    ["another scheme", "Basic YTpi", {}],
    ["an unknown key", token("unknown"), {}],
    ["a key as a device", device("alpha"), {}],
    ["a device as a key", token("full"), {}],
    ["a device that was never initialised", "Device null", {}],
    ["an empty token", "Token", {}],
    ["a token of two words", `${token("alpha")} x`, {}],
    ["a key that was switched off", token("off"), {}],
    ["a revoked device", device("revoked"), { detail: "Device access has been revoked." }],
  ])("[A1.4, A1.9, R3.10, R3.12] asks %s for credentials on every route", async (_name, as, body) => {
    for (const home of [alphaOne, ["nobody", "nothing"] as unknown as Home]) {
      for (const { method, path } of routes) {
        const answer = await send(method, fill(home, path, shared), as === undefined ? {} : { as });
        expect(answer.status, `${method} ${path}`).toBe(401);
        expect(answer.headers.get("www-authenticate")).toBe("Token");
        expect(answer.body).toMatchObject({ detail: expect.any(String), ...body });
      }
    }
  });

  it("[A2.17] takes classic names for permissions", async () => {
    expect((await send("GET", pathOf(alphaOne) + lists, { as: token("classic") })).status).toBe(200);
    expect((await send("POST", pathOf(alphaOne) + lists, { as: token("classic") })).status).toBe(403);
  });

  it("[R2.8, R3.8, R5.7, S1.7] lets nobody import into a place by the name of another", async () => {
    const answer = await platform.import([
      // Beta would take the key of alpha, a foreign event, and another event's position, item, list and date.
      { kind: "api_key", organizer: "beta", data: { token: tokenOf("alpha"), permissions: ["*"], all_events: true } },
      { kind: "device", organizer: "beta", data: { device_id: 99, token: tokenOf("full"), all_events: true } },
      { kind: "api_key", organizer: "beta", data: { token: tokenOf("new"), permissions: ["*"], events: ["three"] } },
      { kind: "event", organizer: "beta", event: "one", data: { slug: "two", name: {}, date_from: "2027-01-01" } },
      { kind: "organizer", organizer: "beta", data: { slug: "alpha", name: "taken" } },
      ...[
        { item: ownOf(alphaOne), subevent: shared },
        { item: shared, subevent: ownOf(alphaOne) },
        { item: shared, subevent: shared, variation: ownOf(alphaOne) },
        { item: shared, subevent: shared, addon_to: ownOf(alphaOne) },
      ].map((position, index) => ({
        kind: "order",
        organizer: "beta",
        event: "one",
        data: {
          code: `BAD${index}`,
          status: "p",
          datetime: "2027-01-01",
          positions: [{ id: 900 + index, positionid: 1, secret: `bad-${index}`, ...position }],
        },
      })),
      ...[{ limit_products: [ownOf(alphaOne)] }, { subevent: ownOf(alphaOne) }].map((list) => ({
        kind: "checkin_list",
        organizer: "beta",
        event: "one",
        data: { id: 900, name: "bad", ...list },
      })),
      { kind: "quota", organizer: "beta", event: "one", data: { id: 900, subevent: shared, items: [ownOf(alphaOne)] } },
      { kind: "device", organizer: "beta", data: { device_id: 98, token: null, events: ["nothing"] } },
    ]);
    expect(answer).toMatchObject({ accepted: 0 });
    expect(JSON.stringify(answer)).not.toContain("mark-");
    expect(JSON.stringify(answer)).not.toContain("token-of-");
    expect((await send("GET", pathOf(alphaOne) + lists, { as: token("alpha") })).status).toBe(200);
    expect((await send("GET", pathOf(betaOne) + lists, { as: token("alpha") })).status).toBe(403);
    for (const id of [900, 901, 902, 903]) {
      const path = `${pathOf(betaOne)}${lists}${shared}/positions/${id}/`;
      expect((await send("GET", path, { as: token("beta") })).status, path).toBe(404);
    }
  });
});
