import { discardDeadLetters } from "@tessera/kit/bus/operators";
import { readOptions, refuseNames } from "../command/options.ts";
import { fault } from "../faults.ts";
import { schemaOptions, withServices } from "./open-schemas.ts";
import { describeDeadLetter } from "./parked.ts";
import { readIds } from "./read-ids.ts";

const usage = `tessera topics discard  --service NAME --id N,…  [OPTIONS]

Deletes parked facts that must not be applied or published, such as messages that did not come from Tessera. What they said is lost;
\`tessera topics rebuild\` corrects a copy that lacks it.`;

const options = {
  service: { type: "string", value: "NAME", help: "the service that parked them" },
  id: { type: "string", value: "N,…", help: "their ids, as `tessera topics parked` shows them" },
  ...schemaOptions,
} as const;

/** Deletes dead letters by their ids; exit status 1 if one is missing. */
export async function discardParked(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  refuseNames(read.names);
  const { service } = read.values;
  const ids = readIds(read.values);
  if (ids === undefined || service === undefined)
    throw fault("missing_option", "name what to delete with --service and --id: `tessera topics parked` lists it");
  await withServices(read.values, [service], async (opened) => {
    for (const { db } of opened) {
      const deleted = await discardDeadLetters(db, ids);
      const wanted = new Set(ids).size;
      process.stdout.write(`${deleted.length} of ${wanted} deleted.\n`);
      for (const letter of deleted) process.stdout.write(describeDeadLetter(letter));
      if (deleted.length < wanted) process.exitCode = 1;
    }
  });
}
