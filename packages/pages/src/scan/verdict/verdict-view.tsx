import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { type Attempt, exchangeOf, type ScanState, toneOf } from "../one-scan.ts";
import { changeScan, checkAgain, dismiss, lose, scan } from "../scan-session.ts";
import { isWord, say, sayReason } from "../scan-speech.ts";
import type { KeptDevice } from "../set-up/kept-device.ts";
import { type Allowances, allowancesOf } from "../set-up/profile.ts";
import { ScanSheet } from "../sheets/scan-sheet.tsx";
import { type CodeProblem, hostOf } from "../typed/check-code.ts";
import { ExchangeView } from "./exchange-view.tsx";
import { QuestionsForm } from "./questions-form.tsx";
import { TicketView } from "./ticket-view.tsx";
import { offersOf, type Verdict } from "./verdict.ts";

const symbols = { admitted: "tick", refused: "cross", question: "question", undecided: "exclamation" } as const;

/** How long a verdict is shown that needs no person to read it. */
const shownMs = { admitted: 4000, inPublic: 8000, exchangeInPublic: 45_000 } as const;

interface Shown {
  readonly device: KeptDevice;
  /** Names of gates. */
  readonly gates: ReadonlyMap<number, string>;
}

/** The verdict about the last scan, on the whole screen: a colour, a symbol and a word, then the ticket. */
export function VerdictView({ device, gates }: Shown) {
  const { value } = scan;
  const tone = toneOf(value);
  const may = allowancesOf(device.profile);
  const limit = value.at === "decided" ? timeToShow(value.verdict, may) : undefined;
  useEffect(() => {
    if (limit === undefined) return undefined;
    const timer = setTimeout(() => {
      if (scan.value === value) dismiss();
    }, limit);
    return () => clearTimeout(timer);
  }, [value, limit]);
  if (tone === undefined || value.at === "ready" || value.at === "asking") return null;
  const key = value.at === "unreadable" ? "unreadable" : value.attempt.nonce;
  const title =
    value.at === "decided"
      ? sayVerdict(value.verdict, value.attempt)
      : say(value.at === "unreadable" ? "refused" : "undecided_title");
  return (
    <ScanSheet
      key={`${value.at} ${key}`}
      isAlert
      look={`verdict ${tone}${exchangeOf(value) === undefined ? "" : " docked"}`}
      symbol={symbols[tone]}
      title={title}
      onClose={dismiss}
      foot={footOf(value)}
    >
      {value.at === "unreadable" ? <Unreadable problem={value.problem} /> : null}
      {value.at === "undecided" ? (
        <>
          <p>{say(value.trouble === "network" ? "undecided_network" : "undecided_server")}</p>
          <p>{say("undecided_how")}</p>
        </>
      ) : null}
      {value.at === "decided" ? (
        <Decided verdict={value.verdict} attempt={value.attempt} may={may} device={device} gates={gates} />
      ) : null}
    </ScanSheet>
  );
}

function timeToShow({ kind, attention, texts, exchange }: Verdict, may: Allowances): number | undefined {
  if (kind === "admitted" && !attention && texts.length === 0) return shownMs.admitted;
  if (may.menu || kind === "questions") return undefined;
  return exchange === undefined ? shownMs.inPublic : shownMs.exchangeInPublic;
}

function sayVerdict({ kind }: Verdict, { type }: Attempt): string {
  if (kind === "admitted") return say(type === "exit" ? "left" : "admitted");
  return say(kind);
}

function Unreadable({ problem }: { readonly problem: CodeProblem }) {
  return <p>{problem.kind === "long" ? say("code_long", { length: problem.length }) : say(`code_${problem.kind}`)}</p>;
}

interface DecidedOptions extends Shown {
  readonly verdict: Verdict;
  readonly attempt: Attempt;
  readonly may: Allowances;
}

function Decided({ verdict, attempt, may, device, gates }: DecidedOptions) {
  const { kind, reason, explanation, attention, texts, ticket, questions, exchange, isHere } = verdict;
  return (
    <>
      {kind === "refused" ? <p class="reason">{sayReason(reason)}</p> : null}
      {attempt.force && kind === "admitted" ? <p class="reason">{say("forced")}</p> : null}
      {isHere ? <p class="here">{say("decided_here")}</p> : null}
      {attempt.medium !== undefined && kind === "admitted" ? (
        <p class="reason">{say("medium_given", { medium: attempt.medium.identifier })}</p>
      ) : null}
      {exchange === undefined ? null : <ExchangeView exchange={exchange} />}
      {attention ? <p class="attention">{say("attention")}</p> : null}
      {texts.map((text) => (
        <p key={text} class="attention">
          {text}
        </p>
      ))}
      {exchange !== undefined ? null : explanation === undefined ? (
        <Help verdict={verdict} code={attempt.code} />
      ) : (
        <p>{explanation}</p>
      )}
      {reason === "invalid" && attempt.alsoRead !== undefined ? (
        <p>{say("layout_unsure", { one: attempt.alsoRead, two: attempt.code })}</p>
      ) : null}
      {ticket === undefined ? null : (
        <TicketView ticket={ticket} showsScans={reason === "already_redeemed"} device={device} gates={gates} />
      )}
      {kind === "questions" ? (
        <QuestionsForm
          token={device.token}
          questions={questions}
          onAnswer={(answers) => changeScan({ answers })}
          onLost={lose}
          onCancel={dismiss}
        />
      ) : (
        <>
          {reason === "medium_invalid" || reason === "medium_exists" ? (
            <Button onPress={() => changeScan({ medium: undefined })}>{say("medium_other")}</Button>
          ) : null}
          <Offers verdict={verdict} may={may} />
        </>
      )}
    </>
  );
}

/** What leads on, always in reach. A form has buttons of its own. */
function footOf(state: ScanState): ComponentChildren {
  if (state.at === "undecided")
    return (
      <>
        <Button isFirst isStrong onPress={checkAgain}>
          {say("again")}
        </Button>
        <Button onPress={dismiss}>{say("close")}</Button>
      </>
    );
  if (state.at === "decided" && state.verdict.kind === "questions") return undefined;
  if (exchangeOf(state) !== undefined)
    return (
      <Button isFirst onPress={dismiss}>
        {say("cancel")}
      </Button>
    );
  return (
    <Button isFirst more="next" onPress={dismiss}>
      {say("next")}
    </Button>
  );
}

/** What a crew may do about a refusal. An override is asked for twice. */
function Offers({ verdict, may }: Pick<DecidedOptions, "verdict" | "may">) {
  const isSure = useSignal(false);
  const offers = offersOf(verdict, may);
  if (offers.unpaid) return <Button onPress={() => changeScan({ ignoreUnpaid: true })}>{say("accept_unpaid")}</Button>;
  if (!offers.override) return null;
  if (!isSure.value)
    return (
      <Button
        onPress={() => {
          isSure.value = true;
        }}
      >
        {say("override")}
      </Button>
    );
  return (
    <fieldset class="row">
      <legend>{say("override_sure")}</legend>
      <Button onPress={() => changeScan({ force: true })}>{say("override_yes")}</Button>
      <Button
        onPress={() => {
          isSure.value = false;
        }}
      >
        {say("cancel")}
      </Button>
    </fieldset>
  );
}

/** What to do, where nothing else explains the decision. */
function Help({ verdict: { kind, reason, isHere }, code }: { readonly verdict: Verdict; readonly code: string }) {
  const host = hostOf(code);
  if (reason === "invalid" && host !== undefined) return <p>{say("code_address", { host })}</p>;
  const word = `help_${kind === "exchange" ? kind : reason}`;
  const known = [...(isHere === true ? [`${word}_here`] : []), word].find(isWord);
  return kind === "admitted" || known === undefined ? null : <p>{say(known)}</p>;
}
