import { poll } from "@tessera/kit/waiting/poll";
import { ask, eventPath, organizerPath, sample, sendRecords } from "./client.ts";
import { inOneProcess, type Platform } from "./platform.ts";
import { groundwork, orderOf, recordOf, secretOf } from "./records.ts";
import { atLeast, atMost, figure, type Row, report, short } from "./report.ts";
import { processorSeconds, usageOf } from "./usage.ts";

/** What is promised. */
const promised = { syncSeconds: 60, megabytes: 300, pollPercent: 10, redeemPercent: 90 } as const;

/** Devices that ask for what is new, how often, and on how many processors. */
const fleet = { devices: 200, everySeconds: 30, processors: 2 } as const;
const pollsEach = 300;

/** Scans by each route, in turns: what else the machine does meets both. */
const scans = { rounds: 10, each: 400, atOnce: 32 } as const;

const otherEvents = ["second", "third", "fourth", "fifth"] as const;

const longestCountMs = 120_000;

/** What the library of pretixSCAN leaves out of orders. */
const orderQuery = [
  "testmode=false&pdf_data=true",
  ...["downloads", "payment_date", "payment_provider", "fees", "positions.downloads", "payments", "refunds"].map(
    (field) => `exclude=${field}`,
  ),
].join("&");

/** Syncs, polls and scans as scanners do, on an event with many orders and four smaller ones beside it. */
export function benchDevices(orders: number): Promise<void> {
  return inOneProcess(async (platform) => {
    await fill(platform, orders);
    const rows = [
      ...(await measureSync(platform, orders)),
      ...(await measurePolls(platform)),
      ...(await measureScans(platform, orders)),
    ];
    platform.progress.done();
    report(rows);
  });
}

/** A fifth of the orders is in each event; the first list of each has its own id. */
async function fill({ baseUrl, progress }: Platform, orders: number): Promise<void> {
  const smaller = Math.floor(orders / 5);
  const lines = function* () {
    yield* groundwork;
    yield recordOf("checkin_list", { id: 1, name: "All", all_products: true, limit_products: [] });
    for (let order = 1; order <= orders; order += 1) {
      if (order % 1000 === 0) progress.update(`importing… ${order} of ${orders}`);
      yield orderOf(order);
    }
    for (const [index, event] of otherEvents.entries()) {
      const place = { event };
      yield recordOf(
        "event",
        { slug: event, name: { en: event }, live: true, date_from: "2027-07-01T10:00:00Z" },
        place,
      );
      yield recordOf("item", { id: 1, name: { en: "Ticket" }, default_price: "9.00", admission: true }, place);
      yield recordOf("checkin_list", { id: index + 2, name: "All", all_products: true, limit_products: [] }, place);
      progress.update(`importing ${event}…`);
      for (let order = 1; order <= smaller; order += 1)
        yield orderOf(orders + index * smaller + order, { event, order: {}, position: {} });
    }
  };
  await sendRecords(baseUrl, lines());
  const counted = async () =>
    (await ask<{ position_count: number }>(`${baseUrl}${eventPath}/checkinlists/1/status/`)).position_count === orders;
  if (!(await poll(counted, { until: Date.now() + longestCountMs })))
    throw new Error("the list did not count every order within two minutes");
}

interface Page {
  readonly next: string | null;
  readonly results: readonly { readonly positions: readonly { readonly pdf_data: object }[] }[];
}

/** One device reads all orders with what is printed on their tickets. */
async function measureSync({ baseUrl, progress, processes }: Platform, orders: number): Promise<Row[]> {
  const started = performance.now();
  let [read, printed, megabytes] = [0, 0, 0];
  const look = async () => {
    const used = await Promise.all(processes().map(({ pid }) => usageOf(pid)));
    megabytes = Math.max(megabytes, ...used.map(({ residentMegabytes }) => residentMegabytes));
  };
  const watch = setInterval(() => void look(), 500);
  for (let url: string | null = `${baseUrl}${eventPath}/orders/?${orderQuery}`; url !== null; ) {
    const page: Page = await ask<Page>(url);
    read += page.results.length;
    printed += page.results.filter(({ positions: [first] }) => Object.keys(first?.pdf_data ?? {}).length > 0).length;
    progress.update(`syncing… ${read} of ${orders}`);
    url = page.next;
  }
  clearInterval(watch);
  const seconds = (performance.now() - started) / 1000;
  if (read !== orders) throw new Error(`the sync read ${read} of ${orders} orders`);
  return [
    atMost(`${orders} orders read by one device, with pdf_data`, seconds, promised.syncSeconds, "s"),
    figure("  with pdf_data", `${printed} orders`),
    atMost("  memory of the process meanwhile", megabytes, promised.megabytes, "MiB"),
  ];
}

/** A poll asks for the orders, dates and codes of one event that are new. */
async function measurePolls(platform: Platform): Promise<Row[]> {
  const { baseUrl, progress } = platform;
  progress.update("polling…");
  const since = encodeURIComponent(new Date().toISOString());
  const paths = [
    `${eventPath}/orders/?${orderQuery}&ordering=-last_modified&modified_since=${since}`,
    `${organizerPath}/subevents/?ordering=-last_modified&modified_since=${since}`,
    `${organizerPath}/reusablemedia/?ordering=-updated&updated_since=${since}`,
    ...["revokedsecrets/?ordering=-created&created_since", "blockedsecrets/?ordering=-updated&updated_since"].map(
      (list) => `${eventPath}/${list}=${since}`,
    ),
    `${eventPath}/`,
    ...["categories", "items", "questions", "badgelayouts", "badgeitems", "checkinlists", "settings"].map(
      (name) => `${eventPath}/${name}/`,
    ),
  ];
  const ofPoll = async () => {
    for (const path of paths) await ask(`${baseUrl}${path}`);
  };
  await ofPoll();
  const before = await processorSeconds(platform);
  const { p50, p99 } = await sample(ofPoll, { times: pollsEach });
  const used = (await processorSeconds(platform)) - before;
  const runs = pollsEach * 1.05;
  const perPoll = used / runs;
  const percent = (100 * fleet.devices * perPoll) / (fleet.everySeconds * fleet.processors);
  return [
    figure(`a poll of ${paths.length} resources, nothing new; p50, p99`, `${short(p50)}, ${short(p99)} ms`),
    figure("  processor time, with PostgreSQL", `${(perPoll * 1000).toFixed(1)} ms`),
    atMost(
      `  ${fleet.devices} devices that poll every ${fleet.everySeconds} s, of ${fleet.processors} processors`,
      ...([percent, promised.pollPercent, "%"] as const),
    ),
  ];
}

/** Scans by the route of the list and by that of the organizer, in turns. */
async function measureScans(platform: Platform, orders: number): Promise<Row[]> {
  const { baseUrl, progress } = platform;
  let ticket = 0;
  const next = () => {
    ticket += 1;
    if (ticket > orders) throw new Error(`${orders} orders are not enough; give more with --orders`);
    return secretOf(ticket);
  };
  const routes = {
    list: () => ask(`${baseUrl}${eventPath}/checkinlists/1/positions/${next()}/redeem/`, { type: "entry" }),
    organizer: () =>
      ask(`${baseUrl}${organizerPath}/checkinrpc/redeem/`, { secret: next(), lists: [1], type: "entry" }),
    several: () =>
      ask(`${baseUrl}${organizerPath}/checkinrpc/redeem/`, { secret: next(), lists: [1, 2, 3, 4, 5], type: "entry" }),
  };
  const used: Record<keyof typeof routes, number[]> = { list: [], organizer: [], several: [] };
  for (let round = 0; round < scans.rounds; round += 1) {
    for (const name of Object.keys(routes) as (keyof typeof routes)[]) {
      progress.update(`scanning… ${round + 1} of ${scans.rounds}`);
      const before = await processorSeconds(platform);
      await sample(routes[name], { times: scans.each, atOnce: scans.atOnce });
      used[name].push(((await processorSeconds(platform)) - before) / (scans.each * 1.05));
    }
  }
  const micros = (name: keyof typeof routes) => 1e6 * (used[name].toSorted((a, b) => a - b)[scans.rounds >> 1] ?? 0);
  const [list, organizer, several] = [micros("list"), micros("organizer"), micros("several")];
  const percent = (100 * list) / organizer;
  return [
    figure("processor time of a scan on its list, with PostgreSQL", `${list.toFixed(0)} µs`),
    atLeast("  rate of checkinrpc/redeem by it", percent, promised.redeemPercent, "%"),
    figure("  of one on five lists", `${((100 * list) / several).toFixed(0)} %`),
  ];
}
