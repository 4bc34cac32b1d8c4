import type { Db, Tx } from "@tessera/kit/pg/database";
import { type Asked, writeStatements } from "@tessera/testkit/write-statements";
import { expect, it } from "vitest";
import { storeCredentials } from "./credentials.ts";
import { findHeardDevices, findQueues, findTroubledDevices, summarizeGates } from "./device-contacts.ts";
import {
  claimRequest,
  eraseAnswers,
  eraseAnswersOfDeleted,
  findAnswer,
  keepAnswer,
  releaseRequest,
} from "./kept-answers.ts";
import {
  findLink,
  findSession,
  insertLink,
  insertSession,
  leaveSession,
  pageSessions,
  redeemLink,
  revokeSession,
} from "./session-rows.ts";
import { countOfEvent, countOutstanding, expireDropped, keepNamed, lockOfEvent } from "./uploads.ts";

const place = { organizer: "org", event: "fest" };
const id = "00000000-0000-4000-8000-000000000000";
const hash = Buffer.from("a");
const use = { caller: "api_key/a", key: "a" };
const claim = { ...use, requestId: id, attempt: 1 };
const grant = { id, organizer: "org", name: "Ada", permissions: [], allEvents: true, events: [], seconds: 1 };
const owner = { organizer: "org", credentialKind: "device", credentialId: "1" } as const;
const session = { organizer: "org", id };

const statements: Readonly<Record<string, readonly Asked<Db & Tx>[]>> = {
  credentials: [["storeCredentials", (tx) => storeCredentials(tx, [])]],
  "device-contacts": [
    ["findHeardDevices", (db) => findHeardDevices(db, place)],
    ["findQueues", (db) => findQueues(db, { most: 100 })],
    ["summarizeGates", (db) => summarizeGates(db, { most: 100 })],
    ["findTroubledDevices", (db) => findTroubledDevices(db, { most: 100 })],
  ],
  "kept-answers": [
    ["claimRequest", (db) => claimRequest(db, { ...use, requestHash: hash, of: undefined })],
    ["claimRequest, of an event", (db) => claimRequest(db, { ...use, requestHash: hash, of: place })],
    ["keepAnswer", (db) => keepAnswer(db, claim, { status: 200, headers: {}, body: null })],
    ["releaseRequest", (db) => releaseRequest(db, claim)],
    ["findAnswer", (db) => findAnswer(db, use)],
    ["eraseAnswers", (db) => eraseAnswers(db, place)],
    ["eraseAnswersOfDeleted", (db) => eraseAnswersOfDeleted(db, place)],
  ],
  "session-rows": [
    ["insertLink", (db) => insertLink(db, { ...grant, linkHash: hash, linkSeconds: 1 })],
    ["insertSession", (db) => insertSession(db, { ...grant, tokenHash: hash })],
    ["redeemLink", (db) => redeemLink(db, { linkHash: hash, tokenHash: hash })],
    ["findLink", (db) => findLink(db, hash)],
    ["findSession", (db) => findSession(db, hash)],
    ["leaveSession", (db) => leaveSession(db, session)],
    ["revokeSession", (db) => revokeSession(db, session)],
    ["pageSessions", (db) => pageSessions(db, { organizer: "org", limit: 50, offset: 0 })],
  ],
  uploads: [
    ["keepNamed", (tx) => keepNamed(tx, { answers: [{ ...place, upload: id }], now: 0, keepUntil: 0 })],
    ["expireDropped", (db) => expireDropped(db, place, { ids: [id], now: 0 })],
    ["countOutstanding", (db) => countOutstanding(db, { ...owner, now: 0 })],
    ["lockOfEvent", (tx) => lockOfEvent(tx, place, { most: 100 })],
    ["countOfEvent", (db) => countOfEvent(db, place)],
  ],
};

it.each(Object.entries(statements))("%s asks for its reviewed statements", async (file, asked) => {
  await expect(await writeStatements(asked)).toMatchFileSnapshot(`statements/${file}.sql`);
});
