import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** An indented block of a page: commands, with what the page says that they print. */
export interface CommandBlock {
  readonly commands: string;
  /** Undefined: the page shows no output. */
  readonly printed: string | undefined;
}

/** What commands of our pages begin with. Any other indented block is what the block before it prints. */
const command =
  /^(?:cat|cd|cp|curl|docker|export|git|ls|npm|pg_dump|post|psql|rm|systemctl|tessera|useradd)\b|^[A-Z]+=/;

/** Reads a page of docs/. */
export async function readPage(name: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), "utf8");
}

/** Finds the indented blocks of a page, in their order. */
export function commandBlocks(page: string): CommandBlock[] {
  const blocks: { commands: string; printed: string | undefined }[] = [];
  for (const [indented] of page.matchAll(/(?:^ {4}.*\n)+/gm)) {
    const text = indented.replaceAll(/^ {4}/gm, "");
    const last = blocks.at(-1);
    if (command.test(text)) blocks.push({ commands: text, printed: undefined });
    else if (last !== undefined) last.printed = text;
  }
  return blocks;
}

/** Whether an output has what a page shows: white space does not count, and `…` stands for anything. */
export function shows(output: string, printed: string): boolean {
  const parts = printed.replaceAll(/\s/g, "").split("…");
  const pattern = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[^]*");
  return new RegExp(pattern).test(output.replaceAll(/\s/g, ""));
}

/** Replaces what a page says by what a test has, and fails if the page does not say it. */
export function putIn(text: string, replacements: Readonly<Record<string, string>>): string {
  let result = text;
  for (const [said, meant] of Object.entries(replacements)) {
    if (!result.includes(said)) throw new Error(`the page does not say ${said}`);
    result = result.replaceAll(said, () => meant);
  }
  return result;
}
