import pg from "pg";
import { spanWithin, type Tracing } from "../telemetry/trace.ts";
import type { Query } from "./queryable.ts";

/** What a database is called in traces. */
export interface TracedDatabase {
  readonly url: string;
  readonly schema: string;
}

/** Makes every statement of a trace a span. The span names the kind of the statement alone: traces never have values. */
export function traceStatements(query: Query, tracing: Tracing, { url, schema }: TracedDatabase): Query {
  if (!tracing.isOn) return query;
  // The driver reads the name from any form of the address; it does not connect.
  const { database } = new pg.Client({ connectionString: url });
  const attributes = { "db.system.name": "postgresql", "db.namespace": `${database}|${schema}` };
  return (statement) => {
    const operation = /^\s*(\w+)/.exec(statement.text)?.[1]?.toUpperCase() ?? "STATEMENT";
    return spanWithin(
      tracing,
      `${operation} ${schema}`,
      { kind: "client", attributes: { ...attributes, "db.operation.name": operation } },
      () => query(statement),
    );
  };
}

/** Makes facts that are written in a trace a span, whose children are what consumers do with them. */
export function traceFacts(
  tracing: Tracing,
  { topic, facts }: { readonly topic: string; readonly facts: number },
  write: () => Promise<void>,
): Promise<void> {
  if (!tracing.isOn) return write();
  const attributes = {
    "messaging.operation.type": "send",
    "messaging.operation.name": "send",
    "messaging.destination.name": topic,
    "messaging.batch.message_count": facts,
  };
  return spanWithin(tracing, `send ${topic}`, { kind: "producer", attributes }, write);
}
