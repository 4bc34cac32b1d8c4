import { FieldProblems } from "./field-problems.ts";

/** Messages by the path of their field. */
type FieldErrors = Readonly<Record<string, readonly string[]>>;

/**
 * The errors of a document that is checked more than once. Left out is what follows from an error: what lies inside of its
 * field, and what is said of a list with a wrong element, which another one stood for in the later check.
 */
export class WrongFields {
  readonly #problems = new FieldProblems();
  readonly #paths = new Set<string>();

  constructor(errors: FieldErrors) {
    this.add(errors);
  }

  get paths(): ReadonlySet<string> {
    return this.#paths;
  }

  /** Adds the errors of another check. Returns whether they are about other fields than those that are wrong. */
  add(errors: FieldErrors): boolean {
    const others = Object.entries(errors).filter(([path]) => !this.#covers(path));
    for (const [path, messages] of others) for (const message of messages) this.#problems.add(path, message);
    for (const [path] of others) this.#paths.add(path);
    return others.length > 0;
  }

  toErrors(): Record<string, string[]> {
    return this.#problems.toErrors();
  }

  #covers(path: string): boolean {
    const steps = path.split(".");
    if (steps.some((_, index) => this.#paths.has(steps.slice(0, index + 1).join(".")))) return true;
    return this.#paths.values().some((wrong) => wrong.startsWith(`${path}.`));
  }
}
