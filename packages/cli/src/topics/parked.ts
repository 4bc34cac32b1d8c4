import { type DeadLetter, findDeadLetters } from "@tessera/kit/bus/operators";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { catalogue } from "@tessera/protos/topics";
import { readOptions, refuseNames } from "../command/options.ts";
import { printable } from "../command/printable.ts";
import { fault } from "../faults.ts";
import { type OpenService, schemaOptions, withServices } from "./open-schemas.ts";

const usage = `tessera topics parked  [OPTIONS]

Lists parked facts: those that a service could not apply or publish, with the cause. It never shows their contents.`;

const options = {
  service: { type: "string", value: "NAME", help: "only those of this service" },
  topic: { type: "string", value: "TOPIC", help: "only those of this topic" },
  limit: { type: "string", value: "N", default: "100", help: "at most so many of each service (default 100)" },
  ...schemaOptions,
} as const;

/** Rows are read into memory. */
const mostListed = 100_000;

/** Prints the dead letters of services. */
export async function listParked(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  refuseNames(read.names);
  const { service, topic } = read.values;
  const limit = readLimit(read.values.limit);
  await withServices(read.values, [service ?? "all"], async (opened) => {
    let total = 0;
    for (const { name, db } of opened) total += await printOfService({ name, db }, { topic, limit });
    if (total > 0) {
      process.stdout.write("\n`tessera topics replay` has services apply or publish them again.\n");
    } else {
      requireTopic(topic);
      process.stdout.write("Nothing is parked.\n");
    }
  });
}

/** Refuses an unknown topic. Parked facts may be of a topic that existed before. */
export function requireTopic(name: string | undefined): void {
  if (name === undefined || catalogue.some((topic) => topic.name === name)) return;
  const known = catalogue.map((topic) => topic.name).join(", ");
  throw fault("unknown_topic", `there is no topic ${printable(name)}; the topics are ${known}`);
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > mostListed)
    throw fault("bad_number", `--limit takes a whole number from 1 to ${mostListed}`);
  return limit;
}

async function printOfService(
  { name, db }: Pick<OpenService, "name" | "db">,
  { topic, limit }: { topic: string | undefined; limit: number },
): Promise<number> {
  const { count, letters } = await findDeadLetters(db, { topic, limit });
  if (count === 0) return 0;
  process.stdout.write(`${name}: ${count} parked\n`);
  for (const letter of letters) process.stdout.write(describeDeadLetter(letter));
  if (count > letters.length) process.stdout.write(`  … ${count - letters.length} more\n`);
  return count;
}

/** Describes a dead letter, its place and its cause. */
export function describeDeadLetter(letter: DeadLetter): string {
  const { id, topic, key, writtenAt, deadLetteredAt, tries, isOutgoing, isSuperseded, isReplayRequested, cause } =
    letter;
  const remarks = [
    ...(isOutgoing ? ["not published"] : []),
    ...(tries > 0 ? [`replayed without success ${tries === 1 ? "once" : `${tries} times`}`] : []),
    ...(isSuperseded ? ["a later fact of its key was applied"] : []),
    ...(isReplayRequested ? ["its replay is requested"] : []),
  ];
  const times = `written ${toTimestamp(writtenAt)}, parked ${toTimestamp(deadLetteredAt)}`;
  const remark = remarks.length === 0 ? "" : ` (${remarks.join("; ")})`;
  return `  ${id}  ${printable(topic)}  ${printable(key)}  ${times}${remark}\n      ${printable(cause)}\n`;
}
