import { readFile } from "node:fs/promises";
import type pg from "pg";
import { giveWay } from "../give-way.ts";

/**
 * Has the process in which PostgreSQL serves a connection give way, if the server is on this machine: then it wants the same
 * processors as what is urgent. That is known of connections through a socket file. A server elsewhere is left alone, and so is
 * one whose processes this one may not change.
 */
export async function giveWayInDatabase(connected: pg.ClientBase): Promise<void> {
  const { host, processID } = connected as pg.ClientBase & { readonly host: string; readonly processID: number | null };
  if (processID === null || !host.startsWith("/")) return;
  // Behind a pooler, or from a container with processes of its own, the number would name another process.
  const title = await readFile(`/proc/${processID}/cmdline`, "utf8").catch(() => "");
  if (title.startsWith("postgres: ")) await giveWay(processID);
}
