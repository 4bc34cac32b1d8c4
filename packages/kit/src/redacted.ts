import { inspect } from "node:util";

/**
 * A value that prints as a mark wherever it is written by accident: a log line,
 * a template string, JSON, a debugger's inspection. Only `reveal` gives it out.
 */
abstract class Redacted<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** What is printed instead. It also keeps the kinds apart for the compiler. */
  abstract get mark(): string;

  /** Gives out the value, for the one place that needs it. */
  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return this.mark;
  }

  toJSON(): string {
    return this.mark;
  }

  [inspect.custom](): string {
    return this.mark;
  }
}

/** A value that opens something: a password, a key, a signed URL. */
export class Secret<T> extends Redacted<T> {
  get mark(): "[secret]" {
    return "[secret]";
  }
}

/** A value that tells about a person: a name, an address, an answer. */
export class Personal<T> extends Redacted<T> {
  get mark(): "[personal]" {
    return "[personal]";
  }
}
