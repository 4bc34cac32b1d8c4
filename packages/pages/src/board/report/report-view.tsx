import { busyQuarters } from "@tessera/values";
import { Button } from "../../ui/button.tsx";
import { LanguageChoice } from "../../ui/language-choice.tsx";
import { inEventOf, type ListedEvent, open, openReport } from "../board-session.ts";
import { language, say, sayLocalized, sayNumber, speech } from "../board-speech.ts";
import { addressOf } from "../server.ts";
import { EntriesChart, InsideChart } from "./day-chart.tsx";
import { type AskedReport, queryOf, type ReadReport } from "./read-report.ts";
import { dayAfter, type Report } from "./report.ts";
import { ReportTables } from "./report-tables.tsx";

/** What happened at the gates on one day: to read, to print, and to take away as a file. */
export function ReportView({ event, read }: { readonly event: ListedEvent; readonly read: ReadReport }) {
  const state = read.state.value;
  const { asked } = read;
  const report = state.at === "read" ? state.report : undefined;
  const date = report?.date ?? asked.date;
  const show = (changes: AskedReport) => openReport(event, { date, list: asked.list, ...changes });
  return (
    <main class="board report">
      <header class="head">
        <h1>{sayLocalized(event.name)}</h1>
        <p class="report-day">
          {say("report")}
          {date === undefined ? "" : ` · ${sayDay(date)}`}
        </p>
      </header>
      <nav class="row controls" aria-label={say("report")}>
        <Button
          label={say("day_before")}
          isOff={date === undefined}
          onPress={() => date === undefined || show({ date: dayAfter(date, -1) })}
        >
          ‹
        </Button>
        <label class="day">
          <span class="unseen">{say("day")}</span>
          <input
            class="field"
            type="date"
            value={date ?? ""}
            onChange={({ currentTarget: { value } }) => value < "1970" || show({ date: value })}
          />
        </label>
        <Button
          label={say("day_after")}
          isOff={date === undefined}
          onPress={() => date === undefined || show({ date: dayAfter(date, 1) })}
        >
          ›
        </Button>
        <label class="grow">
          <span class="unseen">{say("list")}</span>
          <select
            class="field"
            onChange={({ currentTarget: { value } }) => show({ list: value === "" ? undefined : Number(value) })}
          >
            <option value="" selected={asked.list === undefined}>
              {say("every_list")}
            </option>
            {read.lists.value.map(({ id, name }) => (
              <option key={id} value={id} selected={asked.list === id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </nav>
      {state.at === "read" ? <Parts report={state.report} /> : <Missing read={read} />}
      <footer class="row foot">
        <Files event={event} asked={{ date, list: asked.list }} />
        <Button onPress={() => print()}>{say("print")}</Button>
        <Button isStrong onPress={() => void open(event.slug)}>
          {say("to_board")}
        </Button>
        <LanguageChoice speech={speech} />
      </footer>
    </main>
  );
}

function Missing({ read: { state } }: { readonly read: ReadReport }) {
  const { value } = state;
  if (value.at === "refused")
    return (
      <p class="notice bad" role="alert">
        {value.detail}
      </p>
    );
  return <p role="status">{say(value.at === "away" ? "no_server" : "reading_report")}</p>;
}

function Parts({ report }: { readonly report: Report }) {
  const { totals, inside, first_scan, last_scan, timezone } = report;
  const quarters = busyQuarters(report.quarters, (quarter) => quarter);
  const time = (instant: string) => sayTimeIn(timezone, instant);
  const tiles = [
    [say("visitors"), sayNumber(totals.entered)],
    [say("entries"), sayNumber(totals.entries)],
    [say("exits"), sayNumber(totals.exits)],
    [say("refused"), sayNumber(totals.refusals)],
    [say("peak"), `${sayNumber(inside.peak)} · ${time(inside.peak_at)}`],
    [say("scans"), first_scan === null || last_scan === null ? "–" : `${time(first_scan)} – ${time(last_scan)}`],
  ] as const;
  return (
    <>
      <dl class="tiles">
        {tiles.map(([name, value]) => (
          <div key={name} class="sheet">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {first_scan === null ? (
        <p class="sheet">{say("no_scans_that_day")}</p>
      ) : (
        <>
          <section class="sheet stack">
            <EntriesChart quarters={quarters} />
            <InsideChart quarters={quarters} />
          </section>
          <div class="tables">
            <ReportTables report={report} quarters={quarters} />
          </div>
        </>
      )}
      <p class="quiet">{say("times_in", { timezone })}</p>
    </>
  );
}

function Files({ event, asked }: { readonly event: ListedEvent; readonly asked: AskedReport }) {
  const path = `${inEventOf(event)}/checkins/report/`;
  return (
    <>
      <a class="button link-button" href={addressOf(path + queryOf(asked, "pdf"))} download>
        {say("report_pdf")}
      </a>
      <a class="button link-button" href={addressOf(path + queryOf(asked, "csv"))} download>
        {say("report_csv")}
      </a>
    </>
  );
}

/** A date of the calendar is no instant: it is the same day everywhere. */
function sayDay(date: string): string {
  const at = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(at)
    ? date
    : new Intl.DateTimeFormat(language.value, { dateStyle: "full", timeZone: "UTC" }).format(at);
}

/** On the clock of 24 hours, as the quarters are; in UTC where this browser does not know the time zone. */
function sayTimeIn(timeZone: string, instant: string): string {
  const form = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  const at = Date.parse(instant);
  try {
    return new Intl.DateTimeFormat(language.value, { ...form, timeZone }).format(at);
  } catch {
    return `${new Intl.DateTimeFormat(language.value, { ...form, timeZone: "UTC" }).format(at)} UTC`;
  }
}
