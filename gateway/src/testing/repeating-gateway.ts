import { Fault, type FaultKind } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { AppOptions } from "../app.ts";
import type { FullCallers } from "../jobs/find-full-callers.ts";
import { endClaims } from "../middleware/end-claims.ts";
import { claimRequest, findAnswer, findRequest, keepAnswer, releaseRequest } from "../store/kept-answers.ts";
import { aList, aVoucher } from "./fake-peers.ts";
import { inEvent, type ServedApp, serveApp } from "./serve-app.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

interface ServeOptions {
  readonly patienceMs?: number;
  readonly rate?: AppOptions["rate"];
}

/** The application with a database of kept answers, and the callers whose limit is reached. */
export interface RepeatingGateway {
  readonly db: Db;
  readonly app: ServedApp;
  readonly fullCallers: FullCallers;
  /** Serves again, with other options. */
  serveWith(options: ServeOptions): Promise<void>;
  /** Makes the service behind answer, or refuse. */
  behind(refusal?: FaultKind): void;
  /** How often the service behind was asked to create. */
  created(): number;
}

/** Serves the application for each test of a file. Each test begins without kept answers. */
export function repeatingGateway(): RepeatingGateway {
  let database: TestDatabase;
  let db: Db;
  let app: ServedApp;
  const fullCallers: FullCallers = { most: 3, current: new Set() };

  beforeAll(async () => {
    database = await createTestDatabase([
      { schema: "gateway", migrations: new URL("../../migrations/", import.meta.url) },
    ]);
    db = database.open("gateway");
  });

  beforeEach(() => serve());

  afterEach(async () => {
    fullCallers.current = new Set();
    await app.close();
    await db.run(sql`delete from kept_answer`);
  });

  afterAll(() => database.drop());

  async function serve({ patienceMs = 4000, rate }: ServeOptions = {}): Promise<void> {
    const answers = endClaims(
      {
        claim: (request) => claimRequest(db, request),
        find: (request) => findRequest(db, request),
        keep: (claim, answer) => keepAnswer(db, claim, answer),
        release: (claim) => releaseRequest(db, claim),
        isFull: (caller) => fullCallers.current.has(caller),
      },
      { log, patienceMs },
    );
    app = await serveApp({
      answers,
      findAnswer: (use) => findAnswer(db, use),
      ...(rate === undefined ? {} : { rate }),
    });
    behind();
  }

  function behind(refusal?: FaultKind): void {
    const answer =
      <T>(response: T) =>
      async () => {
        if (refusal !== undefined) throw new Fault(refusal, "told_so", "no");
        return response;
      };
    app.peers.when("checkinLists", "listCheckinLists", answer({ lists: [], count: 0, page: 1, isUnchanged: false }));
    app.peers.when("checkinLists", "createCheckinList", answer({ list: aList() }));
    app.peers.when("checkinLists", "updateCheckinList", answer({ list: aList() }));
    app.peers.when("checkinLists", "deleteCheckinList", answer({}));
    app.peers.when("vouchers", "createVouchers", answer({ vouchers: [aVoucher({}, 1), aVoucher({}, 2)] }));
  }

  return {
    get db() {
      return db;
    },
    get app() {
      return app;
    },
    fullCallers,
    async serveWith(options) {
      await app.close();
      await serve(options);
    },
    behind,
    created: () => app.peers.requestsOf("createCheckinList").length,
  };
}

export const lists = `${inEvent}/checkinlists/`;

export const withKey = (key: string, body: unknown = { name: "Gate 1" }) => ({
  headers: { "x-idempotency-key": key },
  body,
});
