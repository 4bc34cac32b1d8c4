import type { Queryable } from "@tessera/kit/pg/database";
import { identifier, joinSql, literal, type Sql, sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

/** Entities that may be removed only while nothing refers to them. */
export type Referable = keyof typeof references;

export function isReferable(name: string): name is Referable {
  return Object.hasOwn(references, name);
}

/** The kinds that refer to an entity, by its key: `items and orders`. */
export type Users = ReadonlyMap<string, string>;

/** Finds the kinds that refer to these. Without an index, since only removals need it: reads one event or organizer. */
export async function findUsers(
  tx: Queryable,
  what: Referable,
  { scope, keys }: { scope: Scope; keys: readonly string[] },
): Promise<Users> {
  const branches = Object.entries(references[what](scope)).map(
    ([users, rows]) => sql`select ${literal(users)} as users where exists (${rows})`,
  );
  const found = await tx.many<{ key: string; users: string }>(sql`
    select wanted.key, string_agg(used.users, ' and ' order by used.users) as users
      from unnest(${keys}::text[]) as wanted (key),
           lateral (${joinSql(branches, " union all ")}) as used
     group by wanted.key`);
  return new Map(found.map((row) => [row.key, row.users]));
}

const id = sql`wanted.key::bigint`;

const items = rowsOf("item");
const orders = rowsOf("order");
const quotas = rowsOf("quota");
const questions = rowsOf("question");
const seats = rowsOf("seat");
const positions = rowsOf("position");
const gateAnswers = rowsOf("gate_answer");

/** Rows that refer to `wanted.key`, by the plural name of their kind. */
const references = {
  organizer: () => ({
    events: sql`select from event where event.organizer = wanted.key`,
  }),
  sales_channel: ({ organizer }: Scope) => ({
    orders: sql`
      select
        from "order"
       where "order".organizer = ${organizer}
         and "order".data ->> 'sales_channel' = wanted.key
         and wanted.key <> 'web'`,
  }),
  gate: ({ organizer }: Scope) => ({
    devices: sql`
      select
        from credential
       where credential.organizer = ${organizer}
         and credential.kind = 'device'
         and credential.data -> 'gate' = to_jsonb(${id})`,
  }),
  subevent: (scope: Scope) => ({
    quotas: quotas(scope, sql`quota.data -> 'subevent' = to_jsonb(${id})`),
    seats: seats(scope, sql`seat.subevent = ${id}`),
    positions: positions(scope, sql`position.subevent = ${id}`),
  }),
  tax_rule: (scope: Scope) => ({
    items: items(scope, sql`item.data -> 'tax_rule' = to_jsonb(${id})`),
    orders: orders(
      scope,
      sql`("order".data -> 'positions' @> ${listOf("tax_rule")} or "order".data -> 'fees' @> ${listOf("tax_rule")})`,
    ),
  }),
  category: (scope: Scope) => ({
    items: items(
      scope,
      sql`item.data -> 'category' = to_jsonb(${id}) or item.data -> 'addons' @> ${listOf("addon_category")}`,
    ),
  }),
  item: (scope: Scope) => ({
    "other items": items(scope, sql`item.data -> 'bundles' @> ${listOf("bundled_item")} and item.id <> ${id}`),
    questions: questions(scope, sql`question.data -> 'items' @> to_jsonb(${id})`),
    seats: seats(scope, sql`seat.data -> 'product' = to_jsonb(${id})`),
    quotas: quotas(scope, sql`quota.data -> 'items' @> to_jsonb(${id})`),
    positions: positions(scope, sql`position.item = ${id}`),
  }),
  variation: (scope: Scope) => ({
    items: items(scope, sql`item.data -> 'bundles' @> ${listOf("bundled_variation")}`),
    quotas: quotas(scope, sql`quota.data -> 'variations' @> to_jsonb(${id})`),
    positions: positions(scope, sql`position.variation = ${id}`),
  }),
  question: (scope: Scope) => ({
    "answers in orders": orders(
      scope,
      sql`"order".data -> 'positions' @> jsonb_build_array(jsonb_build_object('answers', ${listOf("question")}))`,
    ),
    "answers given at the gate": gateAnswers(
      scope,
      sql`gate_answer.question = ${id} and (gate_answer.answer is not null or gate_answer.awaited is not null)`,
    ),
    "other questions": questions(
      scope,
      sql`question.data -> 'dependency_question' = to_jsonb(${id}) and question.id <> ${id}`,
    ),
  }),
  seat: (scope: Scope) => ({
    positions: positions(scope, sql`position.seat = ${id}`),
  }),
} as const;

/** Makes the query for rows of a table of the event. */
function rowsOf(table: string) {
  const name = identifier(table);
  return ({ organizer, event }: Scope, condition: Sql) =>
    sql`select from ${name} where ${name}.organizer = ${organizer} and ${name}.event = ${event} and (${condition})`;
}

/** Whether a list has an element whose field is the wanted id. */
function listOf(field: string): Sql {
  return sql`jsonb_build_array(jsonb_build_object(${literal(field)}, ${id}))`;
}
