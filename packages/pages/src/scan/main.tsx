import "../ui/tokens.css";
import "../ui/base.css";
import "./scan.css";
import { render } from "preact";
import { keepPage, renewWhileHidden, takeNewVersion } from "./offline/page-version.ts";
import { ScanPage } from "./scan-page.tsx";
import { isFree, keepAsking, startSession } from "./scan-session.ts";
import { startLanguage } from "./scan-speech.ts";
import { watchBattery } from "./server/battery.ts";
import { takeCodeFromAddress } from "./set-up/set-up.ts";
import { unlockSounds } from "./verdict/signals-of-verdict.ts";

const code = takeCodeFromAddress();
startLanguage();
// A link is used up by the version that reads it.
if (code !== undefined || !(await takeNewVersion())) start();

function start(): void {
  unlockSounds();
  void watchBattery();
  const place = document.getElementById("page");
  if (place !== null) render(<ScanPage />, place);
  void startSession(code === undefined ? {} : { code });
  keepAsking();
  renewWhileHidden(isFree);
  void keepPage();
}
