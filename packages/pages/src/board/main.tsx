import "../ui/tokens.css";
import "../ui/base.css";
import "uplot/dist/uPlot.min.css";
import "./board.css";
import { render } from "preact";
import { stayAwake } from "../ui/stay-awake.ts";
import { BoardPage } from "./board-page.tsx";
import { start, takeLinkFromAddress } from "./board-session.ts";
import { startLanguage } from "./board-speech.ts";

startLanguage();
stayAwake();
const place = document.getElementById("page");
if (place !== null) render(<BoardPage />, place);
void start(takeLinkFromAddress());
// A link that is opened where the board is open changes the address alone.
addEventListener("hashchange", () => void start(takeLinkFromAddress()));
