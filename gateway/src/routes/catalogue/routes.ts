import {
  type CatalogueDocument,
  DocumentKind,
  type GetDocumentRequest,
  type ListDocumentsRequest,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import type { Schema } from "@tessera/schema/schema";
import { scanProfiles, staffProfiles, standsInPublic } from "@tessera/values";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { notFound } from "../../http/answers.ts";
import { declareList, knownAsOf } from "../../http/list-route.ts";
import { cursor } from "../../http/paging.ts";
import type { Parameter, Parameters, Values } from "../../http/parameter.ts";
import {
  exclusion,
  flagFilter,
  idFilter,
  idListFilter,
  instantFilter,
  ordering,
  textFilter,
} from "../../http/parameter.ts";
import { declare, type Example } from "../../http/route.ts";
import type { Shown } from "../../http/without-fields.ts";
import { amongEventsOf } from "./among.ts";
import { catalogueExamples as examples } from "./examples.ts";
import {
  presentAvailability,
  presentDocument,
  presentEvent,
  presentItem,
  presentMedium,
  presentQuestion,
  presentQuota,
  presentSubevent,
} from "./present.ts";
import * as shown from "./schema.ts";

const reading: Access = { kind: "event", anyOf: [], profiles: scanProfiles };
const ofMembers: Access = { kind: "member", anyOf: [], profiles: scanProfiles };
const readingQuotas: Access = { ...reading, profiles: [] };
const readingCodes: Access = { ...reading, anyOf: ["event.orders:read", "event.orders:checkin"] };
const readingMedia: Access = { ...ofMembers, anyOf: readingCodes.anyOf, profiles: staffProfiles };

/** The parameters of a list: documents of every kind can be ordered. */
type Sorted = Parameters & { readonly ordering: Parameter<readonly string[]> };

type Conditions = Partial<
  Omit<ListDocumentsRequest, "organizer" | "event" | "kind" | "page" | "pageSize" | "among" | "ordering" | "knownAsOf">
>;

/** A kind of readable documents. */
interface Kind {
  readonly kind: DocumentKind;
  readonly shows: Schema;
  /** `events` are those that the credentials are for; undefined: all. */
  readonly present: (document: CatalogueDocument | undefined, events?: ReadonlySet<string>) => Shown;
}

const kinds = {
  event: { kind: DocumentKind.EVENT, shows: shown.event, present: presentEvent },
  settings: { kind: DocumentKind.EVENT_SETTINGS, shows: shown.settings, present: presentDocument },
  subevent: { kind: DocumentKind.SUBEVENT, shows: shown.subevent, present: presentSubevent },
  category: { kind: DocumentKind.CATEGORY, shows: shown.category, present: presentDocument },
  item: { kind: DocumentKind.ITEM, shows: shown.item, present: presentItem },
  question: { kind: DocumentKind.QUESTION, shows: shown.question, present: presentQuestion },
  revokedSecret: { kind: DocumentKind.REVOKED_SECRET, shows: shown.revokedSecret, present: presentDocument },
  blockedSecret: { kind: DocumentKind.BLOCKED_SECRET, shows: shown.blockedSecret, present: presentDocument },
  quota: { kind: DocumentKind.QUOTA, shows: shown.quota, present: presentQuota },
  availability: { kind: DocumentKind.QUOTA, shows: shown.availability, present: presentAvailability },
  gate: { kind: DocumentKind.GATE, shows: shown.gate, present: presentDocument },
  medium: { kind: DocumentKind.REUSABLE_MEDIUM, shows: shown.medium, present: presentMedium },
} as const satisfies Readonly<Record<string, Kind>>;

interface ListOf<P extends Sorted> {
  readonly name: string;
  readonly example: Example;
  readonly summary: string;
  readonly access: Access;
  readonly page: string;
  readonly query: P;
  /** What the parameters ask for, beside the order. */
  readonly conditions?: (query: Values<P>) => Conditions;
  /** Devices in public see an empty list. */
  readonly isOfStaff?: true;
  /** For a list with a time of its last change: what it lists. */
  readonly tellsChangesOf?: string;
  /** Whether an answer also depends on what is no change of the list: it has no such time. */
  readonly showsMore?: (query: Values<P>) => boolean;
}

const changedSince = instantFilter(
  "Only what came or changed here at this time or later. Send `X-Page-Generated` of an earlier answer.",
);

const dates = {
  ordering: ordering(["id", "date_from", "last_modified"], "date_from,id"),
  active: flagFilter("Only dates of which tickets are sold, or only others."),
  ends_after: instantFilter("Leaves out dates that have ended by then."),
  search: textFilter("Only dates with this text in their name."),
  modified_since: changedSince,
};

const toDates = (query: Values<typeof dates>): Conditions => ({
  active: query.active,
  endsAfter: query.ends_after,
  search: query.search,
  changedSince: query.modified_since,
});

const inPlace = { ordering: ordering(["id", "position"], "position,id") };

const whenChanged = (things: string) => ({
  unchanged: `No ${things} were created, changed or deleted since \`If-Modified-Since\`.`,
  changed: `The ${things} of this event have changed since then.`,
});

/** Imported records, for reading: events, dates, products, questions, codes and media. */
export function catalogueRoutes({ catalogue }: Pick<Clients, "catalogue">) {
  const list = <const P extends Sorted>(
    { kind, shows, present }: Kind,
    { query, conditions = () => ({}), isOfStaff, tellsChangesOf, showsMore = () => false, ...said }: ListOf<P>,
  ) =>
    declareList({
      ...said,
      shows,
      query: {
        ...query,
        cursor,
        exclude: exclusion("Leaves a field out of the answer.", Object.keys(shows.properties ?? {})),
      },
      isGenerated: true,
      ...(tellsChangesOf === undefined ? {} : { conditional: whenChanged(tellsChangesOf) }),
      async find(request, page) {
        if (isOfStaff === true && standsInPublic(request.tenant.profile)) return { results: [], count: 0, page: 1 };
        const sent = request.query as Values<P> & Values<Pick<Sorted, "ordering">> & { readonly cursor?: string };
        const tellsChanges = tellsChangesOf !== undefined && !showsMore(sent);
        const known = tellsChanges ? knownAsOf(request) : undefined;
        const asked = {
          kind,
          ordering: [...sent.ordering],
          ...page,
          cursor: sent.cursor,
          ...conditions(sent),
          knownAsOf: known,
        };
        const place =
          said.access.kind === "event"
            ? request.inEvent<ListDocumentsRequest>(asked)
            : request.inAnyEvent<ListDocumentsRequest>({ ...asked, among: amongEventsOf(request.tenant) });
        const found = await catalogue.listDocuments(place, { signal: request.signal });
        const { changedAt, asOf, isUnchanged } = found;
        return {
          ...found,
          changedAt: tellsChanges ? changedAt : undefined,
          asOf: isUnchanged ? undefined : asOf,
          results: found.documents.map((document) => present(document, request.tenant.events)),
        };
      },
    });

  const one = (
    { kind, shows, present }: Kind,
    {
      of,
      asking = {},
      ...said
    }: Readonly<{
      of: "id" | "event";
      name: string;
      example: Example;
      summary: string;
      access?: Access;
      asking?: Pick<GetDocumentRequest, "withAvailability">;
    }>,
  ) =>
    declare({
      access: reading,
      ...said,
      answers: {
        ok: { description: "What its record brought.", schema: shows },
        notFound: notFound("The event has nothing with this id."),
      },
      async handle(request) {
        const id = of === "id" ? request.id("id") : undefined;
        const { document } = await catalogue.getDocument(request.inEvent({ kind, id, ...asking }), {
          signal: request.signal,
        });
        return { status: "ok", body: present(document) };
      },
    });

  return {
    events: list(kinds.event, {
      name: "listEvents",
      example: examples.events,
      summary: "Lists the events that these credentials are for",
      access: ofMembers,
      page: "One page of events.",
      query: {
        ordering: ordering(["slug", "date_from", "date_to"], "date_from,slug"),
        live: flagFilter("Only events whose shop is open, or only others."),
        ends_after: instantFilter("Leaves out events that have ended by then. A series ends with its last date."),
        search: textFilter("Only events with this text in their name or slug."),
      },
      conditions: (query) => ({
        live: query.live,
        endsAfter: query.ends_after,
        search: query.search,
      }),
    }),
    event: one(kinds.event, { of: "event", name: "getEvent", example: examples.event, summary: "Shows an event" }),
    settings: one(kinds.settings, {
      of: "event",
      name: "getEventSettings",
      example: examples.settings,
      summary: "Shows the settings of an event",
    }),
    datesOfOrganizer: list(kinds.subevent, {
      name: "listSubeventsOfOrganizer",
      example: examples.datesOfOrganizer,
      summary: "Lists the dates of all series that these credentials are for",
      access: ofMembers,
      page: "One page of dates.",
      query: { ...dates, event__live: flagFilter("Only dates of events whose shop is open, or only others.") },
      conditions: (query) => ({ ...toDates(query), live: query.event__live }),
    }),
    dates: list(kinds.subevent, {
      name: "listSubevents",
      example: examples.dates,
      summary: "Lists the dates of a series",
      access: reading,
      page: "One page of dates.",
      tellsChangesOf: "dates",
      query: dates,
      conditions: toDates,
    }),
    date: one(kinds.subevent, { of: "id", name: "getSubevent", example: examples.date, summary: "Shows a date" }),
    categories: list(kinds.category, {
      name: "listCategories",
      example: examples.categories,
      summary: "Lists the categories of an event's products",
      access: reading,
      page: "One page of categories.",
      tellsChangesOf: "categories",
      query: inPlace,
    }),
    category: one(kinds.category, {
      of: "id",
      name: "getCategory",
      example: examples.category,
      summary: "Shows a category",
    }),
    items: list(kinds.item, {
      name: "listItems",
      example: examples.items,
      summary: "Lists the products of an event",
      access: reading,
      page: "One page of products.",
      tellsChangesOf: "products",
      query: { ...inPlace, active: flagFilter("Only products that are sold, or only others.") },
      conditions: (query) => ({ active: query.active }),
    }),
    item: one(kinds.item, { of: "id", name: "getItem", example: examples.item, summary: "Shows a product" }),
    questions: list(kinds.question, {
      name: "listQuestions",
      example: examples.questions,
      summary: "Lists the questions of an event",
      access: reading,
      page: "One page of questions.",
      tellsChangesOf: "questions",
      query: inPlace,
    }),
    question: one(kinds.question, {
      of: "id",
      name: "getQuestion",
      example: examples.question,
      summary: "Shows a question",
    }),
    quotas: list(kinds.quota, {
      name: "listQuotas",
      example: examples.quotas,
      summary: "Lists the quotas of an event",
      access: readingQuotas,
      page: "One page of quotas.",
      tellsChangesOf: "quotas",
      showsMore: (query) => query.with_availability === true,
      query: {
        ordering: ordering(["id", "size"], "id"),
        subevent: idFilter("Only quotas of this date."),
        items__in: idListFilter("Only quotas that count one of these items."),
        with_availability: flagFilter("Shows what is left of each."),
      },
      conditions: (query) => ({
        subevent: query.subevent,
        items: query.items__in && { ids: [...query.items__in] },
        withAvailability: query.with_availability,
      }),
    }),
    quota: one(kinds.quota, {
      of: "id",
      name: "getQuota",
      example: examples.quota,
      summary: "Shows a quota",
      access: readingQuotas,
    }),
    quotaAvailability: one(kinds.availability, {
      of: "id",
      name: "getQuotaAvailability",
      example: examples.quotaAvailability,
      summary: "Shows what is left of a quota",
      access: readingQuotas,
      asking: { withAvailability: true },
    }),
    revokedSecrets: list(kinds.revokedSecret, {
      name: "listRevokedSecrets",
      example: examples.revokedSecrets,
      summary: "Lists the codes that were replaced or taken back",
      access: readingCodes,
      page: "One page of codes; an empty one for devices in public, which are shown no code.",
      isOfStaff: true,
      query: { ordering: ordering(["id", "created", "secret"], "id"), created_since: changedSince },
      conditions: (query) => ({ changedSince: query.created_since }),
    }),
    blockedSecrets: list(kinds.blockedSecret, {
      name: "listBlockedSecrets",
      example: examples.blockedSecrets,
      summary: "Lists the codes that are blocked, or were",
      access: readingCodes,
      page: "One page of codes; an empty one for devices in public, which are shown no code.",
      isOfStaff: true,
      query: { ordering: ordering(["id", "updated", "secret"], "id"), updated_since: changedSince },
      conditions: (query) => ({ changedSince: query.updated_since }),
    }),
    media: list(kinds.medium, {
      name: "listReusableMedia",
      example: examples.media,
      summary: "Lists the wristbands and cards of an organizer",
      access: readingMedia,
      page: "One page of media.",
      query: {
        ordering: ordering(["id", "created", "updated", "identifier"], "id"),
        type: textFilter("Only media of this type."),
        identifier: textFilter("Only media with this identifier."),
        active: flagFilter("Only media that can be used, or only others."),
        updated_since: changedSince,
        created_since: changedSince,
      },
      conditions: (query) => ({
        type: query.type,
        identifier: query.identifier,
        active: query.active,
        changedSince: query.updated_since ?? query.created_since,
      }),
    }),
    gates: list(kinds.gate, {
      name: "listGates",
      example: examples.gates,
      summary: "Lists the gates of an organizer",
      access: ofMembers,
      page: "One page of gates.",
      query: { ordering: ordering(["id", "name"], "id") },
    }),
    ...emptyRoutes(),
  };
}

/** Routes of resources that do not exist here: scanners need an answer to go on. */
function emptyRoutes() {
  const empty = (name: string, example: Example, summary: string) =>
    declareList({
      name,
      example,
      summary,
      access: reading,
      page: "An empty page.",
      shows: shown.badge,
      find: async (_request, { page }) => ({ count: 0, page: Math.max(1, page), results: [] }),
    });
  return {
    badgeLayouts: empty("listBadgeLayouts", examples.badgeLayouts, "Lists layouts of badges: an empty list"),
    badgeItems: empty("listBadgeItems", examples.badgeItems, "Lists products with badges: an empty list"),
  };
}
