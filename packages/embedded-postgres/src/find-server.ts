import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { elsewhere } from "./data-place.ts";
import { isServerOf, readServerFile, urlOf } from "./server-process.ts";

/** The server of a directory. `absent`: the directory has no database. */
export type FoundServer =
  | { readonly kind: "running"; readonly url: string; readonly pid: number }
  | { readonly kind: "absent" | "stopped" };

/** Finds the server that another process has started on a directory, by its `postmaster.pid`. */
export async function findServer(directory: string): Promise<FoundServer> {
  const real = await realpath(resolve(directory)).catch(() => undefined);
  if (real === undefined) return { kind: "absent" };
  const places = [real, elsewhere(real)].map((place) => join(place, "data"));
  for (const data of places) {
    const file = await readServerFile(data);
    if (file === undefined || !isServerOf(data, file.pid)) continue;
    return { kind: "running", url: urlOf(file.socketDirectory), pid: file.pid };
  }
  return { kind: places.some((data) => existsSync(join(data, "PG_VERSION"))) ? "stopped" : "absent" };
}
