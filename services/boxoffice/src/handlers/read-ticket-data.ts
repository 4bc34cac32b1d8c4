import type { Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  ReadTicketDataRequest,
  ReadTicketDataResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/ticket_data";
import type { EventDocument, EventSettings } from "@tessera/resources/records/event";
import type { Scope } from "../domain/scope.ts";
import { fault } from "../faults.ts";
import { defaultSettings } from "../records/event-settings.ts";
import * as ticketData from "../store/ticket-data.ts";
import { positionChanged } from "../wire/position-fact.ts";
import { addDocument, emptyAnswer, toEvent } from "../wire/ticket-data-messages.ts";

/** The limit of one print. */
const mostPositions = 1000;

/** A message has at most 16 MiB; this leaves room for keys and tags. */
const mostBytes = 14 * 1024 * 1024;

/** Each is read before its size is known. */
const mostPassedOver = 4;

/** Reads the printable data of tickets of an event in one snapshot, until the answer is full. */
export async function readTicketData(
  { organizer, event, positions: named, onlyReferences, newest }: ReadTicketDataRequest,
  { reads }: { readonly reads: Reads },
): Promise<ReadTicketDataResponse> {
  if (Math.max(named.length, newest ?? 0) > mostPositions)
    throw fault("too_many_tickets", `ask for ${mostPositions} tickets at most`);
  const scope = { organizer, event };
  // Stored texts have no NUL.
  if ((named.length === 0 && newest === undefined) || `${organizer}${event}`.includes("\0")) {
    return { ...emptyAnswer(), answered: named.length };
  }
  return reads.inTurn(organizer, (db) =>
    db.transaction(async (tx) => {
      if (newest !== undefined) return readNewest(tx, { scope, onlyReferences, newest });
      const found = await read(tx, { scope, onlyReferences, positions: named, isOfEvent: false });
      if (found.kind === "too large") throw fault("order_too_large", tooLarge);
      return found.answer;
    }),
  );
}

const tooLarge = "An order of these tickets is too large to be printed.";

/** Reads the newest tickets. Orders that are too large are skipped; after a few of them there are no tickets. */
async function readNewest(
  tx: Queryable,
  { scope, onlyReferences, newest }: { scope: Scope; onlyReferences: boolean; newest: number },
): Promise<ReadTicketDataResponse> {
  const except: string[] = [];
  for (;;) {
    const positions =
      except.length < mostPassedOver ? await ticketData.findNewest(tx, scope, { most: newest, except }) : [];
    const found = await read(tx, { scope, onlyReferences, positions, isOfEvent: true });
    if (found.kind === "answer") return found.answer;
    except.push(found.order);
  }
}

interface Wanted {
  readonly scope: Scope;
  readonly onlyReferences: boolean;
  readonly positions: readonly number[];
  /** Whether the event is wanted even without tickets. */
  readonly isOfEvent: boolean;
}

type Found =
  | { readonly kind: "answer"; readonly answer: ReadTicketDataResponse }
  | { readonly kind: "too large"; readonly order: string };

async function read(tx: Queryable, { scope, onlyReferences, positions, isOfEvent }: Wanted): Promise<Found> {
  const tickets = await ticketData.findTicketRows(tx, scope, positions);
  const found = { ...emptyAnswer(), tickets, answered: positions.length };
  if (onlyReferences || (tickets.length === 0 && !isOfEvent)) return { kind: "answer", answer: found };
  const orders = [...new Set(tickets.map(({ order }) => order))];
  const sold = await ticketData.readPositionsOfOrders(tx, scope, { orders, mostBytes });
  const shared = await ticketData.readEvent<EventDocument, EventSettings>(tx, scope);
  if (shared === undefined) throw fault("no_such_event", "There is no such event.");
  const documents = await ticketData.readNamed(tx, scope, namedBy(sold, tickets));
  const answer = { ...found, ...toEvent(shared, defaultSettings.data) };
  return fill(answer, { requested: positions, sold, named: documents });
}

function namedBy(sold: readonly ticketData.SoldPosition[], tickets: readonly ticketData.TicketRow[]): ticketData.Named {
  const orders = new Set(sold.map(({ orderCode }) => orderCode));
  return {
    orders: [...orders],
    subevents: [...new Set(sold.flatMap(({ subevent }) => subevent ?? []))],
    items: [...new Set(sold.map(({ item }) => item))],
    tickets: [...new Set(tickets.filter(({ order }) => orders.has(order)).map(({ position }) => position))],
  };
}

interface Contents {
  readonly requested: readonly number[];
  readonly sold: readonly ticketData.SoldPosition[];
  readonly named: readonly ticketData.NamedDocument[];
}

/** Fills an answer order by order, with the referenced entities, as far as there is room. */
function fill(answer: ReadTicketDataResponse, { requested, sold, named }: Contents): Found {
  const documents = Map.groupBy(named, ({ kind }) => kind);
  const shared = [...(documents.get("question") ?? []), ...(documents.get("category") ?? [])];
  const byName = new Map(named.map((document) => [nameOf(document.kind, document.key), document]));
  const ticketsOf = Map.groupBy(answer.tickets, ({ order }) => order);
  const full: ReadTicketDataResponse = { ...answer, tickets: [] };
  const written = new Set<string>();
  const fitting = new Set<string>();
  let left = mostBytes - answer.organizer.length - answer.event.length - answer.settings.length - sizeOf(shared);
  for (const document of shared) addDocument(full, document);
  for (const [code, positions] of Map.groupBy(sold, ({ orderCode }) => orderCode)) {
    const facts = positions.map((position) => Buffer.from(positionChanged.encode(position)));
    const names = [
      nameOf("order", code),
      ...positions.flatMap(({ item, subevent }) => [nameOf("item", item), nameOf("subevent", subevent)]),
      ...(ticketsOf.get(code) ?? []).map(({ position }) => nameOf("medium", position)),
    ];
    const fresh = [...new Set(names)].flatMap((name) => (written.has(name) ? [] : (byName.get(name) ?? [])));
    left -= sizeOf(fresh) + facts.reduce((sum, fact) => sum + fact.length, 0);
    if (left < 0) break;
    for (const document of fresh) addDocument(full, document);
    for (const name of names) written.add(name);
    full.positions.push(...facts);
    fitting.add(code);
  }
  return cut(full, { tickets: answer.tickets, requested, fitting });
}

/** Ends an answer before the first ticket of an order that does not fit. */
function cut(
  full: ReadTicketDataResponse,
  {
    tickets,
    requested,
    fitting,
  }: Pick<ReadTicketDataResponse, "tickets"> & {
    readonly requested: readonly number[];
    readonly fitting: ReadonlySet<string>;
  },
): Found {
  const first = tickets.findIndex(({ order }) => !fitting.has(order));
  const cutOff = tickets[first];
  if (cutOff === undefined) return { kind: "answer", answer: { ...full, tickets: [...tickets] } };
  if (fitting.size === 0) return { kind: "too large", order: cutOff.order };
  const answered = requested.indexOf(cutOff.position);
  return { kind: "answer", answer: { ...full, tickets: tickets.slice(0, first), answered } };
}

function nameOf(kind: ticketData.DocumentKind, key: string | number | null): string {
  return `${kind} ${key}`;
}

function sizeOf(documents: readonly ticketData.NamedDocument[]): number {
  return documents.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}
