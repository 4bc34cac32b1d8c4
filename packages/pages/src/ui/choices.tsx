import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** A phone shows about as many at once. */
const many = 12;

interface ChoicesOptions<T> {
  readonly all: readonly T[];
  readonly keyOf: (choice: T) => string | number;
  /** The words by which a person finds it. */
  readonly textOf: (choice: T) => string;
  /** What the field is called. */
  readonly search: string;
  readonly show: (choice: T) => ComponentChildren;
}

/** Things to choose from; where there are many, with a field that narrows them. */
export function Choices<T>({ all, keyOf, textOf, search, show }: ChoicesOptions<T>) {
  const [text, setText] = useState("");
  const isLong = all.length > many;
  const wanted = isLong ? text.trim().toLowerCase() : "";
  return (
    <div class="stack">
      {isLong ? (
        <label class="labelled">
          <span>{search}</span>
          <input class="field" type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      ) : null}
      <ul class="stack">
        {all
          .filter((choice) => textOf(choice).toLowerCase().includes(wanted))
          .map((choice) => (
            <li key={keyOf(choice)}>{show(choice)}</li>
          ))}
      </ul>
    </div>
  );
}
