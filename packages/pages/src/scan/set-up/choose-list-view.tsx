import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { LanguageChoice } from "../../ui/language-choice.tsx";
import { chooseList, lose } from "../scan-session.ts";
import { say, sayLocalized, sayTime, speech } from "../scan-speech.ts";
import { type EventToScan, type Found, findEvents, findLists, findSuggestion, type ListToScan } from "./find-lists.ts";
import type { KeptDevice } from "./kept-device.ts";
import { refresh } from "./set-up.ts";

/** Lets one tap choose the event and its check-in list. */
export function ChooseListView({ device }: { readonly device: KeptDevice }) {
  const known = useSignal(device);
  const events = useSignal<Found<EventToScan> | undefined>(undefined);
  const suggestion = useSignal<string | undefined>(undefined);
  async function load() {
    events.value = undefined;
    const [fresh, suggested, found] = await Promise.all([refresh(device), findSuggestion(device), findEvents(device)]);
    if (fresh !== undefined) known.value = fresh;
    suggestion.value = suggested;
    if (found.kind === "revoked" || found.kind === "unknown") return lose(found.kind);
    events.value = found;
  }
  useEffect(() => void load(), []);
  const { organizer, name, gate } = known.value;
  return (
    <main class="plain stack">
      <h1>{say("choose_title")}</h1>
      <p class="quiet">
        {say("choose_of", { device: name, organizer })} · {gate === null ? say("no_gate") : say("gate", { gate })}
      </p>
      <Events events={events.value} device={known.value} suggestion={suggestion.value} onAgain={() => void load()} />
      <LanguageChoice speech={speech} />
    </main>
  );
}

interface EventsOptions {
  readonly events: Found<EventToScan> | undefined;
  readonly device: KeptDevice;
  readonly suggestion: string | undefined;
  readonly onAgain: () => void;
}

function Events({ events, device, suggestion, onAgain }: EventsOptions) {
  if (events === undefined) return <p role="status">{say("choose_loading")}</p>;
  if (events.kind !== "listed") return <NotListed listed={events} onAgain={onAgain} />;
  const { results } = events;
  if (results.length === 0) return <p class="notice unsure">{say("choose_none")}</p>;
  const isNow = ({ slug }: EventToScan) => slug === suggestion;
  const sorted = [...results.filter(isNow), ...results.filter((each) => !isNow(each))];
  return (
    <Choices
      all={sorted}
      keyOf={({ slug }) => slug}
      textOf={({ slug, name, begins, zone }) => `${slug} ${sayLocalized(name)} ${sayTime(begins, zone)}`}
      search={say("search")}
      show={(event) => <OneEvent event={event} device={device} suggestion={suggestion} isOpen={event === sorted[0]} />}
    />
  );
}

interface OneEventOptions {
  readonly event: EventToScan;
  readonly device: KeptDevice;
  readonly suggestion: string | undefined;
  readonly isOpen: boolean;
}

function OneEvent({ event, device, suggestion, isOpen }: OneEventOptions) {
  const lists = useSignal<Found<ListToScan> | "asked" | undefined>(undefined);
  const load = async () => {
    lists.value = "asked";
    const found = await findLists(device, event.slug);
    if (found.kind === "revoked" || found.kind === "unknown") return lose(found.kind);
    lists.value = found;
  };
  useEffect(() => {
    if (isOpen) void load();
  }, []);
  const eventName = sayLocalized(event.name);
  const choose = ({ id, name, date }: ListToScan) => {
    const listName = date === undefined ? name : `${name} (${sayLocalized(date)})`;
    void chooseList(device, { event: event.slug, eventName, list: id, listName });
  };
  return (
    <details
      class="sheet"
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open && lists.value === undefined) void load();
      }}
    >
      <summary>
        <h2>{eventName}</h2>
        <span class="quiet">
          {sayTime(event.begins, event.zone)}
          {event.slug === suggestion ? ` · ${say("choose_suggested")}` : ""}
        </span>
      </summary>
      <Lists lists={lists.value} onChoose={choose} onAgain={() => void load()} />
    </details>
  );
}

interface ListsOptions {
  readonly lists: Found<ListToScan> | "asked" | undefined;
  readonly onChoose: (list: ListToScan) => void;
  readonly onAgain: () => void;
}

function Lists({ lists, onChoose, onAgain }: ListsOptions) {
  if (lists === undefined || lists === "asked") return <p role="status">{say("choose_lists")}</p>;
  if (lists.kind !== "listed") return <NotListed listed={lists} onAgain={onAgain} />;
  if (lists.results.length === 0) return <p>{say("choose_no_list")}</p>;
  return (
    <Choices
      all={lists.results}
      keyOf={({ id }) => id}
      textOf={({ name, date }) => `${name} ${date === undefined ? "" : sayLocalized(date)}`}
      search={say("search")}
      show={(list) => (
        <Button onPress={() => onChoose(list)} more="wide">
          {list.name}
          {list.date === undefined ? null : <small> {sayLocalized(list.date)}</small>}
        </Button>
      )}
    />
  );
}

/** Says why there is no list, and offers to ask again. */
function NotListed({ listed, onAgain }: { readonly listed: { readonly kind: string }; readonly onAgain: () => void }) {
  const { kind } = listed;
  const text =
    kind === "offline"
      ? say("failed_offline")
      : kind === "busy"
        ? say("failed_busy")
        : say("failed_other", { detail: kind });
  return (
    <div class="stack">
      <p class="notice bad" role="alert">
        {text}
      </p>
      <Button onPress={onAgain}>{say("try_again")}</Button>
    </div>
  );
}
