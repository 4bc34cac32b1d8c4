import { type DeadLetter, findDeadLetters, requestReplays } from "@tessera/kit/bus/operators";
import { readOptions, refuseNames } from "../command/options.ts";
import { bar } from "../command/progress.ts";
import { type OpenService, schemaOptions, withServices } from "./open-schemas.ts";
import { describeDeadLetter, requireTopic } from "./parked.ts";
import { readIds } from "./read-ids.ts";
import { readWait, waitForProgress, waitOption } from "./wait-for-progress.ts";

const usage = `tessera topics replay  [OPTIONS]

Has services apply or publish parked facts again: all of them, or those that the options name. The running services do the work, in
the order in which the facts were parked; a fact that fails again stays, with its new cause. No fact has two effects,
and the work continues if this command ends early.`;

const options = {
  service: { type: "string", value: "NAME", help: "only those of this service" },
  topic: { type: "string", value: "TOPIC", help: "only those of this topic" },
  id: { type: "string", value: "N,…", help: "only these; ids belong to one service, so --service is required" },
  wait: waitOption,
  ...schemaOptions,
} as const;

interface Requested {
  readonly service: OpenService;
  readonly ids: readonly number[];
}

/** Requests replays and waits for their results; exit status 1 if a fact stays parked. */
export async function replayFacts(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  refuseNames(read.names);
  const { service, topic, wait } = read.values;
  const ids = readIds(read.values);
  const stillMs = readWait(wait);
  await withServices(read.values, [service ?? "all"], async (opened) => {
    const requested: Requested[] = [];
    for (const each of opened) requested.push({ service: each, ids: await requestReplays(each.db, { topic, ids }) });
    const total = requested.reduce((sum, each) => sum + each.ids.length, 0);
    if (total === 0) {
      requireTopic(topic);
      process.stdout.write("Nothing of that kind is parked.\n");
      return;
    }
    await waitForProgress(async () => {
      const waiting = (await readLeft(requested))
        .flatMap(({ left }) => left)
        .filter((fact) => fact.isReplayRequested).length;
      return { done: waiting === 0, text: `${bar(total - waiting, total)}  ${total - waiting} of ${total}` };
    }, stillMs);
    report(await readLeft(requested), total);
  });
}

interface Left {
  readonly name: string;
  readonly left: readonly DeadLetter[];
}

async function readLeft(requested: readonly Requested[]): Promise<Left[]> {
  return Promise.all(
    requested.map(async ({ service, ids }) => ({
      name: service.name,
      left: ids.length === 0 ? [] : (await findDeadLetters(service.db, { ids })).letters,
    })),
  );
}

function report(all: readonly Left[], total: number): void {
  const left = all.flatMap((each) => each.left);
  process.stdout.write(`${total - left.length} of ${total} replayed.\n`);
  if (left.length > 0) process.exitCode = 1;
  for (const { name, left: ofService } of all) {
    const failed = ofService.filter((fact) => !fact.isReplayRequested);
    if (failed.length > 0) process.stdout.write(`${name}: ${failed.length} stay parked\n`);
    for (const fact of failed) process.stdout.write(describeDeadLetter(fact));
    const waiting = ofService.length - failed.length;
    if (waiting > 0) {
      process.stdout.write(
        `${name}: ${waiting} wait to be replayed. They stay requested: see whether ${name} runs, and what it logs.\n`,
      );
    }
  }
}
