import { findLate, type LateWork } from "@tessera/kit/jobs/work-reads";
import { describeAge } from "./describe-amount.ts";
import { type Finding, ok, warning, wrong } from "./finding.ts";
import type { Service, Surroundings } from "./surroundings.ts";

/** The longest work takes minutes. */
const lateSeconds = 600;

/** More than a person reads at once. */
const mostNamed = 5;

/** Examines the work of one service: what somebody waits for, for instance a batch of tickets, and has not ended. */
export async function examineWork({ database }: Surroundings, service: Service): Promise<Finding[]> {
  const late = await findLate(await database.as(service), { seconds: lateSeconds, most: mostNamed });
  if (late.length === 0) return [ok(`${service.name} has no late work`)];
  return late.map((work) => judgeLate(work, service.name));
}

/** Judges work that has not ended. */
function judgeLate({ kind, id, state, tries, seconds, cause }: LateWork, service: string): Finding {
  const age = describeAge(seconds);
  if (cause !== null) {
    const mend = `its log has each failure; the work goes on by itself when the cause is removed`;
    return wrong(`"${kind}" ${id} of ${service} was tried ${tries} times in ${age}`, { why: cause, mend });
  }
  const mend = `see whether a process of ${service} runs, and raise the number of its processes if there is much work`;
  return warning(`"${kind}" ${id} of ${service} is ${state} for ${age}`, { why: "no process has done it yet", mend });
}
