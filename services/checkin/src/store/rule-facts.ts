import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { RuleFacts } from "../domain/rules/judge-rules.ts";
import type { EventKey } from "./keys.ts";
import { positionById } from "./listed-positions.ts";
import { ticketDates } from "./ticket-rows.ts";

/** What the rules of a list ask of a ticket, whatever the device and the time of the scan. */
export interface JudgedTicket extends Omit<RuleFacts, "at" | "gate" | "zone"> {
  readonly id: number;
  readonly timezone: string;
}

interface Row extends Omit<JudgedTicket, "dates" | "scans"> {
  readonly date_from: number | null;
  readonly date_to: number | null;
  readonly date_admission: number | null;
  readonly scans: JudgedTicket["scans"] | null;
}

/** Reads what rules ask of tickets, in the order of their ids here. */
export async function readJudgedTickets(
  db: Queryable,
  { organizer, event, list }: EventKey & { readonly list: number },
  ids: readonly number[],
): Promise<JudgedTicket[]> {
  const rows = await db.many<Row>(sql`
    select ticket.id, ticket.item, ticket.variation, event.timezone,
           ${ticketDates},
           history.scans
      from unnest(${ids}::bigint[]) with ordinality as judged (id, place)
     cross join lateral (${positionById({ organizer, event, id: sql`judged.id` })}) as ticket
      join event
        on event.organizer = ${organizer} and event.event = ${event}
      left join subevent
        on subevent.organizer = ${organizer} and subevent.event = ${event} and subevent.id = ticket.subevent
      left join presence
        on presence.organizer = ${organizer} and presence.event = ${event}
           and presence.position = ticket.id and presence.list = ${list}
      left join lateral (
        select json_agg(json_build_object('type', scan.type, 'at', (extract(epoch from scan.at) * 1000000)::bigint)
                        order by scan.at desc, scan.id desc) as scans
          from scan
         where scan.organizer = ${organizer} and scan.event = ${event}
           and scan.position = ticket.id and scan.list = ${list} and scan.successful
      ) as history on presence.version is not null
     order by judged.place`);
  return rows.map(({ date_from: from, date_to: to, date_admission: admission, scans, ...ticket }) => ({
    ...ticket,
    dates: { from, to, admission },
    scans: scans ?? [],
  }));
}
