import { Media, Tickets } from "@tessera/protos/services";

export const clients = { tickets: ["boxoffice", Tickets], media: ["boxoffice", Media] } as const;
