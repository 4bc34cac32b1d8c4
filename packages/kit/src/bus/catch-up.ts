import type { Log } from "../telemetry/log.ts";
import { pause } from "../waiting/pause.ts";
import { waitAtMost } from "../waiting/wait-at-most.ts";
import type { Bus } from "./bus.ts";
import type { OpenConsumer } from "./consume.ts";

type FirstConsumer = OpenConsumer & Required<Pick<OpenConsumer, "servesAfter">>;

/** Whether a service acts on the facts of a consumer before it serves. */
export function isFirst(consumer: OpenConsumer): consumer is FirstConsumer {
  return consumer.servesAfter !== undefined;
}

/**
 * Asks once before any worker begins. Work that was claimed before the first question is that of another process, perhaps a
 * killed one; what this process claims must be waited for.
 */
export async function askFirst(consumers: readonly FirstConsumer[]): Promise<void> {
  for (const { servesAfter } of consumers) await servesAfter();
}

/** Callers of a service wait no longer until it serves; `longestAwayMs` of that while the bus does not answer. */
const longestMs = 20_000;
const longestAwayMs = 5000;
const pauseMs = 50;

/**
 * Waits until consumers have accepted the facts that waited for them, and the work that these began has ended or
 * failed a try. A service serves all the same when this takes too long, or while the bus is down: gates do not wait for either.
 * A bus that has just started refuses its first requests, so it counts as down when it gives no answer for some time.
 */
export async function catchUp(
  consumers: readonly FirstConsumer[],
  { bus, group, log }: { readonly bus: Pick<Bus, "backlog">; readonly group: string; readonly log: Log },
): Promise<void> {
  const topics = consumers.map(({ topic }) => topic);
  const isBehind = async (left: number) => {
    const backlog = await waitAtMost(left, bus.backlog(), () => new Error("the bus does not answer"));
    if (backlog.some((each) => each.group === group && topics.includes(each.topic) && each.messages > 0)) return true;
    for (const { servesAfter } of consumers) if (!(await servesAfter())) return true;
    return false;
  };
  const until = Date.now() + longestMs;
  for (let answeredAt = Date.now(); consumers.length > 0; await pause(pauseMs)) {
    const awayAt = answeredAt + longestAwayMs;
    try {
      if (!(await isBehind(Math.max(1, awayAt - Date.now())))) return;
      answeredAt = Date.now();
    } catch (error) {
      if (Date.now() < Math.min(awayAt, until)) continue;
      log.warn("a service serves without knowing what it was asked for meanwhile", { topics, error });
      return;
    }
    if (Date.now() < until) continue;
    log.warn("a service serves before it has done what it was asked for meanwhile", { topics });
    return;
  }
}
