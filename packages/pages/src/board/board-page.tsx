import { stage } from "./board-session.ts";
import { say } from "./board-speech.ts";
import { BoardView } from "./board-view.tsx";
import { ChooseEventView } from "./choose-event-view.tsx";
import { ReportView } from "./report/report-view.tsx";
import { SignedOutView } from "./signed-out-view.tsx";

/** What the page shows now. */
export function BoardPage() {
  const now = stage.value;
  switch (now.at) {
    case "watching":
      return <BoardView event={now.event} followed={now.followed} />;
    case "reporting":
      return <ReportView event={now.event} read={now.read} />;
    case "choosing":
      return <ChooseEventView events={now.events} isUnknown={now.unknown} />;
    case "signed_out":
      return <SignedOutView refused={now.refused} elsewhere={now.elsewhere} />;
    case "starting":
    case "away":
      return (
        <main class="plain">
          <p role="status">{say(now.at === "away" ? "no_server" : "starting")}</p>
        </main>
      );
  }
}
