import { object, text } from "@tessera/schema/build";
import type { JsonSchema, Properties } from "@tessera/schema/schema";
import type { Answer, HeaderParameter } from "./route.ts";

/** An object with exactly these keys. */
export function record<P extends Properties, const O extends keyof P & string = never>(
  title: string,
  properties: P,
  options: { optional?: readonly O[] } = {},
) {
  const optional: readonly string[] = options.optional ?? [];
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { title, ...object(properties, { required: required as Exclude<keyof P & string, O>[], closed: true }) };
}

/** One sentence for all 403 of the steps before a route, so that none tells whether an event exists. */
export const notAllowed = "These credentials do not allow this, or there is no such event.";

export const detail = record("Detail", { detail: text() });

const messages: JsonSchema = {
  title: "FieldErrors",
  type: "object",
  additionalProperties: { type: "array", items: { type: "string" } },
  examples: [{ name: ["This field may not be blank."] }],
};

export const fieldErrors: JsonSchema = { title: "Invalid", type: "object", anyOf: [messages, detail] };

export const invalid: Answer = {
  description: "The request is not valid; every wrong field is named.",
  schema: fieldErrors,
};

/** The same for a body with a list of objects in one field, and with these fields beside it. */
export const invalidIn = (title: string, list: string, beside: readonly string[] = []): Answer => ({
  description: `${invalid.description} The errors of each element are told under \`${list}\`, in the order of the request; a good one has none.`,
  schema: {
    anyOf: [
      {
        title,
        type: "object",
        properties: {
          ...Object.fromEntries(beside.map((name) => [name, { type: "array", items: { type: "string" } }])),
          [list]: { type: "array", items: fieldErrors },
        },
        required: [list],
        additionalProperties: false,
      },
      fieldErrors,
    ],
  },
});

export const notFound = (description: string): Answer => ({ description, schema: detail });

/** Makes a request conditional on what a client may have cached. */
export const ifNoneMatch = {
  "If-None-Match": { description: "`ETag` of an earlier answer: the same bytes are 304.", required: false },
} satisfies Record<string, HeaderParameter>;

export const tagged = { ETag: "Names these bytes." };

export const conflict: Answer = {
  description: "Another change of the same data is under way; try again after `Retry-After`.",
  schema: detail,
};
