/** The key with which records are imported. */
export const operatorKey = "operator-key-of-the-tests-0123456789abcdef";

/** The slug of the event that records are of. */
export const event = "sampleconf";

type Data = Record<string, unknown>;

/** A small event as records, which a test can override. Tests on one platform have organizers of their own. */
export function samplesOf(organizer: string) {
  const apiKey = `api-key-of-${organizer}-`.padEnd(64, "a");
  const deviceKey = `device-key-of-${organizer}-`.padEnd(64, "b");
  const ofOrganizer = (kind: string, data: Data, in_ = organizer) => ({ kind, organizer: in_, data });
  const ofEvent = (kind: string, data: Data, in_: string = event) => ({ kind, organizer, event: in_, data });
  return {
    apiKey,
    deviceKey,
    eventPath: `/api/v1/organizers/${organizer}/events/${event}`,
    ofOrganizer,
    ofEvent,
    /** Organizer, keys and catalogue, which come before orders. */
    groundwork: (): unknown[] => [
      ofOrganizer("organizer", { slug: organizer, name: "Big Events" }),
      ofOrganizer("api_key", { token: apiKey, name: "tests", permissions: ["*"], all_events: true }),
      ofOrganizer("gate", { id: 7, name: "West", identifier: "west" }),
      ofOrganizer("device", {
        device_id: 3,
        token: deviceKey,
        name: "Scanner",
        gate: 7,
        security_profile: "full",
        software_brand: "tests",
        all_events: true,
      }),
      ofEvent("event", eventData()),
      ofEvent("event_settings", { locale: "en" }),
      ofEvent("tax_rule", { id: 1, name: { en: "VAT" }, rate: "19.00", price_includes_tax: true }),
      ofEvent("category", { id: 1, name: { en: "Tickets" }, position: 1 }),
      ofEvent("item", itemData()),
      ofEvent(
        "item",
        itemData({
          id: 2,
          name: { en: "T-shirt" },
          admission: false,
          position: 2,
          variations: [
            { id: 21, value: { en: "S" }, position: 1 },
            { id: 22, value: { en: "XL" }, position: 2 },
          ],
        }),
      ),
      ofEvent("quota", { id: 1, name: "All", size: 100, items: [1], variations: [], subevent: null }),
    ],
  };
}

export const { apiKey, deviceKey, eventPath, ofOrganizer, ofEvent, groundwork } = samplesOf("bigevents");

export function eventData(overrides: Data = {}): Data {
  return {
    slug: event,
    name: { en: "Sample Conference", de: "Beispielkonferenz" },
    live: true,
    currency: "EUR",
    timezone: "Europe/Berlin",
    date_from: "2027-12-27T10:00:00+01:00",
    has_subevents: false,
    ...overrides,
  };
}

export function itemData(overrides: Data = {}): Data {
  return {
    id: 1,
    name: { en: "Standard ticket" },
    default_price: "23.00",
    category: 1,
    position: 1,
    admission: true,
    active: true,
    variations: [],
    addons: [],
    bundles: [],
    ...overrides,
  };
}

export function positionData(overrides: Data = {}): Data {
  return {
    id: 1001,
    positionid: 1,
    item: 1,
    variation: null,
    price: "23.00",
    attendee_name: "Peter Zwiebelhuber",
    attendee_name_parts: { full_name: "Peter Zwiebelhuber" },
    attendee_email: "peter.zwiebelhuber@example.org",
    secret: "z3fsn8jyufm5kpk768q69gkbyr5f4h6w",
    pseudonymization_id: "MQLJvANO3B",
    addon_to: null,
    subevent: null,
    tax_rate: "0.00",
    tax_value: "0.00",
    ...overrides,
  };
}

export function orderData(overrides: Data = {}): Data {
  return {
    code: "ABC12",
    status: "p",
    email: "buyer.zwiebelhuber@example.org",
    locale: "en",
    sales_channel: "web",
    datetime: "2027-12-01T10:00:00Z",
    total: "23.00",
    positions: [positionData()],
    ...overrides,
  };
}

export function listData(overrides: Data = {}): Data {
  return { id: 1, name: "Default list", all_products: true, limit_products: [], ...overrides };
}
