import { type DeadLetter, readDeadLetters, requestReplays } from "@tessera/kit/bus/operators";

import { fault } from "../faults.ts";
import { readOptions } from "../options.ts";
import { bar } from "../progress.ts";
import { type OpenService, schemaOptions, withServices } from "./open-schemas.ts";
import { describeDeadLetter } from "./parked.ts";
import { readWait, waitForProgress, waitOption } from "./wait-for-progress.ts";

const usage = `tessera topics replay  [OPTIONS]

Has services act again on facts that they have parked: all of them, or those that the options name. The running services
do it, in the order in which the facts were parked; what fails again stays, with its new cause. Nothing acts twice, and
what was asked for is done even if this command ends before.`;

const options = {
  service: { type: "string", value: "NAME", help: "those of this service alone" },
  topic: { type: "string", value: "TOPIC", help: "those of this topic alone" },
  id: { type: "string", value: "N,…", help: "these alone; ids are those of one service, so --service goes with it" },
  wait: waitOption,
  ...schemaOptions,
} as const;

interface Asked {
  readonly service: OpenService;
  readonly ids: readonly number[];
}

/** Asks for replays and waits for what comes of them; exits with 1 when a fact stays parked. */
export async function replayFacts(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const { service, topic, wait } = read.values;
  const ids = readIds(read.values.id);
  if (ids !== undefined && service === undefined)
    throw fault("ids_of_no_service", "--id goes with --service: each service counts its own");
  const stillMs = readWait(wait);
  await withServices(read.values, [service ?? "all"], async (opened) => {
    const asked: Asked[] = [];
    for (const each of opened)
      asked.push({ service: each, ids: await requestReplays(each.db, { topic: topic ?? null, ids: ids ?? null }) });
    const total = asked.reduce((sum, each) => sum + each.ids.length, 0);
    if (total === 0) {
      process.stdout.write("Nothing of that kind is parked.\n");
      return;
    }
    await waitForProgress(async () => {
      const waiting = (await readLeft(asked))
        .flatMap(({ left }) => left)
        .filter((fact) => fact.isReplayRequested).length;
      return { done: waiting === 0, text: `${bar(total - waiting, total)}  ${total - waiting} of ${total}` };
    }, stillMs);
    report(await readLeft(asked), total);
  });
}

function readIds(text: string | undefined): number[] | undefined {
  if (text === undefined) return undefined;
  const ids = text.split(",").map((id) => id.trim());
  if (ids.some((id) => !/^\d{1,15}$/.test(id))) throw fault("bad_id", "--id takes whole numbers, separated by commas");
  return ids.map(Number);
}

interface Left {
  readonly name: string;
  readonly left: readonly DeadLetter[];
}

async function readLeft(asked: readonly Asked[]): Promise<Left[]> {
  return Promise.all(
    asked.map(async ({ service, ids }) => ({
      name: service.name,
      left: ids.length === 0 ? [] : await readDeadLetters(service.db, ids),
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
        `${name}: ${waiting} wait to be replayed. They stay asked for: see whether ${name} runs, and what it logs.\n`,
      );
    }
  }
}
