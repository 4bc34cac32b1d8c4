import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Delivery } from "@tessera/kit/bus/bus";
import { header } from "@tessera/kit/bus/headers";
import { memoryCache } from "@tessera/kit/cache/memory";
import { readConfig } from "@tessera/kit/config";
import { diskFiles } from "@tessera/kit/files/disk";
import { inProcess } from "@tessera/kit/grpc/in-process";
import { createLog } from "@tessera/kit/log";
import { createMetrics } from "@tessera/kit/metrics";
import type { Db } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { connect, implement } from "@tessera/kit/rpc";
import { connectClients } from "@tessera/kit/service";
import { startTracing } from "@tessera/kit/trace";
import type {
  CheckinListFields,
  CheckinList as CheckinListOnWire,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { CheckinLists, ListedPositions, Records, ScanHistory, Scans, Tickets } from "@tessera/protos/services";
import type { Topic } from "@tessera/protos/topic";
import { settings } from "../config.ts";
import { checkin } from "../index.ts";
import { noon, place } from "./facts.ts";

const tables = [
  ...["event", "subevent", "category", "item", "list", "position", "scan", "presence", "count_delta", "list_change"],
  ...["question", "revoked_secret", "blocked_secret", "reusable_medium", "given_answer", "gone_position"],
  ...["outbox", "inbox", "dead_letter", "passed_marker"],
];

/** The service on a database, called as its peers call it. */
export interface RunningCheckin extends Awaited<ReturnType<typeof startCheckin>> {}

/** Starts the service on a database. Its clock stands until a test moves it; its jobs run when they are told to. */
export async function startCheckin(db: Db, { reads = db }: { reads?: Db } = {}) {
  const lines: string[] = [];
  const log = createLog({ service: "checkin", level: "debug", destination: { write: (line) => lines.push(line) } });
  const clock = { now: () => running.now };
  const boxoffice = inProcess({ log });
  const tracing = await startTracing({ service: "checkin" });
  const parts = await checkin.open({
    config: readConfig(settings, {}),
    db,
    reads,
    cache: memoryCache({ log }),
    // Check-in keeps no files, so this folder is never made.
    files: diskFiles({ directory: join(tmpdir(), "tessera-checkin-files") }),
    clock,
    log,
    metrics: createMetrics(),
    tracing,
    clients: connectClients(checkin.clients, (service) => boxoffice.transportTo(service)),
  });
  boxoffice.serve("boxoffice", [
    implement(Tickets, {
      findTickets: async ({ tickets }) => {
        running.asked.push(...tickets.map(({ secret }) => secret));
        return { facts: await running.sold() };
      },
      findAmbiguousSecrets: () => Promise.reject(new Error("check-in does not ask for them")),
    }),
  ]);
  const network = inProcess({ log });
  network.serve("checkin", parts.implementations);
  const transport = network.transportTo("checkin");
  const scans = connect(Scans, transport);
  const lists = connect(CheckinLists, transport);
  const running = {
    db,
    /** What its clock shows. */
    now: noon,
    /** Everything it has logged. */
    lines,
    /** The codes that it has asked boxoffice for. */
    asked: [] as string[],
    /** What boxoffice finds: nothing, until a test has it sell something. */
    sold: async (): Promise<Uint8Array[]> => [],
    lists,
    positions: connect(ListedPositions, transport),
    history: connect(ScanHistory, transport),
    records: connect(Records, transport),

    /** Hands facts to the consumer of their topic; a text is the key of something that is gone. */
    async deliver<F>(topic: Topic<F>, facts: readonly (F | string)[]): Promise<void> {
      const messages = facts.map((fact) => ({
        topic: topic.name,
        partition: 0,
        key: typeof fact === "string" ? fact : topic.key(fact),
        value: typeof fact === "string" ? null : topic.encode(fact),
        headers: { "fact-id": randomUUID(), "fact-at": String(noon) },
      }));
      await running.deliverMessages(topic.name, messages);
    },

    /** Delivers what ends a rebuild that began at a revision, as one partition of one has it. */
    async sweep({ name }: { readonly name: string }, before: number): Promise<void> {
      const headers = {
        [header.marker]: randomUUID(),
        [header.sweepBelow]: String(before),
        [header.sweepPartitions]: "1",
        [header.sweepSince]: "0",
      };
      await running.deliverMessages(name, [
        { topic: name, partition: 0, key: "rebuild", value: new Uint8Array(), headers },
      ]);
    },

    async deliverMessages(topic: string, messages: readonly Delivery[]): Promise<void> {
      const consumer = parts.consumers.find((candidate) => candidate.topic === topic);
      if (consumer === undefined) throw new Error(`check-in does not consume ${topic}`);
      await consumer.deliver(messages, new AbortController().signal);
      const { parked } = await db.one<{ parked: string | null }>(
        sql`select string_agg(dead_letter.cause, '; ') as parked from dead_letter`,
      );
      if (parked !== null) throw new Error(`facts were parked: ${parked}`);
    },

    async createList(fields: Partial<CheckinListFields> = {}): Promise<CheckinListOnWire> {
      const { list } = await lists.createCheckinList({ ...place, fields: listFields(fields) });
      if (list === undefined) throw new Error("no list came back");
      return list;
    },

    /** Scans several codes in one call. */
    async redeemAll(sent: readonly Scan[]): Promise<ScanOutcome[]> {
      const { outcomes } = await scans.redeem({ scans: [...sent] }, { timeoutMs: 20_000 });
      return outcomes;
    },

    async redeem(sent: Scan): Promise<ScanOutcome> {
      const [outcome] = await running.redeemAll([sent]);
      if (outcome === undefined) throw new Error("no outcome came back");
      return outcome;
    },

    /** Leaves the database as a new one. */
    async forgetEverything(): Promise<void> {
      running.now = noon;
      lines.length = 0;
      running.asked = [];
      running.sold = async () => [];
      for (const table of tables) await db.run(sql`delete from ${identifier(table)}`);
    },

    async runJob(name: string): Promise<void> {
      const job = parts.jobs.find((candidate) => candidate.name === name);
      if (job === undefined) throw new Error(`there is no job ${name}`);
      await job.run(new AbortController().signal);
    },
  };
  return running;
}

/** A list of everything, unless told otherwise. */
export function listFields(changes: Partial<CheckinListFields> = {}): CheckinListFields {
  return {
    name: "Entrance",
    allProducts: true,
    limitProducts: [],
    includePending: false,
    allowMultipleEntries: false,
    allowEntryAfterExit: true,
    rules: "{}",
    addonMatch: false,
    ignoreInStatistics: false,
    considerTicketsUsed: true,
    ...changes,
  };
}

/** A scan of a code by an up-to-date device. */
export function scan(list: number, lookup: string, changes: Partial<Scan> = {}): Scan {
  return {
    ...place,
    list,
    lookup,
    untrustedInput: true,
    type: ScanType.ENTRY,
    force: false,
    ignoreUnpaid: false,
    canceledSupported: true,
    questionsSupported: true,
    answers: [],
    sourceType: "barcode",
    ...changes,
  };
}

/** An outcome in one word: the reason where it is a refusal. */
export function inWord({ outcome }: ScanOutcome): string {
  return outcome?.$case === "refused" ? outcome.value.reason : (outcome?.$case ?? "nothing");
}
