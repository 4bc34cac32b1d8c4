import { checkLeaf, type LeafSchema } from "./leaf.ts";

/** A problem of a value, in the validator's form. */
export interface Problem {
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string | undefined;
}

export type Container = Record<string | number, unknown>;

/** One element of a list, or one value of a map. */
export interface Part {
  readonly container: Container;
  readonly name: string | number;
  /** Counted from zero. */
  readonly index: number;
}

/** Reads a part and replaces it with the value that was read, or returns its problems. */
export type ReadPart = (part: Part) => readonly Problem[];

/** How to read parts: as leaves, or with another schema. */
export type Each = { readonly leaf: LeafSchema } | { readonly readPart: ReadPart };

interface Limited {
  readonly each: Each;
  readonly most: number | undefined;
  /**
   * After so many problems the rest of a list or map is not checked. Otherwise a million wrong elements would make a million
   * sentences.
   */
  readonly told: number;
}

/** What is said of the list or map itself, and is no problem of its own. */
const stopped: Problem = {
  ...wrong("There may be more: what comes after these was not looked at."),
  params: { stopped: true },
};

/** Reads each element of a list. */
export function readElements(list: unknown[], { each, most, told }: Limited): Problem[] {
  if (most !== undefined && list.length > most) return [wrong(`At most ${most} allowed.`)];
  const problems: Problem[] = [];
  const container = list as unknown as Container;
  for (const index of list.keys()) {
    if (problems.length >= told) return [...problems, stopped];
    problems.push(...readPart(each, { container, name: index, index }, "Element"));
  }
  return problems;
}

/** Reads each name and value of a map. */
export function readValues(
  map: Container,
  { each, names, most, told }: Limited & { readonly names: LeafSchema | undefined },
): Problem[] {
  const keys = Object.keys(map);
  if (most !== undefined && keys.length > most) return [wrong(`At most ${most} keys allowed.`)];
  const problems: Problem[] = [];
  for (const [index, name] of keys.entries()) {
    if (problems.length >= told) return [...problems, stopped];
    const { problem } = names === undefined ? {} : checkLeaf(names, name);
    if (problem !== undefined) problems.push(wrong(`Key ${index + 1}: ${problem}`, index));
    problems.push(...readPart(each, { container: map, name, index }, "Value"));
  }
  return problems;
}

/** Finds the fields of an object that are not known. */
export function findUnknownNames(
  object: Container,
  { known, told }: { readonly known: ReadonlySet<string> } & Pick<Limited, "told">,
): Problem[] {
  const problems: Problem[] = [];
  for (const name of Object.keys(object)) {
    if (known.has(name)) continue;
    if (problems.length >= told) return [...problems, stopped];
    problems.push({ keyword: "additionalProperties", params: { additionalProperty: name } });
  }
  return problems;
}

/** A part without fields is named by its number, counted from one, under the name of the list or map. */
function readPart(each: Each, part: Part, called: "Element" | "Value"): readonly Problem[] {
  if ("readPart" in each) return each.readPart(part);
  const { container, name, index } = part;
  const { problem, value } = checkLeaf(each.leaf, container[name]);
  if (problem !== undefined) return [wrong(`${called} ${index + 1}: ${problem}`, index)];
  container[name] = value;
  return [];
}

/** `part` is the index of what the problem is about, in the list or map that is named. */
function wrong(message: string, part?: number): Problem {
  return { keyword: "leaf", params: part === undefined ? {} : { part }, message };
}
