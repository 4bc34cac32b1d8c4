import type {
  DescribeEventRequest,
  DescribeEventResponse,
  ExportEntry,
  ExportFile,
  ReadPersonalDataRequest,
  ReadPersonalDataResponse,
} from "@tessera/protos/gen/platform/v1/personal_data";
import {
  ErasureState,
  type FindErasureRequest,
  type FindErasureResponse,
  PersonalDataServiceService as PersonalData,
} from "@tessera/protos/gen/platform/v1/personal_data";
import type { Topic } from "@tessera/protos/topic";
import { type Consumer, consume } from "../bus/consume.ts";
import { fault } from "../faults.ts";
import { defineWork, enqueueWork, json, nothing, untilDone } from "../jobs/work.ts";
import { type Worker, workOn } from "../jobs/workers.ts";
import type { Db, Tx } from "../pg/database.ts";
import { waitForEarlierTransactions } from "../pg/earlier-transactions.ts";
import type { EventKey } from "../pg/entity-key.ts";
import type { Queryable } from "../pg/queryable.ts";
import type { Sql } from "../pg/sql.ts";
import { rpcs } from "../rpc.ts";
import * as erasures from "./erasures.ts";

/** A request to erase, as its topic carries it. */
interface ErasureRequest extends erasures.Case {
  readonly kinds: readonly string[];
}

/** A column, a table or files of a service with personal data of one kind. */
export interface Holding {
  /** The identifier of a shredder. */
  readonly kind: string;
  /**
   * For instance `order.data`, or `order` for all of its columns; comments on them declare the same kind. One that ends
   * with `/` is a folder in the store for files.
   */
  readonly name: string;
  /** Counts the rows of an event that still have some. */
  readonly left: (db: Queryable, place: EventKey) => Promise<number>;
}

/** An erasure under way. */
export interface Erasing extends erasures.Case {
  readonly kinds: ReadonlySet<string>;
  readonly signal: AbortSignal;
  /** Erases something in a transaction of its own, which also adds what `count` was told to the counts of the case. */
  slice<T>(act: (tx: Tx, count: Count) => Promise<T>): Promise<T>;
}

/** Adds to the counts of a case. */
export type Count = (kind: string, holding: string, count: number) => void;

/** A page of a file of an export. */
export interface ExportPage {
  readonly entries: readonly Partial<ExportEntry>[];
  /** Where the next page begins; empty: this page is the last. */
  readonly next: string;
}

/** A file of an export, and how its pages are read. */
export interface ExportedFile extends ExportFile {
  read(db: Queryable, place: EventKey, after: string): Promise<ExportPage>;
}

/** What a service holds of people, and how it goes. */
export interface Holder<D> {
  readonly requests: Topic<ErasureRequest>;
  /** All topics: dead letters of those that carry a kind go with it. */
  readonly topics: readonly Pick<Topic<unknown>, "name" | "personalData">[];
  readonly holdings: readonly Holding[];
  readonly files?: readonly ExportedFile[];
  /** Selects a text, `version`, that is another one after each change of the event here. */
  readonly version: (place: EventKey) => Sql;
  /** Erases what the kinds of the case have here. It is repeated after a crash, from the beginning. */
  erase(job: Erasing, deps: D): Promise<void>;
}

export interface HolderTools {
  readonly db: Db;
}

const erasing = defineWork<ErasureRequest, void>("erase personal data", {
  payload: json(),
  result: nothing,
  leaseMs: 60_000,
  tries: untilDone,
  keepMs: 86_400_000,
  atOnce: 3,
  atOnceEach: 1,
});

/**
 * Makes of a holder what its service needs: a consumer that notes requests, a worker that erases, and the RPCs that export
 * and tell how far an erasure is.
 *
 * A request is noted in the transaction that accepts its fact, and its work goes on after a crash of the service.
 */
export function holdPersonalData<D>(holder: Holder<D>) {
  const { requests, holdings, files = [], version } = holder;

  const consumer: Consumer<unknown> = consume(requests, async (tx, facts) => {
    for (const { value } of facts) {
      if (value === null) continue;
      const { organizer, event, case: id, kinds } = value;
      await erasures.noteRequest(tx, value);
      await enqueueWork(tx, erasing, [
        { id: [organizer, event, id].join("/"), owner: organizer, payload: { organizer, event, case: id, kinds } },
      ]);
    }
  });

  const work = workOn(erasing, async ({ payload, signal, step }, deps: D) => {
    const kinds = new Set(payload.kinds);
    const slice: Erasing["slice"] = (act) =>
      step(async (tx) => {
        const parts: erasures.ErasedPart[] = [];
        const done = await act(tx, (kind, holding, count) => parts.push({ kind, holding, count }));
        await erasures.addParts(tx, payload, parts);
        return done;
      });
    // Those that have not seen the request yet may still store what it erases.
    await waitForEarlierTransactions(step, signal);
    const { organizer, event, case: id } = payload;
    await holder.erase({ organizer, event, case: id, kinds, signal, slice }, deps);
    await slice(async (tx, count) => {
      for (const kind of kinds) {
        const carrying = holder.topics.filter(({ personalData }) => Object.hasOwn(personalData, kind));
        const names = carrying.map(({ name }) => name);
        count(kind, "dead_letter.payload", await erasures.deleteDeadLetters(tx, payload, names));
      }
    });
    return async (tx) => erasures.noteDone(tx, payload);
  });

  async function describeEvent(
    { organizer, event }: DescribeEventRequest,
    { db }: HolderTools,
  ): Promise<DescribeEventResponse> {
    const found = await db.one<{ version: string }>(version({ organizer, event }));
    return { version: found.version, files: files.map(({ kind, name, shape }) => ({ kind, name, shape })) };
  }

  async function readPersonalData(
    { organizer, event, file: name, after }: ReadPersonalDataRequest,
    { db }: HolderTools,
  ): Promise<ReadPersonalDataResponse> {
    const file = files.find((each) => each.name === name);
    if (file === undefined) throw fault("unknown_export", `there is no file ${name} here`);
    const { entries, next } = await file.read(db, { organizer, event }, after);
    return {
      entries: entries.map(({ key = "", json: content = none, fileKey = "" }) => ({ key, json: content, fileKey })),
      next,
    };
  }

  async function findErasure(request: FindErasureRequest, { db }: HolderTools): Promise<FindErasureResponse> {
    const found = await erasures.findErasure(db, request);
    if (found === undefined) return { state: ErasureState.UNKNOWN, parts: [], left: [] };
    const parts = await erasures.readParts(db, request);
    if (!found.isDone) return { state: ErasureState.RUNNING, parts, left: [] };
    const left = request.withLeft ? await findLeft(db, request, new Set(found.kinds)) : [];
    return { state: ErasureState.DONE, parts, left };
  }

  async function findLeft(db: Db, place: EventKey, kinds: ReadonlySet<string>): Promise<erasures.ErasedPart[]> {
    const left: erasures.ErasedPart[] = [];
    for (const { kind, name, left: countLeft } of holdings) {
      if (!kinds.has(kind)) continue;
      const count = await countLeft(db, place);
      if (count > 0) left.push({ kind, holding: name, count });
    }
    return left;
  }

  return {
    holdings,
    consumer,
    work,
    rpcs: rpcs(PersonalData, { describeEvent, readPersonalData, findErasure }),
  } satisfies {
    holdings: readonly Holding[];
    consumer: Consumer<unknown>;
    work: (deps: D) => Worker;
    rpcs: unknown;
  };
}

const none = new Uint8Array();
