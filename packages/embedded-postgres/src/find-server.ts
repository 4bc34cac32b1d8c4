import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isRunning } from "@tessera/kit/running-process";
import { elsewhere } from "./data-place.ts";
import { argumentsOf } from "./processes.ts";
import { readServerFile, urlOf } from "./server-process.ts";

/** The server of a directory, found without disturbing it. `absent`: the directory holds no database. */
export type FoundServer =
  | { readonly kind: "running"; readonly url: string; readonly pid: number }
  | { readonly kind: "absent" | "stopped" };

/** Finds the server that another process has started on a directory, by the file that a server writes about itself. */
export async function findServer(directory: string): Promise<FoundServer> {
  const places = await placesOf(resolve(directory));
  for (const place of places) {
    const data = join(place, "data");
    const file = await readServerFile(data);
    if (file === undefined || !isRunning(file.pid) || !argumentsOf(file.pid).includes(data)) continue;
    return { kind: "running", url: urlOf(file.socketDirectory), pid: file.pid };
  }
  const present = await Promise.all(places.map((place) => exists(join(place, "data", "PG_VERSION"))));
  return { kind: present.includes(true) ? "stopped" : "absent" };
}

/** The directory itself, and those that were used in its place because the database's account cannot reach it. */
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

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
