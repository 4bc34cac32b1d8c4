import { choice, int, optional, type Setting, secret, strongSecret, text, url } from "@tessera/kit/config/config";

/** What the gateway reads from its environment. */
export const settings = {
  host: text("HTTP_HOST", "127.0.0.1", "Address to listen on; 0.0.0.0 or :: in a container."),
  port: int("HTTP_PORT", 8000, [0, 65_535], "Port to listen on; 0 takes any free one."),
  baseUrl: optional(
    url(
      "BASE_URL",
      undefined,
      "The address clients use, for links in answers; http://localhost and the port when left out. Never taken from a request.",
      { example: "https://tickets.example" },
    ),
  ),
  operatorKey: optional(
    strongSecret(
      "OPERATOR_KEY",
      24,
      "The key that may import records; without it imports are closed. The command takes it as TESSERA_OPERATOR_KEY, too.",
    ),
  ),
  demoApiKey: optional(
    secret("DEMO_API_KEY", "The API key of a demo. The page of the documentation shows it to everybody who opens it."),
  ),
  demoDeviceKey: optional(
    secret("DEMO_DEVICE_KEY", "The token of a device of a demo, which that page shows to everybody, too."),
  ),
  oidcIssuer: optional(
    secureUrl(
      url(
        "OIDC_ISSUER",
        undefined,
        "The provider of identities at which people sign in, by OpenID Connect; without it they need links.",
        { example: "https://login.example/realms/tickets" },
      ),
    ),
  ),
  oidcClientId: optional(text("OIDC_CLIENT_ID", undefined, "What this deployment is called at that provider.")),
  oidcClientSecret: optional(secret("OIDC_CLIENT_SECRET", "Its secret at that provider.")),
  oidcClaim: text(
    "OIDC_CLAIM",
    "tessera",
    "The claim with what an account may do: a list of `organizer`, which reads orders, and `organizer:permission`.",
  ),
  connections: int(
    "HTTP_CONNECTIONS",
    4096,
    [1, 1_000_000],
    "How many clients may be connected; fewer if the process may not open as many files.",
  ),
  uploadLimit: int(
    "UPLOAD_LIMIT",
    10 * 1024 * 1024,
    [1024, 64 * 1024 * 1024],
    "The largest file that may be uploaded, in bytes.",
  ),
  uploadFiles: int(
    "UPLOAD_FILES",
    2000,
    [2, 1_000_000],
    "How many files of an organizer may wait for a scan that names them; half of them from one key or device.",
  ),
  uploadBytes: int(
    "UPLOAD_BYTES",
    4 * 1024 ** 3,
    [1024, Number.MAX_SAFE_INTEGER],
    "How many bytes these files may have together.",
  ),
  keptAnswers: int(
    "KEPT_ANSWERS",
    1_000_000,
    [1, Number.MAX_SAFE_INTEGER],
    "How many answers to idempotency keys are kept for each key and each device.",
  ),
  rateLimit: int(
    "RATE_LIMIT",
    0,
    [0, 1_000_000],
    "Requests per minute that each key and each device may make, scans apart; 0 sets no limit.",
  ),
  rateLimitRedeem: int(
    "RATE_LIMIT_REDEEM",
    0,
    [0, 1_000_000],
    "Scans per minute that each key and each device may make; 0 sets no limit.",
  ),
  refusedRedeemStatus: choice(
    "REFUSED_REDEEM_STATUS",
    ["200", "400"],
    "200",
    "Status of a refused scan. Forced ones are always answered with 400, which ends the queue of offline scanners.",
  ),
} as const;

/** An address whose traffic leaves the machine encrypted alone. */
function secureUrl(any: Setting<string>): Setting<string> {
  return {
    ...any,
    takes: `${any.takes.replace("a URL", "an https URL")}, or an http one of this machine`,
    read(given) {
      const found = any.read(given);
      return found !== undefined && isSecure(new URL(found.value)) ? found : undefined;
    },
  };
}

function isSecure({ protocol, hostname }: URL): boolean {
  const isOwn = hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isOwn);
}
