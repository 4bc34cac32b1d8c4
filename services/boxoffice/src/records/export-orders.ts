import type { EventKey } from "@tessera/events/entity-key";
import type { ExportedFile, ExportPage } from "@tessera/events/personal-data/holder";
import type { Queryable } from "@tessera/kit/pg/database";
import { ExportShape } from "@tessera/protos/gen/platform/v1/personal_data";
import { type Answer, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { compileCompletion } from "@tessera/records/document";
import { orderRecord } from "@tessera/resources/records/order";
import type { Shredder } from "@tessera/values";
import { composeName } from "../domain/compose-name.ts";
import { hasFiles } from "../store/erase-documents.ts";
import {
  type OrderPart,
  readAnswerable,
  readField,
  readPositionFields,
  type Start,
} from "../store/following-orders.ts";
import { find } from "../store/positions.ts";
import { type AnswerFileRow, findOfPositions } from "../store/stored-answer-files.ts";
import { encodePosition } from "../wire/position-fact.ts";

/** A message may have 16 MiB, and the answers of a ticket are never split. */
const pageBytes = 2 * 2 ** 20;

const who = ["company", "street", "zipcode", "city", "country", "state"] as const;

/** The exported fields of a position. */
interface ExportedPosition extends Readonly<Partial<Record<(typeof who)[number], string | null>>> {
  readonly positionid: number;
  readonly attendee_name?: string | null;
  readonly attendee_name_parts?: Readonly<Record<string, string>> | null;
  readonly attendee_email?: string | null;
}

type Entry = ExportPage["entries"][number];

/** The exported files of orders (D3.16). Canceled positions are included (D3.15). */
export const orderFiles: readonly ExportedFile[] = [
  ofPositions("attendee_info", "attendee-info.json", {
    fields: ["attendee_name", "attendee_name_parts", ...who],
    show(position) {
      const name = position.attendee_name || composeName(position.attendee_name_parts ?? {});
      const rest = who.map((field) => [field, position[field] ?? null] as const);
      const shown: Record<string, string | null> = { name: name || null, ...Object.fromEntries(rest) };
      return Object.values(shown).some((value) => (value ?? "") !== "") ? shown : undefined;
    },
  }),
  ofOrders("order_emails", "emails-by-order.json", "email"),
  ofPositions("order_emails", "emails-by-attendee.json", {
    fields: ["attendee_email"],
    show: ({ attendee_email: email }) => email || undefined,
  }),
  ofOrders("phone_numbers", "phone-by-order.json", "phone"),
  ofOrders("invoice_addresses", "invoice-addresses.json", "invoice_address"),
  {
    kind: "question_answers",
    name: "question-answers.json",
    shape: ExportShape.OBJECT,
    read: (db, place, after) =>
      readAnswered(db, place, after, ({ name, answers, path }) => [
        {
          key: name,
          json: toJson(answers.map((answer) => showAnswer(answer, path))),
        },
      ]),
  },
  {
    kind: "question_answers",
    name: "question-answers files",
    shape: ExportShape.FILES,
    async read(db, place, after) {
      // Mostly no question asks for files; then the positions need not be read.
      if (after === "" && !(await hasFiles(db, place))) return { entries: [], next: "" };
      return readAnswered(db, place, after, ({ name, answers, files }) =>
        files.map((file) => {
          const identifier = answers.find(({ question }) => question === file.question)?.questionIdentifier ?? "";
          return { key: `${name}-${identifier}-${file.name}`, fileKey: file.fileKey };
        }),
      );
    },
  },
];

function ofOrders(kind: Shredder, name: string, field: "email" | "phone" | "invoice_address"): ExportedFile {
  // Documents are kept without their nulls.
  const complete = compileCompletion(orderRecord.properties[field]);
  return {
    kind,
    name,
    shape: ExportShape.OBJECT,
    async read(db, place, after) {
      const orders = await readField(db, place, startOf(after), field);
      return toPage(orders, ({ code, data }) =>
        (data ?? "") === "" ? [] : [{ key: code, json: toJson(complete(data)) }],
      );
    },
  };
}

/** A file of fields of positions; `show` returns undefined if there is nothing to show. */
function ofPositions(
  kind: Shredder,
  name: string,
  { fields, show }: { readonly fields: readonly string[]; readonly show: (position: ExportedPosition) => unknown },
): ExportedFile {
  return {
    kind,
    name,
    shape: ExportShape.OBJECT,
    async read(db, place, after) {
      const read = ["positionid", ...fields];
      const positions = await readPositionFields<ExportedPosition>(db, place, startOf(after), read);
      return toPage(positions, ({ code, index, data }) => {
        const shown = index === null ? undefined : show(data);
        return shown === undefined ? [] : [{ key: `${code}-${data.positionid}`, json: toJson(shown) }];
      });
    },
  };
}

/** Makes a page of as many parts of orders as fit. Without a part, there are no more pages. */
function toPage<T>(parts: readonly OrderPart<T>[], entriesOf: (part: OrderPart<T>) => readonly Entry[]): ExportPage {
  const entries: Entry[] = [];
  let bytes = 0;
  for (const part of parts) {
    if (bytes >= pageBytes) return { entries, next: cursorOf({ code: part.code, position: part.index ?? 0 }) };
    for (const entry of entriesOf(part)) {
      entries.push(entry);
      bytes += Buffer.byteLength(`${entry.key}${entry.fileKey}`) + (entry.json?.length ?? 0);
    }
  }
  const last = parts.at(-1);
  if (last === undefined) return { entries, next: "" };
  const { code, index, isLast } = last;
  return { entries, next: cursorOf(isLast ? { code } : { code, position: (index ?? 0) + 1 }) };
}

function cursorOf(start: Start): string {
  return JSON.stringify(start);
}

function startOf(cursor: string): Start {
  return cursor === "" ? { code: "" } : (JSON.parse(cursor) as Start);
}

/** A ticket with answers, from records and from gates. */
interface Answered {
  /** The code of its order, and its number there. */
  readonly name: string;
  readonly answers: readonly Answer[];
  readonly files: readonly AnswerFileRow[];
  /** The API path of an answer's file. */
  readonly path: (question: number) => string;
}

async function readAnswered(
  db: Queryable,
  place: EventKey,
  after: string,
  entriesOf: (ticket: Answered) => ExportPage["entries"],
): Promise<ExportPage> {
  const parts = await readAnswerable(db, place, startOf(after));
  const sold = parts.filter(({ index }) => index !== null).map(({ data }) => data);
  const stored = await find(
    db,
    sold.map(({ id }) => ({ ...place, id })),
  );
  const answersOf = new Map(stored.map((position) => [position.id, Position.decode(encodePosition(position)).answers]));
  const ids = sold.map(({ id }) => id).filter((id) => (answersOf.get(id)?.length ?? 0) > 0);
  const files = Map.groupBy(await findOfPositions(db, place, ids), ({ position }) => position);
  const { organizer, event } = place;
  return toPage(parts, ({ code, data: { id, positionid } }) => {
    const answers = (answersOf.get(id) ?? []).toSorted((one, other) => one.question - other.question);
    if (answers.length === 0) return [];
    const path = (question: number) =>
      `/api/v1/organizers/${organizer}/events/${event}/orderpositions/${id}/answer/${question}/`;
    return entriesOf({ name: `${code}-${positionid}`, answers, files: files.get(id) ?? [], path });
  });
}

function showAnswer(answer: Answer, path: (question: number) => string): object {
  return {
    question: answer.question,
    answer: answer.file === true ? path(answer.question) : answer.answer,
    question_identifier: answer.questionIdentifier,
    options: answer.options,
    option_identifiers: answer.optionIdentifiers,
  };
}

function toJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
