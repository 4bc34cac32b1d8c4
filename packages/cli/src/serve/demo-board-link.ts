import { callPlatform, readAll } from "../credentials/call-platform.ts";
import { demo } from "../demo/demo.ts";
import type { LocalData } from "../local/local-data.ts";

const daySeconds = 86_400;

/** The longest that the platform takes. */
const lengths = { valid_for: 7 * daySeconds, session_for: 30 * daySeconds };

interface Made {
  readonly id: string;
  readonly link: string;
}

interface Listed {
  readonly id: string;
  readonly state: string;
}

/** The link with which a browser signs in to the board of the demo: the last one while it is open, else a new one. */
export async function demoBoardLink({
  url,
  baseUrl,
  operatorKey: key,
  data,
}: {
  readonly url: string;
  /** What the link begins with. */
  readonly baseUrl: string;
  readonly operatorKey: string;
  readonly data: Pick<LocalData, "readBoardLink" | "keepBoardLink">;
}): Promise<string> {
  const access = { url, key };
  const path = `organizers/${demo.organizer}/`;
  const kept = await data.readBoardLink();
  const made = kept === undefined ? undefined : (JSON.parse(kept) as Made);
  // Another start may have had another port.
  if (made?.link.startsWith(`${baseUrl}/`) === true) {
    const listed = (await readAll<Listed>(access, `${path}sessions/`)).find(({ id }) => id === made.id);
    if (listed?.state === "open") return made.link;
  }
  const body = { name: "Board of the demo", all_events: true, ...lengths };
  const { id, link } = await callPlatform<Made>(access, { method: "POST", path: `${path}signinlinks/`, body });
  await data.keepBoardLink(JSON.stringify({ id, link } satisfies Made));
  return link;
}
