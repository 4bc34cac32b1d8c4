import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const protos = fileURLToPath(new URL("../../../protos/ticketing/", import.meta.url));

/** The names of all fields of all messages between services, in snake case and in camel case. */
export function namesOfMessageFields(): ReadonlySet<string> {
  const found = globSync("**/*.proto", { cwd: protos })
    .flatMap((file) => [...readFileSync(`${protos}${file}`, "utf8").matchAll(/^ +[\w<>., ]+ (\w+) = \d+;/gm)])
    .flatMap(([, name = ""]) => [name, name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())]);
  if (found.length < 300) throw new Error(`the protos in ${protos} have too few fields`);
  return new Set(found);
}

/** What is kept as it was sent: all of it is known. */
const verbatim: ReadonlySet<string> = new Set(["layout", "elements"]);

/** Adds fields to each object of a body, but for those that it has, and those that are known. */
export function withFields(
  body: unknown,
  {
    names,
    value,
    known,
  }: { readonly names: Iterable<string>; readonly value: unknown; readonly known: ReadonlySet<string> },
): unknown {
  if (Array.isArray(body)) return body.map((element) => withFields(element, { names, value, known }));
  if (typeof body !== "object" || body === null) return body;
  const filled: Record<string, unknown> = {};
  for (const name of names) if (!known.has(name)) filled[name] = value;
  for (const [name, inner] of Object.entries(body)) {
    filled[name] = verbatim.has(name) ? inner : withFields(inner, { names, value, known });
  }
  return filled;
}
