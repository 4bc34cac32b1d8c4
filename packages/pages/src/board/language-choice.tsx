import { Button } from "../ui/button.tsx";
import { language, say, useLanguage } from "./say.ts";
import { languages } from "./words/languages.ts";

/** Offers the languages of the page, each in its own. */
export function LanguageChoice() {
  return (
    <fieldset class="row">
      <legend>{say("language")}</legend>
      {Object.entries(languages).map(([id, { name }]) => (
        <Button key={id} isOn={language.value === id} onPress={() => useLanguage(id)}>
          <span lang={id}>{name}</span>
        </Button>
      ))}
    </fieldset>
  );
}
