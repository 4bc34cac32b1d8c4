import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { columns } from "../columns.ts";
import { fault } from "../faults.ts";
import { sendRecords } from "../import.ts";
import { describeErrors } from "../import-answer.ts";
import { onSignal } from "../on-signal.ts";
import { type Access, accessOptions, findAccess } from "../operator-access.ts";
import { readOptions } from "../options.ts";
import { bar, showProgress } from "../progress.ts";
import { judge } from "./judge.ts";
import { groundwork, listPath, orders, type Plan, removals } from "./plan.ts";
import { runGates } from "./run-gates.ts";

const usage = `tessera simulate  [OPTIONS]

Lets visitors come to gates of a running platform, and says whether it would hold. They come to an event of an organizer that
exists only for this and is removed at the end; what other organizers have is not touched, but it is load for their gates.`;

export const simulateOptions = {
  ...accessOptions,
  gates: { type: "string", default: "20", value: "N", help: "gates, each with its own device (default 20)" },
  arrivals: {
    type: "string",
    default: "18000",
    value: "N",
    help: "visitors an hour at all gates together; 900 are many for one gate (default 18000)",
  },
  minutes: { type: "string", default: "2", value: "N", help: "how long visitors come (default 2)" },
  outage: {
    type: "string",
    default: "0",
    value: "SECONDS",
    help: "for so long, in the middle, gates have no network: they decide alone, and send it afterwards (default 0)",
  },
} as const;

/** A count is true as soon as its scans are stored; facts of removed tickets may take longer. */
const countedWithinMs = 10_000;

/** Runs the simulation; exits with 1 where the platform would not hold. */
export async function simulate(args: string[]): Promise<void> {
  const read = readOptions(usage, simulateOptions, args);
  if (read === undefined) return;
  const { values, names } = read;
  if (names.length > 0) throw fault("unexpected_name", `${names.join(" ")} is not expected here`);
  const plan: Plan = {
    organizer: `simulation-${randomBytes(4).toString("hex")}`,
    gates: readNumber("gates", values.gates, { from: 1, to: 2000 }),
    arrivals: readNumber("arrivals", values.arrivals, { from: 1, to: 10_000_000 }),
    minutes: readNumber("minutes", values.minutes, { from: 0.05, to: 24 * 60 }),
    outageSeconds: readNumber("outage", values.outage, { from: 0, to: 24 * 3600 }),
  };
  if (plan.outageSeconds > plan.minutes * 30)
    throw fault("bad_number", "--outage takes at most half of the time of --minutes");
  const access = await findAccess(values);
  const verdict = await runOn(access, plan);
  process.stdout.write(`${columns(verdict.rows)}\n\n${verdict.holds ? "It holds." : "It does not hold."}\n`);
  if (!verdict.holds) process.exitCode = 1;
}

async function runOn(access: Access, plan: Plan) {
  const progress = showProgress();
  const { signal } = onSignal();
  const tokens = Array.from({ length: plan.gates }, () => randomBytes(32).toString("hex"));
  const now = new Date();
  try {
    progress.update("making the event…");
    await send(access, groundwork(plan, { tokens, now }));
    await send(access, orders(plan, { now }));
    const expected = (plan.arrivals * plan.minutes) / 60;
    const onScan = (scans: number) => progress.update(`${bar(Math.min(scans, expected), expected)}  ${scans} visitors`);
    const seen = await runGates({ plan, url: access.url, tokens, signal, onScan });
    progress.update("counting…");
    const counted = await countInside(access, plan, {
      token: tokens[0] ?? "",
      expected: seen.admitted + seen.uploaded,
    });
    return judge({ seen, plan, counted });
  } finally {
    progress.update("removing the event…");
    for (const records of removals(plan)) await send(access, records);
    progress.done();
  }
}

/** Asks the list how many it has counted, until it is as many as expected. */
async function countInside(
  { url }: Access,
  plan: Plan,
  { token, expected }: { readonly token: string; readonly expected: number },
): Promise<number | undefined> {
  let counted: number | undefined;
  for (const until = performance.now() + countedWithinMs; counted !== expected && performance.now() < until; ) {
    const answer = await fetch(new URL(`${listPath(plan)}status/`, url), {
      headers: { authorization: `Device ${token}` },
      signal: AbortSignal.timeout(countedWithinMs),
    }).catch(() => undefined);
    if (answer?.ok) counted = ((await answer.json()) as { checkin_count: number }).checkin_count;
    if (counted !== expected) await sleep(200);
  }
  return counted;
}

/** Sends records; each of them must be taken. */
async function send(access: Access, records: Iterable<object>): Promise<void> {
  async function* lines(): AsyncGenerator<Uint8Array> {
    for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`);
  }
  const answer = await sendRecords(lines(), access);
  const [wrong] = answer.errors;
  if (wrong !== undefined)
    throw fault("platform_refused", `the platform refused the simulated event: ${describeErrors(wrong.errors)}`);
}

function readNumber(name: string, text: string, { from, to }: { readonly from: number; readonly to: number }): number {
  const number = Number(text);
  if (!/^\d+(?:\.\d+)?$/.test(text) || number < from || number > to)
    throw fault("bad_number", `--${name} takes a number from ${from} to ${to}`);
  return number;
}
