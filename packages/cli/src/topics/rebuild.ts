import {
  type RebuildArrival,
  type RebuildState,
  readRebuild,
  readRebuildArrival,
  requestRebuild,
} from "@tessera/kit/bus/operators";

import { topics } from "@tessera/protos/topics";
import { fault } from "../faults.ts";
import { readOptions } from "../options.ts";
import { bar } from "../progress.ts";
import { type OpenService, schemaOptions, withServices } from "./open-schemas.ts";
import { readWait, waitForProgress, waitOption } from "./wait-for-progress.ts";

const usage = `tessera topics rebuild TOPIC… | --all  [OPTIONS]

Has the owners of topics publish again what they hold, so that everybody who keeps a copy has it whole: after a topic, a
broker or a copy was lost, or a database put back. Copies lose what their owner does not have. The running services do
it, and go on with it if this command ends before; it may be repeated at any time.`;

const options = {
  all: { type: "boolean", default: false, help: "every topic of the catalogue" },
  wait: waitOption,
  ...schemaOptions,
} as const;

interface Rebuilding {
  readonly id: string;
  readonly topic: string;
  readonly owner: OpenService;
  readonly readers: readonly OpenService[];
}

/** Asks for rebuilds and waits until they have arrived; exits with 1 where one has not. */
export async function rebuildFacts(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const stillMs = readWait(read.values.wait);
  const wanted = chooseTopics(read.names, read.values);
  await withServices(read.values, ["all"], async (opened) => {
    const rebuilding: Rebuilding[] = [];
    for (const { name: topic, owner: ownerName } of wanted) {
      const owner = opened.find(({ name }) => name === ownerName);
      if (owner === undefined) throw new Error(`the owner of ${topic} is no service`);
      const id = await requestRebuild(owner.db, topic);
      rebuilding.push({ id, topic, owner, readers: opened.filter(({ consumes }) => consumes.includes(topic)) });
    }
    await waitForProgress(async () => {
      const states = await Promise.all(rebuilding.map(readState));
      return { done: states.every(isOver), text: describeProgress(states) };
    }, stillMs);
    for (const each of rebuilding) report(each, await readState(each));
  });
}

function chooseTopics(
  names: readonly string[],
  { all }: { all: boolean },
): readonly { readonly name: string; readonly owner: string }[] {
  const catalogue = Object.values(topics);
  if (all === names.length > 0) throw fault("no_topics", "name the topics to rebuild, or pass --all and name none");
  const unknown = names.find((name) => !catalogue.some((topic) => topic.name === name));
  if (unknown !== undefined) {
    const known = catalogue.map((topic) => topic.name).join(", ");
    throw fault("unknown_topic", `there is no topic ${unknown}; the topics are ${known}`);
  }
  return catalogue.filter((topic) => all || names.includes(topic.name));
}

interface State extends RebuildState {
  readonly arrived: readonly (RebuildArrival & { readonly reader: string })[];
}

async function readState({ id, topic, owner, readers }: Rebuilding): Promise<State> {
  const state = await readRebuild(owner.db, id);
  const { begunAt } = state;
  const arrived = await Promise.all(
    readers.map(async ({ name, db }) => ({
      reader: name,
      ...(await readRebuildArrival(db, { service: name, topic, id, begunAt })),
    })),
  );
  return { ...state, arrived };
}

function isOver({ isFinished, cause, partitions, arrived }: State): boolean {
  if (!isFinished) return false;
  return cause !== null || arrived.every(({ passed, refused }) => passed + refused >= (partitions ?? 0));
}

function describeProgress(states: readonly State[]): string {
  const written = states.reduce((sum, state) => sum + state.written, 0);
  const expected = states.reduce((sum, state) => sum + Math.max(state.expected ?? 0, state.written), 0);
  const open = states.filter((state) => !isOver(state)).length;
  return `${bar(written, expected)}  ${written} of ${expected} published, ${open} of ${states.length} topics under way`;
}

function report({ topic, owner }: Rebuilding, state: State): void {
  const complaint = complain(owner.name, state);
  if (complaint !== undefined) process.exitCode = 1;
  process.stdout.write(`${topic}: ${complaint ?? praise(state)}\n`);
}

function praise({ written, arrived }: State): string {
  const readers = arrived.map(({ reader }) => reader);
  return `${written} published; ${readers.length === 0 ? "nobody reads it" : `arrived at ${readers.join(" and ")}`}`;
}

function complain(owner: string, state: State): string | undefined {
  const { begunAt, written, isFinished, cause, partitions, arrived } = state;
  if (cause !== null)
    return `given up after ${written}, and no copy was swept: ${cause}. Mend that and repeat the command`;
  if (begunAt === null) return `not begun; it stays asked for. See whether ${owner} runs, and what it logs`;
  if (!isFinished) return `${written} published so far; ${owner} goes on with it. See what it logs where it does not`;
  const refusing = arrived.filter(({ refused, deadLetters }) => refused > 0 || deadLetters > 0);
  if (refusing.length > 0) {
    const names = refusing.map(({ reader }) => reader).join(" and ");
    return `${written} published; ${names} could not act on all of it: see \`tessera topics parked\``;
  }
  const late = arrived.filter(({ passed }) => passed < (partitions ?? 0)).map(({ reader }) => reader);
  if (late.length === 0) return undefined;
  return `${written} published, but not all has arrived at ${late.join(" and ")}: see whether they run, and what they log`;
}
