import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { describe, expect, it } from "vitest";
import { browsersFolder } from "../browser/profile.ts";
import { part, renderJobs } from "../testing/render-jobs.ts";
import { ticketAnswer } from "../testing/ticket-answer.ts";

const jobs = renderJobs();
const { finish, readStored, start } = jobs;

describe("a hostile layout with hostile data", () => {
  it("[L54.1] reaches no address, no name and no file, and leaves nothing personal in logs and folders", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const decoy = join(jobs.directory, "decoy.txt");
    await writeFile(decoy, "DECOYCONTENT");
    const attacks = [
      `<script>fetch("http://127.0.0.1:${port}/")</script>`,
      `</style></section><style>@import url(http://127.0.0.1:${port}/a.css)</style>`,
      `"><img src=http://127.0.0.1:${port}/x onerror=alert(1)>`,
      `<iframe src="file://${decoy}"></iframe>&lt;object data="file://${decoy}">`,
      `<link rel=dns-prefetch href=//tessera-decoy.example><img src=//localhost:${port}/y>`,
      `&#60;svg onload=import("http://127.0.0.1:${port}/z")&#62;`,
    ];
    const elements = attacks.flatMap((attack, index) => [
      {
        type: "textarea",
        left: "10",
        bottom: String(10 + index * 20),
        width: "180",
        fontsize: "8",
        content: "other",
        text: attack,
        locale: attack.replaceAll(/[^a-z-]/gi, ""),
        color: [0, 0, 0, 1],
        fontfamily: attack,
        bold: false,
        italic: false,
        align: "left",
        downward: false,
        rotation: 0,
      },
      {
        type: "textarea",
        left: "10",
        bottom: String(15 + index * 20),
        width: "180",
        fontsize: "8",
        content: "attendee_name",
        fontfamily: "Open Sans",
        color: [0, 0, 0, 1],
        bold: false,
        italic: false,
        align: "left",
        downward: false,
        rotation: 0,
      },
    ]);
    const { id } = await jobs.service.create({ elements: JSON.stringify(elements) });
    const attendeeName = `MARKERPERSON ${attacks.join(" ")}`;
    const job = await start([part(1, { overrideLayout: id })]);
    await finish({
      ticketData: { readTicketData: async (request) => ticketAnswer(request, { attendeeName: () => attendeeName }) },
    });
    server.close();
    expect(await job.find()).toMatchObject({ state: JobState.SUCCEEDED, message: "" });
    const { pages } = await readStored((await job.find()).fileKey);
    const printed = JSON.stringify(pages);
    expect(printed).toContain("MARKERPERSON");
    expect(printed).not.toContain("DECOYCONTENT");
    expect(connections).toBe(0);
    expect(jobs.lines.join("")).not.toContain("MARKERPERSON");
    const profiles = (await readdir(browsersFolder())).filter((name) => name.startsWith(`${process.pid}-`));
    expect(profiles.length).toBeGreaterThan(0);
    for (const profile of profiles) expect(await findText(join(browsersFolder(), profile), "MARKERPERSON")).toEqual([]);
  });
});

/** The files in a folder that contain a text, in either of two encodings. */
async function findText(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const content = await readFile(path).catch(() => Buffer.alloc(0));
    if (content.includes(text) || content.includes(Buffer.from(text, "utf16le"))) found.push(path);
  }
  return found;
}
