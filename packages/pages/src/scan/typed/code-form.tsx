import { useSignal } from "@preact/signals";
import type { TargetedKeyboardEvent } from "preact";
import { useRef } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { readCode, readKeys } from "../scan-session.ts";
import { say } from "../scan-speech.ts";
import type { Word } from "../words/en.ts";
import { toPressedKey } from "./wedge.ts";
import { WedgeBuffer } from "./wedge-buffer.ts";

/** A field for codes that no camera reads. */
export function CodeForm({ label = "code_field" }: { readonly label?: Word }) {
  const typed = useSignal("");
  const buffer = useRef(new WedgeBuffer());
  /** Fast keys are those of a scanner: it may have another layout, and may end its code with Tab. */
  const readWedge = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const { value } = event.currentTarget;
    const pressed = toPressedKey(event);
    if (value === "") buffer.current.clear();
    const keys = pressed === undefined ? undefined : buffer.current.press(pressed, event.timeStamp);
    // What a person has typed before is not in the buffer.
    if (keys === undefined || keys.length < value.length) return;
    event.preventDefault();
    typed.value = "";
    readKeys(keys);
  };
  return (
    <form
      class="row code"
      onSubmit={(event) => {
        event.preventDefault();
        readCode(typed.value);
        typed.value = "";
      }}
    >
      <label class="grow">
        <span class="unseen">{say(label)}</span>
        <input
          class="field"
          type="text"
          autocomplete="off"
          autocapitalize="none"
          enterkeyhint="go"
          spellcheck={false}
          placeholder={say(label)}
          value={typed.value}
          onKeyDown={readWedge}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
          }}
        />
      </label>
      <Button isStrong submits>
        {say("code_go")}
      </Button>
    </form>
  );
}
