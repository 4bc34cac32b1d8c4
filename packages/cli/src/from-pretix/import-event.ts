import { afterOrders, beforeOrders, catalogue, permissions, pickSettings, seatsOf, subevents } from "./event-lists.ts";
import { importList } from "./import-list.ts";
import { importOrders } from "./import-orders.ts";
import { addRecord, addressIn, type Place } from "./import-run.ts";
import { type Json, readAnswer } from "./read-answer.ts";

/** Sends everything of one event, what is referred to before what refers to it. */
export async function importEvent(place: Place): Promise<void> {
  const { run, state } = place;
  run.onProgress(place.event, undefined);
  const { body: event } = await readAnswer(run.pretix, addressIn(place, ""), { permission: permissions.event });
  await addRecord(place, "event", event);
  await importSettings(place);
  const isSeries = event["has_subevents"] === true;
  if (isSeries) await importList(place, subevents, (subevent) => rememberSeats(place, subevent));
  for (const source of catalogue) await importList(place, source);
  if (isSeries) for (const id of [...state.seated]) await importList(place, seatsOf(id));
  else if (hasSeats(event)) await importList(place, seatsOf(undefined));
  for (const source of beforeOrders) await importList(place, source);
  await importOrders(place);
  for (const source of afterOrders) await importList(place, source);
}

/** An import goes on without settings: reading them takes a right that a token for orders rarely has. */
async function importSettings(place: Place): Promise<void> {
  const { run, event } = place;
  const reading = { permission: permissions.settings, expected: [403, 404] };
  const { answer, body } = await readAnswer(run.pretix, addressIn(place, "settings/"), reading);
  if (answer.status === 200) return addRecord(place, "event_settings", pickSettings(body));
  return run.tally.leaveOut(`${event}: settings/, for which the token needs ${permissions.settings}`);
}

/** Dates that have not changed are not read again, their seats are. */
function rememberSeats({ state }: Place, subevent: Json): void {
  const { id } = subevent;
  if (typeof id !== "number") return;
  if (hasSeats(subevent)) state.seated.add(id);
  else state.seated.delete(id);
}

function hasSeats(of: Json): boolean {
  return of["seating_plan"] !== null && of["seating_plan"] !== undefined;
}
