import { Fault } from "@tessera/kit/fault";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aList, aPosition } from "../../testing/fake-peers.ts";
import { requireDocumented } from "../../testing/require-documented.ts";
import { devices, inEvent, keys, publicBase, type ServedApp, serveApp } from "../../testing/serve-app.ts";
import { presentPosition } from "./present.ts";

const positions = `${inEvent}/checkinlists/7/positions/`;

let app: ServedApp;
beforeEach(async () => {
  app = await serveApp();
  app.peers.when("listedPositions", "listPositions", async () => ({ positions: [aPosition()], count: 51, page: 1 }));
  app.peers.when("listedPositions", "getPosition", async () => ({ position: aPosition() }));
  app.peers.when("checkinLists", "getCheckinList", async ({ id }) => {
    if (id !== 7) throw new Fault("not_found", "list_not_found", "There is no such check-in list.");
    return { list: aList() };
  });
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
});

describe("GET checkinlists/{list}/positions/", () => {
  it("[A5.1, A6.1, A6.2, A7.1, A7.7] searches, orders and pages", async () => {
    const { status, json } = await app.send(
      "GET",
      `${positions}?search=%20Ada%20&order=abc12&ordering=-last_checked_in,nonsense,positionid&ignore_status=TRUE&item=3`,
    );
    expect(status).toBe(200);
    expect(json).toMatchObject({
      count: 51,
      next: `${publicBase}${positions}?ignore_status=TRUE&item=3&order=abc12&ordering=-last_checked_in%2Cnonsense%2Cpositionid&page=2&search=+Ada+`,
      results: [{ id: 42, checkins: [{ id: 5 }] }],
    });
    expect(app.peers.requestsOf("listPositions")).toEqual([
      {
        organizer: "bigevents",
        event: "sampleconf",
        list: 7,
        page: 1,
        pageSize: 50,
        ordering: ["-last_checked_in", "positionid"],
        search: "Ada",
        order: "abc12",
        ignoreStatus: true,
        searchOnly: false,
      },
    ]);
  });

  it.each([
    [keys.all, false],
    [keys.reader, false],
    [keys.gate, true],
    [devices.scan, false],
  ])("with %s only by search: %s", async (key, searchOnly) => {
    expect((await app.send("GET", `${positions}?ignore_status=1`, { key })).status).toBe(200);
    expect(app.peers.requestsOf("listPositions")).toMatchObject([{ searchOnly, ignoreStatus: false }]);
  });

  it("[A2.12] is closed to kiosks", async () => {
    expect((await app.send("GET", positions, { key: devices.kiosk })).status).toBe(403);
  });

  it("names a null character, but after a list that is not there", async () => {
    expect((await app.send("GET", `${positions}?search=a%00`)).status).toBe(400);
    expect((await app.send("GET", `${positions.replace("/7/", "/8/")}?search=a%00`)).status).toBe(404);
    expect((await app.send("GET", positions.replace("/7/", "/seven/"))).status).toBe(404);
  });
});

describe("GET checkinlists/{list}/positions/{id}/", () => {
  it("shows one ticket", async () => {
    expect(await app.send("GET", `${positions}42/?ignore_status=true`)).toMatchObject({
      status: 200,
      json: { id: 42 },
    });
    expect(app.peers.requestsOf("getPosition")).toEqual([
      { organizer: "bigevents", event: "sampleconf", list: 7, id: 42, ignoreStatus: true },
    ]);
    expect((await app.send("GET", `${positions}abc/`)).status).toBe(404);
    expect((await app.send("GET", `${positions}42/`, { key: devices.scan })).status).toBe(403);
  });
});

describe("presentPosition", () => {
  const place = { base: "https://a.example", organizer: "o", event: "e" };
  const { position } = aPosition();
  if (position?.order === undefined) throw new Error("the example has no order");
  const withOrder = (status: OrderStatus) =>
    aPosition({ position: { ...position, order: { ...position.order, status } as typeof position.order } });

  it.each([
    [OrderStatus.PENDING, "n"],
    [OrderStatus.PAID, "p"],
    [OrderStatus.EXPIRED, "e"],
    [OrderStatus.CANCELED, "c"],
    [OrderStatus.UNRECOGNIZED, "c"],
  ])("shows %s as %s", (status, letter) => {
    expect(presentPosition(withOrder(status), place)).toMatchObject({ order__status: letter });
  });

  it("shows what is empty as null, and limits as instants", () => {
    const shown = presentPosition(
      aPosition({
        attendeeName: undefined,
        position: { ...position, seat: undefined, blocked: ["admin"], validFrom: 0, validUntil: -1 },
      }),
      place,
    );
    expect(shown).toMatchObject({
      attendee_name: null,
      seat: null,
      blocked: ["admin"],
      valid_from: "1970-01-01T00:00:00Z",
      valid_until: "1969-12-31T23:59:59.999999Z",
    });
  });
});
