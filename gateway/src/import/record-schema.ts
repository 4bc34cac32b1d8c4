import { isAddressedByEvent, type RecordKindName, recordKinds } from "@tessera/protos/record-kinds";
import { recordSchemas } from "@tessera/resources/records/all-records";
import type { JsonSchema } from "@tessera/schema/schema";

const names = Object.keys(recordKinds) as RecordKindName[];

const address = { type: "string", pattern: "^[a-zA-Z0-9][a-zA-Z0-9._-]{0,49}$" } as const;

function recordOf(name: RecordKindName): JsonSchema {
  const isOfEvent = isAddressedByEvent(name);
  return {
    title: `${name.split("_").map(capitalize).join("")}Record`,
    type: "object",
    required: ["kind", "organizer", ...(isOfEvent ? ["event"] : []), "data"],
    properties: {
      kind: { type: "string", const: name },
      organizer: { ...address, description: "The slug of the organizer that it belongs to." },
      ...(isOfEvent ? { event: { ...address, description: "The slug of the event that it belongs to." } } : {}),
      deleted: { type: ["boolean", "null"], description: "True removes it; then `data` needs only its key." },
      data: recordSchemas[name],
    },
  };
}

const removal: JsonSchema = {
  title: "RecordRemoval",
  type: "object",
  required: ["kind", "organizer", "data", "deleted"],
  properties: {
    kind: { type: "string", enum: names },
    organizer: address,
    event: { ...address, type: ["string", "null"] },
    deleted: { type: "boolean", description: "True." },
    data: { type: "object", description: "The key of the record that is removed." },
  },
};

/** One line of an import. */
export const recordShown: JsonSchema = {
  title: "ImportRecord",
  type: "object",
  anyOf: [...names.map(recordOf), removal],
};

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
