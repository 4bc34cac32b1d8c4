import { formatPhone } from "../formats/format-phone.ts";
import type { Texts } from "../ticket.ts";
import { answerTo, findQuestion, questionPrefix } from "./answers.ts";
import { moments } from "./moments.ts";
import { findNameVariable, listNameVariables, people } from "./people.ts";
import { places } from "./places.ts";
import { products } from "./products.ts";
import { scans } from "./scans.ts";
import { type Evaluate, occasionOf, type View } from "./view.ts";

const empty: Evaluate = () => "";

const variables: Readonly<Record<string, Evaluate>> = {
  secret: ({ ticket }) => ticket.position.secret,
  order: ({ ticket }) => ticket.order.code,
  positionid: ({ ticket }) => String(ticket.position.positionid),
  order_positionid: ({ ticket }) => `${ticket.order.code}-${ticket.position.positionid}`,
  pseudonymization_id: ({ ticket }) => ticket.position.pseudonymizationId,
  telephone: ({ ticket }) => (ticket.order.phone === null ? "" : formatPhone(ticket.order.phone)),
  email: ({ ticket }) => ticket.order.email ?? "",
  event_name: ({ ticket, formats }) => formats.text(occasionOf(ticket).name),
  event_series_name: ({ ticket, formats }) => formats.text(ticket.event.name),
  // A date without a place is where its event is.
  event_location: ({ ticket, formats }) =>
    formats.text(occasionOf(ticket).location) || formats.text(ticket.event.location),
  organizer: ({ ticket }) => ticket.organizer,
  organizer_info_text: ({ ticket, formats }) => formats.text(ticket.settings.organizerInfoText),
  event_info_text: ({ ticket, formats }) => formats.text(ticket.settings.eventInfoText),
  medium_identifier: ({ ticket }) => ticket.medium ?? "",
  ...moments,
  ...products,
  ...people,
  ...places,
  ...scans,
  // Records never have these.
  program_times: empty,
  giftcard_issuance_date: empty,
  giftcard_expiry_date: empty,
};

const metaPrefix = "meta:";
const itemMetaPrefix = "itemmeta:";

/** Finds a variable by name; undefined: the name is unknown. */
export function findVariable(name: string, { ticket }: Pick<View, "ticket">): Evaluate | undefined {
  if (Object.hasOwn(variables, name)) return variables[name];
  if (name.startsWith(metaPrefix)) return meta(name.slice(metaPrefix.length));
  if (name.startsWith(itemMetaPrefix)) return itemMeta(name.slice(itemMetaPrefix.length));
  const question = findQuestion(ticket, name);
  return question === undefined ? findNameVariable(name, ticket.settings.nameScheme) : answerTo(question);
}

export function listVariables(ticket: View["ticket"]): string[] {
  const named = metaSources(ticket).flatMap(({ prefix, texts }) => Object.keys(texts).map((name) => prefix + name));
  return [
    ...listEventVariables(ticket),
    ...ticket.questions.filter(({ type }) => type !== "F").map(({ identifier }) => `${questionPrefix}${identifier}`),
    ...new Set(named),
  ];
}

export function listEventVariables({ settings }: Pick<View["ticket"], "settings">): string[] {
  return [...Object.keys(variables), ...listNameVariables(settings.nameScheme)];
}

/** Meta data of date, event and product: the keys, after a prefix, are names of variables. */
export function metaSources({ event, subevent, position }: View["ticket"]): readonly {
  readonly prefix: string;
  readonly texts: Texts;
}[] {
  const { item, variation } = position;
  return [
    { prefix: metaPrefix, texts: event.metaData },
    ...(subevent === null ? [] : [{ prefix: metaPrefix, texts: subevent.metaData }]),
    { prefix: itemMetaPrefix, texts: event.itemMetaProperties },
    { prefix: itemMetaPrefix, texts: item.metaData },
    ...(variation === null ? [] : [{ prefix: itemMetaPrefix, texts: variation.metaData }]),
  ];
}

/** The meta data of the date, else of the event. */
function meta(name: string): Evaluate {
  return ({ ticket: { subevent, event } }) => firstOf([subevent?.metaData, event.metaData], name);
}

/** The meta data of the variation, else of the item, else the default. */
function itemMeta(name: string): Evaluate {
  return ({ ticket: { position, event } }) =>
    firstOf([position.variation?.metaData, position.item.metaData, event.itemMetaProperties], name);
}

function firstOf(sources: readonly (Texts | undefined)[], name: string): string {
  const source = sources.find((texts) => texts !== undefined && Object.hasOwn(texts, name) && texts[name] !== "");
  return source?.[name] ?? "";
}
