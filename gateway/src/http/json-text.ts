import { isObject } from "@tessera/values";
import type { StatusName } from "./problem.ts";
import type { Reply } from "./route.ts";

/** JSON that is answered as it is stored: parsing would change `1.0`, and round long numbers. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export function replyJson(status: StatusName, body: unknown): Reply {
  return { status, type: "application/json", body: Buffer.from(writeJson(body)) };
}

/** Writes JSON with texts that are JSON already. */
export function writeJson(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, field]) => `${JSON.stringify(name)}:${writeJson(field)}`)
    .join(",")}}`;
}
