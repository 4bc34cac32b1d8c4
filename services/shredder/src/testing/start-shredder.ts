import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/disk";
import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { implement } from "@tessera/kit/rpc";
import {
  ErasureState,
  type ExportFile,
  ExportShape,
  type FindErasureResponse,
  type ReadPersonalDataResponse,
} from "@tessera/protos/gen/platform/v1/personal_data";
import type { CloseEventRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/shredding";
import { Facts, PersonalData, Shredders, Shredding } from "@tessera/protos/services";
import { finishWork } from "@tessera/testkit/finish-work";
import { startForTest } from "@tessera/testkit/start-for-test";
import { shredder } from "../index.ts";

export const place = { organizer: "bigevents", event: "sampleconf" } as const;
export const mine = { ...place, credential: "mine" } as const;

/** What a service that holds personal data answers. */
interface FakeHolder {
  version: string;
  files: ExportFile[];
  /** The pages of each file. */
  pages: Map<string, ReadPersonalDataResponse[]>;
  /** Happens while a page is read. */
  reading: (() => Promise<void>) | undefined;
  /** Undefined: it does not answer. */
  erasure: FindErasureResponse | undefined;
}

const done = (): FindErasureResponse => ({
  state: ErasureState.DONE,
  parts: [{ kind: "order_emails", holding: "order.data", count: 2 }],
  left: [],
});

const names = ["boxoffice", "checkin", "voucher", "layout-and-render", "gateway"] as const;

export type RunningShredder = Awaited<ReturnType<typeof startShredder>>;

/** Starts the service on a database. Its peers are fakes that do what a test says. */
export async function startShredder(db: Db) {
  const directory = await mkdtemp(join(tmpdir(), "tessera-shredder-"));
  const files = diskFiles({ directory });
  const holder = (): FakeHolder => ({ version: "1", files: [], pages: new Map(), reading: undefined, erasure: done() });
  const peers = {
    holders: Object.fromEntries(names.map((name) => [name, holder()])) as Record<(typeof names)[number], FakeHolder>,
    problem: undefined as string | undefined,
    /** Why the event is not closed. */
    closing: undefined as string | undefined,
    closed: [] as CloseEventRequest[],
    isCaughtUp: true,
  };
  const isRequested = async (id: string) =>
    (await db.maybeOne(sql`
      select from shred_case where shred_case.id = ${id}::uuid and shred_case.requested_at is not null`)) !== undefined;
  const personalData = (name: (typeof names)[number]) =>
    implement(PersonalData, {
      describeEvent: async () => ({ version: peers.holders[name].version, files: peers.holders[name].files }),
      async readPersonalData({ file, after }) {
        await peers.holders[name].reading?.();
        const page = peers.holders[name].pages.get(file)?.[Number(after)];
        if (page === undefined) throw new Fault("unavailable", "database_unavailable", "there is no such page");
        return page;
      },
      async findErasure({ withLeft, case: id }) {
        const { erasure } = peers.holders[name];
        // Until a request is out, boxoffice knows the case only if it has closed the event for it.
        if (name === "boxoffice" && !(await isRequested(id)) && !peers.closed.some((each) => each.case === id))
          return { state: ErasureState.UNKNOWN, parts: [], left: [] };
        if (erasure !== undefined && !withLeft) return { ...erasure, left: [] };
        if (erasure === undefined) throw new Fault("unavailable", "peer_unavailable", "it is down");
        return erasure;
      },
    });
  const shredding = implement(Shredding, {
    findReadiness: async () => ({ problem: peers.problem }),
    async closeEvent(request) {
      peers.closed.push(request);
      return { problem: peers.closing };
    },
  });
  const facts = implement(Facts, {
    markFacts: async () => ({ marker: randomUUID(), partitions: [] }),
    caughtUp: async () => ({ caughtUp: peers.isCaughtUp }),
  });
  const service = await startForTest(shredder, {
    db,
    files,
    peers: {
      boxoffice: [personalData("boxoffice"), shredding, facts],
      checkin: [personalData("checkin"), facts],
      voucher: [personalData("voucher")],
      "layout-and-render": [personalData("layout-and-render")],
      gateway: [personalData("gateway")],
    },
  });
  const shredders = service.connect(Shredders);
  const work = () => finishWork(db, service.workers);
  return {
    ...service,
    files,
    peers,
    shredding: { closeEvent: async (request: CloseEventRequest) => void peers.closed.push(request) },
    shredders,
    work,
    close: () => rm(directory, { recursive: true, force: true }),
    /** Makes an export. */
    async export(
      kinds: readonly string[] = ["order_emails"],
    ): Promise<{ readonly export: string; readonly file: string }> {
      const started = await shredders.startExport({
        ...mine,
        shredders: [...kinds],
        instance: "https://tickets.example",
      });
      await work();
      return started;
    },
    async reset(): Promise<void> {
      await service.reset();
      for (const name of names) Object.assign(peers.holders[name], holder());
      Object.assign(peers, { problem: undefined, closing: undefined, closed: [], isCaughtUp: true });
    },
  };
}

/** The pages of a file of an export, each with the entries of one key and value. */
export function pagesOf(entries: Readonly<Record<string, unknown>>): ReadPersonalDataResponse[] {
  const all = Object.entries(entries);
  return all.map(([key, value], index) => ({
    entries: [{ key, json: Buffer.from(JSON.stringify(value)), fileKey: "" }],
    next: index + 1 < all.length ? String(index + 1) : "",
  }));
}

export const emails: ExportFile = { kind: "order_emails", name: "emails-by-order.json", shape: ExportShape.OBJECT };
