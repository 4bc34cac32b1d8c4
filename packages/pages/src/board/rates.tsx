import { say, sayNumber, sayShare } from "./board-speech.ts";
import type { Live } from "./live.ts";

/** What all gates did within the last minute. */
export function Rates({ live }: { readonly live: Pick<Live, "entries" | "exits" | "refused"> }) {
  const { entries, exits, refused } = live;
  const all = entries + exits + refused;
  return (
    <section class="sheet rates" aria-label={say("last_minute")}>
      <h2>{say("last_minute")}</h2>
      <dl>
        <div>
          <dt>{say("entries")}</dt>
          <dd class="entries">{sayNumber(entries)}</dd>
        </div>
        <div>
          <dt>{say("exits")}</dt>
          <dd class="exits">{sayNumber(exits)}</dd>
        </div>
        <div>
          <dt>{say("refused")}</dt>
          <dd class="refused">
            {sayNumber(refused)}
            {all > 0 && refused > 0 ? <small>{say("refused_share", { share: sayShare(refused / all) })}</small> : null}
          </dd>
        </div>
      </dl>
    </section>
  );
}
