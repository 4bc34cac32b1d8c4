import type { MediumAnswer } from "@tessera/admission";
import type { Client } from "@tessera/kit/rpc";
import { type LinkMediumRequest, MediumLink } from "@tessera/protos/gen/ticketing/boxoffice/v1/media";
import type { Media } from "@tessera/protos/services";

/** Asks boxoffice to link media to tickets. */
export interface LinkMedia {
  /** Links a medium, within this time; throws without an answer. It may be sent again. */
  link(request: LinkMediumRequest, timeoutMs: number): Promise<MediumAnswer>;
}

const results: Readonly<Partial<Record<MediumLink, MediumAnswer["result"]>>> = {
  [MediumLink.LINKED]: "linked",
  [MediumLink.INVALID]: "invalid",
  [MediumLink.EXISTS]: "exists",
  [MediumLink.OTHER]: "other",
};

export function linkMedia(media: Pick<Client<Media>, "linkMedium">): LinkMedia {
  return {
    async link(request, timeoutMs) {
      const answer = await media.linkMedium(request, { timeoutMs });
      const result = results[answer.result];
      if (result === undefined) throw new Error("boxoffice answered an unknown result");
      return { event: request.event, ticket: request.position, result };
    },
  };
}
