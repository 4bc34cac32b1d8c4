import { toJsonSchema } from "@tessera/kit/schema";
import { Ajv } from "ajv";
import { answersOf } from "../openapi.ts";
import { routeFor } from "../place.ts";
import type { ServedApp } from "./serve-app.ts";

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });

/** Throws unless everything that was answered stands in the document: its status, and a body of the shape shown there. */
export function requireDocumented({ seen }: ServedApp): void {
  for (const { place, method, status, body } of seen) {
    const route = place === undefined ? undefined : routeFor(place, method);
    // Paths that lead nowhere, methods that are not there, and bugs are no answers of a route.
    if (route === undefined || status === 405 || status === 500) continue;
    const answer = answersOf(route)[status];
    if (answer === undefined) throw new Error(`${method} ${route.path} answered ${status}, which is not documented`);
    if (answer.schema === undefined || Buffer.isBuffer(body)) continue;
    const validate = ajv.compile(toJsonSchema(answer.schema));
    if (!validate(body)) {
      throw new Error(
        `${method} ${route.path} answered ${status} unlike its schema: ${ajv.errorsText(validate.errors)} ${JSON.stringify(body)}`,
      );
    }
  }
}
