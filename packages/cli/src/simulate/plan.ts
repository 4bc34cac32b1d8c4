/** The simulated gates and visitors. */
export interface Plan {
  /** The short name of an organizer that exists only for the simulation. */
  readonly organizer: string;
  readonly gates: number;
  /** Visitors an hour, at all gates together. */
  readonly arrivals: number;
  readonly minutes: number;
  /** The length of a network outage in the middle; 0: none. */
  readonly outageSeconds: number;
}

/** A visitor at a gate. The time is milliseconds since the begin. */
export interface Arrival {
  readonly at: number;
  /** A ticket, one that was admitted before, or an unknown code. */
  readonly kind: "first" | "again" | "unknown";
}

const simulated = { event: "simulation", list: 1 } as const;

/** Of a hundred visitors, how many show an admitted ticket or an unknown code. */
const oddPercent = { again: 2, unknown: 1 } as const;

/** Arrivals are random, so there are more tickets than expected visitors. */
const spareShare = 0.2;
const spareLeast = 50;

const positionsOfOrder = 10;

/** How many tickets a simulation needs at most. */
export function ticketsOf({ arrivals, minutes }: Pick<Plan, "arrivals" | "minutes">): number {
  const expected = (arrivals * minutes) / 60;
  return Math.ceil(expected * (1 + spareShare) + spareLeast);
}

export function secretOf({ organizer }: Pick<Plan, "organizer">, ticket: number): string {
  return `${organizer}-ticket-${ticket}`;
}

/** The path of the list at which visitors are scanned. */
export function listPath({ organizer }: Pick<Plan, "organizer">): string {
  return `/api/v1/organizers/${organizer}/events/${simulated.event}/checkinlists/${simulated.list}/`;
}

/** The arrivals at one gate: a Poisson process, with exponential intervals. */
export function drawArrivals({ gates, arrivals, minutes }: Plan, random: () => number = Math.random): Arrival[] {
  const perMs = arrivals / gates / 3_600_000;
  const drawn: Arrival[] = [];
  for (let at = pause(perMs, random); at < minutes * 60_000; at += pause(perMs, random)) {
    const percent = random() * 100;
    const { again, unknown } = oddPercent;
    drawn.push({ at, kind: percent < again ? "again" : percent < again + unknown ? "unknown" : "first" });
  }
  return drawn;
}

function pause(perMs: number, random: () => number): number {
  return -Math.log(1 - random()) / perMs;
}

/** The network outage; undefined: none. */
export function outageOf({ minutes, outageSeconds }: Plan): { readonly from: number; readonly to: number } | undefined {
  const [middle, half] = [minutes * 30_000, outageSeconds * 500];
  return outageSeconds === 0 ? undefined : { from: middle - half, to: middle + half };
}

/** The organizer with gates and a device for each, an event and a list with products and a rule. */
export function groundwork(
  plan: Plan,
  { tokens, now }: { readonly tokens: readonly string[]; readonly now: Date },
): object[] {
  const { organizer } = plan;
  const ofEvent = (kind: string, data: object) => ({ kind, organizer, event: simulated.event, data });
  const item = (id: number, name: string) => ({
    ...{ id, name: { en: name }, default_price: "0.00", admission: true, active: true },
  });
  const rules = {
    and: [
      { isAfter: [{ var: "now" }, { buildTime: ["date_from"] }, 24 * 60] },
      { "<": [{ var: "entries_number" }, 3] },
    ],
  };
  return [
    { kind: "organizer", organizer, data: { slug: organizer, name: "Simulation" } },
    ofEvent("event", {
      slug: simulated.event,
      name: { en: "Simulation" },
      live: true,
      currency: "EUR",
      timezone: "UTC",
      date_from: now.toISOString(),
      has_subevents: false,
    }),
    ofEvent("item", item(1, "Ticket")),
    ofEvent("item", item(2, "Day ticket")),
    ofEvent("checkin_list", { id: simulated.list, name: "Gates", all_products: false, limit_products: [1, 2], rules }),
    ...tokens.flatMap((token, index) => {
      const [id, name] = [index + 1, `Gate ${index + 1}`];
      const device = { device_id: id, token, name, gate: id, all_events: true };
      return [
        { kind: "gate", organizer, data: { id, name } },
        {
          ...{ kind: "device", organizer },
          data: { ...device, security_profile: "full", software_brand: "simulation" },
        },
      ];
    }),
  ];
}

export function* orders(plan: Plan, { now }: { readonly now: Date }): Generator<object> {
  const tickets = ticketsOf(plan);
  for (let first = 1; first <= tickets; first += positionsOfOrder) {
    const ids = Array.from({ length: Math.min(positionsOfOrder, tickets - first + 1) }, (_, index) => first + index);
    yield {
      ...{ kind: "order", organizer: plan.organizer, event: simulated.event },
      data: {
        code: `S${first}`,
        status: "p",
        datetime: now.toISOString(),
        email: "simulation@example.org",
        positions: ids.map((id, index) => ({
          ...{ id, positionid: index + 1, item: 1 + (id % 2), attendee_name: `Guest ${id}` },
          secret: secretOf(plan, id),
        })),
      },
    };
  }
}

/** Removes everything: dependants first. */
export function removals({ organizer }: Pick<Plan, "organizer">): object[][] {
  const { event } = simulated;
  return [
    [{ kind: "event", organizer, event, deleted: true, data: { slug: event } }],
    [{ kind: "organizer", organizer, deleted: true, data: { slug: organizer } }],
  ];
}
