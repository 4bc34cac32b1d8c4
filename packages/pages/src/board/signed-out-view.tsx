import { LanguageChoice } from "../ui/language-choice.tsx";
import { say, speech } from "./board-speech.ts";
import { addressOf } from "./server.ts";

/** Says how a person gets in. */
export function SignedOutView({
  refused,
  elsewhere,
}: {
  readonly refused: string | undefined;
  readonly elsewhere: boolean;
}) {
  return (
    <main class="plain stack">
      {refused === undefined ? null : (
        <div class="notice bad" role="alert">
          <p>{say("link_refused")}</p>
          <p>{refused}</p>
        </div>
      )}
      <div class="sheet stack">
        <h1>{say("signed_out")}</h1>
        <p>{say("signed_out_how")}</p>
        <p class="quiet">{say("signed_out_make")}</p>
        {elsewhere ? (
          <p>
            <a class="button strong link-button" href={addressOf("session/oidc/")}>
              {say("sign_in")}
            </a>
          </p>
        ) : null}
      </div>
      <LanguageChoice speech={speech} />
    </main>
  );
}
