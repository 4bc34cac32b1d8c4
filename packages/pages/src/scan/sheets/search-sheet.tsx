import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { direction, lose, readCode } from "../scan-session.ts";
import { say, sayLocalized, sayTime } from "../scan-speech.ts";
import type { KeptDevice } from "../set-up/kept-device.ts";
import type { Ticket } from "../verdict/verdict.ts";
import { ScanSheet } from "./scan-sheet.tsx";
import { type Found, searchTickets } from "./tickets-on-list.ts";

/** The server finds nothing by fewer characters for those who may only check in. */
const shortest = 3;

/** So long no key was pressed. */
const pauseMs = 250;

interface SearchOptions {
  readonly device: KeptDevice;
  readonly onClose: () => void;
}

/** Finds a ticket by name, order or code, and checks it in as a scan would. */
export function SearchSheet({ device, onClose }: SearchOptions) {
  const text = useSignal("");
  const found = useSignal<Found | "running" | undefined>(undefined);
  const wanted = text.value.trim();
  useEffect(() => {
    found.value = undefined;
    if (wanted.length < shortest) return undefined;
    const ended = new AbortController();
    const timer = setTimeout(() => {
      found.value = "running";
      void searchTickets(device, wanted, ended.signal).then((answer) => {
        if (ended.signal.aborted) return;
        if (answer.kind === "revoked" || answer.kind === "unknown") return lose(answer.kind);
        found.value = answer;
      });
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [wanted]);
  return (
    <ScanSheet title={say("search_title")} onClose={onClose} foot={<Button onPress={onClose}>{say("close")}</Button>}>
      <label class="labelled">
        <span>{say("search_field")}</span>
        <input
          class="field"
          type="search"
          autocomplete="off"
          autofocus
          spellcheck={false}
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
      </label>
      <p role="status">{sayFound(found.value, wanted)}</p>
      <ul class="stack">
        {typeof found.value === "object" && found.value.kind === "found"
          ? found.value.tickets.map((ticket) => (
              <li key={ticket.id}>
                <FoundTicket
                  ticket={ticket}
                  onTake={() => {
                    onClose();
                    readCode(ticket.secret);
                  }}
                />
              </li>
            ))
          : null}
      </ul>
    </ScanSheet>
  );
}

function sayFound(found: Found | "running" | undefined, wanted: string): string {
  if (wanted.length < shortest) return say("search_short");
  if (found === undefined || found === "running") return say("search_running");
  if (found.kind === "found") {
    if (found.tickets.length === 0) return say("search_none");
    return found.hasMore ? say("search_more") : "";
  }
  if (found.kind === "refused") return say("failed_other", { detail: found.detail });
  return say(found.kind === "offline" ? "failed_offline" : "failed_busy");
}

function FoundTicket({ ticket, onTake }: { readonly ticket: Ticket; readonly onTake: () => void }) {
  const { name, order, product, variation, seat, status, checkins, secret } = ticket;
  const [last] = checkins;
  const state = [
    ...(status === "n" ? [say("search_unpaid")] : []),
    ...(status === "c" ? [say("search_canceled")] : []),
    ...(last === undefined ? [] : [say("search_inside", { time: sayTime(last.datetime) })]),
  ];
  return (
    <div class="found row">
      <div class="grow">
        <p class="name">{name ?? order}</p>
        <p>
          {sayLocalized(product)}
          {variation === undefined ? "" : ` – ${sayLocalized(variation)}`}
          {seat === undefined ? "" : ` · ${say("seat", { seat })}`}
        </p>
        <p class="quiet">{[order, ...state].join(" · ")}</p>
      </div>
      {secret === "" ? null : (
        <Button onPress={onTake}>{say(direction.value === "exit" ? "search_exit" : "search_admit")}</Button>
      )}
    </div>
  );
}
