import { Button } from "../ui/button.tsx";
import { LanguageChoice } from "../ui/language-choice.tsx";
import { leave, stage, startSession } from "./scan-session.ts";
import { say, speech } from "./scan-speech.ts";
import { ScanView } from "./scan-view.tsx";
import { ChooseListView } from "./set-up/choose-list-view.tsx";
import { SetUpView } from "./set-up/set-up-view.tsx";
import type { Word } from "./words/en.ts";

/** What the page shows now. */
export function ScanPage() {
  const now = stage.value;
  switch (now.at) {
    case "scanning":
      return <ScanView device={now.device} />;
    case "choosing":
      return <ChooseListView device={now.device} />;
    case "unset":
      return <SetUpView code={now.code} former={now.former} />;
    case "revoked":
      return (
        <Told title="revoked_title" text="revoked_text" action="revoked_setup" onAct={() => void startSession()} />
      );
    case "unknown":
      return (
        <Told title="unknown_title" text="unknown_text" action="revoked_setup" onAct={() => void leave("unset")} />
      );
    case "elsewhere":
      return (
        <Told
          title="elsewhere_title"
          text="elsewhere_text"
          action="elsewhere_here"
          onAct={() => void startSession({ steal: true, code: now.code })}
        />
      );
    case "starting":
      return (
        <main class="plain">
          <p role="status">{say("starting")}</p>
        </main>
      );
  }
}

interface ToldOptions {
  readonly title: Word;
  readonly text: Word;
  readonly action: Word;
  readonly onAct: () => void;
}

/** A page that says one thing, and offers what to do. */
function Told({ title, text, action, onAct }: ToldOptions) {
  return (
    <main class="plain stack">
      <div class="sheet stack" role="alert">
        <h1>{say(title)}</h1>
        <p>{say(text)}</p>
      </div>
      <Button isStrong onPress={onAct}>
        {say(action)}
      </Button>
      <LanguageChoice speech={speech} />
    </main>
  );
}
