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

/**
 * After so many problems the rest of a list or map is not checked. Otherwise a million wrong elements would make a million
 * sentences.
 */
const mostProblems = 50;

const stopped = wrong("There may be more: what comes after these was not looked at.");

/** Reads each element of a list. */
export function readElements(list: unknown[], { each, most }: { each: Each; most: number | undefined }): Problem[] {
  if (most !== undefined && list.length > most) return [wrong(`At most ${most} allowed.`)];
  const problems: Problem[] = [];
  const container = list as unknown as Container;
  for (const index of list.keys()) {
    if (problems.length >= mostProblems) return [...problems, stopped];
    problems.push(...readPart(each, { container, name: index, index }, "Element"));
  }
  return problems;
}

/** Reads each name and value of a map. */
export function readValues(
  map: Container,
  { each, names, most }: { each: Each; names: LeafSchema | undefined; most: number | undefined },
): Problem[] {
  const keys = Object.keys(map);
  if (most !== undefined && keys.length > most) return [wrong(`At most ${most} keys allowed.`)];
  const problems: Problem[] = [];
  for (const [index, name] of keys.entries()) {
    if (problems.length >= mostProblems) return [...problems, stopped];
    const { problem } = names === undefined ? {} : checkLeaf(names, name);
    if (problem !== undefined) problems.push(wrong(`Key ${index + 1}: ${problem}`));
    problems.push(...readPart(each, { container: map, name, index }, "Value"));
  }
  return problems;
}

/** A part without fields is named by its number, counted from one, under the name of the list or map. */
function readPart(each: Each, part: Part, called: "Element" | "Value"): readonly Problem[] {
  if ("readPart" in each) return each.readPart(part);
  const { container, name, index } = part;
  const { problem, value } = checkLeaf(each.leaf, container[name]);
  if (problem !== undefined) return [wrong(`${called} ${index + 1}: ${problem}`)];
  container[name] = value;
  return [];
}

function wrong(message: string): Problem {
  return { keyword: "leaf", params: {}, message };
}
