import { callPlatform, readAll } from "../credentials/call-platform.ts";
import { pageLink } from "../credentials/setup-link.ts";
import { demo } from "../demo/demo.ts";
import type { LocalData } from "../local/local-data.ts";

/** Codes work for a week: an older one is not printed again. */
const longestMs = 6 * 86_400_000;

interface Made {
  readonly device: number;
  readonly link: string;
  readonly at: number;
}

interface Listed {
  readonly device_id: number;
  readonly revoked: boolean;
  readonly last_contact: string | null;
}

/** The link with which a browser becomes a scanner of the demo: the last one while it was not used, else a new one. */
export async function demoPageLink({
  url,
  operatorKey: key,
  data,
}: {
  readonly url: string;
  readonly operatorKey: string;
  readonly data: Pick<LocalData, "readPageDevice" | "keepPageDevice">;
}): Promise<string> {
  const access = { url, key };
  const path = `organizers/${demo.organizer}/devices/`;
  const kept = await data.readPageDevice();
  const made = kept === undefined ? undefined : (JSON.parse(kept) as Made);
  if (made !== undefined && Date.now() - made.at < longestMs) {
    const listed = (await readAll<Listed>(access, path)).find((each) => each.device_id === made.device);
    if (listed?.revoked === false && listed.last_contact === null) return made.link;
  }
  const body = { name: "Browser", gate: 1, security_profile: "full", all_events: true, events: [] };
  const created = await callPlatform<{ readonly device_id: number; readonly setup: string }>(access, {
    method: "POST",
    path,
    body,
  });
  const link = pageLink(created.setup);
  await data.keepPageDevice(JSON.stringify({ device: created.device_id, link, at: Date.now() } satisfies Made));
  return link;
}
