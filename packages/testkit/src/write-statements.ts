import type { Queryable } from "@tessera/kit/pg/queryable";
import type { Sql } from "@tessera/kit/pg/sql";
import { layOutSql } from "./lay-out-sql.ts";

/** A database without data that records the statements it is asked; `found` is what they find. */
function recordStatements(found: object | undefined): { readonly db: Queryable; readonly texts: readonly string[] } {
  const texts: string[] = [];
  const record = async <T>({ text }: Sql, result: T) => {
    texts.push(text);
    return result;
  };
  const db: Queryable = {
    many: async (statement) => record(statement, (Array.isArray(found) ? found : []) as never),
    one: async <Row>(statement: Sql) => record(statement, (found ?? {}) as Row),
    maybeOne: async (statement) => record(statement, found as never),
    run: async (statement) => record(statement, 0),
  };
  return { db, texts };
}

/** What asks for statements, below its name; `found` is what they find: a row, or rows. `D` is the database that it takes. */
export type Asked<D extends Queryable> = readonly [name: string, ask: (db: D) => Promise<unknown>, found?: object];

/** Writes down the statements that functions ask for, each once, below the name of the first that asks for it. */
export async function writeStatements<D extends Queryable>(asked: readonly Asked<D>[]): Promise<string> {
  const written = new Map<string, string>();
  for (const [name, ask, found] of asked) {
    const { db, texts } = recordStatements(found);
    await ask(db as D);
    for (const text of texts) if (!written.has(text)) written.set(text, `-- ${name}\n${layOutSql(text)};\n`);
  }
  const hint = "-- Written by `npm run statements`. What several functions ask for stands below the first of them.\n";
  return [hint, ...written.values()].join("\n");
}
