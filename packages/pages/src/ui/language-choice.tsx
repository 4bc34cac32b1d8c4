import { Button } from "./button.tsx";

interface Speech {
  readonly language: { readonly value: string };
  readonly languages: Readonly<Record<string, { readonly name: string }>>;
  say(word: "language"): string;
  keepLanguage(id: string): void;
}

/** Offers the languages of a page, each in its own. */
export function LanguageChoice({ speech }: { readonly speech: Speech }) {
  return (
    <fieldset class="row">
      <legend>{speech.say("language")}</legend>
      {Object.entries(speech.languages).map(([id, { name }]) => (
        <Button key={id} isOn={speech.language.value === id} onPress={() => speech.keepLanguage(id)}>
          <span lang={id}>{name}</span>
        </Button>
      ))}
    </fieldset>
  );
}
