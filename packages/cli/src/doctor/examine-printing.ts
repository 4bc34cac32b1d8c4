import type { PrintJob } from "@tessera/layout-and-render/browser/print-job";
import { explainFailure } from "../command/explain-failure.ts";
import { type Finding, ok, warning } from "../command/finding.ts";
import type { Surroundings } from "../configuration/surroundings.ts";

/** A page with a word on it, without a font of ours or a picture. */
const aPage: PrintJob = {
  html: '<section style="width:3000px;height:1000px">Tessera</section>',
  ...{ pages: 1, width: 300, height: 100, fonts: [], images: [] },
};

const what = "no ticket can be printed";
const mend =
  "permit user namespaces, which the sandbox of the browser needs: see “Printing tickets” in docs/operations.md; or set CHROMIUM_PATH to a Chromium or headless shell that starts here, and in an image install the libraries that it misses";

/** Starts the browser that tickets are printed with, and prints a page. */
export async function examinePrinting(around: Pick<Surroundings, "environment" | "log">): Promise<Finding[]> {
  const { environment, log } = around;
  const { browserStarter } = await import("@tessera/layout-and-render/browser/open-browser");
  const started = performance.now();
  try {
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
  } catch (error) {
    return [explainFailure(error, { what, mend })];
  }
}
