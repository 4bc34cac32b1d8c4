import { request as httpRequest } from "node:http";
import { Fault } from "@tessera/kit/fault";
import type { ReadLiveRequest, ReadLiveResponse } from "@tessera/protos/gen/ticketing/checkin/v1/live";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HeardDevice } from "../../store/device-contacts.ts";
import { requireDocumented } from "../../testing/require-documented.ts";
import { inEvent, inTheirEvent, keys, type ServedApp, serveApp } from "../../testing/serve-app.ts";

const path = `${inEvent}/live/`;
const second = 1_000_000;
const at = 1_800_000_000 * second;

const heard: HeardDevice = {
  ...{ device: 2, name: "North 1", gate: 1, seenAt: at, syncedAt: null, queue: 4, battery: 81 },
};

const counted: ReadLiveResponse = {
  at,
  lists: [
    {
      id: 1,
      name: "Main",
      subevent: undefined,
      positions: 10,
      entered: 5,
      inside: 4,
      limit: { persons: 6, soft: 5, hard: undefined, reachedAt: at },
    },
  ],
  lastMinute: [
    { gate: 1, device: 2, entries: 3, exits: 1, refused: [{ reason: "unpaid", scans: 2 }] },
    { gate: 1, device: 9, entries: 1, exits: 0, refused: [{ reason: "unpaid", scans: 1 }] },
    { entries: 0, exits: 0, refused: [{ reason: "invalid", scans: 1 }] },
  ],
  refusals: [{ id: 7, at, list: 1, gate: 1, device: 2, reason: "unpaid" }],
  doubles: { count: 2, explained: 1 },
  devices: [{ device: 2, gate: 1, lastScanAt: at - second }],
  alarms: [{ id: 5, kind: "gate_silent", gate: 1, raisedAt: at, sinceAt: at - second, usual: 12.34567 }],
};

let app: ServedApp;
let asked: ReadLiveRequest[];
let askedHeard: string[];
let answer: () => Promise<ReadLiveResponse>;

beforeEach(async () => {
  [asked, askedHeard] = [[], []];
  answer = async () => counted;
  app = await serveApp({
    async findHeard(organizer, event) {
      askedHeard.push(`${organizer}/${event}`);
      return [heard, { ...heard, device: 3, name: "North 2", gate: 4 }];
    },
  });
  app.peers.when("live", "readLive", async (request) => {
    asked.push(request);
    return answer();
  });
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
});

describe("live/", () => {
  it("[B1.7] joins what was counted with what was heard of the devices", async () => {
    const { status, json, headers } = await app.send("GET", path, { key: keys.gate });
    expect(status).toBe(200);
    expect(headers["cache-control"]).toBe("no-store");
    const newest = "2027-01-15T07:59:59Z";
    expect(json).toMatchObject({
      at: "2027-01-15T08:00:00Z",
      ...{ entries: 4, exits: 1, refused: 4, reasons: { unpaid: 3, invalid: 1 } },
      lists: [
        {
          id: 1,
          name: "Main",
          subevent: null,
          position_count: 10,
          checkin_count: 5,
          inside_count: 4,
          limit: { persons: 6, soft_limit: 5, hard_limit: null, reached: "2027-01-15T08:00:00Z" },
        },
      ],
      gates: [
        { gate: 1, entries: 4, exits: 1, refused: 3, reasons: { unpaid: 3 }, last_scan: newest },
        { gate: 4, entries: 0, exits: 0, refused: 0, reasons: {}, last_scan: null },
        { gate: null, entries: 0, exits: 0, refused: 1, reasons: { invalid: 1 } },
      ],
      devices: [
        { device_id: 2, name: "North 1", gate: 1, entries: 3, refused: 2, last_scan: newest, queue: 4, battery: 81 },
        { device_id: 3, name: "North 2", gate: 4, entries: 0, last_scan: null },
        { device_id: 9, name: null, entries: 1, last_contact: null },
      ],
      refusals: [{ id: 7, list: 1, gate: 1, device_id: 2, reason: "unpaid" }],
      doubles: { count: 2, explained: 1 },
      alarms: [{ id: 5, kind: "gate_silent", gate: 1, ended: null, since: newest, usual: 12.346 }],
    });
  });

  it("[B1.6] reads an event once for all who watch it, and each event for itself", async () => {
    await Promise.all(Array.from({ length: 20 }, () => app.send("GET", path)));
    expect(asked).toMatchObject([{ organizer: "bigevents", event: "sampleconf" }]);
    await app.send("GET", "/api/v1/organizers/bigevents/events/other/live/");
    await app.send("GET", inTheirEvent.concat("/live/"), { key: keys.otherOrganizer });
    expect(askedHeard).toEqual(["bigevents/sampleconf", "bigevents/other", "somebody/theirs"]);
  });

  it("[B1.8] comes each second as Server-Sent Events, also while it cannot be read", async () => {
    let reads = 0;
    answer = async () => {
      reads += 1;
      if (reads === 2) throw new Fault("unavailable", "peer_unavailable", "away");
      return { ...counted, at: at + reads * second };
    };
    const text = await watch(3);
    const events = text.split("\n\n").slice(1, 4);
    expect(events[1]).toBe(": nothing could be read");
    const times = [events[0], events[2]].map((event) => (JSON.parse((event ?? "").slice(6)) as { at: string }).at);
    expect(times).toEqual(["2027-01-15T08:00:01Z", "2027-01-15T08:00:03Z"]);
  });

  it("[B1.8] ends where the event is deleted", async () => {
    let reads = 0;
    answer = async () => {
      reads += 1;
      if (reads > 1) throw new Fault("not_found", "unknown_event", "There is no such event.");
      return counted;
    };
    expect((await watch(Infinity)).split("data: ")).toHaveLength(2);
  });
});

it("[B1.2] the last hour comes by minute and gate", async () => {
  app.peers.when("live", "readLastHour", async () => ({
    at,
    minutes: [{ at, gate: undefined, entries: 3, exits: 1, refused: 2 }],
  }));
  expect(await app.send("GET", `${path}hour/`)).toMatchObject({
    status: 200,
    json: {
      at: "2027-01-15T08:00:00Z",
      minutes: [{ at: "2027-01-15T08:00:00Z", gate: null, entries: 3, exits: 1, refused: 2 }],
    },
  });
});

/** Watches until so many states came, or the answer ends. */
function watch(states: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const headers = { authorization: `Token ${keys.all}`, accept: "text/event-stream" };
    const request = httpRequest({ port: app.port, path, headers }, (response) => {
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (text.split("\n\n").length > states + 1) request.destroy();
      });
      response.on("close", () => resolve(text));
      response.on("error", () => {});
    });
    request.on("error", (error) => (text === "" ? reject(error) : resolve(text)));
    request.end();
  });
}
