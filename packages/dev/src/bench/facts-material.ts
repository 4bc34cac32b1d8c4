import { hash } from "node:crypto";
import type { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";

const orderedAt = Date.UTC(2027, 0, 1, 12) * 1000;

/**
 * Makes the fact of one position, the same every time. It has about a kilobyte, like a ticket with attendee, address,
 * answers and invoice. Names, addresses and secrets vary like real ones, because the cost of an index depends on that. Up
 * to three positions share an order.
 */
export function positionFactOf(id: number): PositionChanged {
  const order = Math.ceil(id / 3);
  const buyer = personOf(`buyer ${order}`);
  const attendee = id % 3 === 1 ? buyer : personOf(`attendee ${id}`);
  const company = order % 4 === 0 ? `${buyer.last} and Sons` : "";
  const row = { block: 1 + (id % 24), row: 1 + (id % 60), seat: 1 + (id % 42) };
  return {
    organizer: "bench",
    event: "festival",
    revision: 1,
    earlierCheckins: [],
    position: {
      id,
      positionid: ((id - 1) % 3) + 1,
      item: 1 + (id % 6),
      price: "99.00",
      attendeeName: attendee.name,
      attendeeNameParts: attendee.parts,
      attendeeEmail: attendee.email,
      ...(company === "" ? {} : { company }),
      ...{ street: `Linden Avenue ${1 + (id % 180)}`, zipcode: String(10_000 + (id % 89_999)), country: "DE" },
      city: ["Neustadt", "Altenburg", "Seedorf", "Waldheim"][id % 4] ?? "",
      ...{ taxRate: "19.00", taxValue: "15.81", taxRule: 1 },
      secret: hash("sha256", `secret ${id}`).slice(0, 32),
      pseudonymizationId: hash("sha256", `pseudonym ${id}`).slice(0, 10).toUpperCase(),
      seat: {
        id: 70_000_000 + id,
        name: `Block ${row.block}, row ${row.row}, seat ${row.seat}`,
        seatGuid: `block-${row.block}-${row.row}-${id}`,
        zoneName: `Block ${row.block}`,
        rowName: String(row.row),
        seatNumber: String(row.seat),
      },
      ...{ canceled: false, blocked: [] },
      answers: [
        answerOf(11, ["vegetarian", "vegan", "no restrictions"][id % 3] ?? "", [1200 + (id % 3)]),
        answerOf(
          12,
          `By train, on the ${1 + (id % 28)}th of July; call ${personOf(`friend ${id}`).name}, +49 30 ${id}`,
        ),
        answerOf(13, "A place near the stage would be lovely. We come with a pram and need a way without stairs."),
        answerOf(14, "I have read the house rules and the rules for cameras and bags, and accept them."),
      ],
      order: {
        code: `B${order.toString(36).toUpperCase().padStart(6, "0")}`,
        status: OrderStatus.PAID,
        ...{ validIfPending: false, requireApproval: false, locale: "en", checkinAttention: false },
        placedAt: orderedAt + order * 1_000_000,
        email: buyer.email,
        invoiceName: { name: buyer.name, nameParts: buyer.parts, company },
      },
    },
  };
}

const given = [
  "an",
  "ber",
  "cla",
  "da",
  "eli",
  "fri",
  "geor",
  "han",
  "iri",
  "jo",
  "ka",
  "lu",
  "mar",
  "no",
  "ro",
  "wal",
];
const family = ["acker", "berg", "bruck", "eich", "feld", "gold", "hof", "klein", "lind", "mül", "neu", "roth", "schu"];
const endings = ["a", "bach", "dorf", "er", "hardt", "heim", "ler", "mann", "meyer", "ner", "stein", "thal", "wald"];

/** Makes a name of syllables. */
function personOf(seed: string) {
  const dice = Buffer.from(hash("sha256", seed), "hex");
  const pick = (words: readonly string[], die: number) => words[(dice[die] ?? 0) % words.length] ?? "";
  const first = capital(pick(given, 0) + pick(endings, 1));
  const last = capital(pick(family, 2) + pick(given, 3) + pick(endings, 4));
  const parts = { _scheme: "given_family", given_name: first, family_name: last };
  return { last, parts, name: `${first} ${last}`, email: `${first}.${last}${dice[5]}@example.org`.toLowerCase() };
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function answerOf(question: number, answer: string, options: readonly number[] = []) {
  const optionIdentifiers = options.map((option) => `OPT${option}`);
  return { question, answer, questionIdentifier: `Q${question}`, options: [...options], optionIdentifiers };
}
