import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { argumentsOf, isRunning } from "@tessera/kit/pg/running-process";
import { readServerFile } from "@tessera/kit/pg/server-process";

/** The embedded server of a data folder, found without disturbing it. */
export type LocalServer =
  | { readonly kind: "running"; readonly url: string; readonly pid: number; readonly reason?: undefined }
  | { readonly kind: "absent" | "stopped"; readonly reason: string };

/** Where the data lies when root may not let the database's account pass to the folder itself. */
const elsewhere = "/var/lib/tessera";

/** Finds the server that `tessera serve all` runs on a data folder, by the file that it writes about itself. */
export async function findLocalServer(directory: string): Promise<LocalServer> {
  const places = await placesOf(join(directory, "postgres"));
  for (const place of places) {
    const data = join(place, "data");
    const file = await readServerFile(data);
    if (file === undefined || !isRunning(file.pid) || !argumentsOf(file.pid).includes(data)) continue;
    const host = encodeURIComponent(file.socketDirectory);
    const url = `postgresql://postgres@/postgres?host=${host}&port=5432&sslmode=disable`;
    return { kind: "running", url, pid: file.pid };
  }
  const present = await Promise.all(places.map((place) => exists(join(place, "data", "PG_VERSION"))));
  return present.includes(true)
    ? { kind: "stopped", reason: `the database of ${directory} does not run: \`tessera serve all\` starts it` }
    : {
        kind: "absent",
        reason: `${directory} holds no database yet: \`tessera serve all\` makes it; DATABASE_URL or --data name another`,
      };
}

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
