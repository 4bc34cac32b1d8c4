import { LanguageChoice as Choice } from "../ui/language-choice.tsx";
import { keepLanguage, language, say } from "./say.ts";
import { languages } from "./words/languages.ts";

/** Offers the languages of the board. */
export function LanguageChoice() {
  return <Choice title={say("language")} languages={languages} chosen={language.value} onChoose={keepLanguage} />;
}
