import type { Data, StubPretix } from "./stub-pretix.ts";

export const stubOrganizer = "bigevents";
export const stubEvent = "sampleconf";
const eventPath = `${stubOrganizer}/events/${stubEvent}/`;

export const inEvent = (path: string): string => `${eventPath}${path}`;

export function stubOrder(code: string, overrides: Data = {}): Data {
  const id = Number.parseInt(code, 36) % 1_000_000;
  return {
    code,
    event: stubEvent,
    status: "p",
    testmode: false,
    secret: `link-${code.toLowerCase()}`,
    url: `https://tickets.example.org/order/${code}/`,
    email: "buyer@example.org",
    locale: "en",
    sales_channel: "web",
    datetime: "2027-12-01T10:00:00Z",
    last_modified: "2027-12-01T10:00:00.000000Z",
    total: "23.00",
    checkin_text: null,
    invoice_address: null,
    fees: [],
    positions: [
      {
        id,
        order: code,
        positionid: 1,
        canceled: false,
        item: 1,
        variation: null,
        price: "23.00",
        attendee_name: "Ada Quillfeather",
        attendee_name_parts: { full_name: "Ada Quillfeather", _scheme: "full" },
        secret: `ticket-${code.toLowerCase()}`,
        pseudonymization_id: `P${code}`,
        addon_to: null,
        subevent: null,
        blocked: null,
        valid_from: null,
        valid_until: null,
        tax_rate: "0.00",
        tax_value: "0.00",
        tax_rule: 1,
        checkins: [],
        answers: [],
        seat: null,
        plugin_data: {},
      },
    ],
    ...overrides,
  };
}

/** Fills a stub with a small event, as pretix shows it. */
export function fillStub(stub: StubPretix, { event = {} }: { event?: Data } = {}): void {
  stub.objects.set(`${stubOrganizer}/`, { slug: stubOrganizer, name: "Big Events", public_url: "https://x.example/" });
  stub.objects.set(eventPath, {
    slug: stubEvent,
    name: { en: "Sample Conference" },
    live: true,
    testmode: false,
    currency: "EUR",
    date_from: "2027-12-27T10:00:00+01:00",
    has_subevents: false,
    seating_plan: null,
    seat_category_mapping: {},
    timezone: "Europe/Berlin",
    plugins: ["pretix.plugins.ticketoutputpdf"],
    valid_keys: { pretix_sig1: [] },
    ...event,
  });
  stub.objects.set(inEvent("settings/"), {
    locale: "en",
    ticket_download: true,
    region: null,
    smtp_password: "hidden",
  });
  const lists: Record<string, Data[]> = {
    [`${stubOrganizer}/saleschannels/`]: [{ identifier: "web", label: { en: "Shop" }, type: "web", position: 0 }],
    [`${stubOrganizer}/events/`]: [{ slug: stubEvent }],
    [`${stubOrganizer}/reusablemedia/`]: [],
    [inEvent("taxrules/")]: [{ id: 1, name: { en: "VAT" }, rate: "0.00", price_includes_tax: true }],
    [inEvent("categories/")]: [{ id: 1, name: { en: "Tickets" }, position: 1, is_addon: false }],
    [inEvent("items/")]: [
      {
        id: 1,
        name: { en: "Ticket" },
        default_price: "23.00",
        admission: true,
        category: 1,
        tax_rule: 1,
        active: true,
        has_variations: false,
        variations: [],
        addons: [],
        bundles: [],
      },
    ],
    [inEvent("questions/")]: [],
    [inEvent("quotas/")]: [{ id: 1, name: "All", size: 100, items: [1], variations: [], subevent: null }],
    [inEvent("ticketlayouts/")]: [],
    [inEvent("ticketlayoutitems/")]: [],
    [inEvent("vouchers/")]: [],
    [inEvent("checkinlists/")]: [
      { id: 1, name: "Door", all_products: true, limit_products: [], subevent: null, rules: {}, exit_all_at: null },
    ],
    [inEvent("orders/")]: [],
    [inEvent("revokedsecrets/")]: [],
    [inEvent("blockedsecrets/")]: [],
  };
  for (const [path, list] of Object.entries(lists)) stub.lists.set(path, list);
  for (const path of ["taxrules/", "categories/", "items/", "questions/", "quotas/"])
    stub.modified.set(inEvent(path), "Mon, 06 Jan 2020 10:00:00 GMT");
}
