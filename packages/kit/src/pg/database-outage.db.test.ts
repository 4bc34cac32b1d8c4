import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { faultOf } from "@tessera/testkit/fault-of";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { databaseAnswers } from "../telemetry/fold-outages.ts";
import { createLog } from "../telemetry/log.ts";
import { type DatabaseOptions, type Db, openDatabase } from "./database.ts";
import { roleOf } from "./provision.ts";
import { sql } from "./sql.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

let database: TestDatabase;
let admin: Db;
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  // A folder without .sql files: the schema has what the kit itself needs, and nothing else.
  const migrations = new URL("./", import.meta.url);
  database = await createTestDatabase([{ schema: "alpha", migrations }]);
  admin = openDatabase({ url: database.url, schema: "public", applicationName: "admin", log });
  const alpha = openDatabase({
    url: database.url,
    schema: "alpha",
    role: roleOf("alpha"),
    applicationName: "alpha",
    log,
  });
  await alpha.run(sql`create table effect (name text primary key)`);
  await alpha.run(sql`
    create function wait_at_commit() returns trigger language plpgsql as
    $$ begin perform pg_sleep(20); return null; end $$`);
  await alpha.run(sql`create table slow_commit (name text primary key)`);
  await alpha.run(sql`
    create constraint trigger wait after insert on slow_commit deferrable initially deferred
    for each row execute function wait_at_commit()`);
  await alpha.close();
});

afterAll(async () => {
  await admin.close();
  await database.drop();
});

// A pool closes when every client has come back: a leaked one makes this time out.
afterEach(async () => {
  for (const it of opened.splice(0).reverse()) await it.close();
});

function open(options: Partial<DatabaseOptions> = {}): Db {
  const db = openDatabase({
    url: database.url,
    schema: "alpha",
    role: roleOf("alpha"),
    applicationName: "alpha",
    log,
    ...options,
  });
  opened.push(db);
  return db;
}

const unavailable = { kind: "unavailable", code: "database_unavailable", retryAfterMs: 1000 };

/** Ends every backend of this application, once one of them runs the statement, and waits until they are gone. */
async function killBackends({ running = "" }: { running?: string } = {}): Promise<number> {
  const backends = sql`
    from pg_stat_activity
   where pg_stat_activity.datname = current_database() and pg_stat_activity.application_name = 'alpha'`;
  for (let waited = 0; running !== "" && waited < 5000; waited += 10) {
    const busy = await admin.maybeOne(sql`
      select 1 ${backends} and state = 'active' and query like ${`%${running}%`} and wait_event = 'PgSleep' limit 1`);
    if (busy !== undefined) break;
    await sleep(10);
  }
  return admin.run(sql`select pg_terminate_backend(pg_stat_activity.pid, 5000) ${backends}`);
}

describe("a server that ends our connections", () => {
  it("makes the statement under way fail as unavailable, and the next one finds another connection", async () => {
    const db = open({ maxConnections: 1 });
    const waiting = faultOf(db.run(sql`select pg_sleep(20)`));
    expect(await killBackends({ running: "pg_sleep" })).toBeGreaterThan(0);
    expect(await waiting).toMatchObject(unavailable);
    expect(await db.one(sql`select 1 as value`)).toEqual({ value: 1 });
  });

  it("[Y2.1] is said to answer again, once, by the first statement that it serves", async () => {
    const said: string[] = [];
    const write = (line: string) => said.push((JSON.parse(line) as { message: string }).message);
    const db = open({ maxConnections: 1, log: createLog({ service: "test", destination: { write } }) });
    const waiting = faultOf(db.run(sql`select pg_sleep(20)`));
    await killBackends({ running: "pg_sleep" });
    await waiting;
    expect(said).not.toContain(databaseAnswers);
    await db.one(sql`select 1 as value`);
    await db.transaction((tx) => tx.one(sql`select 1 as value`));
    expect(said.filter((message) => message === databaseAnswers)).toHaveLength(1);
  });

  it("makes the transaction under way fail as unavailable, without its effects", async () => {
    const db = open({ maxConnections: 1 });
    let attempts = 0;
    const waiting = faultOf(
      db.transaction(async (tx) => {
        attempts += 1;
        await tx.run(sql`insert into effect (name) values ('mid-statement')`);
        await tx.run(sql`select pg_sleep(20)`);
      }),
    );
    await killBackends({ running: "pg_sleep" });
    expect(await waiting).toMatchObject(unavailable);
    expect(attempts).toBe(1);
    expect(await db.maybeOne(sql`select name from effect where name = 'mid-statement'`)).toBeUndefined();
  });

  it("does not end the process while a transaction thinks between two statements", async () => {
    const db = open({ maxConnections: 1 });
    const waiting = faultOf(
      db.transaction(async (tx) => {
        await tx.run(sql`insert into effect (name) values ('thinking')`);
        expect(await killBackends()).toBeGreaterThan(0);
        await sleep(100);
        await tx.run(sql`select 1`);
      }),
    );
    expect(await waiting).toMatchObject(unavailable);
    expect(await db.maybeOne(sql`select name from effect where name = 'thinking'`)).toBeUndefined();
  });

  it("makes a commit under way fail as unavailable, once, without its effects", async () => {
    const db = open({ maxConnections: 1 });
    let attempts = 0;
    let announced = 0;
    db.onOutbox(() => {
      announced += 1;
    });
    const waiting = faultOf(
      db.transaction(async (tx) => {
        attempts += 1;
        await tx.run(sql`insert into slow_commit (name) values ('mid-commit')`);
        await tx.retract({ name: "alpha.named.v1" }, ["k"]);
      }),
    );
    await killBackends({ running: "commit" });
    expect(await waiting).toMatchObject(unavailable);
    expect([attempts, announced]).toEqual([1, 0]);
    expect(await db.maybeOne(sql`select name from slow_commit`)).toBeUndefined();
  });

  it("costs nothing when they were idle", async () => {
    const db = open({ maxConnections: 4 });
    await Promise.all([1, 2, 3, 4].map(() => db.run(sql`select pg_sleep(0.05)`)));
    expect(await killBackends()).toBeGreaterThanOrEqual(4);
    await sleep(100);
    expect(await Promise.all([1, 2, 3, 4].map(() => db.one(sql`select 1 as value`)))).toHaveLength(4);
  });

  it("leaves every transaction done or not done, however often it happens", async () => {
    const db = open({ maxConnections: 5 });
    const done: string[] = [];
    const undone: string[] = [];
    const isEnough = () => done.length > 100 && undone.length > 20;
    const worker = async (worker: number) => {
      for (let round = 0; !isEnough(); round += 1) {
        const name = `storm ${worker} ${round}`;
        const outcome = await db
          .transaction(async (tx) => {
            await tx.run(sql`insert into effect (name) values (${`${name}, first`})`);
            await tx.run(sql`select pg_sleep(0.002)`);
            await tx.run(sql`insert into effect (name) values (${`${name}, second`})`);
          })
          .then(
            () => undefined,
            (error: unknown) => error,
          );
        if (outcome !== undefined) expect(outcome).toMatchObject(unavailable);
        (outcome === undefined ? done : undone).push(name);
      }
    };
    const storm = async () => {
      for (; !isEnough(); await sleep(40)) await killBackends();
    };
    await Promise.all([storm(), ...[1, 2, 3, 4, 5, 6, 7, 8].map(worker)]);
    // By another pool: some connections of this one may not have heard yet that they were ended.
    const found = await open().many<{ name: string }>(sql`select name from effect where name like 'storm %'`);
    const names = new Set(found.map(({ name }) => name));
    const rowsOf = (name: string) => ["first", "second"].filter((row) => names.has(`${name}, ${row}`)).length;
    expect(done.filter((name) => rowsOf(name) !== 2)).toEqual([]);
    // A commit may have been done before its connection was lost.
    expect(undone.filter((name) => rowsOf(name) === 1)).toEqual([]);
  });
});

describe("a dedicated connection", () => {
  it("hears notifications", async () => {
    const db = open();
    const listener = await db.dedicated();
    opened.push({ close: () => listener.release() });
    const heard = Promise.withResolvers<[string, string]>();
    listener.onNotification((channel, payload) => heard.resolve([channel, payload]));
    await listener.run(sql`listen alpha_news`);
    await db.run(sql`select pg_notify('alpha_news', 'it''s here')`);
    expect(await heard.promise).toEqual(["alpha_news", "it's here"]);
  });

  it("tells once that it was lost, also those who listen late, and can still be released", async () => {
    const db = open();
    const connection = await db.dedicated();
    let told = 0;
    const lost = new Promise<void>((resolve) => {
      connection.onLost(() => {
        told += 1;
        resolve();
      });
    });
    await killBackends();
    await lost;
    await sleep(50);
    expect(told).toBe(1);
    connection.onLost(() => {
      told += 1;
    });
    expect(told).toBe(2);
    expect(await faultOf(connection.run(sql`select 1`))).toMatchObject(unavailable);
    await connection.release();
  });

  it("tells nothing when it was released", async () => {
    const connection = await open().dedicated();
    let told = 0;
    connection.onLost(() => {
      told += 1;
    });
    await connection.release();
    await sleep(50);
    expect(told).toBe(0);
  });

  it("gives its advisory locks back when it is lost", async () => {
    const [first, second] = await Promise.all([
      open().dedicated(),
      open({ applicationName: "other process" }).dedicated(),
    ]);
    for (const connection of [first, second]) opened.push({ close: () => connection.release() });
    const take = sql`select pg_try_advisory_lock(4711) as taken`;
    expect(await first.one(take)).toEqual({ taken: true });
    expect(await second.one(take)).toEqual({ taken: false });
    expect(await killBackends()).toBeGreaterThan(0);
    expect(await second.one(take)).toEqual({ taken: true });
  });
});

describe("a network that fails", () => {
  it("reports a server that is not there as unavailable", async () => {
    const nobody = "postgresql://postgres@127.0.0.1:1/postgres?sslmode=disable";
    const db = open({ url: nobody });
    expect(await faultOf(db.one(sql`select 1`))).toMatchObject(unavailable);
    expect(await faultOf(db.transaction(async () => {}))).toMatchObject(unavailable);
    expect(await faultOf(db.dedicated())).toMatchObject(unavailable);
    const noSocket = open({ url: "postgresql://postgres@/postgres?host=%2Fno%2Fsuch&sslmode=disable" });
    expect(await faultOf(noSocket.one(sql`select 1`))).toMatchObject(unavailable);
  });

  it("gives up on a server that accepts and stays silent, for statements and connections alike", async () => {
    const proxy = await openProxy();
    const [pool, late] = [open({ url: proxy.url, statementTimeoutMs: 1000 }), open({ url: proxy.url })];
    await pool.one(sql`select 1`);
    const connection = await pool.dedicated();
    proxy.silence();
    const faults = await Promise.all([
      faultOf(pool.one(sql`select 2`)),
      faultOf(late.one(sql`select 1`)),
      faultOf(late.dedicated()),
      faultOf(connection.one(sql`select 2`)),
    ]);
    await connection.release();
    for (const fault of faults) expect(fault).toMatchObject(unavailable);
    proxy.heal();
    expect(await pool.one(sql`select 3 as value`)).toEqual({ value: 3 });
  });

  it("replaces all connections when one of them stays silent", async () => {
    const proxy = await openProxy();
    const db = open({ url: proxy.url, statementTimeoutMs: 2000, maxConnections: 4 });
    await Promise.all([1, 2, 3, 4].map(() => db.run(sql`select pg_sleep(0.05)`)));
    proxy.failOver();
    expect(await faultOf(db.one(sql`select 1`))).toMatchObject(unavailable);
    const values = await Promise.all([1, 2, 3, 4].map((value) => db.one(sql`select ${value}::integer as value`)));
    expect(values).toEqual([1, 2, 3, 4].map((value) => ({ value })));
  });

  it("reports a commit whose answer was lost as unavailable, and does not repeat it", async () => {
    const proxy = await openProxy();
    const db = open({ url: proxy.url, maxConnections: 1 });
    let attempts = 0;
    const outcome = db.transaction(async (tx) => {
      attempts += 1;
      await tx.run(sql`insert into effect (name) values ('answer lost')`);
      proxy.cutAtNextAnswer();
    });
    expect(await faultOf(outcome)).toMatchObject(unavailable);
    expect(attempts).toBe(1);
    expect(await db.one(sql`select name from effect where name = 'answer lost'`)).toEqual({ name: "answer lost" });
  });
});

interface Proxy {
  readonly url: string;
  /** Keeps connections open and passes nothing on. */
  silence(): void;
  heal(): void;
  /** Passes nothing on for the connections that are open now: another server has taken over their address. */
  failOver(): void;
  /** Lets requests through and ends the connection instead of answering. */
  cutAtNextAnswer(): void;
}

/** A way to the test database that can be made to fail. */
async function openProxy(): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let silent = false;
  let cutting = false;
  let server = 1;
  const listener = createServer((client) => {
    const ours = server;
    const isSilent = () => silent || ours !== server;
    const upstream = connect(addressOf(database.url));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
    client.on("data", (data) => {
      if (!isSilent()) upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (cutting) {
        cutting = false;
        client.destroy();
      } else if (!isSilent()) client.write(data);
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  opened.push({
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  });
  const { port } = listener.address() as AddressInfo;
  const { user, password, name } = partsOf(database.url);
  return {
    url: `postgresql://${user}${password}@127.0.0.1:${port}/${name}?sslmode=disable`,
    silence: () => {
      silent = true;
    },
    heal: () => {
      silent = false;
    },
    failOver: () => {
      server += 1;
    },
    cutAtNextAnswer: () => {
      cutting = true;
    },
  };
}

function partsOf(url: string): { user: string; password: string; host: string; port: number; name: string } {
  const [, user = "", password = "", authority = "", name = ""] =
    /^postgres(?:ql)?:\/\/([^:@/]*)(:[^@/]*)?@([^/]*)\/([^?]*)/.exec(url) ?? [];
  const query = new URLSearchParams(url.split("?")[1] ?? "");
  const [host = "", port] = authority.split(":");
  return { user, password, name, host: query.get("host") ?? host, port: Number(query.get("port") ?? port ?? 5432) };
}

function addressOf(url: string): NetConnectOpts {
  const { host, port } = partsOf(url);
  return host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}
