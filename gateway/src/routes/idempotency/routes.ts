import { any } from "@tessera/schema/build";
import { scanProfiles } from "@tessera/values";
import { fault } from "../../faults.ts";
import { detail } from "../../http/answers.ts";
import { textFilter } from "../../http/parameter.ts";
import { declare } from "../../http/route.ts";
import type { KeyState, KeyUse } from "../../store/kept-answers.ts";
import { offlineSalesExamples } from "../offline-sales/examples.ts";

/** Finds the state of the request under an idempotency key of a caller; undefined: the key was not used. */
export type FindAnswer = (use: KeyUse) => Promise<KeyState | undefined>;

const asItWas = (description: string) => ({ description, schema: any() });

/** The state of a request: `idempotency_query`. */
export function idempotencyRoutes(findAnswer: FindAnswer) {
  return {
    query: declare({
      name: "queryIdempotencyKey",
      // The demo makes its batch with this key.
      example: { status: "accepted", query: { key: "demo-batch" }, answer: offlineSalesExamples.create.answer },
      summary: "Answers as a request with this idempotency key was answered",
      description: "Status, type and body are those of that answer, which may be of any route.",
      access: { kind: "any", profiles: scanProfiles },
      query: { key: textFilter("The `X-Idempotency-Key` of the request.") },
      answers: {
        ok: asItWas("The answer, as it was."),
        created: asItWas("The answer, as it was."),
        accepted: asItWas("The answer, as it was."),
        noContent: { description: "The answer, as it was: it had no body." },
        invalid: asItWas("The answer, as it was, or what is wrong with the query."),
        forbidden: asItWas("The answer, as it was."),
        notFound: asItWas(
          "The answer, as it was; or: this key was not used within a day; its answer was erased with the data of its event; no answer is kept and no request with it is at work, so that it has to be sent again.",
        ),
        methodNotAllowed: asItWas("The answer, as it was."),
        conflict: { description: "The request is still at work.", schema: detail },
        gone: asItWas("The answer, as it was."),
        tooLarge: asItWas("The answer, as it was."),
        unsupportedMediaType: asItWas("The answer, as it was."),
        expectationFailed: asItWas("The answer, as it was."),
      },
      async handle({ query, tenant }) {
        const key = query.key ?? "";
        const found = key === "" ? undefined : await findAnswer({ caller: tenant.countedAs, key });
        if (found === undefined) throw fault("key_not_used", "This key was not used within a day.");
        if (found.kind === "under way") {
          throw fault("request_under_way", "A request with this idempotency key is still at work.");
        }
        if (found.kind === "erased") {
          throw fault(
            "answer_erased",
            "The answer to this key was erased with the data of its event; the request was processed.",
          );
        }
        if (found.kind === "open") {
          throw fault("not_found", "No answer to this key is kept, and no request with it is at work. Send it again.");
        }
        return found.answer;
      },
    }),
  };
}
