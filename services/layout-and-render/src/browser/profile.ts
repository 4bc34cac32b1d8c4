import { chown, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning } from "@tessera/kit/running-process";

/** What one run of a browser has for itself. */
export interface Profile {
  readonly folder: string;
  /** All its variables: those of this process have secrets among them. */
  readonly environment: Readonly<Record<string, string>>;
  /** Who it runs as, if not as this process. */
  readonly account: { readonly uid: number; readonly gid: number } | undefined;
  remove(): Promise<void>;
}

/** The user without rights that every system has: as root a browser has no sandbox. */
const unprivileged = { uid: 65_534, gid: 65_534 };

const prefix = "tessera-browser-";

/** Makes the folder of a browser, with the only font that it finds on this machine. */
export async function createProfile({
  fonts,
  libraries,
}: {
  readonly fonts: string;
  readonly libraries: string | undefined;
}): Promise<Profile> {
  await removeOrphans();
  const folder = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
  const account = process.getuid?.() === 0 ? unprivileged : undefined;
  const configuration = join(folder, "fonts.conf");
  await writeFile(
    configuration,
    `<?xml version="1.0"?><fontconfig><dir>${escapeXml(fonts)}</dir><cachedir>${escapeXml(join(folder, "fonts"))}</cachedir></fontconfig>`,
    { mode: 0o644 },
  );
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  return {
    folder,
    account,
    environment: {
      HOME: folder,
      TMPDIR: folder,
      PATH: "/usr/bin:/bin",
      LANG: "C.UTF-8",
      TZ: "UTC",
      FONTCONFIG_FILE: configuration,
      ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }),
    },
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Removes the folders of processes that were killed. */
async function removeOrphans(): Promise<void> {
  for (const entry of await readdir(tmpdir())) {
    const pid = entry.startsWith(prefix) ? Number.parseInt(entry.slice(prefix.length), 10) : Number.NaN;
    // One that belongs to another account stays.
    if (pid > 0 && !isRunning(pid))
      await rm(join(tmpdir(), entry), { recursive: true, force: true }).catch(() => undefined);
  }
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
