import { useLayoutEffect } from "preact/hooks";
import { mediumProblem } from "../scan-session.ts";
import { say } from "../scan-speech.ts";
import { CodeForm } from "../typed/code-form.tsx";
import type { Exchange } from "./read-medium.ts";

/** Asks for the medium that the ticket is exchanged for. The camera goes on beside it. */
export function ExchangeView({ exchange: { policy, type } }: { readonly exchange: Exchange }) {
  const { value } = mediumProblem;
  // The page may be scrolled to its buttons.
  useLayoutEffect(() => scrollTo(0, 0), []);
  return (
    <>
      <p class="attention" role="alert" hidden={value === undefined}>
        {value === undefined ? "" : say(`medium_problem_${value}`)}
      </p>
      <p class="reason">{say(type === "barcode" ? "medium_barcode" : "medium_chip")}</p>
      {policy === "new" ? <p>{say("medium_new")}</p> : null}
      {policy === "reuse" ? <p>{say("medium_reuse")}</p> : null}
      <CodeForm label="medium_field" />
    </>
  );
}
