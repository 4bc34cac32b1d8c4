import type { Schema } from "@tessera/schema/schema";
import { formatInstant } from "@tessera/values";
import { fault } from "../faults.ts";
import { detail, invalid, notFound } from "./answers.ts";
import { formatHttpDate, parseHttpDate } from "./date.ts";
import { replyJson } from "./json-text.ts";
import { type FoundPage, pageOf, paging, toPage } from "./paging.ts";
import type { Parameters, Values } from "./parameter.ts";
import { type Answer, type Declaration, declare, type HeaderParameter, type Incoming, type Reply } from "./route.ts";
import { type Shown, withoutFields } from "./without-fields.ts";

/** A list as its resource declares it. Pages, `exclude` and conditional requests are added to all lists. */
export interface ListDeclaration<P extends Parameters>
  extends Omit<Declaration<Parameters, undefined>, "query" | "body" | "headers" | "answers" | "handle"> {
  /** Parameters of this list. A parameter `exclude` removes its fields from every result. */
  readonly query?: P;
  /** A sentence about one page, and the schema of a result. */
  readonly page: string;
  readonly shows: Schema;
  /** Describes 404, if it means more than a missing page. */
  readonly missing?: Answer;
  /** For a list with a time of its last change: the description of 304, and the message of 412. */
  readonly conditional?: { readonly unchanged: string; readonly changed: string };
  /** For a list of changes: the answer has the watermark of the next request. */
  readonly isGenerated?: true;
  /** Some of its values are stored JSON. */
  readonly holdsJson?: true;
  readonly find: (request: Incoming<Values<P>, undefined>, wanted: WantedPage) => Promise<FoundList>;
}

export interface WantedPage {
  readonly page: number;
  readonly pageSize: number;
}

interface FoundList extends Omit<FoundPage<Shown>, "pageSize"> {
  /** The time of the last change; undefined: unknown, so conditions are ignored. */
  readonly changedAt?: number | undefined;
  /** The watermark: a client that asks for changes since then misses none. */
  readonly asOf?: number | undefined;
  /** The list is unchanged since the instant that `knownAsOf` returned. */
  readonly isUnchanged?: boolean;
}

const conditions: Readonly<Record<string, HeaderParameter>> = {
  "If-Modified-Since": {
    description: "`Last-Modified` of an earlier answer: without a change since then the answer is 304.",
    required: false,
  },
  "If-Unmodified-Since": {
    description: "`Last-Modified` of an earlier answer: after a change since then the answer is 412.",
    required: false,
  },
};

const lastModified = {
  "Last-Modified": "When the list was last changed, in whole seconds; absent where that is not known.",
};

const pageGenerated = {
  "X-Page-Generated": "Ask next for what has changed since then: nothing is missed, and something may come again.",
};

/** The time of the state that the client has cached. */
export function knownAsOf(request: Incoming): number | undefined {
  return parseHttpDate(request.header("If-Modified-Since"));
}

export function declareList<const P extends Parameters = Record<never, never>>({
  query,
  page: description,
  shows,
  missing = notFound("There is no such page."),
  conditional,
  isGenerated,
  holdsJson,
  find,
  ...declaration
}: ListDeclaration<P>) {
  const findIn = (request: Incoming, wanted: WantedPage) => find(request as Incoming<Values<P>, undefined>, wanted);
  return declare({
    ...declaration,
    query: { ...paging, ...query },
    ...(conditional === undefined ? {} : { headers: conditions }),
    answers: {
      200: {
        description,
        schema: pageOf(shows),
        headers: { ...(conditional && lastModified), ...(isGenerated && pageGenerated) },
      },
      400: invalid,
      404: missing,
      ...(conditional === undefined
        ? {}
        : {
            304: { description: conditional.unchanged, headers: lastModified },
            412: { description: "There was a change after `If-Unmodified-Since`.", schema: detail },
          }),
    },
    async handle(request): Promise<Reply> {
      const { page, page_size: pageSize, exclude } = request.query as WithExclusion;
      const found = await findIn(request, { page, pageSize });
      if (conditional !== undefined) requireUnchanged(request, found, conditional.changed);
      const headers = {
        ...(found.changedAt === undefined ? {} : { "Last-Modified": formatHttpDate(found.changedAt) }),
        ...(found.asOf === undefined ? {} : { "X-Page-Generated": formatInstant(found.asOf) }),
      };
      if (found.isUnchanged === true) return { status: 304, headers };
      const results = found.results.map((result) => withoutFields(result, exclude ?? []));
      const body = toPage(request.url, { ...found, pageSize, results });
      return holdsJson === true ? { headers, ...replyJson(200, body) } : { status: 200, headers, body };
    },
  });
}

type WithExclusion = Values<typeof paging> & { readonly exclude?: readonly string[] };

function requireUnchanged(request: Incoming, { changedAt }: FoundList, message: string): void {
  const unchangedSince = parseHttpDate(request.header("If-Unmodified-Since"));
  if (unchangedSince !== undefined && changedAt !== undefined && unchangedSince < changedAt) {
    throw fault("changed_since", message);
  }
}
