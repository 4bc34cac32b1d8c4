import type { Queryable } from "@tessera/kit/pg/database";
import { inMicroseconds } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { withKey } from "@tessera/kit/pg/with-key";
import type { Known, KnownPosition, KnownQuestion, KnownSeat, MediumCode, SeatPlace } from "../domain/known.ts";
import type { Scope } from "../domain/scope.ts";
import { webChannel } from "../domain/web-channel.ts";
import { eventBeingRemoved } from "./events.ts";

/** The references of a run of records. */
export type Mentioned = ReturnType<typeof nothingMentioned>;

/** Returns an empty collection for `findMentioned`. */
export function nothingMentioned() {
  return {
    events: new Set<string>(),
    gates: new Set<number>(),
    salesChannels: new Set<string>(),
    subevents: new Set<number>(),
    taxRules: new Set<number>(),
    categories: new Set<number>(),
    items: new Set<number>(),
    /** Reads all items of the event: a record names variations without their items. */
    everyItem: false,
    orders: new Set<string>(),
    positions: new Set<number>(),
    questions: new Set<number>(),
    /** Reads all questions of the event: a question is compared with all others. */
    everyQuestion: false,
    seats: new Set<number>(),
    seatPlaces: [] as SeatPlace[],
    media: new Set<number>(),
    mediumCodes: [] as MediumCode[],
    /** Ids of positions of any event of the organizer. */
    linkedPositions: new Set<number>(),
    /** Hashes of tokens, in hexadecimal. */
    tokens: new Set<string>(),
  };
}

interface KnownRow {
  readonly organizer: boolean;
  readonly being_removed: string | null;
  readonly series: boolean | null;
  readonly events: Readonly<Record<string, boolean>> | null;
  readonly gates: Readonly<Record<string, string>> | null;
  readonly sales_channels: readonly string[];
  readonly subevents: readonly number[];
  readonly tax_rules: readonly number[];
  readonly categories: readonly number[];
  readonly items: Readonly<Record<string, readonly number[]>> | null;
  readonly orders: Readonly<Record<string, readonly number[]>> | null;
  readonly codes_made_here: readonly string[];
  readonly positions: Readonly<Record<string, KnownPosition>> | null;
  readonly questions: Readonly<Record<string, KnownQuestion>> | null;
  readonly seats: Readonly<Record<string, KnownSeat>> | null;
  readonly media: Readonly<Record<string, MediumCode>> | null;
  readonly linked_positions: Readonly<Record<string, readonly string[]>> | null;
  readonly tokens: Readonly<Record<string, string>> | null;
}

/** Looks up all references of a run of records in one statement. Throws while an event of it is being removed. */
export async function findMentioned(tx: Queryable, scope: Scope, mentioned: Mentioned): Promise<Known> {
  const { organizer, event } = scope;
  const row = await tx.one<KnownRow>(sql`
    select exists (select from organizer where organizer.slug = ${organizer}) as organizer,
           (select min(event.slug)
              from event
             where event.organizer = ${organizer}
               and event.slug = any(${[event, ...mentioned.events]}::text[])
               and event.is_removed) as being_removed,
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
           array(select sold_ticket.order_code
                   from sold_ticket
                  where sold_ticket.organizer = ${organizer}
                    and sold_ticket.order_code = any(${[...mentioned.orders]}::text[])) as codes_made_here,
           (select jsonb_object_agg(position.id, jsonb_build_object(
                     'order', position.order_code,
                     'changedAt', ${inMicroseconds(sql`("order".data ->> 'last_modified')::timestamptz`)},
                     'secret', position.secret,
                     'isLeftOut', position.left_out))
              from position
              left join "order"
                on "order".organizer = position.organizer
               and "order".event = position.event
               and "order".code = position.order_code
             where position.organizer = ${organizer}
               and position.event = ${event}
               and position.id = any(${[...mentioned.positions]}::bigint[])) as positions,
           (select jsonb_object_agg(question.id, jsonb_build_object(
                     'type', question.data -> 'type',
                     'identifier', question.data -> 'identifier',
                     'options', coalesce((select jsonb_object_agg(choice ->> 'id', choice -> 'identifier')
                                            from jsonb_array_elements(question.data -> 'options') as choice), '{}'),
                     'askedAtCheckin', question.data -> 'ask_during_checkin',
                     'dependsOn', question.data -> 'dependency_question'))
              from question
             where question.organizer = ${organizer}
               and question.event = ${event}
               and (${mentioned.everyQuestion}::boolean or question.id = any(${[...mentioned.questions]}::bigint[]))) as questions,
           (select jsonb_object_agg(found.id, to_jsonb(found) || jsonb_build_object('heldBy', holder."heldBy"))
              from (select wanted.id
                      from unnest(${[...mentioned.seats]}::bigint[]) as wanted (id)
                     union
                    select named.id
                      from unnest(${mentioned.seatPlaces.map(({ guid }) => guid)}::text[],
                                  ${mentioned.seatPlaces.map(({ subevent }) => subevent ?? 0)}::bigint[]) as wanted (guid, subevent)
                     cross join lateral (select seat.id
                                           from seat
                                          where ${withKey(sql`seat.organizer, seat.event, seat.guid, coalesce(seat.subevent, 0)`, sql`${organizer}, ${event}, wanted.guid, wanted.subevent`)}
                                          limit 1) as named) as wanted
             cross join lateral (select seat.id, seat.guid, seat.subevent, seat.data
                                   from seat
                                  where ${withKey(sql`seat.organizer, seat.event, seat.id`, sql`${organizer}, ${event}, wanted.id`)}
                                  limit 1) as found
              left join lateral (select position.id as "heldBy"
                                   from position
                                  where position.seat is not null
                                    and position.taken_as is not null
                                    and ${withKey(sql`position.organizer, position.event, position.seat`, sql`${organizer}, ${event}, found.id`)}
                                  limit 1) as holder on true) as seats,
           (select jsonb_object_agg(medium.id, to_jsonb(medium))
              from (select wanted.id
                      from unnest(${[...mentioned.media]}::bigint[]) as wanted (id)
                     union
                    select named.id
                      from unnest(${mentioned.mediumCodes.map(({ identifier }) => identifier)}::text[],
                                  ${mentioned.mediumCodes.map(({ type }) => type)}::text[]) as wanted (identifier, type)
                     cross join lateral (select reusable_medium.id
                                           from reusable_medium
                                          where reusable_medium.organizer = ${organizer}
                                            and reusable_medium.identifier = wanted.identifier
                                            and reusable_medium.type = wanted.type
                                          limit 1) as named) as wanted
             cross join lateral (select reusable_medium.id, reusable_medium.type, reusable_medium.identifier
                                   from reusable_medium
                                  where reusable_medium.organizer = ${organizer}
                                    and reusable_medium.id = wanted.id
                                  limit 1) as medium) as media,
           (select jsonb_object_agg(linked.id, linked.events)
              from (select position.id, jsonb_agg(position.event) as events
                      from unnest(${[...mentioned.linkedPositions]}::bigint[]) as wanted (id)
                      join event on event.organizer = ${organizer}
                     cross join lateral (select position.id, position.event
                                           from position
                                          where position.organizer = ${organizer}
                                            and position.event = event.slug
                                            and position.id = wanted.id
                                          limit 1) as position
                     group by position.id) as linked) as linked_positions,
           (select jsonb_object_agg(encode(credential.token_hash, 'hex'), concat_ws('/', credential.organizer, credential.kind, credential.id))
              from credential
             where credential.token_hash = any(${[...mentioned.tokens].map((hash) => Buffer.from(hash, "hex"))}::bytea[])) as tokens`);
  if (row.being_removed !== null) throw eventBeingRemoved(row.being_removed);
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
    codesMadeHere: new Set(row.codes_made_here),
    positions: toMap(row.positions, Number),
    questions: toMap(row.questions, Number),
    seats: toMap(row.seats, Number),
    media: toMap(row.media, Number),
    linkedPositions: toMap(row.linked_positions, Number),
    tokens: toMap(row.tokens, String),
  };
}

function toMap<K, V>(rows: Readonly<Record<string, V>> | null, toKey: (text: string) => K): Map<K, V> {
  return new Map(Object.entries(rows ?? {}).map(([key, value]) => [toKey(key), value]));
}
