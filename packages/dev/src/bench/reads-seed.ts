import { setTimeout as sleep } from "node:timers/promises";
import { largeEvent } from "./reads-material.ts";

export const operatorKey = "bench-operator-key-of-reads";
const apiKey = "bench-api-key-of-reads";

/** Of requests for what is in the events. */
export const headers = { authorization: `Token ${apiKey}` };

export const pathTo = (rest: string) => `/api/v1/organizers/${largeEvent.organizer}/events/${rest}`;

/** Imports the events of the benchmark, with the first ticket of each. */
export async function importSeed(baseUrl: string): Promise<void> {
  const { organizer, event, small } = largeEvent;
  const line = (kind: string, data: Record<string, unknown>, slug?: string) =>
    JSON.stringify({ kind, organizer, ...(slug === undefined ? {} : { event: slug }), data });
  const ofEvent = (slug: string, list: number) => [
    line(
      "event",
      {
        slug,
        name: { en: slug },
        live: true,
        currency: "EUR",
        timezone: "Europe/Berlin",
        date_from: "2027-07-01T10:00:00Z",
        has_subevents: false,
      },
      slug,
    ),
    ...[1, 2].map((id) =>
      line(
        "item",
        {
          id,
          name: { en: `Ticket ${id}` },
          default_price: "99.00",
          admission: true,
          active: true,
          variations: [],
          addons: [],
          bundles: [],
        },
        slug,
      ),
    ),
    line("checkin_list", { id: list, name: "All", all_products: true, limit_products: [] }, slug),
    line(
      "checkin_list",
      { id: list + 1, name: "Rules", all_products: true, limit_products: [], rules: onceADay },
      slug,
    ),
    line("order", seedOrder(list), slug),
  ];
  const lines = [
    line("organizer", { slug: organizer, name: "Bench" }),
    line("api_key", { token: apiKey, name: "bench", permissions: ["*"], all_events: true }),
    ...ofEvent(event, 1),
    ...ofEvent(small, 3),
  ];
  const response = await fetch(`${baseUrl}/api/v1/import/`, {
    method: "POST",
    headers: { authorization: `Token ${operatorKey}`, "content-type": "application/x-ndjson" },
    body: `${lines.join("\n")}\n`,
  });
  const answer = (await response.json()) as { rejected?: number };
  if (response.status !== 200 || answer.rejected !== 0)
    throw new Error(`the import answered ${response.status}: ${JSON.stringify(answer)}`);
  for (const url of [`${event}/checkinlists/1/`, `${small}/checkinlists/3/`])
    await untilCounted(`${baseUrl}${pathTo(url)}`);
}

/** Those who are inside, or were here today, are refused: it asks for the scans of every ticket. */
const onceADay = { and: [{ "==": [{ var: "entries_today" }, 0] }, { "==": [{ var: "entry_status" }, "absent"] }] };

function seedOrder(list: number): Record<string, unknown> {
  const name = "Seed Ticket";
  const ticket = {
    id: 1,
    positionid: 1,
    item: 1,
    variation: null,
    price: "99.00",
    attendee_name: name,
    attendee_name_parts: { full_name: name },
    attendee_email: null,
    secret: `seed${list}`,
    pseudonymization_id: `SEED${list}`,
    tax_rate: "19.00",
    tax_value: "15.81",
    addon_to: null,
    subevent: null,
  };
  return {
    code: `SEED${list}`,
    status: "p",
    email: "seed@example.org",
    locale: "en",
    sales_channel: "web",
    datetime: "2027-01-01T12:00:00.000Z",
    total: "99.00",
    positions: [ticket],
  };
}

async function untilCounted(url: string): Promise<void> {
  for (let waited = 0; waited < 300; waited += 1) {
    const list = (await (await fetch(url, { headers })).json()) as { position_count?: number };
    if (list.position_count === 1) return;
    await sleep(100);
  }
  throw new Error("the first ticket was not counted within half a minute");
}
