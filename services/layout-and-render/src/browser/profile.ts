import { chown, lstat, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolder } from "@tessera/kit/files/make-folder";
import { isRunning } from "@tessera/kit/service/running-process";

/** What one run of a browser owns. */
export interface Profile {
  readonly folder: string;
  /** The complete environment: that of this process contains secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** The account of the browser, if it is not that of this process. */
  readonly account: { readonly uid: number; readonly gid: number } | undefined;
  remove(): Promise<void>;
}

/** The user without rights that every system has: as root a browser has no sandbox. */
const unprivileged = { uid: 65_534, gid: 65_534 };

/**
 * The folder of all browsers of this account. Only this account may write to it: in the shared temporary folder,
 * another account could plant paths for us to remove.
 */
export function browsersFolder(): string {
  return join(tmpdir(), `tessera-browsers-${process.getuid?.() ?? 0}`);
}

async function openBrowsersFolder(): Promise<string> {
  const folder = browsersFolder();
  await makeFolder(folder, { mode: 0o711 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid) || (found.mode & 0o022) !== 0)
    throw new Error(`${folder} belongs to another account, or can be written by others: remove it`);
  return folder;
}

/** Creates the folder of a browser, with the only font that it finds on this machine. */
export async function createProfile({
  fonts,
  libraries,
}: {
  readonly fonts: string;
  readonly libraries: string | undefined;
}): Promise<Profile> {
  const browsers = await openBrowsersFolder();
  await removeOrphans(browsers);
  const folder = await mkdtemp(join(browsers, `${process.pid}-`));
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

async function removeOrphans(browsers: string): Promise<void> {
  for (const entry of await readdir(browsers)) {
    const pid = Number.parseInt(entry, 10);
    if (pid > 0 && !isRunning(pid))
      await rm(join(browsers, entry), { recursive: true, force: true }).catch(() => undefined);
  }
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
