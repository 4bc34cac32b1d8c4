import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { fault } from "../faults.ts";

/** Asks a person at a terminal before the data of a folder is deleted. A program is not asked. */
export async function confirmFresh(
  directory: string,
  { input = process.stdin, output = process.stderr }: { input?: NodeJS.ReadStream; output?: NodeJS.WriteStream } = {},
): Promise<void> {
  if (!input.isTTY || !output.isTTY || !existsSync(join(directory, "postgres"))) return;
  const asking = createInterface({ input, output });
  // Ctrl-C and the end of the input answer, too.
  const closed = new Promise<string>((resolve) => void asking.once("close", () => resolve("")));
  try {
    const question = `--fresh deletes the database, files, keys and log in ${directory}. Delete them? [y/N] `;
    const answer = await Promise.race([asking.question(question), closed]);
    if (!/^y(?:es)?$/i.test(answer.trim())) throw fault("not_confirmed", "nothing was deleted; start without --fresh");
  } finally {
    asking.close();
  }
}
