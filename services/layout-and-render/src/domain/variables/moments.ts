import type { Instant } from "@tessera/values";
import { type Evaluate, occasionOf, type View, whereItIs } from "./view.ts";

export type Moment = (view: View) => Instant | null;
type Form = "date" | "shortDate" | "shortDateTime" | "time" | "weekday";

/** Prints a moment in one form; empty without a moment. */
export function write(form: Form, moment: Moment): Evaluate {
  return (view) => {
    const instant = moment(view);
    return instant === null ? "" : view.formats.dates[form](whereItIs(view, instant));
  };
}

const begin: Moment = ({ ticket }) => occasionOf(ticket).dateFrom;
const end: Moment = ({ ticket }) => occasionOf(ticket).dateTo;
const shownEnd: Moment = ({ ticket }) => (ticket.settings.showsDateTo ? occasionOf(ticket).dateTo : null);
const admission: Moment = ({ ticket }) => occasionOf(ticket).dateAdmission;
const now: Moment = (view) => view.now;
const purchase: Moment = ({ ticket }) => ticket.order.placedAt;
const validFrom: Moment = ({ ticket }) => ticket.position.validFrom;
const validUntil: Moment = ({ ticket }) => ticket.position.validUntil;

/** Days and times of the event, the order and the ticket. */
export const moments = {
  event_date: write("date", begin),
  event_date_range: (view) => {
    const { dateFrom, dateTo } = occasionOf(view.ticket);
    return view.formats.dates.dateRange(whereItIs(view, dateFrom), whereItIs(view, dateTo ?? dateFrom));
  },
  event_begin: write("shortDateTime", begin),
  event_begin_date: write("shortDate", begin),
  event_begin_time: write("time", begin),
  event_begin_weekday: write("weekday", begin),
  event_end: write("shortDateTime", end),
  event_end_date: write("shortDate", end),
  event_end_time: write("time", end),
  event_end_weekday: write("weekday", shownEnd),
  event_admission: write("shortDateTime", admission),
  event_admission_time: write("time", admission),
  now_date: write("shortDate", now),
  now_datetime: write("shortDateTime", now),
  now_time: write("time", now),
  purchase_date: write("shortDate", purchase),
  purchase_datetime: write("shortDateTime", purchase),
  purchase_time: write("time", purchase),
  valid_from_date: write("shortDate", validFrom),
  valid_from_datetime: write("shortDateTime", validFrom),
  valid_from_time: write("time", validFrom),
  valid_until_date: write("shortDate", validUntil),
  valid_until_datetime: write("shortDateTime", validUntil),
  valid_until_time: write("time", validUntil),
} as const satisfies Readonly<Record<string, Evaluate>>;
