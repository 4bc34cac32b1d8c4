import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

/** What a run of records refers to. */
export interface Mentioned {
  readonly events: Set<string>;
  readonly gates: Set<number>;
  readonly salesChannels: Set<string>;
  readonly subevents: Set<number>;
  readonly taxRules: Set<number>;
  readonly categories: Set<number>;
  readonly items: Set<number>;
  /** Where variations are mentioned without their items, all items of the event are looked at. */
  everyItem: boolean;
  readonly orders: Set<string>;
  readonly positions: Set<number>;
  /** Hashes of tokens, in hex. */
  readonly tokens: Set<string>;
}

/** What of it exists. */
export interface Known {
  readonly organizer: boolean;
  /** Whether the scope's event is a series; undefined where there is no such event. */
  readonly series: boolean | undefined;
  /** Whether they are series, by slug. */
  readonly events: ReadonlyMap<string, boolean>;
  /** Names by id. */
  readonly gates: ReadonlyMap<number, string>;
  readonly salesChannels: ReadonlySet<string>;
  readonly subevents: ReadonlySet<number>;
  readonly taxRules: ReadonlySet<number>;
  readonly categories: ReadonlySet<number>;
  /** The variations of each item. */
  readonly items: ReadonlyMap<number, ReadonlySet<number>>;
  /** The positions of each order. */
  readonly orders: ReadonlyMap<string, readonly number[]>;
  /** The order of each position. */
  readonly positions: ReadonlyMap<number, string>;
  /** Whom a token belongs to: organizer, kind and id of the credential. */
  readonly tokens: ReadonlyMap<string, string>;
}

/** Returns an empty collection for `findMentioned`. */
export function nothingMentioned(): Mentioned {
  return {
    events: new Set(),
    gates: new Set(),
    salesChannels: new Set(),
    subevents: new Set(),
    taxRules: new Set(),
    categories: new Set(),
    items: new Set(),
    everyItem: false,
    orders: new Set(),
    positions: new Set(),
    tokens: new Set(),
  };
}

/** Sells without any record. */
const webChannel = "web";

interface KnownRow {
  readonly organizer: boolean;
  readonly series: boolean | null;
  readonly events: Readonly<Record<string, boolean>> | null;
  readonly gates: Readonly<Record<string, string>> | null;
  readonly sales_channels: readonly string[];
  readonly subevents: readonly number[];
  readonly tax_rules: readonly number[];
  readonly categories: readonly number[];
  readonly items: Readonly<Record<string, readonly number[]>> | null;
  readonly orders: Readonly<Record<string, readonly number[]>> | null;
  readonly positions: Readonly<Record<string, string>> | null;
  readonly tokens: Readonly<Record<string, string>> | null;
}

/** Looks up all that a run of records refers to, in one statement whatever its kind. */
export async function findMentioned(tx: Queryable, scope: Scope, mentioned: Mentioned): Promise<Known> {
  const { organizer, event } = scope;
  const row = await tx.one<KnownRow>(sql`
    select exists (select from organizer where organizer.slug = ${organizer}) as organizer,
           (select (event.data -> 'has_subevents')::boolean
              from event
             where event.organizer = ${organizer}
               and event.slug = ${event}) as series,
           (select jsonb_object_agg(event.slug, event.data -> 'has_subevents')
              from event
             where event.organizer = ${organizer}
               and event.slug = any(${[...mentioned.events]}::text[])) as events,
           (select jsonb_object_agg(gate.id, gate.data -> 'name')
              from gate
             where gate.organizer = ${organizer}
               and gate.id = any(${[...mentioned.gates]}::bigint[])) as gates,
           array(select sales_channel.identifier
                   from sales_channel
                  where sales_channel.organizer = ${organizer}
                    and sales_channel.identifier = any(${[...mentioned.salesChannels]}::text[])) as sales_channels,
           array(select subevent.id
                   from subevent
                  where subevent.organizer = ${organizer}
                    and subevent.event = ${event}
                    and subevent.id = any(${[...mentioned.subevents]}::bigint[])) as subevents,
           array(select tax_rule.id
                   from tax_rule
                  where tax_rule.organizer = ${organizer}
                    and tax_rule.event = ${event}
                    and tax_rule.id = any(${[...mentioned.taxRules]}::bigint[])) as tax_rules,
           array(select category.id
                   from category
                  where category.organizer = ${organizer}
                    and category.event = ${event}
                    and category.id = any(${[...mentioned.categories]}::bigint[])) as categories,
           (select jsonb_object_agg(item.id, jsonb_path_query_array(item.data, '$.variations[*].id'))
              from item
             where item.organizer = ${organizer}
               and item.event = ${event}
               and (${mentioned.everyItem}::boolean or item.id = any(${[...mentioned.items]}::bigint[]))) as items,
           (select jsonb_object_agg("order".code, jsonb_path_query_array("order".data, '$.positions[*].id'))
              from "order"
             where "order".organizer = ${organizer}
               and "order".event = ${event}
               and "order".code = any(${[...mentioned.orders]}::text[])) as orders,
           (select jsonb_object_agg(position.id, position.order_code)
              from position
             where position.organizer = ${organizer}
               and position.event = ${event}
               and position.id = any(${[...mentioned.positions]}::bigint[])) as positions,
           (select jsonb_object_agg(encode(credential.token_hash, 'hex'), concat_ws('/', credential.organizer, credential.kind, credential.id))
              from credential
             where credential.token_hash = any(${[...mentioned.tokens].map((hash) => Buffer.from(hash, "hex"))}::bytea[])) as tokens`);
  return {
    organizer: row.organizer,
    series: row.series ?? undefined,
    events: toMap(row.events, String),
    gates: toMap(row.gates, Number),
    salesChannels: new Set([webChannel, ...row.sales_channels]),
    subevents: new Set(row.subevents),
    taxRules: new Set(row.tax_rules),
    categories: new Set(row.categories),
    items: new Map(Object.entries(row.items ?? {}).map(([id, variations]) => [Number(id), new Set(variations)])),
    orders: toMap(row.orders, String),
    positions: toMap(row.positions, Number),
    tokens: toMap(row.tokens, String),
  };
}

function toMap<K, V>(rows: Readonly<Record<string, V>> | null, toKey: (text: string) => K): Map<K, V> {
  return new Map(Object.entries(rows ?? {}).map(([key, value]) => [toKey(key), value]));
}
