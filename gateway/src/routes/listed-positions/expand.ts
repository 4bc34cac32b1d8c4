import type { Document, Documents, Expand } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { holds, type Tenant } from "../../access/caller.ts";
import { readJson } from "../../body/read-json.ts";
import { flag, words } from "../../http/parameter.ts";
import type { PdfData } from "./pdf-data.ts";
import type { Prints } from "./print.ts";

const expandable = ["subevent", "item", "variation", "answers.question", "addons"] as const;

/** The resources of a position that can be expanded. */
export type Expandable = (typeof expandable)[number];

export const expansion = () =>
  words("Shows in full what is otherwise an id; `addons` adds the add-ons of each ticket.", expandable);

/** The query parameter for the printed variables of tickets. */
export const printing = () =>
  flag(
    "Adds `pdf_data` to each ticket, for a credential that may read orders; what layouts print on it. It is empty while that cannot be told at once.",
  );

/** Whether tickets are shown with their printed variables: only to callers that may read orders. */
export function showsPdfData(query: { readonly pdf_data: boolean }, caller: Tenant): boolean {
  return query.pdf_data && holds(caller, "event.orders:read");
}

/** The same for a service; undefined: nothing is expanded. */
export function toExpand(names: readonly Expandable[]): Expand | undefined {
  if (names.length === 0) return undefined;
  return {
    subevent: names.includes("subevent"),
    item: names.includes("item"),
    variation: names.includes("variation"),
    answersQuestion: names.includes("answers.question"),
    addons: names.includes("addons"),
  };
}

/** The expanded resources of an answer. */
export interface Expansion {
  readonly names: readonly Expandable[];
  readonly documents: Documents | undefined;
  /** The printed variables of positions, without those of add-ons. Undefined: not requested. */
  readonly pdfData: PdfData | undefined;
  readonly prints: Prints;
}

/** A resource as its own address shows it. */
export type Resource = Readonly<Record<string, unknown>>;

/** Finds the resource of an id, if it is expanded and known; else the id. */
export interface Resources {
  readonly subevent: (id: number) => Resource | number;
  readonly item: (id: number) => Resource | number;
  readonly variation: (named: { readonly item: number; readonly id: number }) => Resource | number;
  readonly question: (id: number) => Resource | number;
}

/** Without expansion. */
const idsAlone: Resources = {
  subevent: (id) => id,
  item: (id) => id,
  variation: ({ id }) => id,
  question: (id) => id,
};

/** Reads the resources that a service answered, each once. */
export function readResources(
  { names, documents }: Pick<Expansion, "names" | "documents">,
  { event }: { readonly event: string },
): Resources {
  if (names.length === 0) return idsAlone;
  const has = (name: Expandable) => names.includes(name);
  const subevents = readSubevents(has("subevent") ? documents : undefined, { event });
  const items = readAll(has("item") || has("variation") ? documents?.items : []);
  const questions = readAll(has("answers.question") ? documents?.questions : []);
  return {
    subevent: (id: number) => subevents.get(id) ?? id,
    item: (id: number) => (has("item") ? items.get(id) : undefined) ?? id,
    variation: ({ item, id }: { readonly item: number; readonly id: number }) =>
      (has("variation") ? findVariation(items.get(item), id) : undefined) ?? id,
    question: (id: number) => questions.get(id) ?? id,
  };
}

export function readSubevents(
  documents: Documents | undefined,
  { event }: { readonly event: string },
): ReadonlyMap<number, Resource> {
  const read = readAll(documents?.subevents);
  return new Map(Array.from(read, ([id, subevent]) => [id, { ...subevent, id, event }]));
}

function readAll(documents: readonly Document[] = []): ReadonlyMap<number, Resource> {
  return new Map(documents.map(({ id, json }) => [id, readJson(json) as Resource]));
}

function findVariation(item: Resource | undefined, id: number): Resource | undefined {
  const variations = item?.["variations"];
  return Array.isArray(variations) ? (variations as Resource[]).find((variation) => variation["id"] === id) : undefined;
}
