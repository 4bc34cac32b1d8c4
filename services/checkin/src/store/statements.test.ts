import type { Db, Tx } from "@tessera/kit/pg/database";
import { type Asked, writeStatements } from "@tessera/testkit/write-statements";
import { expect, it } from "vitest";
import type { CheckinList } from "../domain/list.ts";
import type { Search } from "../domain/search-text.ts";
import { noon, place } from "../testing/facts.ts";
import { findScansOfNonce, markAnnulled } from "./annulled-scans.ts";
import { findInside, findNextInside } from "./automatic-exits.ts";
import { isTicketCode } from "./brought-media.ts";
import { forgetChanges, markChanges, readChangesBetween, readMoment } from "./changes.ts";
import { readCheckins } from "./checkins-of-orders.ts";
import { countPositions } from "./count-positions.ts";
import { countBuckets, countEachList, countOnLists, movePresences } from "./counts.ts";
import { followTickets, type ReportedDay, tallyProducts, tallyScans } from "./day-reports.ts";
import { noteQueues } from "./device-queues.ts";
import { putDoubleNote } from "./double-notes.ts";
import { nextDoubtful, readScansOnLists } from "./doubtful-scans.ts";
import { moveExit } from "./due-lists.ts";
import { countWords } from "./erase-answers.ts";
import { findEvent } from "./events.ts";
import { findDeletions, openSpan, readExportedScans } from "./exported-scans.ts";
import { findFailedScan, lockPositionWithSecret } from "./failed-scans.ts";
import { countGateScans, findWatchedEvents } from "./gate-scans.ts";
import { putGivenAnswers } from "./given-answers.ts";
import { forgetEmptyEvent } from "./gone-events.ts";
import { readAddons, readRuled } from "./listed-positions.ts";
import { findSharedIds, pageLists, removeList } from "./lists.ts";
import { findOtherMeanings } from "./other-codes.ts";
import { everyPosition, type PositionFilter } from "./position-filter.ts";
import { findReached, idsBehind, pageIds, sortIds } from "./position-pages.ts";
import { lockPositions } from "./positions.ts";
import { lockTicketLists } from "./presences.ts";
import { readRuledScans, readSummedScans } from "./rule-facts.ts";
import { pageScans } from "./scan-history.ts";
import { readForScans } from "./scan-reads.ts";
import { searchPositions } from "./search-positions.ts";
import { storeScans } from "./store-scans.ts";
import { pageAlarms, raiseAlarms } from "./stored-alarms.ts";
import { findEventBehind, readPresencesOfFirst, readSyncedPresences } from "./synced-rows.ts";

const ticket = { ...place, id: 1 };
const list = { id: 7, allProducts: true, limitProducts: [], subevent: null } as object as CheckinList;
const narrow = { ...list, allProducts: false, limitProducts: [10], subevent: 3 };
const key = { ...place, list: 7 };
const onList = { position: 1, list: 7 };
const due = { ...list, ...ticket, exit: { at: noon, local: null }, timezone: "UTC" };
const scan = { ...key, id: 1, position: 1, type: "entry", at: noon, admission: null, refusal: null } as const;
const scans = [{ ...scan, fact: { key: "1", payload: null } }];
const read = { organizer: place.organizer, since: "7:7:", most: 100 };
const toNow = { ...read, events: undefined, until: undefined, after: undefined };
const untilThen = { ...read, events: [place.event], until: "9:9:", after: { changedIn: "8", id: 1 } };
const moment = [{ epoch: "", snapshot: "", isKept: true, event: null }];
const brought = { ...place, position: 1, type: "nfc_uid" };
const asked = { places: [key], nonce: "a", deviceId: null };
const named = { ...scan, deviceId: null, successful: true };
const note = { position: 1, list: 7, text: "a", by: "a" };
const refused = { nonce: "a", rawCode: "a" };
const lookup = { ...key, code: "a", ticketId: null, nonce: null };
const linked = { by: "medium", ids: [1] } as const;
const bucket = { subevent: null, item: 10, variation: null, countedAs: "paid" } as const;

const all: PositionFilter = { ...place, ...everyPosition, list, ignoreStatus: false, id: undefined };
const some = { ...all, list: narrow, items: [[10]], variations: [[20]], subevents: [[3]] };
const search: Search = { kind: "anywhere", codePrefix: "ada", patterns: ["%ada%"], indexed: ["%ada%"] };
const longCode = { ...search, codePrefix: "a".repeat(300) };
const always = { since: undefined, before: undefined };
const history = { ...place, created: always, scanned: always };
const day: ReportedDay = { ...place, since: noon, before: noon + 1_000_000, list: undefined, subevent: undefined };
const lists = { ...place, subevent: undefined, subeventMatch: undefined, endsAfter: undefined };
const page = (...ordering: string[]) => ({ ordering, limit: 50, offset: 0 });
const cut = (...ordering: string[]) => ({ ...page(...ordering), count: 20_000 });

/** Counts of a list with many tickets that were never scanned, and with few. */
const many = { count: 9000, positions: 19_000, entered: 1000 };
const few = { count: 10, positions: 1010, entered: 1000 };
const texts = { ids: "", items: "", variations: "", subevents: "", counts: "", times: "", entries: "" };

const alarm = {
  kind: "gate_silent",
  gate: 1,
  device: null,
  list: null,
  since: noon,
  measured: null,
  usual: 12,
} as const;

const statements: Readonly<Record<string, readonly Asked<Db & Tx>[]>> = {
  "stored-alarms": [
    ["raiseAlarms", (db) => raiseAlarms(db, place, [alarm])],
    ["pageAlarms", (db) => pageAlarms(db, { ...place, open: true }, page())],
  ],
  "annulled-scans": [
    ["findScansOfNonce", (db) => findScansOfNonce(db, { ...asked, successful: true })],
    ["findScansOfNonce, refused ones", (db) => findScansOfNonce(db, { ...asked, successful: false })],
    ["markAnnulled", (tx) => markAnnulled(tx, named, null)],
  ],
  "automatic-exits": [
    ["findInside, after a ticket", (db) => findInside(db, due, { after: 0, limit: 100 })],
    ["findInside, some tickets", (db) => findInside(db, due, { positions: [1] })],
    ["findNextInside", (db) => findNextInside(db, due, { after: 0, limit: 100 })],
  ],
  "brought-media": [["isTicketCode", (db) => isTicketCode(db, { ...brought, identifier: "a" }), { found: true }]],
  changes: [
    ["readMoment", (db) => readMoment(db)],
    ["readChangesBetween", (db) => readChangesBetween(db, toNow), moment],
    ["readChangesBetween, of some events", (db) => readChangesBetween(db, untilThen), moment],
    ["markChanges", (db) => markChanges(db, { keptDays: 7 })],
    ["forgetChanges", (db) => forgetChanges(db)],
  ],
  "checkins-of-orders": [["readCheckins", (db) => readCheckins(db, place, [1])]],
  "count-positions": [
    ["countPositions", (db) => countPositions(db, all), few],
    ["countPositions, scanned", (db) => countPositions(db, { ...all, hasCheckin: true }), few],
    ["countPositions, in any state", (db) => countPositions(db, { ...all, ignoreStatus: true }), few],
    ["countPositions, usable", (db) => countPositions(db, { ...all, usableAt: noon }), few],
  ],
  counts: [
    ["movePresences", (db) => movePresences(db, [{ ...ticket, from: null, to: bucket }])],
    ["countEachList", (db) => countEachList(db, { ...place, most: 500 })],
    ["countOnLists", (db) => countOnLists(db, { ...place, lists: [7] })],
    ["countBuckets", (db) => countBuckets(db, { ...some, list: 7, countedAs: ["paid"] })],
  ],
  "double-notes": [["putDoubleNote", (tx) => putDoubleNote(tx, ticket, note)]],
  "doubtful-scans": [
    ["nextDoubtful", (db) => nextDoubtful(db, place, { after: undefined, limit: 1000 })],
    ["nextDoubtful, of a ticket on a list", (db) => nextDoubtful(db, place, { after: onList, limit: 1000, ...onList })],
    ["readScansOnLists", (db) => readScansOnLists(db, place, [onList])],
  ],
  "day-reports": [
    ["tallyScans", (db) => tallyScans(db, day)],
    ["tallyScans, on a list, of a date", (db) => tallyScans(db, { ...day, list: 7, subevent: 3 })],
    ["tallyProducts", (db) => tallyProducts(db, day)],
    ["followTickets", (db) => followTickets(db, day, { part: 0, parts: 1 }), { seconds: "", changes: "" }],
  ],
  "due-lists": [["moveExit", (db) => moveExit(db, due, due.exit)]],
  "erase-answers": [
    ["countWords, codes", (db) => countWords(db, place, "raw_code")],
    ["countWords, explanations", (db) => countWords(db, place, "explanation")],
  ],
  events: [["findEvent", (db) => findEvent(db, place)]],
  "exported-scans": [
    ["openSpan", (db) => openSpan(db, place)],
    ["readExportedScans", (db) => readExportedScans(db, history, { after: 0, until: 9, beganAt: noon })],
    ["findDeletions", (db) => findDeletions(db, { ...place, since: "7:7:" })],
  ],
  "failed-scans": [
    ["lockPositionWithSecret", (tx) => lockPositionWithSecret(tx, { ...place, code: "a" })],
    ["findFailedScan, of a ticket", (tx) => findFailedScan(tx, place, { ...refused, same: { position: 1 } })],
    ["findFailedScan, of a code", (tx) => findFailedScan(tx, place, { ...refused, same: { list: 7, rawCode: "a" } })],
  ],
  "device-queues": [
    ["noteQueues", (db) => noteQueues(db, [{ organizer: place.organizer, device: 1, queue: 12, events: null }])],
  ],
  "gate-scans": [
    ["countGateScans", (db) => countGateScans(db, { ...place, from: 0, now: 1200 })],
    ["findWatchedEvents", (db) => findWatchedEvents(db, { after: place, since: 0, limit: 1000 })],
  ],
  "given-answers": [
    ["putGivenAnswers", (db) => putGivenAnswers(db, [{ ...ticket, question: 1, state: new Uint8Array() }])],
  ],
  "gone-events": [["forgetEmptyEvent", (db) => forgetEmptyEvent(db, place)]],
  "listed-positions": [
    ["readRuled", (db) => readRuled(db, place, [1]), texts],
    ["readAddons", (db) => readAddons(db, key, [1])],
  ],
  lists: [
    ["pageLists", (db) => pageLists(db, lists, page())],
    ["pageLists, in an order", (db) => pageLists(db, lists, page("-subevent__date_from", "name"))],
    ["removeList", (db) => removeList(db, ticket)],
    ["findSharedIds", (db) => findSharedIds(db, { organizer: place.organizer, among: undefined })],
    ["findSharedIds, of some events", (db) => findSharedIds(db, { organizer: place.organizer, among: ["fest"] })],
  ],
  "other-codes": [
    ["findOtherMeanings", (db) => findOtherMeanings(db, [{ ...place, code: "a", sourceType: "barcode", at: noon }])],
  ],
  "position-filter": [
    ["countPositions, with a code", (db) => countPositions(db, { ...all, secret: "a" })],
    ["countPositions, of an order", (db) => countPositions(db, { ...some, orderCode: "A" })],
    ["countPositions, of a name", (db) => countPositions(db, { ...all, attendeeName: "Ada" })],
    ["countPositions, scanned add-ons", (db) => countPositions(db, { ...all, addonTo: [[1]], hasCheckin: true })],
    ["countPositions, not scanned", (db) => countPositions(db, { ...all, voucher: 1, hasCheckin: false })],
    ["countPositions, usable", (db) => countPositions(db, { ...all, pseudonymizationId: "a", usableAt: noon })],
    ["countPositions, known as usable", (db) => countPositions(db, { ...all, id: 1, usableAt: noon, unusable: [2] })],
  ],
  "position-pages": [
    ["pageIds, few tickets", (db) => pageIds(db, all, { ...cut(), count: 10 })],
    ["pageIds", (db) => pageIds(db, all, cut())],
    ["pageIds, from the end", (db) => pageIds(db, all, { ...cut(), offset: 19_950 })],
    ["pageIds, by name", (db) => pageIds(db, all, { ...cut("attendee_name"), offset: 50 }), few],
    ["pageIds, by last scan", (db) => pageIds(db, all, cut("last_checked_in")), many],
    ["pageIds, by last scan, few without", (db) => pageIds(db, all, cut("-last_checked_in")), few],
    ["pageIds, by number", (db) => pageIds(db, all, cut("positionid"))],
    ["pageIds, by e-mail address", (db) => pageIds(db, all, cut("order__email"))],
    ["pageIds, by order", (db) => pageIds(db, all, cut("order__code"))],
    ["pageIds, by time", (db) => pageIds(db, all, cut("-order__datetime"))],
    ["pageIds, by order and name", (db) => pageIds(db, all, cut("order__code", "attendee_name"))],
    ["idsBehind", (db) => idsBehind(db, all, { ...page(), place: ["ada", 1, 2] })],
    ["idsBehind, by time", (db) => idsBehind(db, all, { ...page("order__datetime"), place: ["2026-11-21", 2] })],
    ["sortIds, of a search", (db) => sortIds(db, { ...all, search }, { ordering: [], ids: [1] })],
    ["findReached, by last scan", (db) => findReached(db, all, { ordering: ["last_checked_in"], ticket: 1 })],
  ],
  positions: [["lockPositions", (db) => lockPositions(db, [ticket])]],
  presences: [["lockTicketLists", (db) => lockTicketLists(db, { tickets: [ticket], deleted: [ticket], keys: [] })]],
  "rule-facts": [
    ["readSummedScans", (db) => readSummedScans(db, key, [1]), texts],
    ["readRuledScans", (db) => readRuledScans(db, key, [1])],
  ],
  "scan-history": [
    ["pageScans", (db) => pageScans(db, history, page())],
    ["pageScans, in an order", (db) => pageScans(db, history, page("-datetime", "created"))],
  ],
  "scan-reads": [
    ["readForScans", (db) => readForScans(db, [lookup])],
    ["readForScans, in all ways", (db) => readForScans(db, [{ ...lookup, code: "a+b", ticketId: 1, linked }])],
  ],
  "search-positions": [
    ["searchPositions", (db) => searchPositions(db, { ...all, search })],
    ["searchPositions, of a long code", (db) => searchPositions(db, { ...some, search: longCode })],
  ],
  "store-scans": [
    ["storeScans", (db) => storeScans(db, { topic: "scan", scans })],
    ["storeScans, automatic exits", (db) => storeScans(db, { topic: "scan", scans, asRead: due })],
  ],
  "synced-rows": [
    ["findEventBehind", (db) => findEventBehind(db, { ...place, after: "" }), { event: null }],
    [
      "readSyncedPresences",
      (db) => readSyncedPresences(db, { ...place, keys: [{ ...place, ...onList }], most: 10_000 }),
    ],
    ["readPresencesOfFirst", (db) => readPresencesOfFirst(db, { ...place, keys: [ticket], most: 10_000 })],
  ],
};

it.each(Object.entries(statements))("%s asks for its reviewed statements", async (file, asked) => {
  await expect(await writeStatements(asked)).toMatchFileSnapshot(`statements/${file}.sql`);
});
