import type { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { seededNumbers } from "@tessera/testkit/seeded-numbers";

/** The event of all facts. */
export const place = { organizer: "bench", event: "festival" } as const;

const orderedAt = Date.UTC(2027, 0, 1, 12) * 1000;

/**
 * Makes the fact of one position, the same every time. It has about a kilobyte, like a ticket with attendee, address,
 * answers and invoice. Names, addresses and secrets vary like real ones, because the cost of an index depends on that. Up
 * to three positions share an order.
 */
export function positionFactOf(id: number): PositionChanged {
  const dice = rollFor(id);
  const order = Math.ceil(id / 3);
  const buyer = personOf(rollFor(-order));
  const attendee = id % 3 === 1 ? buyer : personOf(dice);
  const isOfCompany = order % 4 === 0;
  const company = isOfCompany ? `${buyer.last} ${pick(rollFor(-order), companies)}` : "";
  return {
    ...place,
    revision: 1,
    earlierCheckins: [],
    position: {
      id,
      positionid: ((id - 1) % 3) + 1,
      item: 1 + Math.floor(dice() * 6),
      price: "99.00",
      attendeeName: attendee.name,
      attendeeNameParts: { _scheme: "given_family", given_name: attendee.first, family_name: attendee.last },
      attendeeEmail: attendee.email,
      ...(isOfCompany ? { company } : {}),
      street: `${pick(dice, streets)} ${1 + Math.floor(dice() * 180)}`,
      zipcode: String(10_000 + Math.floor(dice() * 89_999)),
      city: pick(dice, cities),
      country: pick(dice, ["DE", "AT", "CH", "NL", "FR"]),
      taxRate: "19.00",
      taxValue: "15.81",
      taxRule: 1,
      secret: lettersOf(dice, 32),
      pseudonymizationId: lettersOf(dice, 10).toUpperCase(),
      seat: {
        id: 70_000_000 + id,
        name: `Block ${1 + (id % 24)}, row ${1 + (id % 60)}, seat ${1 + (id % 42)}`,
        seatGuid: `block-${1 + (id % 24)}-${1 + (id % 60)}-${id}`,
        zoneName: `Block ${1 + (id % 24)}`,
        rowName: String(1 + (id % 60)),
        seatNumber: String(1 + (id % 42)),
      },
      canceled: false,
      blocked: [],
      answers: [
        answerOf(11, "shirt-size", pick(dice, ["S", "M", "L", "XL", "XXL"]), 1100 + (id % 5)),
        answerOf(12, "diet", pick(dice, ["vegetarian", "vegan", "no restrictions", "gluten free"]), 1200 + (id % 4)),
        answerOf(13, "arrival", `${pick(dice, ["By train", "By car", "On foot"])}, on the ${1 + (id % 28)}th of July`),
        answerOf(14, "emergency-contact", `${personOf(dice).name}, +49 30 ${Math.floor(dice() * 90_000_000)}`),
        answerOf(15, "wishes", `${pick(dice, wishes)} ${pick(dice, wishes)}`),
        answerOf(16, "house-rules", "I have read the house rules and the rules for cameras and bags, and accept them."),
        answerOf(17, "news-from", pick(dice, ["A friend told me about it", "Newspaper", "I come every year"])),
      ],
      order: {
        code: `B${order.toString(36).toUpperCase().padStart(6, "0")}`,
        status: OrderStatus.PAID,
        validIfPending: false,
        requireApproval: false,
        locale: "en",
        placedAt: orderedAt + order * 1_000_000,
        email: buyer.email,
        checkinAttention: false,
        invoiceName: {
          name: buyer.name,
          nameParts: { _scheme: "given_family", given_name: buyer.first, family_name: buyer.last },
          company,
        },
      },
    },
  };
}

type Dice = () => number;

function rollFor(seed: number): Dice {
  return seededNumbers(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b));
}

function pick(dice: Dice, words: readonly string[]): string {
  return words[Math.floor(dice() * words.length)] ?? "";
}

const letters = "abcdefghijkmnpqrstuvwxyz23456789";

function lettersOf(dice: Dice, length: number): string {
  return Array.from({ length }, () => letters[Math.floor(dice() * letters.length)]).join("");
}

interface Person {
  readonly first: string;
  readonly last: string;
  readonly name: string;
  readonly email: string;
}

/** Syllables make some thirty thousand family names and some two thousand given names. */
function personOf(dice: Dice): Person {
  const first = capital(pick(dice, givenHeads) + pick(dice, givenTails));
  const last = capital(pick(dice, familyHeads) + pick(dice, familyMiddles) + pick(dice, familyTails));
  const address = `${first}.${last}`.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  const email = `${address}${Math.floor(dice() * 100)}@${pick(dice, hosts)}`;
  return { first, last, name: `${first} ${last}`, email };
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function answerOf(question: number, questionIdentifier: string, answer: string, option?: number) {
  return {
    question,
    answer,
    questionIdentifier,
    options: option === undefined ? [] : [option],
    optionIdentifiers: option === undefined ? [] : [`OPT${option}`],
  };
}

const givenHeads = words(
  "a al an ang bar ben ca car chris cla da dan do e el em eri eva fa fe flo fri ga geor gre ha han he hel il in is ja jan jo jul ka kat kla lau le li lo lu ma mar max mi mo na ni no o ol pa pe phi ra re ro sa sil si so ste su ta te the ti to ul va vi wal wer xa ya zo",
);
const givenTails = words(
  "a an as bert da di dis el ela en er erik fan ga ian ina io is ius ka le lia lin na nes ra rik",
);
const familyHeads = words(
  "al bach bau beck ber bier bo brand braun bren bu dahl diet don eb eich en fal feld fi fran frei fried gar ger glo gold gra gut ha hart hein hen hof holz hu jan kai kel kir klei koh kra kru kö la lan lin loh ma mai mar mei men mül nau neu nie ot pau pfei pol ra rei ric ro sand sau scha schmi schnei schu schä see sie som ste stein tan thal trau ul vo wag wal we wein wie win wol zan zie zim",
);
const familyMiddles = words("a ber chen den e el en er i in ken ler men ner o ren ten");
const familyTails = words(
  "bach berg born burg dorf feld felder hardt hauer haus heim hofer mann meier müller stein ström thal wald",
);
const hosts = words("example.org example.com example.net mail.example.org post.example.de web.example.com");
const streets = [
  "Lindenallee",
  "Hauptstraße",
  "Am Kirchberg",
  "Rosenweg",
  "Schillerstraße",
  "Rue des Lilas",
  "Dorpsstraat",
];
const cities = ["Neustadt", "Altenburg", "Seedorf", "Waldheim", "Grünberg", "Oberhausen", "Niederwald", "Saint-Martin"];
const companies = ["Veranstaltungstechnik GmbH", "Software AG", "and Sons", "Logistik KG", "Consulting"];
const wishes = [
  "A place near the stage would be lovely, if there still is one.",
  "We come with a pram and need a way without stairs.",
  "Please send the program as soon as it is final.",
  "Looking forward to it since last year!",
  "My friends are in the same block; may we sit together?",
];

function words(text: string): readonly string[] {
  return text.split(" ");
}
