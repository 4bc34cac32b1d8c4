import type { FieldErrors } from "@tessera/kit/fault";
import { FieldProblems } from "@tessera/schema/field-problems";

/** The errors of a record that is checked more than once. What follows from an error, or lies inside of it, is left out. */
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
    return steps.some((_, index) => this.#paths.has(steps.slice(0, index + 1).join(".")));
  }
}
