import type { FieldErrors } from "@tessera/kit/fault";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import { FieldProblems } from "@tessera/schema/field-problems";
import type { JsonSchema } from "@tessera/schema/schema";
import { isObject } from "@tessera/values";
import type { LeftOut } from "./kind.ts";

type Steps = readonly string[];

/** The path of a value in the data as it was sent. */
interface SentPath {
  readonly steps: Steps;
  /** The path for messages, without keys of maps: these may be personal data. */
  readonly shown: string;
}

/** By the path of a list or map, what is left of it. Many errors may be about one. */
type NamesLeft = Map<string, readonly string[]>;

/**
 * The data of a record, without those parts that are wrong and that it can do without. What is wrong is named.
 * Nothing of what was sent changes, so a draft can be copied before more is left out.
 */
export class Draft {
  readonly #schema: JsonSchema;
  readonly #parse: () => unknown;
  readonly #sent: unknown;
  /** The names of what is left out, by the path of what contains it, as JSON. */
  readonly #omitted = new Map<string, Set<string>>();
  readonly #named = new FieldProblems({ most: Number.POSITIVE_INFINITY });

  /** `parse` makes a new copy of what was sent: reading changes it. */
  constructor(schema: JsonSchema, parse: () => unknown, before?: Draft) {
    this.#schema = schema;
    this.#parse = parse;
    this.#sent = before === undefined ? parse() : before.#sent;
    if (before === undefined) return;
    for (const [path, names] of before.#omitted) this.#omitted.set(path, new Set(names));
    this.#named.addAll(before.named);
  }

  /** A draft that is without the same parts. */
  copy(): Draft {
    return new Draft(this.#schema, this.#parse, this);
  }

  /** What was found to be wrong, by the paths of what was sent. */
  get named(): FieldErrors {
    return this.#named.toErrors();
  }

  /** The same, and what is doubtful of what is left of the data. */
  async namedWith(doubts: FieldErrors): Promise<FieldErrors> {
    const problems = new FieldProblems({ most: Number.POSITIVE_INFINITY });
    problems.addAll(this.named);
    const left: NamesLeft = new Map();
    await inSlices(Object.entries(doubts), ([path, messages]) => {
      const { shown } = this.#sentPathOf(path.split("."), left);
      for (const message of messages) problems.add(shown, message);
    });
    return problems.toErrors();
  }

  /** The elements that their lists are without. */
  get leftOut(): LeftOut[] {
    return [...this.#omitted].flatMap(([path, names]) => {
      const steps = JSON.parse(path) as string[];
      const list = valueAt(this.#sent, steps);
      if (!Array.isArray(list)) return [];
      return Array.from(names, (name) => ({
        ...{ list: steps.join("."), index: Number(name), element: list[Number(name)] as unknown },
      }));
    });
  }

  /** What is left of the data. Its reader may change it. */
  data(): unknown {
    const data = this.#parse();
    const containers = Array.from(this.#omitted, ([path, names]) => {
      const steps = JSON.parse(path) as string[];
      return { container: valueAt(data, steps), steps, names };
    });
    for (const { container, steps, names } of containers) {
      if (Array.isArray(container)) {
        const kept = container.filter((_, index) => !names.has(String(index)));
        container.length = 0;
        for (const element of kept) container.push(element);
      } else for (const name of names) this.#leaveOutOf(container as Record<string, unknown>, [...steps, name]);
    }
    return data;
  }

  #leaveOutOf(container: Record<string, unknown>, steps: Steps): void {
    const name = steps.at(-1) ?? "";
    const { unread } = schemaAt(this.#schema, steps) ?? {};
    if (unread === undefined || container[name] === null) delete container[name];
    else container[name] = structuredClone(unread);
  }

  /**
   * Leaves out the smallest parts that contain the errors of what is left of the data. Where the record cannot do without one of
   * them, it returns all that was found to be wrong.
   */
  async leaveOut(errors: FieldErrors): Promise<FieldErrors | undefined> {
    const left: NamesLeft = new Map();
    const found: { readonly steps: Steps; readonly cut: number | undefined }[] = [];
    await inSlices(Object.entries(errors), ([path, messages]) => {
      const { steps, shown } = this.#sentPathOf(path.split("."), left);
      found.push({ steps, cut: findCut(this.#schema, steps, valueAt(this.#sent, steps)) });
      for (const message of messages) this.#named.add(shown, message);
    });
    if (found.some(({ cut }) => cut === undefined)) return this.named;
    await inSlices(found, ({ steps, cut = 0 }) => {
      const name = steps[cut - 1] ?? "";
      const within = JSON.stringify(steps.slice(0, cut - 1));
      const names = this.#omitted.get(within) ?? new Set();
      this.#omitted.set(within, names.add(name));
    });
    return undefined;
  }

  /** Converts a path in the data without the wrong parts to the path in the data as it was sent. */
  #sentPathOf(path: Steps, left: NamesLeft): SentPath {
    const steps: string[] = [];
    const shown: string[] = [];
    let value = this.#sent;
    let schema: JsonSchema | undefined = this.#schema;
    for (const [at, step] of path.entries()) {
      const isMap: boolean = isObject(schema?.["additionalProperties"]) && isObject(value);
      const isList = Array.isArray(value);
      const names = isMap || isList ? this.#namesLeft(steps, value as object, left) : [];
      const name: string = isMap || isList ? (names[Number(step)] ?? step) : step;
      steps.push(name);
      // What is said of an element without fields has its number, and the name of its list.
      const isLeaf = at === path.length - 1 && isList && isObject(schema?.["items"]) && mayBePlain(schema["items"]);
      if (!isMap && !isLeaf) shown.push(name);
      value = isObject(value) || isList ? (value as Record<string, unknown>)[name] : undefined;
      schema = schema && partOf(schema, name);
    }
    return { steps, shown: shown.join(".") };
  }

  /** The names of the parts of a list or map that are not left out. */
  #namesLeft(steps: Steps, container: object, left: NamesLeft): readonly string[] {
    const path = JSON.stringify(steps);
    const omitted = this.#omitted.get(path);
    const names = left.get(path) ?? Object.keys(container).filter((name) => omitted?.has(name) !== true);
    left.set(path, names);
    return names;
  }
}

/** How many steps of a path lead to the smallest part around it that a record can do without; undefined: it needs each. */
function findCut(schema: JsonSchema, steps: Steps, value: unknown): number | undefined {
  const chain: { readonly isNeeded: boolean; readonly refuses: boolean }[] = [];
  let holder: JsonSchema | undefined = schema;
  for (const step of steps) {
    const part: JsonSchema | undefined = holder && partOf(holder, step);
    if (holder === undefined || part === undefined) break;
    chain.push({ isNeeded: isNeeded(holder, step, part), refuses: part["needed"] === "record" });
    holder = part;
  }
  if (value === null && chain.length === steps.length && holder?.["needed"] !== "record" && isNone(holder?.["default"]))
    return steps.length;
  for (let cut = chain.length; cut > 0; cut -= 1) {
    if (chain[cut - 1]?.refuses === true) return undefined;
    if (chain[cut - 1]?.isNeeded === false) return cut;
  }
  return undefined;
}

/** Whether null can mean nothing but this default: no, or none. */
function isNone(fallback: unknown): boolean {
  return (
    fallback === false ||
    fallback === 0 ||
    fallback === "0.00" ||
    (typeof fallback === "object" && fallback !== null && Object.keys(fallback).length === 0)
  );
}

function isNeeded({ required }: JsonSchema, name: string, part: JsonSchema): boolean {
  const isRequired = Array.isArray(required) && required.includes(name) && part["default"] === undefined;
  return isRequired || part["needed"] !== undefined;
}

function partOf({ properties, items, additionalProperties }: JsonSchema, step: string): JsonSchema | undefined {
  if (isObject(properties)) return Object.hasOwn(properties, step) ? (properties[step] as JsonSchema) : undefined;
  if (isObject(items)) return /^\d+$/.test(step) ? items : undefined;
  return isObject(additionalProperties) ? additionalProperties : undefined;
}

function schemaAt(schema: JsonSchema, steps: Steps): JsonSchema | undefined {
  return steps.reduce((at: JsonSchema | undefined, step) => at && partOf(at, step), schema);
}

function mayBePlain({ type }: JsonSchema): boolean {
  return [type].flat().some((name) => name !== "object");
}

function valueAt(value: unknown, steps: Steps): unknown {
  return steps.reduce((inner, step) => (inner as Record<string, unknown> | undefined)?.[step], value);
}
