import { randomUUID } from "node:crypto";
import { nothingErased } from "@tessera/kit/bus/dead-letter";
import { header } from "@tessera/kit/bus/headers";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { AnswersGiven } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import { topics } from "@tessera/protos/topics";
import { afterAll, expect, it } from "vitest";
import { insertUpload } from "../store/uploads.ts";
import { gatewayDatabase } from "../testing/database.ts";
import { answersGiven } from "./answers-given.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });
const day = 24 * 3_600_000_000;
const start = Date.UTC(2026, 10, 21, 12) * 1000;

const { database, db } = await gatewayDatabase();
afterAll(() => database.drop());

async function anUpload(): Promise<string> {
  const id = randomUUID();
  const type = { fileName: "a.png", contentType: "image/png", size: 1, sha256: "ab".repeat(32) };
  const owner = { organizer: "bigevents", credentialKind: "device", credentialId: "3" } as const;
  await insertUpload(db, { id, ...owner, ...type, createdAt: start, expiresAt: start + day });
  return id;
}

/** Delivers the answers of a position; null: the position is deleted. */
async function deliver(organizer: string, files: readonly (string | undefined)[] | null): Promise<void> {
  const fact: AnswersGiven = {
    ...AnswersGiven.decode(new Uint8Array()),
    organizer,
    event: "fest",
    position: 1,
    revision: 1,
    answers: (files ?? []).map((upload, question) => ({
      question,
      revision: 1,
      answer: undefined,
      ...(upload === undefined
        ? {}
        : { file: { upload, name: "a.png", contentType: "image/png", size: 1, sha256: "" } }),
    })),
  };
  const { answersGiven: topic } = topics;
  const value = files === null ? null : topic.encode(fact);
  const headers = { [header.factId]: randomUUID(), [header.at]: String(start) };
  const consumer = answersGiven.open({
    db,
    group: "gateway",
    log,
    isErased: nothingErased,
    deps: { clock: { now: () => start } },
  });
  const message = { topic: topic.name, partition: 0, key: topic.key(fact), value, headers };
  await consumer.deliver([message], new AbortController().signal);
}

it("[C5.57] what stored answers name is kept, and nothing else", async () => {
  const [named, other, foreign] = [await anUpload(), await anUpload(), await anUpload()];
  await deliver("bigevents", [undefined, named, randomUUID()]);
  await deliver("others", [foreign]);
  await deliver("bigevents", null);
  const kept = await db.many<{ id: string; days: number }>(sql`
    select id, (extract(epoch from expires_at - created_at) / 86400)::integer as days from upload`);
  expect(new Map(kept.map(({ id, days }) => [id, days]))).toEqual(
    new Map([
      [named, 30],
      [other, 1],
      [foreign, 1],
    ]),
  );
});
