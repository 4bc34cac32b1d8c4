import { signal } from "@preact/signals";
import { type Localized, pick } from "@tessera/values";
import { chooseLanguage, fillIn } from "./choose-language.ts";

/** What a page says, in the language of its reader. What a language lacks is said in English. */
export function openSpeech<W extends { readonly page: string; readonly language: string }>({
  keptAs,
  english,
  languages,
}: {
  /** The name under which this browser keeps the choice. */
  readonly keptAs: string;
  readonly english: W;
  readonly languages: Readonly<Record<string, { readonly name: string; readonly words: Partial<W> }>>;
}) {
  type Word = keyof W & string;
  const language = signal("en");

  function say(word: Word, values: Readonly<Record<string, string | number>> = {}): string {
    return fillIn(String(languages[language.value]?.words[word] ?? english[word]), values);
  }

  const isWord = (word: string): word is Word => Object.hasOwn(english, word);

  function show(name: string): void {
    language.value = name;
    document.documentElement.lang = name;
    document.title = `Tessera – ${say("page")}`;
  }

  return {
    language,
    languages,
    say,
    isWord,
    /** Says why a scan was refused; a reason that the page does not know as it is. */
    sayReason(reason: string): string {
      const word = `reason_${reason}`;
      return isWord(word) ? say(word) : reason;
    },
    /** Takes the language that was chosen before, else that of the browser. */
    startLanguage(): void {
      const chosen = localStorage.getItem(keptAs);
      show(chooseLanguage(languages, [...(chosen === null ? [] : [chosen]), ...navigator.languages]));
    },
    /** Uses a language now and the next time. */
    keepLanguage(name: string): void {
      localStorage.setItem(keptAs, name);
      show(name);
    },
    /** Says a text of the organizer. */
    sayLocalized: (text: Localized | string) => (typeof text === "string" ? text : pick(text, language.value)),
  };
}
