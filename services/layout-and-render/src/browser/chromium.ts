import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";
import puppeteer, { type Browser, type CDPSession, type Page } from "puppeteer-core";
import { pageStyle } from "../domain/drawing/page-style.ts";
import { flags } from "./flags.ts";
import { clear, layOut, loadFonts } from "./page-program.ts";
import { openPipe } from "./pipe-transport.ts";
import type { Printed, PrintJob } from "./print-job.ts";
import type { Profile } from "./profile.ts";

/** The browser has ended before it answered: it cannot run with these flags. */
export class EndedAtOnce extends Error {}

/** A tab that prints jobs one after the other. */
export interface Tab {
  print(job: PrintJob): Promise<Printed>;
}

/** A running browser. */
export interface Chromium {
  readonly pid: number;
  readonly isSandboxed: boolean;
  /** Resolves when the browser has ended, for whatever reason. */
  readonly ended: Promise<void>;
  openTab(): Promise<Tab>;
  /** The private memory of all its processes, in bytes. */
  memory(): Promise<number>;
  kill(): Promise<void>;
}

export interface StartOptions {
  readonly executable: string;
  /** Folders and environment of this browser. */
  readonly profile: Profile;
  readonly isSandboxed: boolean;
  /** The timeout of the start. */
  readonly maxMs: number;
}

/** Starts a browser that only this process can talk to. It ends with this process in any case: its pipe closes. */
export async function startChromium({ executable, profile, isSandboxed, maxMs }: StartOptions): Promise<Chromium> {
  const args = [...flags, ...(isSandboxed ? [] : ["--no-sandbox"]), `--user-data-dir=${profile.folder}`, "about:blank"];
  const child = spawn(executable, args, {
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
    cwd: profile.folder,
    env: { ...profile.environment },
    // A process group of its own, so that all its processes can be killed.
    detached: true,
    ...profile.account,
  });
  const output = keepEnd(child.stderr);
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const kill = async () => {
    endGroup(child);
    await ended;
  };
  const failed = new Promise<never>((_resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new EndedAtOnce(`it ended at once (${code ?? signal}): ${output()}`)));
  });
  // The promise may reject after the connection is made.
  failed.catch(() => undefined);
  try {
    const transport = openPipe(child.stdio[3] as Writable, child.stdio[4] as Readable);
    const connected = puppeteer.connect({ transport, defaultViewport: null, protocolTimeout: 300_000 });
    const browser = await waitAtMost(
      maxMs,
      // A closed pipe means that the browser has ended.
      Promise.race([connected.catch(() => failed), failed]),
      () => new Error(`it does not answer: ${output()}`),
    );
    return {
      pid: child.pid ?? 0,
      isSandboxed,
      ended,
      openTab: () => openTab(browser),
      memory: () => measureMemory(browser),
      kill,
    };
  } catch (error) {
    await kill();
    throw error;
  }
}

/** Keeps the last lines that a program wrote. */
function keepEnd(from: Readable | null): () => string {
  let text = "";
  from?.on("data", (chunk: Buffer) => {
    text = (text + chunk.toString("latin1")).slice(-2000);
  });
  return () => text.trim();
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** The frame of all pages: its content security policy lets no address be loaded, not even an injected one. */
const shell = `<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"><style>${pageStyle}</style></head><body></body></html>`;

/** Without cleaning, a tab keeps its prints until it has twice the memory. */
const printsPerCleaning = 4;

async function openTab(browser: Browser): Promise<Tab> {
  const page = await browser.newPage();
  await page.setJavaScriptEnabled(false);
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const isInside = /^(?:data|about):/.test(request.url());
    // The tab may be gone by now.
    void (isInside ? request.continue() : request.abort("blockedbyclient")).catch(() => undefined);
  });
  await page.setContent(shell);
  const session = await page.createCDPSession();
  const loaded = new Set<string>();
  let crash: Error | undefined;
  // A tab may crash while idle.
  page.once("error", (error) => {
    crash = error;
  });
  let prints = 0;
  return {
    async print(job) {
      if (crash !== undefined) throw crash;
      const printed = await unlessCrashed(page, print(job, { page, session, loaded }));
      prints += 1;
      const isDue = prints % printsPerCleaning === 0;
      // Frees the memory of the print; an error means that the tab is gone.
      void page
        .evaluate(clear)
        .then(() => (isDue ? session.send("HeapProfiler.collectGarbage") : undefined))
        .catch(() => undefined);
      return printed;
    },
  };
}

/** Waits for work of a tab, or for its crash: calls to a crashed tab never return. */
function unlessCrashed<T>(page: Page, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    // Not `once`: `off` would not find its wrapper, and each wrapper would keep a print in memory.
    page.on("error", reject);
    work.then(resolve, reject).finally(() => page.off("error", reject));
  });
}

async function print(
  job: PrintJob,
  { page, session, loaded }: { readonly page: Page; readonly session: CDPSession; readonly loaded: Set<string> },
): Promise<Printed> {
  const fonts = job.fonts.filter(({ id }) => !loaded.has(id));
  if (fonts.length > 0) {
    const contents = fonts.map(async (font) => ({ ...font, content: (await readFile(font.path)).toString("base64") }));
    await page.evaluate(loadFonts, await Promise.all(contents));
    for (const { id } of fonts) loaded.add(id);
  }
  const images = job.images.map((image) => ({ ...image, content: toBase64(image.bytes), bytes: undefined }));
  const laidOut = await page.evaluate(layOut, job.html, images);
  const { data } = await session.send("Page.printToPDF", {
    printBackground: true,
    paperWidth: job.width / 96,
    paperHeight: job.height / 96,
    marginTop: 0,
    marginBottom: 0,
    marginLeft: 0,
    marginRight: 0,
    scale: 0.1,
    generateTaggedPDF: false,
  });
  return { pdf: Buffer.from(data, "base64"), ...laidOut };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

const pageBytes = 4096;

async function measureMemory(browser: Browser): Promise<number> {
  const session = await browser.target().createCDPSession();
  try {
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const sizes = processInfo.map(({ id }) => ownMemoryOf(id));
    return sizes.reduce((sum, size) => sum + size, 0);
  } finally {
    await session.detach();
  }
}

/** Private memory of a process; 0: the system does not say. */
function ownMemoryOf(pid: number): number {
  try {
    const [, resident = "0", shared = "0"] = readFileSync(`/proc/${pid}/statm`, "latin1").split(" ");
    return (Number(resident) - Number(shared)) * pageBytes;
  } catch {
    return 0;
  }
}
