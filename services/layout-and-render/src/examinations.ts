import type { Examination, Examined } from "@tessera/kit/service/examination";
import { describeCount, type Finding, nameFirst, ok, warning, wrong } from "@tessera/kit/service/finding";
import { findWithoutFile } from "./backgrounds/backgrounds.ts";
import { browserStarter } from "./browser/open-browser.ts";
import type { PrintJob } from "./browser/print-job.ts";

/** Examines whether the files of all backgrounds exist: there is no other copy. */
async function examineBackgrounds({ db, withFiles }: Examined): Promise<Finding[]> {
  const layout = await db();
  const found = await withFiles((files) => findWithoutFile(layout, files));
  if (found.length === 0) return [ok("the background of every layout is stored")];
  const lacking = found.map(({ organizer, event, id }) => `${organizer}/${event}/${id}`);
  const layouts = `${describeCount(lacking.length, "layout")} (${nameFirst(lacking)})`;
  return [
    wrong`the file store lacks the background of ${layouts}
      their tickets cannot be printed
      → restore backgrounds/ of the file store from a backup, or set these backgrounds again`,
  ];
}

/** A page with a word on it, without a font of ours or a picture. */
const aPage: PrintJob = {
  html: '<section style="width:3000px;height:1000px">Tessera</section>',
  ...{ pages: 1, width: 300, height: 100, fonts: [], images: [] },
};

/** Starts the browser that tickets are printed with, and prints a page. */
async function examinePrinting({ environment, log }: Examined): Promise<Finding[]> {
  const started = performance.now();
  const sandbox = environment["BROWSER_SANDBOX"] === "off" ? "off" : "on";
  const chromium = await browserStarter({ executable: environment["CHROMIUM_PATH"] || undefined, sandbox, log })();
  try {
    const { pdf } = await (await chromium.openTab()).print(aPage);
    const printed = `the browser printed a page after ${((performance.now() - started) / 1000).toFixed(1)} s`;
    if (!Buffer.from(pdf).subarray(0, 5).equals(Buffer.from("%PDF-")))
      throw new Error("what the browser printed is no PDF");
    if (chromium.isSandboxed) return [ok(printed)];
    return [
      warning`${printed}, without its sandbox
        BROWSER_SANDBOX is off; a hole in the browser opens what its user may reach, the passwords of the service among it
        → permit user namespaces to it, and leave BROWSER_SANDBOX out: see “Printing tickets” in docs/operations.md`,
    ];
  } finally {
    await chromium.kill();
  }
}

export const examinations: readonly Examination[] = [
  {
    ...{ area: "files", subject: "the backgrounds of layouts", settings: /^(?:FILES|S3_)/ },
    failure: { what: "the backgrounds of layouts cannot be looked for" },
    examine: examineBackgrounds,
  },
  {
    ...{ area: "printing", subject: "the browser for tickets" },
    failure: {
      what: "no ticket can be printed",
      mend: "permit user namespaces, which the sandbox of the browser needs: see “Printing tickets” in docs/operations.md; or set CHROMIUM_PATH to a Chromium or headless shell that starts here, and in an image install the libraries that it misses",
    },
    examine: examinePrinting,
  },
];
