import { useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { say, sayNumber, saySpan } from "./board-speech.ts";
import type { LiveLimit, LiveList } from "./live.ts";
import { roomOf, shownLimit } from "./room.ts";

const shownAtFirst = 4;

/** Who is inside, list by list: those with a limit first, then the busiest; the first is large. */
export function ListCards({ lists, now }: { readonly lists: readonly LiveList[]; readonly now: number }) {
  const [showsAll, setShowsAll] = useState(false);
  if (lists.length === 0) return <p class="sheet">{say("no_lists")}</p>;
  const sorted = lists.toSorted(
    (one, other) =>
      Number(other.limit !== null) - Number(one.limit !== null) ||
      other.checkin_count - one.checkin_count ||
      one.id - other.id,
  );
  const shown = showsAll ? sorted : sorted.slice(0, shownAtFirst);
  return (
    <>
      <ul class="cards">
        {shown.map((list) => (
          <Card key={list.id} list={list} now={now} />
        ))}
      </ul>
      {lists.length > shownAtFirst ? (
        <p>
          <Button onPress={() => setShowsAll(!showsAll)}>
            {say(showsAll ? "fewer_lists" : "all_lists", { count: sayNumber(lists.length) })}
          </Button>
        </p>
      ) : null}
    </>
  );
}

function Card({ list, now }: { readonly list: LiveList; readonly now: number }) {
  const { name, inside_count, checkin_count, position_count, limit } = list;
  const entered = say("entered", { entered: sayNumber(checkin_count), all: sayNumber(position_count) });
  return (
    <li class={`sheet card ${limit === null ? "" : roomOf(limit)}`}>
      <h2>{name}</h2>
      <p class="figure">
        <strong>{sayNumber(limit?.persons ?? inside_count)}</strong> <span>{say("inside")}</span>
      </p>
      {limit === null ? (
        <progress max={Math.max(1, position_count)} value={checkin_count} aria-hidden="true" />
      ) : (
        <>
          <progress max={shownLimit(limit)} value={limit.persons} aria-hidden="true" />
          <p>
            <strong>{sayRoom(limit)}</strong> {sayForecast(limit, now)}
          </p>
        </>
      )}
      <p>{entered}</p>
    </li>
  );
}

function sayRoom(limit: LiveLimit): string {
  const values = { limit: sayNumber(shownLimit(limit)), soft: sayNumber(limit.soft_limit ?? 0) };
  const room = roomOf(limit);
  return say(
    room === "free" ? "room_of" : room === "near" ? "room_near" : room === "full" ? "room_full" : "room_soft",
    values,
  );
}

function sayForecast({ reached, persons, ...limit }: LiveLimit, now: number): string {
  const ms = reached === null ? 0 : Date.parse(reached) - now;
  return ms > 0 && persons < shownLimit({ ...limit, persons, reached })
    ? say("room_forecast", { span: saySpan(ms) })
    : "";
}
