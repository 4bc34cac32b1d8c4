import { openTestRenderer } from "./renderer.ts";

// Prints, writes the process id of its browser, and waits to be killed.
const renderer = openTestRenderer();
await renderer.tools.printer.print(
  { html: "<section>x</section>", pages: 1, width: 100, height: 100, fonts: [], images: [] },
  { party: "one" },
);
process.stdout.write(`${renderer.browsers[0]?.pid ?? 0}\n`);
setInterval(() => undefined, 60_000);
