import type { TopicDifference } from "@tessera/engines/kafka/topics";
import { columns } from "../command/columns.ts";
import { readOptions, refuseNames } from "../command/options.ts";
import { applyCatalogue, diffCatalogue } from "./catalogue.ts";

const settings = "It connects by KAFKA_BROKERS, KAFKA_TOPIC_PREFIX, KAFKA_TLS and KAFKA_SASL_…, as services do.";

/** Prints how the topics of the brokers differ from the catalogue; exit status 1 if something is to be done. */
export async function printDifferences(args: string[]): Promise<void> {
  const usage = `tessera topics diff\n\nPrints how the topics of the brokers differ from the catalogue; exit status 1 if something is to be done.\n${settings}`;
  const read = readOptions(usage, {}, args);
  if (read === undefined) return;
  refuseNames(read.names);
  const differences = await diffCatalogue(process.env);
  process.stdout.write(differences.length === 0 ? "Every topic is as it should be.\n" : table(differences));
  if (differences.some(({ remedy }) => remedy !== "accept")) process.exitCode = 1;
}

/** Creates topics and alters settings; exit status 1 if a person must decide about the rest. */
export async function applyDifferences(args: string[]): Promise<void> {
  const usage = `tessera topics apply\n\nCreates missing topics and alters settings; it deletes and moves nothing.\n${settings}`;
  const read = readOptions(usage, {}, args);
  if (read === undefined) return;
  refuseNames(read.names);
  const { applied, accepted, left } = await applyCatalogue(process.env);
  if (applied.length > 0) process.stdout.write(`Done:\n${table(applied)}`);
  if (accepted.length > 0) process.stdout.write(`Left as it is:\n${table(accepted)}`);
  if (left.length > 0) process.stdout.write(`Left to you:\n${table(left)}`);
  if (applied.length + accepted.length + left.length === 0) process.stdout.write("Every topic is as it should be.\n");
  if (left.length > 0) process.exitCode = 1;
}

function table(differences: readonly TopicDifference[]): string {
  const rows = differences.map(({ topic, what, wanted, found, advice }) => {
    const change = found === undefined ? `missing, wanted ${wanted}` : `${found}, wanted ${wanted}`;
    return [topic, what, advice === undefined ? change : `${change}; ${advice}`];
  });
  return `${columns(rows)}\n`;
}
