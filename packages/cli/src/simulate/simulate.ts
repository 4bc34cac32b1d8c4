import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "@tessera/values";
import { columns } from "../command/columns.ts";
import { describeFailure } from "../command/explain-failure.ts";
import { type Access, accessOptions, findAccess } from "../command/operator-access.ts";
import { readOptions } from "../command/options.ts";
import { bar, showProgress } from "../command/progress.ts";
import { callPlatform } from "../credentials/call-platform.ts";
import { fault } from "../faults.ts";
import { sendRecords } from "../import/import.ts";
import { describeErrors } from "../import/import-answer.ts";
import { onSignal } from "../serve/on-signal.ts";
import { judge, type Verdict } from "./judge.ts";
import { groundwork, listPath, orders, type Plan, removals } from "./plan.ts";
import { runGates } from "./run-gates.ts";

const usage = `tessera simulate  [OPTIONS]

Lets visitors come to gates of a running platform, and says whether it would hold. They come to an event of an organizer that
exists only for this and is removed at the end; what other organizers have is not touched, but it is load for their gates.
A link is printed that opens its live board, in one browser.`;

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

/** Counts are exact as soon as scans are stored, but facts of removed tickets may take longer. */
const countedWithinMs = 10_000;

/** Runs the simulation; exits with 1 if the platform would not hold. */
export async function simulate(args: string[]): Promise<void> {
  const read = readOptions(usage, simulateOptions, args);
  if (read === undefined) return;
  const { values, names } = read;
  if (names.length > 0) throw fault("unexpected_name", `${names.join(" ")} is not expected here`);
  const plan: Plan = {
    organizer: `simulation-${randomBytes(4).toString("hex")}`,
    gates: readNumber("gates", values.gates, { from: 1, to: 2000, isWhole: true }),
    arrivals: readNumber("arrivals", values.arrivals, { from: 1, to: 10_000_000 }),
    minutes: readNumber("minutes", values.minutes, { from: 0.05, to: 24 * 60 }),
    outageSeconds: readNumber("outage", values.outage, { from: 0, to: 24 * 3600 }),
  };
  if (plan.outageSeconds > plan.minutes * 30)
    throw fault("bad_number", "--outage takes at most half of the time of --minutes");
  const access = await findAccess(values);
  const { verdict, isStopped } = await runOn(access, plan);
  process.stdout.write(`${columns(verdict.rows)}\n\n${describeVerdict({ verdict, isStopped })}\n`);
  if (!verdict.holds || isStopped) process.exitCode = 1;
}

/** After a stop no more visitors come, so the rest was not tested. */
function describeVerdict({ verdict: { holds }, isStopped }: Ended): string {
  if (!isStopped) return holds ? "It holds." : "It does not hold.";
  return `It was stopped before its end, and ${holds ? "held" : "did not hold"} until then.`;
}

interface Ended {
  readonly verdict: Verdict;
  /** Whether the simulation was stopped early. */
  readonly isStopped: boolean;
}

async function runOn(access: Access, plan: Plan): Promise<Ended> {
  const progress = showProgress();
  const { signal } = onSignal();
  const tokens = Array.from({ length: plan.gates }, () => randomBytes(32).toString("hex"));
  const now = new Date();
  let isMade = false;
  try {
    progress.update("making the event…");
    await send(access, groundwork(plan, { tokens, now }));
    isMade = true;
    // Otherwise tickets that are unknown to gateway or checkin would count as wrong.
    if (!(await send(access, orders(plan, { now }))))
      throw fault(
        "platform_unavailable",
        "the platform has not caught up with the simulated tickets; try again when `tessera status` shows that no fact waits",
      );
    const link = await makeBoardLink(access, plan);
    progress.done();
    process.stderr.write(`Watch it: ${link}\n`);
    const expected = (plan.arrivals * plan.minutes) / 60;
    const onScan = (scans: number) => progress.update(`${bar(Math.min(scans, expected), expected)}  ${scans} visitors`);
    const seen = await runGates({ plan, url: access.url, tokens, signal, onScan });
    progress.update("counting…");
    const counted = await countInside(access, plan, {
      token: tokens[0] ?? "",
      expected: seen.admitted + seen.uploaded,
    });
    return { verdict: judge({ seen, plan, counted }), isStopped: signal.aborted };
  } finally {
    progress.update("removing the event…");
    const failure = await remove(access, plan);
    progress.done();
    if (isMade && failure !== undefined) process.stderr.write(describeRemains(plan, failure));
  }
}

/** Opens the live board of the simulation in one browser. */
async function makeBoardLink(access: Access, { organizer }: Plan): Promise<string> {
  const body = { name: "Simulation", all_events: true };
  const path = `organizers/${organizer}/signinlinks/`;
  return (await callPlatform<{ readonly link: string }>(access, { method: "POST", path, body })).link;
}

/** Removes the simulated data. Returns a failure, which must not hide the measurements. */
async function remove(access: Access, plan: Plan): Promise<unknown> {
  try {
    for (const records of removals(plan)) await send(access, records);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Lists the remaining data, and the records that remove it. */
function describeRemains(plan: Plan, failure: unknown): string {
  const records = removals(plan)
    .flat()
    .map((record) => `${JSON.stringify(record)}\n`);
  return `warning: the organizer ${plan.organizer} stays: ${describeFailure(failure) ?? String(failure)}
When the platform runs, \`tessera import -\` removes it with these two lines:
${records.join("")}
`;
}

/** Polls the count of the list until it is as expected. */
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
    const body: unknown = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
    if (isObject(body) && typeof body["checkin_count"] === "number") counted = body["checkin_count"];
    if (counted !== expected) await sleep(200);
  }
  return counted;
}

/** Sends records, all of which must be accepted. Returns whether every service has them. */
async function send(access: Access, records: Iterable<object>): Promise<boolean> {
  async function* lines(): AsyncGenerator<Uint8Array> {
    for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`);
  }
  const answer = await sendRecords(lines(), access);
  const [wrong] = answer.errors;
  if (wrong !== undefined)
    throw fault("platform_refused", `the platform refused the simulated event: ${describeErrors(wrong.errors)}`);
  return answer.settled;
}

function readNumber(
  name: string,
  text: string,
  { from, to, isWhole = false }: { readonly from: number; readonly to: number; readonly isWhole?: boolean },
): number {
  const number = Number(text);
  if (!(isWhole ? /^\d+$/ : /^\d+(?:\.\d+)?$/).test(text) || number < from || number > to)
    throw fault("bad_number", `--${name} takes a ${isWhole ? "whole number" : "number"} from ${from} to ${to}`);
  return number;
}
