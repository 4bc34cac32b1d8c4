import { Readable } from "node:stream";
import { mapInSlices } from "@tessera/kit/waiting/in-slices";
import type { Schema } from "@tessera/schema/schema";
import { type Cell, formatInstant } from "@tessera/values";
import { fault } from "../faults.ts";
import { detail, invalid, notFound } from "./answers.ts";
import { asAttachment } from "./attachment.ts";
import { choosesTable, csv, streamCsv } from "./csv.ts";
import { formatHttpDate, parseHttpDate } from "./date.ts";
import { writeJson } from "./json-text.ts";
import { type FoundPage, pageOf, paging, toPage } from "./paging.ts";
import { choiceFilter, type Parameters, type Values } from "./parameter.ts";
import { type Answer, type Declaration, declare, type HeaderParameter, type Incoming, type Reply } from "./route.ts";
import { readFields, type Shown, withoutFields } from "./without-fields.ts";

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
  /** The same as one table, for clients that ask for CSV: all results that are wanted, without pages. */
  readonly table?: ListTable<P>;
  /** Some of its values are stored JSON. */
  readonly holdsJson?: true;
  readonly find: (request: Incoming<Values<P>, undefined>, wanted: WantedPage) => Promise<FoundList>;
}

interface ListTable<P extends Parameters> {
  readonly name: string;
  readonly columns: readonly string[];
  /** Reads it part by part. The first part is read before the answer begins, so that errors have their status. */
  readonly open: (request: Incoming<Values<P>, undefined>) => Promise<AsyncIterable<readonly (readonly Cell[])[]>>;
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
  table,
  holdsJson,
  find,
  ...declaration
}: ListDeclaration<P>) {
  const findIn = (request: Incoming, wanted: WantedPage) => find(request as Incoming<Values<P>, undefined>, wanted);
  return declare({
    ...declaration,
    query: { ...paging, ...query, ...(table && tableFormat) },
    ...(table && { produces: [json, csv] }),
    ...(conditional === undefined ? {} : { headers: conditions }),
    answers: {
      ok: {
        description,
        schema: pageOf(shows),
        headers: { ...(conditional && lastModified), ...(isGenerated && pageGenerated) },
      },
      invalid,
      notFound: missing,
      ...(conditional === undefined
        ? {}
        : {
            notModified: { description: conditional.unchanged, headers: lastModified },
            preconditionFailed: { description: "There was a change after `If-Unmodified-Since`.", schema: detail },
          }),
    },
    async handle(request): Promise<Reply> {
      if (table !== undefined && wantsTable(request)) {
        const { name, columns, open } = table;
        const parts = await open(request as Incoming as Incoming<Values<P>, undefined>);
        const body = request.isHead ? Readable.from([]) : streamCsv(columns, parts);
        return { status: "ok", type: `${csv}; charset=utf-8`, headers: asAttachment(name), body };
      }
      const { page, page_size: pageSize, exclude } = request.query as WithExclusion;
      const found = await findIn(request, { page, pageSize });
      if (conditional !== undefined) requireUnchanged(request, found, conditional.changed);
      const headers = {
        ...(found.changedAt === undefined ? {} : { "Last-Modified": formatHttpDate(found.changedAt) }),
        ...(found.asOf === undefined ? {} : { "X-Page-Generated": formatInstant(found.asOf) }),
      };
      if (found.isUnchanged === true) return { status: "notModified", headers };
      const excluded = readFields(exclude ?? []);
      const write = holdsJson === true ? writeJson : JSON.stringify;
      const results = await mapInSlices(found.results, (result) => write(withoutFields(result, excluded)));
      const { count, next, previous } = toPage(request.url, { ...found, pageSize, results });
      const head = JSON.stringify({ count, next, previous }).slice(0, -1);
      return { status: "ok", headers, type: json, body: Buffer.from(`${head},"results":[${results.join()}]}`) };
    },
  });
}

const json = "application/json";

const tableFormat = {
  format: choiceFilter("`csv`: all that are wanted as one table, as with `Accept: text/csv`.", ["json", "csv"]),
};

function wantsTable(request: Incoming): boolean {
  const { format } = request.query as Values<typeof tableFormat>;
  return choosesTable(request, { format, otherwise: json });
}

type WithExclusion = Values<typeof paging> & { readonly exclude?: readonly string[] };

function requireUnchanged(request: Incoming, { changedAt }: FoundList, message: string): void {
  const unchangedSince = parseHttpDate(request.header("If-Unmodified-Since"));
  if (unchangedSince !== undefined && changedAt !== undefined && unchangedSince < changedAt) {
    throw fault("changed_since", message);
  }
}
