import { type Consumer, consume } from "@tessera/kit/bus/consume";
import { deleteDeadLettersOf, payloads } from "@tessera/kit/bus/dead-letter";
import type { Apply } from "@tessera/kit/bus/fact";
import { defineWork, enqueueWork, json, nothing, untilDone } from "@tessera/kit/jobs/work";
import { type Worker, WorkFailed, workOn } from "@tessera/kit/jobs/work-on";
import { askIfUnderWay } from "@tessera/kit/jobs/work-reads";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { waitForEarlierTransactions } from "@tessera/kit/pg/earlier-transactions";
import type { Queryable } from "@tessera/kit/pg/queryable";
import type { Sql } from "@tessera/kit/pg/sql";
import { type Call, rpcs } from "@tessera/kit/rpc";
import type {
  CloseEventRequest,
  CloseEventResponse,
  DescribeEventRequest,
  DescribeEventResponse,
  ExportEntry,
  ExportFile,
  ReadPersonalDataRequest,
  ReadPersonalDataResponse,
  ReopenEventRequest,
  ReopenEventResponse,
} from "@tessera/protos/gen/platform/v1/personal_data";
import {
  ErasureState,
  type FindErasureRequest,
  type FindErasureResponse,
  PersonalDataServiceService as PersonalData,
} from "@tessera/protos/gen/platform/v1/personal_data";
import type { Topic } from "@tessera/protos/topic";
import type { EventKey } from "../entity-key.ts";
import { fault } from "../faults.ts";
import { keysOf } from "./erased-kinds.ts";
import * as erasures from "./erasures.ts";

/** A request to erase, as its topic carries it. */
interface ErasureRequest extends erasures.Case {
  readonly kinds: readonly string[];
  /** It is repeated for services that have something left, or have lost it. */
  readonly again: boolean;
  /** The ledger repeats it for databases that were restored. */
  readonly fromLedger: boolean;
  /** When it was requested for the first time, in microseconds since 1970, if the ledger says so. */
  readonly requestedAt?: number | undefined;
}

/** A column, a table or files of a service with personal data of one kind. */
export type Holding = {
  /** The identifier of a shredder. */
  readonly kind: string;
  /**
   * For instance `order.data`, or `order` for all of its columns; comments on them declare the same kind. One that ends
   * with `/` is a folder in the store for files.
   */
  readonly name: string;
  /** What is stored after the end of an erasure is new: it is counted before the end alone. */
  readonly isRenewable?: boolean;
} & (
  | {
      /** Counts the rows of an event that still have some. */
      readonly left: (db: Queryable, place: EventKey) => Promise<number>;
    }
  | {
      /** Counts them for all kinds that the same rows have, because reading them is what takes long. */
      readonly leftOfAll: CountAll;
    }
);

export type CountAll = (
  db: Queryable,
  place: EventKey,
  kinds: ReadonlySet<string>,
) => Promise<ReadonlyMap<string, number>>;

/** An erasure under way. */
export interface Erasing extends erasures.Case {
  readonly kinds: ReadonlySet<string>;
  readonly signal: AbortSignal;
  /** Erases something in a transaction of its own, which also adds the calls of `count` to the counts of the case. */
  slice<T>(act: (tx: Tx, count: Count) => Promise<T>): Promise<T>;
}

export type Count = (kind: string, holding: string, count: number) => void;

export interface ExportPage {
  readonly entries: readonly Partial<ExportEntry>[];
  /** Where the next page begins; empty: this page is the last. */
  readonly next: string;
}

export interface ExportedFile extends ExportFile {
  read(db: Queryable, place: EventKey, after: string): Promise<ExportPage>;
}

/** The personal data that a service stores, and how it is erased. */
export interface Holder<D> {
  readonly requests: Topic<ErasureRequest>;
  /** All topics: dead letters of those that carry a kind go with it. */
  readonly topics: readonly Pick<Topic<unknown>, "name" | "personalData">[];
  readonly holdings: readonly Holding[];
  readonly files?: readonly ExportedFile[];
  /** Selects a text, `version`, that is another one after each change of the event here. */
  readonly version: (place: EventKey) => Sql;
  /** Begins a case under a lock of the event, where there is one. */
  readonly close?: (request: CloseEventRequest, tools: HolderTools, call: Call) => Promise<CloseEventResponse>;
  /** Erases what the kinds of the case have here. It is repeated after a crash, from the beginning. */
  erase(job: Erasing, deps: D): Promise<void>;
}

export interface HolderTools {
  readonly db: Db;
}

type ErasureWork = Omit<ErasureRequest, "again" | "fromLedger" | "requestedAt">;

const erasing = defineWork<ErasureWork, void>("erase personal data", {
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
 * and report the progress of an erasure.
 *
 * A request is noted in the transaction that accepts its fact, and its work goes on after a crash of the service.
 */
export function holdPersonalData<D>(holder: Holder<D>) {
  const { requests, holdings, files = [], version, close = compareAndNote } = holder;

  const note: Apply<ErasureRequest> = async (tx, facts) => {
    for (const { value } of facts) {
      if (value === null) continue;
      const { organizer, event, case: id, kinds } = value;
      const round = await takeOn(tx, value);
      // Every service knows a case before it is requested: this one went with its event, and another event may have its name.
      if (round === undefined) continue;
      const name = [organizer, event, id, ...(round === 0 ? [] : [round])].join("/");
      await enqueueWork(tx, erasing, [{ id: name, owner: organizer, payload: { organizer, event, case: id, kinds } }]);
    }
  };

  /** How often the erasure was begun again; undefined: there is nothing to do. */
  async function takeOn(tx: Tx, request: ErasureRequest): Promise<number | undefined> {
    if (request.fromLedger) return erasures.takeOnAgain(tx, request);
    const found = request.again ? await erasures.findErasure(tx, request) : undefined;
    if (!found?.isDone) return erasures.takeOn(tx, request);
    const left = await findLeft(tx, request, countedIn(found.kinds));
    return left.length === 0 ? undefined : erasures.takeOnAgain(tx, request);
  }

  /** Holdings that are counted after an erasure. */
  function countedIn(kinds: readonly string[]): Holding[] {
    return holdings.filter(({ kind, isRenewable = false }) => kinds.includes(kind) && !isRenewable);
  }

  // A service that was away does not show what the others have erased meanwhile.
  const consumer = consume(requests, note, {
    servesAfter: (db) => {
      const isUnderWay = askIfUnderWay(db, erasing);
      return async () => !(await isUnderWay());
    },
  });

  const work = workOn(erasing, async ({ payload, signal, step }, deps: D) => {
    const kinds = new Set(payload.kinds);
    const slice: Erasing["slice"] = (act) =>
      step(async (tx) => {
        // The event was deleted, and another one may have its name.
        if (!(await erasures.holdCase(tx, payload))) throw new WorkFailed("The event was deleted.");
        const parts: erasures.ErasedPart[] = [];
        const done = await act(tx, (kind, holding, count) => parts.push({ kind, holding, count }));
        await erasures.addParts(tx, payload, parts);
        return done;
      });
    // Transactions that have not seen the request yet may still store data of its kinds.
    await waitForEarlierTransactions(step, signal);
    const { organizer, event, case: id } = payload;
    await holder.erase({ organizer, event, case: id, kinds, signal, slice }, deps);
    await slice(async (tx, count) => {
      for (const kind of kinds) {
        const carrying = holder.topics.filter(({ personalData }) => Object.hasOwn(personalData, kind));
        const names = carrying.map(({ name }) => name);
        count(kind, payloads, await deleteDeadLettersOf(tx, keysOf(payload), names));
      }
    });
    return async (tx) => {
      const left = await findLeft(
        tx,
        payload,
        holdings.filter(({ isRenewable, kind }) => isRenewable && kinds.has(kind)),
      );
      if (left.length > 0) throw fault("erasure_incomplete", "something was stored while it was erased");
      await erasures.noteDone(tx, payload);
    };
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
    if (found === undefined) return { state: ErasureState.UNKNOWN, parts: [], left: [], kept: [] };
    if (!found.isTakenOn) return { state: ErasureState.CLOSED, parts: [], left: [], kept: [] };
    const parts = await erasures.readParts(db, request);
    if (!found.isDone) return { state: ErasureState.RUNNING, parts, left: [], kept: [] };
    const left = request.withLeft ? await findLeft(db, request, countedIn(found.kinds)) : [];
    const kept = request.withLeft ? await erasures.readKept(db) : [];
    return { state: ErasureState.DONE, parts, left, kept };
  }

  /**
   * Begins the case, waits until nothing is under way that does not know it, and compares. What a service does not refuse from
   * the beginning on is stored, and erased with the rest once the case is requested.
   */
  async function compareAndNote(
    request: CloseEventRequest,
    { db }: HolderTools,
    { signal }: Call,
  ): Promise<CloseEventResponse> {
    const { organizer, event } = request;
    const isRequested = async (tx: Queryable) => (await erasures.findErasure(tx, request))?.isTakenOn === true;
    const ended = await db.transaction(async (tx): Promise<CloseEventResponse | undefined> => {
      if (await isRequested(tx)) return { problem: undefined };
      if (!(await erasures.isFirstCase(tx, request))) return { problem: anotherUnderWay };
      return (await erasures.noteCase(tx, request)) ? undefined : { problem: takenBack };
    });
    if (ended !== undefined) return ended;
    await waitForEarlierTransactions((question) => db.transaction(question), signal);
    // The caller may have given up long ago, and have had the event closed by another replica.
    signal.throwIfAborted();
    return db.transaction(async (tx) => {
      if (await isRequested(tx)) return { problem: undefined };
      // A case is a change itself, but not for its own comparison. Others see it all the time.
      await erasures.forgetCase(tx, request);
      const found = await tx.one<{ version: string }>(version({ organizer, event }));
      if (found.version !== request.version) return { problem: changedSince };
      return { problem: (await erasures.noteCase(tx, request)) ? undefined : takenBack };
    });
  }

  async function reopenEvent(request: ReopenEventRequest, { db }: HolderTools): Promise<ReopenEventResponse> {
    await erasures.takeBack(db, request);
    return {};
  }

  return {
    holdings,
    consumer,
    work,
    rpcs: rpcs(PersonalData, { describeEvent, readPersonalData, closeEvent: close, reopenEvent, findErasure }),
  } satisfies {
    holdings: readonly Holding[];
    consumer: Consumer<unknown>;
    work: (deps: D) => Worker;
    rpcs: unknown;
  };
}

async function findLeft(db: Queryable, place: EventKey, holdings: readonly Holding[]): Promise<erasures.ErasedPart[]> {
  const kinds = new Set(holdings.map(({ kind }) => kind));
  const counted = new Map<CountAll, Awaited<ReturnType<CountAll>>>();
  const countAll = async (count: CountAll) => {
    const counts = counted.get(count) ?? (await count(db, place, kinds));
    counted.set(count, counts);
    return counts;
  };
  const countInTurn = async (some: readonly Holding[]) => {
    const left: erasures.ErasedPart[] = [];
    for (const holding of some) {
      const { kind, name } = holding;
      const count = "left" in holding ? await holding.left(db, place) : (await countAll(holding.leftOfAll)).get(kind);
      if (count !== undefined && count > 0) left.push({ kind, holding: name, count });
    }
    return left;
  };
  // The database counts these while this process counts the others, over two connections at most.
  const byDatabase = holdings.filter((holding) => "left" in holding);
  const here = holdings.filter((holding) => !("left" in holding));
  return (await Promise.all([countInTurn(byDatabase), countInTurn(here)])).flat();
}

/** Why an event is not closed, for people. */
export const changedSince = "The event has changed since it was exported. Export it again.";
const anotherUnderWay = "Another erasure of the event is under way. Try again when it has ended.";
export const takenBack = "This erasure was refused before. Export the event again.";

const none = new Uint8Array();
