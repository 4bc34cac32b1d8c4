import { alphaOne, ownOf, shared, tokenOf } from "./tenants.ts";

/** What beta would take from alpha: a key, a foreign event, and another event's position, item, list and date. */
export function recordsThatTakeAway(): object[] {
  return [
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
  ];
}
