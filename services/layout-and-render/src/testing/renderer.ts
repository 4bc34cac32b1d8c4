import { Writable } from "node:stream";
import { createLog } from "@tessera/kit/telemetry/log";
import type { Chromium } from "../browser/chromium.ts";
import { browserStarter } from "../browser/open-browser.ts";
import { openPrintQueue, type PrintLimits, usualLimits } from "../browser/print-queue.ts";
import type { ResolvedElement } from "../domain/elements/resolved-element.ts";
import { openBackgroundCache } from "../rendering/background-cache.ts";
import { openFontCatalogue } from "../rendering/font-catalogue.ts";
import type { RenderWarning, Ticket } from "../rendering/printed-ticket.ts";
import { type RenderRequest, type RenderTools, renderTickets } from "../rendering/render-tickets.ts";
import { SlowLayouts } from "../rendering/slow-layouts.ts";

/** A renderer with a browser of its own. */
export interface TestRenderer {
  readonly tools: RenderTools;
  /** The started browsers, the newest last. */
  readonly browsers: readonly Chromium[];
  render(tickets: readonly Ticket[], options?: Partial<RenderRequest>): Promise<Buffer>;
  /** Renders one ticket on a page, by default the built-in one. */
  renderElements(elements: readonly ResolvedElement[], background?: Uint8Array): Promise<Buffer>;
  readonly warnings: RenderWarning[];
  close(): Promise<void>;
}

interface TestLimits extends Partial<PrintLimits> {
  /** How many times no browser is found. */
  readonly missing?: number;
}

export function openTestRenderer({ missing = 0, ...limits }: TestLimits = {}): TestRenderer {
  const log = createLog({
    service: "test",
    level: "error",
    destination: new Writable({ write: (_chunk, _encoding, done) => done() }),
  });
  const browsers: Chromium[] = [];
  const start = browserStarter({ executable: process.env["CHROMIUM_PATH"], sandbox: "on", log });
  const miss = browserStarter({ executable: "/nowhere/chromium", sandbox: "on", log });
  let tries = 0;
  const printer = openPrintQueue({
    start: async () => {
      tries += 1;
      const browser = await (tries > missing ? start() : miss());
      browsers.push(browser);
      return browser;
    },
    log,
    limits: { ...usualLimits, ...limits },
  });
  const tools = { printer, fonts: openFontCatalogue(), backgrounds: openBackgroundCache(), slow: new SlowLayouts() };
  const warnings: RenderWarning[] = [];
  let backgrounds = 0;

  async function render(tickets: readonly Ticket[], options: Partial<RenderRequest> = {}): Promise<Buffer> {
    const parts: Buffer[] = [];
    warnings.length = 0;
    const request: RenderRequest = {
      tickets,
      count: tickets.length,
      title: "Ticket",
      language: "en",
      issuer: "https://tickets.example",
      party: "organizer",
      createdAt: new Date("2027-01-01T00:00:00Z"),
      readImages: async (images) => images.map(() => undefined),
      onWarning: (warning) => void warnings.push(warning),
      ...options,
    };
    for await (const part of renderTickets(request, tools)) parts.push(part);
    return Buffer.concat(parts);
  }

  return {
    tools,
    browsers,
    warnings,
    render,
    renderElements(elements, bytes) {
      backgrounds += 1;
      return render([{ elements, background: bytes === undefined ? null : { id: String(backgrounds), bytes } }]);
    },
    close: () => printer.close(),
  };
}
