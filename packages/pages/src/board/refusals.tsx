import { say, sayReason, saySpan } from "./board-speech.ts";
import type { LiveList, LiveRefusal } from "./live.ts";

/** The newest refusals, without anything that names a person. */
export function Refusals({
  refusals,
  lists,
  now,
  nameOf,
}: {
  readonly refusals: readonly LiveRefusal[];
  readonly lists: readonly LiveList[];
  readonly now: number;
  readonly nameOf: (gate: number | null) => string;
}) {
  return (
    <section class="sheet stack">
      <h2>{say("refusals")}</h2>
      {refusals.length === 0 ? <p>{say("no_refusals")}</p> : null}
      <ol class="refusals">
        {refusals.slice(0, 10).map(({ id, datetime, list, gate, reason }) => (
          <li key={id}>
            <strong>{sayReason(reason)}</strong>
            <span>{nameOf(gate)}</span>
            <span class="quiet">{lists.find((each) => each.id === list)?.name}</span>
            <span class="quiet">{say("ago", { span: saySpan(now - Date.parse(datetime)) })}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
