import { joinSql, sql } from "@tessera/kit/pg/sql";
import { expect, it } from "vitest";
import { layOutSql } from "./lay-out-sql.ts";

const ofEvent = sql`
           item.organizer = ${"org"}
       and item.event = ${"fest"}`;
const newest = sql`
     select scan.at
       from scan
      where scan.item = item.id and ${ofEvent}
      limit 1`;
const names = joinSql(
  Array.from({ length: 9 }, (_, index) => sql`item.name || '(' as "item (${sql``}name ${index})"`),
  ", ",
);

it("indents a statement that was made of parts", () => {
  const { text } = sql`
    select item.id, case
               when last.at is null then 0 end as at
      from item
      left join lateral (${newest}) as last
        on true
       and last.at > now()
     where ${ofEvent}
       and exists (${newest})`;
  expect(layOutSql(text)).toBe(
    `
select item.id, case
                when last.at is null then 0 end as at
  from item
  left join lateral (
    select scan.at
      from scan
     where scan.item = item.id and item.organizer = $1
       and item.event = $2
     limit 1) as last
    on true
       and last.at > now()
 where item.organizer = $3
   and item.event = $4
   and exists (
     select scan.at
       from scan
      where scan.item = item.id and item.organizer = $5
        and item.event = $6
      limit 1)`.slice(1),
  );
});

it("ends wide lines behind a comma or before a clause, and changes nothing but blanks and line breaks", () => {
  const { text } =
    sql`select ${names} from item where ${ofEvent} and (${newest}) is not null union all select ${names} from gone`;
  const written = layOutSql(text);
  expect(written.split("\n").filter((line) => line.length > 140)).toEqual([]);
  expect(written.replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
});
