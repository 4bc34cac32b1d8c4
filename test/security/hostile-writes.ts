import { namesOfMessageFields, withFields } from "@tessera/testkit/message-fields";

interface Operation {
  readonly operationId: string;
  readonly security: readonly { readonly operator?: unknown }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema?: unknown; example?: unknown }>> };
}

export interface WriteDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/** An operation that changes something, with bodies that name a place that is not in its path. */
export interface HostileWrite {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly isOfOperator: boolean;
  readonly bodies: readonly unknown[];
}

const jsonType = "application/json";

/** Finds the operations in the document that write, but for those whose body is a stream; what others need is deleted last. */
export function findHostileWrites(
  { paths, components }: WriteDocument,
  { place, id }: { readonly place: { readonly organizer: string; readonly event: string }; readonly id: number },
): readonly HostileWrite[] {
  const names = namesOfMessageFields();
  const found = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, security, requestBody }]) => {
      const { schema, example = {} } = requestBody?.content[jsonType] ?? {};
      if (method === "get" || (requestBody !== undefined && schema === undefined)) return [];
      const known = new Set(propertiesIn(schema, components.schemas));
      const valid = ofTenant(example, { id, hasDates: known.has("subevent") });
      const hostile = [place, { organizer: `${place.organizer}\u0000`, event: "\u0000" }].map((named) =>
        withFields(withNamed(valid, named, known), { names, value: id + 1, known }),
      );
      const isOfOperator = security[0]?.operator !== undefined;
      return [{ name: operationId, method: method.toUpperCase(), path, isOfOperator, bodies: hostile }];
    }),
  );
  return found.toSorted((one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE"));
}

function withNamed(body: unknown, named: Readonly<Record<string, string>>, known: ReadonlySet<string>): unknown {
  return Object.entries(named).reduce(
    (filled, [name, value]) => withFields(filled, { names: [name], value, known }),
    body,
  );
}

/** An example of the demo as a tenant can send it: all its ids are the same. */
function ofTenant(example: unknown, { id, hasDates }: { readonly id: number; readonly hasDates: boolean }): unknown {
  const ids = JSON.parse(JSON.stringify(example), (_name, value: unknown) =>
    Number.isInteger(value) && Number(value) < 10 ? id : value,
  ) as unknown;
  return hasDates ? withFields(ids, { names: ["subevent"], value: id, known: new Set() }) : ids;
}

function propertiesIn(schema: unknown, components: Readonly<Record<string, unknown>>): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { $ref, properties = {} } = schema as { readonly $ref?: string; readonly properties?: object };
  const referred = $ref === undefined ? undefined : components[$ref.split("/").at(-1) ?? ""];
  const inner = [...Object.values(schema), referred].flatMap((part) => propertiesIn(part, components));
  return [...Object.keys(properties), ...inner];
}
