import { fileURLToPath } from "node:url";
import { topics } from "@tessera/protos/topics";

/** The folder of the .proto files. */
export const protos = fileURLToPath(new URL("../../protos/", import.meta.url));

/** The .proto files of all facts. */
export const filesOfFacts = [...new Set(Object.values(topics).map(({ owner }) => `ticketing/${owner}/v1/facts.proto`))];

/** `boxoffice.event-changed.v1` is a `ticketing.boxoffice.v1.EventChanged`. */
export function messageOf(topic: string): string {
  const [owner, fact = "", version] = topic.split(".");
  return `ticketing.${owner}.${version}.${fact.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())}`;
}
