import { afterAll, beforeAll, expect, it } from "vitest";
import { eventData, itemData, listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";
import { untilEnded } from "./until-ended.ts";

const { apiKey, eventPath, groundwork, ofEvent, ofOrganizer } = samplesOf("deleters");
const as = `Token ${apiKey}`;
const buyer = "buyer.quirk@example.org";
const over = eventData({ date_from: "2020-01-01T10:00:00Z", date_to: "2020-01-02T10:00:00Z" });
const element = {
  ...{ type: "textarea", left: "20.00", bottom: "200.00", fontsize: "20.0", width: "150.00", align: "left" },
  ...{ content: "order", fontfamily: "Open Sans", color: [0, 0, 0, 1], bold: false, italic: false },
};

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
  platform.keepOutOfLogs(apiKey, buyer);
});
afterAll(() => platform?.stop());

const send = (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) =>
  platform.request(method, path, {
    as,
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  });

const outcomeOf = (address: string) => untilEnded(address, (path) => send("GET", path));

it("[D5.4, D6.9, L52.2, O10.5, A10.22] nothing that was made for a deleted event is there for one that gets its name", async () => {
  const records = [
    ...groundwork(),
    ofEvent("event", over),
    ofEvent("checkin_list", listData()),
    ofEvent("quota", { id: 71, name: "Box office", size: 60, items: [1], variations: [] }),
    ofEvent("ticket_layout", { id: 71, name: "Box office", default: false, layout: [element] }),
    ofEvent("order", orderData({ email: buyer, positions: [positionData({ id: 1, secret: "secret-of-the-first" })] })),
  ];
  expect(await platform.import(records)).toMatchObject({ rejected: 0, settled: true });
  const scan = () =>
    send(
      "POST",
      `${eventPath}/checkinlists/1/positions/secret-of-the-first/redeem/`,
      {},
      { "x-idempotency-key": "scan" },
    );
  expect((await scan()).status).toBe(201);
  const rendering = await send("POST", `${eventPath}/ticketpdfrenderer/render_batch/`, {
    parts: [{ orderposition: 1 }],
  });
  expect(rendering.status).toBe(202);
  expect((await outcomeOf(rendering.body.download)).status).toBe(200);
  const sale = { layout: 71, item: 1, sales_channel: "web", amount: 2 };
  const selling = await send("POST", `${eventPath}/offlinesalesbatches/`, sale);
  expect([selling.status, selling.body]).toEqual([202, expect.anything()]);
  const batch = (await outcomeOf(selling.body.check)).body.id;
  const inBatch = `${eventPath}/offlinesalesbatches/${batch}/`;
  const printing = await send("POST", `${inBatch}render/`);
  expect(printing.status).toBe(202);
  expect((await outcomeOf(printing.body.download)).status).toBe(200);
  expect(await platform.import([ofEvent("event", { ...over, live: false })])).toMatchObject({ settled: true });
  const exporting = await send("POST", `${eventPath}/shredders/export/`, { shredders: ["order_emails"] });
  expect([exporting.status, exporting.body]).toEqual([202, expect.anything()]);
  expect((await outcomeOf(exporting.body.download)).status).toBe(200);

  expect(await platform.import([{ ...ofEvent("event", over), deleted: true }])).toMatchObject({ settled: true });
  expect((await send("GET", `${eventPath}/checkinlists/`)).status).toBe(403);
  expect(await platform.import([ofEvent("event", over)])).toMatchObject({ rejected: 0, settled: true });

  const pathOf = (address: string) => new URL(address).pathname;
  const statuses = async (...paths: readonly string[]) => {
    const found: Record<string, number> = {};
    for (const path of paths) found[path] = (await send("GET", path)).status;
    return found;
  };
  const gone = [
    pathOf(rendering.body.download),
    pathOf(selling.body.check),
    pathOf(printing.body.download),
    pathOf(exporting.body.download),
    inBatch,
    "/api/v1/idempotency_query?key=scan",
  ];
  expect(await statuses(...gone)).toEqual(Object.fromEntries(gone.map((path) => [path, 404])));
  expect((await send("GET", `${eventPath}/offlinesalesbatches/`)).body).toMatchObject({ count: 0 });
  expect((await send("POST", pathOf(exporting.body.shred))).status).toBe(404);
  for (const action of ["cancel", "render"]) expect((await send("POST", `${inBatch}${action}/`)).status).toBe(404);
  expect((await scan()).status).toBe(404);
});

it("[D4.4, D6.9, D7.3] the erasure of a deleted event is not one of an event that gets its name, and stays certified", async () => {
  const offline = ofEvent("event", { ...over, live: false });
  expect(await platform.import([offline])).toMatchObject({ settled: true });
  const exporting = await send("POST", `${eventPath}/shredders/export/`, { shredders: ["waiting_list"] });
  expect((await outcomeOf(exporting.body.download)).status).toBe(200);
  const shredding = await send("POST", new URL(exporting.body.shred).pathname);
  expect((await outcomeOf(shredding.body.status)).status).toBe(200);
  const status = new URL(shredding.body.status).pathname;
  const certificate = `shredders/certificate/${status.split("/").at(-3)}/`;
  const ofEventItself = `${eventPath}/${certificate}`;
  expect((await send("GET", ofEventItself)).status).toBe(200);

  expect(await platform.import([{ ...offline, deleted: true }])).toMatchObject({ settled: true });
  expect(await platform.import([offline])).toMatchObject({ rejected: 0, settled: true });
  for (const path of [status, ofEventItself]) expect((await send("GET", path)).status).toBe(404);
  const ofOrganizer = `${eventPath.split("/events/")[0]}/${certificate}`;
  const asOperator = { as: `Token ${platform.operatorKey}` };
  expect(await platform.request("GET", ofOrganizer, asOperator)).toMatchObject({
    status: 200,
    body: { statement: { event: "sampleconf" } },
  });
});

/** What a gate has that follows these events. */
function followFeed(events: string) {
  const held = new Map<string, unknown>();
  let cursor = "";
  return {
    held,
    async read(): Promise<void> {
      const after = cursor === "" ? "" : `&after=${cursor}`;
      const { status, bytes } = await send("GET", `/api/v1/organizers/deleters/sync/?events=${events}${after}`);
      expect(status).toBe(200);
      for (const text of bytes.toString().trimEnd().split("\n")) {
        const { kind, event, id, list, data, deleted, ...more } = JSON.parse(text);
        const name = [kind, event, id, list].join("/");
        if (kind === "cursor") cursor = more.cursor;
        else if (deleted) held.delete(name);
        else held.set(name, data);
      }
    },
  };
}

it("[F1.6] a gate is told of everything in a deleted event that it is gone, and of all in one that gets its name", async () => {
  const slug = "fed";
  const of = (kind: string, data: Record<string, unknown>) => ofEvent(kind, data, slug);
  const event = of("event", eventData({ slug, has_subevents: true }));
  const dated = { date_from: "2027-12-27T10:00:00+01:00" };
  const question = {
    id: 4,
    question: { en: "Food" },
    type: "T",
    items: [1],
    identifier: "F",
    ask_during_checkin: true,
  };
  const ticket = (id: number) =>
    positionData({ id, positionid: 1, subevent: 3, secret: `secret-of-ticket-${id}-of-fed` });
  const contents = (id: number) => [
    event,
    of("subevent", { id: 3, name: { en: "Day" }, ...dated }),
    of("category", { id: 1, name: { en: "Tickets" }, position: 1 }),
    of("item", itemData()),
    of("question", question),
    of("checkin_list", listData({ id: 60 + id, subevent: 3 })),
    of("order", orderData({ code: `FED${id}`, positions: [ticket(id)] })),
    of("revoked_secret", { id, secret: `revoked-${id}`, position: id }),
    of("blocked_secret", { id, secret: `blocked-${id}`, blocked: true }),
    ofOrganizer("reusable_medium", {
      ...{ id: 9, type: "barcode", identifier: "MEDIUM-OF-FED", active: true },
      linked_orderpositions: [{ id, event: slug }],
    }),
  ];
  const start = groundwork().filter((record) => !("event" in (record as object)));
  expect(await platform.import([...start, ...contents(5)])).toMatchObject({ rejected: 0, settled: true });
  const scanned = await send("POST", "/api/v1/organizers/deleters/checkinrpc/redeem/", {
    ...{ secret: "secret-of-ticket-5-of-fed", lists: [65], force: true, questions_supported: false },
  });
  expect(scanned.body).toMatchObject({ status: "ok" });
  const gate = followFeed(slug);
  await gate.read();
  const kinds = () => [...gate.held.keys()].map((name) => name.split("/")[0]).sort();
  expect(kinds()).toEqual([
    "blocked",
    "event",
    "item",
    "list",
    "medium",
    "presence",
    "question",
    "revoked",
    "subevent",
    "ticket",
  ]);

  expect(await platform.import([{ ...event, deleted: true }])).toMatchObject({ settled: true });
  const kindsNow = async () => {
    await gate.read();
    return kinds();
  };
  await expect.poll(kindsNow, { interval: 200 }).toEqual(["medium"]);
  expect(await platform.import(contents(6))).toMatchObject({ rejected: 0, settled: true });
  await gate.read();
  const copy = followFeed(slug);
  await copy.read();
  expect(gate.held).toEqual(copy.held);
  const hashed = followFeed(`${slug}&codes=hashed`);
  await hashed.read();
  expect(hashed.held.size).toBe(copy.held.size);
  expect(kinds()).toEqual(["blocked", "event", "item", "list", "medium", "question", "revoked", "subevent", "ticket"]);
});
