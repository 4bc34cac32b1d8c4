import { removeNotedFiles } from "@tessera/kit/jobs/files-to-remove";
import { rpcs } from "@tessera/kit/rpc";
import { defineService } from "@tessera/kit/service";
import { Layouts, Records, Rendering } from "@tessera/protos/services";
import { measurePrinting } from "./browser/measure-printing.ts";
import { browserStarter } from "./browser/open-browser.ts";
import { openPrintQueue, usualLimits } from "./browser/print-queue.ts";
import { clients } from "./clients.ts";
import { settings } from "./config.ts";
import { eventChanged, itemChanged, salesChannelChanged } from "./consumers/keep-copies.ts";
import { Formats } from "./domain/formats/formats.ts";
import { examinations } from "./examinations.ts";
import { applyRecords } from "./handlers/apply-records.ts";
import { getAssignment, listAssignments, setAssignments } from "./handlers/assignments.ts";
import { evaluateVariables } from "./handlers/evaluate-variables.ts";
import { findBackground } from "./handlers/find-background.ts";
import { findBatch } from "./handlers/find-batch.ts";
import { createLayout, deleteLayout, getLayout, listLayouts, updateLayout } from "./handlers/layouts.ts";
import { lintLayout } from "./handlers/lint-layout.ts";
import { previewLayout } from "./handlers/preview-layout.ts";
import { printDayReport } from "./handlers/print-day-report.ts";
import { renderTicket } from "./handlers/render-ticket.ts";
import { startBatch } from "./handlers/start-batch.ts";
import { validateRecords } from "./handlers/validate-records.ts";
import { removeBackgroundFiles } from "./jobs/remove-background-files.ts";
import { removeGoneEvents } from "./jobs/remove-gone-events.ts";
import { removeRenders } from "./jobs/remove-renders.ts";
import { renderBatches, renderFews } from "./jobs/render-batches.ts";
import { personalData } from "./personal-data.ts";
import { openBackgroundCache } from "./rendering/background-cache.ts";
import { openFontCatalogue } from "./rendering/font-catalogue.ts";
import { openPictureDrawer } from "./rendering/picture-drawer.ts";
import { SlowLayouts } from "./rendering/slow-layouts.ts";
import { reportEvents } from "./report-events.ts";

/** Ticket layouts, and tickets as PDF. */
export const layoutAndRender = defineService({
  name: "layout-and-render",
  schema: "layout",
  settings,
  migrations: new URL("../migrations/", import.meta.url),
  clients,
  rpcs: [
    rpcs(Layouts, {
      ...{ listLayouts, getLayout, createLayout, updateLayout, deleteLayout },
      ...{ listAssignments, getAssignment, setAssignments, findBackground },
    }),
    rpcs(Rendering, {
      ...{ startBatch, findBatch, renderTicket, evaluateVariables },
      ...{ previewLayout, lintLayout, printDayReport },
    }),
    rpcs(Records, { applyRecords, validateRecords }),
    personalData.rpcs,
  ],
  consumers: [eventChanged, itemChanged, salesChannelChanged, personalData.consumer],
  jobs: [removeBackgroundFiles, removeGoneEvents, removeNotedFiles, removeRenders],
  works: [renderBatches, renderFews, personalData.work],
  holdings: personalData.holdings,
  examinations,
  rebuilds: [],
  async start({ config, db, reads, files, clock, log, metrics, clients: { boxofficeData, ...printed } }) {
    const queue = openPrintQueue({
      start: browserStarter({ executable: config.chromiumPath, sandbox: config.browserSandbox, log }),
      log,
      limits: { ...usualLimits, tabs: config.printTabs, memory: config.browserMemory },
    });
    const printer = measurePrinting(queue, metrics);
    const renderer = {
      printer,
      fonts: openFontCatalogue(),
      backgrounds: openBackgroundCache(),
      slow: new SlowLayouts(),
    };
    const pictures = openPictureDrawer();
    const printing = { ...printed, renderer, formats: new Formats(), issuer: config.baseUrl ?? "" };
    return {
      deps: {
        db,
        reads,
        files,
        clock,
        log,
        ...printing,
        boxofficeData,
        pictures,
        events: reportEvents({ log }),
      },
      close: async () => {
        await Promise.all([printer.close(), pictures.close()]);
      },
    };
  },
});
