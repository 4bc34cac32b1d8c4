import { field, object } from "@tessera/schema/build";
import { apiKey } from "../credential.ts";
import { verbatim } from "./parts.ts";

export const apiKeyRecord = object(
  {
    token: field(
      verbatim(1000),
      "The key, of at least 16 ASCII characters without blanks. It is stored as a hash.",
      "example-api-key-0c9f2b7e41",
    ),
    ...apiKey.properties,
  },
  { required: ["token"] },
);
