import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { LanguageChoice } from "../../ui/language-choice.tsx";
import { enter } from "../scan-session.ts";
import { say, speech } from "../scan-speech.ts";
import type { KeptDevice } from "./kept-device.ts";
import { readSetupLink } from "./read-setup-link.ts";
import { type SetUp, setUp } from "./set-up.ts";

type Progress = "waiting" | "working" | "unreadable" | Exclude<SetUp["kind"], "done">;

const problems = {
  used: "setup_used",
  offline: "setup_offline",
  busy: "setup_busy",
  storage: "setup_storage",
  unreadable: "setup_unreadable",
} as const;

/** Sets this browser up as a device: by the link that opened the page, or by one that is pasted. */
export function SetUpView({
  code,
  former,
}: {
  readonly code?: string | undefined;
  readonly former?: KeptDevice | undefined;
}) {
  const progress = useSignal<Progress>("waiting");
  const typed = useSignal(code ?? "");
  async function begin() {
    const read = readSetupLink(typed.value);
    if (read === undefined) {
      progress.value = "unreadable";
      return;
    }
    progress.value = "working";
    const result = await setUp(read);
    if (result.kind === "done") enter(result.device);
    else if (former !== undefined) enter(former);
    else progress.value = result.kind;
  }
  useEffect(() => {
    if (code !== undefined) void begin();
  }, [code]);
  const now = progress.value;
  return (
    <main class="plain stack">
      <h1>{say("setup_title")}</h1>
      <p>{say("setup_how")}</p>
      <p class="quiet">{say("setup_make")}</p>
      <form
        class="sheet stack"
        onSubmit={(event) => {
          event.preventDefault();
          void begin();
        }}
      >
        <label class="labelled">
          <span>{say("setup_field")}</span>
          <input
            class="field"
            type="text"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        </label>
        <Button isStrong submits isOff={now === "working"}>
          {say(now === "waiting" || now === "working" ? "setup_go" : "try_again")}
        </Button>
        <p role="status">{now === "working" ? say("setup_working") : ""}</p>
        {now === "waiting" || now === "working" ? null : (
          <p class="notice bad" role="alert">
            {say(problems[now])}
          </p>
        )}
      </form>
      <LanguageChoice speech={speech} />
    </main>
  );
}
