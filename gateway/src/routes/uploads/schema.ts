import { text } from "@tessera/schema/build";
import { record } from "../../http/answers.ts";

export const uploadShown = record("Upload", {
  id: text({ description: "`file:` and a UUID; names the file in later requests of the same key for 24 hours." }),
});
