import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "@tessera/kit/fault";
import type { FindPrintsRequest, FindPrintsResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { beforeEach, describe, expect, it } from "vitest";
import { publicUrl } from "../../http/public-url.ts";
import { type EventPlace, placing } from "../../placed.ts";
import { aList, aPosition } from "../../testing/fake-peers.ts";
import { appOfEachTest, devices, inEvent, keys } from "../../testing/serve-app.ts";
import { type PrintReader, printReader } from "./print.ts";

const print = {
  ...{ id: 7, successful: true, at: 1_700_000_000_123_456, source: "app", type: "badge", deviceId: 3 },
  info: Buffer.from('{"a":1}'),
};
const ofTicket = (position: number) => ({ position, prints: [print] });
const none: FindPrintsResponse = { positions: [], hasAny: false };

describe("[E4.11] what was printed", () => {
  const app = appOfEachTest();
  const base = aPosition();
  const listed = {
    ...base,
    addons: [{ ...aPosition(), position: { ...base.position, id: 43 } as typeof base.position }],
  };
  const scanned: { readonly outcome: ScanOutcome } = {
    outcome: {
      outcome: { $case: "admitted", value: {} },
      list: { id: 7, name: "Gate", event: "sampleconf", subevent: undefined, includePending: false },
      position: listed,
      checkinTexts: [],
    },
  };
  const explanation = Buffer.from(JSON.stringify({ steps: [], clauses: [], admitted_at: null, gates: [], lists: [] }));
  const inOrganizer = "/api/v1/organizers/bigevents";
  const list = `${inEvent}/checkinlists/7/positions/`;

  beforeEach(() => {
    app.peers.when("checkinLists", "getCheckinList", async () => ({ list: aList() }));
    app.peers.when("scans", "redeem", async () => scanned);
    app.peers.when("scans", "redeemOnLists", async () => scanned);
    app.peers.when("scans", "simulateScan", async () => ({ ...scanned, explanation }));
    app.peers.when("listedPositions", "listPositions", async () => ({ positions: [listed], count: 1, page: 1 }));
    app.peers.when("listedPositions", "getPosition", async () => ({ position: listed }));
    app.peers.when("listedPositions", "searchPositions", async () => ({
      ...{ found: [{ event: "sampleconf", positions: [listed] }], count: 1, page: 1 },
    }));
    app.peers.when("orders", "findPrints", async () => ({ positions: [42, 43].map(ofTicket), hasAny: true }));
  });

  const shown = [
    {
      ...{ id: 7, successful: true, datetime: "2023-11-14T22:13:20.123456Z", source: "app", type: "badge" },
      ...{ device_id: 3, info: { a: 1 } },
    },
  ];
  const ask = async (method: string, path: string, body?: object, key: string = devices.scan) => {
    const { json } = await app.send(method, path, { key, ...(body === undefined ? {} : { body }) });
    return json as { position?: object; results?: object[] };
  };

  it.each([
    ["a scan", "POST", `${list}abc/redeem/?expand=addons`, {}],
    ["a simulated scan", "POST", `${list}abc/redeem/?expand=addons`, { simulate: true }],
    ["a scan on several lists", "POST", `${inOrganizer}/checkinrpc/redeem/?expand=addons`, { secret: "x", lists: [7] }],
    ["an explanation", "GET", `${list}abc/explain/?expand=addons`, undefined],
    ["a list", "GET", `${list}?expand=addons`, undefined],
    ["a search", "GET", `${inOrganizer}/checkinrpc/search/?list=7&expand=addons`, undefined],
  ])("is shown by %s, with that of add-ons", async (_what, method, path, body) => {
    const { position, results = [position] } = await ask(method, path, body);
    expect(results).toMatchObject([{ print_logs: shown, addons: [{ print_logs: shown }] }]);
    expect(app.peers.requestsOf("findPrints")).toEqual([
      { organizer: "bigevents", event: "sampleconf", positions: [42, 43] },
    ]);
  });

  it("is shown of one ticket", async () => {
    expect(await ask("GET", `${list}42/`, undefined, keys.all)).toMatchObject({ print_logs: shown });
  });

  it("is not shown to devices in public, and not asked for", async () => {
    expect(await ask("POST", `${list}abc/redeem/`, {}, devices.kiosk)).toMatchObject({ position: { print_logs: [] } });
    expect(app.peers.requestsOf("findPrints")).toEqual([]);
  });

  it("is nothing while boxoffice is away: the ticket is admitted all the same", async () => {
    app.peers.when("orders", "findPrints", async () => {
      throw new Fault("unavailable", "peer_unavailable", "away");
    });
    expect(await ask("POST", `${list}abc/redeem/`, {})).toMatchObject({ status: "ok", position: { print_logs: [] } });
  });

  it("is shown at once after the first print of an event, in the process that has stored it", async () => {
    app.peers.when("orders", "findPrints", async () => none);
    await ask("POST", `${list}abc/redeem/`, {});
    app.peers.when("orders", "findPrints", async () => ({ positions: [ofTicket(42)], hasAny: true }));
    app.peers.when("orders", "recordPrint", async () => ({ print }));
    expect(await ask("POST", `${list}abc/redeem/`, {})).toMatchObject({ position: { print_logs: [] } });
    await ask("POST", `${inEvent}/orderpositions/42/printlog/`, { source: "app", type: "badge" });
    expect(await ask("POST", `${list}abc/redeem/`, {})).toMatchObject({ position: { print_logs: shown } });
  });
});

describe("[E4.11] events without prints", () => {
  let asked: FindPrintsRequest[];
  let reader: PrintReader;
  let answer: () => Promise<FindPrintsResponse>;
  beforeEach(() => {
    asked = [];
    answer = async () => none;
    reader = printReader({
      orders: {
        findPrints: (request) => {
          asked.push(request);
          return answer();
        },
      },
      withoutMs: 500,
    });
  });
  const read = (event: string) =>
    reader.read(
      {
        ...{ organizer: "org", event, inEvent: placing<EventPlace>({ organizer: "org", event }) },
        url: publicUrl("https://tickets.example", "/", new URLSearchParams()),
      },
      [1],
    );

  it("are asked for once in a while, however many scans there are", async () => {
    for (let scan = 0; scan < 100; scan += 1) expect(await read("fest")).toEqual(new Map());
    expect(asked).toHaveLength(1);
    answer = async () => ({ positions: [ofTicket(1)], hasAny: true });
    expect((await read("other")).get(1)).toEqual([print]);
    await sleep(600);
    expect((await read("fest")).get(1)).toEqual([print]);
    expect(asked).toHaveLength(3);
  });

  it("cost nothing after three questions that failed", async () => {
    answer = () => Promise.reject(new Fault("timeout", "deadline_exceeded", "slow"));
    for (let scan = 0; scan < 100; scan += 1) expect(await read("fest")).toEqual(new Map());
    expect(asked).toHaveLength(3);
  });
});
