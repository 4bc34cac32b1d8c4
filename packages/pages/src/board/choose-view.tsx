import { useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { LanguageChoice } from "./language-choice.tsx";
import { language, say, sayLocalized } from "./say.ts";
import { type ListedEvent, open, person, signOut } from "./session.ts";

const manyEvents = 8;

/** Offers the events, the latest first. */
export function ChooseView({
  events,
  isUnknown,
}: {
  readonly events: readonly ListedEvent[];
  readonly isUnknown: boolean;
}) {
  const [text, setText] = useState("");
  const found = events.filter(({ name, slug }) =>
    `${slug} ${sayLocalized(name)}`.toLowerCase().includes(text.trim().toLowerCase()),
  );
  return (
    <main class="plain stack">
      {isUnknown ? (
        <p class="notice unsure" role="alert">
          {say("no_event")}
        </p>
      ) : null}
      <h1>{say("choose_event")}</h1>
      {events.length > manyEvents ? (
        <label class="labelled">
          <span>{say("search")}</span>
          <input class="field" type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      ) : null}
      {events.length === 0 ? <p>{say("no_events")}</p> : null}
      <ul class="stack">
        {found.map((event) => (
          <li key={event.slug}>
            <Button more="wide" onPress={() => void open(event.slug)}>
              {sayLocalized(event.name)}
              <span class="quiet beside">{dayOf(event)}</span>
            </Button>
          </li>
        ))}
      </ul>
      <LanguageChoice />
      <p class="row">
        <span class="quiet grow">{person.value?.name}</span>
        <Button onPress={() => void signOut()}>{say("sign_out")}</Button>
      </p>
    </main>
  );
}

function dayOf({ date_from }: ListedEvent): string {
  return date_from === null
    ? ""
    : new Intl.DateTimeFormat(language.value, { dateStyle: "medium" }).format(new Date(date_from));
}
