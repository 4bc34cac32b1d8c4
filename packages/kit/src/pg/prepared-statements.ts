import type pg from "pg";
import { writesOutbox } from "./outbox.ts";
import type { Sql } from "./sql.ts";

/** Statement texts are few and fixed. A dynamic filter beyond this number runs unprepared. */
const preparedTexts = 400;

/** These statements run once. Preparing them would use up the limit for those that run often. */
const defining = /^\s*(?:create|alter|drop|set|lock|listen|unlisten)\b/;

export interface Statements {
  prepare(statement: Sql): { readonly query: pg.QueryConfig; readonly wakesRelay: boolean };
}

/** Prepares statements by text, so that each is planned once per connection. */
export function rememberStatements(): Statements {
  const known = new Map<string, { readonly name: string; readonly wakesRelay: boolean }>();
  return {
    prepare({ text, values }) {
      let remembered = known.get(text);
      if (remembered === undefined) {
        const wakesRelay = writesOutbox(text);
        if (known.size >= preparedTexts || defining.test(text))
          return { query: { text, values: [...values] }, wakesRelay };
        remembered = { name: `s${known.size + 1}`, wakesRelay };
        known.set(text, remembered);
      }
      return { query: { text, values: [...values], name: remembered.name }, wakesRelay: remembered.wakesRelay };
    },
  };
}
