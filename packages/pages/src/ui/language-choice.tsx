import { Button } from "./button.tsx";

/** Offers the languages of a page, each in its own. */
export function LanguageChoice({
  title,
  languages,
  chosen,
  onChoose,
}: {
  readonly title: string;
  readonly languages: Readonly<Record<string, { readonly name: string }>>;
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}) {
  return (
    <fieldset class="row">
      <legend>{title}</legend>
      {Object.entries(languages).map(([id, { name }]) => (
        <Button key={id} isOn={chosen === id} onPress={() => onChoose(id)}>
          <span lang={id}>{name}</span>
        </Button>
      ))}
    </fieldset>
  );
}
