import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createLog } from "@tessera/kit/log";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { migrate } from "@tessera/kit/pg/migrate";
import { provision, roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { type Answer, Order, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";

const all = new URL("../../migrations/", import.meta.url);

/** Runs work on a schema as it was before a migration; `migrateOn` applies that and all behind it. */
export async function onSchemaBefore(
  revision: string,
  createDatabase: () => Promise<{ readonly url: string; drop(): Promise<void> }>,
  work: (db: Db, migrateOn: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { url, drop } = await createDatabase();
  const folder = await mkdtemp(join(tmpdir(), "migrations-"));
  const log = createLog({ service: "test", destination: { write: () => {} } });
  const schema = { url, schema: "boxoffice", role: roleOf("boxoffice"), log };
  try {
    await provision({ url, schemas: ["boxoffice"] });
    await cp(all, folder, { recursive: true });
    for (const name of await readdir(folder)) if (name >= revision) await rm(join(folder, name));
    await migrate({ ...schema, migrations: pathToFileURL(`${folder}/`) });
    const db = openDatabase({ ...schema, applicationName: "test" });
    await work(db, async () => {
      await migrate({ ...schema, migrations: all });
    });
    await db.close();
  } finally {
    await rm(folder, { recursive: true });
    await drop();
  }
}

/** Stores an order with a position as programs did that published `position.state`. */
export async function putEarlierPosition(
  db: Db,
  { recorded = [], answers = [], upTo }: { recorded?: readonly object[]; answers?: readonly Answer[]; upTo: number },
): Promise<void> {
  const data = JSON.stringify({ positions: [{ id: 1, answers: recorded }] });
  const position = { ...Position.decode(new Uint8Array()), id: 1, answers: [...answers], answersRevision: upTo };
  const order = { ...Order.decode(new Uint8Array()), code: "ABCDE" };
  const state = Buffer.from(Position.encode({ ...position, order }).finish());
  await db.run(sql`insert into organizer (slug, data, revision) values ('org', '{}', 1)`);
  await db.run(
    sql`insert into event (organizer, slug, data, settings, revision) values ('org', 'fest', '{}', '{}', 1)`,
  );
  await db.run(sql`
    insert into "order" (organizer, event, code, status, data, revision)
    values ('org', 'fest', 'ABCDE', 'p', ${data}, 1)`);
  await db.run(sql`
    insert into position (organizer, event, id, order_code, positionid, item, secret, canceled, state, revision,
                          answers_revision)
    values ('org', 'fest', 1, 'ABCDE', 1, 1, 's3cret-of-the-ticket', false, ${state}, 1, ${upTo})`);
}
