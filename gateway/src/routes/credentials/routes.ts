import { hash } from "node:crypto";
import type { Credential } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { conflict, invalid, notFound } from "../../http/answers.ts";
import { declareList } from "../../http/list-route.ts";
import { declare } from "../../http/route.ts";
import type { CredentialKey } from "../../store/credentials.ts";
import type { DeviceContact } from "../../store/device-contacts.ts";
import { setupCodeOf, setupText } from "../device/setup-code.ts";
import { apiKeys, devices, type Kind } from "./kinds.ts";

/** A state of a credential that boxoffice has stored. */
export interface StoredState extends CredentialKey {
  readonly revision: number;
}

export interface CredentialRouteDependencies {
  readonly credentials: Clients["credentials"];
  /** Makes a token; a repeated request gets the same token. */
  readonly makeToken: () => string;
  /** What was heard of devices. */
  readonly findContacts: (organizer: string, devices: readonly number[]) => Promise<readonly DeviceContact[]>;
  /** Waits until gateways have this state or a newer one; false: that takes too long. */
  readonly untilCopied: (state: StoredState, signal: AbortSignal) => Promise<boolean>;
}

const access: Access = { kind: "operator" };

const noOrganizer = notFound("There is no such organizer.");

const changes =
  "A key that records bring along is changed there: the newest record counts, whatever happened here before it.";

/** The operator's routes for API keys and devices: `apikeys/` and `devices/` of an organizer. */
export function credentialRoutes(dependencies: CredentialRouteDependencies) {
  return { apiKeys: routesOf(apiKeys, dependencies), devices: routesOf(devices, dependencies) };
}

function routesOf<B>(
  kind: Kind<B>,
  { credentials, makeToken, untilCopied, findContacts }: CredentialRouteDependencies,
) {
  const { published, title, one, noun, answers, revoking, examples } = kind;
  const many = `${one.replace(/^an? /, "")}s`;

  async function show(organizer: string, credential: Credential | undefined, signal: AbortSignal) {
    if (credential === undefined) throw new Error("boxoffice answered without the credential");
    const { id, revision } = credential;
    const settled = await untilCopied({ organizer, kind: kind.kind, id, revision }, signal);
    return { shown: kind.present(credential), settled };
  }

  return {
    list: declareList({
      name: `list${title}s`,
      example: examples.list,
      summary: `Lists the ${many} of an organizer, revoked ones included`,
      access,
      page: `One page of ${noun}s.`,
      shows: answers.listed,
      missing: noOrganizer,
      async find({ organizer, inOrganizer, signal }, page) {
        const found = await credentials.listCredentials(inOrganizer({ kind: published, ...page }), { signal });
        const heard =
          kind.presentContact === undefined
            ? []
            : await findContacts(
                organizer,
                found.credentials.map(({ id }) => Number(id)),
              );
        const contacts = new Map(heard.map((contact) => [contact.device, contact]));
        const results = found.credentials.map((credential) => ({
          ...kind.present(credential),
          ...kind.presentContact?.(contacts.get(Number(credential.id))),
        }));
        return { ...found, results };
      },
    }),

    create: declare({
      name: `create${title}`,
      example: examples.create,
      summary: `Creates ${one} and shows its token, once`,
      access,
      body: kind.body,
      showsSecret: true,
      answers: {
        created: { description: `The new ${noun}.`, schema: answers.created },
        invalid,
        notFound: noOrganizer,
        conflict,
      },
      async exists({ inOrganizer, signal }) {
        await credentials.listCredentials(inOrganizer({ kind: published, page: 1, pageSize: 1 }), { signal });
      },
      async handle({ organizer, inOrganizer, body, signal, url }) {
        const token = makeToken();
        const tokenHash = hash("sha256", token, "buffer");
        const code = kind.setsUp ? setupCodeOf(token) : undefined;
        const setupHash = code === undefined ? undefined : hash("sha256", code, "buffer");
        const { credential } = await credentials.createCredential(
          inOrganizer({ kind: published, tokenHash, setupHash }, { fields: kind.toMessage(body) }),
        );
        const { shown, settled } = await show(organizer, credential, signal);
        const setup =
          code === undefined ? {} : { initialization_token: code, setup: setupText({ url: url.base, code }) };
        return { status: "created", body: { ...shown, token, ...setup, settled } };
      },
    }),

    revoke: declare({
      name: `revoke${title}`,
      example: examples.revoke,
      summary: revoking.summary,
      description: `${revoking.description} ${changes}`,
      access,
      answers: {
        ok: { description: `The ${noun}, which is revoked.`, schema: answers.revoked },
        ...revoking.answers,
        notFound: notFound(`There is no such organizer, or it has no such ${noun}.`),
        conflict,
      },
      async handle(request) {
        const { organizer, signal } = request;
        const { credential } = await credentials.revokeCredential(
          request.inOrganizer({ kind: published, id: kind.idIn(request) }),
        );
        const { shown, settled } = await show(organizer, credential, signal);
        return { status: "ok", body: { ...shown, settled } };
      },
    }),
  };
}
