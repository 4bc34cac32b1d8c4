import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "@tessera/testkit/browser/page-browser";
import { expect } from "vitest";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A folder for pictures of every state, for people to look at. */
const pictures = process.env["PICTURES"];

export const phone = { width: 390, height: 844 };

/** Opens a page on a phone. What it throws, and what its policy refuses, is added to the troubles. */
export async function openPage(
  browser: Browser,
  address: string,
  { troubles, prepare }: { readonly troubles: string[]; readonly prepare?: (page: Page) => unknown },
): Promise<Page> {
  const page = await browser.newPage();
  await page.setViewport(phone);
  page.on("pageerror", (error) => void troubles.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && /policy|refused to/i.test(message.text())) troubles.push(message.text());
  });
  await prepare?.(page);
  await page.goto(address);
  return page;
}

/** What a person sees on the scanner page, and does. A busy machine has all the time that it needs. */
export function handsOn(pageNow: () => Page) {
  const text = async (selector = "body") =>
    String(await pageNow().evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText`));
  const see = (words: string | RegExp) => expect.poll(() => text()).toMatch(words);
  const until = (condition: string) => expect.poll(() => pageNow().evaluate(condition)).toBe(true);
  const press = async (name: string, within = "") => {
    const selector = `${within} ::-p-aria([name="${name}"][role="button"])`;
    const button = await pageNow().waitForSelector(selector, { timeout: patienceMs });
    await button?.click();
  };
  /** Types into a field, and makes sure that all of it has arrived. */
  const write = async (selector: string, said: string) => {
    await pageNow().waitForSelector(selector);
    await pageNow().type(selector, said);
    expect(await pageNow().evaluate(`document.querySelector(${JSON.stringify(selector)}).value`)).toBe(said);
  };
  /** Types a code, once nothing lies over the page. */
  const type = async (code: string) => {
    await until("document.querySelector('dialog') === null");
    await write(".code input", code);
    await pageNow().keyboard.press("Enter");
  };
  /** Judges the accessibility of what is shown, and keeps a picture of it. */
  const examine = async (state: string) => {
    await pageNow().evaluate(axe);
    const { violations } = (await pageNow().evaluate(`axe.run(document, { resultTypes: ["violations"] })`)) as {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
    };
    expect(
      violations.map(({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)]),
      state,
    ).toEqual([]);
    if (pictures !== undefined) await writeFile(join(pictures, `${state}.png`), await pageNow().screenshot());
  };
  return { text, see, until, press, write, type, examine };
}

const patienceMs = 60_000;
