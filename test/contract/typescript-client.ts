/** Uses the types of openapi-typescript with openapi-fetch, as their documentation shows it. */
export const typescriptProgram = `import createClient from "openapi-fetch";
import type { paths } from "./schema.mts";

const { BASE_URL, OPERATOR_KEY, API_KEY, ORGANIZER, EVENT, RECORDS, SECRET } = process.env as Record<string, string>;
const withKey = (key: string) =>
  createClient<paths>({ baseUrl: BASE_URL, headers: { Authorization: \`Token \${key}\` } });
const operator = withKey(OPERATOR_KEY);
const shop = withKey(API_KEY);
// Streams are sent as they are.
const bodySerializer = (body: unknown) => body as string;

const imported = await operator.POST("/api/v1/import/", {
  body: RECORDS,
  bodySerializer,
  headers: { "Content-Type": "application/x-ndjson" },
});

const uploaded = await shop.POST("/api/v1/upload", {
  params: { header: { "Content-Disposition": 'attachment; filename="terms.pdf"' } },
  body: process.env["PDF"] as string,
  bodySerializer,
  headers: { "Content-Type": "application/pdf" },
});

const list = { organizer: ORGANIZER, event: EVENT, list: 1 };
const scanned = await shop.POST(
  "/api/v1/organizers/{organizer}/events/{event}/checkinlists/{list}/positions/{lookup}/redeem/",
  { params: { path: { ...list, lookup: SECRET } }, body: { type: "entry" } },
);
const again = await shop.POST(
  "/api/v1/organizers/{organizer}/events/{event}/checkinlists/{list}/positions/{lookup}/redeem/",
  { params: { path: { ...list, lookup: SECRET } }, body: {} },
);
// A closed list: a word that it does not have is an error of the compiler.
const refused = again.data?.status === "error" && again.data.reason === "already_redeemed";

const page = await shop.GET("/api/v1/organizers/{organizer}/events/{event}/checkinlists/{list}/positions/", {
  params: { path: list, query: { page_size: 1 } },
});

console.log(
  JSON.stringify({
    accepted: imported.data?.accepted,
    upload: uploaded.data?.id,
    scan: scanned.data?.status,
    refused,
    tickets: page.data?.count,
    shown: page.data?.results.length,
  }),
);
`;
