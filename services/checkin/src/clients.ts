import { Media, Tickets } from "@tessera/protos/services";

/** What check-in calls, by the service that serves it. */
export const clients = { tickets: ["boxoffice", Tickets], media: ["boxoffice", Media] } as const;
