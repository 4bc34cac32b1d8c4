import { type JsonSchema, toJsonSchema } from "@tessera/schema/schema";
import { typesOf } from "../body/parse-body.ts";
import type { Endpoint } from "../http/endpoint.ts";

/** Describes an endpoint for OPTIONS: media types, name, description, and the writable fields. */
export function describeEndpoint({ routes, produces }: Endpoint): object {
  const [first] = routes.values();
  const writes = Array.from(routes.values()).flatMap(({ method, body }) =>
    body === undefined ? [] : [[method, body] as const],
  );
  return {
    name: first?.summary ?? "",
    description: first?.description ?? "",
    renders: produces,
    parses: [
      ...new Set(writes.flatMap(([, body]) => typesOf(body))),
      ...Array.from(routes.values()).flatMap(({ streams }) => streams ?? []),
    ],
    ...(writes.length > 0
      ? {
          actions: Object.fromEntries(
            writes.map(([method, body]) => [method, fieldsOf(body.kind === "list" ? body.schema.items : body.schema)]),
          ),
        }
      : {}),
  };
}

function fieldsOf(schema: JsonSchema): object {
  const { properties = {}, required = [] } = toJsonSchema(schema) as {
    properties?: Record<string, JsonSchema>;
    required?: readonly string[];
  };
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      { required: required.includes(name), read_only: false, ...field },
    ]),
  );
}
