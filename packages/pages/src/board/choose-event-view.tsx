import { Button } from "../ui/button.tsx";
import { Choices } from "../ui/choices.tsx";
import { LanguageChoice } from "../ui/language-choice.tsx";
import { type ListedEvent, open, person, signOut } from "./board-session.ts";
import { language, say, sayLocalized, speech } from "./board-speech.ts";

/** Offers the events, the latest first. */
export function ChooseEventView({
  events,
  isUnknown,
}: {
  readonly events: readonly ListedEvent[];
  readonly isUnknown: boolean;
}) {
  return (
    <main class="plain stack">
      {isUnknown ? (
        <p class="notice unsure" role="alert">
          {say("no_event")}
        </p>
      ) : null}
      <h1>{say("choose_event")}</h1>
      {events.length === 0 ? <p>{say("no_events")}</p> : null}
      <Choices
        all={events}
        keyOf={({ slug }) => slug}
        textOf={(event) => `${event.slug} ${sayLocalized(event.name)} ${dayOf(event)}`}
        search={say("search")}
        show={(event) => (
          <Button more="wide" onPress={() => void open(event.slug)}>
            {sayLocalized(event.name)}
            <span class="quiet beside">{dayOf(event)}</span>
          </Button>
        )}
      />
      <LanguageChoice speech={speech} />
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
