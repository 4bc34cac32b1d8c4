import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { implement } from "@tessera/kit/rpc";
import {
  type CloseEventRequest,
  ErasureState,
  type ExportFile,
  ExportShape,
  type FindErasureResponse,
  type ReadPersonalDataResponse,
} from "@tessera/protos/gen/platform/v1/personal_data";
import { Facts, PersonalData, Retention, Shredders, Shredding } from "@tessera/protos/services";
import { finishWork } from "@tessera/testkit/finish-work";
import { startForTest } from "@tessera/testkit/start-for-test";
import { shredder } from "../index.ts";

export const place = { organizer: "bigevents", event: "sampleconf" } as const;
export const mine = { ...place, credential: "mine", requestedBy: "api_key:7" } as const;

/** What a service that holds personal data answers. */
interface FakeHolder {
  version: string;
  files: ExportFile[];
  /** The pages of each file. */
  pages: Map<string, ReadPersonalDataResponse[]>;
  /** Happens while a page is read. */
  reading: (() => Promise<void>) | undefined;
  /** Undefined: it does not answer. */
  erasure: Omit<FindErasureResponse, "kept"> | undefined;
}

/** An event as boxoffice knows it. */
export interface FakeEvent {
  readonly organizer?: string;
  readonly event: string;
  /** Its end, in microseconds since 1970; undefined: it has none. */
  readonly at: number | undefined;
  readonly problem?: string;
}

const done = (): Omit<FindErasureResponse, "kept"> => ({
  state: ErasureState.DONE,
  parts: [{ kind: "order_emails", holding: "order.data", count: 2 }],
  left: [],
});

const ownerOf = ({ organizer = place.organizer }: FakeEvent) => organizer;

const endOf = ({ at }: FakeEvent) => (at === undefined ? undefined : { at, timeZone: "UTC" });

/** Few, so that tests have several pages. */
const eventsPerPage = 2;

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
    /** When the organizer of any name was created; undefined: there is none. */
    organizerCreatedAt: 1_600_000_000_000_001 as number | undefined,
    /** What boxoffice lists; others have no end. */
    events: [] as FakeEvent[],
    /** Happens while a page of them is read. */
    listing: undefined as (() => Promise<void>) | undefined,
    /** Happens while one of them is asked for. */
    asking: undefined as (() => Promise<void>) | undefined,
    /** Why a service does not close the event. */
    closing: new Map<string, string>(),
    /** A service that cannot close an event now. */
    refusing: undefined as string | undefined,
    closed: [] as (CloseEventRequest & { readonly service: string })[],
    /** The cases that were taken back, by service. */
    reopened: [] as { readonly service: string; readonly case: string }[],
    /** Happens when copies are waited for. */
    settling: undefined as (() => void | Promise<void>) | undefined,
    isCaughtUp: true,
  };
  const isRequested = async (id: string) =>
    (await db.maybeOne(sql`
      select from shred_case where shred_case.id = ${id}::uuid and shred_case.requested_at is not null`)) !== undefined;
  const closedHere = (name: (typeof names)[number]) => {
    const reopened = peers.reopened.filter(({ service }) => service === name).map((each) => each.case);
    const open = peers.closed.filter(({ service, case: id }) => service === name && !reopened.includes(id));
    return [...new Map(open.map((each) => [each.case, each])).values()];
  };
  const personalData = (name: (typeof names)[number]) =>
    implement(PersonalData, {
      // A case is a change itself.
      describeEvent: async ({ organizer, event }) => ({
        version:
          peers.holders[name].version +
          "+".repeat(closedHere(name).filter((each) => each.organizer === organizer && each.event === event).length),
        files: peers.holders[name].files,
      }),
      async readPersonalData({ file, after }) {
        await peers.holders[name].reading?.();
        const page = peers.holders[name].pages.get(file)?.[Number(after)];
        if (page === undefined) throw new Fault("unavailable", "database_unavailable", "there is no such page");
        return page;
      },
      async closeEvent(request) {
        if (peers.refusing === name) throw new Fault("unavailable", "peer_unavailable", "it is down");
        peers.closed.push({ ...request, service: name });
        return { problem: peers.closing.get(name) };
      },
      async reopenEvent({ case: id }) {
        if (peers.holders[name].erasure === undefined) throw new Fault("unavailable", "peer_unavailable", "it is down");
        peers.reopened.push({ service: name, case: id });
        return {};
      },
      async findErasure({ withLeft, case: id }) {
        const { erasure } = peers.holders[name];
        // Until a request is out, a service knows the case only if it has closed the event for it.
        if (!(await isRequested(id))) {
          const isClosed = closedHere(name).some((each) => each.case === id);
          return { state: isClosed ? ErasureState.CLOSED : ErasureState.UNKNOWN, parts: [], left: [], kept: [] };
        }
        if (erasure !== undefined && !withLeft) return { ...erasure, left: [], kept: [] };
        if (erasure === undefined) throw new Fault("unavailable", "peer_unavailable", "it is down");
        return { ...erasure, kept: [{ holding: `note.${name}`, reason: "what the organizer noted" }] };
      },
    });
  const shredding = implement(Shredding, {
    async findReadiness({ organizer, event }) {
      if (peers.events.length === 0) return { problem: peers.problem };
      await peers.asking?.();
      const found = peers.events.find((each) => each.event === event && ownerOf(each) === organizer);
      if (found === undefined) throw new Fault("not_found", "no_such_event", "there is no such event");
      return { problem: found.problem, ending: endOf(found) };
    },
    async findOrganizer() {
      const { organizerCreatedAt: createdAt } = peers;
      if (createdAt === undefined) throw new Fault("not_found", "organizer_not_found", "there is no such organizer");
      return { createdAt };
    },
    async listEnding({ organizer, before, after }) {
      const page = peers.events
        .filter((each) => ownerOf(each) === organizer && each.event > after)
        .sort((one, other) => (one.event < other.event ? -1 : 1))
        .slice(0, eventsPerPage);
      await peers.listing?.();
      return {
        events: page
          .filter(({ at }) => at !== undefined && at < before)
          .map((each) => ({ event: each.event, problem: each.problem, ending: endOf(each) })),
        next: page.length < eventsPerPage ? "" : (page.at(-1)?.event ?? ""),
      };
    },
  });
  const facts = implement(Facts, {
    markFacts: async () => {
      await peers.settling?.();
      return { marker: randomUUID(), partitions: [] };
    },
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
    shredders,
    retention: service.connect(Retention),
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
      peers.closing.clear();
      Object.assign(peers, {
        problem: undefined,
        refusing: undefined,
        closed: [],
        reopened: [],
        settling: undefined,
        isCaughtUp: true,
        organizerCreatedAt: 1_600_000_000_000_001,
        events: [],
        listing: undefined,
        asking: undefined,
      });
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
