import { type DeviceProfile, deviceProfiles, usedPermissions } from "@tessera/values";
import { columns } from "../command/columns.ts";
import type { Options, OptionValues } from "../command/options.ts";
import { fault } from "../faults.ts";
import { pageLink } from "./setup-link.ts";

/** The fields of a credential that both kinds have. */
export interface Shown {
  readonly name: string;
  readonly all_events: boolean;
  readonly events: readonly string[];
}

/** The differences between the kinds of credentials. */
export interface CredentialKind<C extends Shown, O extends Options> {
  /** The verb of the command. */
  readonly verb: string;
  /** The path of its routes, below the organizer. */
  readonly path: string;
  readonly noun: string;
  readonly article: "a" | "an";
  readonly revoking: { readonly summary: string; readonly usage: string };
  /** Options of `create` for this kind only. */
  readonly options: O;
  /** Names of option values, and an example, for the help of `create`. */
  readonly creating: string;
  readonly example: string;
  /** The part of the request body that these options determine. */
  readonly toBody: (values: OptionValues<O>) => object;
  /** How a scanner becomes it: what to do, and what its QR code says. */
  readonly describeSetup: (setup: string, values: OptionValues<O>) => { readonly text: string; readonly code: string };
  readonly idOf: (shown: C) => string;
  readonly isActive: (shown: C) => boolean;
  /** Columns of the list for this kind only. */
  readonly columnsOf: (shown: C) => Readonly<Record<string, string>>;
  /** The same in words, for a new credential. */
  readonly describe: (shown: C) => string;
}

function kind<C extends Shown>() {
  return <const O extends Options>(traits: CredentialKind<C, O>) => traits;
}

interface ApiKey extends Shown {
  readonly id: string;
  readonly permissions: readonly string[];
  readonly active: boolean;
}

export const apiKeys = kind<ApiKey>()({
  verb: "keys",
  path: "apikeys",
  noun: "API key",
  article: "an",
  revoking: {
    summary: "revoke an API key",
    usage: "Revokes an API key; ID is what `tessera keys list` shows, or its first 8 characters.",
  },
  options: {
    permissions: {
      type: "string",
      value: "NAME,…",
      help: "its permissions, by the names above or classic ones such as can_view_orders; * for all (required)",
    },
  },
  creating: `\nPermissions:\n${columns([...usedPermissions])}\n\nOther permissions of shops are stored, and open nothing here.`,
  example: "tessera keys create --organizer demo --name shop --permissions event.orders:read --all-events",
  toBody({ permissions: names }) {
    if (splitList(names).length === 0)
      throw fault(
        "missing_option",
        "--permissions is required, and --events or --all-events; `tessera keys create --help` lists the names",
      );
    return { permissions: splitList(names) };
  },
  describeSetup: (code) => ({ text: "", code }),
  idOf: ({ id }) => id,
  isActive: ({ active }) => active,
  columnsOf: (key) => ({ PERMISSIONS: describePermissions(key) }),
  describe: describePermissions,
});

interface Device extends Shown {
  readonly device_id: number;
  readonly gate: number | null;
  readonly security_profile: string;
  readonly software_brand: string;
  readonly revoked: boolean;
}

/** What devices of a profile do; docs/scanner-page.md says it of the scanner page. */
const profileMeanings: Readonly<Record<DeviceProfile, string>> = {
  full: "any scanner, also one that reads quotas and layouts",
  pretixscan: "scans, searches and works without a network, such as the app pretixSCAN",
  pretixscan_online_noorders: "the same here",
  pretixscan_online_kiosk: "stands in public: scans, and finds no ticket by name or number",
};

export const devices = kind<Device>()({
  verb: "devices",
  path: "devices",
  noun: "device",
  article: "a",
  revoking: {
    summary: "revoke the access of a device",
    usage:
      "Revokes the access of a device; ID is what `tessera devices list` shows. Scanning apps that are refused delete\ntheir data of the event.",
  },
  options: {
    gate: { type: "string", value: "ID", help: "its gate" },
    profile: {
      type: "string",
      default: "full",
      value: "NAME",
      help: "what it may do, by the names above (default full)",
    },
    "software-brand": { type: "string", value: "TEXT", help: "the software that it runs" },
    page: { type: "boolean", help: "prints a link to the scanner page, for the browser of a phone" },
  },
  creating: `\nProfiles:\n${columns(deviceProfiles.map((name) => [name, profileMeanings[name]]))}`,
  example: "tessera devices create --organizer demo --name north --profile pretixscan --all-events",
  toBody({ gate, profile, "software-brand": brand }) {
    // The platform treats unknown names like pretixscan: a client may be newer.
    if (!deviceProfiles.some((name) => name === profile))
      throw fault("bad_profile", `there is no profile ${profile}; the profiles are ${deviceProfiles.join(", ")}`);
    return { gate: gate ?? null, security_profile: profile, software_brand: brand ?? "" };
  },
  describeSetup(setup, { page }) {
    if (!page)
      return {
        text: "A scanner sets itself up with this code, once, within a week. Then it has a token of its own:",
        code: setup,
      };
    const link = pageLink(setup);
    const text = `Open this link in the browser that is to scan, or let its phone scan the code, once, within a week:\n\n  ${link}`;
    return { text, code: link };
  },
  idOf: ({ device_id: id }) => String(id),
  isActive: ({ revoked }) => !revoked,
  columnsOf: (device) => ({ PROFILE: device.security_profile, GATE: describeGate(device) }),
  describe: (device) => `profile ${device.security_profile}, ${describeGate(device)}`,
});

/** Splits a list at its commas. */
export function splitList(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function describePermissions({ permissions }: ApiKey): string {
  if (permissions.includes("*")) return "every permission";
  return permissions.length === 0 ? "no permission" : permissions.join(", ");
}

function describeGate({ gate }: Device): string {
  return gate === null ? "no gate" : `gate ${gate}`;
}
