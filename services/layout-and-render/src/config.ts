import { choice, int, optional, text, url } from "@tessera/kit/config/config";

const mebibyte = 1024 * 1024;

/** What layout-and-render reads from its environment. */
export const settings = {
  baseUrl: optional(
    url(
      "BASE_URL",
      undefined,
      "The address that clients use. Tickets name it as the issuer of their codes, for programs that read the PDF.",
      {
        example: "https://tickets.example",
      },
    ),
  ),
  chromiumPath: optional(
    text("CHROMIUM_PATH", undefined, "A Chromium or headless shell; found or unpacked when left out."),
  ),
  browserSandbox: choice(
    "BROWSER_SANDBOX",
    ["on", "off"],
    "on",
    "off: prints also where the browser has no sandbox, so that a hole in it opens what the service may reach.",
  ),
  printTabs: int("PRINT_TABS", 2, [1, 16], "How many pages of an organizer are printed at a time; one for each core."),
  browserMemory: int(
    "BROWSER_MEMORY",
    500 * mebibyte,
    [200 * mebibyte, 8192 * mebibyte],
    "Bytes of memory beyond which the browser is replaced.",
  ),
} as const;
