import { type RecordKindName, recordKinds } from "@tessera/protos/record-kinds";
import { recordSchemas } from "@tessera/resources/records/all-records";
import type { JsonSchema } from "@tessera/schema/schema";
import { isObject } from "@tessera/values";

/** A field of a kind of record, or of an object inside it. */
export interface RecordField {
  /** From `data` on, elements of lists left out: `positions.answers.question`. */
  readonly path: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** What becomes of a wrong value. */
  readonly whenWrong: "refuses" | "its part" | "left out";
}

/** Lists the fields of a kind with those of the objects in it. Names in maps are the sender's own. */
export function listFields(
  schema: JsonSchema,
  within = "",
  around: RecordField["whenWrong"] = "refuses",
): RecordField[] {
  const required = (schema["required"] ?? []) as readonly string[];
  return Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>).flatMap(
    ([name, field]) => {
      const path = within + name;
      const inner = isObject(field["items"]) ? field["items"] : field;
      const isRequired = required.includes(name);
      const isNeeded = field["needed"] !== undefined || (isRequired && field["default"] === undefined);
      const whenWrong = field["needed"] === "record" ? "refuses" : isNeeded ? around : "left out";
      return [{ path, schema: field, isRequired, whenWrong }, ...listFields(inner, `${path}.`, "its part")];
    },
  );
}

/** Writes the page: one table per kind, from nothing but the schemas that records are read with. */
export function printRecordFields(): string {
  const kinds = Object.keys(recordKinds) as RecordKindName[];
  return `${introduction}\n${kinds.map(printKind).join("\n")}`;
}

const introduction = `# Fields of records

Every field that \`data\` of a record may have. [Records](records.md) has the rules, and
[example.ndjson](example.ndjson) a small shop that can be imported as it is. This page is written from the schemas that records
are read with (\`npm run record-fields\`); the interface shows the same schemas at \`/docs\`.

*Wrong* says what becomes of a wrong value, and of a missing one that is required: it *refuses* the record, or *its part* of the record is left
out with a warning, or it alone is *left out* with a warning and has its default, or what stands behind the colon
([what refuses a record](records.md#what-refuses-a-record)).

A field that is left out has its default. A field inside of a list or an object is written with a dot: \`positions.price\` is the price of each position.

| Type | |
|---|---|
| id | a whole number from 1 to 2^50, also as digits in a text |
| integer | a whole number, also as digits in a text |
| decimal | an amount as text or number, such as \`"23.00"\` |
| datetime | ISO 8601; without an offset it is UTC |
| slug | up to 50 letters, digits, dots, dashes and underscores |
| texts | texts by name, usually by language: \`{"en": "…", "de": "…"}\` |
| map | an object whose names are the sender's own |
| any | any JSON |
`;

function printKind(name: RecordKindName): string {
  const { belongsTo, key } = recordKinds[name];
  const place = belongsTo === "nothing" ? "Belongs to nothing." : `Belongs to an ${belongsTo}.`;
  const identity = key === null ? "There is one per event." : `Its key is \`${key}\`.`;
  const rows = listFields(recordSchemas[name]).map(printField);
  const head = "| Field | Type | Default | Wrong | Meaning | Example |\n|---|---|---|---|---|---|";
  return `## ${name}\n\n${place} ${identity}\n\n${head}\n${rows.join("\n")}\n`;
}

function printField({ path, schema, isRequired, whenWrong }: RecordField): string {
  const fallback = schema["default"];
  const value = isRequired ? "**required**" : fallback === undefined ? "" : code(fallback);
  const wrong = schema["unread"] === undefined ? whenWrong : `${whenWrong}: ${code(schema["unread"])}`;
  const cells = [`\`${path}\``, typeNameOf(schema), value, wrong, meaningOf(schema), exampleCell(schema)];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** The sentences that say what a field means; empty: there are none. */
export function meaningOf({ description }: JsonSchema): string {
  return typeof description === "string" ? description : "";
}

function exampleCell(schema: JsonSchema): string {
  const example = exampleOf(schema);
  return example === undefined ? "" : code(example);
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}

/** The example of a field, or the one of its type. Objects have one in each of their fields. */
export function exampleOf(schema: JsonSchema): unknown {
  const [own] = (schema["examples"] ?? []) as readonly unknown[];
  if (own !== undefined) return own;
  const { read, enum: words, default: fallback } = schema;
  if (Array.isArray(words)) return words[0];
  if (read === "boolean") return fallback !== true;
  if (read === "instant") return "2027-06-18T09:00:00Z";
  if (read === "id") return 1;
  return undefined;
}

const leafNames: Readonly<Record<string, string>> = { instant: "datetime" };

/** Names the type of a field as people call it. */
function typeNameOf(schema: JsonSchema): string {
  const types: readonly unknown[] = [schema["type"]].flat();
  const orNull = types.includes("null") ? " or null" : "";
  const plain = isObject(schema["properties"]) ? types.filter((type) => type !== "object" && type !== "null") : [];
  const orPlain = plain.map((type) => (type === "string" ? "text or " : `${type} or `)).join("");
  return `${orPlain}${plainNameOf(schema)}${orNull}`;
}

function plainNameOf(schema: JsonSchema): string {
  const { read, enum: words, items, properties, additionalProperties } = schema;
  if (Array.isArray(words))
    return words
      .filter((word) => word !== null)
      .map(code)
      .join(", ");
  if (typeof read === "string") return leafNames[read] ?? read;
  if (isObject(items)) return `list of ${isObject(items["properties"]) ? "objects" : `${plainNameOf(items)}s`}`;
  if (isObject(properties)) return "object";
  if (isObject(additionalProperties)) return additionalProperties["read"] === "text" ? "texts" : "map";
  return [schema["type"]]
    .flat()
    .filter((type) => type !== "null")
    .join(" or ");
}
