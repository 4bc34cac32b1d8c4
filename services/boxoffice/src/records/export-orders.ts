import type { ExportedFile, ExportPage } from "@tessera/kit/personal-data/holder";
import type { Queryable } from "@tessera/kit/pg/database";
import type { EventKey } from "@tessera/kit/pg/entity-key";
import { ExportShape } from "@tessera/protos/gen/platform/v1/personal_data";
import { type Answer, Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { Shredder } from "@tessera/values";
import { type AnswerFileRow, findOfPositions } from "../store/answer-files.ts";
import { readOrders } from "../store/personal-data.ts";
import { find } from "../store/positions.ts";
import { encodePosition } from "../wire/position-fact.ts";

/** Few enough that a page fits in one message. */
const ordersAtATime = 500;

/** An order is read with all of its answers. */
const answeredAtATime = 50;

/** The parts of an order's document that are exported. It does not have what is null. */
interface ExportedOrder {
  readonly email?: string;
  readonly phone?: string;
  readonly invoice_address?: object;
  readonly positions: readonly ExportedPosition[];
}

interface ExportedPosition {
  readonly id: number;
  readonly positionid: number;
  readonly attendee_name?: string;
  readonly attendee_email?: string;
  readonly company?: string;
  readonly street?: string;
  readonly zipcode?: string;
  readonly city?: string;
  readonly country?: string;
  readonly state?: string;
}

/** What an order adds to a file: values by their keys. */
type Entries = Iterable<readonly [key: string, value: unknown]>;

/** The files that orders fill (source: behaviour of vouchers, C2). Canceled positions are included. */
export const orderFiles: readonly ExportedFile[] = [
  ofOrders("attendee_info", "attendee-info.json", function* (code, { positions }) {
    for (const position of positions) {
      const { attendee_name: name, company, street, zipcode, city, country, state } = position;
      if ([name, company, street, zipcode, city, country, state].every((value) => (value ?? "") === "")) continue;
      const who = { name, company, street, zipcode, city, country, state };
      yield [
        `${code}-${position.positionid}`,
        Object.fromEntries(Object.entries(who).map(([field, value]) => [field, value ?? null])),
      ];
    }
  }),
  ofOrders("order_emails", "emails-by-order.json", function* (code, { email }) {
    if ((email ?? "") !== "") yield [code, email];
  }),
  ofOrders("order_emails", "emails-by-attendee.json", function* (code, { positions }) {
    for (const { positionid, attendee_email: email } of positions)
      if ((email ?? "") !== "") yield [`${code}-${positionid}`, email];
  }),
  ofOrders("phone_numbers", "phone-by-order.json", function* (code, { phone }) {
    if ((phone ?? "") !== "") yield [code, phone];
  }),
  ofOrders("invoice_addresses", "invoice-addresses.json", function* (code, { invoice_address: address }) {
    if (address !== undefined) yield [code, address];
  }),
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
    read: (db, place, after) =>
      readAnswered(db, place, after, ({ name, answers, files }) =>
        files.map((file) => {
          const identifier = answers.find(({ question }) => question === file.question)?.questionIdentifier ?? "";
          return { key: `${name}-${identifier}-${file.name}`, fileKey: file.fileKey };
        }),
      ),
  },
];

/** A file of what stands in the documents of orders. */
function ofOrders(
  kind: Shredder,
  name: string,
  entriesOf: (code: string, order: ExportedOrder) => Entries,
): ExportedFile {
  return {
    kind,
    name,
    shape: ExportShape.OBJECT,
    async read(db, place, after) {
      const orders = await readOrders(db, place, { after, limit: ordersAtATime });
      const entries = orders.flatMap(({ code, data }) =>
        Array.from(entriesOf(code, data as ExportedOrder), ([key, value]) => ({ key, json: toJson(value) })),
      );
      return { entries, next: orders.length < ordersAtATime ? "" : (orders.at(-1)?.code ?? "") };
    },
  };
}

/** A ticket with answers, of records and of gates. */
interface Answered {
  /** The code of its order, and its number there. */
  readonly name: string;
  readonly answers: readonly Answer[];
  readonly files: readonly AnswerFileRow[];
  /** Where the API has the file of an answer. */
  readonly path: (question: number) => string;
}

async function readAnswered(
  db: Queryable,
  place: EventKey,
  after: string,
  entriesOf: (ticket: Answered) => ExportPage["entries"],
): Promise<ExportPage> {
  const orders = await readOrders(db, place, { after, limit: answeredAtATime });
  const sold = orders.flatMap(({ code, data }) =>
    (data as ExportedOrder).positions.map(({ id, positionid }) => ({ id, name: `${code}-${positionid}` })),
  );
  const stored = await find(
    db,
    sold.map(({ id }) => ({ ...place, id })),
  );
  const answersOf = new Map(stored.map((position) => [position.id, Position.decode(encodePosition(position)).answers]));
  const ids = sold.map(({ id }) => id).filter((id) => (answersOf.get(id)?.length ?? 0) > 0);
  const files = Map.groupBy(await findOfPositions(db, place, ids), ({ position }) => position);
  const { organizer, event } = place;
  const entries = sold.flatMap(({ id, name }) => {
    const answers = (answersOf.get(id) ?? []).toSorted((one, other) => one.question - other.question);
    if (answers.length === 0) return [];
    const path = (question: number) =>
      `/api/v1/organizers/${organizer}/events/${event}/orderpositions/${id}/answer/${question}/`;
    return entriesOf({ name, answers, files: files.get(id) ?? [], path });
  });
  return { entries, next: orders.length < answeredAtATime ? "" : (orders.at(-1)?.code ?? "") };
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
