import type { Queryable } from "@tessera/kit/pg/database";
import type { Documents, Expand, ListedPosition } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { readDocuments } from "../../store/documents.ts";
import { requireEvent } from "../../store/events.ts";
import type { EventKey } from "../../store/keys.ts";
import { readAddons } from "../../store/listed-positions.ts";
import { presentTicket } from "./present-ticket.ts";

export interface ExpandedPositions {
  /** With their add-ons, if the request expands them. */
  readonly positions: ListedPosition[];
  readonly documents: Documents | undefined;
}

/** Reads the add-ons of positions as the list sees them, and the expanded resources of both, each once. */
export async function expandPositions(
  db: Queryable,
  key: EventKey & { readonly list: number },
  { expand, positions }: { readonly expand: Expand | undefined; readonly positions: readonly ListedPosition[] },
): Promise<ExpandedPositions> {
  const shown = expand?.addons === true ? await withAddons(db, key, positions) : [...positions];
  const all = shown.flatMap((listed) => [listed, ...listed.addons]);
  return { positions: shown, documents: expand === undefined ? undefined : await readReferences(db, key, expand, all) };
}

/** Add-ons are shown without add-ons: a ticket that names itself as its base ticket would recurse without end. */
async function withAddons(
  db: Queryable,
  key: EventKey & { readonly list: number },
  positions: readonly ListedPosition[],
): Promise<ListedPosition[]> {
  const tickets = await readAddons(
    db,
    key,
    positions.flatMap(({ position }) => position?.id ?? []),
  );
  if (tickets.length === 0) return [...positions];
  const event = await requireEvent(db, key);
  const addons = tickets.map((ticket) => presentTicket(ticket, { list: key.list, event }));
  return positions.map((listed) => ({
    ...listed,
    addons: addons.filter(({ position }) => position?.addonTo === listed.position?.id),
  }));
}

async function readReferences(
  db: Queryable,
  { organizer, event }: EventKey,
  expand: Expand,
  all: readonly ListedPosition[],
): Promise<Documents | undefined> {
  const wantsItems = expand.item || expand.variation;
  if (!expand.subevent && !wantsItems && !expand.answersQuestion) return undefined;
  const positions = all.flatMap(({ position }) => position ?? []);
  const subevents = positions.flatMap(({ subevent }) => subevent ?? []);
  const items = positions.map(({ item }) => item);
  const questions = positions.flatMap(({ answers }) => answers.map(({ question }) => question));
  return {
    subevents: expand.subevent ? await readDocuments(db, "subevent", { organizer, event, ids: subevents }) : [],
    items: wantsItems ? await readDocuments(db, "item", { organizer, event, ids: items }) : [],
    questions: expand.answersQuestion ? await readDocuments(db, "question", { organizer, event, ids: questions }) : [],
  };
}
