import { existsSync } from "node:fs";
import { readdir, readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isRunning } from "@tessera/kit/running-process";
import { elsewhere } from "./data-place.ts";
import { argumentsOf } from "./processes.ts";
import { readServerFile, urlOf } from "./server-process.ts";

/** The server of a directory. `absent`: the directory has no database. */
export type FoundServer =
  | { readonly kind: "running"; readonly url: string; readonly pid: number }
  | { readonly kind: "absent" | "stopped" };

/** Finds the server that another process has started on a directory, by its `postmaster.pid`. */
export async function findServer(directory: string): Promise<FoundServer> {
  const places = await placesOf(resolve(directory));
  for (const place of places) {
    const data = join(place, "data");
    const file = await readServerFile(data);
    if (file === undefined || !isRunning(file.pid) || !argumentsOf(file.pid).includes(data)) continue;
    return { kind: "running", url: urlOf(file.socketDirectory), pid: file.pid };
  }
  const isPresent = places.some((place) => existsSync(join(place, "data", "PG_VERSION")));
  return { kind: isPresent ? "stopped" : "absent" };
}

/** The directory itself, and those below `elsewhere` that replace it. */
async function placesOf(wanted: string): Promise<string[]> {
  const real = await realpath(wanted).catch(() => undefined);
  if (real === undefined) return [];
  const names = await readdir(elsewhere).catch(() => []);
  const moved = await Promise.all(
    names.map(async (name) => {
      const owner = await readFile(join(elsewhere, name, "belongs-to"), "utf8").catch(() => "");
      return owner.trim() === real ? [join(elsewhere, name)] : [];
    }),
  );
  return [real, ...moved.flat()];
}
