import type { Queryable } from "@tessera/kit/pg/database";
import { joinSql, literal, type Sql, sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

/** What may only be removed when nothing refers to it any more. */
export type Referable = keyof typeof references;

/** Who still refers to something, in the plural: `items and orders`. By its key. */
export type Users = ReadonlyMap<string, string>;

/** Finds who refers to these. Only removals ask, so no index serves it: it reads the rows of one event or organizer. */
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

/** Rows that refer to `wanted.key`, by what they are called. */
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
    orders: sql`
      select
        from "order"
       where "order".organizer = ${scope.organizer}
         and "order".event = ${scope.event}
         and ("order".data -> 'positions' @> ${listOf("tax_rule")} or "order".data -> 'fees' @> ${listOf("tax_rule")})`,
  }),
  category: (scope: Scope) => ({
    items: items(
      scope,
      sql`(item.data -> 'category' = to_jsonb(${id}) or item.data -> 'addons' @> ${listOf("addon_category")})`,
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
    "answers in orders": sql`
      select
        from "order"
       where "order".organizer = ${scope.organizer}
         and "order".event = ${scope.event}
         and "order".data -> 'positions'
             @> jsonb_build_array(jsonb_build_object('answers', jsonb_build_array(jsonb_build_object('question', ${id}))))`,
    "answers given at the gate": sql`
      select
        from gate_answer
       where gate_answer.organizer = ${scope.organizer}
         and gate_answer.event = ${scope.event}
         and gate_answer.question = ${id}
         and (gate_answer.answer is not null or gate_answer.awaited is not null)`,
    "other questions": questions(
      scope,
      sql`question.data -> 'dependency_question' = to_jsonb(${id}) and question.id <> ${id}`,
    ),
  }),
  seat: (scope: Scope) => ({
    positions: positions(scope, sql`position.seat = ${id}`),
  }),
} as const;

function items({ organizer, event }: Scope, condition: Sql): Sql {
  return sql`select from item where item.organizer = ${organizer} and item.event = ${event} and ${condition}`;
}

function quotas({ organizer, event }: Scope, condition: Sql): Sql {
  return sql`select from quota where quota.organizer = ${organizer} and quota.event = ${event} and ${condition}`;
}

function questions({ organizer, event }: Scope, condition: Sql): Sql {
  return sql`select from question where question.organizer = ${organizer} and question.event = ${event} and ${condition}`;
}

function seats({ organizer, event }: Scope, condition: Sql): Sql {
  return sql`select from seat where seat.organizer = ${organizer} and seat.event = ${event} and ${condition}`;
}

function positions({ organizer, event }: Scope, condition: Sql): Sql {
  return sql`select from position where position.organizer = ${organizer} and position.event = ${event} and ${condition}`;
}

/** A list with an element whose field is the wanted id. */
function listOf(field: string): Sql {
  return sql`jsonb_build_array(jsonb_build_object(${literal(field)}, ${id}))`;
}
