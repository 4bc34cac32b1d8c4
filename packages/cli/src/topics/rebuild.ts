import {
  type RebuildArrival,
  type RebuildState,
  readRebuild,
  readRebuildArrival,
  requestRebuild,
} from "@tessera/kit/bus/operators";
import { topics } from "@tessera/protos/topics";
import { readOptions } from "../command/options.ts";
import { bar } from "../command/progress.ts";
import { fault } from "../faults.ts";
import { type OpenService, schemaOptions, withServices } from "./open-schemas.ts";
import { readWait, waitForProgress, waitOption } from "./wait-for-progress.ts";

const usage = `tessera topics rebuild TOPIC… | --all  [OPTIONS]

Has the owners of topics republish their current state, so that every copy is complete again: after a topic, a broker or
a copy was lost, or a database was restored. Copies lose what their owner does not have. The running services do the
work, and continue if this command ends early; it may be repeated at any time.`;

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

/** Requests rebuilds and waits until they have arrived; exit status 1 if one has not. */
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
  const problem = describeProblem(owner.name, state);
  if (problem !== undefined) process.exitCode = 1;
  process.stdout.write(`${topic}: ${problem ?? describeSuccess(state)}\n`);
}

function describeSuccess({ written, arrived }: State): string {
  const readers = arrived.map(({ reader }) => reader);
  return `${written} published; ${readers.length === 0 ? "no service reads it" : `arrived at ${readers.join(" and ")}`}`;
}

function describeProblem(owner: string, state: State): string | undefined {
  const { begunAt, written, isFinished, cause, partitions, arrived } = state;
  if (cause !== null)
    return `given up after ${written}, and no copy was swept: ${cause}. Remove the cause and repeat the command`;
  if (begunAt === null) return `not begun; it stays requested. See whether ${owner} runs, and what it logs`;
  if (!isFinished) return `${written} published so far; ${owner} continues. If it does not, its log says why`;
  const refusing = arrived.filter(({ refused, deadLetters }) => refused > 0 || deadLetters > 0);
  if (refusing.length > 0) {
    const names = refusing.map(({ reader }) => reader).join(" and ");
    return `${written} published; ${names} could not apply all of it: see \`tessera topics parked\``;
  }
  const late = arrived.filter(({ passed }) => passed < (partitions ?? 0)).map(({ reader }) => reader);
  if (late.length === 0) return undefined;
  return `${written} published, but not all has arrived at ${late.join(" and ")}: see whether they run, and what they log`;
}
