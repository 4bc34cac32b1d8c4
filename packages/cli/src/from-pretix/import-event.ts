import { afterOrders, beforeOrders, catalogue, permissions, pickSettings, seatsOf, subevents } from "./event-lists.ts";
import { importList } from "./import-list.ts";
import { importOrders } from "./import-orders.ts";
import { addRecord, addressIn, type Scope } from "./import-run.ts";
import { type Json, readAnswer } from "./read-answer.ts";

/** Sends all records of one event. An object comes before the objects that refer to it. */
export async function importEvent(scope: Scope): Promise<void> {
  const { run, state } = scope;
  run.onProgress(scope.event, undefined);
  const { body: event } = await readAnswer(run.pretix, addressIn(scope, ""), { permission: permissions.event });
  await addRecord(scope, "event", event);
  await importSettings(scope);
  const isSeries = event["has_subevents"] === true;
  if (isSeries) await importList(scope, subevents, (subevent) => rememberSeats(scope, subevent));
  for (const source of catalogue) await importList(scope, source);
  if (isSeries) for (const id of [...state.seated]) await importList(scope, seatsOf(id));
  else if (hasSeats(event)) await importList(scope, seatsOf(undefined));
  for (const source of beforeOrders) await importList(scope, source);
  await importOrders(scope);
  for (const source of afterOrders) await importList(scope, source);
}

/** An import continues without settings: a token for orders rarely may read them. */
async function importSettings(scope: Scope): Promise<void> {
  const { run, event } = scope;
  const reading = { permission: permissions.settings, expected: [403, 404] };
  const { answer, body } = await readAnswer(run.pretix, addressIn(scope, "settings/"), reading);
  if (answer.status === 200) return addRecord(scope, "event_settings", pickSettings(body));
  return run.tally.leaveOut(`${event}: settings/, for which the token needs ${permissions.settings}`);
}

/** Unchanged dates are not read again, but their seats are. */
function rememberSeats({ state }: Scope, subevent: Json): void {
  const { id } = subevent;
  if (typeof id !== "number") return;
  if (hasSeats(subevent)) state.seated.add(id);
  else state.seated.delete(id);
}

function hasSeats(of: Json): boolean {
  return of["seating_plan"] !== null && of["seating_plan"] !== undefined;
}
