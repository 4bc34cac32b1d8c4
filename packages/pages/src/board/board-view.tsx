import { Button } from "../ui/button.tsx";
import { LanguageChoice } from "../ui/language-choice.tsx";
import { Alarms } from "./alarms.tsx";
import { inEventOf, type ListedEvent, open, openReport, person, signOut } from "./board-session.ts";
import { say, sayLocalized, sayNumber, saySpan, sayTime, speech } from "./board-speech.ts";
import type { Followed } from "./follow-live.ts";
import { gateRows } from "./gate-rows.ts";
import { GatesTable } from "./gates-table.tsx";
import { ListCards } from "./list-cards.tsx";
import type { Live } from "./live.ts";
import { fillHour } from "./minutes.ts";
import { RateChart } from "./rate-chart.tsx";
import { Rates } from "./rates.tsx";
import { Refusals } from "./refusals.tsx";
import { addressOf } from "./server.ts";

/** A state each second: two may be late on a bad network. */
const staleMs = 3500;

/** One event: what needs a look and numbers first, then rates over time, then gates. */
export function BoardView({ event, followed }: { readonly event: ListedEvent; readonly followed: Followed }) {
  const live = followed.live.value;
  const isStale = followed.age.value > staleMs;
  return (
    <main class={`board${isStale ? " is-stale" : ""}`}>
      <header class="head">
        <h1>{sayLocalized(event.name)}</h1>
        <p class="row">
          {live === undefined ? null : <time class="clock">{sayTime(Date.parse(live.at))}</time>}
          {isStale ? null : <span class="pill">{say(live === undefined ? "starting" : "live")}</span>}
        </p>
      </header>
      {isStale ? (
        <p class="notice bad old" role="alert">
          {say("stale", { span: saySpan(followed.age.value) })}
        </p>
      ) : null}
      {live === undefined ? null : <Parts live={live} followed={followed} />}
      <Downloads event={event} />
      <footer class="row foot">
        <span class="quiet grow">{person.value?.name}</span>
        <Button onPress={() => void open(undefined, { mayChoose: true })}>{say("other_event")}</Button>
        <Button onPress={() => void signOut()}>{say("sign_out")}</Button>
        <LanguageChoice speech={speech} />
      </footer>
    </main>
  );
}

function Parts({ live, followed }: { readonly live: Live; readonly followed: Followed }) {
  const now = Date.parse(live.at);
  const nameOf = (gate: number | null) =>
    gate === null
      ? say("without_gate")
      : (followed.gateNames.value.get(gate) ?? say("gate_without_name", { id: gate }));
  const hour = followed.hour.value;
  return (
    <>
      <Alarms
        alarms={live.alarms}
        place={{ now, nameOf, devices: live.devices, lists: live.lists }}
        acknowledge={followed.acknowledge}
      />
      <ListCards lists={live.lists} now={now} />
      <Rates live={live} />
      <section class="sheet stack">
        <h2>{say("last_hour")}</h2>
        {hour === undefined ? null : <RateChart columns={fillHour(hour)} title={say("last_hour")} />}
      </section>
      <GatesTable rows={gateRows(live, nameOf)} hour={hour} now={now} />
      <div class="two">
        <Refusals refusals={live.refusals} lists={live.lists} now={now} nameOf={nameOf} />
        <section class="sheet stack">
          <h2>{say("doubles")}</h2>
          <p>{sayDoubles(live)}</p>
        </section>
      </div>
    </>
  );
}

/** What a crew takes away from a day. */
function Downloads({ event }: { readonly event: ListedEvent }) {
  return (
    <section class="sheet stack">
      <h2>{say("report")}</h2>
      <p class="row">
        <Button onPress={() => openReport(event, {})}>{say("open_report")}</Button>
        <a class="button link-button" href={addressOf(`${inEventOf(event)}/checkins/export/?format=csv`)} download>
          {say("every_scan")}
        </a>
      </p>
    </section>
  );
}

function sayDoubles({ doubles }: Live): string {
  if (doubles === null) return say("doubles_many");
  if (doubles.count === 0) return say("doubles_none");
  return say("doubles_some", { count: sayNumber(doubles.count), open: sayNumber(doubles.count - doubles.explained) });
}
