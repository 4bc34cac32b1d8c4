import { text } from "@tessera/schema/build";
import type { JsonSchema } from "@tessera/schema/schema";
import { record } from "../../http/answers.ts";

export const uploadShown = record("Upload", {
  id: text({ description: "`file:` and a UUID; names the file in later requests of the same key for 24 hours." }),
});

/** A list of one sentence: what is wrong with a file. */
export const objectionsShown: JsonSchema = {
  title: "UploadObjections",
  type: "array",
  items: { type: "string" },
  minItems: 1,
};
