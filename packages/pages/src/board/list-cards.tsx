import { useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import type { LiveList } from "./live.ts";
import { say, sayNumber } from "./say.ts";

const shownAtFirst = 4;

/** Who is inside, list by list: the busiest first, and large. */
export function ListCards({ lists }: { readonly lists: readonly LiveList[] }) {
  const [showsAll, setShowsAll] = useState(false);
  if (lists.length === 0) return <p class="sheet">{say("no_lists")}</p>;
  const sorted = lists.toSorted((one, other) => other.checkin_count - one.checkin_count || one.id - other.id);
  const shown = showsAll ? sorted : sorted.slice(0, shownAtFirst);
  return (
    <>
      <ul class="cards">
        {shown.map(({ id, name, inside_count, checkin_count, position_count }) => (
          <li key={id} class="sheet card">
            <h2>{name}</h2>
            <p class="figure">
              <strong>{sayNumber(inside_count)}</strong> <span>{say("inside")}</span>
            </p>
            <p>{say("entered", { entered: sayNumber(checkin_count), all: sayNumber(position_count) })}</p>
            <progress max={Math.max(1, position_count)} value={checkin_count} aria-hidden="true" />
          </li>
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
