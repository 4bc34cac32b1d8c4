import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { type AlarmPlace, sayAlarm } from "./alarm-text.ts";
import { say, sayNumber, sayShare, saySpan } from "./board-speech.ts";
import type { LiveAlarm } from "./live.ts";

const speech = { say, sayNumber, sayShare, saySpan: (ms: number) => saySpan(ms, "short") };

const shownSeen = 3;

/** What somebody should look at: what no one has seen yet is strong. */
export function Alarms({
  alarms,
  place,
  acknowledge,
}: {
  readonly alarms: readonly LiveAlarm[];
  readonly place: AlarmPlace;
  /** Resolves to whether the server took it. */
  readonly acknowledge: (id: number) => Promise<boolean>;
}) {
  const news = useNews(alarms, place);
  const [showsAll, setShowsAll] = useState(false);
  const open = alarms.filter(({ acknowledged }) => acknowledged === null);
  const seen = alarms.filter(({ acknowledged }) => acknowledged !== null);
  const shown = showsAll ? seen : seen.slice(0, shownSeen);
  return (
    <>
      <p role="alert" class="unseen">
        {news}
      </p>
      {alarms.length === 0 ? null : (
        <section class="alarms" aria-label={say("alarms")}>
          <ul>
            {open.map((alarm) => (
              <Unseen key={alarm.id} alarm={alarm} place={place} acknowledge={acknowledge} />
            ))}
            {shown.map((alarm) => (
              <li key={alarm.id} class="alarm is-seen">
                <span class="grow">{sayAlarm(alarm, place, speech)}</span>
                <small class="quiet">{say("seen_by", { name: alarm.acknowledged_by ?? "" })}</small>
              </li>
            ))}
          </ul>
          {seen.length > shownSeen ? (
            <Button onPress={() => setShowsAll(!showsAll)}>
              {say(showsAll ? "fewer_alarms" : "all_alarms", { count: sayNumber(seen.length) })}
            </Button>
          ) : null}
        </section>
      )}
    </>
  );
}

function Unseen({
  alarm,
  place,
  acknowledge,
}: {
  readonly alarm: LiveAlarm;
  readonly place: AlarmPlace;
  readonly acknowledge: (id: number) => Promise<boolean>;
}) {
  const [isSending, setIsSending] = useState(false);
  const send = async () => {
    setIsSending(true);
    // The next state shows it as seen.
    if (!(await acknowledge(alarm.id))) setIsSending(false);
  };
  const sentence = sayAlarm(alarm, place, speech);
  return (
    <li class="alarm">
      <strong class="grow">{sentence}</strong>
      <Button onPress={() => void send()} isOff={isSending} label={say("mark_seen", { alarm: sentence })}>
        {say("seen")}
      </Button>
    </li>
  );
}

/** What is read out: the newest alarm, once. What held when the page was opened is no news. */
function useNews(alarms: readonly LiveAlarm[], place: AlarmPlace): string {
  const known = useRef<ReadonlySet<number> | undefined>(undefined);
  const [news, setNews] = useState("");
  const ids = alarms.map(({ id }) => id).join();
  useEffect(() => {
    const before = known.current;
    known.current = new Set([...(before ?? []), ...alarms.map(({ id }) => id)]);
    const fresh = alarms.filter(
      ({ id, acknowledged }) => before !== undefined && !before.has(id) && acknowledged === null,
    );
    if (fresh.length > 0) setNews(fresh.map((alarm) => sayAlarm(alarm, place, speech)).join(". "));
  }, [ids]);
  return news;
}
