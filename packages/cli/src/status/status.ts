import { resolve } from "node:path";
import { columns } from "../command/columns.ts";
import { readOptions, refuseNames } from "../command/options.ts";
import { printable } from "../command/printable.ts";
import { findNotedPlatform, type LocalPlatform } from "../local/local-platform.ts";
import { addressRows, operationsUrls } from "../serve/announce.ts";
import { schemaOptions, withServices } from "../topics/open-schemas.ts";
import { askProcesses, type ProcessState } from "./ask-processes.ts";
import { type Credential, type EventCounts, readEvents, readLag, readShown, type ServiceLag } from "./read-status.ts";

const usage = `tessera status  [OPTIONS]

Shows the version and addresses of the platform that runs on this machine, whether its processes are ready, its keys by name, what each
event has, and whether facts are late. It reads the database; \`tessera doctor\` says what is wrong.`;

const options = {
  json: { type: "boolean", default: false, help: "prints JSON instead of tables" },
  ...schemaOptions,
} as const;

interface Status {
  readonly platform: LocalPlatform | undefined;
  /** The process of a platform that has ended without being stopped. */
  readonly killed?: number | undefined;
  readonly processes: readonly ProcessState[];
  readonly credentials: readonly Credential[];
  readonly events: readonly EventCounts[];
  readonly lag: readonly ServiceLag[];
}

export async function showStatus(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const { values, names } = read;
  refuseNames(names);
  const noted = await findNotedPlatform(resolve(values.data));
  const platform = noted?.isRunning ? noted.platform : undefined;
  const status = await withServices(values, ["all"], async (opened): Promise<Status> => {
    return {
      platform,
      killed: noted?.isRunning === false ? noted.platform.pid : undefined,
      processes: await askProcesses(platform?.processes ?? []),
      credentials: await readShown(opened, "credentials"),
      events: await readEvents(opened),
      lag: await Promise.all(opened.map(readLag)),
    };
  });
  process.stdout.write(values.json ? `${JSON.stringify(status, undefined, 2)}\n` : describeStatus(status));
}

/** Writes a status for a person. */
export function describeStatus({ platform, killed, processes, credentials, events, lag }: Status): string {
  const late = lag.filter(({ waiting, parked }) => waiting > 0 || parked > 0);
  return [
    killed !== undefined
      ? `The platform is down: process ${killed} has ended without being stopped. Its database answers. Start it again.\n`
      : platform === undefined
        ? "No platform on this machine notes an address in this data folder; its database answers.\n"
        : `Tessera ${platform.release ?? "of an older version"} runs in process ${platform.pid}.\n\n${columns(addressRows(platform))}\n`,
    ...(processes.length === 0
      ? []
      : [
          `${table(
            ["PROCESS", "STATE", "HEALTH, METRICS"],
            processes.map(({ name, state, operationsPort }) => [name, state, operationsUrls(operationsPort)]),
          )}\n`,
        ]),
    credentials.length === 0
      ? "There are no keys: `tessera keys create` makes one.\n"
      : `${table(
          ["KEY OR DEVICE", "OF", "ID", "STATE"],
          credentials.map(({ kind, organizer, id, name, isActive }) => [
            `${printable(name)} (${kind === "device" ? "device" : "API key"})`,
            printable(organizer),
            // Enough for `tessera keys revoke`.
            printable(id.slice(0, 8)),
            isActive ? "active" : "revoked",
          ]),
        )}\n`,
    events.length === 0
      ? "There are no events: `tessera import` brings them.\n"
      : `${table(
          ["EVENT", "ITEMS", "ORDERS", "POSITIONS", "CHECK-IN LISTS"],
          events.map((event) => [
            `${printable(event.organizer)}/${printable(event.event)}`,
            ...[event.items, event.orders, event.positions, event.lists].map(String),
          ]),
        )}\n`,
    late.length === 0
      ? "No fact waits, and none is parked.\n"
      : `${table(
          ["SERVICE", "FACTS WAITING", "OLDEST", "PARKED"],
          late.map(({ service, waiting, seconds, parked }) => [
            service,
            String(waiting),
            `${Math.round(seconds)} s`,
            String(parked),
          ]),
        )}\n`,
  ].join("\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return columns([head, ...rows]);
}
