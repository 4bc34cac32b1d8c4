import { BoardView } from "./board-view.tsx";
import { ChooseView } from "./choose-view.tsx";
import { ReportView } from "./report/report-view.tsx";
import { say } from "./say.ts";
import { stage } from "./session.ts";
import { SignedOutView } from "./signed-out-view.tsx";

/** What the page shows now. */
export function Page() {
  const now = stage.value;
  switch (now.at) {
    case "watching":
      return <BoardView event={now.event} followed={now.followed} />;
    case "reporting":
      return <ReportView event={now.event} read={now.read} />;
    case "choosing":
      return <ChooseView events={now.events} isUnknown={now.unknown} />;
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
