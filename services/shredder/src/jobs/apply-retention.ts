import { Fault } from "@tessera/kit/fault";
import type { Job } from "@tessera/kit/jobs/interval";
import { findWork } from "@tessera/kit/jobs/work";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import type { Shredding } from "@tessera/protos/services";
import { findOwnRetention } from "../cases/find-own-retention.ts";
import { openExport, openShred } from "../cases/open-case.ts";
import { exporting, isUnderWay, shredding, workId } from "../cases/work.ts";
import { announce, endsBefore, retentionCredential } from "../domain/retention.ts";
import type { ShredEvents } from "../report-events.ts";
import type { AnnouncedErasure } from "../store/announcements.ts";
import * as announcements from "../store/announcements.ts";
import { readCase } from "../store/cases.ts";
import { findExport } from "../store/exports.ts";
import { nextRound, putOffRound, type Round, turnPage } from "../store/retention-rows.ts";

export interface RetentionTools {
  readonly db: Db;
  readonly shredding: Client<Shredding>;
  readonly events: ShredEvents;
}

const everyMs = 2000;

/** After so long the events of an organizer are read again. */
const roundMinutes = 60;

/** After so long a page that could not be read is read again. */
const unreadMinutes = 5;

/** Pages that one run reads, and erasures that it tries to begin. */
const mostPages = 20;
const mostTried = 20;

/** Erasures at a time, each of another organizer: many that are due leave room to what people have asked for. One that lasts for an hour does not count. */
const mostBegun = 2;

/**
 * Announces the erasures of retention, and does what a person would have done when they are due: exports the event, and
 * erases what was exported.
 *
 * | an erasure is | until | then |
 * |---|---|---|
 * | announced | it is due | due |
 * | due | it has a turn, and boxoffice says that it still is | exporting; blocked, where the event is not ready |
 * | blocked | boxoffice says otherwise; it is asked every hour | exporting |
 * | exporting | the export is made, and boxoffice says that it is still due | erasing; due, where the export has failed |
 * | erasing | the case ends | gone, also where the event is deleted; due, where the case has failed |
 *
 * Each step is one transaction, so this may be killed anywhere, and any number of replicas may run it.
 */
export function applyRetention(tools: RetentionTools): Job {
  return {
    name: "apply-retention",
    everyMs,
    async run(signal) {
      const attempt = async (erasure: AnnouncedErasure, step: (each: AnnouncedErasure) => Promise<void>) => {
        try {
          await step(erasure);
        } catch (error) {
          // One that fails does not keep the others waiting.
          const { organizer, event } = erasure;
          tools.events.retentionFailed({ organizer, event }, error);
          await announcements.putOff(tools.db, erasure);
        }
      };
      for (const begun of await announcements.findBegun(tools.db)) await attempt(begun, (each) => goOn(each, tools));
      for (let pages = 0; pages < mostPages && !signal.aborted; pages += 1) {
        const round = await nextRound(tools.db);
        if (round === undefined) break;
        try {
          await announcePage(round, tools);
        } catch (error) {
          // It would be the first of every run.
          tools.events.retentionFailed({ organizer: round.organizer }, error);
          await putOffRound(tools.db, round, { minutes: unreadMinutes });
        }
      }
      for (let tried = 0; tried < mostTried && !signal.aborted; tried += 1) {
        const due = await announcements.findDue(tools.db);
        if (due === undefined || (await announcements.countBusy(tools.db)) >= mostBegun) break;
        await attempt(due, (each) => begin(each, tools));
      }
    },
  };
}

/** Announces what is to be erased of a page of events, and takes back what is not. */
async function announcePage(round: Round, tools: RetentionTools): Promise<void> {
  const { db, shredding } = tools;
  const { organizer, days, now, after } = round;
  const { events, next } = await shredding.listEnding({ organizer, before: endsBefore({ days, now }), after });
  if ((await findOwnRetention(organizer, tools)) === undefined) return;
  await db.transaction(async (tx) => {
    if (!(await turnPage(tx, round, { next, roundMinutes }))) return;
    const names = events.map(({ event }) => event);
    const known = await announcements.findKnown(tx, organizer, names);
    const rows = events.flatMap(({ event, ending, problem }) => {
      if (ending === undefined) return [];
      const found = announce({ endedAt: ending.at, timeZone: ending.timeZone }, { days, now, known: known.get(event) });
      // Before its end it is not ready anyway.
      return found === undefined ? [] : [{ ...found, event, problem: ending.at > now ? null : (problem ?? null) }];
    });
    const erased = await announcements.findErased(tx, round, rows);
    await announcements.storePage(tx, round, { next, rows: rows.filter(({ event }) => !erased.has(event)) });
  });
}

/** Begins an erasure that is due: exports the event. */
async function begin(erasure: AnnouncedErasure, tools: RetentionTools): Promise<void> {
  if (!(await isDue(erasure, tools))) return;
  const { organizer, event, kinds, instance } = erasure;
  const opened = await tools.db.transaction(async (tx) => {
    if (!(await announcements.mayBegin(tx, erasure, { most: mostBegun }))) return undefined;
    if (!(await announcements.lock(tx, erasure))) return undefined;
    const { id } = await openExport(tx, { organizer, event, kinds, instance, credential: retentionCredential });
    await announcements.noteBegun(tx, erasure, { export: id, case: null });
    return id;
  });
  if (opened !== undefined) tools.events.exportAsked(erasure, opened, kinds);
}

/** Goes on with an erasure whose export, or case, has ended. */
async function goOn(erasure: AnnouncedErasure, tools: RetentionTools): Promise<void> {
  const { organizer, event } = erasure;
  if (erasure.case !== null) {
    const begun = { organizer, event, id: erasure.case };
    // Before the case, which says how its work has ended.
    const work = await findWork(tools.db, shredding, workId(begun));
    const { erasedAt, failedAt, eventGoneAt } = await readCase(tools.db, begun);
    // The name of an event that is gone may be that of another one, which is announced by itself.
    if (erasedAt !== null || eventGoneAt !== null) await announcements.takeBack(tools.db, erasure);
    else if (failedAt !== null || !isUnderWay(work)) await announcements.putOff(tools.db, erasure);
    return;
  }
  const of = { organizer, event, id: erasure.export ?? "" };
  const work = await findWork(tools.db, exporting, workId(of));
  if (isUnderWay(work)) return;
  const exported = await findExport(tools.db, of);
  if (work?.state !== "succeeded" || exported === undefined || exported.fileKey === null) {
    await announcements.putOff(tools.db, erasure);
    return;
  }
  // After the export: what changes from now on ends the case.
  if (!(await isDue(erasure, tools))) return;
  const opened = await tools.db.transaction(async (tx) => {
    if (!(await announcements.lock(tx, erasure))) return undefined;
    const asked = { credential: retentionCredential, requestedBy: retentionCredential };
    const shred = await openShred(tx, exported, asked);
    if (shred === undefined) return undefined;
    await announcements.noteBegun(tx, erasure, { export: erasure.export, case: shred.id });
    return shred.id;
  });
  // Without its export it is put off by the next run.
  if (opened !== undefined) tools.events.shredAsked(erasure, opened, exported.kinds);
}

/** Asks boxoffice whether an erasure is due, as its event is now; if not, that is noted. */
async function isDue(erasure: AnnouncedErasure, tools: RetentionTools): Promise<boolean> {
  const { db, shredding } = tools;
  const { organizer, event, days, now } = erasure;
  const found = await shredding.findReadiness({ organizer, event }).catch(unlessGone);
  if ((await findOwnRetention(organizer, tools)) === undefined) return false;
  const ending = found?.ending;
  const announced =
    ending && announce({ endedAt: ending.at, timeZone: ending.timeZone }, { days, now, known: erasure });
  if (announced === undefined) await announcements.takeBack(db, erasure);
  else if (announced.dueAt > now) await announcements.announceAgain(db, erasure, announced);
  else if (found?.problem !== undefined) await announcements.block(db, erasure, found.problem);
  else return true;
  return false;
}

function unlessGone(error: unknown): undefined {
  if (error instanceof Fault && error.code === "no_such_event") return undefined;
  throw error;
}
