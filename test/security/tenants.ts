import { fileWith } from "@tessera/sent-files/testing/sample-files";

/**
 * Two organizers with two events each. The same ids mean something else in each
 * of the four; ids above 70 exist in one of them alone. Every text of an event
 * names it, so that a leak shows itself.
 */
export const homes = [
  ["alpha", "one"],
  ["alpha", "two"],
  ["beta", "one"],
  ["beta", "two"],
] as const;
export type Home = (typeof homes)[number];
export const [alphaOne, alphaTwo, betaOne, betaTwo] = homes;
const own = new Map<Home, number>(homes.map((home, index) => [home, 71 + index]));
export const ownOf = (home: Home) => own.get(home) ?? 0;
export const markOf = ([organizer, event]: Home) => `mark-${organizer}-${event}`;
export const pathOf = ([organizer, event]: Home) => `/api/v1/organizers/${organizer}/events/${event}`;
export const token = (name: string) => `Token ${tokenOf(name)}`;
export const device = (name: string) => `Device ${tokenOf(name)}`;
export const tokenOf = (name: string) => `token-of-${name}-`.padEnd(64, "0");

/** An id that means something in every event. */
export const shared = 5;

function contentOf(home: Home): object[] {
  const [organizer, event] = home;
  const mark = markOf(home);
  const of = (kind: string, data: object) => ({ kind, organizer, event, data });
  const ids = [shared, ownOf(home)];
  const pdf = fileWith("application/pdf", mark).toString("base64");
  return [
    of("event", { slug: event, name: { en: mark }, date_from: "2025-01-01T10:00:00Z", has_subevents: true }),
    of("event_settings", { ticket_download: true, event_info_text: { en: mark } }),
    ...ids.flatMap((id) => [
      of("subevent", { id, name: { en: `${mark} date` }, date_from: "2025-01-01T10:00:00Z" }),
      of("item", { id, name: { en: `${mark} item` }, admission: true, default_price: "23.00" }),
      of("category", { id, name: { en: `${mark} category` } }),
      of("revoked_secret", { id, secret: `${mark}-revoked-${id}` }),
      of("blocked_secret", { id, secret: `${mark}-blocked-${id}` }),
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
export const permissions = [
  "event.orders:read",
  "event.orders:write",
  "event.orders:checkin",
  "event.vouchers:read",
  "event.vouchers:write",
  "event.settings.general:write",
] as const;

export const profiles = ["full", "pretixscan", "pretixscan_online_kiosk", "pretixscan_online_noorders"] as const;
export const lists = "/checkinlists/";

/** What all tenants have, and credentials of every sort. */
export function recordsOfTenants(): object[] {
  const organizers = ["alpha", "beta"].map((organizer) => ({
    kind: "organizer",
    organizer,
    data: { slug: organizer, name: organizer },
  }));
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
  return [
    ...organizers,
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
  ];
}
