import { recordSpans } from "@tessera/testkit/record-spans";
import type pg from "pg";
import { describe, expect, it } from "vitest";
import { runInContext } from "../context.ts";
import { untraced } from "../telemetry/trace.ts";
import { sql } from "./sql.ts";
import { traceFacts, traceStatements } from "./trace-statements.ts";

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const database = { url: "postgresql://user:secret@db.example:5432/tickets?sslmode=verify-full", schema: "checkin" };
const noRows = async () => ({ rows: [], rowCount: 0 }) as unknown as pg.QueryResult;

describe("a statement", () => {
  it("of a trace is a span that names its database and its kind, and no value", async () => {
    const { tracing, spans } = recordSpans();
    const query = traceStatements(noRows, tracing, database);
    const statement = sql`
      select position.id from position where position.secret = ${"secret-of-a-ticket"}`;
    await runInContext({ traceparent }, () => query(statement));
    expect(spans).toEqual([
      expect.objectContaining({
        name: "SELECT checkin",
        kind: "client",
        parent: traceparent,
        attributes: {
          "db.system.name": "postgresql",
          "db.namespace": "tickets|checkin",
          "db.operation.name": "SELECT",
        },
      }),
    ]);
    expect(JSON.stringify(spans)).not.toContain("secret");
  });

  it("that belongs to no trace begins none", async () => {
    const { tracing, spans } = recordSpans();
    await traceStatements(noRows, tracing, database)(sql`select 1 as one`);
    expect(spans).toEqual([]);
  });

  it("costs nothing while tracing is off", () => {
    expect(traceStatements(noRows, untraced, database)).toBe(noRows);
  });
});

it("facts of a trace are sent in a span, which they carry", async () => {
  const { tracing, spans } = recordSpans();
  const write = () => traceFacts(tracing, { topic: "checkin.scan-decided.v1", facts: 3 }, async () => {});
  await runInContext({ traceparent }, write);
  expect(spans).toEqual([
    expect.objectContaining({
      name: "send checkin.scan-decided.v1",
      kind: "producer",
      attributes: expect.objectContaining({ "messaging.batch.message_count": 3 }),
    }),
  ]);
});
